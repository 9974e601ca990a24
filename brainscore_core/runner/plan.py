"""Which pairs of model and benchmark remain to be scored, and their expected cost."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Literal, NamedTuple

from brainscore_core.errors import UserError
from brainscore_core.plugins.source import plugin_hash
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
"""Which pairs that have a receipt are scored again."""

Why = Literal["missing", "failed", "version changed", "code changed", "again"]
"""Why a pair is scored."""


class Pair(NamedTuple):
    """A model and a benchmark, by their names in the results."""

    model: str
    benchmark: str


@dataclass(frozen=True, kw_only=True)
class Pending:
    """A pair that remains to be scored.

    Attributes
    ----------
    pair : Pair
        The pair.
    why : str
        ``'missing'``: it has no receipt; ``'failed'``: it failed; ``'version changed'``, ``'code changed'``: the
        version of the benchmark or the code of a plugin has changed since it was scored; ``'again'``: it is done, but
        all pairs were requested.
    detail : str
        Description for the user; may be empty.
    cost : Cost
        Its expected cost.
    """

    pair: Pair
    why: Why
    detail: str = ""
    cost: Cost = field(default_factory=Cost)


@dataclass(frozen=True, kw_only=True)
class ModelTask:
    """A model and its remaining benchmarks, which are scored one after the other in one process.

    Attributes
    ----------
    model : str
        Its name in the results.
    benchmarks : tuple of str
        In the requested order.
    memory : int or None
        Expected memory in bytes; None if unknown.
    gpu : int
        Number of GPUs that it needs.
    seconds : float or None
        Expected total time; None if it is unknown for any pair.
    """

    model: str
    benchmarks: tuple[str, ...]
    memory: int | None = None
    gpu: int = 0
    seconds: float | None = None


@dataclass(frozen=True, kw_only=True)
class Plan:
    """The pairs that remain to be scored, and those that are done.

    Attributes
    ----------
    tasks : tuple of ModelTask
        One per model with remaining pairs, in the order in which they should start: tasks of unknown time, then the
        longest.
    done : tuple of Pair
        Pairs whose newest receipt is up to date.
    pending : tuple of Pending
        The other pairs, model by model in the requested order.
    skipped : tuple of Pending
        Outdated or failed pairs that `again` excludes.
    problems : tuple of Problem
        Receipts that cannot be read and are ignored.
    created : str
        Time of the plan in UTC, ISO 8601. Newer receipts complete its pairs.
    """

    tasks: tuple[ModelTask, ...] = ()
    done: tuple[Pair, ...] = ()
    pending: tuple[Pending, ...] = ()
    skipped: tuple[Pending, ...] = ()
    problems: tuple[Problem, ...] = ()
    created: str = ""

    @property
    def unknown(self) -> int:
        """Number of pending pairs whose time is unknown."""
        return sum(1 for pending in self.pending if pending.cost.seconds is None)

    @property
    def seconds(self) -> tuple[float, float, float]:
        """Total seconds on one worker of the pairs whose time is known: expected value, lower end, upper end.

        The range is cautious: all pairs would have to deviate in the same direction.
        """
        known = [pending.cost.seconds for pending in self.pending if pending.cost.seconds is not None]
        return sum(cost.value for cost in known), sum(cost.low for cost in known), sum(cost.high for cost in known)

    def wall_seconds(self, workers: int) -> float:
        """Seconds on several workers that take one task after the other, from the pairs whose time is known.

        Parameters
        ----------
        workers : int
            At least 1.
        """
        if workers < 1:
            raise UserError(f"{workers} workers cannot score anything", remedy="use at least 1 worker")
        known = {each.pair: each.cost.seconds.value for each in self.pending if each.cost.seconds is not None}
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
    """Determine which pairs remain to be scored, without importing plugins or writing files.

    A pair is done if its newest receipt is *scored*, *not applicable* or *undefined*, and was made with the current
    version of the benchmark and the current code of the plugins of the model, the benchmark, and the data sets,
    stimulus sets and metrics that it used. If code or version changed, it is scored again; the earlier receipt stays.

    Parameters
    ----------
    models, benchmarks : sequence of str
        Their names in the results; every model is scored on every benchmark.
    store : ResultsStore or Listing
        Existing receipts.
    again : {'failed', 'none', 'all'}
        Which pairs that have a receipt are scored again: ``'failed'``: failed and outdated ones; ``'none'``; ``'all'``.
    plugins : callable, optional
        Kind (``'model'``, ``'benchmark'``, ``'data'``, ``'stimulus_set'``, ``'metric'``) and identifier → folder or
        file of the plugin, or None. Without this function, code is not compared.
    version_of : callable, optional
        Benchmark → its version if known without importing it; else None, and the version is not compared.
    costs : Costs, optional
        By default from the receipts in `store` and `table`.
    table : mapping, optional
        Costs of pairs on another machine (:func:`costs_table`).
    gpu : int or mapping
        Number of GPUs that each model needs, or a mapping from models to this number.

    Returns
    -------
    Plan
        Tasks, pairs and their expected costs.

    Raises
    ------
    UserError
        If `again` is not one of the three values.

    Examples
    --------
    >>> plan = make_plan(["pixels", "gabor"], ["A2026-pls", "B2026-rdm"], Listing())
    >>> [task.model for task in plan.tasks], plan.tasks[0].benchmarks, plan.pending[0].why, plan.unknown
    (['pixels', 'gabor'], ('A2026-pls', 'B2026-rdm'), 'missing', 4)
    """
    if again not in AGAIN:
        raise UserError(f"again={again!r} is not valid", remedy=f"choose one of {', '.join(AGAIN)}")
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
            entry = Pending(pair=pair, why=why, detail=detail, cost=costs.of(model, benchmark))
            (skipped if again == "none" and why != "missing" else pending).append(entry)
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
        self._folders: dict[tuple[str, str], Path | None] = {}
        self._hashes: dict[Path, str | None] = {}

    def of(self, kind: str, identifier: str) -> str | None:
        if self._plugins is None:
            return None
        if (kind, identifier) not in self._folders:
            self._folders[kind, identifier] = self._plugins(kind, identifier)
        folder = self._folders[kind, identifier]
        if folder is None:
            return None
        if folder not in self._hashes:
            self._hashes[folder] = plugin_hash(Path(folder))
        return self._hashes[folder]


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
    used: list[tuple[str, str, ModelInfo | BenchmarkInfo | DataItem]]
    used = [("model", "model", receipt.model), ("benchmark", "benchmark", receipt.benchmark)]
    used += [(item.kind, f"{item.kind.replace('_', ' ')} {item.identifier!r}", item) for item in receipt.data]
    changed = []
    for kind, name, info in used:
        current = code.of(kind, info.identifier)
        if current is not None and current != (info.plugin.sha256 if info.plugin else None):
            changed.append(name)
    return ("code changed", f"of the {' and the '.join(changed)}") if changed else (None, "")


def _tasks(pending: Sequence[Pending], gpu: int | Mapping[str, int]) -> tuple[ModelTask, ...]:
    by_model: dict[str, list[Pending]] = {}
    for entry in pending:
        by_model.setdefault(entry.pair.model, []).append(entry)
    tasks = []
    for model, entries in by_model.items():
        seconds = [entry.cost.seconds.value for entry in entries if entry.cost.seconds is not None]
        memory = [entry.cost.memory.value for entry in entries if entry.cost.memory is not None]
        tasks.append(
            ModelTask(
                model=model,
                benchmarks=tuple(entry.pair.benchmark for entry in entries),
                memory=int(max(memory)) if memory else None,
                gpu=gpu.get(model, 0) if isinstance(gpu, Mapping) else gpu,
                seconds=sum(seconds) if len(seconds) == len(entries) else None,
            )
        )
    # the longest first, so that no worker starts one of them after all others have finished
    return tuple(sorted(tasks, key=lambda task: (task.seconds is not None, -(task.seconds or 0.0))))
