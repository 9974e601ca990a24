"""Score one model on one benchmark and write a receipt."""

from __future__ import annotations

import importlib
import logging
import math
import os
import re
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, nullcontext
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, Self

import numpy as np

from brainscore_core.domain_names import FIRST
from brainscore_core.errors import BrainScoreError, DataUnavailable, NotApplicable, UserError
from brainscore_core.plugins.loading import MissingRequirementError, missing_package
from brainscore_core.progress import stage
from brainscore_core.provenance import Record, recording
from brainscore_core.receipts.environment import current_environment, describe_plugin
from brainscore_core.receipts.output import kept_log, scrub_text, scrub_traceback, scrub_url
from brainscore_core.receipts.receipt import (
    BenchmarkInfo,
    CacheUse,
    CeilingEstimate,
    DataItem,
    ErrorInfo,
    Estimate,
    FeaturesItem,
    FileItem,
    Memory,
    ModelInfo,
    PluginCode,
    Receipt,
    RunInfo,
    State,
    Timings,
    VisualAngle,
    WeightsItem,
)
from brainscore_core.results.products import Collected, collecting, products_wanted
from brainscore_core.results.store import Arrays, ResultsStore, arrays_of

if TYPE_CHECKING:
    from brainscore_core.metrics import Score


PluginFolders = Mapping[str, Path | None] | Callable[[str, str], Path | None]
"""Folders of the ``'model'`` and the ``'benchmark'``; or a function of (kind, identifier), also called for data."""

_logger = logging.getLogger(__name__)
_SHA256 = re.compile(r"[0-9a-f]{64}")
_NOT_DATA = {"file", "weights", "seed", "device", "cache", "time", "remark", "readout", "features"}


class Outcome(NamedTuple):
    """Result of scoring one pair.

    Attributes
    ----------
    score : Score
        NaN if the pair is not applicable or failed; ``attrs['state']`` and ``attrs['reason']`` then say why.
        ``attrs['model_identifier']`` and ``attrs['benchmark_identifier']`` name the pair.
    receipt : Receipt
        The pair's receipt.
    """

    score: Score
    receipt: Receipt


_STEPS = {
    "load_benchmark": "loading the benchmark",
    "load_model": "loading the model",
    "ceiling": "estimating the ceiling",
    "score": "scoring",
}
"""What is shown while a step runs."""


