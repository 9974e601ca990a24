"""Differences between means of models that were scored on different, overlapping sets of benchmarks."""

import math
from collections.abc import Hashable, Iterable, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from brainscore_core.numerics._matrices import Array
from brainscore_core.numerics.influence import BLOCKS, SUMS, ScoreInfluence, UnitInfluence, unit_spaces

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

    Notes
    -----
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
            variance = np.maximum(variance - self._norms(present, self.twice)[0], 0.0)
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


Pieces = dict[int, list[tuple[int, UnitInfluence]]]
"""Benchmark → the models with scores, and the influences of units of one kind from the same data on them."""


def _unit_tables(scores: Sequence[Sequence[ScoreInfluence | None]], shares: Array) -> Iterable[_Table]:
    spaces = unit_spaces(score for row in scores for score in row)
    tables: dict[tuple[tuple[str, int], bool], Pieces] = {}
    for model, row in enumerate(scores):
        for at, score in enumerate(row):
            for units in () if score is None else score.parts:
                key = spaces[units.kind, units.data], units.paired
                tables.setdefault(key, {}).setdefault(at, []).append((model, units))
    folded = FOLDED_BLOCKS if len(shares) >= MANY_BENCHMARKS else 0
    for (_, paired), pieces in tables.items():
        blocked = any(units.blocked for listed in pieces.values() for _, units in listed)
        make = _paired_table if paired else _own_table
        yield make(pieces, len(scores), shares, folded or (BLOCKS if blocked else 0))


def _paired_table(pieces: Pieces, k: int, shares: Array, blocks: int) -> _Table:
    units = _Units(blocks, (units_of_score for listed in pieces.values() for _, units_of_score in listed))
    folded = blocks == FOLDED_BLOCKS  # of many benchmarks, most of the time is taken by products of these tables
    table = np.zeros((k, len(pieces), units.number), dtype=np.float32 if folded else np.float64)
    for position, (at, listed) in enumerate(pieces.items()):
        distinct: dict[int, list[tuple[int, UnitInfluence]]] = {}
        for model, units_of_score in listed:
            distinct.setdefault(id(units_of_score.codes), []).append((model, units_of_score))
        for same in distinct.values():  # scores that share the array of codes, as those of a benchmark do on the site
            values = np.stack([units_of_score.values for _, units_of_score in same])
            table[[model for model, _ in same], position] += shares[at] * units.sums(same[0][1].codes, values)
    twice = None
    if any(units_of_score.twice is not None for listed in pieces.values() for _, units_of_score in listed):
        twice = np.zeros((k, len(pieces), FOLDED_BLOCKS if folded else SUMS), dtype=table.dtype)
        for position, (at, listed) in enumerate(pieces.items()):
            for model, units_of_score in listed:
                if units_of_score.twice is not None:
                    twice[model, position] += shares[at] * units_of_score.twice.reshape(-1, twice.shape[-1]).sum(axis=0)
    return _Table(list(pieces), table, None, float(units.number), twice)


def _own_table(pieces: Pieces, k: int, shares: Array, blocks: int) -> _Table:
    """The same for units that only one model has."""
    of_models: dict[int, list[tuple[int, float, UnitInfluence]]] = {}
    for row, (at, listed) in enumerate(pieces.items()):
        for model, units_of_score in listed:
            of_models.setdefault(model, []).append((row, shares[at], units_of_score))
    products, number = np.zeros((k, len(pieces), len(pieces))), math.inf
    for model, rows in of_models.items():
        units = _Units(blocks, (units_of_score for _, _, units_of_score in rows))
        table = np.zeros((len(pieces), units.number))
        for row, share, units_of_score in rows:
            table[row] += share * units.sums(units_of_score.codes, units_of_score.values[None])[0]
        products[model] = table @ table.T
        number = min(number, float(units.number))
    return _Table(list(pieces), None, products, number)


class _Units:
    """Columns of units in a table: one for each unit, or for each block of units."""

    def __init__(self, blocks: int, parts: Iterable[UnitInfluence]) -> None:
        self._blocks = np.uint64(blocks)
        distinct = {id(units.codes): units.codes for units in parts}
        self._codes = np.unique(np.concatenate([self._in_blocks(codes) for codes in distinct.values()]))
        self.number = len(self._codes)

    def _in_blocks(self, codes: NDArray[np.uint64]) -> NDArray[np.uint64]:
        return codes % self._blocks if self._blocks else codes

    def sums(self, codes: NDArray[np.uint64], values: Array) -> Array:
        """Sum influences (scores × units) in these columns."""
        columns_of_codes = np.searchsorted(self._codes, self._in_blocks(codes))
        order = np.argsort(columns_of_codes, kind="stable")
        columns, starts = np.unique(columns_of_codes[order], return_index=True)
        result = np.zeros((len(values), self.number))
        if len(starts):
            result[:, columns] = np.add.reduceat(values[:, order], starts, axis=1)
        return result


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
