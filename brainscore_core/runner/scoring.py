"""Scores pairs of a model and a benchmark of any domain, and verifies receipts by scoring their pair again.

Library, command line, runner and website score through this module. A worker of the runner also captures what a pair
prints, and keeps the model loaded for the next benchmark.
"""

from __future__ import annotations

import functools
import gc
import json
import logging
import os
import signal
import sys
import threading
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, NamedTuple, Self
from uuid import uuid4

from brainscore_core.domains import Domain, domain_of
from brainscore_core.domains import domain as domain_named
from brainscore_core.errors import UserError
from brainscore_core.plugins.loading import is_file_reference, referenced_file
from brainscore_core.plugins.registry import suggesting_public_variants
from brainscore_core.plugins.source import plugin_hash
from brainscore_core.progress import stage
from brainscore_core.provenance import note, recording
from brainscore_core.receipts.environment import current_environment, describe_plugin
from brainscore_core.receipts.output import capture_output
from brainscore_core.receipts.receipt import RunInfo
from brainscore_core.runner.pair import Outcome, PairRecorder, data_of

if TYPE_CHECKING:
    from brainscore_core.plugins.environments import Environment
    from brainscore_core.receipts.changes import Change
    from brainscore_core.receipts.difference import Tolerance
    from brainscore_core.receipts.receipt import Receipt
    from brainscore_core.results.store import ResultsStore
    from brainscore_core.runner.verification import Stored, Verification

_logger = logging.getLogger(__name__)
_TRANSIENT_NOTES = {"cache", "time"}  # kinds of notes that do not hold for a model that was loaded earlier


def run_pair(
    domain: Domain,
    model_identifier: Any,
    benchmark_identifier: str,
    *,
    results: ResultsStore | str | os.PathLike[str] | None = None,
    identifier: str | None = None,
    how: Mapping[str, Any] | None = None,
    isolated: bool = False,
    cage: Mapping[str, Any] | None = None,
    other_angles: bool = False,
    products: bool = True,
    raise_errors: bool = True,
    run: RunInfo | None = None,
    log: str = "",
) -> Outcome:
    """Score a model on a benchmark, and return the score together with its receipt.

    `domain`: that of both. `model_identifier`: key of `model_registry`, ``path/to/file.py:make_model``, or the model
    itself. `benchmark_identifier`: key of `benchmark_registry`, or a name that its resolver knows. `identifier`, `how`:
    name in the results and further options, for a model that is not registered. `isolated`: whether the model runs in a
    process of its own, in an environment with the packages of its ``requirements.txt``. `cage`: runs it isolated and in
    a sandbox without network, with these options of :func:`~brainscore_core.isolation.process.sandbox_for`.
    `other_angles`: whether to score also at half and double the visual angle of the model. `products`: whether
    products of the recorded features are stored in `results`. `raise_errors`, `run`,
    `log`: as for :func:`brainscore_core.runner.pair.run_pair`.
    """
    benchmark = domain.registries["benchmark"].resolve(benchmark_identifier)
    with (
        stage(f"{identifier or _name_shown(model_identifier)} on {benchmark}"),
        ScoredModel(domain, model_identifier, identifier=identifier, how=how, isolated=isolated, cage=cage) as model,
    ):
        model.check()
        info = model.run_info(run)
        recorder = _score(model, benchmark, results, other_angles=other_angles, products=products)
        return recorder.outcome(functools.partial(_code, domain), run=info, log=log, raise_errors=raise_errors)


def _name_shown(model: Any) -> str:
    """What the progress calls a model before it is loaded."""
    if isinstance(model, str):
        return model
    own = getattr(model, "identifier", None)
    return own if isinstance(own, str) and own else getattr(model, "__name__", type(model).__name__)