class PairRecorder:
    """Records how a pair is scored, and makes its receipt.

    The code that scores runs in a ``with`` block. An error ends the block and becomes the state of the receipt;
    `outcome` raises it again. An interrupt (Ctrl-C) is passed on.

    - `model_identifier`, `benchmark_identifier`: names in the results.
    - `results`: where to write the receipt; by default it is not written.
    - `model_code`, `benchmark_code`: folder or file with the code of each, which is hashed.
    - `domain`: name of the domain.
    - `products`: whether products of the recorded features are stored beside the receipt, unless the environment says
      otherwise.
    - `store`: where the receipt is written.

    Raises UserError if an identifier cannot name a folder, or the store cannot be written.

    Examples
    --------
    >>> from brainscore_core.metrics import Score
    >>> with PairRecorder("half", "Answer2026-accuracy") as recorder:
    ...     with recorder.timed("score"):
    ...         score = Score(0.5)
    ...     recorder.set_score(score)
    >>> recorder.outcome().receipt.score.value
    0.5
    """

    def __init__(
        self,
        model_identifier: str,
        benchmark_identifier: str,
        *,
        results: ResultsStore | str | os.PathLike[str] | None = None,
        model_code: Path | None = None,
        benchmark_code: Path | None = None,
        domain: str = FIRST,
        products: bool = True,
    ) -> None:
        self.store = results if isinstance(results, ResultsStore) or results is None else ResultsStore(results)
        if self.store is not None:
            # impossible names are refused now rather than after hours
            self.store.address_of_pair(model_identifier, benchmark_identifier)
            self.store.require_writable()
        self._receipt = Receipt(
            domain=domain,
            model=ModelInfo(identifier=model_identifier, plugin=_code(model_code)),
            benchmark=BenchmarkInfo(identifier=benchmark_identifier, plugin=_code(benchmark_code)),
            state="scored",
        )
        self._scored_on: Any = None
        self._estimated_ceiling: Any = None
        self._result: Score | None = None
        self._raised: Exception | None = None
        self._attachments: dict[str, Arrays | str] = {}
        self._seconds: dict[str, float] = {}
        self._notes: list[str] = []
        self._record = Record()
        self._wants_products = products and self.store is not None and products_wanted()
        self._products = Collected()
        self._open = ExitStack()

    @property
    def state(self) -> State:
        """``'scored'``, or why there is no score; see :func:`run_pair`."""
        return self._receipt.state

    @property
    def visual_angle(self) -> VisualAngle | None:
        """The visual angle that is recorded."""
        return self._receipt.model.visual_angle

    def _set(self, **fields: Any) -> None:
        self._receipt = replace(self._receipt, **fields)

    def __enter__(self) -> Self:
        self._set(memory=Memory(peak_bytes=_peak_memory()))
        self._record = self._open.enter_context(recording())
        self._products = self._open.enter_context(collecting(wanted=self._wants_products))
        self._open.enter_context(self.timed("total"))
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, traceback: object) -> bool:
        if isinstance(error, NotApplicable):
            self._result = None
            self._set(state="not applicable", reason=scrub_text(error.reason))
        elif isinstance(error, Exception):
            self._result, self._raised = None, error
            described, reason = describe_error(error)
            self._set(state="failed", error=described, reason=reason)
        self._open.close()
        before, peak = self._receipt.memory.peak_bytes, _peak_memory()
        raised = None if peak is None or before is None else peak > before
        self._set(memory=Memory(peak_bytes=peak, raised_here=raised))
        return isinstance(error, Exception)

    def score(self, load_benchmark: Callable[[], Any], load_model: Callable[[], Any]) -> tuple[Any, Any]:
        """Load benchmark and model, score, and return both; called in the ``with`` block."""
        with self.timed("load_benchmark"):
            benchmark = load_benchmark()
        self.set_benchmark(benchmark)
        with self.timed("load_model"):
            model = load_model()
        self.set_visual_angle(_visual_angle_of(model))
        self.estimate_ceiling(benchmark)
        with self.timed("score"):
            score = benchmark(model)
        self.set_score(score)
        return benchmark, model

    @contextmanager
    def timed(self, step: str) -> Iterator[None]:
        """Measure how many seconds a step takes; the names are the fields of `Timings`."""
        start = time.perf_counter()
        try:
            with stage(_STEPS[step]) if step in _STEPS else nullcontext():
                yield
        finally:
            self._seconds[step] = time.perf_counter() - start

    def set_benchmark(self, benchmark: Any) -> None:
        """Describe the benchmark in the receipt."""
        self._scored_on = benchmark
        described = replace(
            self._receipt.benchmark,
            version=_version(getattr(benchmark, "version", None)),
            parent=_text(getattr(benchmark, "parent", None)),
            bibtex=_text(getattr(benchmark, "bibtex", None)),
            control=bool(getattr(benchmark, "control", False)),
        )
        self._set(benchmark=described)

    def set_visual_angle(self, angle: VisualAngle | None) -> None:
        """Record the visual angle of the model's input; None if it is unknown."""
        self._set(model=replace(self._receipt.model, visual_angle=angle))

    def estimate_ceiling(self, benchmark: Any) -> None:
        """Estimate the ceiling before the score, so that its time is measured; the benchmark keeps it."""
        with self.timed("ceiling"):
            try:
                self._estimated_ceiling = benchmark.ceiling
            except NotImplementedError:
                self._estimated_ceiling = None  # without a ceiling; an error, if any, is raised by the score
        self._set_ceiling(self._estimated_ceiling)

    def set_score(self, result: Any) -> None:
        """Write what the benchmark returned into the receipt.

        Raises BrainScoreError if it is not a single finite value or NaN.
        """
        from brainscore_core.benchmarks.measurements import measurements_or_none

        score = _single(result, self._receipt.benchmark.identifier)
        measurements = measurements_or_none(self._scored_on)
        if measurements is not None and measurements.stimuli_were_designed:
            self._set(benchmark=replace(self._receipt.benchmark, parent=None))
            self._notes.append("the stimuli were designed to decide between models: the score counts in no average")
        ceiling = score.attrs.get("ceiling", self._estimated_ceiling)
        if ceiling is not self._estimated_ceiling:  # the one that was applied counts
            self._set_ceiling(ceiling)
        estimate = Estimate.from_score(score)
        raw = score.attrs.get("raw")
        arrays, notes = arrays_of(score)
        self._attachments |= arrays
        self._notes += notes
        if comment := score.attrs.get("comment"):
            self._notes.append(str(comment))
        self._set(raw=Estimate.from_score(raw) if raw is not None and np.size(raw) == 1 else None)
        if estimate.value is None:
            reason = score.attrs.get("reason") or score.attrs.get("error_reason") or "the benchmark returned NaN"
            self._set(state="undefined", reason=scrub_text(str(reason)))
        else:
            self._set(score=estimate)
        self._result = score

    def data(self) -> list[tuple[str, str]]:
        """Kind and identifier of the data sets, stimulus sets and metrics that were used, sorted."""
        return data_of(self._record)

    def write(
        self, find: Callable[[str, str], Path | None] | None = None, *, run: RunInfo | None = None, log: str = ""
    ) -> Receipt:
        """Write the receipt, and return it; parameters as for `outcome`.

        Raises UserError if there is no store.
        """
        if self.store is None:
            raise UserError("there is no store for the receipt", remedy="name one as results")
        if log and (excerpt := kept_log(log)):
            self._attachments["log"] = excerpt
        for item, content in self._products.files:
            self.store.keep_products(content, item.sha256)
        return self.store.write(self._complete(find, run), self._attachments)

    def outcome(
        self,
        find: Callable[[str, str], Path | None] | None = None,
        *,
        run: RunInfo | None = None,
        log: str = "",
        raise_errors: bool = True,
    ) -> Outcome:
        """Write the receipt, and return it with the score.

        `find` returns the folder or file with the code of a kind and an identifier in `data`; the other parameters are
        those of :func:`run_pair`.
        """
        from brainscore_core.metrics import Score, declare_no_error  # here, as it imports xarray

        if self.store is None:
            receipt = self._complete(find, run).identified()
        else:
            receipt = self.write(find, run=run, log=log)
        if self._raised is not None and raise_errors:
            raise self._raised
        score = self._result
        readouts = [str(item["text"]) for item in self._record.items if item["kind"] == "readout"]
        if score is not None and readouts:
            score.attrs["readout"] = "; ".join(readouts)
        layers = dict.fromkeys(f"{item.region}: {', '.join(item.layers)}" for item in receipt.features if item.layers)
        if score is not None and layers:
            score.attrs["layers"] = "; ".join(layers)
        if score is None or receipt.state != "scored":
            score = declare_no_error(Score(np.nan) if score is None else score, receipt.reason or receipt.state)
            score.attrs.update(state=receipt.state, reason=receipt.reason)
        score.attrs.update(model_identifier=receipt.model.identifier, benchmark_identifier=receipt.benchmark.identifier)
        return Outcome(score, receipt)

    def _set_ceiling(self, ceiling: Any) -> None:
        if ceiling is not None and np.size(ceiling) == 1:
            self._set(ceiling=CeilingEstimate.from_score(ceiling))
        elif ceiling is not None:
            self._notes.append(f"the ceiling was not recorded: it has shape {np.shape(ceiling)}, not a single value")

    def _complete(self, find: Callable[[str, str], Path | None] | None, run: RunInfo | None) -> Receipt:
        noted: dict[str, list[dict[str, Any]]] = {}
        for item in self._record.items:
            noted.setdefault(item["kind"], []).append({key: value for key, value in item.items() if key != "kind"})
        extraction = [float(item["seconds"]) for item in noted.get("time", ()) if item.get("step") == "extraction"]
        remarks = [str(item["text"]) for item in self._record.items if item["kind"] in ("remark", "readout")]
        return replace(
            self._receipt,
            data=tuple(
                DataItem(kind=kind, identifier=identifier, plugin=_code(find(kind, identifier) if find else None))
                for kind, identifier in self.data()
            ),
            files=_files(noted.get("file", ())),
            weights=_weights(noted.get("weights", ())),
            features=tuple(
                FeaturesItem(**{**item, "region": str(item["region"]), "layers": tuple(map(str, item["layers"]))})
                for item in noted.get("features", ())
            ),
            products=tuple(item for item, _ in self._products.files),
            environment=current_environment(),
            seeds={str(item.get("name", "seed")): item.get("value") for item in noted.get("seed", ())},
            device=str(noted["device"][-1]["name"]) if "device" in noted else "cpu",
            timings=Timings(**self._seconds, extraction=sum(extraction) if extraction else None),
            cache=_cache_use(noted.get("cache", ())),
            notes=tuple(dict.fromkeys(map(scrub_text, (*remarks, *self._notes, *self._products.notes)))),
            run=run,
        )


