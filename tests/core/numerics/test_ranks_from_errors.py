import numpy as np
import pytest
from scipy.stats import norm

from brainscore_core.numerics import rank_intervals, tie_groups
from brainscore_core.numerics.ranks import group_letters, ranks_from_errors, significantly_better

NAN = float("nan")


def two_sided(values, errors):
    return 2 * norm.sf(np.abs(values[:, None] - values) / np.sqrt(errors[:, None] ** 2 + errors**2))


@pytest.mark.parametrize("level", [0.8, 0.95])
@pytest.mark.parametrize("k", [1, 2, 7, 40])
def test_they_are_the_ranks_of_the_tests(k, level):
    rng = np.random.default_rng(k)
    for _ in range(5):
        values, errors = np.round(rng.random(k), 1), 0.08 * np.exp(0.4 * rng.standard_normal(k))
        errors[rng.random(k) < 0.1] = np.nan
        p = two_sided(values, errors)
        found = ranks_from_errors(values, errors, level=level)
        made = list(zip(found.rank.tolist(), found.best.tolist(), found.worst.tolist(), strict=True))
        assert made == [tuple(one) for one in rank_intervals(values, p, level=level)]
        different = significantly_better(values, p, level=level)
        assert list(found.groups) == tie_groups(values, different | different.T)
        together = [[bool(set(a) & set(b)) for b in found.letters] for a in found.letters]
        np.testing.assert_array_equal(together, ~(different | different.T))
        assert not found.too_many_groups


def test_letters_are_in_order():
    found = ranks_from_errors([0.1, 0.9, 0.5, 0.52], [0.01, 0.01, 0.01, 0.01])
    assert found.letters == (("c",), ("a",), ("b",), ("b",))
    assert found.groups == ((1,), (3, 2), (0,))
    many = ranks_from_errors(np.arange(30, 0, -1), np.full(30, 1e-3))
    assert [letters for (letters,) in many.letters][24:28] == ["y", "z", "aa", "ab"]
    assert [group_letters(number) for number in (51, 52, 701, 702)] == ["az", "ba", "zz", "aaa"]


def test_equal_values_share_the_best_rank():
    found = ranks_from_errors([0.5, 0.7, 0.5, 0.2], [0.1] * 4)
    assert found.rank.tolist() == [2, 1, 2, 4]


def test_what_is_no_value_changes_nothing_else():
    values, errors = np.array([0.9, 0.5, 0.1]), np.array([0.01, 0.01, 0.01])
    alone = ranks_from_errors(values, errors)
    found = ranks_from_errors([NAN, 0.9, 0.5, NAN, 0.1], [0.01, 0.01, 0.01, NAN, 0.01])
    for name in ("rank", "best", "worst"):
        assert getattr(found, name).tolist() == np.insert(getattr(alone, name), [0, 2], -1).tolist()
    assert found.letters == ((), ("a",), ("b",), (), ("c",))
    assert found.groups == ((1,), (2,), (4,))


def test_a_value_without_error_is_not_told_apart():
    found = ranks_from_errors([0.9, 0.5, 0.1], [0.01, NAN, 0.01])
    assert found.rank.tolist() == [1, 2, 3]
    assert (found.best.tolist(), found.worst.tolist()) == ([1, 1, 2], [2, 3, 3])
    assert found.letters == (("a",), ("a", "b"), ("b",))


def test_exact_values():
    found = ranks_from_errors([0.9, 0.5, 0.5, 0.1], [0, 0, 0, 0])
    assert (found.best.tolist(), found.worst.tolist()) == ([1, 2, 2, 4], [1, 3, 3, 4])
    mixed = ranks_from_errors([0.5, 0.5, 0.4], [0, NAN, 0])
    assert mixed.letters == (("a",), ("a", "b"), ("b",))


def test_without_values():
    for values in ([], [NAN, NAN]):
        found = ranks_from_errors(values, values)
        assert found.rank.tolist() == [-1] * len(values)
        assert found.letters == ((),) * len(values)
        assert found.groups == ()


def test_more_groups_than_asked_for():
    found = ranks_from_errors(np.arange(10), np.full(10, 1e-3), most_groups=9)
    assert found.too_many_groups
    assert (found.groups, found.letters) == ((), ((),) * 10)
    assert found.best.tolist() == list(range(10, 0, -1))
    assert not ranks_from_errors(np.arange(10), np.full(10, 1e-3), most_groups=10).too_many_groups


def test_a_thousand_values():
    rng = np.random.default_rng(0)
    values, errors = rng.random(1000), np.full(1000, 0.02)
    found = ranks_from_errors(values, errors)
    assert sorted(found.rank.tolist()) == list(range(1, 1001))
    assert ((found.best <= found.rank) & (found.rank <= found.worst)).all()
    # with equal errors what was told apart from a value lies beyond a limit on each side: groups are runs
    place = np.argsort(np.argsort(-values))
    for group in found.groups:
        run = place[list(group)]
        assert run.tolist() == list(range(run[0], run[0] + len(group)))


@pytest.mark.parametrize(("covariance", "least", "most"), [(0.0, 0.94, 1.0), (0.8, 0.99, 1.0)])
def test_intervals_hold_all_true_ranks_at_once(covariance, least, most):
    """More than that where errors go together, as those on shared stimuli do; and then they are too wide."""
    rng = np.random.default_rng(0)
    true = np.array([0, 0, 0, 0, 0.5, 0.6, 0.9, 1.2, 1.21, 1.3, 2, 3])
    best = 1 + (true[None, :] > true[:, None]).sum(axis=1)
    worst = (true[None, :] >= true[:, None]).sum(axis=1)
    errors = np.linspace(0.1, 0.3, 12)
    held = []
    for _ in range(300):
        shared, own = rng.standard_normal(), rng.standard_normal(12)
        noise = errors * (np.sqrt(covariance) * shared + np.sqrt(1 - covariance) * own)
        found = ranks_from_errors(true + noise, errors)
        held.append(((found.best <= best) & (worst <= found.worst)).all())
    assert least <= np.mean(held) <= most


@pytest.mark.parametrize(
    ("values", "errors", "level", "match"),
    [
        ([1, 2], [1], 0.95, "shape"),
        ([[1, 2]], [[1, 2]], 0.95, "shape"),
        ([np.inf, 2], [1, 1], 0.95, "a value is infinite"),
        ([1, 2], [1, -1], 0.95, "an error is negative"),
        ([1, 2], [1, np.inf], 0.95, "an error is negative or infinite"),
        ([1, 2], [1, 1], 1.0, "level is 1.0"),
    ],
)
def test_arguments(values, errors, level, match):
    with pytest.raises(ValueError, match=match):
        ranks_from_errors(values, errors, level=level)
