"""Expected time and memory of pairs, estimated from receipts of other pairs."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from brainscore_core.errors import UserError
from brainscore_core.results.index import ReceiptTable, own_memory, table_of

if TYPE_CHECKING:
    from brainscore_core.receipts.receipt import Receipt

_PRIOR_EFFECT = 1.5  # standard deviation of an effect before anything is known, as a factor: e ** 1.5 = 4.5
_PRIOR_RESIDUAL = 0.6
_PRIOR_COUNT = 4
_HUBER = 1.345  # 95 % of the efficiency of least squares if there are no outliers
_STEPS = 20
_SMALLER = 0.8  # share of the residuals
_QUANTILE = 1.2816  # that share of a normal distribution lies within as many standard deviations


class Observation(NamedTuple):
    """A value of a row and a column."""

    # row and column of the value
    row: str
    column: str
    value: float  # above 0
    elsewhere: bool = False  # whether it was observed on another machine, whose values all have one unknown factor


@dataclass(frozen=True)
class Effects:
    """Result of :func:`fit_effects`, in natural logarithms."""

    centre: float  # median of the logarithms
    # effect of each row and column, relative to the centre
    rows: dict[str, float]
    columns: dict[str, float]
    # number of observations of each
    row_counts: dict[str, int]
    column_counts: dict[str, int]
    residual: float  # standard deviation of the residuals

    def predict_all(
        self, rows: Sequence[str], columns: Sequence[str]
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Logarithms of the values of all rows and columns, and their standard deviations.

        NaN if neither the row nor the column is known. If one of them is unknown, the spread of the known effects
        widens the deviation. A known effect contributes twice, since its reference is estimated from as few values.
        """
        logarithm, variance, covered = np.array(self.centre), np.array(self.residual**2), np.array(False)
        for names, effects, counts, axis in (
            (rows, self.rows, self.row_counts, 1),
            (columns, self.columns, self.column_counts, 0),
        ):
            spread = _spread(effects)
            variances = [2 * self.residual**2 / counts[name] if name in effects else spread for name in names]
            logarithm = logarithm + np.expand_dims([effects.get(name, 0.0) for name in names], axis)
            variance = variance + np.expand_dims(variances, axis)
            covered = covered | np.expand_dims(np.array([name in effects for name in names], bool), axis)
        return np.where(covered, logarithm, np.nan), np.sqrt(variance)


def fit_effects(observations: Sequence[Observation]) -> Effects | None:
    """Fit ``log(value) = centre + row + column``.

    Observations may be any subset of the table, with several values of a cell. Without any, the result is None.

    Huber's loss, by iteratively reweighted least squares [1]_. Effects are weakly shrunk towards 0, which makes them
    unique even if some rows share no column with the others.

    References
    ----------
    .. [1] P. J. Huber (1964). Robust Estimation of a Location Parameter. doi:10.1214/aoms/1177703732

    Examples
    --------
    >>> cells = [("a", "x", 1.0), ("a", "y", 10.0), ("b", "x", 2.0)]
    >>> effects = fit_effects([Observation(*cell) for cell in cells])
    >>> round(float(np.exp(effects.predict_all(["b"], ["y"])[0][0, 0])))
    17
    """
    if not observations:
        return None
    rows = sorted({observation.row for observation in observations})
    columns = sorted({observation.column for observation in observations})
    logarithms = np.log([observation.value for observation in observations])
    elsewhere = np.array([observation.elsewhere for observation in observations])
    centre = float(np.median(logarithms if elsewhere.all() else logarithms[~elsewhere]))
    position = {("row", name): number for number, name in enumerate(rows)}
    position |= {("column", name): len(rows) + number for number, name in enumerate(columns)}
    last = len(position)  # the factor of observations from elsewhere; it is 1 if all observations are from elsewhere
    positions = np.array(
        [(position["row", observation.row], position["column", observation.column]) for observation in observations]
    )
    # observations from here have no such factor: their position is that of an effect of 0
    factors = np.where(elsewhere & (not elsewhere.all()), last, last + 1)
    estimates, residuals = _solve(np.column_stack([positions, factors]), logarithms - centre, last + 1)
    counts = np.bincount(positions.ravel(), minlength=last)
    free = max(len(observations) - len(rows) - len(columns), 0)
    # outliers count as three standard deviations, which are estimated from the smaller residuals
    most = 3 * float(np.quantile(np.abs(residuals), _SMALLER)) / _QUANTILE
    squares = float(np.sum(np.minimum(np.abs(residuals), most) ** 2)) if free else 0.0
    variance = (squares + _PRIOR_COUNT * _PRIOR_RESIDUAL**2) / (free + _PRIOR_COUNT)
    return Effects(
        centre=centre,
        rows={name: float(estimates[position["row", name]]) for name in rows},
        columns={name: float(estimates[position["column", name]]) for name in columns},
        row_counts={name: int(counts[position["row", name]]) for name in rows},
        column_counts={name: int(counts[position["column", name]]) for name in columns},
        residual=float(np.sqrt(variance)),
    )


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


