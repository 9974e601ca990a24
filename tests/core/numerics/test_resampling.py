import warnings

import numpy as np
import pytest
from scipy import stats

from brainscore_core.numerics import _matrices, bootstrap_interval, influence_interval, jackknife_interval, resampling


def _scipy(values, statistic, method, seed=0):
    return stats.bootstrap(
        (values,), statistic, method=method, n_resamples=1000, random_state=np.random.default_rng(seed), vectorized=True
    )


@pytest.mark.parametrize("name", ["mean", "median"])
@pytest.mark.parametrize("method", ["percentile", "bca"])
@pytest.mark.parametrize("n", [8, 60])
def test_equals_scipy_on_the_same_resamples(name, method, n):
    values = np.random.default_rng(3).exponential(size=n)
    ours = bootstrap_interval(values, name, method=method)
    theirs = _scipy(values, getattr(np, name), method)
    assert ours.low == pytest.approx(theirs.confidence_interval.low, abs=1e-12)
    assert ours.high == pytest.approx(theirs.confidence_interval.high, abs=1e-12)
    assert ours.error == pytest.approx(theirs.standard_error, abs=1e-12)


def test_chunks_change_nothing(monkeypatch):
    values = np.random.default_rng(0).standard_normal((4, 50))
    whole = bootstrap_interval(values, "median")
    monkeypatch.setattr(resampling, "CHUNK_BYTES", 8 * 200 * 7)
    assert bootstrap_interval(values, "median") == whole
    assert _matrices.CHUNK_BYTES != resampling.CHUNK_BYTES


def test_t_interval_of_a_mean_equals_scipy():
    values = np.random.default_rng(0).standard_normal(12)
    ours = bootstrap_interval(values, "mean")
    low, high = stats.t.interval(0.95, 11, values.mean(), stats.sem(values))
    assert ours[:3] == pytest.approx((low, high, stats.sem(values)), abs=1e-12)
    assert ours.method == "t"


@pytest.mark.parametrize(
    ("n", "statistic", "method"),
    [(19, "mean", "t"), (19, "median", "bca"), (20, "mean", "bootstrap"), (20, "median", "bootstrap")],
)
def test_method_follows_the_number_of_units(n, statistic, method):
    interval = bootstrap_interval(np.random.default_rng(0).standard_normal(n), statistic)
    assert interval.method == method
    assert interval.low < interval.high
    assert interval.n == n


@pytest.mark.parametrize("n", [0, 1, 2])
def test_too_few_units_give_a_reason(n):
    interval = bootstrap_interval(np.arange(float(n)), units="neuroids")
    assert np.isnan([interval.low, interval.high, interval.error]).all()
    assert f"{n} neuroids" in interval.reason


def test_units_lie_along_the_axis():
    values = np.random.default_rng(0).standard_normal((30, 4))
    expected = _scipy(values.mean(axis=1), np.mean, "percentile").confidence_interval
    interval = bootstrap_interval(values, "mean", axis=0)
    assert (interval.low, interval.high) == pytest.approx((expected.low, expected.high), abs=1e-12)


def test_same_seed_same_interval():
    values = np.random.default_rng(0).standard_normal(30)
    assert bootstrap_interval(values, seed=1) == bootstrap_interval(values, seed=1)
    assert bootstrap_interval(values, seed=1) != bootstrap_interval(values, seed=2)


def test_nan_is_left_out():
    values = np.random.default_rng(0).standard_normal(40)
    values[3] = np.nan
    for statistic in ("mean", "median"):
        interval = bootstrap_interval(values, statistic)
        assert interval.low < getattr(np, f"nan{statistic}")(values) < interval.high


def test_undefined_everywhere_has_a_reason():
    assert "undefined" in bootstrap_interval(np.full(30, np.nan)).reason


def test_equal_values_have_no_bca_interval():
    interval = bootstrap_interval(np.ones(10), "median")
    assert np.isnan(interval.low)
    assert interval.error == 0
    assert "distinct" in interval.reason


def test_median_equals_numpy():
    rng = np.random.default_rng(0)
    values = rng.standard_normal((5, 6, 7))
    values[rng.random(values.shape) < 0.4] = np.nan
    values[0, 0] = np.nan
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)
        for axis in range(3):
            np.testing.assert_array_equal(resampling.median(values, axis), np.nanmedian(values, axis=axis))


@pytest.mark.parametrize(
    "wrong", [{"level": 0}, {"level": 95}, {"method": "normal"}, {"n_resamples": 1}, {"statistic": "mode"}]
)
def test_wrong_arguments_are_refused(wrong):
    with pytest.raises(ValueError, match=next(iter(wrong)) if "statistic" not in wrong else "mode"):
        bootstrap_interval(np.arange(30.0), **wrong)


def test_jackknife_of_a_mean_is_its_standard_error():
    values = np.random.default_rng(0).standard_normal(9)
    left_out = [np.delete(values, i).mean() for i in range(9)]
    assert jackknife_interval(values.mean(), left_out).error == pytest.approx(stats.sem(values))
    assert "2 subjects" in jackknife_interval(0.0, [1, 2], units="subjects").reason
    assert jackknife_interval(0.0, [1, 2, np.nan]).reason


def test_influence_interval_stays_inside_a_correlations_range():
    interval = influence_interval(0.95, np.array([0.1, -0.1, 0.2, -0.2]), correlation=True)
    assert -1 < interval.low < 0.95 < interval.high < 1
    assert "2 stimuli" in influence_interval(0.5, np.zeros(2)).reason
    assert influence_interval(np.nan, np.zeros(5)).reason


@pytest.mark.slow(reason="estimates coverage from many simulations")
@pytest.mark.parametrize(("n", "statistic"), [(10, "mean"), (10, "median"), (50, "mean"), (100, "median")])
def test_coverage(n, statistic):
    rng = np.random.default_rng(0)
    truth = {"mean": 0.5, "median": 0.5}[statistic]
    runs = 400
    covered = 0
    for seed in range(runs):
        interval = bootstrap_interval(rng.beta(2, 2, n), statistic, seed=seed)
        covered += interval.low <= truth <= interval.high
    assert 0.9 <= covered / runs <= 0.99


def test_medians_of_resamples_leave_out_nan():
    rng = np.random.default_rng(0)
    values = rng.integers(0, 6, (3, 2, 9)).astype(float)  # with ties
    values[0, 0, :7], values[1, 1] = np.nan, np.nan
    drawn = rng.integers(0, 9, (200, 9))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)
        expected = np.nanmedian(values[..., drawn], axis=-1)
    np.testing.assert_array_equal(resampling.ResampledMedians(values).of(drawn), expected)
