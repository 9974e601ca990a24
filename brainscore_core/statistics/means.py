"""Tests of means over benchmarks: ranks of models, and differences of two models."""

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
"""Share of the weight that benchmarks on which both models were scored must have for their means to be compared."""

LEAST_DATA_SETS = 3
"""Number of data sets that they must be from, unless the mean is over fewer."""

NOT_TESTED = "not tested: the stored results lack the data to compare the models"
"""Text that pages and the API show for scores without influence of units."""


def rank_means(
    values: ArrayLike,
    influences: Sequence[Sequence[ScoreInfluence | None]],
    weights: ArrayLike,
    *,
    level: float = 0.95,
    simultaneous: bool = True,
    most_groups: int = 702,
) -> Ranks:
    """Rank models by a score, or by a mean of several.

    Parameters
    ----------
    values : array (models,)
        The scores or means, as shown; NaN if there is none.
    influences : sequence (models) of sequence (benchmarks)
        How units influence the scores; None if there is no score, or nothing is stored.
    weights : array (benchmarks,)
        Weights of the benchmarks in the mean.
    level, simultaneous, most_groups
        See :func:`~brainscore_core.numerics.ranks_from_influence`.

    Returns
    -------
    Ranks
        A model that lacks one of the scores, or its influences, is ranked but not tested; so is one whose score was
        measured on other units than those of most models, or, if there is only one benchmark, on fewer than 10 units of
        a kind. Known biases of metrics are subtracted.

    Examples
    --------
    >>> from brainscore_core.numerics.influence import unit_influence
    >>> rng = np.random.default_rng(0)
    >>> stimuli = [unit_influence("stimuli", "A2026", range(50), 0.001 * rng.standard_normal(50)) for _ in range(3)]
    >>> scores = [[ScoreInfluence(0.5, (units,))] for units in stimuli]
    >>> found = rank_means([0.5, 0.7, 0.6], [scores[0], scores[1], [None]], [1.0])
    >>> found.rank.tolist(), found.best.tolist(), found.worst.tolist()
    ([3, 1, 2], [2, 1, 1], [3, 2, 3])
    """
    shares = np.asarray(weights, dtype=np.float64)
    used = np.flatnonzero(shares).tolist()
    fewest = FEWEST_UNITS if len(used) == 1 else 1
    columns = [comparable([of_model[at] for of_model in influences], fewest=fewest) for at in used]
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
        How units influence the scores; None if nothing is stored.
    weights : array (benchmarks,)
        Weights of the benchmarks in the mean.
    benchmarks : sequence of str
        Their identifiers.
    level : float
        Confidence level.

    Returns
    -------
    PairedTest
        First minus second, without known biases of metrics; NaN with a reason if the means are not comparable or not
        tested. They are not comparable if the benchmarks on which both were scored have less than half of the weight,
        or are from fewer than three data sets, unless the mean is over fewer.

    Examples
    --------
    >>> from brainscore_core.numerics.influence import unit_influence
    >>> rng = np.random.default_rng(0)
    >>> names = ["A2026-pls", "B2026-pls"]
    >>> def score(name):
    ...     return ScoreInfluence(0.5, (unit_influence("stimuli", name, range(50), 1e-3 * rng.standard_normal(50)),))
    >>> influences = [[score(name) for name in names] for _ in range(2)]
    >>> found = compare_means([[0.5, 0.7], [0.4, 0.6]], influences, [0.5, 0.5], names)
    >>> round(found.difference, 3), found.p < 0.001
    (0.1, True)
    >>> compare_means([[0.5, 0.7], [0.4, np.nan]], influences, [0.5, 0.5], names).reason
    'not comparable: both models were scored on 1 of 2 data sets'
    """
    scores, shares = np.asarray(values, dtype=np.float64), np.asarray(weights, dtype=np.float64)
    used = np.flatnonzero(shares).tolist()
    common = [at for at in used if np.isfinite(scores[:, at]).all()]
    of_all, of_common = ({data_set_of(benchmarks[at]) for at in places} for places in (used, common))
    weight = float(shares[common].sum() / shares[used].sum()) if used else 0.0
    if weight < LEAST_WEIGHT:
        return _undefined(f"not comparable: both models were scored on {100 * weight:.0f} % of the mean's weight")
    if len(of_common) < min(LEAST_DATA_SETS, len(of_all)):
        return _undefined(f"not comparable: both models were scored on {len(of_common)} of {len(of_all)} data sets")
    difference = float((scores[0, common] - scores[1, common]) @ shares[common] / shares[common].sum())
    differences: list[ScoreInfluence] = []
    for at in common:
        first, second = (of_model[at] for of_model in influences)
        if first is None or second is None:
            return _undefined(f"{NOT_TESTED} on {benchmarks[at]}", difference)
        try:
            differences.append(influence_of_difference(first, second))
        except ValueError as error:
            return _undefined(f"not tested: {error} ({benchmarks[at]})", difference)
    own = shares[common] / shares[common].sum()
    if len(common) == 1:  # whether two models differ does not depend on the ceiling of one benchmark
        differences = [ScoreInfluence(each.value, each.parts, each.bias) for each in differences]
    difference -= float(sum(share * each.bias for share, each in zip(own.tolist(), differences, strict=True)))
    variance, df = variance_of_mean(shared_variances(differences), own)
    return student_test(difference, float(variance[0]), float(df[0]), level=level)


def _undefined(reason: str, difference: float = math.nan) -> PairedTest:
    return PairedTest(difference, math.nan, math.nan, math.nan, math.nan, math.nan, reason)
