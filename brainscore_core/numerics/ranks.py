"""Ranks of models with intervals, and groups of models without a significant difference."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import ndtr, ndtri, stdtr

from brainscore_core.numerics._matrices import Array
from brainscore_core.numerics.influence import remaining_variance
from brainscore_core.numerics.significance import corrected

MANY_UNITS = 50
"""Number of units from which the joint distribution of all tests is estimated; with fewer it seems too narrow."""


class TooManyGroups(Exception):
    """There are more groups than allowed."""


def tie_matrix(
    values: NDArray[np.float64], different: NDArray[np.bool_], *, most: int | None = None
) -> NDArray[np.bool_]:
    """Members of the maximal groups without a difference as an array (groups, k), in the order of their highest values.

    These are the groups of the compact letter display (Piepho 2004, doi:10.1198/1061860043515). A value may be in
    several: a and c can differ although neither a and b nor b and c do. Raises TooManyGroups if there are more than
    `most`.
    """
    order = np.argsort(-values, kind="stable")
    groups = maximal_groups(~(different | different.T)[np.ix_(order, order)], most=most)
    listed = sorted(range(len(groups)), key=lambda row: np.packbits(groups[row]).tobytes(), reverse=True)
    result = np.zeros_like(groups)
    result[:, order] = groups[listed]
    return result


def maximal_groups(alike: NDArray[np.bool_], *, most: int | None = None) -> NDArray[np.bool_]:
    """All maximal sets of items that are pairwise alike, as rows, in arbitrary order.

    `alike` is symmetric (k, k); its diagonal is not read. Raises TooManyGroups if there are more than `most`.

    These are the maximal cliques of a graph, found by branching on items that are not alike a pivot [Bron & Kerbosch
    1973, doi:10.1145/362342.362367; Tomita, Tanaka & Takahashi 2006, doi:10.1016/j.tcs.2006.06.015]. Sets are bits of
    an integer.
    """
    k = len(alike)
    near = [int.from_bytes(row.tobytes(), "little") & ~(1 << i) for i, row in enumerate(_bits(alike))]
    groups: list[int] = []
    waiting = [(0, (1 << k) - 1, 0)] if k else []  # members, candidates to extend the set, items already tried with it
    while waiting:
        chosen, candidates, tried = waiting.pop()
        if not candidates:
            if not tried:
                groups.append(chosen)
                if most is not None and len(groups) > most:
                    raise TooManyGroups
            continue
        pivot = max(_members(candidates | tried), key=lambda i: (candidates & near[i]).bit_count())
        for i in _members(candidates & ~near[pivot]):
            waiting.append((chosen | 1 << i, candidates & near[i], tried & near[i]))
            candidates ^= 1 << i
            tried |= 1 << i
    width = (k + 7) // 8
    rows = np.frombuffer(b"".join(group.to_bytes(width, "little") for group in groups), dtype=np.uint8)
    return np.unpackbits(rows.reshape(len(groups), width), axis=1, count=k, bitorder="little").astype(bool)


def _bits(rows: NDArray[np.bool_]) -> NDArray[np.uint8]:
    return np.packbits(rows, axis=1, bitorder="little")


def _members(bits: int) -> list[int]:
    """Positions of the bits that are set, in decreasing order."""
    members = []
    while bits:
        last = bits.bit_length() - 1
        members.append(last)
        bits ^= 1 << last
    return members


def significantly_better(
    values: ArrayLike, p_values: ArrayLike, *, level: float = 0.95, simultaneous: bool = True
) -> NDArray[np.bool_]:
    """Test for each pair of values which one is higher.

    `p_values` are two-sided and symmetric; the diagonal is ignored, and NaN means no test. In the result the row is
    significantly higher than the column. One-sided p-values are corrected by Holm's method: over all ordered pairs if
    `simultaneous`, else over the smaller of the two families of the row and the column.

    Examples
    --------
    >>> p = np.array([[1, 0.001, 0.0001], [0.001, 1, 0.3], [0.0001, 0.3, 1]])
    >>> significantly_better([0.9, 0.5, 0.45], p).astype(int).tolist()
    [[0, 1, 1], [0, 0, 0], [0, 0, 0]]
    """
    one_sided = _one_sided(values, p_values)
    if simultaneous:
        return np.asarray(np.nan_to_num(corrected(one_sided), nan=1.0) <= 1 - level)
    better = np.zeros(one_sided.shape, dtype=bool)
    for row in range(len(one_sided)):
        above, below = _better_and_worse(one_sided, row, level)
        better[row] |= below
        better[:, row] |= above
    return better


def _one_sided(values: ArrayLike, p_values: ArrayLike) -> NDArray[np.float64]:
    """P-values for the hypothesis that the row is not higher than the column."""
    estimates, p = np.asarray(values, dtype=np.float64), np.array(p_values, dtype=np.float64)
    k = len(estimates)
    if p.shape != (k, k):
        raise ValueError(f"p_values has the shape {p.shape}; it must be ({k}, {k}) for {k} values")
    if np.isnan(estimates).any():
        raise ValueError("a value is NaN; omit it from the ranking")
    if not np.allclose(p[np.triu_indices(k, 1)], p.T[np.triu_indices(k, 1)], equal_nan=True):
        raise ValueError("p_values is not symmetric; pass the two-sided p of each pair")
    one_sided = np.where(estimates[:, None] > estimates[None, :], p / 2, 1 - p / 2)
    np.fill_diagonal(one_sided, np.nan)
    return one_sided


def _better_and_worse(
    one_sided: NDArray[np.float64], row: int, level: float
) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """Values that are significantly higher and lower than that of a row, for tests of this row only."""
    family = np.stack([one_sided[:, row], one_sided[row]])
    above, below = np.nan_to_num(corrected(family), nan=1.0) <= 1 - level
    return above, below


class Ranks(NamedTuple):
    """Ranks of values, their intervals and groups of ties; 1 is the highest value.

    Attributes
    ----------
    rank : array (k,) of int
        Rank of the estimate; equal estimates share the best of their ranks. -1 for NaN.
    best, worst : array (k,) of int
        Limits of the interval; -1 for NaN.
    letters : tuple of k tuples of str
        Groups of each value, ``'a'`` to ``'z'``, then ``'aa'``…: two values differ significantly if they have no letter
        in common. Empty for NaN and for values that are not tested, and for all values if there are too many groups.
    groups : tuple of tuple of int
        Positions of the values of each group, the highest value first, in the order of the letters.
    too_many_groups : bool
        Whether groups were left out because there are too many.
    tested : array (k,) of bool
        Whether the value was tested against any other.
    """

    rank: NDArray[np.int64]
    best: NDArray[np.int64]
    worst: NDArray[np.int64]
    letters: tuple[tuple[str, ...], ...]
    groups: tuple[tuple[int, ...], ...]
    too_many_groups: bool
    tested: NDArray[np.bool_]


def ranks_from_influence(
    values: ArrayLike,
    influences: Sequence[ArrayLike],
    *,
    units: Sequence[float] | None = None,
    twice: Sequence[ArrayLike | None] | None = None,
    level: float = 0.95,
    simultaneous: bool = True,
    n_draws: int = 1000,
    seed: int = 0,
    most_groups: int = 702,
) -> Ranks:
    """Rank values by tests of all differences, from the influence of the units that they were measured on.

    Parameters
    ----------
    values : array (k,)
        Estimates; a higher value has a lower rank. A NaN value has no rank and is not tested.
    influences : sequence of array (k, units)
        For each kind of units (stimuli, neuroids, subjects …), how each unit influences each value, so that the sum of
        the squares is the variance that this kind contributes. The variances of the kinds are added. A value with NaN
        influence is ranked but not tested, so its interval contains all ranks.
    units : sequence of float, optional
        Number of independent units of each kind, if it is not the number of columns; infinite if the variance is known,
        such as that of ceilings with known errors.
    twice : sequence of array (k, sums) or None, optional
        For each kind of units, what other kinds contain as well: its variance is subtracted.
    level : float
        Probability with which all intervals together contain the true ranks.
    simultaneous : bool
        Whether the confidence holds for all intervals together, or for each separately.
    n_draws : int
        Number of draws from the joint distribution of the errors.
    seed : int
        Seed of the draws.
    most_groups : int
        If there are more groups, none is returned; 702 groups have up to two letters.

    Raises
    ------
    ValueError
        If shapes differ, a value is infinite, or `level` is not between 0 and 1.

    See Also
    --------
    rank_intervals : the same with Holm's correction, for p-values of any test.

    Notes
    -----
    Each ordered pair of values is tested one-sidedly: t = difference / standard error of the difference, in which the
    influence of a unit on one value is subtracted from that on the other. The smallest t that is significant is the
    quantile of the largest one without any difference [1]_: the influences are multiplied by random normal weights, the
    same for all values, so that dependent tests are not corrected as if they were independent; significant pairs are
    removed until none is found [2]_. The best rank is 1 + the number of significantly higher values, the worst the
    number of values − that of significantly lower ones [3]_.

    The variances are estimated from few units: t has Student's distribution, with degrees of freedom by Satterthwaite's
    formula over the kinds of units, at most those of a kind that contributes more than half, and is replaced by the
    normal deviate of the same probability before it is compared with the draws.

    The correlations of the tests are estimated from the same units. If a difference rests on fewer than
    :data:`MANY_UNITS` (degrees of freedom + 1), Holm's correction is used instead, which needs no correlations: with
    ten units and forty equal models, the quantile of the draws led to a false finding in a fifth of the experiments.

    If all units affect two values equally, their difference does not vary; they count as equal, whatever the values.

    References
    ----------
    .. [1] Romano & Wolf (2005). Journal of the American Statistical Association 100, 94–108.
       https://doi.org/10.1198/016214504000000539
    .. [2] Romano & Wolf (2005). Econometrica 73, 1237–1282. https://doi.org/10.1111/j.1468-0262.2005.00615.x
    .. [3] Mogstad, Romano, Shaikh & Wilhelm (2024). Review of Economic Studies 91, 476–518.
       https://doi.org/10.1093/restud/rdad006

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> answers = rng.standard_normal((3, 50)) * 0.1 + rng.standard_normal(50) + [[1.0], [0.5], [0.48]]
    >>> influence = (answers - answers.mean(axis=1, keepdims=True)) / np.sqrt(50 * 49)
    >>> found = ranks_from_influence(answers.mean(axis=1), [influence])
    >>> found.best.tolist(), found.worst.tolist()
    ([1, 2, 2], [1, 3, 3])
    >>> found.letters
    (('a',), ('b',), ('b',))
    """
    estimates = np.asarray(values, dtype=np.float64)
    arrays = [np.asarray(array, dtype=np.float64) for array in influences]
    sizes = [float(array.shape[-1]) for array in arrays] if units is None else list(map(float, units))
    if estimates.ndim != 1 or any(array.ndim != 2 or len(array) != len(estimates) for array in arrays):
        shapes = ", ".join(str(array.shape) for array in arrays)
        raise ValueError(f"values have the shape {estimates.shape}, influences {shapes}; each needs a row per value")
    if len(sizes) != len(arrays):
        raise ValueError(f"there are {len(arrays)} arrays of influences, but {len(sizes)} numbers of units")
    repeats = [
        None if array is None else np.asarray(array, dtype=np.float64) for array in twice or [None] * len(arrays)
    ]
    if np.isinf(estimates).any():
        raise ValueError("a value is infinite; use NaN for missing values")
    if not 0 < level < 1:
        raise ValueError(f"level is {level}; it must be between 0 and 1")
    tested = ~np.isnan(estimates)
    for array in arrays:
        tested &= np.isfinite(array).all(axis=1)
    rows = np.flatnonzero(tested)
    repeated = [None if array is None else array[rows] for array in repeats]
    differences = _Differences(estimates[rows], [array[rows] for array in arrays], sizes, repeated)
    better = np.zeros((len(estimates),) * 2, dtype=bool)
    rng = np.random.default_rng([seed, _OF_RANKS])
    better[np.ix_(rows, rows)] = differences.better(level, rng, n_draws, simultaneous=simultaneous)
    tested[rows] = differences.tests.any(axis=1)
    return _ranks(estimates, better, tested, most_groups)


def ranks_from_tests(
    values: ArrayLike,
    p_values: ArrayLike,
    *,
    level: float = 0.95,
    simultaneous: bool = True,
    most_groups: int | None = 702,
) -> Ranks:
    """Rank values by tests of pairs, corrected by Holm's method.

    The best rank is 1 + the number of significantly higher values, the worst k − the number of significantly lower
    values, with one-sided tests and a stepwise correction [1]_; here Holm's, which requires no joint distribution. If
    `simultaneous`, all intervals together contain the true ranks with probability `level`; if not, each interval does
    on its own, which suits a question about the rank of a single model.

    A NaN value has no rank and is not tested. `p_values` are as for :func:`significantly_better`; a pair without a test
    counts as not different. No groups are returned if there are more than `most_groups`.

    References
    ----------
    .. [1] Mogstad, Romano, Shaikh & Wilhelm (2024). Review of Economic Studies 91, 476–518.
       https://doi.org/10.1093/restud/rdad006

    Examples
    --------
    >>> p = np.array([[1, 0.001, 0.0001], [0.001, 1, 0.3], [0.0001, 0.3, 1]])
    >>> found = ranks_from_tests([0.9, 0.5, 0.45], p)
    >>> found.best.tolist(), found.worst.tolist(), found.letters
    ([1, 2, 2], [1, 3, 3], (('a',), ('b',), ('b',)))
    """
    estimates, p = np.asarray(values, dtype=np.float64), np.array(p_values, dtype=np.float64)
    np.fill_diagonal(p, np.nan)
    ranked = np.flatnonzero(~np.isnan(estimates))
    of_ranked = p[np.ix_(ranked, ranked)]
    better, tested = np.zeros(p.shape, dtype=bool), np.zeros(len(estimates), dtype=bool)
    better[np.ix_(ranked, ranked)] = significantly_better(
        estimates[ranked], of_ranked, level=level, simultaneous=simultaneous
    )
    tested[ranked] = np.isfinite(of_ranked).any(axis=1)
    ranks = _ranks(estimates, better, tested, most_groups)
    if not simultaneous:  # each interval is of the tests with its value only
        one_sided = _one_sided(estimates[ranked], of_ranked)
        for row, position in enumerate(ranked):
            above, below = _better_and_worse(one_sided, row, level)
            ranks.best[position], ranks.worst[position] = 1 + above.sum(), len(ranked) - below.sum()
    return ranks


def _ranks(estimates: Array, better: NDArray[np.bool_], tested: NDArray[np.bool_], most_groups: int | None) -> Ranks:
    """Ranks from the pairs of which the row is significantly higher than the column."""
    ranked = np.flatnonzero(~np.isnan(estimates))
    x, k = estimates[ranked], len(ranked)
    better = better[np.ix_(ranked, ranked)]
    rank, best, worst = (np.full(len(estimates), -1, dtype=np.int64) for _ in range(3))
    rank[ranked] = 1 + k - np.searchsorted(np.sort(x), x, side="right")
    best[ranked], worst[ranked] = 1 + better.sum(axis=0), k - better.sum(axis=1)
    letters: list[tuple[str, ...]] = [()] * len(estimates)
    lettered = np.flatnonzero(tested[ranked])
    members, x = ranked[lettered], x[lettered]
    different = better[np.ix_(lettered, lettered)]
    try:
        together = tie_matrix(x, different | different.T, most=most_groups)
    except TooManyGroups:
        return Ranks(rank, best, worst, tuple(letters), (), True, tested)
    names = [group_letters(number) for number in range(len(together))]
    for position, member in zip(members.tolist(), together.T, strict=True):
        letters[position] = tuple(names[number] for number in np.flatnonzero(member).tolist())
    order = np.argsort(-x, kind="stable")
    groups = tuple(tuple(members[order[row]].tolist()) for row in together[:, order])
    return Ranks(rank, best, worst, tuple(letters), groups, False, tested)


_OF_RANKS = 2005  # so that the weights are not the numbers of a simulation with the same seed
_SAME = 1e-10  # a variance below this share of those of the two values is rounding
_CHUNK_UNITS = 4096


class _Differences:
    """Tests of all ordered pairs of values.

    All are k × k: ``deviates``, the normal deviates of the differences, row minus column, 0 if there is no test; ``p``,
    their two-sided p, NaN if there is no test; ``tests``, the pairs that are tested. They rest on ``units``: the fewest
    degrees of freedom of a test, + 1.
    """

    def __init__(
        self, values: Array, parts: Sequence[Array], sizes: Sequence[float], twice: Sequence[Array | None]
    ) -> None:
        k = len(values)
        self._values, self._parts = values, parts
        variance, squared, of_draws, largest = (np.zeros((k, k)) for _ in range(4))
        of_most, df_of_most = np.zeros((k, k)), np.full((k, k), np.inf)  # of the kind that contributes most
        for kind_influences, size, repeated in zip(parts, sizes, twice, strict=True):
            of_part, squared_lengths = _squared_distances(kind_influences)
            largest += squared_lengths
            of_draws += of_part
            if repeated is not None:
                of_part = remaining_variance(of_part, _squared_distances(repeated)[0], size)
            variance += of_part
            squared += of_part**2 / max(size - 1, 1)
            df_of_most[of_part > of_most] = max(size - 1, 1)
            np.maximum(of_most, of_part, out=of_most)
        with np.errstate(divide="ignore", invalid="ignore"):
            df = np.where(squared > 0, variance**2 / squared, np.inf)
            df = np.where(of_most > variance / 2, np.minimum(df, df_of_most), df)
            t = (values[:, None] - values) / np.sqrt(variance)
        self.tests = variance > _SAME * largest
        np.fill_diagonal(self.tests, False)
        self.units = 1 + float(df[self.tests].min(initial=np.inf))
        t, df = np.where(self.tests, t, 0.0), np.where(self.tests, df, np.inf)
        p = np.where(np.isfinite(df), stdtr(np.where(np.isfinite(df), df, 1.0), -np.abs(t)), ndtr(-np.abs(t)))
        self.deviates = -np.sign(t) * ndtri(p)
        self.p = np.where(self.tests, 2 * p, np.nan)
        with np.errstate(divide="ignore"):
            self._scale = np.where(self.tests, 1 / np.sqrt(of_draws), 0.0)

    def better(self, level: float, rng: np.random.Generator, n_draws: int, *, simultaneous: bool) -> NDArray[np.bool_]:
        """Pairs of which the row is significantly higher."""
        if self.units < MANY_UNITS - 1e-9:
            return significantly_better(self._values, self.p, level=level, simultaneous=simultaneous)
        family = self._better_together if simultaneous else self._better_each
        return family(level, rng, n_draws)

    def _better_together(self, level: float, rng: np.random.Generator, n_draws: int) -> NDArray[np.bool_]:
        """Pairs of which the row is significantly higher, tested together by step-down."""
        better = np.zeros(self.tests.shape, dtype=bool)
        if not self.tests.any():
            return better
        draws = self._draws(rng, n_draws)
        scale = self._scale.astype(np.float32)
        largest, where = np.zeros(n_draws, dtype=np.float32), np.full(n_draws, -1)
        outdated = np.arange(n_draws)
        table = np.empty(scale.shape, dtype=np.float32)
        while True:
            for draw in outdated.tolist():
                np.subtract(draws[draw][:, None], draws[draw], out=table)
                table *= scale
                where[draw] = table.argmax()
                largest[draw] = table.flat[where[draw]]
            more = self.tests & (self.deviates > _quantile(largest, level)) & ~better
            if not more.any():
                return better
            better |= more
            scale[more] = 0.0
            outdated = np.flatnonzero(more.flat[where])

    def _better_each(self, level: float, rng: np.random.Generator, n_draws: int) -> NDArray[np.bool_]:
        """The same with a family of tests for each value: those with it on either side."""
        better = np.zeros(self.tests.shape, dtype=bool)
        draws = self._draws(rng, n_draws).astype(np.float64)
        for row in np.flatnonzero(self.tests.any(axis=1)).tolist():
            table = (draws[:, [row]] - draws) * self._scale[row]
            pairs = np.concatenate([table, -table], axis=1)  # the value is higher, the other is higher
            deviates = np.concatenate([self.deviates[row], -self.deviates[row]])
            open_ = np.tile(self.tests[row], 2)
            while open_.any():
                more = open_ & (deviates > _quantile(pairs[:, open_].max(axis=1), level))
                if not more.any():
                    break
                open_ &= ~more
                above, below = np.split(more, 2)
                better[row] |= above
                better[:, row] |= below
        return better

    def _draws(self, rng: np.random.Generator, n_draws: int) -> NDArray[np.float32]:
        """Errors of the values (draws × values): their influences times random weights of the units."""
        draws = np.zeros((n_draws, len(self.tests)))
        for kind_influences in self._parts:
            for start in range(0, kind_influences.shape[1], _CHUNK_UNITS):
                some = kind_influences[:, start : start + _CHUNK_UNITS]
                draws += rng.standard_normal((n_draws, some.shape[1])) @ some.T
        return draws.astype(np.float32)


def _squared_distances(rows: Array) -> tuple[Array, Array]:
    """Squared distances of all pairs of rows, and sums of their squared lengths."""
    gram = rows @ rows.T
    squares = np.diagonal(gram)
    lengths = squares[:, None] + squares
    return np.maximum(lengths - 2 * gram, 0.0), lengths


def _quantile(draws: NDArray[np.floating], level: float) -> float:
    """The quantile with the next higher probability, counting the data as one of the draws."""
    position = min(int(np.ceil((len(draws) + 1) * level)), len(draws)) - 1
    return float(np.partition(draws, position)[position])


def group_letters(number: int) -> str:
    """Name a group by letters, given its position from 0.

    Examples
    --------
    >>> [group_letters(number) for number in (0, 25, 26, 701, 702)]
    ['a', 'z', 'aa', 'zz', 'aaa']
    """
    letters = ""
    number += 1
    while number:
        number, digit = divmod(number - 1, 26)
        letters = chr(ord("a") + digit) + letters
    return letters
