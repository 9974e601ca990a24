"""A stored layer: its key, its manifest, its values, whether they agree, and how it is written."""

import contextlib
import errno
import hashlib
import io
import itertools
import json
import math
import os
import shutil
import threading
import time
import uuid
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import Any, BinaryIO, Literal, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, DTypeLike, NDArray

from brainscore_core.errors import UserError
from brainscore_core.files import PART_SUFFIX, replacing
from brainscore_core.memory import format_size

_FORMAT = 1  # increase it whenever values change for the same parts


def layer_key(parts: Mapping[str, Any]) -> str:
    """Hash of everything that a layer's values depend on.

    Parameters
    ----------
    parts : mapping of str
        Text, whole numbers, finite floats, booleans, None, and lists and mappings of these. The order of a mapping
        does not matter; a tuple counts as a list; 1 and 1.0 are different.

    Returns
    -------
    str
        64 hexadecimal digits, the same in every process and on every machine.

    Raises
    ------
    TypeError
        If a part has another type, such as an array or a path, whose text does not represent its content.
    ValueError
        If a number is not finite.

    Examples
    --------
    >>> layer_key({"layer": "conv1", "trials": 1}) == layer_key({"trials": 1, "layer": "conv1"})
    True
    >>> layer_key({"layer": "conv1"}) == layer_key({"layer": "conv2"})
    False
    """
    content = json.dumps([_FORMAT, plain_value(parts)], sort_keys=True, separators=(",", ":"), allow_nan=False)
    return hashlib.sha256(content.encode("ascii")).hexdigest()


def plain_value(value: Any, where: str = "parts") -> Any:
    """Copy a value in plain JSON types; other types raise an error that names the part."""
    if value is None or type(value) in (bool, int, str):
        return value
    if type(value) is float:
        if not math.isfinite(value):
            raise ValueError(f"{where} is {value}; a key needs finite numbers")
        return value
    if isinstance(value, Mapping):
        for name in value:
            if type(name) is not str:
                raise TypeError(f"{where} has the key {name!r} of type {type(name).__name__}; keys need to be str")
        return {name: plain_value(item, f"{where}[{name!r}]") for name, item in value.items()}
    if isinstance(value, list | tuple):
        return [plain_value(item, f"{where}[{number}]") for number, item in enumerate(value)]
    raise TypeError(
        f"{where} is a {type(value).__name__}; a key is made of str, int, float, bool, None, lists and mappings"
    )


def is_key(name: str) -> bool:
    """Whether `name` has the form of a result of :func:`layer_key`."""
    return len(name) == 64 and all(character in "0123456789abcdef" for character in name)


_VERSION = 1
_CHUNK = 1 << 24  # bytes that are read together to check a layer


class DamagedLayer(Exception):
    """The file of a layer does not match its manifest."""


@dataclass(frozen=True)
class Manifest:
    """Description of a layer, read without opening its values."""

    key: str  # key of `parts`
    file: str  # name of the file with the values, in the same folder
    shape: tuple[int, ...]  # stimuli × features (or × time × features)
    dtype: str  # in NumPy's notation, such as ``'<f4'``
    checksum: str  # checksum of the values: sha256 of the sha256 of the rows, one row per stimulus
    nbytes: int  # size of the file
    created: float  # seconds since 1970
    # parts and info: parts of the key; descriptive names, which are not part of the key
    parts: dict[str, Any] = field(default_factory=dict)
    info: dict[str, Any] = field(default_factory=dict)

    def to_json(self) -> bytes:
        """Write the manifest as it is stored."""
        return json.dumps({"version": _VERSION, **vars(self)}, indent=1).encode()

    @classmethod
    def from_json(cls, content: bytes, key: str) -> "Manifest":
        """Read a manifest; raises `DamagedLayer` unless this version wrote it for `key`."""
        try:
            data = json.loads(content)
            if data.pop("version") != _VERSION or data["key"] != key or data_file_key(data["file"]) != key:
                raise DamagedLayer("its manifest belongs to another layer or another version")
            manifest = cls(**{**data, "shape": tuple(int(size) for size in data["shape"])})
            if np.dtype(manifest.dtype).kind not in "biuf":
                raise DamagedLayer(f"its manifest states dtype {manifest.dtype}")
        except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
            raise DamagedLayer(f"its manifest cannot be read: {error}") from error
        return manifest


