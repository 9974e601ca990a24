"""Ranks with intervals where all that is known of each value is its standard error."""

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import ndtr

from brainscore_core.numerics._arrays import Array
from brainscore_core.numerics._cliques import TooManyGroups, tie_matrix
from brainscore_core.numerics.ranks import found_better

__all__ = ["RanksFromErrors", "group_letters", "ranks_from_errors"]


class RanksFromErrors(NamedTuple):
    """Ranks of values, their intervals and groups of ties; 1 is the highest value.

    Attributes
    ----------
    rank : array (k,) of int
        Of the estimate; equal estimates share the best of their ranks. -1 where the value is NaN.
    best, worst : array (k,) of int
        Limits of the interval; -1 where the value is NaN.
    letters : tuple of k tuples of str
        Groups that a value is in, ``'a'`` to ``'z'``, then ``'aa'``…: between values with a letter in common no
        difference was found, between those without one it was. Empty where the value is NaN, and everywhere if there
        are too many groups.
    groups : tuple of tuple of int
        Positions of the values of each group, the highest value first, in the order of the letters.
    too_many_groups : bool
        Whether groups were left out because there are too many.
    """

    rank: NDArray[np.int64]
    best: NDArray[np.int64]
    worst: NDArray[np.int64]
    letters: tuple[tuple[str, ...], ...]
    groups: tuple[tuple[int, ...], ...]
    too_many_groups: bool


def ranks_from_errors(
    values: ArrayLike, errors: ArrayLike, *, level: float = 0.95, most_groups: int = 702
) -> RanksFromErrors:
    """Rank values by z tests of all differences, taken to be independent.

    Parameters
    ----------
    values : array (k,)
        Estimates; a higher value has a lower rank. NaN: none, it has no rank and is in no test.
    errors : array (k,)
        Their standard errors. NaN: none, the value is ranked but not tested, so that its interval holds all ranks and
        it is in every group. 0: the value is exact.
    level : float
        All intervals hold the true ranks with this probability, if the tests hold.
    most_groups : int
        Above this number of groups none is given; 702 have up to two letters.

    Returns
    -------
    RanksFromErrors

    Raises
    ------
    ValueError
        If shapes differ, a value is infinite, an error is negative or infinite, or `level` is not between 0 and 1.

    See Also
    --------
    rank_intervals : the same from any tests.

    Notes
    -----
    z = difference / √(error² + error²), corrected by Holm over all ordered pairs; best, worst and groups as in
    :func:`rank_intervals` and :func:`tie_groups`.

    The variance of a difference is error² + error² − 2 · covariance, and here the covariance is taken to be 0. Models
    scored on one benchmark share its stimuli, neurons and subjects, so that their scores tend to go up and down
    together. Where they do, the covariance is positive and the tests are conservative: intervals are wider and groups
    larger than the data ask for, and they hold with more than `level`. Where scores go in opposite directions, which
    nothing excludes, the covariance is negative and too much is found. Tests that resample the shared units
    (``brainscore_core.scoring.comparison``) need no such assumption, but what was kept beside the scores. Holm's
    correction holds however the tests depend on each other.

    Errors count as known, not as estimated, and estimates as normal: with few units (below about 30) the tests find
    somewhat too much.

    Examples
    --------
    >>> found = ranks_from_errors([0.9, 0.5, 0.47, float("nan")], [0.02, 0.02, 0.02, 0.02])
    >>> found.rank.tolist(), found.best.tolist(), found.worst.tolist()
    ([1, 2, 3, -1], [1, 2, 2, -1], [1, 3, 3, -1])
    >>> found.letters
    (('a',), ('b',), ('b',), ())
    """
    estimates, spreads = np.asarray(values, dtype=np.float64), np.asarray(errors, dtype=np.float64)
    if estimates.ndim != 1 or estimates.shape != spreads.shape:
        raise ValueError(
            f"values have the shape {estimates.shape}, errors {spreads.shape}; both need one value a model"
        )
    if np.isinf(estimates).any():
        raise ValueError("a value is infinite; give NaN where there is none")
    if (spreads < 0).any() or np.isinf(spreads).any():
        raise ValueError("an error is negative or infinite; give NaN where there is none")
    if not 0 < level < 1:
        raise ValueError(f"level is {level}; a number between 0 and 1 is needed")
    ranked = np.flatnonzero(~np.isnan(estimates))
    x, k = estimates[ranked], len(ranked)
    found = found_better(x, _p_values(x, spreads[ranked]), level=level)

    rank, best, worst = (np.full(len(estimates), -1, dtype=np.int64) for _ in range(3))
    rank[ranked] = 1 + k - np.searchsorted(np.sort(x), x, side="right")
    best[ranked], worst[ranked] = 1 + found.sum(axis=0), k - found.sum(axis=1)
    try:
        together = tie_matrix(x, found | found.T, most=most_groups)
    except TooManyGroups:
        return RanksFromErrors(rank, best, worst, ((),) * len(estimates), (), True)
    names = [group_letters(number) for number in range(len(together))]
    letters: list[tuple[str, ...]] = [()] * len(estimates)
    for position, member in zip(ranked.tolist(), together.T, strict=True):
        letters[position] = tuple(names[number] for number in np.flatnonzero(member).tolist())
    order = np.argsort(-x, kind="stable")
    groups = tuple(tuple(ranked[order[row]].tolist()) for row in together[:, order])
    return RanksFromErrors(rank, best, worst, tuple(letters), groups, False)


def group_letters(number: int) -> str:
    """Name a group by its place, from 0.

    Examples
    --------
    >>> [group_letters(number) for number in (0, 25, 26, 701, 702)]
    ['a', 'z', 'aa', 'zz', 'aaa']
    """
    letters = ""
    number += 1
    while number:
        number, rest = divmod(number - 1, 26)
        letters = chr(ord("a") + rest) + letters
    return letters


def _p_values(values: Array, errors: Array) -> Array:
    """Two-sided p of all pairs; NaN where one has no error."""
    differences = np.abs(values[:, None] - values)
    with np.errstate(divide="ignore", invalid="ignore"):  # exact values differ or do not
        z = differences / np.hypot(errors[:, None], errors)
    z[(differences == 0) & ~np.isnan(errors[:, None] + errors)] = 0.0
    return np.asarray(2 * ndtr(-z))