def run_pair(
    model_identifier: str,
    benchmark_identifier: str,
    *,
    load_model: Callable[[str], Any],
    load_benchmark: Callable[[str], Any],
    results: ResultsStore | str | os.PathLike[str] | None = None,
    plugins: PluginFolders | None = None,
    raise_errors: bool = True,
    run: RunInfo | None = None,
    log: str | Callable[[], str] | None = None,
    products: bool = True,
    domain: str = FIRST,
) -> Outcome:
    """Score a model on a benchmark and write a receipt.

    Parameters
    ----------
    model_identifier, benchmark_identifier : str
        Arguments of the loaders, and the names in the results.
    load_model, load_benchmark : callable
        Called with the identifier.
    results : ResultsStore or path, optional
        Where to write the receipt. By default it is only returned.
    plugins : mapping or callable, optional
        Folders of the plugins, whose code is hashed: a mapping from ``'model'`` and ``'benchmark'``, or a function of
        kind and identifier, which is also called for data sets, stimulus sets and metrics.
    raise_errors : bool
        Whether to raise an error again after its receipt is written.
    run : RunInfo, optional
        The run that this pair belongs to, for the receipt.
    log : str or callable, optional
        What the pair printed, or a function that returns it after scoring, also if that failed. At most 1 MB is kept
        beside the receipt, without paths, names of users and machines, and credentials.
    products : bool
        Whether products of the recorded features are stored in `results`.
    domain : str
        Name of the domain.

    Returns
    -------
    Outcome
        ``score`` and ``receipt``. ``score.attrs['readout']`` describes the readout if behaviour was read out by a
        fitted one. The receipt's state is ``'scored'``; ``'undefined'`` if the score is NaN; ``'not applicable'`` if
        the model cannot do what the benchmark requires (`NotApplicable`); ``'failed'`` after any other error.

    Raises
    ------
    UserError
        If an identifier cannot be the name of a folder; raised before anything is loaded.
    Exception
        What the model or the benchmark raised, unless `raise_errors` is False. An interrupt (Ctrl-C) is passed on
        and writes nothing.

    Examples
    --------
    >>> from brainscore_core.benchmarks import BenchmarkBase, ceil_score
    >>> from brainscore_core.metrics import Score
    >>> class Answer(BenchmarkBase):
    ...     def __call__(self, candidate):
    ...         return ceil_score(Score(candidate), self.ceiling)
    >>> outcome = run_pair("half", "Answer2026-accuracy", load_model=lambda identifier: 0.4,
    ...                    load_benchmark=lambda identifier: Answer(identifier, lambda: 0.8, version=1))
    >>> outcome.receipt.state, outcome.receipt.score.value, outcome.receipt.raw.value
    ('scored', 0.5, 0.4)
    """
    folders = {} if plugins is None or callable(plugins) else plugins
    find = plugins if callable(plugins) else (lambda kind, identifier: folders.get(kind))
    recorder = PairRecorder(
        model_identifier,
        benchmark_identifier,
        results=results,
        model_code=find("model", model_identifier),
        benchmark_code=find("benchmark", benchmark_identifier),
        products=products,
        domain=domain,
    )
    with recorder:
        recorder.score(lambda: load_benchmark(benchmark_identifier), lambda: load_model(model_identifier))
    printed = log() if callable(log) else log or ""
    return recorder.outcome(find, run=run, log=printed, raise_errors=raise_errors)