@dataclass(frozen=True)
class StoredEntry:
    """A stored layer, as listed.

    Attributes
    ----------
    manifest : Manifest
        Its description.
    used : float
        When it was last read or written, in seconds since 1970.
    folder : Path
        Folder of its files.
    """

    manifest: Manifest
    used: float
    folder: Path

    @property
    def key(self) -> str:
        """Key of the layer."""
        return self.manifest.key

    @property
    def nbytes(self) -> int:
        """Size of the file of values."""
        return self.manifest.nbytes

    @property
    def path(self) -> Path:
        """The file of values."""
        return self.folder / self.manifest.file

    def named(self, name: str) -> str:
        """Descriptive name (``'model'``, ``'layer'``, ``'stimulus_set'``): from the info, else the key's parts."""
        value = self.manifest.info.get(name, self.manifest.parts.get(name))
        return value if isinstance(value, str) else ""


class CheckedLayer(NamedTuple):
    """Result of a check: `state` is 'good' or 'wrong'; `found` is the checksum, or what is wrong."""

    entry: StoredEntry
    state: Literal["good", "wrong"]
    found: str


@dataclass(frozen=True, eq=False)
class StoredLayer:
    """A stored layer, opened.

    Its values are memory-mapped: they are read from disk when they are used. They stay readable when the layer is
    removed from the store.

    Attributes
    ----------
    manifest : Manifest
        Its description.
    array : numpy.memmap
        Its values, stimuli × features, read-only. A plain array if there are no values (no stimulus or no feature).
    """

    manifest: Manifest
    array: NDArray[Any]

    @property
    def key(self) -> str:
        """Key of the layer."""
        return self.manifest.key

    @property
    def shape(self) -> tuple[int, ...]:
        """Shape of the values, stimuli first."""
        return self.manifest.shape

    @property
    def dtype(self) -> np.dtype[Any]:
        """Type of the values."""
        return self.array.dtype

    @property
    def info(self) -> dict[str, Any]:
        """Descriptive names."""
        return self.manifest.info


def data_file_key(name: str) -> str | None:
    """Key of a layer from the name of its file of values, ``<key>.<32 digits>.npy``; None for other names."""
    key, _, suffix = name.partition(".")
    unique, _, ending = suffix.partition(".")
    written_here = len(unique) == 32 and set(unique) <= set("0123456789abcdef")
    return key if ending == "npy" and written_here and is_key(key) else None


def read_manifest(folder: Path, key: str) -> Manifest:
    """Read the manifest of `key`; raises `DamagedLayer`, or `FileNotFoundError` if there is none."""
    return Manifest.from_json((folder / f"{key}.json").read_bytes(), key)


def open_layer(folder: Path, manifest: Manifest) -> StoredLayer:
    """Memory-map the values. Raises `DamagedLayer` if the file does not match the manifest."""
    path = folder / manifest.file
    size = path.stat().st_size
    if size != manifest.nbytes:
        raise DamagedLayer(f"its file has {size} bytes, not {manifest.nbytes}")
    try:
        array = np.load(path, mmap_mode="r")
    except (ValueError, EOFError) as error:
        raise DamagedLayer(f"its file cannot be read: {error}") from error
    if (array.shape, array.dtype, array.flags.c_contiguous) != (manifest.shape, np.dtype(manifest.dtype), True):
        raise DamagedLayer(
            f"its file holds {array.dtype} of shape {array.shape}, not {manifest.dtype} of shape {manifest.shape}"
        )
    return StoredLayer(manifest, array)


def row_digest(row: Any) -> bytes:
    """Hash of one row's bytes."""
    return hashlib.sha256(row).digest()


def checksum(digests: list[bytes]) -> str:
    """Hash of a layer from the hashes of its rows, in order, so that rows can be written in any order."""
    return hashlib.sha256(b"".join(digests)).hexdigest()


def verify_layer(entry: StoredEntry) -> CheckedLayer:
    """Read all values and compare them with the checksum of the manifest."""
    manifest = entry.manifest
    try:
        offset = manifest.nbytes - open_layer(entry.folder, manifest).array.nbytes
        with entry.path.open("rb") as stream:
            stream.seek(offset)
            actual = checksum([row_digest(row) for row in _rows(stream, manifest)])
    except DamagedLayer as error:
        return CheckedLayer(entry, "wrong", str(error))
    except FileNotFoundError:
        return CheckedLayer(entry, "wrong", "its file is missing")
    except OSError as error:
        return CheckedLayer(entry, "wrong", f"its file cannot be read: {error.strerror or error}")
    return CheckedLayer(entry, "good" if actual == manifest.checksum else "wrong", f"sha256:{actual}")


def _rows(stream: BinaryIO, manifest: Manifest) -> Iterator[memoryview]:
    """Bytes of each row; read rather than mapped, so that a failing disk raises an error instead of a crash."""
    row = int(np.prod(manifest.shape[1:], dtype=object)) * np.dtype(manifest.dtype).itemsize
    if row == 0:
        yield from (memoryview(b"") for _ in range(manifest.shape[0]))
        return
    per_chunk = max(_CHUNK // row, 1)
    for start in range(0, manifest.shape[0], per_chunk):
        block = memoryview(stream.read(row * min(per_chunk, manifest.shape[0] - start)))
        for position in range(0, len(block), row):
            yield block[position : position + row]


_DISK_FULL_ERRORS = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG}


