"""Score one model on one benchmark and write a receipt."""

import importlib
import os
import re
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from brainscore_core.errors import BrainScoreError, DataUnavailable, NotApplicable, UserError
from brainscore_core.metrics import Score, declare_no_error
from brainscore_core.provenance import Record, recording
from brainscore_core.receipts.attachments import Arrays, arrays_of
from brainscore_core.receipts.environment import current_environment, describe_plugin
from brainscore_core.receipts.output import kept_log
from brainscore_core.receipts.parts import (
    BenchmarkInfo,
    CacheUse,
    CeilingEstimate,
    DataItem,
    ErrorInfo,
    Estimate,
    FileItem,
    Memory,
    ModelInfo,
    PluginCode,
    RunInfo,
    Timings,
    WeightsItem,
)
from brainscore_core.receipts.privacy import scrub_text, scrub_traceback, scrub_url
from brainscore_core.receipts.receipt import Receipt, State
from brainscore_core.results.store import ResultsStore

__all__ = ["Outcome", "PluginFolders", "import_scorer", "run_info", "run_pair", "split_scorer"]

PluginFolders = Mapping[str, Path | None] | Callable[[str, str], Path | None]
"""Folders of the ``'model'`` and the ``'benchmark'``; or a function of (kind, identifier), also called for data."""

_SHA256 = re.compile(r"[0-9a-f]{64}")
_NOT_DATA = {"file", "weights", "seed", "device", "cache", "time", "remark", "readout"}


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