def _single(score: Any, benchmark: str) -> Score:
    from brainscore_core.metrics import Score

    if np.size(score) != 1:
        raise BrainScoreError(
            f"benchmark {benchmark!r} returned an array of shape {np.shape(score)}; it must return a single value, "
            "with the values before aggregation in score.attrs['raw']"
        )
    if not isinstance(score, Score):
        attrs = dict(getattr(score, "attrs", {}))
        try:
            score = Score(float(np.asarray(score).item()))
        except (TypeError, ValueError) as error:
            raise BrainScoreError(
                f"benchmark {benchmark!r} returned a {type(score).__name__}; it must return a Score"
            ) from error
        score.attrs = attrs
    if np.isinf(float(score)):
        raise BrainScoreError(f"benchmark {benchmark!r} returned {float(score)}; is its ceiling 0?")
    return score


def _visual_angle_of(model: Any) -> VisualAngle | None:
    """Visual angle of a model's input, and whether the model states it; None if it is unknown."""
    method = getattr(model, "visual_degrees", None)
    try:
        degrees = float(method()) if callable(method) else math.nan
    except Exception as error:  # noqa: BLE001 - code of others; a benchmark that needs the angle raises it again
        _logger.info("the visual angle of %r is unknown: %s", model, error)
        return None
    if not 0 < degrees < math.inf:
        return None
    return VisualAngle(degrees=degrees, stated=getattr(model, "states_visual_degrees", True) is not False)