class LayerWriter:
    """Writes one layer, inside a ``with`` block; made by :meth:`ActivationStore.writer`.

    Rows are assigned in any order, each once: ``writer[start:stop] = values``, ``writer[[3, 17]] = values``; several
    threads may assign different rows. If the block ends without an error, the layer is stored; after an error nothing
    of it stays. Only the rows of one assignment are in memory.

    Attributes
    ----------
    key : str
        Key of the layer.
    shape : tuple of int
        Shape of the values, stimuli first.
    dtype : numpy.dtype
        Type on disk; values are converted to it.
    info : dict
        Descriptive names; entries may be added inside the block.
    kept : bool
        Whether the layer is stored; if set to False inside the block, its values are only readable from `stored`.
    stored : StoredLayer or None
        After the block: the layer, opened. It stays readable if the store removes it.
    """

    def __init__(
        self,
        folder: Path,
        key: str,
        *,
        shape: tuple[int, ...],
        dtype: DTypeLike,
        parts: Mapping[str, Any],
        info: Mapping[str, Any] | None,
        make_room: Callable[[int], None],
    ) -> None:
        self.key = key
        self.shape = tuple(int(size) for size in shape)
        self.dtype = np.dtype(dtype).newbyteorder("=")
        self.stored: StoredLayer | None = None
        if not is_key(key):
            raise ValueError(f"{key!r} is not a key of a layer; make one with layer_key")
        if not self.shape or any(size < 0 for size in self.shape):
            raise ValueError(f"layer {key[:12]}… cannot have shape {self.shape}; it needs stimuli × features")
        if self.dtype.kind not in "biuf":
            raise ValueError(f"layer {key[:12]}… cannot have dtype {self.dtype}; it needs booleans, integers or floats")
        self.info = dict(info or {})
        self.kept = True
        self._parts = plain_value(parts)
        plain_value(self.info, "info")
        if layer_key(self._parts) != key:
            raise ValueError(f"{key[:12]}… is not the key of these parts; pass the parts that layer_key was given")
        self._folder = folder
        self._make_room = make_room
        header = io.BytesIO()
        described = {"descr": self.dtype.str, "fortran_order": False, "shape": self.shape}
        np.lib.format.write_array_header_1_0(header, described)
        self._header = header.getvalue()
        self._row_bytes = int(np.prod(self.shape[1:], dtype=object)) * self.dtype.itemsize
        self._digests: list[bytes | None] = [None] * self.shape[0]
        self._lock = threading.Lock()
        self._part: Path | None = None
        self._stream: io.FileIO | None = None

    @property
    def nbytes(self) -> int:
        """Size of the file."""
        return len(self._header) + self._row_bytes * self.shape[0]

    def __enter__(self) -> "LayerWriter":
        if self._part is not None:
            raise ValueError("a writer can be used once; ask the store for another one")
        self._make_room(self.nbytes)
        self._part = self._folder / f".{uuid.uuid4().hex}{PART_SUFFIX}"
        try:
            free = shutil.disk_usage(self._folder).free
            if free < self.nbytes:
                raise _no_space(self._folder, f"{format_size(self.nbytes)} needed, {format_size(free)} free")
            # not memory-mapped: on a full disk, writing to a map ends the process, whereas a failed write is an error
            self._stream = io.FileIO(self._part, "x+")
            self._write(0, self._header)
            os.truncate(self._stream.fileno(), self.nbytes)  # shows other processes how much space it will take
        except BaseException as error:
            self._discard()
            if isinstance(error, OSError):
                raise self._explained(error) from error
            raise
        return self

    def __setitem__(self, rows: slice | int | ArrayLike, values: ArrayLike) -> None:
        """Write rows; `values` has one entry per row, of the layer's shape."""
        if self._stream is None:
            raise ValueError("rows are written inside the writer's `with` block")
        indices = self._indices(rows)
        block = self._converted(values, (len(indices), *self.shape[1:]))
        for start, stop in _runs(indices):
            contiguous = block[start:stop].reshape(-1).view(np.uint8).data
            digests = [
                row_digest(contiguous[row * self._row_bytes : (row + 1) * self._row_bytes])
                for row in range(stop - start)
            ]
            first = int(indices[start])
            try:
                with self._lock:
                    self._write(len(self._header) + first * self._row_bytes, contiguous)
            except OSError as error:
                raise self._explained(error) from error
            self._digests[first : first + stop - start] = digests

    def flush(self) -> None:
        """Wait until the rows that were assigned are on the disk, so that the end of the block waits for less."""
        if self._stream is None:
            raise ValueError("rows are written inside the writer's `with` block")
        try:
            os.fsync(self._stream.fileno())
        except OSError as error:
            raise self._explained(error) from error

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        try:
            if kind is None:
                self._commit()
        except OSError as failure:
            raise self._explained(failure) from failure
        finally:
            self._discard()

    def _commit(self) -> None:
        assert self._stream is not None and self._part is not None  # noqa: PT018 - both are set on entering
        digests = [digest for digest in self._digests if digest is not None]
        if len(digests) < self.shape[0]:
            missing = self._digests.index(None)
            raise ValueError(
                f"layer {self.key[:12]}… was not stored: {self.shape[0] - len(digests)} of {self.shape[0]} rows were "
                f"not written, row {missing} first"
            )
        if self.kept:
            os.fsync(self._stream.fileno())
        file = f"{self.key}.{uuid.uuid4().hex}.npy"
        manifest = Manifest(
            key=self.key,
            file=file,
            shape=self.shape,
            dtype=self.dtype.str,
            checksum=checksum(digests),
            nbytes=self.nbytes,
            created=time.time(),
            parts=self._parts,
            info=plain_value(self.info, "info"),
        )
        self._stream.close()
        self.stored = StoredLayer(manifest, np.load(self._part, mmap_mode="r"))
        if not self.kept:  # the open map outlives the file
            return
        os.replace(self._part, self._folder / file)
        try:
            replaced = self._replaced()
            with replacing(self._folder / f"{self.key}.json") as stream:
                stream.write(manifest.to_json())
        except BaseException:
            (self._folder / file).unlink(missing_ok=True)
            self.stored = None
            raise
        # two concurrent writers of one key may both miss the replaced file: it is removed later as a leftover
        if replaced is not None:
            with contextlib.suppress(OSError):
                (self._folder / replaced).unlink(missing_ok=True)

    def _replaced(self) -> str | None:
        try:
            return read_manifest(self._folder, self.key).file
        except (FileNotFoundError, DamagedLayer):
            return None

    def _indices(self, rows: slice | int | ArrayLike) -> NDArray[np.intp]:
        every = np.arange(self.shape[0])
        if isinstance(rows, slice | int | np.integer):
            indices = np.atleast_1d(every[rows])
        else:
            indices = every[np.asarray(rows)] if np.size(rows) else every[:0]
        again = [int(row) for row in indices if self._digests[row] is not None]
        if again or len(np.unique(indices)) < len(indices):
            which = f"row {again[0]}" if again else "a row"
            raise ValueError(f"{which} of layer {self.key[:12]}… would be written twice")
        return indices

    def _converted(self, values: ArrayLike, shape: tuple[int, ...]) -> NDArray[Any]:
        array = np.asarray(values)
        if array.shape == shape[1:] and shape[0] == 1:
            array = array[None]
        if array.shape != shape:
            raise ValueError(f"values of shape {array.shape} do not fit rows of shape {shape}")
        try:
            with np.errstate(over="raise"):
                array = array.astype(self.dtype, casting="same_kind", copy=False)
        except FloatingPointError as error:
            raise UserError(
                f"a layer has values that are too large for {self.dtype}", remedy="store them as float32 or float64"
            ) from error
        return np.ascontiguousarray(array)

    def _write(self, position: int, content: Any) -> None:
        assert self._stream is not None
        view = memoryview(content)
        self._stream.seek(position)
        while view:
            view = view[self._stream.write(view) :]

    def _discard(self) -> None:
        if self._stream is not None:
            self._stream.close()
            self._stream = None
        if self._part is not None:
            with contextlib.suppress(OSError):  # removed later as a leftover
                self._part.unlink(missing_ok=True)

    def _explained(self, error: OSError) -> Exception:
        if error.errno in _DISK_FULL_ERRORS:
            return _no_space(self._folder, error.strerror or str(error))
        if isinstance(error, FileNotFoundError):
            return UserError(
                f"a layer that was being written to {self._folder} was removed by another process",
                remedy="run again; do not change the folder in the meantime",
            )
        return UserError(
            f"activations cannot be written to {self._folder}: {error.strerror or error}",
            remedy="set BRAINSCORE_ACTIVATIONS to a writable folder, or to 'off'",
        )


def _no_space(folder: Path, problem: str) -> UserError:
    return UserError(
        f"no space for activations in {folder}: {problem}",
        remedy="free space with `brainscore cache rm --kind activations`, or name another folder in "
        "BRAINSCORE_ACTIVATIONS",
    )


def _runs(indices: NDArray[np.intp]) -> list[tuple[int, int]]:
    """Positions [start, stop) of consecutive rows."""
    if not len(indices):
        return []
    breaks = np.flatnonzero(np.diff(indices) != 1) + 1
    return list(itertools.pairwise([0, *breaks.tolist(), len(indices)]))
