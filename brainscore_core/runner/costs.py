"""Expected time and memory of pairs, estimated from receipts of other pairs."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from brainscore_core.errors import UserError

if TYPE_CHECKING:
    from brainscore_core.receipts.receipt import Receipt

__all__ = ["Cost", "Costs", "Observation", "Prediction", "costs_table", "fit_effects"]

_PRIOR_EFFECT = 1.5  # standard deviation of an effect before anything is known, as a factor: e ** 1.5 = 4.5
_PRIOR_RESIDUAL = 0.6
_PRIOR_COUNT = 4
_HUBER = 1.345  # keeps 95 % of the efficiency of least squares where nothing is an outlier
_STEPS = 20
_SMALLER = 0.8  # share of the residuals
_QUANTILE = 1.2816  # so many standard deviations that share of a normal distribution lies within


class Observation(NamedTuple):
    """A value of a row and a column.

    Attributes
    ----------
    row, column : str
        What the value belongs to.
    value : float
        Above 0.
    elsewhere : bool
        Whether it was observed under other circumstances, which multiply all such values by one unknown factor.
    """

    row: str
    column: str
    value: float
    elsewhere: bool = False


@dataclass(frozen=True)
class Effects:
    """What :func:`fit_effects` found, in natural logarithms.

    Attributes
    ----------
    centre : float
        Median of the logarithms.
    rows, columns : dict
        What each adds to it.
    row_counts, column_counts : dict
        How many observations each rests on.
    residual : float
        Standard deviation of what rows and columns leave unexplained.
    """

    centre: float
    rows: dict[str, float]
    columns: dict[str, float]
    row_counts: dict[str, int]
    column_counts: dict[str, int]
    residual: float

    def predict(self, row: str, column: str) -> tuple[float, float] | None:
        """Logarithm of the value of a row and a column, and its standard deviation.

        None where neither is known. Where one of them is not, the spread of those that are makes the deviation wide.
        """
        if row not in self.rows and column not in self.columns:
            return None
        variance = self.residual**2
        for name, effects, counts in (
            (row, self.rows, self.row_counts),
            (column, self.columns, self.column_counts),
        ):
            # twice: what an effect is compared with is estimated from as little
            variance += 2 * self.residual**2 / counts[name] if name in effects else _spread(effects)
        return self.centre + self.rows.get(row, 0.0) + self.columns.get(column, 0.0), float(np.sqrt(variance))


def fit_effects(observations: Sequence[Observation]) -> Effects | None:
    """Fit ``log(value) = centre + row + column``.

    Parameters
    ----------
    observations : sequence of Observation
        Any subset of the table, also several values of a cell.

    Returns
    -------
    Effects or None
        None without observations.

    Notes
    -----
    Huber's loss, by least squares with weights that are computed anew [1]_. Effects are drawn weakly towards 0, which
    makes them unique, also where some rows share no column with the others.

    References
    ----------
    .. [1] P. J. Huber (1964). Robust Estimation of a Location Parameter. doi:10.1214/aoms/1177703732

    Examples
    --------
    >>> cells = [("a", "x", 1.0), ("a", "y", 10.0), ("b", "x", 2.0)]
    >>> effects = fit_effects([Observation(*cell) for cell in cells])
    >>> round(float(np.exp(effects.predict("b", "y")[0])))
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
    last = len(position)  # the factor of what was observed elsewhere; without anything from here it is 1
    places = np.array(
        [(position["row", observation.row], position["column", observation.column]) for observation in observations]
    )
    offset = elsewhere & (not elsewhere.all())
    estimates, residuals = _solve(places, offset, logarithms - centre, last + 1)
    counts = np.bincount(places.ravel(), minlength=last)
    free = max(len(observations) - len(rows) - len(columns), 0)
    # outliers count as much as three standard deviations, as the smaller residuals tell these
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
    places: NDArray[np.int_], offset: NDArray[np.bool_], values: NDArray[np.float64], width: int
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Effects, and what they leave of the values."""
    from scipy.sparse import csr_array
    from scipy.sparse.linalg import lsqr

    count = len(values)
    entries = np.concatenate([np.ones(2 * count), offset.astype(float)])
    at_row = np.concatenate([np.arange(count), np.arange(count), np.arange(count)])
    at_column = np.concatenate([places[:, 0], places[:, 1], np.full(count, width - 1)])
    design = csr_array((entries, (at_row, at_column)), shape=(count, width))
    damping = _PRIOR_RESIDUAL / _PRIOR_EFFECT / 2
    weights = np.ones(count)
    estimates = np.zeros(width)
    for _ in range(_STEPS):
        roots = np.sqrt(weights)
        before = estimates
        estimates = lsqr(design * roots[:, None], values * roots, damp=damping, atol=1e-9, btol=1e-9)[0]
        residuals = values - design @ estimates
        scale = max(1.4826 * float(np.median(np.abs(residuals))), 0.05)
        weights = np.minimum(1.0, _HUBER * scale / np.maximum(np.abs(residuals), 1e-12))
        if np.max(np.abs(estimates - before)) < 1e-6:
            break
    return estimates, values - design @ estimates


def _spread(effects: dict[str, float]) -> float:
    """Variance of effects, from those that are known and from what is assumed before."""
    known = np.array([*effects.values()])
    return float((np.sum(known**2) + 2 * (_PRIOR_EFFECT / 1.5) ** 2) / (len(known) + 2))


Source = Literal["measured", "fitted", "table"]

_WIDTH = 1.645  # of a normal distribution, 90 % lie within as many standard deviations
_REPEAT = 0.3  # standard deviation of a pair's logarithm between two runs of it, before it is known
_MACHINE = 0.7  # and between two machines
_RUN = ("scored", "undefined")  # states that stand for the whole of the work
_VERSION = 1


class Prediction(NamedTuple):
    """A number that is expected, and the range that holds it in 90 % of cases.

    Attributes
    ----------
    value, low, high : float
        Seconds or bytes.
    source : str
        ``'measured'``: of this very pair; ``'fitted'``: from receipts of this model and of this benchmark, as far as
        there are; ``'table'``: from measurements that came with the package, made on another machine.
    """

    value: float
    low: float
    high: float
    source: Source


@dataclass(frozen=True, kw_only=True)
class Cost:
    """What a pair takes; None where nothing is known.

    Attributes
    ----------
    seconds : Prediction or None
        By the wall clock, loading included.
    memory : Prediction or None
        Highest resident memory of the process, in bytes.
    """

    seconds: Prediction | None = None
    memory: Prediction | None = None


class Costs:
    """Predicts from what pairs took before.

    The same pair's own receipts say most. Otherwise the logarithm of the seconds (of the bytes) is the sum of what
    the model and what the benchmark add, estimated robustly from all pairs that were scored. Memory counts only where
    a pair raised that of its process; elsewhere the number is an earlier pair's. Nor does it count where the model ran
    isolated, in a process of its own.

    Parameters
    ----------
    receipts : iterable of Receipt
        In any order.
    table : mapping, optional
        What :func:`costs_table` made on another machine, whose speed is estimated, too.

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

    def __init__(self, receipts: "Iterable[Receipt]" = (), *, table: Mapping[str, Any] | None = None) -> None:
        seconds: dict[tuple[str, str], list[float]] = {}
        memory: dict[tuple[str, str], list[float]] = {}
        worked: set[tuple[str, str]] = set()
        for receipt in receipts:
            pair = (receipt.model.identifier, receipt.benchmark.identifier)
            if receipt.state == "failed":
                continue
            if receipt.state in _RUN:
                worked.add(pair)
            if receipt.timings.total:
                seconds.setdefault(pair, []).append(receipt.timings.total)
            if _own_memory(receipt):
                memory.setdefault(pair, []).append(receipt.memory.peak_bytes or 0)
        listed = _read_table(table)
        self._seconds = _Quantity(seconds, worked, [(m, b, s) for m, b, s, _ in listed if s])
        self._memory = _Quantity(memory, worked, [(m, b, size) for m, b, _, size in listed if size])

    @classmethod
    def none(cls) -> Self:
        """Make costs that know nothing."""
        return cls()

    def of(self, model: str, benchmark: str) -> Cost:
        """Predict what a pair takes."""
        return Cost(seconds=self._seconds.predict(model, benchmark), memory=self._memory.predict(model, benchmark))