def _files(items: Sequence[Mapping[str, Any]]) -> tuple[FileItem, ...]:
    files = {
        FileItem(
            url=scrub_url(str(item.get("url") or item.get("path") or "file")),
            sha1=item.get("sha1"),
            sha256=item.get("sha256"),
        )
        for item in items
    }
    return tuple(sorted(files, key=lambda file: (file.url, file.sha1 or "", file.sha256 or "")))


def _weights(items: Sequence[Mapping[str, Any]]) -> tuple[WeightsItem, ...]:
    noted = {(str(item["identifier"]), str(item["sha256"])) for item in items}
    valid = sorted((name, digest) for name, digest in noted if name and _SHA256.fullmatch(digest))
    return tuple(WeightsItem(identifier=identifier, sha256=digest) for identifier, digest in valid)


def _cache_use(items: Sequence[Mapping[str, Any]]) -> CacheUse:
    notes = [item for item in items if item.get("store", "activations") == "activations"]
    return CacheUse(
        hits=sum(int(item.get("hits", item.get("hit") is True)) for item in notes),
        misses=sum(int(item.get("misses", item.get("hit") is False)) for item in notes),
    )


def data_of(record: Record) -> list[tuple[str, str]]:
    """Kind and identifier of the noted data sets, stimulus sets and metrics, sorted."""
    return sorted(
        {
            (str(item["kind"]), str(item["identifier"]))
            for item in record.items
            if item["kind"] not in _NOT_DATA and item.get("identifier")
        }
    )