def _score(
    model: ScoredModel,
    benchmark_identifier: str,
    results: ResultsStore | str | os.PathLike[str] | None,
    regions: Sequence[str] | None = None,
    *,
    other_angles: bool = False,
    products: bool = True,
) -> PairRecorder:
    """Make benchmark and model, and score; errors are kept in the recorder."""
    domain = model.domain
    kept = _kept_benchmarks.get(benchmark_identifier)
    recorder = PairRecorder(
        model.name,
        benchmark_identifier,
        results=results,
        model_code=model.code(),
        benchmark_code=_code(domain, "benchmark", benchmark_identifier) if kept is None else kept.folder,
        domain=domain.name,
        products=products,
    )
    with recorder, suggesting_public_variants(benchmark_identifier, domain.registries["benchmark"]):
        benchmark, loaded = recorder.score(
            lambda: _take_kept_benchmark(benchmark_identifier) or domain.load_benchmark(benchmark_identifier),
            lambda: model.load(regions),
        )
    angle = recorder.visual_angle
    if other_angles and angle is not None and recorder.state == "scored":
        others = domain.feature("scores at other visual angles")(loaded, benchmark)
        recorder.set_visual_angle(replace(angle, others=tuple(others)))
    return recorder


def _code(domain: Domain, kind: str, identifier: str) -> Path | None:
    """Folder of a plugin, to be hashed; None if no plugin registers the object, which fails when it is loaded."""
    try:
        return domain.folder(kind, identifier)
    except UserError:
        return None


class ScoredModel:
    """A model to score: registered, from a file or an object; in this process or in one of its own.

    It is loaded once, and the notes that loading it left are repeated for each receipt. On exit, a process of its own
    ends.

    `domain`, `model`, `identifier`, `how`, `isolated`, `cage`: as ``model_identifier`` and the further parameters of
    :func:`run_pair`.
    """

    def __init__(
        self,
        domain: Domain,
        model: Any,
        *,
        identifier: str | None = None,
        how: Mapping[str, Any] | None = None,
        isolated: bool = False,
        cage: Mapping[str, Any] | None = None,
    ) -> None:
        self.domain = domain
        self._reference = model
        self._identifier = identifier
        self._how = how
        self._cage = cage
        self._isolated = isolated or cage is not None
        self._registered = isinstance(model, str) and not is_file_reference(model)
        self._name: str | None = model if self._registered else identifier
        self._source = referenced_file(model) if is_file_reference(model) else None
        self._model: Any = None
        self._notes: list[dict[str, Any]] = []

    def check(self) -> None:
        """Raise an error for a model that cannot be scored as requested, before a receipt records a failure.

        A model that is not registered and runs in this process is loaded.
        """
        if self._isolated:
            from brainscore_core.isolation.process import require_reference
            from brainscore_core.isolation.sandbox import require_sandbox

            require_reference(self.domain, self._reference, self._identifier, self._how)
            if self._cage is not None:
                require_sandbox()
        elif self._registered:
            self.domain.require_model(self._reference, self._identifier, self._how)
        else:
            self.load()

    @property
    def name(self) -> str:
        """Name in the results; the model is loaded if only the model itself knows it."""
        if self._name is None:
            self.load()
        assert self._name is not None
        return self._name

    @property
    def alive(self) -> bool:
        """Whether the model can still be used: its process may have died."""
        return self._model is None or not self._isolated or self._model.process.running

    def code(self) -> Path | None:
        """Folder or file with the model's code, if known."""
        return _code(self.domain, "model", self.name) if self._registered else self._source

    def load(self, regions: Sequence[str] | None = None) -> Any:
        """Return the model, and repeat the notes that loading it left.

        `regions`: regions that one pass should record, if the model supports it.
        """
        if self._model is None:
            with recording() as record:
                self._model = self._make()
            self._notes = [item for item in record.items if item["kind"] not in _TRANSIENT_NOTES]
        for item in self._notes:
            note(**item)
        expect = getattr(self._model, "expect_recordings", None)
        if regions is not None and expect is not None:
            expect(list(regions))
        return self._model

    def run_info(self, run: RunInfo | None) -> RunInfo | None:
        """Add isolation and environment to the description of the run."""
        if not self._isolated:
            return run
        environment, _ = self._environment
        return replace(
            run or RunInfo(id=uuid4().hex[:12]),
            isolated=True,
            environment=None if environment is None else environment.key,
            packages={} if environment is None else dict(environment.packages),
        )

    def close(self) -> None:
        """Release the model; a process of its own ends."""
        if self._isolated and self._model is not None:
            self._model.close()
        self._model = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    @functools.cached_property
    def _environment(self) -> tuple[Environment | None, UserError | None]:
        """Environment of the process, or why there is none: this error fails the pair when its model is loaded."""
        from brainscore_core.isolation.process import environment_for

        try:
            return environment_for(self.domain, self._reference), None
        except UserError as error:
            return None, error

    def _make(self) -> Any:
        if self._isolated:
            return self._start_process()
        if self._registered:
            return self.domain.load_model(self._reference)
        load = self.domain.feature("unregistered model")
        unregistered = load(self._reference, identifier=self._identifier, how=self._how)
        self._name, self._source = unregistered.identifier, unregistered.source
        return unregistered.model

    def _start_process(self) -> Any:
        from brainscore_core.isolation.process import SANDBOX_REMARK, isolated_model

        self.check()
        environment, error = self._environment
        if error is not None:
            raise error
        if self._cage is not None:
            note("remark", text=SANDBOX_REMARK)
        model = isolated_model(
            self.domain,
            self._reference,
            identifier=self._identifier,
            how=self._how,
            environment=environment,
            cage=self._cage,
        )
        self._name = self._name or model.name
        return model


