import numpy as np
import pytest
from scipy.stats import norm, t

from brainscore_core.numerics import ranks_from_influence
from brainscore_core.numerics.ranks import significantly_better, tie_matrix

NAN = float("nan")


def drawn(seed, k, units, *, spread=1.0, shared=1.0):
    """Means over units, some of which all values share, and the influence of each unit."""
    rng = np.random.default_rng([seed, k, units])
    each = spread * rng.standard_normal((k, units)) + shared * rng.standard_normal(units)
    return each.mean(axis=1), (each - each.mean(axis=1, keepdims=True)) / np.sqrt(units * (units - 1))


def directly(values, parts, level, n_draws=400, seed=0):
    """Romano & Wolf's step-down over all ordered pairs, pair by pair."""
    k = len(values)
    rng = np.random.default_rng([seed, 2005])
    errors = sum(rng.standard_normal((n_draws, part.shape[1])) @ part.T for part in parts)
    pairs, deviate, draws = [], {}, {}
    for i in range(k):
        for j in range(k):
            each = [float(np.sum((part[i] - part[j]) ** 2)) for part in parts]
            if i == j or sum(each) == 0:
                continue
            df = sum(each) ** 2 / sum(one**2 / (part.shape[1] - 1) for one, part in zip(each, parts, strict=True))
            largest, n = max((one, part.shape[1]) for one, part in zip(each, parts, strict=True))
            df = min(df, n - 1) if largest > sum(each) / 2 else df
            p = t.sf((values[i] - values[j]) / np.sqrt(sum(each)), df)
            pairs.append((i, j))
            deviate[i, j] = norm.isf(p)
            draws[i, j] = (errors[:, i] - errors[:, j]) / np.sqrt(sum(each))
    found = np.zeros((k, k), dtype=bool)
    while pairs:
        largest = np.sort(np.max([draws[pair] for pair in pairs], axis=0))
        limit = largest[int(np.ceil((n_draws + 1) * level)) - 1]
        more = [pair for pair in pairs if deviate[pair] > limit]
        if not more:
            break
        for pair in more:
            found[pair] = True
            pairs.remove(pair)
    return found


@pytest.mark.parametrize("level", [0.8, 0.95])
@pytest.mark.parametrize("k", [2, 4, 9])
def test_it_is_the_step_down_over_all_pairs(k, level):
    steps = []
    for seed in range(4):
        values, stimuli = drawn(seed, k, 80, spread=0.6)
        more, neuroids = drawn(seed + 100, k, 60, spread=0.5)
        values = values + more + 0.4 * np.arange(k)
        expected = directly(values, [stimuli, neuroids], level)
        found = ranks_from_influence(values, [stimuli, neuroids], level=level, n_draws=400)
        assert found.best.tolist() == (1 + expected.sum(axis=0)).tolist()
        assert found.worst.tolist() == (k - expected.sum(axis=1)).tolist()
        order = np.argsort(-values)
        groups = tie_matrix(values, expected | expected.T)[:, order]
        assert list(found.groups) == [tuple(order[row].tolist()) for row in groups]
        together = [[bool(set(a) & set(b)) for b in found.letters] for a in found.letters]
        np.testing.assert_array_equal(together, ~(expected | expected.T))
        steps.append(expected.sum())
    assert 0 < np.mean(steps) < k * (k - 1) / 2


def test_two_values_are_the_paired_t_test():
    """With one pair there is nothing to correct for, except that the smallest significant t is drawn."""
    rng = np.random.default_rng(1)
    for _ in range(20):
        values, influence = drawn(rng.integers(1000), 2, 60)
        difference = influence[0] - influence[1]
        p = 2 * t.sf(abs(values[0] - values[1]) / np.sqrt(np.sum(difference**2)), 59)
        if abs(p - 0.05) > 0.01:
            found = ranks_from_influence(values, [influence], n_draws=20_000)
            assert (found.groups[0] != (0, 1) and found.groups[0] != (1, 0)) == (p < 0.05)


def test_errors_that_models_share_cancel():
    """Independent errors of this size would tell nothing apart."""
    values, influence = drawn(3, 4, 40, spread=0.02, shared=5.0)
    values = np.mean(values) + np.array([0.3, 0.2, 0.1, 0.0])
    found = ranks_from_influence(values, [influence])
    assert found.best.tolist() == found.worst.tolist() == [1, 2, 3, 4]
    error = np.sqrt(np.sum(influence**2, axis=1))
    z = np.abs(values[:, None] - values) / np.hypot(error[:, None], error)
    assert not significantly_better(values, 2 * norm.sf(z)).any()


