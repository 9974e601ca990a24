"""Significance tests on scores and means of benchmarks: ranks of models, and the difference of two models.

Two models are tested on the benchmarks that both have. They are not comparable if these have less than
:data:`LEAST_WEIGHT` of the weight of the mean, or are of fewer than :data:`LEAST_DATA_SETS` studies. Data sets that
share stimuli, subjects or neuroids, directly or through others, are one study.
"""

import math
from collections.abc import Hashable, Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import stdtr

from brainscore_core.identifiers import data_set_of
from brainscore_core.numerics.influence import (
    UNKNOWN,
    ScoreInfluence,
    comparable,
    influence_of_difference,
    joint_influence,
    linked,
)
from brainscore_core.numerics.mean_differences import MeanDifferences, mean_differences
from brainscore_core.numerics.ranks import Ranks, ranks_from_influence, ranks_from_tests
from brainscore_core.numerics.significance import PairedTest, student_test

LEAST_WEIGHT = 0.5
"""Means of two models are compared if both models have scores on benchmarks with at least this share of the weight."""

LEAST_DATA_SETS = 3
"""Smallest number of studies of these benchmarks; for a mean over fewer studies, they must be from all of them."""

NOT_TESTED = "not tested: the stored results lack the data to compare the models"
"""Text that pages and the API show for scores without stored influences of units."""

ASSUMPTION = (
    "Between models with different benchmarks, this assumes that those which a model lacks were not left out because "
    "of its results."
)
"""Under which condition a mean of one model is said to be higher than that of another that has other benchmarks."""


class _Pairs(NamedTuple):
    """Differences of all pairs of models, and whether the means of a pair are comparable."""

    differences: MeanDifferences
    comparable: NDArray[np.bool_]


def _pairs(
    table: Sequence[Sequence[ScoreInfluence | None]], shares: NDArray[np.float64], names: Sequence[str]
) -> _Pairs:
    studies = np.array(_studies(table, names), dtype=np.intp)
    distinct = np.unique(studies)
    groups: Sequence[Hashable] = studies.tolist() if len(distinct) >= LEAST_DATA_SETS else names
    found = mean_differences(table, shares, groups)
    present = np.array([[score is not None for score in row] for row in table], dtype=np.float64)
    present = present.reshape(len(table), len(names))
    number = np.zeros(found.weight.shape, dtype=np.int64)
    for study in distinct:
        here = present[:, studies == study]
        number += here @ here.T > 0
    enough = number >= min(LEAST_DATA_SETS, len(distinct))
    return _Pairs(found, enough & (found.weight >= LEAST_WEIGHT - 1e-9))


def _studies(table: Sequence[Sequence[ScoreInfluence | None]], names: Sequence[str]) -> list[int]:
    """Number of the study of each benchmark: those whose data sets or units have a name in common are of one study.

    Models differ in the same way on the same stimuli, and on the same brains: such data sets do not tell independently
    how models differ on others.
    """
    sources = {
        at: {data_set_of(name)}.union(*(part.data for row in table if (score := row[at]) for part in score.parts))
        for at, name in enumerate(names)
    }
    return list(linked({at: known - {UNKNOWN} for at, known in sources.items()}).values())


def rank_means(
    values: ArrayLike,
    influences: Sequence[Sequence[ScoreInfluence | None]],
    weights: ArrayLike,
    benchmarks: Sequence[str],
    *,
    level: float = 0.95,
    simultaneous: bool = True,
    most_groups: int = 702,
) -> Ranks:
    """Rank models by a score, or by a weighted mean of several scores.

    Parameters
    ----------
    values : array (models,)
        The scores or means, as shown; NaN if there is none. Means must be over all benchmarks, with 0 for a missing
        score: models could choose theirs, if those that have no score were left out.
    influences : sequence (models) of sequence (benchmarks)
        Influence of units (stimuli, neuroids, subjects) on each score; None if there is no score, or no influence is
        stored.
    weights : array (benchmarks,)
        Weights of the benchmarks in the mean.
    benchmarks : sequence of str
        Identifiers of the benchmarks.
    level, simultaneous, most_groups
        See :func:`~brainscore_core.numerics.ranks_from_influence`.

    Returns
    -------
    Ranks
        Known biases of metrics are subtracted. Two models are tested on the benchmarks on which both have a score with
        influences, measured on the units that most models were measured on. A pair counts as not different if it is not
        comparable (see above), or if the model with the higher value is not the better one on these benchmarks.

    Notes
    -----
    If all models have all the scores, the tests are corrected by their joint distribution
    (:func:`~brainscore_core.numerics.ranks_from_influence`), otherwise by Holm's method. The probability that any model
    is placed above another that is equally good or better is then at most 1 − `level`, if no benchmark that a model
    lacks was left out because of its results (:data:`ASSUMPTION`).

    Examples
    --------
    >>> from brainscore_core.numerics.influence import unit_influence
    >>> rng = np.random.default_rng(0)
    >>> stimuli = [unit_influence("stimuli", "A2026", range(50), 0.001 * rng.standard_normal(50)) for _ in range(3)]
    >>> scores = [[ScoreInfluence(value, (units,))] for value, units in zip([0.5, 0.7, 0.6], stimuli)]
    >>> ranks = rank_means([0.5, 0.7, 0.6], [scores[0], scores[1], [None]], [1.0], ["A2026-pls"])
    >>> ranks.rank.tolist(), ranks.best.tolist(), ranks.worst.tolist()
    ([3, 1, 2], [2, 1, 1], [3, 2, 3])
    """
    shares = np.asarray(weights, dtype=np.float64)
    used = np.flatnonzero(shares).tolist()
    columns = [comparable(row[index] for row in influences) for index in used]
    table = [[column[model] for column in columns] for model in range(len(influences))]
    biases = [
        sum(share * score.bias for share, score in zip(shares[used].tolist(), row, strict=True) if score is not None)
        for row in table
    ]
    estimates = np.asarray(values, dtype=np.float64) - biases
    missing = np.array([[score is None for score in row] for row in table], dtype=bool).reshape(len(table), len(used))
    some = np.isfinite(estimates) & ~missing.all(axis=1)
    if not missing[some].any():
        joint = joint_influence(table, shares[used], ceilings=len(used) > 1)
        return ranks_from_influence(
            estimates,
            joint.parts,
            units=joint.units,
            twice=joint.twice,
            level=level,
            simultaneous=simultaneous,
            most_groups=most_groups,
        )
    p = np.full((len(table), len(table)), np.nan)
    rows = np.flatnonzero(some)
    p[np.ix_(rows, rows)] = _p_values(
        estimates[rows], _pairs([table[row] for row in rows.tolist()], shares[used], [benchmarks[at] for at in used])
    )
    return ranks_from_tests(estimates, p, level=level, simultaneous=simultaneous, most_groups=most_groups)