def describe_error(error: Exception) -> tuple[ErrorInfo, str]:
    """Describe an error for a receipt, with the reason in one line; both without paths and names.

    Errors of libraries and plugins that were caused by an unreachable server have the type ``'Offline'``; those that
    were caused by a missing package, ``'MissingRequirementError'``.
    """
    from brainscore_core.supported_data_standards.brainio.downloads import Offline, is_unreachable

    message = error.message if isinstance(error, UserError) else str(error)
    name = type(error).__qualname__
    if is_unreachable(error) and not isinstance(error, Offline):
        name, message = Offline.__name__, f"{name}: {message}"
    elif not isinstance(error, MissingRequirementError) and (missing := missing_package(error)):
        name, message = MissingRequirementError.__name__, f"{missing} is not installed: {message}"
    described = ErrorInfo(type=name, message=scrub_text(message), traceback=scrub_traceback(error))
    if isinstance(error, DataUnavailable) and error.remedy:
        return described, scrub_text(error.remedy)
    first = next((line for line in message.splitlines() if line.strip()), "")
    return described, scrub_text(f"{name}: {first}".rstrip(": "))


def _code(folder: Path | None) -> PluginCode | None:
    return describe_plugin(Path(folder)) if folder is not None else None


def _version(version: Any) -> int | str | None:
    if version is None or isinstance(version, str):
        return version
    if isinstance(version, int | np.integer) and not isinstance(version, bool):
        return int(version)
    return str(version)


def _text(value: Any) -> str | None:
    return None if value is None else str(value)


def _peak_memory() -> int | None:
    """Highest resident memory of this process in bytes; None if the system does not report it."""
    try:
        import resource
    except ImportError:  # Windows
        return None
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return int(peak if sys.platform == "darwin" else peak * 1024)


def split_scorer(scorer: str) -> tuple[str, str]:
    """Split ``'package.module:function'``.

    Raises UserError if it is not of this form.

    Examples
    --------
    >>> split_scorer("brainscore_core.runner.scoring:score_pair")
    ('brainscore_core.runner.scoring', 'score_pair')
    """
    module, colon, function = scorer.partition(":")
    if not (colon and all(name.isidentifier() for name in (*module.split("."), function))):
        raise UserError(f"{scorer!r} is not the name of a function", remedy="write it as package.module:function")
    return module, function


def import_scorer(scorer: str) -> Callable[..., Any]:
    """Import the function that ``'package.module:function'`` names.

    Raises UserError if it cannot be imported here.
    """
    module, function = split_scorer(scorer)
    try:
        imported: Callable[..., Any] = getattr(importlib.import_module(module), function)
    except (ImportError, AttributeError) as error:
        raise UserError(
            f"the worker cannot import {scorer!r}: {error}",
            remedy="install the same version of brainscore, and of private packages, where the workers run",
        ) from error
    return imported


def write_failed(
    store: ResultsStore,
    model: str,
    benchmark: str,
    *,
    kind: str,
    message: str,
    printed: str = "",
    traceback: str = "",
    seconds: float | None = None,
    run: Any = None,
) -> Receipt:
    """Write a receipt with the state *failed*.

    `printed` is the end of what the process printed, kept as its log; without a traceback it replaces it, since it
    contains the stack after a crash. `seconds` is the time until the error.
    """
    log = kept_log(printed)
    receipt = Receipt(
        model=ModelInfo(identifier=model),
        benchmark=BenchmarkInfo(identifier=benchmark),
        state="failed",
        reason=scrub_text(message),
        error=ErrorInfo(type=kind, message=scrub_text(message), traceback=traceback or log),
        environment=current_environment(),
        timings=Timings(total=seconds),
        run=run,
    )
    return store.write(receipt, {"log": log} if log else None)
