import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from brainscore_core.numerics import influence_interval, jackknife_influence, mean_influence, paired_test, with_ceiling
from brainscore_core.numerics.significance import student_test


@pytest.fixture
def pair():
    rng = np.random.default_rng(0)
    shared = rng.standard_normal(30)
    return shared + rng.standard_normal(30) + 0.4, shared + rng.standard_normal(30)


def test_of_two_means_is_scipys_paired_t_test(pair):
    first, second = pair
    ours = paired_test(first.mean() - second.mean(), mean_influence(first) - mean_influence(second), level=0.9)
    theirs = stats.ttest_rel(first, second)
    assert ours.p == pytest.approx(theirs.pvalue, abs=1e-12)
    assert (ours.low, ours.high) == pytest.approx(tuple(theirs.confidence_interval(0.9)), abs=1e-12)
    assert ours.df == theirs.df


def test_of_unpaired_means_is_welchs_test(pair):
    first, second = pair[0], pair[1][:17] * 2
    ours = paired_test(first.mean() - second.mean(), mean_influence(first), unpaired=mean_influence(second))
    theirs = stats.ttest_ind(first, second, equal_var=False)
    assert ours.p == pytest.approx(theirs.pvalue, abs=1e-12)
    assert ours.df == pytest.approx(theirs.df)
    assert (ours.low, ours.high) == pytest.approx(tuple(theirs.confidence_interval()), abs=1e-12)


def test_agrees_with_permutations_and_bootstrap(pair):
    def statistic(x, y, axis=-1):
        return x.mean(axis=axis) - y.mean(axis=axis)

    ours = paired_test(statistic(*pair), mean_influence(pair[0]) - mean_influence(pair[1]))
    options = {"vectorized": True, "n_resamples": 9999, "random_state": np.random.default_rng(0)}
    permuted = stats.permutation_test(pair, statistic, permutation_type="samples", **options)
    assert ours.p == pytest.approx(permuted.pvalue, abs=0.01)
    drawn = stats.bootstrap(pair, statistic, paired=True, method="percentile", **options)
    assert ours.error == pytest.approx(drawn.standard_error, rel=0.05)


def test_two_kinds_of_units_of_an_additive_table():
    rng = np.random.default_rng(1)
    rows, columns = rng.standard_normal(12), rng.standard_normal(15)
    table = rows[:, None] + columns
    expected = np.sqrt(rows.var(ddof=1) / 12 + columns.var(ddof=1) / 15)
    assert paired_test(table.mean(), table - table.mean()).error == pytest.approx(expected)


def test_two_kinds_of_units_are_not_counted_twice():
    """The error is that of the mean over repeated experiments, with an interaction that resampling both triples."""
    rng = np.random.default_rng(2)
    variances = []
    for _ in range(400):
        table = rng.standard_normal((20, 1)) + 0.5 * rng.standard_normal((1, 15)) + 3 * rng.standard_normal((20, 15))
        variances.append(paired_test(table.mean(), table - table.mean()).error ** 2)
    assert np.mean(variances) == pytest.approx(1 / 20 + 0.25 / 15 + 9 / 300, rel=0.05)


@pytest.mark.parametrize(
    ("influence", "difference", "reason"),
    [
        ([0.1, -0.1], 0.2, "2 units"),
        (np.zeros((2, 9)), 0.2, "2 units"),
        ([0.0, 0.0, 0.0], 0.2, "do not vary"),
        ([0.1, np.nan, 0.2], 0.2, "undefined"),
        ([0.1, -0.3, 0.2], np.nan, "undefined"),
    ],
)
def test_what_cannot_be_tested_has_a_reason(influence, difference, reason):
    test = paired_test(difference, influence)
    assert np.isnan([test.low, test.high, test.p, test.error]).all()
    assert reason in test.reason


def test_a_model_and_itself():
    test = paired_test(0.0, np.zeros(5))
    assert (test.difference, test.low, test.high, test.p) == (0, 0, 0, 1)


def test_arguments():
    with pytest.raises(ValueError, match="level"):
        paired_test(0.1, [1, 2, 3], level=95)
    with pytest.raises(ValueError, match="shape"):
        paired_test(0.1, np.zeros((3, 3, 3)))


def test_jackknife_of_a_mean_is_its_influence():
    values = np.random.default_rng(0).standard_normal(9)
    np.testing.assert_allclose(
        jackknife_influence(values, lambda x, axis: x.mean(axis=axis)), mean_influence(values), atol=1e-12
    )
    assert np.isnan(jackknife_influence([1.0], lambda x, axis: x.mean(axis=axis))).all()


def test_undefined_values_do_nothing_to_a_mean():
    values = np.array([0.2, np.nan, 0.8, 0.5])
    influence = mean_influence(values)
    assert influence[1] == 0
    expected = np.nanstd(values, ddof=1) / np.sqrt(3)
    assert influence_interval(0.5, influence).error == pytest.approx(expected, rel=0.2)
    assert np.isnan(mean_influence([np.nan, np.nan])).all()


@given(
    difference=st.floats(-2, 2),
    error=st.floats(0.01, 1),
    relative=st.floats(0, 0.6),
    level=st.sampled_from([0.8, 0.95, 0.99]),
)
def test_the_ceiling_does_not_decide_whether_there_is_a_difference(difference, error, relative, level):
    plain = student_test(difference, error**2, 40, level=level)
    wider = with_ceiling(plain, relative, level=level)
    assert wider.p == plain.p
    assert wider.error >= plain.error
    if np.isfinite(wider.low):
        assert wider.low <= difference <= wider.high
        if abs(wider.p - (1 - level)) > 1e-9:
            assert (wider.low <= 0 <= wider.high) == (wider.p > 1 - level)
    else:
        assert "ceiling" in wider.reason


def test_a_ratio_with_an_uncertain_ceiling_is_covered():
    rng = np.random.default_rng(3)
    held = 0
    for numerator, ceiling in zip(rng.normal(0.2, 0.03, 2000), rng.normal(0.8, 0.08, 2000), strict=True):
        plain = student_test(numerator / ceiling, (0.03 / ceiling) ** 2, 10_000, level=0.95)
        wider = with_ceiling(plain, 0.08 / ceiling)
        held += wider.low <= 0.25 <= wider.high
    assert held / 2000 == pytest.approx(0.95, abs=0.015)


def test_an_exact_ceiling_changes_nothing():
    plain = student_test(0.2, 0.01, 12, level=0.95)
    assert with_ceiling(plain, 0.0) == plain
