"""Expected time and memory of pairs, estimated from receipts of other pairs."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from brainscore_core.errors import UserError
from brainscore_core.results.index import ReceiptTable, own_memory, table_of

if TYPE_CHECKING:
    from brainscore_core.receipts.receipt import Receipt

Source = Literal["measured", "fitted", "table"]
SOURCES: tuple[Source, ...] = ("measured", "fitted", "table")

_PRIOR_EFFECT = 1.5  # standard deviation of an effect before anything is known, as a factor: e ** 1.5 = 4.5
_PRIOR_RESIDUAL = 0.6
_PRIOR_COUNT = 4
_HUBER = 1.345  # 95 % of the efficiency of least squares if there are no outliers
_STEPS = 20
_SMALLER = 0.8  # share of the residuals
_QUANTILE = 1.2816  # that share of a normal distribution lies within as many standard deviations
_WIDTH = 1.645  # 90 % of a normal distribution lie within as many standard deviations
_REPEAT = 0.3  # prior standard deviation of a pair's logarithm between two runs
_MACHINE = 0.7  # the same between two machines
_RUN = ("scored", "undefined")  # states of pairs that were scored completely
_VERSION = 1
_MOST_FITTED = 20_000  # pairs; the time of a fit grows with them


class Prediction(NamedTuple):
    """An expected number, and its 90 % range.

    `value`, `low`, `high`: seconds or bytes. `source`: ``'measured'``: from receipts of the same pair; ``'fitted'``:
    from receipts of this model or benchmark; ``'table'``: from measurements on another machine that come with the
    package.
    """

    value: float
    low: float
    high: float
    source: Source


@dataclass(frozen=True, kw_only=True)
class Cost:
    """Expected cost of a pair; None if unknown."""

    seconds: Prediction | None = None  # wall-clock time, including loading
    memory: Prediction | None = None  # highest resident memory of the process, in bytes


class Ranges(NamedTuple):
    """Predictions of all pairs of some models (rows) and benchmarks (columns); NaN if unknown."""

    value: NDArray[np.float64]
    low: NDArray[np.float64]
    high: NDArray[np.float64]
    source: NDArray[np.int8]  # position in SOURCES; -1 if unknown

    def at(self, row: int, column: int) -> Prediction | None:
        """One of the predictions."""
        value, low, high, source = (array[row, column].item() for array in self)
        return None if source < 0 else Prediction(value, low, high, SOURCES[source])


@dataclass(frozen=True, kw_only=True)
class CostTable:
    """Expected costs of all pairs of some models and benchmarks."""

    seconds: Ranges
    memory: Ranges

    def at(self, row: int, column: int) -> Cost:
        """Cost of a pair."""
        return Cost(seconds=self.seconds.at(row, column), memory=self.memory.at(row, column))


class Costs:
    """Predicts the cost of pairs from earlier receipts.

    Receipts of the same pair are used if they exist. Otherwise the logarithm of the seconds (or bytes) is the sum of an
    effect of the model and one of the benchmark, estimated robustly from all scored pairs. Memory counts only if the
    pair raised the peak of its process, since otherwise the number is that of an earlier pair, and only if the model
    did not run isolated in another process.

    `receipts`: in any order. `table`: result of :func:`costs_table` on another machine, whose relative speed is
    estimated.

    Examples
    --------
    >>> from brainscore_core.scoring import BenchmarkInfo, ModelInfo, Receipt, Timings
    >>> def scored(model, benchmark, seconds):
    ...     return Receipt(model=ModelInfo(identifier=model), benchmark=BenchmarkInfo(identifier=benchmark),
    ...                    state="scored", timings=Timings(total=seconds))
    >>> costs = Costs([scored("small", "A2026-pls", 1.0), scored("small", "B2026-pls", 10.0),
    ...                scored("large", "A2026-pls", 5.0)])
    >>> costs.of("large", "A2026-pls").seconds.value, costs.of("large", "B2026-pls").seconds.source
    (5.0, 'fitted')
    >>> costs.of("another", "C2026-pls").seconds is None
    True
    """

    def __init__(
        self, receipts: "Iterable[Receipt] | ReceiptTable" = (), *, table: Mapping[str, Any] | None = None
    ) -> None:
        rows = receipts if isinstance(receipts, ReceiptTable) else table_of(list(receipts))
        if table is not None and table.get("version") != _VERSION:
            raise UserError(f"the table of costs has version {table.get('version')!r}, but must have {_VERSION}")
        self._rows = rows
        self._listed = [] if table is None else table["pairs"]
        self._numbers = {text: number for number, text in enumerate(rows.texts)}
        for model, benchmark, *_ in self._listed:
            self._numbers.setdefault(model, len(self._numbers))
            self._numbers.setdefault(benchmark, len(self._numbers))

    @cached_property
    def _quantities(self) -> tuple["_Quantity", "_Quantity"]:
        """Seconds and memory."""
        pairs = [[self._numbers[name] for name in names] for *names, _, _ in self._listed]
        seconds, memory = ([float(entry[column] or 0) for entry in self._listed] for column in (2, 3))
        n = len(self._numbers)
        return _Quantity(self._rows, "seconds", n, pairs, seconds), _Quantity(self._rows, "memory", n, pairs, memory)

    def of(self, model: str, benchmark: str) -> Cost:
        """Predict the cost of a pair."""
        return self.of_all([model], [benchmark]).at(0, 0)

    def of_all(self, models: Sequence[str], benchmarks: Sequence[str]) -> CostTable:
        """Predict the costs of all pairs of some models and benchmarks."""
        numbers = [np.array([self._numbers.get(name, -1) for name in names]) for names in (models, benchmarks)]
        seconds, memory = (quantity.predict(*numbers) for quantity in self._quantities)
        return CostTable(seconds=seconds, memory=memory)


class _Quantity:
    """Predictions of seconds, or of bytes; models and benchmarks are numbers below `n_names`, or -1 if unknown.

    `pairs` and `values`: of another machine.
    """

    def __init__(
        self, rows: ReceiptTable, name: str, n_names: int, pairs: list[list[int]], values: list[float]
    ) -> None:
        self._n_names = n_names
        failed, complete = (
            np.isin(rows.columns["state"], [number for number, text in enumerate(rows.texts) if text in states])
            for states in (("failed",), _RUN)
        )
        used = np.flatnonzero(~failed & (rows.columns[name] > 0))
        keys = rows.columns["model"][used].astype(np.int64) * n_names + rows.columns["benchmark"][used]
        order = np.lexsort((rows.columns[name][used], keys))
        keys, used = keys[order], used[order]
        measured = rows.columns[name][used]
        self._keys, starts = np.unique(keys, return_index=True)
        self._values = self._deviations = np.zeros(0)
        if len(keys):
            counts = np.diff(starts, append=len(keys))
            self._values = (measured[starts + (counts - 1) // 2] + measured[starts + counts // 2]) / 2  # medians
            squares = (np.log(measured) - np.repeat(np.log(self._values), counts)) ** 2
            self._deviations = np.sqrt((np.add.reduceat(squares, starts) + 2 * _REPEAT**2) / (counts + 2))
        worked = np.flatnonzero(np.bincount(np.searchsorted(self._keys, keys), complete[used], len(self._keys)))
        if len(worked) > _MOST_FITTED:  # so many that effects are known well and fitted in seconds
            worked = np.sort(np.random.default_rng(0).choice(worked, _MOST_FITTED, replace=False))
        here = np.column_stack(np.divmod(self._keys[worked], n_names or 1))
        other = [number for number, value in enumerate(values) if value]
        self._pairs = np.concatenate([here, np.array(pairs, np.int64).reshape(-1, 2)[other]])
        self._fitted = np.concatenate([self._values[worked], np.array(values)[other]])
        self._n_here = len(here)

    @cached_property
    def _effects(self) -> "_Effects":
        """Fitted when the first pair without a receipt is predicted."""
        return _fit_effects(self._pairs, np.log(self._fitted), self._n_here, self._n_names)

    def predict(self, models: NDArray[np.intp], benchmarks: NDArray[np.intp]) -> Ranges:
        shape = len(models), len(benchmarks)
        value, deviation, source = np.full(shape, np.nan), np.full(shape, np.nan), np.full(shape, -1, np.int8)
        measured, positions = np.zeros(shape, bool), np.zeros(shape, np.intp)
        if len(self._keys):
            keys = models[:, None].astype(np.int64) * self._n_names + benchmarks
            positions = np.minimum(np.searchsorted(self._keys, keys), len(self._keys) - 1)
            measured = (self._keys[positions] == keys) & (models >= 0)[:, None] & (benchmarks >= 0)
        if not measured.all() and len(self._fitted):
            logarithm, deviation = self._effects.predict(models, benchmarks)
            value = np.exp(logarithm)
            if not self._n_here:
                deviation = np.hypot(deviation, _MACHINE)
            here = np.logical_or.outer(*map(np.isin, (models, benchmarks), self._pairs[: self._n_here].T))
            source = np.where(np.isnan(value), -1, np.where(here, 1, 2)).astype(np.int8)
        value[measured], source[measured] = self._values[positions[measured]], 0
        deviation[measured] = self._deviations[positions[measured]]
        factor = np.exp(_WIDTH * deviation)
        return Ranges(value, value / factor, value * factor, source)


@dataclass(frozen=True)
class _Effects:
    """Logarithm of a value = centre + effect of the model + effect of the benchmark."""

    centre: float  # median of the logarithms
    # of models, and of benchmarks, by their numbers
    effects: tuple[NDArray[np.float64], NDArray[np.float64]]
    counts: tuple[NDArray[np.intp], NDArray[np.intp]]  # of observations; 0 if the effect is unknown
    residual: float  # standard deviation of the residuals

    def predict(
        self, models: NDArray[np.intp], benchmarks: NDArray[np.intp]
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Logarithms of the values of all pairs, and their standard deviations.

        NaN if neither the model nor the benchmark is known. If one of them is unknown, the spread of the known effects
        widens the deviation. A known effect contributes twice, since its reference is estimated from as few values.
        """
        logarithm, variance, known = np.array(self.centre), np.array(self.residual**2), np.array(False)
        for numbers, effects, counts in zip((models[:, None], benchmarks), self.effects, self.counts, strict=True):
            is_known = (numbers >= 0) & (counts[numbers] > 0)
            spread = (np.sum(effects**2) + 2 * (_PRIOR_EFFECT / 1.5) ** 2) / ((counts > 0).sum() + 2)
            logarithm = logarithm + np.where(is_known, effects[numbers], 0.0)
            variance = variance + np.where(is_known, 2 * self.residual**2 / np.maximum(counts[numbers], 1), spread)
            known = known | is_known
        return np.where(known, logarithm, np.nan), np.sqrt(variance)


