"""Store of activations on disk, keyed by everything they depend on; layers are memory-mapped and shared by all runs."""

import contextlib
import logging
import os
import time
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from shutil import disk_usage
from typing import Any

from numpy.typing import DTypeLike

from brainscore_core.activation_store._layers import (
    CheckedLayer,
    DamagedLayer,
    LayerWriter,
    StoredEntry,
    StoredLayer,
    data_file_key,
    is_key,
    layer_key,
    open_layer,
    read_manifest,
    verify_layer,
)
from brainscore_core.errors import UserError
from brainscore_core.files import PART_SUFFIX, STALE, sweep
from brainscore_core.memory import format_size, parse_size
from brainscore_core.paths import activations_home

__all__ = [
    "ActivationStore",
    "CheckedLayer",
    "LayerWriter",
    "Leftover",
    "StoredEntry",
    "StoredLayer",
    "default_store",
    "layer_key",
]


@dataclass(frozen=True)
class Leftover:
    """A file that belongs to no complete layer: one that is being written, or was left by a killed process.

    Attributes
    ----------
    path : Path
        The file.
    nbytes : int
        Its size; for a file that is being written, its final size.
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
        """Size of all files."""
        return sum(self.sizes.values()) + sum(unfinished.nbytes for unfinished in self.parts)


def scan(folder: Path) -> Contents:
    """List a store's folder; other files are ignored."""
    contents = Contents()
    for entry in _files(folder):
        try:
            status = entry.stat(follow_symlinks=False)
        except FileNotFoundError:  # removed or renamed by another process
            continue
        name = entry.name
        file = Leftover(Path(entry.path), status.st_size, status.st_mtime)
        if name.startswith(".") and name.endswith(PART_SUFFIX):
            contents.parts.append(file)
            continue
        key = data_file_key(name)
        if key is not None:
            contents.data.setdefault(key, []).append(file)
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
        raise _unreadable(folder, error) from error


def _unreadable(folder: Path, error: OSError) -> UserError:
    return UserError(
        f"cannot read the activations in {folder}: {error.strerror or error}",
        remedy="set BRAINSCORE_ACTIVATIONS to a readable folder, or to 'off'",
    )


def remove_layer(folder: Path, key: str, data: list[Leftover]) -> None:
    """Remove a layer, its manifest first, so that no incomplete layer is found. Opened layers keep their values."""
    try:
        (folder / f"{key}.json").unlink(missing_ok=True)
        for file in data:
            file.path.unlink(missing_ok=True)
    except OSError as error:
        raise UserError(
            f"cannot remove activations from {folder}: {error.strerror}", remedy="check who owns them"
        ) from error


def _unnamed(folder: Path, contents: Contents) -> list[Leftover]:
    """Files of values without a manifest, or with a readable manifest that does not name them."""
    unnamed: list[Leftover] = []
    for key, files in contents.data.items():
        try:
            named = read_manifest(folder, key).file
        except FileNotFoundError:
            named = None
        except DamagedLayer:  # it may be of a later version, so its files are kept
            continue
        unnamed += [file for file in files if file.path.name != named]
    return unnamed


def sweep_folder(folder: Path) -> None:
    """Remove old files of killed processes. Without permission they stay; they are never read."""
    with contextlib.suppress(OSError):
        sweep(folder)
        for file in _unnamed(folder, scan(folder)):
            if time.time() - file.changed > STALE:
                file.path.unlink(missing_ok=True)


_SHARE = 0.5  # of the available space
_ATTEMPTS = 5  # to open a layer that is replaced in the meantime
_logger = logging.getLogger(__name__)


def default_store() -> "ActivationStore | None":
    """Store in :func:`activations_home`; None if storing is switched off.

    Examples
    --------
    >>> default_store()
    ActivationStore('...activations')
    """
    home = activations_home()
    return None if home is None else ActivationStore(home)