def _p_values(estimates: NDArray[np.float64], pairs: _Pairs) -> NDArray[np.float64]:
    """Two-sided p of all pairs; 1 if the higher estimate is not that of the better model, NaN without a test."""
    difference, variance, df, *_ = pairs.differences
    with np.errstate(divide="ignore", invalid="ignore"):
        p = 2 * stdtr(df, -np.abs(difference) / np.sqrt(variance))
    p[np.sign(difference) != np.sign(estimates[:, None] - estimates)] = 1.0
    return np.asarray(np.where(pairs.comparable & np.isfinite(variance), p, np.nan), dtype=np.float64)


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
        First minus second model on these benchmarks, without known biases of metrics, with the uncertainty about the
        mean over all benchmarks (:func:`~brainscore_core.numerics.mean_differences.mean_differences`), if no benchmark
        that a model lacks was left out because of its results (:data:`ASSUMPTION`). NaN with a reason if the means are
        not comparable (see above), or the difference cannot be tested.

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
    'not comparable: both models were scored on 1 of 2 studies'
    """
    scores, shares = np.asarray(values, dtype=np.float64), np.asarray(weights, dtype=np.float64)
    used = np.flatnonzero(shares).tolist()
    common = [index for index in used if np.isfinite(scores[:, index]).all()]
    studies = _studies(influences, benchmarks)
    all_studies, common_studies = ({studies[index] for index in indices} for indices in (used, common))
    weight = float(shares[common].sum() / shares[used].sum()) if used else 0.0
    if weight < LEAST_WEIGHT:
        return _undefined(f"not comparable: both models were scored on {100 * weight:.0f} % of the mean's weight")
    if len(common_studies) < min(LEAST_DATA_SETS, len(all_studies)):
        counts = f"{len(common_studies)} of {len(all_studies)} studies"
        return _undefined(f"not comparable: both models were scored on {counts}")
    difference = float((scores[0, common] - scores[1, common]) @ shares[common] / shares[common].sum())
    table: list[list[ScoreInfluence | None]] = [[], []]
    reason = ""
    for index in common:
        pair = [row[index] for row in influences]
        problem = _problem(*pair)
        pair = pair if problem else comparable(pair)
        if problem:
            reason = reason or problem.format(benchmarks[index])
        for row, value, score in zip(table, scores[:, index].tolist(), pair, strict=True):
            row.append(None if problem or score is None else replace(score, value=value - score.bias))
    if all(score is None for score in table[0]):
        return _undefined(reason, difference)
    lacking = [index for index in used if index not in common]
    found = _pairs(
        [[*row, *[None] * len(lacking)] for row in table],
        shares[[*common, *lacking]],
        [benchmarks[index] for index in (*common, *lacking)],
    )
    if not found.comparable[0, 1]:
        return _undefined(reason, difference)
    difference, variance, df = (float(array[0, 1]) for array in found.differences[:3])
    return student_test(difference, 0.0 if math.isnan(variance) else variance, df, level=level)


def _problem(first: ScoreInfluence | None, second: ScoreInfluence | None) -> str:
    """Return why two scores of a benchmark are not comparable, with ``{}`` in place of its name; empty if they are."""
    if first is None or second is None:
        return f"{NOT_TESTED} on {{}}"
    try:
        influence_of_difference(first, second)
    except ValueError as error:
        return f"not tested: {error} ({{}})"
    return ""


def _undefined(reason: str, difference: float = math.nan) -> PairedTest:
    return PairedTest(difference, math.nan, math.nan, math.nan, math.nan, math.nan, reason)
