"""Ranks of models by a mean: which models are ranked, by which benchmarks, and with which ranges of ranks.

A model is ranked if it was scored on enough of the benchmarks. A benchmark counts in ranks once enough of the ranked
models have a result on its current version, so that no model rises by being scored first on a new benchmark.
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from brainscore_core.numerics.influence import ScoreInfluence
from brainscore_core.numerics.ranks import Ranks
from brainscore_core.results.aggregates import Over, averages
from brainscore_core.results.tree import Tree
from brainscore_core.statistics.means import rank_means

COVERAGE = 50.0
"""Percentage of the benchmarks on which a model must have been scored to be ranked by default."""

Flags = NDArray[np.bool_]


def covered(n_scored: NDArray[np.int64], n_all: NDArray[np.int64] | int, percentage: float = COVERAGE) -> Flags:
    """Return whether models were scored on at least this percentage of the benchmarks, and on at least one.

    Examples
    --------
    >>> covered(np.array([0, 1, 2]), np.array([4, 4, 4]), 50).tolist()
    [False, False, True]
    """
    return (n_scored > 0) & (100 * n_scored >= percentage * n_all)


def fewest_scores(n_all: int, percentage: float = COVERAGE) -> int:
    """Return the smallest number of scores that :func:`covered` accepts.

    Examples
    --------
    >>> fewest_scores(213, 50), fewest_scores(4, 0)
    (107, 1)
    """
    return max(1, -int(-percentage * n_all // 100))


def counting_benchmarks(with_result: Flags, ranked: Flags, percentage: float = COVERAGE) -> Flags:
    """Return which benchmarks count in ranks: those on which enough of the ranked models have a result.

    Parameters
    ----------
    with_result : array (models, benchmarks) of bool
        Whether there is a result of the current version. Failed and undefined scores are results, as are benchmarks
        that are not applicable.
    ranked : array (models,) of bool
        The models that are ranked. If there are none, all benchmarks count.
    percentage : float
        The required percentage of the ranked models.

    Examples
    --------
    >>> with_result = np.array([[True, True], [True, False], [True, False]])
    >>> counting_benchmarks(with_result, np.array([True, True, True]), 50).tolist()
    [True, False]
    """
    if not ranked.any():
        return np.ones(with_result.shape[1], dtype=bool)
    return 100 * with_result[ranked].sum(axis=0) >= percentage * int(ranked.sum())


def ranks_of_means(
    tree: Tree,
    values: ArrayLike,
    with_result: ArrayLike,
    influences: Sequence[Sequence[ScoreInfluence | None]],
    *,
    over: Over = "all",
    coverage: float = COVERAGE,
) -> Ranks:
    """Rank models by the mean of the root of a tree.

    Parameters
    ----------
    tree : Tree
        A tree with one root.
    values : array (models, benchmarks)
        Scores, with benchmarks in the order of ``tree.benchmarks``; NaN if there is none.
    with_result : array (models, benchmarks) of bool
        See :func:`counting_benchmarks`.
    influences : sequence (models) of sequence (benchmarks)
        Influence of units on each score; None if there is no score, or no influence is stored.
    over : str
        ``'all'`` counts missing scores as 0. ``'scored'`` leaves them out; such means are ranked and not tested.
    coverage : float
        Percentage of the benchmarks on which a model must have been scored to be ranked.

    Returns
    -------
    Ranks
        As of :func:`~brainscore_core.statistics.means.rank_means`; −1 for models that are not ranked.
    """
    scores = np.asarray(values, dtype=np.float64)
    ranked = covered(np.isfinite(scores).sum(axis=1), scores.shape[1], coverage)
    counts = counting_benchmarks(np.asarray(with_result, dtype=bool), ranked, coverage)
    columns = np.flatnonzero(counts).tolist()
    names = [tree.benchmarks[column] for column in columns]
    if not names:
        return rank_means(np.full(len(scores), np.nan), [[] for _ in scores], [], [])
    counting = tree.pruned(names)
    unknown = np.full((len(scores), len(names)), np.nan)
    means = averages(counting, scores[:, columns], unknown, over=over).values[:, 0]
    weights = averages(counting, np.eye(len(names)), np.full((len(names),) * 2, np.nan)).values[:, 0]
    means[~ranked] = np.nan
    tested = [[row[column] if over == "all" else None for column in columns] for row in influences]
    return rank_means(means, tested, weights, names)
