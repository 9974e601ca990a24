"""Submissions as folders."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from brainscore_core.errors import UserError
from brainscore_vision.submitting._gather import gather
from brainscore_vision.submitting._kept import JUNK_FOLDERS
from brainscore_vision.submitting._layout import KIND_FOLDERS
from brainscore_vision.submitting._limits import Limits
from brainscore_vision.submitting._package import Package
from brainscore_vision.submitting._tree import Budget

__all__ = ["read_folder"]

_MOST_SEEN = 100_000


def read_folder(path: Path, *, limits: Limits | None = None) -> Package:
    """Read a submission from a folder.

    Parameters
    ----------
    path : Path
        A plugin's folder, a folder that holds ``models/``, ``benchmarks/`` and so on, or a checkout of the platform,
        of which the plugins are taken that are not the platform's own.
    limits : Limits, optional
        How much it may hold.

    Returns
    -------
    Package
        Its plugins; what was left out or moved is among its findings.

    Raises
    ------
    UserError
        If it cannot be read, is too large, or holds no plugin.
    """
    folder = Path(path).expanduser().absolute()
    if not folder.is_dir():
        raise UserError(f"there is no folder {path}", remedy="name a plugin's folder, or one with models/ in it")
    folder = folder.resolve()
    limits = limits or Limits()
    if folder.parent.name in KIND_FOLDERS:
        prefix = f"{folder.parent.name}/{folder.name}/"
    else:
        prefix = f"{folder.name}/" if folder.name in KIND_FOLDERS else ""
    tree = _FolderTree(folder, prefix)
    wrapper = folder.parent.name if folder.name in KIND_FOLDERS else folder.name
    return gather(tree, limits=limits, name=wrapper)


class _FolderTree:
    """Files below a folder; links are not followed."""

    def __init__(self, folder: Path, prefix: str) -> None:
        self._paths: dict[str, Path] = {}
        self._links: list[str] = []
        for current, folders, files in os.walk(folder):
            here = Path(current)
            folders[:] = sorted(name for name in folders if name not in JUNK_FOLDERS)
            for name in [*folders, *files]:
                path = here / name
                place = prefix + path.relative_to(folder).as_posix()
                if path.is_symlink():
                    self._links.append(place)
                elif path.is_file():
                    self._paths[place] = path
            if len(self._paths) > _MOST_SEEN:
                raise UserError(f"{folder} holds more than {_MOST_SEEN:,} files", remedy="name the plugin's folder")

    @property
    def names(self) -> Sequence[str]:
        return list(self._paths)

    @property
    def links(self) -> Sequence[str]:
        return self._links

    def read(self, paths: Iterable[str], budget: Budget) -> dict[str, bytes]:
        return {path: self._read(self._paths[path], budget) for path in paths}

    def _read(self, path: Path, budget: Budget) -> bytes:
        try:
            with path.open("rb") as stream:
                content = stream.read(budget.limits.file + 1)
        except OSError as error:
            raise UserError(f"{path} cannot be read: {error.strerror}", remedy="check its permissions") from error
        budget.take(len(content))
        return content

    def unlike(self, others: Mapping[str, Path]) -> set[str]:
        return {
            path
            for path, other in others.items()
            if not other.is_file() or other.read_bytes() != self._paths[path].read_bytes()
        }