def test_another_order_of_values_changes_nothing_else():
    values, influence = drawn(5, 8, 40)
    values += np.linspace(0, 1.5, 8)
    order = np.random.default_rng(0).permutation(8)
    found = ranks_from_influence(values, [influence])
    other = ranks_from_influence(values[order], [influence[order]])
    for name in ("rank", "best", "worst"):
        np.testing.assert_array_equal(getattr(found, name)[order], getattr(other, name))
    assert [found.letters[place] for place in order] == list(other.letters)


def test_the_other_direction_mirrors_the_ranks():
    values, influence = drawn(6, 6, 40)
    values += np.linspace(0, 1.5, 6)
    found, mirrored = (ranks_from_influence(sign * values, [sign * influence]) for sign in (1, -1))
    np.testing.assert_array_equal(found.best, 7 - mirrored.worst)
    np.testing.assert_array_equal(found.worst, 7 - mirrored.best)


def test_exact_duplicates_are_ties():
    values, influence = drawn(7, 3, 40, spread=0.1)
    values = np.add(values, [0.0, 1.0, 2.0])
    found = ranks_from_influence(np.repeat(values, 2), [np.repeat(influence, 2, axis=0)])
    assert found.rank.tolist() == [5, 5, 3, 3, 1, 1]
    assert found.best.tolist() == [5, 5, 3, 3, 1, 1]
    assert found.worst.tolist() == [6, 6, 4, 4, 2, 2]
    assert found.letters == (("c",), ("c",), ("b",), ("b",), ("a",), ("a",))
    assert ranks_from_influence([0.5, 0.5], [np.zeros((2, 20))]).worst.tolist() == [2, 2]


def test_values_that_differ_by_nothing_that_varies_are_not_told_apart():
    _, influence = drawn(7, 1, 40)
    found = ranks_from_influence([0.2, 0.9], [np.repeat(influence, 2, axis=0)])
    assert (found.rank.tolist(), found.best.tolist(), found.worst.tolist()) == ([2, 1], [1, 1], [2, 2])
    assert not found.tested.any()


def test_a_value_without_influence_enters_no_test():
    values, influence = drawn(8, 3, 40, spread=0.1)
    values = np.add(values, [2.0, 1.0, 0.0])
    alone = ranks_from_influence(values[[0, 2]], [influence[[0, 2]]])
    assert alone.worst.tolist() == [1, 2]
    influence[1, 3] = NAN
    found = ranks_from_influence(values, [influence])
    assert found.rank.tolist() == [1, 2, 3]
    assert (found.best.tolist(), found.worst.tolist()) == ([1, 1, 2], [2, 3, 3])
    assert found.letters == (("a",), (), ("b",))
    assert found.tested.tolist() == [True, False, True]


def test_without_any_influence_no_rank_is_claimed():
    for influences in ([], [np.zeros((3, 0))], [np.full((3, 20), NAN)]):
        found = ranks_from_influence([0.1, 0.5, 0.9], influences)
        assert found.rank.tolist() == [3, 2, 1]
        assert (found.best.tolist(), found.worst.tolist()) == ([1, 1, 1], [3, 3, 3])
        assert found.letters == ((), (), ())
        assert found.groups == ()


def test_what_is_no_value_changes_nothing_else():
    values, influence = drawn(9, 3, 40, spread=0.1)
    values = np.add(values, [2.0, 1.0, 0.0])
    alone = ranks_from_influence(values, [influence])
    found = ranks_from_influence(np.insert(values, [0, 2], NAN), [np.insert(influence, [0, 2], 0.0, axis=0)])
    for name in ("rank", "best", "worst"):
        assert getattr(found, name).tolist() == np.insert(getattr(alone, name), [0, 2], -1).tolist()
    assert found.letters == ((), ("a",), ("b",), (), ("c",))


@pytest.mark.parametrize("values", [[], [NAN, NAN], [0.5]])
def test_without_values(values):
    found = ranks_from_influence(values, [np.zeros((len(values), 20))])
    assert found.best.tolist() == found.worst.tolist() == found.rank.tolist() == [-1 if v != v else 1 for v in values]
    assert not found.tested.any()


