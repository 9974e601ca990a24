"""Scores pairs of a model and a benchmark, and verifies receipts by scoring their pair again.

A worker captures what a pair prints, and keeps the model loaded for the next benchmark.
"""

from __future__ import annotations

import contextlib
import functools
import gc
import json
import os
import signal
import sys
import threading
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, NamedTuple

import brainscore_vision
from brainscore_core.errors import UserError
from brainscore_core.provenance import note, recording
from brainscore_core.receipts.output import capture_output
from brainscore_core.scoring import run_pair
from brainscore_vision import benchmark_registry, load_benchmark, load_model
from brainscore_vision.composed_names import resolve_benchmark
from brainscore_vision.pair_selection import data_name, folder_finder
from brainscore_vision.public_variants import scored_benchmark
from brainscore_vision.unregistered_models import is_file_reference, load_file_reference, to_unregistered_model

if TYPE_CHECKING:
    from collections.abc import Callable

    from brainscore_core.scoring import Change, Outcome, Receipt, ResultsStore, RunInfo, Stored, Tolerance, Verification
    from brainscore_vision.isolation import Isolation

__all__ = ["forget_model", "score_pair", "verify"]

_TRANSIENT_NOTES = {"cache", "time"}  # kinds of notes that do not hold for a model that was loaded earlier


class _ModelKey(NamedTuple):
    """Two loaded models with the same key are interchangeable."""

    identifier: str
    reference: str | None
    isolated: bool
    cage: str  # sandbox options as JSON; empty without a sandbox


class _LoadedModel:
    """A model that is loaded on first use, and the notes that loading it left."""

    def __init__(self, key: _ModelKey) -> None:
        self.key = key
        self._model: Any = None
        self._notes: list[dict[str, Any]] = []
        self._isolation: Isolation | None = None
        self._error: UserError | None = None
        if key.isolated:
            from brainscore_vision.isolation import Isolation

            try:
                name = None if key.reference is None else key.identifier
                sandbox = json.loads(key.cage) if key.cage else None
                self._isolation = Isolation(key.reference or key.identifier, identifier=name, cage=sandbox)
            except UserError as error:  # a wrong name fails the pair, as it does without isolation
                self._error = error

    def load(self, identifier: str, regions: Sequence[str] = ()) -> Any:
        if self._error is not None:
            raise self._error
        if self._model is None:
            with recording() as record:
                self._model = self._make()
            self._notes = [item for item in record.items if item["kind"] not in _TRANSIENT_NOTES]
        for item in self._notes:
            note(**item)
        expect = getattr(self._model, "expect_recordings", None)
        if expect is not None:
            expect(list(regions))
        return self._model

    def add_run_info(self, run: RunInfo) -> RunInfo:
        """Add the environment of an isolated model to the description of the run."""
        return run if self._isolation is None else self._isolation.add_run_info(run)

    @property
    def alive(self) -> bool:
        """Whether the model can still be used: its process may have died."""
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
        loaded, source = load_file_reference(self.key.reference)
        unregistered = to_unregistered_model(loaded, identifier=self.key.identifier, source=source)
        for remark in unregistered.remarks:
            note("remark", text=remark)
        return unregistered.model


