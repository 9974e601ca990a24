"""Score a pair in a worker: what it prints is kept, and the model stays for the next benchmark."""

from __future__ import annotations

import contextlib
import functools
import gc
import json
import signal
import sys
import threading
from collections.abc import Collection, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from brainscore_core.errors import UserError
from brainscore_core.provenance import note, recording
from brainscore_core.scoring import run_pair
from brainscore_core.scoring._capture import capture_output
from brainscore_vision import benchmark_registry, load_benchmark, load_model
from brainscore_vision._public_variants import scored_benchmark
from brainscore_vision._selection import data_of, folders_of
from brainscore_vision._subjects import load_subject_file, to_subject

if TYPE_CHECKING:
    from brainscore_core.scoring import Receipt, ResultsStore, RunInfo
    from brainscore_vision._isolated import Isolation

__all__ = ["forget_model", "score_pair"]

_OF_ITS_TIME = {"cache", "time"}  # kinds of notes that do not hold for a model that was loaded earlier


class _Key(NamedTuple):
    """What makes two models the same."""

    identifier: str
    reference: str | None
    isolated: bool
    cage: str  # as JSON; empty without one


class _Held:
    """A model that is loaded when it is first asked for, and what was noted then."""

    def __init__(self, key: _Key) -> None:
        self.key = key
        self._model: Any = None
        self._notes: list[dict[str, Any]] = []
        self._isolation: Isolation | None = None
        self._error: UserError | None = None
        if key.isolated:
            from brainscore_vision._isolated import Isolation

            try:
                name = None if key.reference is None else key.identifier
                cage = json.loads(key.cage) if key.cage else None
                self._isolation = Isolation(key.reference or key.identifier, identifier=name, cage=cage)
            except UserError as error:  # a wrong name is the pair's failure, as it is without isolation
                self._error = error

    def load(self, identifier: str, regions: Sequence[str] = ()) -> Any:
        if self._error is not None:
            raise self._error
        if self._model is None:
            with recording() as record:
                self._model = self._make()
            self._notes = [item for item in record.items if item["kind"] not in _OF_ITS_TIME]
        for item in self._notes:
            note(**item)
        expect = getattr(self._model, "expect_recordings", None)
        if expect is not None:
            expect(list(regions))
        return self._model

    def run(self, run: RunInfo) -> RunInfo:
        """Add to what is said of the run in which environment the model is."""
        return run if self._isolation is None else self._isolation.run(run)

    @property
    def alive(self) -> bool:
        """Whether it can still be asked: its process may have died since."""
        return self._isolation is None or self._isolation.alive

    def close(self) -> None:
        self._model = None
        if self._isolation is not None:
            self._isolation.__exit__()

    def _make(self) -> Any:
        if self._isolation is not None:
            return self._isolation.load(self.key.identifier)
        if self.key.reference is None:
            return load_model(self.key.identifier)
        made, source = load_subject_file(self.key.reference)
        subject = to_subject(made, identifier=self.key.identifier, source=source)
        for remark in subject.remarks:
            note("remark", text=remark)
        return subject.model


_kept: list[_Held] = []  # one at most; who scores takes it out


def score_pair(
    model: str,
    benchmark: str,
    *,
    store: ResultsStore,
    run: RunInfo,
    isolated: bool = False,
    files: Mapping[str, str] | None = None,
    regions: Mapping[str, Sequence[str]] | None = None,
    cage: Mapping[str, Any] | None = None,
    forget_after: Collection[str] = (),
) -> Receipt:
    """Score a pair and write its receipt, whatever the plugins do.

    The model stays loaded for the next pair of the same model in this process, unless this pair failed; what was noted
    when it was loaded is in the receipts of all of them. What is printed meanwhile, also by native code and by
    processes that are started, is kept beside the receipt.

    Parameters
    ----------
    model, benchmark : str
        Their names in the results.
    store : ResultsStore
        Where to write.
    run : RunInfo
        Which run this is.
    isolated : bool
        Whether the model answers from a process and an environment of its own.
    files : mapping, optional
        Of models that are not registered: name → ``/path/to/file.py:make_model``.
    regions : mapping, optional
        From which regions the same stimuli are recorded for other benchmarks, by
        :func:`~brainscore_vision._selection.data_of`: all of them from one pass.
    cage : mapping, optional
        Has the model run in a cage, isolated: what it sees and may use there, as
        :func:`~brainscore_vision._caged.cage_for` takes it. Plain JSON values.
    forget_after : collection of str
        Benchmarks after which the model's process ends, so that it cannot tell of their stimuli when it is asked by
        another one.

    Returns
    -------
    Receipt
        *failed* where a plugin raised.
    """
    confined = "" if cage is None else json.dumps(dict(cage), sort_keys=True)
    key = _Key(model, (files or {}).get(model), isolated or cage is not None, confined)
    folders = folders_of(files or {})

    def folder(kind: str, identifier: str) -> Path | None:
        try:
            return folders(kind, identifier)
        except UserError:
            return None  # loading it says what is wrong

    with _ends_cleanly(), capture_output() as captured, scored_benchmark(benchmark, benchmark_registry):
        held = _take(key) or _Held(key)
        usable = False
        try:
            receipt = run_pair(
                model,
                benchmark,
                load_model=functools.partial(held.load, regions=(regions or {}).get(data_of(benchmark), ())),
                load_benchmark=load_benchmark,
                results=store,
                plugins=folder,
                raise_errors=False,
                run=held.run(run),
                log=captured.text,
            ).receipt
            usable = receipt.state != "failed" and benchmark not in forget_after
        finally:
            if usable:
                _kept[:] = [held]
            else:
                held.close()
    return receipt


def forget_model() -> None:
    """Let go of the model that is kept for the next pair."""
    while _kept:
        _kept.pop().close()
    gc.collect()
    torch = sys.modules.get("torch")
    if torch is not None and torch.cuda.is_initialized():
        torch.cuda.empty_cache()


def _take(key: _Key) -> _Held | None:
    if _kept and _kept[0].key == key and _kept[0].alive:
        return _kept.pop()
    forget_model()  # before another one is loaded: there may not be room for two
    return None


@contextlib.contextmanager
def _ends_cleanly() -> Iterator[None]:
    """Let SIGTERM end this process as an exception does, so that nothing is left half-written."""
    if threading.current_thread() is not threading.main_thread():
        yield  # only the main thread may say what a signal does
        return

    def end(number: int, frame: Any) -> None:
        raise SystemExit(128 + number)

    before = signal.signal(signal.SIGTERM, end)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)
