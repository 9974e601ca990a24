"""Which pairs of model and benchmark are still to be scored, and what that will take."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Literal, NamedTuple

from brainscore_core.errors import UserError
from brainscore_core.receipts.environment import describe_plugin
from brainscore_core.receipts.receipt import BenchmarkInfo, DataItem, ModelInfo, Receipt
from brainscore_core.results.store import Listing, Problem, ResultsStore
from brainscore_core.runner.costs import Cost, Costs, Prediction, costs_table

__all__ = [
    "AGAIN",
    "Again",
    "Cost",
    "Costs",
    "ModelTask",
    "Pair",
    "Pending",
    "Plan",
    "Prediction",
    "Why",
    "costs_table",
    "make_plan",
]

Again = Literal["failed", "none", "all"]
AGAIN: tuple[Again, ...] = ("failed", "none", "all")
"""What of the pairs that have a receipt is scored again."""

Why = Literal["missing", "failed", "version changed", "code changed", "again"]
"""Why a pair is scored."""


class Pair(NamedTuple):
    """A model and a benchmark, by their names in the results."""

    model: str
    benchmark: str


@dataclass(frozen=True, kw_only=True)
class Pending:
    """A pair that is to be scored.

    Attributes
    ----------
    pair : Pair
        Which.
    why : str
        ``'missing'``: it has no receipt; ``'failed'``: it failed; ``'version changed'``, ``'code changed'``: the
        benchmark's version, or the code of one of the plugins, is another than when it was scored; ``'again'``: it is
        done, but everything was asked for.
    detail : str
        More of it, for people; may be empty.
    cost : Cost
        What it is expected to take.
    """

    pair: Pair
    why: Why
    detail: str = ""
    cost: Cost = field(default_factory=Cost)


@dataclass(frozen=True, kw_only=True)
class ModelTask:
    """A model and the benchmarks that it is still to be scored on, one after the other in one process.

    Attributes
    ----------
    model : str
        Its name in the results.
    benchmarks : tuple of str
        In the order in which they were asked for.
    memory : int or None
        Bytes that are expected to be needed; None where nothing is known.
    gpu : int
        How many GPUs it needs.
    seconds : float or None
        How long all of it is expected to take; None where that is not known of every pair.
    """

    model: str
    benchmarks: tuple[str, ...]
    memory: int | None = None
    gpu: int = 0
    seconds: float | None = None


@dataclass(frozen=True, kw_only=True)
class Plan:
    """What is to be done, and what is done.

    Attributes
    ----------
    tasks : tuple of ModelTask
        One a model that has something left; in the order in which they should begin: those that are not known to be
        short first.
    done : tuple of Pair
        Pairs whose newest receipt still holds.
    pending : tuple of Pending
        The others, model by model in the order in which they were asked for.
    skipped : tuple of Pending
        Pairs that would be scored again, but were not asked for.
    problems : tuple of Problem
        Receipts that cannot be read, which do not count.
    created : str
        When it was made, in UTC, ISO 8601: receipts that are newer do its work.
    """

    tasks: tuple[ModelTask, ...] = ()
    done: tuple[Pair, ...] = ()
    pending: tuple[Pending, ...] = ()
    skipped: tuple[Pending, ...] = ()
    problems: tuple[Problem, ...] = ()
    created: str = ""

    @property
    def unknown(self) -> int:
        """Of how many pending pairs the time is not known."""
        return sum(1 for one in self.pending if one.cost.seconds is None)

    @property
    def seconds(self) -> tuple[float, float, float]:
        """Seconds on one worker of all pairs whose time is known: expected, and the sums of the lower and upper ends.

        The range is a cautious one: all pairs would have to be off in the same direction.
        """
        known = [one.cost.seconds for one in self.pending if one.cost.seconds is not None]
        return sum(one.value for one in known), sum(one.low for one in known), sum(one.high for one in known)

    def wall_seconds(self, workers: int) -> float:
        """Seconds on so many workers that take one task after the other, from what is known.

        Parameters
        ----------
        workers : int
            At least 1.
        """
        if workers < 1:
            raise UserError(f"{workers} workers cannot score anything", remedy="at least 1 is needed")
        known = {one.pair: one.cost.seconds.value for one in self.pending if one.cost.seconds is not None}
        ends = [0.0] * workers
        for task in self.tasks:
            first = min(range(workers), key=ends.__getitem__)
            ends[first] += sum(known.get(Pair(task.model, benchmark), 0.0) for benchmark in task.benchmarks)
        return max(ends)


def make_plan(
    models: Sequence[str],
    benchmarks: Sequence[str],
    store: ResultsStore | Listing,
    *,
    again: Again = "failed",
    plugins: Callable[[str, str], Path | None] | None = None,
    version_of: Callable[[str], int | str | None] | None = None,
    costs: Costs | None = None,
    table: Mapping[str, Any] | None = None,
    gpu: int | Mapping[str, int] = 0,
) -> Plan:
    """Find out what is missing. Imports no plugin and writes nothing.

    A pair is done when its newest receipt is *scored*, *not applicable* or *undefined*, and was made with the
    benchmark's version and the code of now: that of the plugins of the model, of the benchmark, and of the data sets,
    stimulus sets and metrics that took part. Where code or version changed, it is scored again; the earlier receipt
    stays.

    Parameters
    ----------
    models, benchmarks : sequence of str
        Their names in the results; every model is scored on every benchmark.
    store : ResultsStore or Listing
        What there is.
    again : {'failed', 'none', 'all'}
        Of the pairs that have a receipt: ``'failed'`` scores again what failed and what is outdated, ``'none'``
        nothing, ``'all'`` everything.
    plugins : callable, optional
        Kind (``'model'``, ``'benchmark'``, ``'data'``, ``'stimulus_set'``, ``'metric'``) and identifier → folder or
        file of the plugin, None where there is none. Without it, code is not compared.
    version_of : callable, optional
        Benchmark → its version where that is known without importing it, else None, which compares to nothing.
    costs : Costs, optional
        By default from the receipts in `store` and `table`.
    table : mapping, optional
        What pairs took on another machine (:func:`costs_table`).
    gpu : int or mapping
        How many GPUs each model, or each of these models, needs.

    Returns
    -------
    Plan
        Tasks, and everything that is known of them.

    Raises
    ------
    UserError
        If `again` is none of the three.

    Examples
    --------
    >>> plan = make_plan(["pixels", "gabor"], ["A2026-pls", "B2026-rdm"], Listing())
    >>> [task.model for task in plan.tasks], plan.tasks[0].benchmarks, plan.pending[0].why, plan.unknown
    (['pixels', 'gabor'], ('A2026-pls', 'B2026-rdm'), 'missing', 4)
    """
    if again not in AGAIN:
        raise UserError(f"again={again!r} is not known", remedy=f"it can be {', '.join(AGAIN)}")
    created = f"{datetime.now(UTC):%Y-%m-%dT%H:%M:%S.%f}Z"
    created = f"{datetime.now(UTC):%Y-%m-%dT%H:%M:%S.%f}Z"
    listing = store if isinstance(store, Listing) else store.listing()
    newest = {Pair(r.model.identifier, r.benchmark.identifier): r for r in listing.newest_of_each()}
    costs = costs or Costs(listing.receipts, table=table)
    code = _Code(plugins)
    done: list[Pair] = []
    pending: list[Pending] = []
    skipped: list[Pending] = []
    for model in dict.fromkeys(models):
        for benchmark in dict.fromkeys(benchmarks):
            pair = Pair(model, benchmark)
            why, detail = _why(pair, newest.get(pair), code, version_of)
            if why is None and again == "all":
                why = "again"
            if why is None:
                done.append(pair)
                continue
            one = Pending(pair=pair, why=why, detail=detail, cost=costs.of(model, benchmark))
            (skipped if again == "none" and why != "missing" else pending).append(one)
    return Plan(
        tasks=_tasks(pending, gpu),
        done=tuple(done),
        pending=tuple(pending),
        skipped=tuple(skipped),
        problems=listing.problems,
        created=created,
    )


class _Code:
    """Hashes of plugins, each computed once."""

    def __init__(self, plugins: Callable[[str, str], Path | None] | None) -> None:
        self._plugins = plugins
        self._places: dict[tuple[str, str], Path | None] = {}
        self._hashes: dict[Path, str | None] = {}

    def of(self, kind: str, identifier: str) -> str | None:
        if self._plugins is None:
            return None
        if (kind, identifier) not in self._places:
            self._places[kind, identifier] = self._plugins(kind, identifier)
        place = self._places[kind, identifier]
        if place is None:
            return None
        if place not in self._hashes:
            self._hashes[place] = describe_plugin(Path(place)).sha256
        return self._hashes[place]


def _why(
    pair: Pair, receipt: Receipt | None, code: _Code, version_of: Callable[[str], int | str | None] | None
) -> tuple[Why | None, str]:
    if receipt is None:
        return "missing", ""
    if receipt.state == "failed":
        return "failed", receipt.reason or ""
    version = version_of(pair.benchmark) if version_of is not None else None
    if version is not None and receipt.benchmark.version is not None and str(version) != str(receipt.benchmark.version):
        return "version changed", f"scored with version {receipt.benchmark.version}, now {version}"
    took_part: list[tuple[str, str, ModelInfo | BenchmarkInfo | DataItem]]
    took_part = [("model", "model", receipt.model), ("benchmark", "benchmark", receipt.benchmark)]
    took_part += [(item.kind, f"{item.kind.replace('_', ' ')} {item.identifier!r}", item) for item in receipt.data]
    changed = []
    for kind, name, info in took_part:
        now = code.of(kind, info.identifier)
        if now is not None and now != (info.plugin.sha256 if info.plugin else None):
            changed.append(name)
    return ("code changed", f"of the {' and the '.join(changed)}") if changed else (None, "")


def _tasks(pending: Sequence[Pending], gpu: int | Mapping[str, int]) -> tuple[ModelTask, ...]:
    by_model: dict[str, list[Pending]] = {}
    for one in pending:
        by_model.setdefault(one.pair.model, []).append(one)
    tasks = []
    for model, ones in by_model.items():
        seconds = [one.cost.seconds.value for one in ones if one.cost.seconds is not None]
        memory = [one.cost.memory.value for one in ones if one.cost.memory is not None]
        tasks.append(
            ModelTask(
                model=model,
                benchmarks=tuple(one.pair.benchmark for one in ones),
                memory=int(max(memory)) if memory else None,
                gpu=gpu.get(model, 0) if isinstance(gpu, Mapping) else gpu,
                seconds=sum(seconds) if len(seconds) == len(ones) else None,
            )
        )
    # the longest first, so that no worker starts on it when all others are done
    return tuple(sorted(tasks, key=lambda task: (task.seconds is not None, -(task.seconds or 0.0))))
