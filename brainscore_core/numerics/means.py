"""Significance tests on scores and means of benchmarks: ranks of models, and the difference of two models.

Two models are tested on the benchmarks that both have. They are not comparable if these have less than
:data:`LEAST_WEIGHT` of the weight of the mean, or are of fewer than :data:`LEAST_DATA_SETS` studies. Data sets that
share stimuli, subjects or neuroids, directly or through others, are one study.
"""

import math
from collections.abc import Hashable, Iterable, Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import stdtr

from brainscore_core.identifiers import data_set_of
from brainscore_core.numerics._matrices import Array
from brainscore_core.numerics.influence import (
    UNKNOWN,
    Pieces,
    ScoreInfluence,
    UnitInfluence,
    comparable,
    influence_of_difference,
    joint_influence,
    linked,
    remaining_variance,
    unit_spaces,
    unit_table,
)
from brainscore_core.numerics.ranks import Ranks, ranks_from_influence, ranks_from_tests
from brainscore_core.numerics.significance import PairedTest, student_test, untested

MANY_BENCHMARKS = 20
"""From this number of benchmarks, units of a kind and of the same data are summed in :data:`FOLDED_BLOCKS` blocks."""

FOLDED_BLOCKS = 64
"""A divisor of :data:`~brainscore_core.numerics.influence.BLOCKS` and of the number of random sums."""


class MeanDifferences(NamedTuple):
    """Differences of all pairs of models, each over the benchmarks on which both have a score, row minus column."""

    difference: Array  # (models, models): weighted mean of the differences on these benchmarks; NaN if there are none
    # (models, models): variance of the difference as an estimate of that over all benchmarks, and its degrees of
    # freedom by Satterthwaite's formula; NaN if it cannot be estimated, or is 0 except for rounding
    variance: Array
    df: Array
    weight: Array  # (models, models): share of the weight of all benchmarks that these benchmarks have
    # (models, models): number of units that the difference rests on: degrees of freedom of the variance that is due
    # to units, + 1
    units: Array


def mean_differences(
    scores: Sequence[Sequence[ScoreInfluence | None]], weights: ArrayLike, groups: Sequence[Hashable]
) -> MeanDifferences:
    """Compare means of models on the benchmarks that each pair has in common.

    The scores of a benchmark were measured on the same units (:func:`~brainscore_core.numerics.influence.comparable`);
    `weights` are positive. Differences vary independently between `groups`, such as studies.

    Influences are subtracted unit by unit, and summed over the common benchmarks before they are squared. Ceilings
    vary, unless a pair has one benchmark in common.

    The benchmarks that a pair lacks may differ from those that it has. If f is the share of the weight that a pair has,
    its difference is wrong by (1 − f) × (the mean over the groups that it has − that over the groups that it lacks).
    The variance of this error is estimated from the differences between the groups that the pair has, as if these were
    drawn at random; it is at least that of all pairs together, since few groups of one pair may agree by chance.

    Examples
    --------
    >>> from brainscore_core.numerics.influence import unit_influence
    >>> part = unit_influence("stimuli", "Some2026", ["a", "b"], [0.1, -0.1])
    >>> low, high = ScoreInfluence(0.4, (part,)), ScoreInfluence(0.7, ())
    >>> found = mean_differences([[high, high], [low, None]], [0.25, 0.75], ["Some2026", "Other2026"])
    >>> found.difference.round(2).tolist(), found.weight.tolist()
    ([[0.0, 0.3], [-0.3, 0.0]], [[1.0, 0.25], [0.25, 0.25]])
    """
    shares = np.asarray(weights, dtype=np.float64)
    shares = shares / shares.sum() if len(shares) else shares
    k = len(scores)
    present = np.array([[score is not None for score in row] for row in scores], dtype=np.float64).reshape(k, -1)
    values = np.array([[0.0 if score is None else score.value for score in row] for row in scores]).reshape(k, -1)
    weighted = present * shares
    weight = np.minimum(weighted @ present.T, 1.0)
    sums = (weighted * values) @ present.T
    variance, squared, largest = (np.zeros((k, k)) for _ in range(3))
    rounding = 1e-6 if len(shares) >= MANY_BENCHMARKS else 1e-10
    with np.errstate(divide="ignore", invalid="ignore"):
        for table in _unit_tables(scores, shares):
            of_units, without_covariance = table.variances(present)
            variance += of_units
            largest += without_covariance
            squared += of_units**2 / max(table.units - 1, 1)
        if len(shares) > 1:
            for total, of_ceilings in zip(
                (variance, largest), _ceiling_variances(scores, shares, present), strict=True
            ):
                total += np.where(present @ present.T > 1, of_ceilings, 0.0)
        variance[variance <= rounding * largest] = 0.0
        variance, squared = variance / weight**2, squared / weight**4
        difference = (sums - sums.T) / weight
        units = 1 + np.where(squared > 0, variance**2 / squared, np.inf)
        of_others, others_df = _of_other_groups(difference, present, shares, values, weight, groups)
        variance += of_others
        squared += np.where(of_others > 0, of_others**2 / others_df, 0.0)
        df = np.where(squared > 0, variance**2 / squared, np.inf)
        variance[~(variance > 0)] = np.nan
    return MeanDifferences(difference, variance, df, weight, units)


