"""Rows and columns that multiply: how much each adds to a logarithm, estimated in spite of outliers."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

__all__ = ["Effects", "Observation", "fit_effects"]

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