class _KeptBenchmark(NamedTuple):
    """A benchmark with its ceiling, the folder of its plugin, and the notes and the output of both."""

    benchmark: Any
    folder: Path | None
    notes: list[dict[str, Any]]
    printed: str


_kept_benchmarks: dict[str, _KeptBenchmark] = {}


def keep_benchmark(benchmark: str, domain: str | None = None, **options: Any) -> dict[str, str | None]:
    """Load a benchmark and estimate its ceiling for the processes that are forked from this one.

    `benchmark`: its name in the results. `domain`: its domain. `**options`: have no influence. Result: hashes of
    its code, and of that of its data and metrics, by folder or file.
    """
    owner = domain_of("benchmark", benchmark) if domain is None else domain_named(domain)
    with capture_output() as captured, recording() as record:
        made = owner.load_benchmark(benchmark)
        with suppress(NotImplementedError):
            _ = made.ceiling
    notes = [item for item in record.items if item["kind"] not in _TRANSIENT_NOTES]
    # what all receipts contain, which is remembered
    current_environment()
    describe_plugin(Path(__file__))
    folder = _code(owner, "benchmark", benchmark)
    places = {folder, *(_code(owner, *item) for item in data_of(record))}
    hashes = {str(place): plugin_hash(place) for place in places if place is not None}
    _kept_benchmarks[benchmark] = _KeptBenchmark(made, folder, notes, captured.text())
    return hashes


def forget_benchmark(benchmark: str) -> None:
    """Release a benchmark that :func:`keep_benchmark` keeps."""
    _kept_benchmarks.pop(benchmark, None)
    gc.collect()


def _take_kept_benchmark(identifier: str) -> Any:
    """Return a kept benchmark, at most once in each process, since scoring may change it; None if there is none."""
    kept = _kept_benchmarks.pop(identifier, None)
    if kept is None:
        return None
    for item in kept.notes:
        note(**item)
    sys.stdout.write(kept.printed)
    return kept.benchmark


# at most one, by what makes two loaded models interchangeable; scoring a pair takes it out
_cached_model: dict[tuple[object, ...], ScoredModel] = {}


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
    products: bool = True,
    domain: str | None = None,
) -> Receipt:
    """Score a pair and write its receipt, even if a plugin fails.

    The model stays loaded for the next pair of the same model in this process, unless this pair failed; the notes
    that loading it left are in the receipts of all these pairs. Output of the pair, including that of native code and
    of child processes, is stored beside the receipt.

    `model`, `benchmark`: their names in the results. `run`: the run that the pair belongs to. `isolated`: whether the
    model runs in a process and an environment of its own. `files`: for models that are not registered: name →
    ``/path/to/file.py:make_model``. `regions`: regions that all benchmarks of this run record with the same stimuli, by
    :func:`data_name`; one pass records all of them. `cage`: runs the model isolated and in a sandbox, with these
    options of :func:`~brainscore_core.isolation.process.sandbox_for`. Plain JSON values. `forget_after`: benchmarks
    after which the model's process ends, so that the model cannot reveal their stimuli to a later benchmark.
    `products`: as for :func:`run_pair`. `domain`: that of both; by default it is found by the benchmark's name. Result:
    its state is *failed* if a plugin raised an error.
    """
    reference = (files or {}).get(model)
    owner = domain_of("benchmark", benchmark) if domain is None else domain_named(domain)
    sandbox = None if cage is None else json.dumps(dict(cage), sort_keys=True)
    key = (owner.name, model, reference, isolated, sandbox)
    with _exit_on_sigterm(), capture_output() as captured:
        scored = _take_cached_model(key) or ScoredModel(
            owner, reference or model, identifier=model if reference else None, isolated=isolated, cage=cage
        )
        reusable = False
        try:
            info = scored.run_info(run)
            recorded = (regions or {}).get(data_name(benchmark), ())
            recorder = _score(scored, benchmark, store, recorded, products=products)
            receipt = recorder.write(functools.partial(_code, owner), run=info, log=captured.text())
            reusable = receipt.state != "failed" and benchmark not in forget_after
        finally:
            if reusable:
                _cached_model[key] = scored
            else:
                scored.close()
    return receipt