def _fit_effects(pairs: NDArray[np.int64], logarithms: NDArray[np.float64], n_here: int, n_names: int) -> _Effects:
    """Fit effects to some pairs; those from `n_here` on were observed elsewhere and have one unknown factor.

    Huber's loss, by iteratively reweighted least squares [P. J. Huber 1964, doi:10.1214/aoms/1177703732]. Effects are
    weakly shrunk towards 0, which makes them unique even if some models share no benchmark with the others.
    """
    models, rows = np.unique(pairs[:, 0], return_inverse=True)
    benchmarks, columns = np.unique(pairs[:, 1], return_inverse=True)
    centre = float(np.median(logarithms[: n_here or None]))
    last = len(models) + len(benchmarks)  # position of the factor; it is 1 if all pairs were observed elsewhere
    factors = np.full(len(pairs), last + 1)  # an effect of 0
    factors[n_here if n_here else len(pairs) :] = last
    positions = np.column_stack([rows, len(models) + columns, factors])
    estimates, residuals = _solve(positions, logarithms - centre, last + 1)
    free = max(len(pairs) - last, 0)
    # outliers count as three standard deviations, which are estimated from the smaller residuals
    most = 3 * float(np.quantile(np.abs(residuals), _SMALLER)) / _QUANTILE
    squares = float(np.sum(np.minimum(np.abs(residuals), most) ** 2)) if free else 0.0
    residual = float(np.sqrt((squares + _PRIOR_COUNT * _PRIOR_RESIDUAL**2) / (free + _PRIOR_COUNT)))
    effects = np.zeros(n_names), np.zeros(n_names)
    effects[0][models], effects[1][benchmarks] = estimates[: len(models)], estimates[len(models) : last]
    counts = np.bincount(pairs[:, 0], minlength=n_names), np.bincount(pairs[:, 1], minlength=n_names)
    return _Effects(centre, effects, counts, residual)


