"""Ranks with ties, and sums over what ranks higher."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from brainscore_core.numerics._arrays import Array

__all__ = ["Ranks", "mean_ranks", "ranks"]


@dataclass(frozen=True)
class Ranks:
    """Observations in order.

    Attributes
    ----------
    cdf : array
        Share of observations below each one, half of those that tie with it (itself included) counted.
    """

    cdf: Array
    order: NDArray[np.intp]
    ties: tuple[NDArray[np.intp], NDArray[np.intp]] | None
    """Where in the order each distinct value starts and ends; None where all values are distinct."""

    def mean_from(self, values: Array) -> Array:
        """For each observation: sum of `values` over the observations above it and half of its ties, over n."""
        n = len(values)
        below = np.zeros(n + 1)
        np.cumsum(values[self.order], out=below[1:])
        starts, ends = (slice(0, -1), slice(1, None)) if self.ties is None else self.ties
        from_here = below[starts] + below[ends]
        from_here *= -0.5 / n
        from_here += below[-1] / n
        result = np.empty(n)
        result[self.order] = from_here if self.ties is None else np.repeat(from_here, self.ties[1] - self.ties[0])
        return result


def ranks(values: Array) -> Ranks:
    """Order `values` (no NaN among them)."""
    order, middles, ties = _ordered(values)
    cdf = np.empty(len(values))
    cdf[order] = middles / len(values)
    return Ranks(cdf, order, ties)


def mean_ranks(values: NDArray) -> Array:
    """Ranks along the first axis, from 1 on; ties share their mean rank, and NaN make the whole column NaN."""
    columns = np.asarray(values, dtype=np.float64).reshape(len(values), int(np.prod(np.shape(values)[1:])))
    result = np.full(columns.shape, np.nan)
    for number in np.flatnonzero(~np.isnan(columns).any(axis=0)):
        order, middles, _ = _ordered(np.ascontiguousarray(columns[:, number]))
        result[order, number] = middles + 0.5
    return result.reshape(np.shape(values))


def _ordered(values: Array) -> tuple[NDArray[np.intp], Array, tuple[NDArray[np.intp], NDArray[np.intp]] | None]:
    """Order, for each place in it the mean over its ties of place + ½, and the ties; all exact."""
    n = len(values)
    order = np.argsort(values)
    ordered = values[order]
    changes = ordered[1:] != ordered[:-1]
    if changes.all():
        return order, np.arange(0.5, n), None
    starts = np.concatenate([[0], np.flatnonzero(changes) + 1])
    ends = np.append(starts[1:], n)
    return order, np.repeat((starts + ends) / 2, ends - starts), (starts, ends)