def forget_model() -> None:
    """Release the model that is kept for the next pair."""
    if not _cached_model:
        return
    while _cached_model:
        _cached_model.popitem()[1].close()
    gc.collect()
    torch = sys.modules.get("torch")
    if torch is not None and torch.cuda.is_initialized():
        torch.cuda.empty_cache()


def _take_cached_model(key: tuple[object, ...]) -> ScoredModel | None:
    if key in _cached_model and _cached_model[key].alive:
        return _cached_model.pop(key)
    forget_model()  # before the next model is loaded: memory may not suffice for two
    return None


@contextmanager
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
        The model if it is not registered: ``path/to/file.py:make_model``, or as for the function `score` of its domain.
    how : mapping, optional
        Options of a model that is not registered, as for the function `score` of its domain.
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
    """
    from brainscore_core.results.store import ResultsStore
    from brainscore_core.runner import verification

    stored = verification.read_receipt(Path(receipt)) if isinstance(receipt, str | Path) else receipt
    expected = stored.receipt if isinstance(stored, verification.Stored) else stored
    identifier = expected.model.identifier
    domain = domain_named(expected.domain)
    if model is None:
        _require_registered(domain, expected)
    benchmark = domain.registries["benchmark"].resolve(expected.benchmark.identifier)
    model_or_name: Any = identifier
    if isolated is None:
        isolated = expected.run is not None and expected.run.isolated
    options: dict[str, Any] = {"isolated": isolated}
    if model is not None:
        model_or_name = model
        options |= {"identifier": identifier, "how": dict(how or {})}

    def score(store: ResultsStore) -> Outcome:
        return run_pair(domain, model_or_name, benchmark, results=store, **options)

    with (
        stage(f"verifying {expected.id}"),
        TemporaryDirectory(prefix="brainscore-verify-") as folder,
        _activations_in(folder, stored_activations),
    ):
        return verification.verify(
            stored,
            score,
            store=ResultsStore(Path(folder) / "results") if results is None else results,
            plugins=lambda kind, name: _code_folder(domain, kind, name, model),
            tolerance=tolerance,
            on_foreseen=on_foreseen,
        )


@contextmanager
def temporary_activations() -> Iterator[None]:
    """Store activations in a folder that is removed at the end."""
    with TemporaryDirectory(prefix="brainscore-activations-") as folder, _activations_in(folder, stored=False):
        yield


@contextmanager
def _activations_in(folder: str, stored: bool) -> Iterator[None]:
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


def _require_registered(domain: Domain, receipt: Receipt) -> None:
    """Raise an error if the receipt's model is not registered: a receipt does not tell where the model's code is."""
    identifier = receipt.model.identifier
    if domain.knows("model", identifier):
        return
    plugin = receipt.model.plugin
    code = f" Its code was in {plugin.name!r}." if plugin is not None else ""
    raise UserError(
        f"The model {identifier!r} of this receipt is not registered here.{code}",
        remedy=f"Add its plugin's folder to {domain.plugin_index.variable}; or, if it was scored from a file: "
        "--model path/to/file.py:make_model",
    )


def _code_folder(domain: Domain, kind: str, identifier: str, model: Any) -> Path | None:
    if kind != "model" or model is None:
        return domain.folder(kind, identifier)
    return referenced_file(model) if is_file_reference(model) else None


def data_name(benchmark: str) -> str:
    """Name of a benchmark's data: the benchmark's name up to the first dot."""
    return benchmark.partition(".")[0]