class ActivationStore:
    """Activations of layers in a folder, which any number of processes and machines may share.

    A layer is identified by its key alone (:func:`layer_key`), so everything that changes its values must be part of
    the key. It has two files: ``<key>.<unique>.npy`` with the values, and ``<key>.json``, the manifest, which names the
    file of values. The manifest is written last, and each file appears complete by a rename, so that there are no
    incomplete layers. No lock is needed: two writers of the same key both finish, and the later layer stays.

    Parameters
    ----------
    folder : path
        Created when the first layer is written.
    max_bytes : int or str, optional
        Largest size of the folder; the least recently used layers are removed first. By default
        ``$BRAINSCORE_ACTIVATIONS_LIMIT`` (such as ``200GB``), else half of the sum of the free disk space and the size
        of the folder.

    Examples
    --------
    >>> import tempfile
    >>> import numpy as np
    >>> from brainscore_core.activation_store import layer_key
    >>> store = ActivationStore(tempfile.mkdtemp())
    >>> parts = {"weights": "1b2f…", "layer": "conv1", "stimuli": "90ac…"}
    >>> key = layer_key(parts)
    >>> store.get(key) is None
    True
    >>> with store.writer(key, shape=(4, 3), dtype="float32", parts=parts) as writer:
    ...     writer[2:4] = np.ones((2, 3))
    ...     writer[0:2] = np.zeros((2, 3))
    >>> store.get(key).array[:, 0]
    memmap([0., 0., 1., 1.], dtype=float32)
    """

    def __init__(self, folder: str | os.PathLike[str], max_bytes: int | str | None = None) -> None:
        self.folder = Path(folder).expanduser().absolute()
        self._max_bytes = None if max_bytes is None else parse_size(max_bytes)
        self._swept = False

    def __repr__(self) -> str:
        return f"ActivationStore({str(self.folder)!r})"

    @property
    def max_bytes(self) -> int:
        """Largest size of the folder, in bytes."""
        return self._limit(None)

    def get(self, key: str) -> StoredLayer | None:
        """Open a layer, and record that it was used."""
        if not is_key(key):
            raise ValueError(f"{key!r} is not a key of a layer; make one with layer_key")
        for _ in range(_ATTEMPTS):
            manifest = None
            try:
                manifest = read_manifest(self.folder, key)
                layer = open_layer(self.folder, manifest)
            except FileNotFoundError:
                if manifest is None:
                    return None
                continue  # replaced or removed by another process
            except DamagedLayer as error:
                self._warn(key, str(error))
                return None
            except OSError as error:
                raise _unreadable(self.folder, error) from error
            with contextlib.suppress(OSError):  # owned by another user, or removed by another process
                os.utime(self.folder / f"{key}.json")
            return layer
        self._warn(key, "its file is missing")
        return None

    def writer(
        self,
        key: str,
        *,
        shape: tuple[int, ...],
        dtype: DTypeLike = "float32",
        parts: Mapping[str, Any],
        info: Mapping[str, Any] | None = None,
    ) -> LayerWriter:
        """Write a layer, row by row, inside a ``with`` block."""
        return LayerWriter(
            self.folder, key, shape=shape, dtype=dtype, parts=parts, info=info, make_room=self._make_room
        )

    def entries(self) -> list[StoredEntry]:
        """List the complete layers, the most recently used first."""
        entries = []
        for key, used in scan(self.folder).used.items():
            with contextlib.suppress(FileNotFoundError, DamagedLayer):
                entries.append(StoredEntry(read_manifest(self.folder, key), used, self.folder))
        return sorted(entries, key=lambda entry: (-entry.used, entry.key))

    def leftovers(self) -> list[Leftover]:
        """List files that belong to no complete layer: being written, or left by a killed process."""
        # files that no manifest names, unreadable manifests with their files, and files that are being written
        contents = scan(self.folder)
        files_left = [*contents.parts, *_unnamed(self.folder, contents)]
        for key, used in contents.used.items():
            try:
                read_manifest(self.folder, key)
            except DamagedLayer:
                files = contents.data.get(key, [])
                size = contents.sizes[key] - sum(file.nbytes for file in files)
                files_left += [Leftover(self.folder / f"{key}.json", size, used), *files]
            except FileNotFoundError:  # removed by another process
                continue
        return files_left

    def nbytes(self) -> int:
        """Size of the folder in bytes, including layers that are being written."""
        return scan(self.folder).total

    def room(self) -> int:
        """Bytes available for new layers if all others were removed: within the limit, and on the disk.

        Examples
        --------
        >>> import tempfile
        >>> ActivationStore(tempfile.mkdtemp(), max_bytes="10kB").room()
        10000
        """
        contents = scan(self.folder)
        being_written = sum(unfinished.nbytes for unfinished in contents.parts)
        free = disk_usage(self._existing()).free + contents.total - being_written
        return max(min(self._limit(contents) - being_written, free), 0)

    def verify(self, keys: Iterable[str] | None = None) -> list[CheckedLayer]:
        """Read layers and compare them with their checksums; all layers by default."""
        requested = None if keys is None else set(keys)
        return [verify_layer(entry) for entry in self.entries() if requested is None or entry.key in requested]

    def remove(self, keys: Iterable[str]) -> None:
        """Remove layers; keys that are not stored are ignored. Opened layers keep their values."""
        data = scan(self.folder).data
        for key in keys:
            if not is_key(key):
                raise ValueError(f"{key!r} is not a key of a layer; make one with layer_key")
            remove_layer(self.folder, key, data.get(key, []))

    def trim(self) -> list[str]:
        """Remove layers, the least recently used first, until the folder is within its limit."""
        sweep_folder(self.folder)
        return self._trim(0)

    def _trim(self, needed: int) -> list[str]:
        contents = scan(self.folder)
        excess = contents.total + needed - self._limit(contents)
        removed: list[str] = []
        for key in sorted(contents.used, key=lambda key: contents.used[key]):
            if excess <= 0:
                break
            try:
                remove_layer(self.folder, key, contents.data.get(key, []))
            except UserError:  # owned by another user
                continue
            excess -= contents.sizes[key]
            removed.append(key)
        if removed:
            _logger.info("removed %d layers from %s to stay below its limit", len(removed), self.folder)
        return removed

    def _make_room(self, needed: int) -> None:
        """Prepare the folder for a layer of this size."""
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise UserError(
                f"activations cannot be written to {self.folder}: {error.strerror}",
                remedy="set BRAINSCORE_ACTIVATIONS to a writable folder, or to 'off'",
            ) from error
        if not self._swept:
            sweep_folder(self.folder)
            self._swept = True
        contents = scan(self.folder)
        limit, being_written = self._limit(contents), sum(unfinished.nbytes for unfinished in contents.parts)
        if being_written + needed > limit:
            raise UserError(
                f"activations in {self.folder} may take {format_size(limit)}: "
                f"a layer of {format_size(needed)} does not fit"
                + (f" beside {format_size(being_written)} that are being written" if being_written else ""),
                remedy="raise BRAINSCORE_ACTIVATIONS_LIMIT, record fewer layers at once, or reduce them",
            )
        if contents.total + needed > limit:
            self._trim(needed)

    def _limit(self, contents: Contents | None) -> int:
        if self._max_bytes is not None:
            return self._max_bytes
        if named := os.environ.get("BRAINSCORE_ACTIVATIONS_LIMIT"):
            try:
                return parse_size(named)
            except UserError as error:
                raise UserError(f"BRAINSCORE_ACTIVATIONS_LIMIT: {error.message}", remedy=error.remedy) from error
        stored = (scan(self.folder) if contents is None else contents).total
        return int(_SHARE * (disk_usage(self._existing()).free + stored))

    def _existing(self) -> Path:
        return next(folder for folder in (self.folder, *self.folder.parents) if folder.exists())

    def _warn(self, key: str, why: str) -> None:
        _logger.warning("activations %s… in %s are not used: %s", key[:12], self.folder, why)