_cached_model: list[_LoadedModel] = []  # at most one; scoring a pair takes it out of the list


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
    """Score a pair and write its receipt, even if a plugin fails.

    The model stays loaded for the next pair of the same model in this process, unless this pair failed; the notes
    that loading it left are in the receipts of all these pairs. Output of the pair, including that of native code and
    of child processes, is stored beside the receipt.

    Parameters
    ----------
    model, benchmark : str
        Their names in the results.
    store : ResultsStore
        Where to write.
    run : RunInfo
        The run that the pair belongs to.
    isolated : bool
        Whether the model runs in a process and an environment of its own.
    files : mapping, optional
        For models that are not registered: name → ``/path/to/file.py:make_model``.
    regions : mapping, optional
        Regions that all benchmarks of this run record with the same stimuli, by
        :func:`~brainscore_vision.pair_selection.data_name`; one pass records all of them.
    cage : mapping, optional
        Runs the model isolated and in a sandbox, with these options of
        :func:`~brainscore_vision.isolation.sandbox_for`. Plain JSON values.
    forget_after : collection of str
        Benchmarks after which the model's process ends, so that the model cannot reveal their stimuli to a later
        benchmark.

    Returns
    -------
    Receipt
        Its state is *failed* if a plugin raised an error.
    """
    sandbox = "" if cage is None else json.dumps(dict(cage), sort_keys=True)
    key = _ModelKey(model, (files or {}).get(model), isolated or cage is not None, sandbox)
    folders = folder_finder(files or {})

    def folder(kind: str, identifier: str) -> Path | None:
        try:
            return folders(kind, identifier)
        except UserError:
            return None  # loading it raises the error

    with _exit_on_sigterm(), capture_output() as captured, scored_benchmark(benchmark, benchmark_registry):
        loaded = _take_cached_model(key) or _LoadedModel(key)
        reusable = False
        try:
            receipt = run_pair(
                model,
                benchmark,
                load_model=functools.partial(loaded.load, regions=(regions or {}).get(data_name(benchmark), ())),
                load_benchmark=load_benchmark,
                results=store,
                plugins=folder,
                raise_errors=False,
                run=loaded.add_run_info(run),
                log=captured.text,
            ).receipt
            reusable = receipt.state != "failed" and benchmark not in forget_after
        finally:
            if reusable:
                _cached_model[:] = [loaded]
            else:
                loaded.close()
    return receipt


def forget_model() -> None:
    """Release the model that is kept for the next pair."""
    while _cached_model:
        _cached_model.pop().close()
    gc.collect()
    torch = sys.modules.get("torch")
    if torch is not None and torch.cuda.is_initialized():
        torch.cuda.empty_cache()


def _take_cached_model(key: _ModelKey) -> _LoadedModel | None:
    if _cached_model and _cached_model[0].key == key and _cached_model[0].alive:
        return _cached_model.pop()
    forget_model()  # before the next model is loaded: memory may not suffice for two
    return None


@contextlib.contextmanager
def _exit_on_sigterm() -> Iterator[None]:
    """Let SIGTERM end this process as an exception does, so that nothing is left half-written."""
    if threading.current_thread() is not threading.main_thread():
        yield  # only the main thread may set signal handlers
        return

    def end(number: int, frame: Any) -> None:
        raise SystemExit(128 + number)

    before = signal.signal(signal.SIGTERM, end)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


_ACTIVATIONS_VARIABLE = "BRAINSCORE_ACTIVATIONS"


