"""Writer of a layer: rows are written in any order, then the complete layer appears at once."""

import contextlib
import errno
import io
import itertools
import os
import shutil
import threading
import time
import uuid
from collections.abc import Callable, Mapping
from pathlib import Path
from types import TracebackType
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, DTypeLike, NDArray

from brainscore_core.errors import UserError
from brainscore_core.files import PART_SUFFIX, replacing
from brainscore_core.memory import format_size
from brainscore_vision.model_helpers.activations.store._layers import (
    DamagedLayer,
    Manifest,
    StoredLayer,
    checksum,
    is_key,
    layer_key,
    map_values,
    plain_value,
    read_manifest,
    row_digest,
)

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
        except OSError as error:
            self._discard()
            raise self._explained(error) from error
        except BaseException:
            self._discard()
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
        self.stored = StoredLayer(manifest, map_values(self._stream, self.dtype.str, self.shape, len(self._header)))
        self._stream.close()
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
    edges = [0, *breaks.tolist(), len(indices)]
    return list(itertools.pairwise(edges))
