import numpy as np
import pytest

from brainscore_core.numerics import corrected
from brainscore_core.numerics.ranks import ranks_from_tests, significantly_better, tie_matrix

SURE, OPEN = 1e-9, 0.9


def tie_groups(values, different):
    """Positions of the members of each group, the highest value first."""
    order = np.argsort(-np.asarray(values, dtype=float), kind="stable")
    return [tuple(order[row].tolist()) for row in tie_matrix(np.asarray(values, dtype=float), different)[:, order]]


def table(*pairs, k):
    """p-values that are sure for some pairs, and open for the others."""
    p = np.full((k, k), OPEN)
    for i, j in pairs:
        p[i, j] = p[j, i] = SURE
    return p


def intervals(values, p, **options):
    found = ranks_from_tests(values, p, **options)
    return list(zip(found.rank.tolist(), found.best.tolist(), found.worst.tolist(), strict=True))


@pytest.mark.parametrize(
    ("values", "sure", "expected"),
    [
        ([0.5], [], [(1, 1, 1)]),
        ([0.2, 0.8], [(0, 1)], [(2, 2, 2), (1, 1, 1)]),
        ([0.2, 0.8], [], [(2, 1, 2), (1, 1, 2)]),
        ([0.9, 0.5, 0.1], [(0, 1), (0, 2), (1, 2)], [(1, 1, 1), (2, 2, 2), (3, 3, 3)]),
        ([0.9, 0.5, 0.1], [(0, 2)], [(1, 1, 2), (2, 1, 3), (3, 2, 3)]),
        ([0.5, 0.5, 0.1], [], [(1, 1, 3), (1, 1, 3), (3, 1, 3)]),
        ([0.4, 0.3, 0.2, 0.1], [(0, 2), (0, 3), (1, 3)], [(1, 1, 2), (2, 1, 3), (3, 2, 4), (4, 3, 4)]),
    ],
)
@pytest.mark.parametrize("simultaneous", [True, False])
def test_ranks(values, sure, expected, simultaneous):
    assert intervals(values, table(*sure, k=len(values)), simultaneous=simultaneous) == expected


@pytest.mark.parametrize(
    ("values", "different", "expected"),
    [
        ([0.3, 0.9, 0.6], [], [(1, 2, 0)]),
        ([0.9, 0.8, 0.7], [(0, 2)], [(0, 1), (1, 2)]),
        ([0.9, 0.8, 0.7], [(0, 1), (0, 2), (1, 2)], [(0,), (1,), (2,)]),
        ([0.9, 0.8, 0.7, 0.6], [(0, 2), (0, 3), (1, 3)], [(0, 1), (1, 2), (2, 3)]),
        ([0.9, 0.8, 0.7], [(0, 1)], [(0, 2), (1, 2)]),  # the middle one varied less
        ([], [], []),
    ],
)
def test_groups(values, different, expected):
    assert tie_groups(values, table(*different, k=len(values)) == SURE) == expected


def test_groups_hold_every_pair_that_was_not_told_apart():
    rng = np.random.default_rng(0)
    for _ in range(30):
        different = np.triu(rng.random((7, 7)) < 0.4, 1)
        different |= different.T
        groups = tie_groups(rng.random(7), different)
        together = np.zeros((7, 7), dtype=bool)
        for group in groups:
            together[np.ix_(group, group)] = True
        np.testing.assert_array_equal(together, ~different)
        assert not any(set(a) < set(b) for a in groups for b in groups)


def test_one_rank_alone_is_surer_than_all_together():
    values = np.arange(8, 0, -1.0)
    p = np.full((8, 8), 0.003)
    together, alone = (ranks_from_tests(values, p, simultaneous=simultaneous) for simultaneous in (True, False))
    assert np.sum(alone.worst - alone.best) < np.sum(together.worst - together.best)
    assert (significantly_better(values, p) <= significantly_better(values, p, simultaneous=False)).all()


def test_intervals_hold_all_true_ranks_at_once():
    """Twelve means, four of them equal; tests of normal means with known variance."""
    from scipy.stats import norm

    rng = np.random.default_rng(0)
    true = np.array([0, 0, 0, 0, 0.5, 0.6, 0.9, 1.2, 1.21, 1.3, 2, 3])
    best = 1 + (true[None, :] > true[:, None]).sum(axis=1)
    worst = (true[None, :] >= true[:, None]).sum(axis=1)
    held = 0
    for _ in range(400):
        estimates = true + 0.2 * rng.standard_normal(12)
        p = 2 * norm.sf(np.abs(estimates[:, None] - estimates) / (0.2 * np.sqrt(2)))
        found = ranks_from_tests(estimates, p)
        held += bool(((found.best <= best) & (worst <= found.worst)).all())
    assert held / 400 >= 0.95