def _spread(effects: dict[str, float]) -> float:
    """Variance of effects, from the known ones and the prior."""
    values = np.array([*effects.values()])
    return float((np.sum(values**2) + 2 * (_PRIOR_EFFECT / 1.5) ** 2) / (len(values) + 2))


Source = Literal["measured", "fitted", "table"]
SOURCES: tuple[Source, ...] = ("measured", "fitted", "table")

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
        self._rows = receipts if isinstance(receipts, ReceiptTable) else table_of(list(receipts))
        self._listed = _read_table(table)

    @cached_property
    def _state(self) -> NDArray[np.int_]:
        """Of each receipt: 0 failed, 2 scored completely, 1 others."""
        rows = self._rows
        states = np.array([{"failed": 0}.get(text, 2 if text in _RUN else 1) for text in rows.texts], int)
        state: NDArray[np.int_] = states[rows.columns["state"]] if len(rows) else np.zeros(0, int)
        return state

    @cached_property
    def _seconds(self) -> "_Quantity":
        return _Quantity(self._rows, "seconds", self._state, [(m, b, s) for m, b, s, _ in self._listed if s])

    @cached_property
    def _memory(self) -> "_Quantity":
        return _Quantity(self._rows, "memory", self._state, [(m, b, size) for m, b, _, size in self._listed if size])

    @classmethod
    def none(cls) -> Self:
        """Make an empty instance, whose costs are all unknown."""
        return cls()

    def of(self, model: str, benchmark: str) -> Cost:
        """Predict the cost of a pair."""
        return Cost(seconds=self._seconds.predict(model, benchmark), memory=self._memory.predict(model, benchmark))

    def of_all(self, models: Sequence[str], benchmarks: Sequence[str]) -> "CostTable":
        """Predict the costs of all pairs of some models and benchmarks."""
        return CostTable(
            seconds=self._seconds.predict_all(models, benchmarks), memory=self._memory.predict_all(models, benchmarks)
        )


class Ranges(NamedTuple):
    """Predictions of all pairs of some models (rows) and benchmarks (columns); NaN if unknown."""

    value: NDArray[np.float64]
    low: NDArray[np.float64]
    high: NDArray[np.float64]
    source: NDArray[np.int8]  # position in SOURCES; -1 if unknown

    def at(self, row: int, column: int) -> Prediction | None:
        """One of the predictions."""
        source = int(self.source[row, column])
        if source < 0:
            return None
        value, low, high = (float(limits[row, column]) for limits in (self.value, self.low, self.high))
        return Prediction(value, low, high, SOURCES[source])


@dataclass(frozen=True, kw_only=True)
class CostTable:
    """Expected costs of all pairs of some models and benchmarks."""

    seconds: Ranges
    memory: Ranges

    def at(self, row: int, column: int) -> Cost:
        """Cost of a pair."""
        return Cost(seconds=self.seconds.at(row, column), memory=self.memory.at(row, column))