@pytest.mark.parametrize(("units", "models"), [(3, 5), (5, 12), (10, 40)])
def test_few_units_do_not_cause_false_findings(units, models):
    """The quantile of draws, whose correlations are estimated from so few units, finds some in 10 to 25 %."""
    draws = (drawn(seed, models, units) for seed in range(150))
    wrong = [(ranks_from_influence(values, [influence], n_draws=200).best > 1).any() for values, influence in draws]
    assert np.mean(wrong) < 0.05 + 2 * np.sqrt(0.05 * 0.95 / 150)


@pytest.mark.parametrize("simultaneous", [True, False])
def test_few_units_are_corrected_by_holm(simultaneous):
    values, influence = drawn(10, 6, 8, spread=0.3)
    values = np.add(values, np.arange(6) / 3)
    gram = influence @ influence.T
    error = np.sqrt(np.diag(gram)[:, None] + np.diag(gram) - 2 * gram)
    with np.errstate(invalid="ignore"):
        p = 2 * t.sf(np.abs(values[:, None] - values) / error, 7)
    found = ranks_from_influence(values, [influence], simultaneous=simultaneous)
    better = significantly_better(values, p, simultaneous=simultaneous)
    assert (found.best == 1 + better.sum(axis=0)).all()
    assert 0 < better.sum() < 15


def test_known_variances_widen_intervals():
    values, influence = drawn(12, 2, 200, spread=0.1)
    values = np.add(values, [0.1, 0.0])
    assert ranks_from_influence(values, [influence]).worst.tolist() == [1, 2]
    for ceilings, worst in (([[0.2], [0.0]], [2, 2]), ([[0.2], [0.2]], [1, 2])):
        found = ranks_from_influence(values, [influence, ceilings], units=[200, np.inf])
        assert found.worst.tolist() == worst


def test_intervals_for_one_value_alone_are_narrower():
    values, influence = drawn(13, 30, 50)
    values += np.linspace(0, 1, 30)
    together, each = (ranks_from_influence(values, [influence], simultaneous=one) for one in (True, False))
    assert ((each.best >= together.best) & (each.worst <= together.worst)).all()
    assert (each.worst - each.best).sum() < (together.worst - together.best).sum()


def test_more_groups_than_asked_for():
    values, influence = drawn(14, 12, 50, spread=1e-3)
    values = values + np.arange(12)
    found = ranks_from_influence(values, [influence], most_groups=11)
    assert found.too_many_groups
    assert found.groups == ()
    assert found.letters == ((),) * 12
    assert found.worst.tolist() == list(range(12, 0, -1))
    assert not ranks_from_influence(values, [influence], most_groups=12).too_many_groups


def test_false_positives():
    """Equal values, of units that they share: any difference found is wrong."""
    wrong = [(ranks_from_influence(*_pair(drawn(seed, 5, 60)), n_draws=400).best > 1).any() for seed in range(300)]
    assert np.mean(wrong) < 0.05 + 2 * np.sqrt(0.05 * 0.95 / 300)


def _pair(found):
    return found[0], [found[1]]


@pytest.mark.parametrize(
    ("values", "influences", "options", "message"),
    [
        ([0.1, 0.2], [np.zeros((3, 4))], {}, "row per value"),
        ([[0.1]], [np.zeros((1, 4))], {}, "row per value"),
        ([0.1, np.inf], [np.zeros((2, 4))], {}, "infinite"),
        ([0.1, 0.2], [np.zeros((2, 4))], {"level": 1.0}, "level"),
        ([0.1, 0.2], [np.zeros((2, 4))], {"units": [4, 5]}, "units"),
    ],
)
def test_invalid_arguments(values, influences, options, message):
    with pytest.raises(ValueError, match=message):
        ranks_from_influence(values, influences, **options)


def test_what_is_counted_twice_is_subtracted():
    """Two models that differ by 1.7 standard errors of both kinds of units, and by 2.4 without what both contain."""
    values = np.array([0.0, 1.7])
    units = np.zeros((2, 100))
    units[0] = np.sqrt(0.5 / 100)
    found = [
        ranks_from_influence(values, [units, units], twice=[None if share is None else share * units, None]).best[0]
        for share in (None, 1.0)
    ]
    assert found == [1, 2]
