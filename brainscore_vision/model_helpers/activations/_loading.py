"""Stimuli read and preprocessed ahead of the network, by threads or by processes."""

import os
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ProcessPoolExecutor, ThreadPoolExecutor
from contextlib import contextmanager
from itertools import islice
from typing import Any, Literal

import numpy as np

from brainscore_core.errors import UserError
from brainscore_vision.model_helpers.activations.preprocessing import ImagePreprocessing, as_image_preprocessing

__all__ = ["Loader", "Workers"]

Workers = Literal["threads", "processes"]
_AHEAD = 2  # batches that are read while one is in the network
_MOST = 16  # threads or processes, unless told


class Loader:
    """Hands out preprocessed batches, in order, reading ahead.

    Parameters
    ----------
    preprocess : callable
        List of paths → array, tensor or list, one entry a path.
    workers : int, optional
        How many work at once; 0: nothing is read ahead. By default one a core, 16 at most.
    kind : {'threads', 'processes'}
        Threads start at once and share memory; reading and resizing with Pillow runs in parallel in them. Processes
        are for preprocessing that is mostly Python; `preprocess` must then be picklable.
    pin : bool
        Put arrays into page-locked memory, from which a GPU copies faster.
    """

    def __init__(
        self,
        preprocess: Callable[[Sequence[Any]], Any],
        *,
        workers: int | None = None,
        kind: Workers = "threads",
        pin: bool = False,
    ) -> None:
        if kind not in ("threads", "processes"):
            raise ValueError(f"loader is {kind!r}, not 'threads' or 'processes'")
        if workers is not None and workers < 0:
            raise ValueError(f"workers is {workers}; 0 or more are needed")
        self._preprocess = preprocess
        self._images = as_image_preprocessing(preprocess)
        self._workers = min(_MOST, _cores()) if workers is None else workers
        self._kind = kind
        self._pin = pin

    def batches(self, paths: Sequence[Any], batches: Sequence[slice]) -> Iterator[tuple[slice, Any]]:
        """Each batch's place among `paths`, and what `preprocess` makes of it."""
        if not self._workers or len(paths) < 2:
            for batch in batches:
                yield batch, self._checked(self._preprocess(paths[batch]), len(paths[batch]))
            return
        with self._pool() as pool:
            waiting: deque[tuple[slice, _Parts]] = deque()
            upcoming = iter(batches)
            try:
                while True:
                    for batch in islice(upcoming, _AHEAD + 1 - len(waiting)):
                        waiting.append((batch, self._submit(pool, paths[batch])))
                    if not waiting:
                        return
                    batch, parts = waiting.popleft()
                    yield batch, self._checked(parts.joined(), len(paths[batch]))
            finally:  # what was read ahead is not needed any more when the consumer stops
                for _, parts in waiting:
                    parts.cancel()

    @contextmanager
    def _pool(self) -> Iterator[ThreadPoolExecutor | ProcessPoolExecutor]:
        if self._kind == "threads":
            pool: ThreadPoolExecutor | ProcessPoolExecutor = ThreadPoolExecutor(self._workers, "stimuli")
        else:
            import multiprocessing

            pool = ProcessPoolExecutor(self._workers, mp_context=multiprocessing.get_context("spawn"))
        try:
            yield pool
        finally:
            pool.shutdown(wait=True, cancel_futures=True)

    def _submit(self, pool: ThreadPoolExecutor | ProcessPoolExecutor, paths: Sequence[Any]) -> "_Parts":
        size = max(1, -(-len(paths) // (2 * self._workers)))  # two parts a worker even out their lengths
        chunks = [slice(start, min(start + size, len(paths))) for start in range(0, len(paths), size)]
        if self._images is not None and self._images.shape is not None and self._kind == "threads":
            out = _buffer((len(paths), *self._images.shape), pin=self._pin)
            array = out if isinstance(out, np.ndarray) else out.numpy()
            jobs = [pool.submit(_fill, self._images, paths[chunk], array[chunk]) for chunk in chunks]
            return _Parts(jobs, out)
        return _Parts([pool.submit(self._preprocess, paths[chunk]) for chunk in chunks], None)

    def _checked(self, images: Any, expected: int) -> Any:
        if len(images) != expected:
            raise UserError(
                f"preprocessing made {len(images)} inputs of {expected} stimuli",
                remedy="it takes a list of paths and returns one entry for each",
            )
        return images


class _Parts:
    """A batch that is being read in parts."""

    def __init__(self, jobs: list[Future[Any]], out: Any) -> None:
        self._jobs = jobs
        self._out = out

    def joined(self) -> Any:
        parts = [job.result() for job in self._jobs]
        return _joined(parts) if self._out is None else self._out

    def cancel(self) -> None:
        for job in self._jobs:
            job.cancel()


def _fill(images: ImagePreprocessing, paths: Sequence[Any], out: np.ndarray) -> None:
    for path, row in zip(paths, out, strict=True):
        images.into(path, row)


def _joined(parts: list[Any]) -> Any:
    if len(parts) == 1:
        return parts[0]
    if all(isinstance(part, np.ndarray) for part in parts):
        return np.concatenate(parts)
    if all(hasattr(part, "detach") for part in parts):
        import torch

        return torch.cat(parts)
    if all(isinstance(part, dict) or hasattr(part, "keys") for part in parts):
        return {name: _joined([part[name] for part in parts]) for name in parts[0]}
    return [one for part in parts for one in part]


def _buffer(shape: tuple[int, ...], *, pin: bool) -> Any:
    if not pin:
        return np.empty(shape, dtype=np.float32)
    import torch

    return torch.empty(shape, dtype=torch.float32, pin_memory=True)


def _cores() -> int:
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