class _Quantity:
    """Predictions of seconds, or of bytes."""

    def __init__(
        self, rows: ReceiptTable, name: str, state: NDArray[np.int_], listed: list[tuple[str, str, float]]
    ) -> None:
        values = rows.columns[name]
        used = np.flatnonzero((state > 0) & (values > 0))
        self._width = len(rows.texts)
        self._positions = {text: number for number, text in enumerate(rows.texts)}
        keys = rows.columns["model"][used].astype(np.int64) * self._width + rows.columns["benchmark"][used]
        values = values[used]
        order = np.lexsort((values, keys))
        keys, values, complete = keys[order], values[order], state[used][order] == len(_RUN)
        self._keys, starts = np.unique(keys, return_index=True)
        counts = np.diff(starts, append=len(keys))
        middle = starts + (counts - 1) // 2, starts + counts // 2
        self._values = (values[middle[0]] + values[middle[1]]) / 2 if len(keys) else values
        squares = (np.log(values) - np.repeat(np.log(self._values), counts)) ** 2
        sums = np.add.reduceat(squares, starts) if len(keys) else squares
        self._deviations = np.sqrt((sums + 2 * _REPEAT**2) / (counts + 2))
        worked = np.logical_or.reduceat(complete, starts) if len(keys) else complete
        here = zip(*_sample(self._keys[worked], self._values[worked]), strict=True)
        texts = rows.texts
        self._here = [Observation(texts[key // self._width], texts[key % self._width], value) for key, value in here]
        self._known = (
            {observation.row for observation in self._here},
            {observation.column for observation in self._here},
        )
        self._elsewhere = [Observation(*entry, elsewhere=True) for entry in listed]

    @cached_property
    def _effects(self) -> Effects | None:
        """Fitted when the first pair without a receipt is predicted."""
        return fit_effects([*self._here, *self._elsewhere])

    def predict(self, model: str, benchmark: str) -> Prediction | None:
        return self.predict_all([model], [benchmark]).at(0, 0)

    def predict_all(self, models: Sequence[str], benchmarks: Sequence[str]) -> Ranges:
        shape = len(models), len(benchmarks)
        value, deviation = np.full(shape, np.nan), np.full(shape, np.nan)
        source = np.full(shape, -1, np.int8)
        rows, columns = (np.array([self._positions.get(name, -1) for name in names]) for names in (models, benchmarks))
        measured, positions = np.zeros(shape, bool), np.zeros(shape, np.intp)
        if len(self._keys):
            keys = rows[:, None].astype(np.int64) * self._width + columns
            positions = np.minimum(np.searchsorted(self._keys, keys), len(self._keys) - 1)
            measured = (self._keys[positions] == keys) & (rows >= 0)[:, None] & (columns >= 0)
        if not measured.all() and self._effects is not None:
            logarithms, deviation = self._effects.predict_all(models, benchmarks)
            value = np.exp(logarithms)
            if not self._here:
                deviation = np.hypot(deviation, _MACHINE)
            here = np.logical_or.outer(*(
                np.array([name in seen for name in names], bool)
                for names, seen in zip((models, benchmarks), self._known, strict=True)
            ))  # fmt: skip
            source = np.where(np.isnan(value), -1, np.where(here, 1, 2)).astype(np.int8)
        value[measured] = self._values[positions[measured]]
        deviation[measured] = self._deviations[positions[measured]]
        source[measured] = 0
        factor = np.exp(_WIDTH * deviation)
        return Ranges(value, value / factor, value * factor, source)


def _sample(keys: NDArray[np.int64], values: NDArray[np.float64]) -> tuple[list[int], list[float]]:
    """Return all values, or so many that effects are known well and fitted in seconds."""
    if len(keys) > _MOST_FITTED:
        chosen = np.sort(np.random.default_rng(0).choice(len(keys), _MOST_FITTED, replace=False))
        keys, values = keys[chosen], values[chosen]
    return keys.tolist(), values.tolist()


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


def _read_table(table: Mapping[str, Any] | None) -> list[tuple[str, str, float, float]]:
    if table is None:
        return []
    if table.get("version") != _VERSION:
        raise UserError(f"the table of costs has version {table.get('version')!r}, but must have {_VERSION}")
    return [(str(m), str(b), float(seconds or 0), float(size or 0)) for m, b, seconds, size in table["pairs"]]