_COMPLETE = 1 - 1e-9
_ROUNDING_OF_SQUARES = 1e-12


def _of_other_groups(
    difference: Array, present: Array, shares: Array, values: Array, weight: Array, groups: Sequence[Hashable]
) -> tuple[Array, Array]:
    """Variance of each difference that is due to the groups that a pair lacks, and its degrees of freedom."""
    k = len(present)
    columns: dict[Hashable, list[int]] = {}
    for at, group in enumerate(groups):
        columns.setdefault(group, []).append(at)
    spread, of_common, of_missing = (np.zeros((k, k)) for _ in range(3))
    for of_group in columns.values():
        here, weighted = present[:, of_group], present[:, of_group] * shares[of_group]
        common = weighted @ here.T
        sums = (weighted * values[:, of_group]) @ here.T
        spread += np.where(common > 0, (sums - sums.T) ** 2 / common, 0.0)
        of_common += common**2
        of_missing += (shares[of_group].sum() - common) ** 2
    of_common /= weight**2
    several = (weight > 0) & (of_common < _COMPLETE)
    df = np.where(several, 1 / of_common - 1, 0.0)
    squares = (present * shares * values**2) @ present.T
    excess = spread / weight - difference**2
    real = excess > _ROUNDING_OF_SQUARES * (squares + squares.T) / weight
    between = np.where(several, np.where(real, excess, 0.0) / (1 - of_common), np.nan)
    pairs = several & ~np.eye(k, dtype=bool)
    pooled = np.average(between[pairs], weights=df[pairs]) if pairs.any() else math.nan
    factor = (1 - weight) ** 2 * of_common + of_missing
    return np.where(weight < _COMPLETE, np.maximum(between, pooled) * factor, 0.0), df


