"""Files that a cage sees for a while."""

from __future__ import annotations

import os
import shutil
import stat
from collections.abc import Iterable
from itertools import count
from pathlib import Path, PurePosixPath

__all__ = ["Exchange", "Loan"]


class Exchange:
    """A folder that a cage sees read-only, and into which files are put while they are needed.

    Parameters
    ----------
    folder : Path
        Outside.
    inside : PurePosixPath
        What it is called in the cage.
    """

    def __init__(self, folder: Path, inside: PurePosixPath) -> None:
        self._folder = folder
        self._inside = inside
        self._numbers = count(1)
        self._there: dict[str, tuple[str, int]] = {}  # file → its name there, and how many loans it is part of

    def lend(self, files: Iterable[str | Path]) -> Loan:
        """Show files until they are given back; those that are no files are left out.

        Names there tell nothing but the kind of file.
        """
        lent = {}
        for file in dict.fromkeys(str(one) for one in files):
            name, loans = self._there.get(file, ("", 0))
            if not loans:
                name = self._put(file)
            if name:
                self._there[file] = name, loans + 1
                lent[file] = Path(self._inside / name)
        return Loan(self, lent)

    def take_back(self, files: Iterable[str]) -> None:
        """Remove files of which no loan is left."""
        for file in files:
            name, loans = self._there[file]
            if loans > 1:
                self._there[file] = name, loans - 1
            else:
                del self._there[file]
                (self._folder / name).unlink(missing_ok=True)

    def _put(self, file: str) -> str:
        try:
            source = Path(file).resolve(strict=True)
            status = source.stat()
        except OSError:
            return ""
        if not stat.S_ISREG(status.st_mode):
            return ""
        name = f"{next(self._numbers):08d}{Path(file).suffix}"
        place = self._folder / name
        if status.st_mode & 0o004:  # its rights are the file's, whatever it is called
            try:
                os.link(source, place)
            except OSError:  # on another disk, or of another user
                shutil.copyfile(source, place)
        else:
            shutil.copyfile(source, place)
        if not place.stat().st_mode & 0o004:
            place.chmod(0o644)
        return name


class Loan:
    """Files that are shown until they are given back.

    Attributes
    ----------
    inside : dict
        File → its path in the cage.
    """

    def __init__(self, exchange: Exchange, inside: dict[str, Path]) -> None:
        self._exchange = exchange
        self.inside = inside

    def give_back(self) -> None:
        """Show them no longer; again does nothing."""
        lent, self.inside = self.inside, {}
        self._exchange.take_back(lent)
