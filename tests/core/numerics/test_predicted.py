import numpy as np
import pytest

from brainscore_core.numerics import compare_predictivity, pearson, predictivity


def experiment(rng, stimuli=40, neuroids=30, *, noise=(1.0, 1.0), shared=0.7):
    """Predictions of two models that share what they miss of each stimulus, in all neuroids."""
    measured = rng.standard_normal((stimuli, neuroids)) + rng.standard_normal((stimuli, 1))
    missed = shared * rng.standard_normal((2, stimuli, 1))
    sides = [
        measured + part * rng.uniform(0.5, 1.5, neuroids) + size * rng.standard_normal((stimuli, neuroids))
        for part, size in zip(missed, noise, strict=True)
    ]
    return sides, measured


def test_value_is_the_mean_over_splits_of_the_median():
    rng = np.random.default_rng(0)
    (predicted, _), measured = experiment(rng)
    splits = np.arange(40) % 3
    expected = np.mean([np.median(pearson(predicted[splits == s], measured[splits == s])) for s in range(3)])
    found = predictivity(predicted, measured, splits=splits)
    assert found.value == pytest.approx(expected, abs=1e-12)
    assert found.correlations.shape == (3, 1, 30)


def test_groups_and_time_bins_are_averaged():
    rng = np.random.default_rng(1)
    (a, b), measured = experiment(rng)
    groups = np.arange(30) % 2
    parts = [predictivity(a[:, groups == g], measured[:, groups == g]).value for g in (0, 1)]
    assert predictivity(a, measured, groups=groups).value == pytest.approx(np.mean(parts))
    bins = predictivity(np.stack([a, -b], axis=2), np.stack([measured, measured], axis=2), squared=True)
    each = [predictivity(side, measured).value for side in (a, b)]
    assert bins.value == pytest.approx((each[0] ** 2 - each[1] ** 2) / 2)


def test_effects_are_what_leaving_out_a_stimulus_does_to_the_smoothed_median():
    from scipy.stats.mstats import hdquantiles

    rng = np.random.default_rng(2)
    (predicted, _), measured = experiment(rng, stimuli=25)
    found = predictivity(predicted, measured)
    whole = float(hdquantiles(pearson(predicted, measured), [0.5])[0])
    left_out = [
        float(hdquantiles(pearson(np.delete(predicted, i, 0), np.delete(measured, i, 0)), [0.5])[0]) for i in range(25)
    ]
    np.testing.assert_allclose(found.effects.sum(axis=1), whole - np.array(left_out), atol=0.008)
    assert np.corrcoef(found.effects.sum(axis=1), whole - np.array(left_out))[0, 1] > 0.95
    assert found.weights.sum() == pytest.approx(1)


def test_a_stimulus_acts_through_all_splits_that_test_it():
    rng = np.random.default_rng(3)
    (predicted, _), measured = experiment(rng, stimuli=20)
    once = predictivity(predicted, measured)
    twice = predictivity(
        np.tile(predicted, (2, 1)),
        np.tile(measured, (2, 1)),
        splits=np.repeat([0, 1], 20),
        stimuli=np.tile(np.arange(20), 2),
    )
    assert twice.n_stimuli == 20
    np.testing.assert_allclose(twice.effects, once.effects, atol=1e-12)


def test_neuroids_without_a_correlation_are_left_out():
    rng = np.random.default_rng(4)
    (predicted, _), measured = experiment(rng)
    predicted[:, :5] = 0.1
    found = predictivity(predicted, measured)
    assert np.isnan(found.correlations[..., :5]).all()
    assert found.value == pytest.approx(predictivity(predicted[:, 5:], measured[:, 5:]).value)
    assert not found.effects[:, :5].any()
    constant = predictivity(np.ones((40, 30)), measured)
    assert np.isnan(constant.value)
    assert "undefined" in compare_predictivity(constant, found).reason


def test_error_agrees_with_two_way_bootstraps():
    """Variance over stimuli + over neuroids, and the published correction of resampling both."""
    rsatoolbox = pytest.importorskip("rsatoolbox.util.inference_util")
    rng = np.random.default_rng(5)
    sides, measured = experiment(rng, stimuli=120, neuroids=60, noise=(0.8, 1.2))

    def difference(rows, columns):
        medians = [np.median(pearson(side[np.ix_(rows, columns)], measured[np.ix_(rows, columns)])) for side in sides]
        return medians[0] - medians[1]

    every = (np.arange(120), np.arange(60))
    drawn = [(rng.integers(0, 120, 120), rng.integers(0, 60, 60)) for _ in range(600)]
    both = np.var([difference(*one) for one in drawn])
    over_stimuli = np.var([difference(rows, every[1]) for rows, _ in drawn])
    over_neuroids = np.var([difference(every[0], columns) for _, columns in drawn])
    expected = rsatoolbox._dual_bootstrap(np.array([both, over_neuroids, over_stimuli]))
    found = compare_predictivity(*(predictivity(side, measured) for side in sides))
    assert found.error == pytest.approx(np.sqrt(expected), rel=0.15)
    assert found.error**2 < both


@pytest.mark.parametrize(("stimuli", "neuroids"), [(60, 60), (200, 50)])
def test_differences_that_are_not_there_are_rarely_found(stimuli, neuroids):
    rng = np.random.default_rng(6)
    tests = []
    for _ in range(200):
        sides, measured = experiment(rng, stimuli, neuroids)
        tests.append(compare_predictivity(*(predictivity(side, measured) for side in sides), n_resamples=200))
    found = np.mean([test.p <= 0.05 for test in tests])
    assert found <= 0.06 + 2 * np.sqrt(0.05 * 0.95 / 200)
    spread = np.std([test.difference for test in tests])
    assert np.mean([test.error for test in tests]) == pytest.approx(spread, rel=0.2)


def test_neuroids_of_their_own_are_not_paired():
    rng = np.random.default_rng(7)
    sides, measured = experiment(rng, noise=(1.0, 1.0))
    first = predictivity(sides[0], measured)
    other = predictivity(sides[1][:, :20], measured[:, :20])
    test = compare_predictivity(first, other, paired_neuroids=False)
    assert np.isfinite(test.p)
    with pytest.raises(ValueError, match="same stimuli and neuroids"):
        compare_predictivity(first, other)


def test_a_scale_is_carried_through():
    rng = np.random.default_rng(8)
    sides, measured = experiment(rng, noise=(0.8, 1.2))
    parts = [predictivity(side, measured) for side in sides]
    plain, halved = compare_predictivity(*parts), compare_predictivity(*parts, transform=lambda r: r / 2)
    assert halved.p == pytest.approx(plain.p, rel=1e-6)
    assert (halved.low, halved.high) == pytest.approx((plain.low / 2, plain.high / 2))
    assert compare_predictivity(parts[1], parts[0]).difference == -plain.difference
    assert compare_predictivity(parts[0], parts[0]).p == 1


def test_arguments():
    values = np.random.default_rng(0).standard_normal((9, 5))
    with pytest.raises(ValueError, match="a split has 3 stimuli"):
        predictivity(values, values, splits=np.arange(9) % 3)
    with pytest.raises(ValueError, match="shape"):
        predictivity(values, values[:, :4])
