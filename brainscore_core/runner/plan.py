"""Which pairs of model and benchmark remain to be scored, and their expected cost."""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache, cached_property
from heapq import heapreplace
from operator import eq
from pathlib import Path
from typing import Any, Literal, NamedTuple, TypeVar, overload

import numpy as np
from numpy.typing import NDArray

from brainscore_core.errors import UserError
from brainscore_core.plugins.source import plugin_hash
from brainscore_core.receipts.schema import present_time
from brainscore_core.results.index import ReceiptTable, table_of
from brainscore_core.results.store import Listing, Problem, ResultsStore
from brainscore_core.runner.costs import Cost, Costs, CostTable, Prediction, costs_table

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
    """A pair that remains to be scored."""

    pair: Pair  # the pair
    # ``'missing'``: it has no receipt; ``'failed'``: it failed; ``'version changed'``, ``'code changed'``: the version
    # of the benchmark or the code of a plugin has changed since it was scored; ``'again'``: it is done, but all pairs
    # were requested
    why: Why
    detail: str = ""  # description for the user; may be empty
    cost: Cost = field(default_factory=Cost)  # its expected cost


@dataclass(frozen=True, kw_only=True)
class ModelTask:
    """A model and its remaining benchmarks, which are scored one after the other in one process."""

    model: str  # its name in the results
    benchmarks: tuple[str, ...]  # in the requested order
    memory: int | None = None  # expected memory in bytes; None if unknown
    gpu: int = 0  # number of GPUs that it needs
    seconds: float | None = None  # expected total time; None if it is unknown for any pair
    known_seconds: float = 0.0  # the same of the pairs whose time is known


