"""The store's folder: what lies in it, what may go."""

import contextlib
import os
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from brainscore_core.errors import UserError
from brainscore_core.files import PART_SUFFIX, STALE, sweep
from brainscore_vision.model_helpers.activations.store._key import is_key
from brainscore_vision.model_helpers.activations.store._layer import DamagedLayer, data_file_key, read_manifest

__all__ = ["Contents", "Leftover", "leftovers", "remove_layer", "scan", "sweep_folder"]


@dataclass(frozen=True)
class Leftover:
    """A file that belongs to no whole layer: one that is being written, or what a killed process left.

    Attributes
    ----------
    path : Path
        The file.
    nbytes : int
        Its size; for one that is being written, the size it will have.
    changed : float
        When it was last written to, in seconds since 1970.
    """

    path: Path
    nbytes: int
    changed: float


@dataclass
class Contents:
    """Files of a store by what they are; `used` is when each layer was last read or written."""

    used: dict[str, float] = field(default_factory=dict)
    sizes: dict[str, int] = field(default_factory=dict)  # of a layer: manifest and every file of values
    data: dict[str, list[Leftover]] = field(default_factory=dict)  # files of values, by key
    parts: list[Leftover] = field(default_factory=list)

    @property
    def total(self) -> int:
        """All bytes."""
        return sum(self.sizes.values()) + sum(part.nbytes for part in self.parts)


def scan(folder: Path) -> Contents:
    """List a store's folder; whatever else lies in it is left out."""
    contents = Contents()
    for entry in _files(folder):
        try:
            status = entry.stat(follow_symlinks=False)
        except FileNotFoundError:  # another process removed or renamed it just now
            continue
        name = entry.name
        found = Leftover(Path(entry.path), status.st_size, status.st_mtime)
        if name.startswith(".") and name.endswith(PART_SUFFIX):
            contents.parts.append(found)
            continue
        key = data_file_key(name)
        if key is not None:
            contents.data.setdefault(key, []).append(found)
        elif name.endswith(".json") and is_key(name.removesuffix(".json")):
            key = name.removesuffix(".json")
            contents.used[key] = status.st_mtime
        else:
            continue
        contents.sizes[key] = contents.sizes.get(key, 0) + status.st_size
    return contents


def _files(folder: Path) -> Iterator[os.DirEntry[str]]:
    try:
        with os.scandir(folder) as entries:
            yield from entries
    except FileNotFoundError:
        return
    except OSError as error:
        raise UserError(
            f"cannot read the activations in {folder}: {error.strerror}",
            remedy="set BRAINSCORE_ACTIVATIONS to a folder that you can read, or to 'off'",
        ) from error


def remove_layer(folder: Path, key: str, data: list[Leftover]) -> None:
    """Remove a layer: its manifest first, so that nobody finds half of it. Who has it open keeps its values."""
    try:
        (folder / f"{key}.json").unlink(missing_ok=True)
        for file in data:
            file.path.unlink(missing_ok=True)
    except OSError as error:
        raise UserError(
            f"cannot remove activations from {folder}: {error.strerror}", remedy="check who owns them"
        ) from error


def leftovers(folder: Path, contents: Contents) -> list[Leftover]:
    """Files that no manifest names, manifests that cannot be read with theirs, and what is being written."""
    found = [*contents.parts, *_unnamed(folder, contents)]
    for key, used in contents.used.items():
        try:
            read_manifest(folder, key)
        except DamagedLayer:
            files = contents.data.get(key, [])
            size = contents.sizes[key] - sum(file.nbytes for file in files)
            found += [Leftover(folder / f"{key}.json", size, used), *files]
        except FileNotFoundError:  # removed just now
            continue
    return found


def _unnamed(folder: Path, contents: Contents) -> list[Leftover]:
    """Files of values that a manifest which can be read, or none, does not name."""
    found: list[Leftover] = []
    for key, files in contents.data.items():
        try:
            named = read_manifest(folder, key).file
        except FileNotFoundError:
            named = None
        except DamagedLayer:  # it may be of a later version, which knows what it names
            continue
        found += [file for file in files if file.path.name != named]
    return found


def sweep_folder(folder: Path) -> None:
    """Remove what killed processes left long ago. Where that is not allowed it stays: it is never read."""
    with contextlib.suppress(OSError):
        sweep(folder)
        for file in _unnamed(folder, scan(folder)):
            if time.time() - file.changed > STALE:
                file.path.unlink(missing_ok=True)