class _Quantity:
    """Seconds, or bytes."""

    def __init__(
        self,
        found: Mapping[tuple[str, str], list[float]],
        worked: set[tuple[str, str]],
        listed: list[tuple[str, str, float]],
    ) -> None:
        self._found = found
        here = [Observation(*pair, float(np.median(values))) for pair, values in found.items() if pair in worked]
        self._known = {observation.row for observation in here}, {observation.column for observation in here}
        self._nothing_here = not here
        away = [Observation(*entry, elsewhere=True) for entry in listed]
        self._effects: Effects | None = fit_effects([*here, *away])

    def predict(self, model: str, benchmark: str) -> Prediction | None:
        if values := self._found.get((model, benchmark)):
            logarithms = np.log(values)
            squares = float(np.sum((logarithms - np.median(logarithms)) ** 2))
            deviation = np.sqrt((squares + 2 * _REPEAT**2) / (len(values) + 2))
            return _prediction(float(np.median(values)), float(deviation), "measured")
        expected = self._effects.predict(model, benchmark) if self._effects is not None else None
        if expected is None:
            return None
        logarithm, deviation = expected
        if self._nothing_here:
            deviation = float(np.hypot(deviation, _MACHINE))
        here = model in self._known[0] or benchmark in self._known[1]
        return _prediction(float(np.exp(logarithm)), deviation, "fitted" if here else "table")