def _solve(
    positions: NDArray[np.int_], values: NDArray[np.float64], width: int
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return effects, which minimise weighted squares plus a little of their own, and residuals."""
    damping = (_PRIOR_RESIDUAL / _PRIOR_EFFECT / 2) ** 2
    weights = np.ones(len(values))
    estimates = np.zeros(width)
    for _ in range(_STEPS):
        before = estimates
        matrix, right = damping * np.eye(width + 1), np.zeros(width + 1)  # the last effect is 0
        for column in positions.T:
            np.add.at(right, column, weights * values)
            for other in positions.T:
                np.add.at(matrix, (column, other), weights)
        estimates = np.linalg.solve(matrix[:-1, :-1], right[:-1]).astype(np.float64)
        residuals = values - np.append(estimates, 0.0)[positions].sum(axis=1)
        scale = max(1.4826 * float(np.median(np.abs(residuals))), 0.05)
        weights = np.minimum(1.0, _HUBER * scale / np.maximum(np.abs(residuals), 1e-12))
        if np.max(np.abs(estimates - before)) < 1e-6:
            break
    return estimates, residuals


def costs_table(receipts: "Iterable[Receipt]") -> dict[str, Any]:
    """Make a table of the costs of pairs, for machines that have no receipts yet.

    Receipts are of one machine; pairs without a score are left out. The table has plain JSON types: ``version``;
    ``machine``; ``pairs``, a list of model, benchmark, seconds, bytes or None.
    """
    timed = [receipt for receipt in receipts if receipt.state in _RUN and receipt.timings.total]
    seconds: dict[tuple[str, str], list[float]] = {}
    memory: dict[tuple[str, str], list[int]] = {}
    for receipt in timed:
        pair = (receipt.model.identifier, receipt.benchmark.identifier)
        seconds.setdefault(pair, []).append(receipt.timings.total or 0.0)
        if size := own_memory(receipt):
            memory.setdefault(pair, []).append(size)
    machines = sorted({f"{receipt.environment.cpu or '?'}, {receipt.environment.cpu_count} cores" for receipt in timed})
    pairs = [
        [*pair, round(float(np.median(seconds[pair])), 2), int(np.median(memory[pair])) if pair in memory else None]
        for pair in sorted(seconds)
    ]
    return {"version": _VERSION, "machine": "; ".join(machines), "pairs": pairs}