class _Table(NamedTuple):
    """Weighted influences of units of one kind from the same data on the scores of several benchmarks."""

    columns: list[int]  # the benchmarks
    # (models, benchmarks, units): 0 where a model has no score; None for units of one model each
    influences: Array | None
    # (models, benchmarks, benchmarks): for units of one model each, the products of the influences of a model on
    # pairs of benchmarks
    products: Array | None
    units: float  # number of independent units
    # (models, benchmarks, sums): what other kinds of units contain as well, whose variance is subtracted
    twice: Array | None = None

    def variances(self, present: Array) -> tuple[Array, Array]:
        """Variance of each pair's sum of differences over the benchmarks that both have; and that without covariance.

        ‖Σ (x_i − x_j)‖² over the common benchmarks: the norms of the sums of both models, minus twice their product.
        """
        variance, without_covariance = self._norms(present, self.influences)
        if self.twice is not None:
            variance = remaining_variance(variance, self._norms(present, self.twice)[0], self.units)
        return variance, without_covariance

    def _norms(self, present: Array, table: Array | None) -> tuple[Array, Array]:
        here = present[:, self.columns]
        if table is not None:
            here, table = _merged(here, table)
        k, n = here.shape
        without_covariance, cross = np.zeros((k, k)), np.zeros((k, k))
        for at in range(n):
            both = here * here[:, [at]]  # which models have the scores that are multiplied
            if table is None:
                without_covariance += self.products[:, :, at] @ both.T  # type: ignore[index] # one of the two is given
                continue
            without_covariance += np.einsum("knu,ku->kn", table, table[:, at], dtype=np.float64) @ both.T
            masked = (table[:, [at]] * here[:, :, None].astype(table.dtype)).reshape(k, -1)
            product = table.reshape(k, -1) @ masked.T
            cross += product if n == 1 else product * here[:, [at]]
        without_covariance += without_covariance.T
        return np.maximum(without_covariance - 2 * cross, 0.0), without_covariance


def _merged(here: Array, table: Array) -> tuple[Array, Array]:
    """Sum the influences on benchmarks that the same models have."""
    columns: dict[bytes, list[int]] = {}
    for at in range(here.shape[1]):
        columns.setdefault(here[:, at].tobytes(), []).append(at)
    if len(columns) == here.shape[1]:
        return here, table
    summed = np.stack([table[:, same].sum(axis=1) for same in columns.values()], axis=1)
    return here[:, [same[0] for same in columns.values()]], summed


def _unit_tables(scores: Sequence[Sequence[ScoreInfluence | None]], shares: Array) -> Iterable[_Table]:
    spaces = unit_spaces(score for row in scores for score in row)
    pieces_of_space: dict[tuple[tuple[str, int], bool], list[tuple[int, int, UnitInfluence]]] = {}
    for model, row in enumerate(scores):
        for at, score in enumerate(row):
            for units in () if score is None else score.parts:
                key = spaces[units.kind, units.data], units.paired
                pieces_of_space.setdefault(key, []).append((model, at, units))
    blocks = FOLDED_BLOCKS if len(shares) >= MANY_BENCHMARKS else 0
    k = len(scores)
    for (_, paired), pieces in pieces_of_space.items():
        columns = sorted({at for _, at, _ in pieces})
        n, position = len(columns), {at: number for number, at in enumerate(columns)}
        if paired:
            rows = [(model * n + position[at], float(shares[at]), units) for model, at, units in pieces]
            # of many benchmarks, most of the time is taken by products of these tables
            table, twice = unit_table(rows, k * n, blocks=blocks, dtype=np.float32 if blocks else np.float64)
            repeated = None if twice is None else twice.reshape(k, n, -1)
            yield _Table(columns, table.reshape(k, n, -1), None, float(table.shape[1]), repeated)
            continue
        of_models: dict[int, Pieces] = {}
        for model, at, units in pieces:
            of_models.setdefault(model, []).append((position[at], float(shares[at]), units))
        products, number = np.zeros((k, n, n)), math.inf
        for model, rows in of_models.items():  # units that only this model has
            table = unit_table(rows, n, blocks=blocks).values
            products[model], number = table @ table.T, min(number, float(table.shape[1]))
        yield _Table(columns, None, products, number)


