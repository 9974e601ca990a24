import numpy as np
import pytest
from scipy import stats

from brainscore_core.numerics.significance import paired_summary

NAN = float("nan")


def test_the_mean_is_tested_as_by_scipy():
    rng = np.random.default_rng(0)
    first, second = rng.random(20), rng.random(20) + 0.1
    differences = first - second
    found = paired_summary(np.append(differences, NAN), np.full(21, 0.1), level=0.9)
    expected = stats.ttest_rel(first, second)
    interval = expected.confidence_interval(0.9)
    assert found.n == 20
    assert found.mean.difference == pytest.approx(differences.mean(), abs=1e-15)
    assert (found.mean.p, found.mean.df) == (pytest.approx(expected.pvalue, rel=1e-9), 19)
    assert (found.mean.low, found.mean.high) == pytest.approx((interval.low, interval.high), abs=1e-12)
    assert found.mean.error == pytest.approx(stats.sem(differences), rel=1e-12)


def test_wins_are_benchmarks_whose_interval_is_above_zero():
    limit = stats.norm.ppf(0.975)
    differences = [limit + 0.01, limit - 0.01, -limit - 0.01, -limit + 0.01, 0.0, 5.0, NAN, np.inf]
    errors = [1, 1, 1, 1, 1, NAN, 1, 1]
    found = paired_summary(differences, errors)
    assert found.outcomes == ("win", "tie", "loss", "tie", "tie", "untested", None, None)
    assert (found.n, found.wins, found.ties, found.losses, found.untested) == (6, 1, 3, 1, 1)
    assert found.limits[0] == pytest.approx([0.01, 2 * limit + 0.01])
    assert np.isnan(found.limits[5:]).all()
    assert paired_summary(differences, errors, level=0.9).wins == 2
    assert found.mean.difference == pytest.approx(5 / 6)  # that without an error counts, too


def test_the_other_way_round():
    rng = np.random.default_rng(1)
    differences, errors = rng.standard_normal(30), rng.random(30)
    errors[:4] = NAN
    one, other = paired_summary(differences, errors), paired_summary(-differences, errors)
    assert (one.wins, one.ties, one.losses, one.untested) == (other.losses, other.ties, other.wins, other.untested)
    assert one.wins + one.ties + one.losses + one.untested == one.n == 30
    assert one.mean.low == pytest.approx(-other.mean.high)


def test_without_a_difference_as_many_are_counted_as_the_level_lets():
    rng = np.random.default_rng(2)
    errors = rng.uniform(0.5, 2, 20_000)
    found = paired_summary(errors * rng.standard_normal(20_000), errors)
    assert found.wins / found.n == pytest.approx(0.025, abs=0.005)
    assert found.losses / found.n == pytest.approx(0.025, abs=0.005)


def test_exact_differences():
    assert paired_summary([0.1, 0.0, -0.1], [0, 0, 0]).outcomes == ("win", "tie", "loss")


@pytest.mark.parametrize("differences", [[], [NAN], [0.2], [0.2, 0.3], [0.1, 0.1, 0.1]])
def test_an_interval_that_is_not_there_has_a_reason(differences):
    found = paired_summary(differences, [0.01] * len(differences))
    assert found.n == found.wins == np.isfinite(differences).sum()
    assert np.isnan([found.mean.low, found.mean.high, found.mean.p]).all()
    assert found.mean.reason
    if found.n:
        assert found.mean.difference == pytest.approx(np.mean(differences))


@pytest.mark.parametrize(
    ("differences", "errors", "level", "match"),
    [
        ([1, 2], [1], 0.95, "shape"),
        ([1, 2], [1, -1], 0.95, "an error is negative"),
        ([1, 2], [1, 1], 0, "level is 0"),
    ],
)
def test_arguments(differences, errors, level, match):
    with pytest.raises(ValueError, match=match):
        paired_summary(differences, errors, level=level)