def _prediction(value: float, deviation: float, source: Source) -> Prediction:
    factor = float(np.exp(_WIDTH * deviation))
    return Prediction(value, value / factor, value * factor, source)


def costs_table(receipts: "Iterable[Receipt]") -> dict[str, Any]:
    """Write what pairs took, for machines that have no receipts yet.

    Parameters
    ----------
    receipts : iterable of Receipt
        Of one machine. Pairs without a score are left out.

    Returns
    -------
    dict
        Plain JSON types: ``version``; ``machine``; ``pairs``, a list of model, benchmark, seconds, bytes or None.
    """
    kept = [receipt for receipt in receipts if receipt.state in _RUN and receipt.timings.total]
    seconds: dict[tuple[str, str], list[float]] = {}
    memory: dict[tuple[str, str], list[int]] = {}
    for receipt in kept:
        pair = (receipt.model.identifier, receipt.benchmark.identifier)
        seconds.setdefault(pair, []).append(receipt.timings.total or 0.0)
        if _own_memory(receipt):
            memory.setdefault(pair, []).append(receipt.memory.peak_bytes or 0)
    machines = sorted({f"{receipt.environment.cpu or '?'}, {receipt.environment.cpu_count} cores" for receipt in kept})
    pairs = [
        [*pair, round(float(np.median(seconds[pair])), 2), int(np.median(memory[pair])) if pair in memory else None]
        for pair in sorted(seconds)
    ]
    return {"version": _VERSION, "machine": "; ".join(machines), "pairs": pairs}


def _own_memory(receipt: "Receipt") -> bool:
    """Whether its memory is the pair's, and all of it: an isolated model's is that of another process."""
    isolated = receipt.run is not None and receipt.run.isolated
    return bool(receipt.memory.raised_here and receipt.memory.peak_bytes) and not isolated


def _read_table(table: Mapping[str, Any] | None) -> list[tuple[str, str, float, float]]:
    if table is None:
        return []
    if table.get("version") != _VERSION:
        raise UserError(f"a table of costs of version {table.get('version')!r}; this one reads {_VERSION}")
    return [(str(m), str(b), float(seconds or 0), float(size or 0)) for m, b, seconds, size in table["pairs"]]
