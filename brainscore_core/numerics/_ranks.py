"""Ranks with ties, and sums over what ranks higher."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from brainscore_core.numerics._arrays import Array

__all__ = ["Ranks", "ranks"]


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
    starts: NDArray[np.intp]
    ends: NDArray[np.intp]

    def mean_from(self, values: Array) -> Array:
        """For each observation: sum of `values` over the observations above it and half of its ties, over n."""
        n = len(values)
        below = np.concatenate([[0.0], np.cumsum(values[self.order])])
        from_here = below[-1] - (below[self.starts] + below[self.ends]) / 2
        result = np.empty(n)
        result[self.order] = np.repeat(from_here, self.ends - self.starts) / n
        return result


def ranks(values: Array) -> Ranks:
    """Order `values` (no NaN among them)."""
    n = len(values)
    order = np.argsort(values)
    ordered = values[order]
    starts = np.concatenate([[0], np.flatnonzero(ordered[1:] != ordered[:-1]) + 1])
    ends = np.append(starts[1:], n)
    cdf = np.empty(n)
    cdf[order] = np.repeat((starts + ends) / (2 * n), ends - starts)
    return Ranks(cdf, order, starts, ends)