def test_what_was_not_tested_is_not_told_apart():
    p = np.array([[np.nan, SURE, np.nan], [SURE, np.nan, np.nan], [np.nan, np.nan, np.nan]])
    assert intervals([3, 2, 1], p) == [(1, 1, 2), (2, 2, 3), (3, 1, 3)]


@pytest.mark.parametrize(
    ("values", "p", "match"),
    [
        ([1, 2], np.ones((3, 3)), "shape"),
        ([1, np.nan], np.ones((2, 2)), "NaN"),
        ([1, 2], [[1, 0.5], [0.4, 1]], "symmetric"),
    ],
)
def test_arguments(values, p, match):
    with pytest.raises(ValueError, match=match):
        significantly_better(values, p)


def groups_by_insertion_and_absorption(values, different):
    """Piepho's algorithm, as published."""
    k = len(values)
    groups = [frozenset(range(k))] if k else []
    for i, j in zip(*np.nonzero(np.triu(different, 1)), strict=True):
        split = []
        for group in groups:
            split += [group - {i}, group - {j}] if {i, j} <= group else [group]
        groups = [one for one in dict.fromkeys(split) if not any(one < other for other in split)]
    position = {member: rank for rank, member in enumerate(np.argsort(-np.asarray(values), kind="stable").tolist())}
    listed = [tuple(sorted(group, key=position.__getitem__)) for group in groups]
    return sorted(listed, key=lambda group: [position[member] for member in group])


@pytest.mark.parametrize("share", [0.05, 0.3, 0.6, 0.9, 1.0])
def test_groups_are_those_of_insertion_and_absorption(share):
    rng = np.random.default_rng(int(100 * share))
    for k in (0, 1, 2, 3, 5, 8, 9, 13):
        for _ in range(8):
            values = rng.integers(0, k + 1, k) / 4  # some are equal
            different = np.triu(rng.random((k, k)) < share, 1)
            different |= different.T
            assert tie_groups(values, different) == groups_by_insertion_and_absorption(values, different)


def test_groups_of_values_with_errors_are_those_of_insertion_and_absorption():
    rng = np.random.default_rng(1)
    for _ in range(10):
        values, errors = rng.random(25), 0.05 * np.exp(0.5 * rng.standard_normal(25))
        different = np.abs(values[:, None] - values) > 2.5 * np.hypot(errors[:, None], errors)
        assert tie_groups(values, different) == groups_by_insertion_and_absorption(values, different)


@pytest.mark.parametrize("level", [0.5, 0.9, 0.95])
def test_what_is_found_is_what_holm_finds(level):
    rng = np.random.default_rng(2)
    for k in (1, 2, 6, 20):
        for _ in range(10):
            p = np.round(rng.random((k, k)) ** 6, 3)  # many are equal, some 0
            p = np.where(rng.random((k, k)) < 0.1, np.nan, p)
            p = np.triu(p, 1) + np.triu(p, 1).T
            values = rng.integers(0, k, k)
            one_sided = np.where(values[:, None] > values, p / 2, 1 - p / 2)
            np.fill_diagonal(one_sided, np.nan)
            expected = np.nan_to_num(corrected(one_sided), nan=1.0) <= 1 - level
            np.testing.assert_array_equal(significantly_better(values, p, level=level), expected)


@pytest.mark.parametrize("simultaneous", [True, False])
def test_ranks_beside_a_value_without_tests(simultaneous):
    rng = np.random.default_rng(0)
    values = np.sort(rng.standard_normal(8))[::-1]
    p = np.exp(-8 * np.abs(values[:, None] - values))
    p[2, 5] = p[5, 2] = np.nan
    found = ranks_from_tests(np.insert(values, 3, np.nan), np.insert(np.insert(p, 3, 0.0, 0), 3, 0.0, 1),
                             simultaneous=simultaneous)  # fmt: skip
    ranked = np.delete(np.arange(9), 3)
    limits = zip(found.rank[ranked], found.best[ranked], found.worst[ranked], strict=True)
    assert list(limits) == intervals(values, p, simultaneous=simultaneous)
    better = significantly_better(values, p, simultaneous=simultaneous)
    assert [tuple(np.searchsorted(ranked, group)) for group in found.groups] == tie_groups(values, better | better.T)
    assert (found.rank[3], found.letters[3], bool(found.tested[3])) == (-1, (), False)
