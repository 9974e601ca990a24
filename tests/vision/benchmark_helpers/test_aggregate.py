import numpy as np
import pytest

from brainscore_core.benchmarks import bound_score, ceil_score
from brainscore_core.metrics import Score, attach_uncertainty, declare_no_error
from brainscore_core.populations import condition
from brainscore_vision.benchmark_helpers.aggregation import (
    concatenate_neuroids,
    mean_of_fixed,
    mean_of_sampled,
    unclamped_value,
    values_along,
)


def score(value, error, low, high):
    return attach_uncertainty(Score(value), error=error, ci=(low, high), estimates="neuroids vary", method="bootstrap")


def test_independent_errors_add_up_in_squares():
    mean = mean_of_fixed([score(0.4, 0.03, 0.3, 0.45), score(0.6, 0.04, 0.5, 0.8)], units="animals")
    assert float(mean) == pytest.approx(0.5)
    assert mean.attrs["error"] == pytest.approx(0.025)
    assert mean.attrs["ci"] == pytest.approx((0.5 - np.hypot(0.1, 0.1) / 2, 0.5 + np.hypot(0.05, 0.2) / 2))
    assert mean.attrs["ci_estimates"] == "mean over 2 animals, each with its own interval; neuroids vary"
    assert mean.attrs["ci_level"] == 0.95


def test_the_population_names_the_fixed_units():
    scores = [
        attach_uncertainty(Score(value), error=0.1, ci=(0.3, 0.7), estimates=estimates, method="crossed")
        for value in (0.4, 0.6)
        for estimates in ["new stimuli and new neuroids of this subject; 60 stimuli, 20 neuroids"]
    ]
    estimates = mean_of_fixed(scores, units="subjects").attrs["ci_estimates"]
    assert estimates.startswith("new stimuli and new neuroids for these 2 subjects; mean over 2 subjects, ")
    assert condition(estimates) == "these 2 subjects only; other subjects: unknown"


def test_coverage_of_the_interval():
    """Means of two independent estimates with known errors: 95 % of the intervals hold the truth."""
    rng = np.random.default_rng(0)
    holds = []
    for _ in range(2000):
        values = [0.3, 0.7] + np.array([0.02, 0.05]) * rng.standard_normal(2)
        scores = [score(v, e, v - 1.96 * e, v + 1.96 * e) for v, e in zip(values, [0.02, 0.05], strict=True)]
        low, high = mean_of_fixed(scores, units="animals").attrs["ci"]
        holds.append(low < 0.5 < high)
    assert np.mean(holds) == pytest.approx(0.95, abs=0.015)


def test_one_without_an_error_leaves_none():
    mean = mean_of_fixed([score(0.4, 0.03, 0.3, 0.45), declare_no_error(Score(0.6), "two neuroids")], units="animals")
    assert float(mean) == pytest.approx(0.5)
    assert np.isnan(mean.attrs["error"])
    assert mean.attrs["error_reason"] == mean.attrs["ci_reason"] == "two neuroids"
    plain = mean_of_fixed([Score(0.4), Score(0.6)], units="animals")
    assert "animals has none" in plain.attrs["error_reason"]


def test_a_mean_with_an_undetermined_score_is_undetermined():
    unbounded = ceil_score(score(0.3, 0.05, 0.2, 0.4), score(0.1, 0.05, -0.01, 0.2))
    mean = mean_of_fixed([unbounded, score(0.6, 0.04, 0.5, 0.7)], units="animals")
    assert mean.attrs["undetermined"] == unbounded.attrs["undetermined"]
    assert mean.attrs["ci"][1] == np.inf
    assert np.isfinite(mean.attrs["ci"][0])
    assert mean.attrs["error_reason"].startswith("the limits are unbounded")
    assert "undetermined" not in mean_of_fixed([score(0.6, 0.04, 0.5, 0.7)] * 2, units="animals").attrs


def test_what_was_clamped_counts_as_it_was():
    clamped = bound_score(score(1.4, 0.1, 1.2, 1.6))
    assert unclamped_value(clamped) == 1.4
    mean = mean_of_fixed([clamped, score(0.6, 0.1, 0.4, 0.8)], units="animals")
    assert float(mean) == pytest.approx(1.0)
    assert mean.attrs["ci"] == pytest.approx((1 - np.hypot(0.2, 0.2) / 2, 1 + np.hypot(0.2, 0.2) / 2))
    np.testing.assert_array_equal(values_along([clamped, Score(0.2)], ["a", "b"], "animal").values, [1.4, 0.2])


def test_units_that_vary():
    values = Score([0.2, 0.4, 0.9], dims=["subject"])
    mean = mean_of_sampled(values, units="subjects", error=0.123)
    assert float(mean) == pytest.approx(0.5)
    assert mean.attrs["error"] == 0.123
    low, high = mean.attrs["ci"]
    assert high - 0.5 == pytest.approx(0.5 - low)
    assert np.isnan(float(mean_of_sampled(Score([0.2, np.nan, 0.9], dims=["subject"]), units="subjects")))


def test_arrays_side_by_side():
    def part(values):
        coords = {"neuroid_id": ("neuroid", list(range(len(values))))}
        return Score(values, coords=coords, dims=["neuroid"], attrs={"alpha": 1.0})

    joined = concatenate_neuroids([part([0.1, 0.2]), part([0.3])])
    assert isinstance(joined, Score)
    assert joined.values.tolist() == [0.1, 0.2, 0.3]
    assert joined["neuroid_id"].values.tolist() == [0, 1, 0]
    assert joined.attrs == {}
    assert concatenate_neuroids([part([0.1]), None]) is None
