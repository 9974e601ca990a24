"""Significance tests on scores and means of benchmarks: ranks of models, and the difference of two models."""

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from brainscore_core.numerics.influence import (
    ScoreInfluence,
    comparable,
    influence_of_difference,
    joint_influence,
    shared_variances,
    variance_of_mean,
)
from brainscore_core.numerics.ranks import FEWEST_UNITS, Ranks, ranks_from_influence
from brainscore_core.numerics.significance import PairedTest, student_test
from brainscore_core.results.tree import data_set_of

__all__ = ["LEAST_DATA_SETS", "LEAST_WEIGHT", "NOT_TESTED", "compare_means", "rank_means"]

LEAST_WEIGHT = 0.5
"""Means of two models are compared if both models have scores on benchmarks with at least this share of the weight."""

LEAST_DATA_SETS = 3
"""Smallest number of data sets of these benchmarks; for a mean over fewer data sets, they must be from all of them."""

NOT_TESTED = "not tested: the stored results lack the data to compare the models"
"""Text that pages and the API show for scores without stored influences of units."""


def rank_means(
    values: ArrayLike,
    influences: Sequence[Sequence[ScoreInfluence | None]],
    weights: ArrayLike,
    *,
    level: float = 0.95,
    simultaneous: bool = True,
    most_groups: int = 702,
) -> Ranks:
    """Rank models by a score, or by a weighted mean of several scores.

    Parameters
    ----------
    values : array (models,)
        The scores or means, as shown; NaN if there is none.
    influences : sequence (models) of sequence (benchmarks)
        Influence of units (stimuli, neuroids, subjects) on each score; None if there is no score, or no influence is
        stored.
    weights : array (benchmarks,)
        Weights of the benchmarks in the mean.
    level, simultaneous, most_groups
        See :func:`~brainscore_core.numerics.ranks_from_influence`.

    Returns
    -------
    Ranks
        Known biases of metrics are subtracted. A model is ranked but not tested if it lacks one of the scores or its
        influences; if one of its scores was measured on other units than those of most models; or, with only one
        benchmark, if its score was measured on fewer than 10 units of a kind.

    Examples
    --------
    >>> from brainscore_core.numerics.influence import unit_influence
    >>> rng = np.random.default_rng(0)
    >>> stimuli = [unit_influence("stimuli", "A2026", range(50), 0.001 * rng.standard_normal(50)) for _ in range(3)]
    >>> scores = [[ScoreInfluence(0.5, (units,))] for units in stimuli]
    >>> ranks = rank_means([0.5, 0.7, 0.6], [scores[0], scores[1], [None]], [1.0])
    >>> ranks.rank.tolist(), ranks.best.tolist(), ranks.worst.tolist()
    ([3, 1, 2], [2, 1, 1], [3, 2, 3])
    """
    shares = np.asarray(weights, dtype=np.float64)
    used = np.flatnonzero(shares).tolist()
    fewest = FEWEST_UNITS if len(used) == 1 else 1
    columns = [comparable([row[index] for row in influences], fewest=fewest) for index in used]
    table = [[column[model] for column in columns] for model in range(len(influences))]
    biases = [
        sum(share * score.bias for share, score in zip(shares[used].tolist(), row, strict=True) if score is not None)
        for row in table
    ]
    joint = joint_influence(table, shares[used], ceilings=len(used) > 1)
    return ranks_from_influence(
        np.asarray(values, dtype=np.float64) - biases,
        joint.parts,
        units=joint.units,
        level=level,
        simultaneous=simultaneous,
        most_groups=most_groups,
    )


def compare_means(
    values: ArrayLike,
    influences: Sequence[Sequence[ScoreInfluence | None]],
    weights: ArrayLike,
    benchmarks: Sequence[str],
    *,
    level: float = 0.95,
) -> PairedTest:
    """Compare the means of two models over the benchmarks on which both were scored.

    Parameters
    ----------
    values : array (2, benchmarks)
        Scores of the two models; NaN if there is none.
    influences : sequence (2) of sequence (benchmarks)
        Influence of units (stimuli, neuroids, subjects) on each score; None if it is not stored.
    weights : array (benchmarks,)
        Weights of the benchmarks in the mean.
    benchmarks : sequence of str
        Identifiers of the benchmarks.
    level : float
        Confidence level.

    Returns
    -------
    PairedTest
        First minus second model, without known biases of metrics. NaN with a reason if the means are not comparable,
        or the difference cannot be tested. Means are not comparable if the benchmarks on which both models were scored
        have less than half of the weight, or come from fewer than three data sets (unless the whole mean does).

    Examples
    --------
    >>> from brainscore_core.numerics.influence import unit_influence
    >>> rng = np.random.default_rng(0)
    >>> names = ["A2026-pls", "B2026-pls"]
    >>> def score(name):
    ...     return ScoreInfluence(0.5, (unit_influence("stimuli", name, range(50), 1e-3 * rng.standard_normal(50)),))
    >>> influences = [[score(name) for name in names] for _ in range(2)]
    >>> test = compare_means([[0.5, 0.7], [0.4, 0.6]], influences, [0.5, 0.5], names)
    >>> round(test.difference, 3), test.p < 0.001
    (0.1, True)
    >>> compare_means([[0.5, 0.7], [0.4, np.nan]], influences, [0.5, 0.5], names).reason
    'not comparable: both models were scored on 1 of 2 data sets'
    """
    scores, shares = np.asarray(values, dtype=np.float64), np.asarray(weights, dtype=np.float64)
    used = np.flatnonzero(shares).tolist()
    common = [index for index in used if np.isfinite(scores[:, index]).all()]
    all_data_sets = {data_set_of(benchmarks[index]) for index in used}
    common_data_sets = {data_set_of(benchmarks[index]) for index in common}
    weight = float(shares[common].sum() / shares[used].sum()) if used else 0.0
    if weight < LEAST_WEIGHT:
        return _undefined(f"not comparable: both models were scored on {100 * weight:.0f} % of the mean's weight")
    if len(common_data_sets) < min(LEAST_DATA_SETS, len(all_data_sets)):
        counts = f"{len(common_data_sets)} of {len(all_data_sets)} data sets"
        return _undefined(f"not comparable: both models were scored on {counts}")
    difference = float((scores[0, common] - scores[1, common]) @ shares[common] / shares[common].sum())
    differences: list[ScoreInfluence] = []
    for index in common:
        first, second = (row[index] for row in influences)
        if first is None or second is None:
            return _undefined(f"{NOT_TESTED} on {benchmarks[index]}", difference)
        try:
            differences.append(influence_of_difference(first, second))
        except ValueError as error:
            return _undefined(f"not tested: {error} ({benchmarks[index]})", difference)
    common_shares = shares[common] / shares[common].sum()
    if len(common) == 1:  # the common ceiling of both scores does not affect whether they differ
        differences = [ScoreInfluence(each.value, each.parts, each.bias) for each in differences]
    difference -= float(sum(share * each.bias for share, each in zip(common_shares.tolist(), differences, strict=True)))
    variance, df = variance_of_mean(shared_variances(differences), common_shares)
    return student_test(difference, float(variance[0]), float(df[0]), level=level)


def _undefined(reason: str, difference: float = math.nan) -> PairedTest:
    return PairedTest(difference, math.nan, math.nan, math.nan, math.nan, math.nan, reason)