def _ceiling_variances(
    scores: Sequence[Sequence[ScoreInfluence | None]], shares: Array, present: Array
) -> tuple[Array, Array]:
    """Variances as those of a table that are due to ceilings; those of one name have the same error."""
    changes = np.array([[0.0 if score is None else score.ceiling for score in row] for row in scores]) * shares
    columns: dict[str, list[int]] = {}
    for at in range(len(shares)):
        for name in {row[at].ceiling_id for row in scores if row[at] is not None and row[at].ceiling}:  # type: ignore[union-attr] # not None
            columns.setdefault(name, []).append(at)
    single = [of_ceiling[0] for of_ceiling in columns.values() if len(of_ceiling) == 1]
    without_covariance = changes[:, single] ** 2 @ present[:, single].T
    without_covariance = without_covariance + without_covariance.T
    variance = np.maximum(without_covariance - 2 * changes[:, single] @ changes[:, single].T, 0.0)
    for of_ceiling in columns.values():
        if len(of_ceiling) > 1:
            of_shared = _Table(of_ceiling, changes[:, of_ceiling, None], None, math.inf).variances(present)
            variance, without_covariance = variance + of_shared[0], without_covariance + of_shared[1]
    return variance, without_covariance


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
) -> Ranks:
    """Rank models by a score, or by a weighted mean of several scores.

    - `values`: the scores or means, as shown; NaN if there is none. Means must be over all benchmarks, with 0 for a
      missing score: models could choose theirs, if those that have no score were left out.
    - `influences`: influence of units (stimuli, neuroids, subjects) on each score; None if there is no score, or no
      influence is stored.
    - `weights`: weights of the benchmarks in the mean.
    - `benchmarks`: identifiers of the benchmarks.

    Returns: known biases of metrics are subtracted. Two models are tested on the benchmarks on which both have a score
    with influences, measured on the units that most models were measured on. A pair counts as not different if it is
    not comparable (see above), or if the model with the higher value is not the better one on these benchmarks.

    If all models have all the scores, the tests are corrected by their joint distribution
    (:func:`~brainscore_core.numerics.ranks_from_influence`), otherwise by Holm's method. The probability that any model
    is placed above another that is equally good or better is then at most 0.05, if no benchmark that a model
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
        return ranks_from_influence(estimates, joint.parts, units=joint.units, twice=joint.twice)
    p = np.full((len(table), len(table)), np.nan)
    rows = np.flatnonzero(some)
    p[np.ix_(rows, rows)] = _p_values(
        estimates[rows], _pairs([table[row] for row in rows.tolist()], shares[used], [benchmarks[at] for at in used])
    )
    return ranks_from_tests(estimates, p)


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
) -> PairedTest:
    """Compare the means of two models over the benchmarks on which both were scored.

    - `values`: scores of the two models; NaN if there is none.
    - `influences`: influence of units (stimuli, neuroids, subjects) on each score; None if it is not stored.
    - `weights`: weights of the benchmarks in the mean.
    - `benchmarks`: identifiers of the benchmarks.

    Returns: first minus second model on these benchmarks, without known biases of metrics, with the uncertainty about
    the mean over all benchmarks (:func:`~brainscore_core.numerics.means.mean_differences`), if no benchmark that a
    model lacks was left out because of its results (:data:`ASSUMPTION`). NaN with a reason if the means are not
    comparable (see above), or the difference cannot be tested.

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
        return untested(
            math.nan, f"not comparable: both models were scored on {100 * weight:.0f} % of the mean's weight"
        )
    if len(common_studies) < min(LEAST_DATA_SETS, len(all_studies)):
        counts = f"{len(common_studies)} of {len(all_studies)} studies"
        return untested(math.nan, f"not comparable: both models were scored on {counts}")
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
        return untested(difference, reason)
    lacking = [index for index in used if index not in common]
    found = _pairs(
        [[*row, *[None] * len(lacking)] for row in table],
        shares[[*common, *lacking]],
        [benchmarks[index] for index in (*common, *lacking)],
    )
    if not found.comparable[0, 1]:
        return untested(difference, reason)
    difference, variance, df = (float(array[0, 1]) for array in found.differences[:3])
    return student_test(difference, 0.0 if math.isnan(variance) else variance, df)


def _problem(first: ScoreInfluence | None, second: ScoreInfluence | None) -> str:
    """Return why two scores of a benchmark are not comparable, with ``{}`` in place of its name; empty if they are."""
    if first is None or second is None:
        return f"{NOT_TESTED} on {{}}"
    try:
        influence_of_difference(first, second)
    except ValueError as error:
        return f"not tested: {error} ({{}})"
    return ""
