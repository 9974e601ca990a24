"""Ranks with intervals, and groups between whose members no difference was found."""

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from brainscore_core.numerics._cliques import tie_matrix
from brainscore_core.numerics.multiple_testing import corrected

__all__ = ["RankInterval", "found_better", "rank_intervals", "tie_groups"]


class RankInterval(NamedTuple):
    """Ranks that a value may have; 1 is the highest value.

    Attributes
    ----------
    rank : int
        Of the estimate; equal estimates share the best of their ranks.
    best, worst : int
        Limits of the interval.
    """

    rank: int
    best: int
    worst: int


def found_better(
    values: ArrayLike, p_values: ArrayLike, *, level: float = 0.95, simultaneous: bool = True
) -> NDArray[np.bool_]:
    """Which values were found to be higher than which.

    Parameters
    ----------
    values : array (k,)
        Estimates.
    p_values : array (k, k)
        Two-sided p of each pair, symmetric; the diagonal is not read, NaN is no test.
    level : float
        Confidence level.
    simultaneous : bool
        Whether the confidence is in all rows at once (:func:`rank_intervals`), or in each alone.

    Returns
    -------
    array (k, k) of bool
        Row found higher than column. One-sided p-values, corrected by Holm: over all ordered pairs if `simultaneous`,
        else over those that the smaller of the two families of row and column holds.

    Examples
    --------
    >>> p = np.array([[1, 0.001, 0.0001], [0.001, 1, 0.3], [0.0001, 0.3, 1]])
    >>> found_better([0.9, 0.5, 0.45], p).astype(int).tolist()
    [[0, 1, 1], [0, 0, 0], [0, 0, 0]]
    """
    estimates, one_sided = _one_sided(values, p_values)
    if simultaneous:
        return _found_by_holm(one_sided, 1 - level)
    found = np.zeros(one_sided.shape, dtype=bool)
    for row in range(len(estimates)):
        above, below = _of_one(one_sided, row, level)
        found[row] |= below
        found[:, row] |= above
    return found


def rank_intervals(
    values: ArrayLike, p_values: ArrayLike, *, level: float = 0.95, simultaneous: bool = True
) -> list[RankInterval]:
    """Rank each value, with the ranks that it may have.

    Parameters
    ----------
    values : array (k,)
        Estimates; a higher value has a lower rank.
    p_values : array (k, k)
        Two-sided p of each pair, symmetric; the diagonal is not read, NaN is no test.
    level : float
        Confidence level.
    simultaneous : bool
        True: all intervals hold the true ranks with probability `level`. False: each does, which is for someone who
        asks for one model's rank alone.

    Returns
    -------
    list of RankInterval

    Notes
    -----
    The best rank is 1 + the number of values found to be higher, the worst k − the number found to be lower, with
    one-sided tests corrected stepwise [1]_; here by Holm, which needs no joint distribution.

    References
    ----------
    .. [1] Mogstad, Romano, Shaikh & Wilhelm (2024). Review of Economic Studies 91, 476–518.
       https://doi.org/10.1093/restud/rdad006

    Examples
    --------
    >>> p = np.array([[1, 0.001, 0.0001], [0.001, 1, 0.3], [0.0001, 0.3, 1]])
    >>> [tuple(interval) for interval in rank_intervals([0.9, 0.5, 0.45], p)]
    [(1, 1, 1), (2, 2, 3), (3, 2, 3)]
    """
    estimates, one_sided = _one_sided(values, p_values)
    k = len(estimates)
    ranks = 1 + (estimates[None, :] > estimates[:, None]).sum(axis=1)
    if simultaneous:
        found = found_better(values, p_values, level=level)
        counts = [(int(found[:, row].sum()), int(found[row].sum())) for row in range(k)]
    else:
        counts = [tuple(int(side.sum()) for side in _of_one(one_sided, row, level)) for row in range(k)]  # type: ignore[misc] # pairs
    return [RankInterval(int(rank), 1 + above, k - below) for rank, (above, below) in zip(ranks, counts, strict=True)]


def tie_groups(values: ArrayLike, different: ArrayLike) -> list[tuple[int, ...]]:
    """Largest groups between whose members no difference was found.

    Parameters
    ----------
    values : array (k,)
        Estimates.
    different : array (k, k) of bool
        Which pairs were found to differ; symmetric.

    Returns
    -------
    list of tuple of int
        Positions, the highest value first, in the order of their highest values. A value may be in several groups: that
        neither a and b nor b and c were told apart does not mean that a and c were not.

    Notes
    -----
    The groups of the compact letter display [1]_, found as the maximal cliques of what was not told apart.

    References
    ----------
    .. [1] Piepho (2004). Journal of Computational and Graphical Statistics 13, 456–466.
       https://doi.org/10.1198/1061860043515

    Examples
    --------
    >>> tie_groups([0.9, 0.8, 0.7], [[0, 0, 1], [0, 0, 0], [1, 0, 0]])
    [(0, 1), (1, 2)]
    """
    estimates = np.asarray(values, dtype=np.float64)
    order = np.argsort(-estimates, kind="stable")
    groups = tie_matrix(estimates, np.asarray(different, dtype=bool))
    return [tuple(order[row].tolist()) for row in groups[:, order]]


def _one_sided(values: ArrayLike, p_values: ArrayLike) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Estimates, and p of the hypothesis that the row is not higher than the column."""
    estimates, p = np.asarray(values, dtype=np.float64), np.array(p_values, dtype=np.float64)
    k = len(estimates)
    if p.shape != (k, k):
        raise ValueError(f"p_values has the shape {p.shape}; ({k}, {k}) is needed for {k} values")
    if np.isnan(estimates).any():
        raise ValueError("a value is NaN; leave it out of the ranking")
    if not np.allclose(p[np.triu_indices(k, 1)], p.T[np.triu_indices(k, 1)], equal_nan=True):
        raise ValueError("p_values is not symmetric; pass the two-sided p of each pair")
    one_sided = np.where(estimates[:, None] > estimates[None, :], p / 2, 1 - p / 2)
    np.fill_diagonal(one_sided, np.nan)
    return estimates, one_sided


def _of_one(one_sided: NDArray[np.float64], row: int, level: float) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """Which values are found above and below that of a row, if only this row is asked for."""
    family = np.stack([one_sided[:, row], one_sided[row]])
    above, below = np.nan_to_num(corrected(family), nan=1.0) <= 1 - level
    return above, below


def _found_by_holm(p: NDArray[np.float64], alpha: float) -> NDArray[np.bool_]:
    """``corrected(p) <= alpha``, sorting only what may be found."""
    small = p <= alpha  # NaN is not
    ordered = np.sort(p[small])
    stepped = (np.count_nonzero(~np.isnan(p)) - np.arange(ordered.size)) * ordered
    beyond = np.flatnonzero(stepped > alpha)
    if not beyond.size:
        return small
    return small & (p < ordered[beyond[0]])