@dataclass(frozen=True, kw_only=True)
class Plan:
    """The pairs that remain to be scored, and those that are done."""

    # one per model with remaining pairs, in the order in which they should start: tasks of unknown time, then the
    # longest
    tasks: Sequence[ModelTask] = ()
    done: Sequence[Pair] = ()  # pairs whose newest receipt is up to date
    pending: Sequence[Pending] = ()  # the other pairs, model by model in the requested order
    skipped: Sequence[Pending] = ()  # outdated or failed pairs that `again` excludes
    problems: tuple[Problem, ...] = ()  # receipts that cannot be read and are ignored
    created: str = ""  # Time of the plan in UTC, ISO 8601. Newer receipts complete its pairs.
    unknown: int = 0  # number of pending pairs whose time is unknown
    # Total seconds on one worker of the pairs whose time is known: expected value, lower end, upper end. The range is
    # cautious: all pairs would have to deviate in the same direction.
    seconds: tuple[float, float, float] = (0.0, 0.0, 0.0)

    def wall_seconds(self, workers: int) -> float:
        """Seconds on several workers that take one task after the other, from the pairs whose time is known."""
        if workers < 1:
            raise UserError(f"{workers} workers cannot score anything", remedy="use at least 1 worker")
        ends = [0.0] * workers
        for task in self.tasks:
            heapreplace(ends, ends[0] + task.known_seconds)
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

    - `models`, `benchmarks`: their names in the results; every model is scored on every benchmark.
    - `store`: existing receipts.
    - `again`: which pairs that have a receipt are scored again: ``'failed'``: failed and outdated ones; ``'none'``;
      ``'all'``.
    - `plugins`: kind (``'model'``, ``'benchmark'``, ``'data'``, ``'stimulus_set'``, ``'metric'``) and identifier →
      folder or file of the plugin, or None. Without this function, code is not compared.
    - `version_of`: benchmark → its version if known without importing it; else None, and the version is not compared.
    - `costs`: by default from the receipts in `store` and `table`.
    - `table`: costs of pairs on another machine (:func:`costs_table`).
    - `gpu`: number of GPUs that each model needs, or a mapping from models to this number.

    Returns: tasks, pairs and their expected costs. Raises UserError if `again` is not one of the three values.

    Examples
    --------
    >>> plan = make_plan(["pixels", "gabor"], ["A2026-pls", "B2026-rdm"], Listing())
    >>> [task.model for task in plan.tasks], plan.tasks[0].benchmarks, plan.pending[0].why, plan.unknown
    (['pixels', 'gabor'], ('A2026-pls', 'B2026-rdm'), 'missing', 4)
    """
    if again not in AGAIN:
        raise UserError(f"again={again!r} is not valid", remedy=f"choose one of {', '.join(AGAIN)}")
    created = present_time()
    rows = store.table() if isinstance(store, ResultsStore) else table_of(store.receipts, store.problems)
    models, benchmarks = list(dict.fromkeys(models)), list(dict.fromkeys(benchmarks))
    grid = _Grid(models, benchmarks, rows, costs or Costs(rows, table=table), _Code(plugins), version_of)
    done = grid.why == _DONE
    if again == "all":
        grid.why[done] = WHY.index("again")
        done[:] = False
    omitted = ~done & (grid.why != WHY.index("missing")) & (again == "none")
    chosen = ~(done | omitted)
    seconds = [ends[chosen] for ends in grid.costs.seconds[:3]] if chosen.any() else [np.zeros(0)] * 3
    value, low, high = (float(np.nansum(ends)) for ends in seconds)
    return Plan(
        tasks=_tasks(grid, chosen, gpu),
        done=_Pairs(grid, done, grid.pair),
        pending=_Pairs(grid, chosen, grid.pending),
        skipped=_Pairs(grid, omitted, grid.pending),
        problems=rows.problems,
        created=created,
        unknown=int(np.isnan(seconds[0]).sum()),
        seconds=(value, low, high),
    )


WHY: tuple[Why, ...] = ("missing", "failed", "version changed", "code changed", "again")
_DONE = -1


class _Grid:
    """All pairs of a plan: `why` each is scored (position in `WHY`, or `_DONE`), its newest receipt, its costs.

    Objects are made for pairs that are looked at, since a plan may have more than a million.
    """

    def __init__(
        self,
        models: list[str],
        benchmarks: list[str],
        rows: ReceiptTable,
        costs: Costs,
        code: "_Code",
        version_of: Callable[[str], int | str | None] | None,
    ) -> None:
        self.models, self.benchmarks, self.rows, self.code = models, benchmarks, rows, code
        self._costs = costs
        self.versions = [None if version_of is None else version_of(name) for name in benchmarks]
        self.newest = np.full((len(models), len(benchmarks)), -1, np.int32)  # row of the newest receipt
        self.why = np.zeros(self.newest.shape, np.int8)
        if len(rows):
            indices = []
            for names, column in ((models, "model"), (benchmarks, "benchmark")):
                positions = {name: number for number, name in enumerate(names)}
                index = np.array([positions.get(text, -1) for text in rows.texts], np.int32)
                indices.append(index[rows.columns[column]])
            used = np.flatnonzero((indices[0] >= 0) & (indices[1] >= 0))
            self.newest[indices[0][used], indices[1][used]] = used  # the last one of a pair counts
            self._compare()

    @cached_property
    def costs(self) -> CostTable:
        """Costs of all pairs, predicted when they are first needed."""
        return self._costs.of_all(self.models, self.benchmarks)

    def pair(self, row: int, column: int) -> Pair:
        """Name a pair."""
        return Pair(self.models[row], self.benchmarks[column])

    def pending(self, row: int, column: int) -> Pending:
        """Describe a pair that is to be scored."""
        why = WHY[self.why[row, column]]
        detail, cost = self._detail(why, row, column), self.costs.at(row, column)
        return Pending(pair=self.pair(row, column), why=why, detail=detail, cost=cost)

    def _compare(self) -> None:
        """Determine why pairs with a receipt are scored again."""
        scored = self.newest >= 0
        rows = self.newest[scored]
        model, benchmark = np.nonzero(scored)
        texts = self.rows.texts

        def differ(place: NDArray[np.intp], column: str, differs: Callable[[int, str], Any]) -> NDArray[np.bool_]:
            keys = place.astype(np.int64) * len(texts) + self.rows.columns[column][rows]
            distinct, inverse = np.unique(keys, return_inverse=True)
            differing = [bool(differs(int(key) // len(texts), texts[int(key) % len(texts)])) for key in distinct]
            answers: NDArray[np.bool_] = np.array(differing, bool)[inverse]
            return answers

        why = np.full(len(rows), _DONE, np.int8)
        why[differ(model, "model_code", self._changed_model)] = WHY.index("code changed")
        why[differ(benchmark, "code", self._changed_others)] = WHY.index("code changed")
        why[differ(benchmark, "version", self._has_other_version)] = WHY.index("version changed")
        why[differ(benchmark, "state", lambda _, state: state == "failed")] = WHY.index("failed")
        self.why[scored] = why

    def _has_other_version(self, column: int, version: str) -> bool:
        current = self.versions[column]
        return current is not None and version != "" and str(current) != str(json.loads(version))

    def _changed_model(self, row: int, digest: str) -> list[str]:
        return ["model"] if self.code.changed("model", self.models[row], digest) else []

    def _changed_others(self, column: int, code: str) -> list[str]:
        digest, data = json.loads(code)
        changed = ["benchmark"] if self.code.changed("benchmark", self.benchmarks[column], digest) else []
        for kind, identifier, digest in data:
            if self.code.changed(kind, identifier, digest):
                changed.append(f"{kind.replace('_', ' ')} {identifier!r}")
        return changed

    def _detail(self, why: Why, row: int, column: int) -> str:
        texts, columns, number = self.rows.texts, self.rows.columns, self.newest[row, column]
        if why == "failed":
            return texts[columns["reason"][number]]
        if why == "version changed":
            version = json.loads(texts[columns["version"][number]])
            return f"scored with version {version}, now {self.versions[column]}"
        if why == "code changed":
            names = self._changed_model(row, texts[columns["model_code"][number]])
            names += self._changed_others(column, texts[columns["code"][number]])
            return f"of the {' and the '.join(names)}"
        return ""


Entry = TypeVar("Entry")


class _Pairs(Sequence[Entry]):
    """Some pairs of a grid, model by model; `make` makes the entry of a row and a column."""

    def __init__(self, grid: _Grid, chosen: NDArray[np.bool_], make: Callable[[int, int], Entry]) -> None:
        self._width, self._indices, self._make = len(grid.benchmarks), np.flatnonzero(chosen), make

    def __len__(self) -> int:
        return len(self._indices)

    @overload
    def __getitem__(self, number: int) -> Entry: ...
    @overload
    def __getitem__(self, number: slice) -> tuple[Entry, ...]: ...
    def __getitem__(self, number: int | slice) -> Entry | tuple[Entry, ...]:
        indices = self._indices[number].tolist()
        if isinstance(indices, list):
            return tuple(self._make(*divmod(index, self._width)) for index in indices)
        return self._make(*divmod(indices, self._width))

    def __iter__(self) -> Iterator[Entry]:
        for start in range(0, len(self), 10_000):
            yield from self[start : start + 10_000]

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Sequence) and len(self) == len(other) and all(map(eq, self, other))

    __hash__ = None  # type: ignore[assignment] # equal to other sequences, which have no hash

    def __repr__(self) -> str:
        return repr(tuple(self))


class _Code:
    """Hashes of plugins, each computed once."""

    def __init__(self, plugins: Callable[[str, str], Path | None] | None) -> None:
        self._folder = cache(plugins or (lambda kind, identifier: None))
        self._hash = cache(plugin_hash)

    def changed(self, kind: str, identifier: str, digest: str | None) -> bool:
        """Whether a plugin's hash is known and is not this one."""
        folder = self._folder(kind, identifier)
        current = None if folder is None else self._hash(Path(folder))
        return current is not None and current != (digest or None)


def _tasks(grid: _Grid, chosen: NDArray[np.bool_], gpu: int | Mapping[str, int]) -> tuple[ModelTask, ...]:
    tasks = []
    for row in np.flatnonzero(chosen.any(axis=1)).tolist():
        model, columns = grid.models[row], np.flatnonzero(chosen[row])
        seconds, memory = grid.costs.seconds.value[row, columns], grid.costs.memory.value[row, columns]
        tasks.append(
            ModelTask(
                model=model,
                benchmarks=tuple(grid.benchmarks[column] for column in columns.tolist()),
                memory=None if np.isnan(memory).all() else int(np.nanmax(memory)),
                gpu=gpu.get(model, 0) if isinstance(gpu, Mapping) else gpu,
                seconds=None if np.isnan(seconds).any() else float(seconds.sum()),
                known_seconds=float(np.nansum(seconds)),
            )
        )
    # the longest first, so that no worker starts one of them after all others have finished
    return tuple(sorted(tasks, key=lambda task: (task.seconds is not None, -(task.seconds or 0.0))))