@dataclass
class _Pair:
    """The pair that is being scored, with its results so far."""

    model: ModelInfo
    benchmark: BenchmarkInfo
    state: State = "scored"
    reason: str | None = None
    error: ErrorInfo | None = None
    score: Estimate | None = None
    raw: Estimate | None = None
    ceiling: CeilingEstimate | None = None
    attachments: dict[str, Arrays | str] = field(default_factory=dict)
    seconds: dict[str, float] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)

    @contextmanager
    def timed(self, step: str) -> Iterator[None]:
        start = time.perf_counter()
        try:
            yield
        finally:
            self.seconds[step] = time.perf_counter() - start


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
    >>> class Answer(BenchmarkBase):
    ...     def __call__(self, candidate):
    ...         return ceil_score(Score(candidate), self.ceiling)
    >>> outcome = run_pair("half", "Answer2026-accuracy", load_model=lambda identifier: 0.4,
    ...                    load_benchmark=lambda identifier: Answer(identifier, lambda: 0.8, version=1))
    >>> outcome.receipt.state, outcome.receipt.score.value, outcome.receipt.raw.value
    ('scored', 0.5, 0.4)
    """
    store = results if isinstance(results, ResultsStore) or results is None else ResultsStore(results)
    if store is not None:
        store.address_of_pair(model_identifier, benchmark_identifier)  # reject invalid names before scoring
        store.require_writable()
    find = _finder(plugins)
    pair = _Pair(
        ModelInfo(identifier=model_identifier, plugin=_code("model", model_identifier, find)),
        BenchmarkInfo(identifier=benchmark_identifier, plugin=_code("benchmark", benchmark_identifier, find)),
    )
    raised: Exception | None = None
    score: Score | None = None
    memory_before = _peak_memory()
    with recording() as record, pair.timed("total"):
        try:
            score = _score(pair, load_model, load_benchmark)
        except NotApplicable as error:
            pair.state, pair.reason = "not applicable", scrub_text(error.reason)
        except Exception as error:  # noqa: BLE001 - any error of a plugin is the result of this pair
            raised = error
            _set_failed(pair, error)
    readouts = [str(item["text"]) for item in record.items if item["kind"] == "readout"]
    if score is not None and readouts:
        score.attrs["readout"] = "; ".join(readouts)
    receipt = replace(_receipt(pair, record, find, memory_before), run=run)
    if store is None:
        receipt = receipt.identified()
    else:
        if text := kept_log(log() if callable(log) else log or ""):
            pair.attachments["log"] = text
        receipt = store.write(receipt, pair.attachments)
    if raised is not None and raise_errors:
        raise raised
    if score is None or receipt.state != "scored":
        score = declare_no_error(Score(np.nan) if score is None else score, receipt.reason or receipt.state)
        score.attrs.update(state=receipt.state, reason=receipt.reason)
    score.attrs.update(model_identifier=model_identifier, benchmark_identifier=benchmark_identifier)
    return Outcome(score, receipt)


def _score(pair: _Pair, load_model: Callable[[str], Any], load_benchmark: Callable[[str], Any]) -> Score:
    with pair.timed("load_benchmark"):
        benchmark = load_benchmark(pair.benchmark.identifier)
    pair.benchmark = BenchmarkInfo(
        identifier=pair.benchmark.identifier,
        version=_version(getattr(benchmark, "version", None)),
        parent=_text(getattr(benchmark, "parent", None)),
        bibtex=_text(getattr(benchmark, "bibtex", None)),
        control=bool(getattr(benchmark, "control", False)),
        plugin=pair.benchmark.plugin,
    )
    with pair.timed("load_model"):
        model = load_model(pair.model.identifier)
    # before the score, to time it separately; a benchmark keeps its ceiling and does not estimate it twice
    with pair.timed("ceiling"):
        ceiling = _ceiling(benchmark)
    _read_ceiling(pair, ceiling)
    with pair.timed("score"):
        score = _single(benchmark(model), pair.benchmark.identifier)
    if score.attrs.get("ceiling", ceiling) is not ceiling:  # the applied ceiling counts
        _read_ceiling(pair, score.attrs["ceiling"])
    _read_score(pair, score)
    return score


def _ceiling(benchmark: Any) -> Any:
    try:
        return benchmark.ceiling
    except NotImplementedError:
        return None  # without a ceiling; if that is a mistake, calling the benchmark raises an error


def _single(score: Any, benchmark: str) -> Score:
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


def _read_ceiling(pair: _Pair, ceiling: Any) -> None:
    if ceiling is not None and np.size(ceiling) == 1:
        pair.ceiling = CeilingEstimate.from_score(ceiling)
    elif ceiling is not None:
        pair.notes.append(f"the ceiling was not recorded: it has shape {np.shape(ceiling)}, not a single value")


def _read_score(pair: _Pair, score: Score) -> None:
    estimate = Estimate.from_score(score)
    raw = score.attrs.get("raw")
    pair.raw = Estimate.from_score(raw) if raw is not None and np.size(raw) == 1 else None
    arrays, notes = arrays_of(score)
    pair.attachments |= arrays
    pair.notes += notes
    if comment := score.attrs.get("comment"):
        pair.notes.append(str(comment))
    if estimate.value is None:
        pair.state = "undefined"
        reason = score.attrs.get("reason") or score.attrs.get("error_reason")
        pair.reason = scrub_text(str(reason)) if reason else "the benchmark returned NaN"
    else:
        pair.score = estimate


def _set_failed(pair: _Pair, error: Exception) -> None:
    message = error.message if isinstance(error, UserError) else str(error)
    name = type(error).__qualname__
    pair.state = "failed"
    pair.error = ErrorInfo(type=name, message=scrub_text(message), traceback=scrub_traceback(error))
    if isinstance(error, DataUnavailable) and error.remedy:
        pair.reason = scrub_text(error.remedy)
    else:
        first = next((line for line in message.splitlines() if line.strip()), "")
        pair.reason = scrub_text(f"{name}: {first}".rstrip(": "))


def _receipt(
    pair: _Pair, record: Record, find: Callable[[str, str], Path | None], memory_before: int | None
) -> Receipt:
    items = record.items
    peak = _peak_memory()
    raised_here = None if peak is None or memory_before is None else peak > memory_before
    return Receipt(
        model=pair.model,
        benchmark=pair.benchmark,
        state=pair.state,
        reason=pair.reason,
        error=pair.error,
        score=pair.score,
        raw=pair.raw,
        ceiling=pair.ceiling,
        data=_data(items, find),
        files=_files(items),
        weights=_weights(items),
        environment=current_environment(),
        seeds={str(item.get("name", "seed")): item.get("value") for item in items if item["kind"] == "seed"},
        device=next((str(item["name"]) for item in reversed(items) if item["kind"] == "device"), "cpu"),
        timings=Timings(**pair.seconds, extraction=_seconds(items, "extraction")),
        memory=Memory(peak_bytes=peak, raised_here=raised_here),
        cache=_cache_use(items),
        notes=tuple(scrub_text(note) for note in (*_remarks(items), *pair.notes)),
    )


def _data(items: list[dict[str, Any]], find: Callable[[str, str], Path | None]) -> tuple[DataItem, ...]:
    named = {
        (str(item["kind"]), str(item["identifier"]))
        for item in items
        if item["kind"] not in _NOT_DATA and item.get("identifier")
    }
    return tuple(
        DataItem(kind=kind, identifier=identifier, plugin=_code(kind, identifier, find))
        for kind, identifier in sorted(named)
    )


def _files(items: list[dict[str, Any]]) -> tuple[FileItem, ...]:
    files = {}
    for item in items:
        if item["kind"] == "file":
            url = scrub_url(str(item.get("url") or item.get("path") or "file"))
            file = FileItem(url=url, sha1=item.get("sha1"), sha256=item.get("sha256"))
            files[(url, file.sha1 or "", file.sha256 or "")] = file
    return tuple(files[key] for key in sorted(files))


def _weights(items: list[dict[str, Any]]) -> tuple[WeightsItem, ...]:
    noted = {(str(item["identifier"]), str(item["sha256"])) for item in items if item["kind"] == "weights"}
    valid = {(name, digest) for name, digest in noted if name and _SHA256.fullmatch(digest)}
    return tuple(WeightsItem(identifier=identifier, sha256=digest) for identifier, digest in sorted(valid))


def _seconds(items: list[dict[str, Any]], step: str) -> float | None:
    noted = [float(item["seconds"]) for item in items if item["kind"] == "time" and item.get("step") == step]
    return sum(noted) if noted else None


def _cache_use(items: list[dict[str, Any]]) -> CacheUse:
    notes = [item for item in items if item["kind"] == "cache" and item.get("store", "activations") == "activations"]
    return CacheUse(
        hits=sum(int(item.get("hits", item.get("hit") is True)) for item in notes),
        misses=sum(int(item.get("misses", item.get("hit") is False)) for item in notes),
    )


def _remarks(items: list[dict[str, Any]]) -> list[str]:
    return [str(item["text"]) for item in items if item["kind"] in ("remark", "readout")]


def _finder(plugins: PluginFolders | None) -> Callable[[str, str], Path | None]:
    if plugins is None:
        return lambda kind, identifier: None
    if callable(plugins):
        return plugins
    folders = plugins
    return lambda kind, identifier: folders.get(kind)


def _code(kind: str, identifier: str, find: Callable[[str, str], Path | None]) -> PluginCode | None:
    folder = find(kind, identifier)
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

    Raises
    ------
    UserError
        If it is not of this form.

    Examples
    --------
    >>> split_scorer("brainscore_vision.scoring:score_pair")
    ('brainscore_vision.scoring', 'score_pair')
    """
    module, colon, function = scorer.partition(":")
    if not (colon and all(part.isidentifier() for part in (*module.split("."), function))):
        raise UserError(f"{scorer!r} is not the name of a function", remedy="write it as package.module:function")
    return module, function


def import_scorer(scorer: str) -> Callable[..., Any]:
    """Import the function that ``'package.module:function'`` names.

    Raises
    ------
    UserError
        If it cannot be imported here.

    Examples
    --------
    >>> import_scorer("brainscore_core.scoring:run_pair").__name__
    'run_pair'
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


def run_info(identifier: str, *, isolated: bool) -> Any:
    """Describe a run for its receipts."""
    return RunInfo(id=identifier, isolated=isolated, environment=None, packages={})