def verify(
    receipt: Receipt | Stored | str | Path,
    *,
    model: Any = None,
    how: Mapping[str, Any] | None = None,
    results: ResultsStore | None = None,
    tolerance: Tolerance | None = None,
    stored_activations: bool = False,
    isolated: bool | None = None,
    on_foreseen: Callable[[Sequence[Change]], None] | None = None,
) -> Verification:
    """Score the pair of a receipt again, and report whether the result is the same or which part differs.

    Parameters
    ----------
    receipt : Receipt, Stored, or path
        The receipt to verify, or its JSON file.
    model : optional
        The model if it is not registered: ``path/to/file.py:make_model``, or as for `brainscore_vision.score`.
    how : mapping, optional
        Options of a model that is not registered, as for `brainscore_vision.score`.
    results : ResultsStore, optional
        Where to keep the new receipt; by default it is not kept.
    tolerance : Tolerance, optional
        How far digits may differ in results that count as the same.
    stored_activations : bool
        Whether to use stored activations, which makes the verification weaker. Otherwise activations are computed, and
        ``BRAINSCORE_ACTIVATIONS`` names a temporary folder in the meantime.
    isolated : bool, optional
        Whether the model runs in a process and an environment of its own; by default as in the receipt.
    on_foreseen : callable, optional
        Called before the pair is scored, with the changes that are already known.

    Returns
    -------
    brainscore_core.scoring.Verification
        With ``verdict``: ``'same'``, ``'within tolerance'``, ``'different'`` or ``'not verified'``.

    Raises
    ------
    brainscore_core.errors.UserError
        The model is not registered and `model` is missing, or the benchmark is not registered.

    Examples
    --------
    >>> from brainscore_core.benchmarks import BenchmarkBase, ceil_score
    >>> from brainscore_core.metrics import Score
    >>> from brainscore_vision import benchmark_registry, model_registry, run_pair
    >>> class Guess(BenchmarkBase):
    ...     def __init__(self):
    ...         super().__init__("Guess2026-accuracy", ceiling_func=lambda: 0.8, version=1)
    ...     def __call__(self, candidate):
    ...         return ceil_score(Score(candidate()), self.ceiling)
    >>> benchmark_registry["Guess2026-accuracy"] = Guess
    >>> model_registry["guesser"] = lambda: lambda: 0.6
    >>> verify(run_pair("guesser", "Guess2026-accuracy").receipt).verdict
    'same'
    >>> del benchmark_registry["Guess2026-accuracy"], model_registry["guesser"]
    """
    from brainscore_core import scoring

    stored = scoring.read_receipt(Path(receipt)) if isinstance(receipt, str | Path) else receipt
    expected = stored.receipt if isinstance(stored, scoring.Stored) else stored
    identifier = expected.model.identifier
    if model is None:
        _require_registered(expected)
    benchmark = resolve_benchmark(expected.benchmark.identifier)
    model_or_name: Any = identifier
    if isolated is None:
        isolated = expected.run is not None and expected.run.isolated
    options: dict[str, Any] = {"isolated": isolated}
    if model is not None:
        model_or_name = model
        options |= {"identifier": identifier, "how": dict(how or {})}

    def score(store: ResultsStore) -> Outcome:
        return brainscore_vision.run_pair(model_or_name, benchmark, results=store, **options)

    with TemporaryDirectory(prefix="brainscore-verify-") as folder, _temporary_activations(folder, stored_activations):
        return scoring.verify(
            stored,
            score,
            store=scoring.ResultsStore(Path(folder) / "results") if results is None else results,
            plugins=lambda kind, name: _code_folder(kind, name, model),
            tolerance=tolerance,
            on_foreseen=on_foreseen,
        )


@contextmanager
def _temporary_activations(folder: str, stored: bool) -> Iterator[None]:
    """Store activations in a temporary folder, unless stored activations may be used."""
    from brainscore_core.paths import activations_home

    if stored or activations_home() is None:
        yield
        return
    before = os.environ.get(_ACTIVATIONS_VARIABLE)
    os.environ[_ACTIVATIONS_VARIABLE] = str(Path(folder) / "activations")
    try:
        yield
    finally:
        if before is None:
            del os.environ[_ACTIVATIONS_VARIABLE]
        else:
            os.environ[_ACTIVATIONS_VARIABLE] = before


def _require_registered(receipt: Receipt) -> None:
    """Raise an error if the receipt's model is not registered: a receipt does not tell where the model's code is."""
    identifier = receipt.model.identifier
    if identifier in brainscore_vision.model_registry:
        return
    plugin = receipt.model.plugin
    code = f" Its code was in {plugin.name!r}." if plugin is not None else ""
    raise UserError(
        f"The model {identifier!r} of this receipt is not registered here.{code}",
        remedy="Add its plugin's folder to BRAINSCORE_PLUGINS; or, if it was scored from a file: "
        "--model path/to/file.py:make_model",
    )


def _code_folder(kind: str, identifier: str, model: Any) -> Path | None:
    if kind != "model" or model is None:
        return brainscore_vision.registered_folder(kind, identifier)
    return Path(model.rpartition(":")[0]).expanduser().resolve() if is_file_reference(model) else None
