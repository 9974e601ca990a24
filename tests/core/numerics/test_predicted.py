from dataclasses import replace

import numpy as np
import pytest
from scipy.linalg import sqrtm

from brainscore_core.numerics import PLS, LeastSquares, Ridge, RidgeCV, compare_predictivity, pearson, predictivity
from brainscore_core.numerics.influence import random_sums, unit_codes
from brainscore_core.numerics.linear_regression import training_effects
from brainscore_core.numerics.predictions import (
    PredictivityOfSplits,
    PredictivityOfUnits,
    influence_of_neuroids,
    influence_of_stimuli,
    predictivity_covariance,
    predictivity_interval,
)


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


LEFT_OUT = {
    "ridge, more features": (Ridge(5.0), 90, 4),
    "ridge, more stimuli": (Ridge(5.0), 20, 4),
    "ridge, few splits": (Ridge(5.0), 90, 2),
    "ridge_cv, more features": (RidgeCV([1.0, 10.0, 100.0]), 90, 2),
    "ridge_cv, more stimuli": (RidgeCV([1.0, 10.0, 100.0]), 20, 2),
    "ridge_cv, a penalty for each": (RidgeCV([1.0, 10.0, 100.0], alpha_per_target=True), 90, 2),
    # with as many components as directions, partial least squares are least squares
    "pls, more stimuli": (PLS(6), 6, 2),
    "pls, more features": (PLS(6), 90, 2),
    "least squares, more stimuli": (LeastSquares(), 20, 2),
}


def explicit(X, Y, train, test, alpha):
    """Hat matrix of a ridge regression with intercept, and M of its training set, up to a factor."""
    design = np.hstack([np.ones((len(X), 1)), X])
    penalty = alpha * np.diag([0.0, *np.ones(X.shape[1])])
    solved = np.linalg.solve(design[train].T @ design[train] + penalty, design[train].T)
    return design[test] @ solved, np.eye(len(train)) - design[train] @ solved


def test_least_squares_through_all_responses_are_the_limit_of_small_penalties():
    rng = np.random.default_rng(3)
    X, Y = rng.standard_normal((30, 90)), rng.standard_normal((30, 3))
    splits = [(np.arange(8, 30), np.arange(8))]
    slopes, groups = rng.standard_normal((8, 3)), {"trained": np.arange(22) // 2, "tested": np.full(8, -1)}
    groups["halves"] = [np.arange(1), np.arange(1, 3)]
    fits = [next(method.cross_fit(X, Y, splits)) for method in (LeastSquares(), Ridge(1e-4))]
    exact, limit = (training_effects(fit.left_out, slopes, **groups).values for fit in fits)
    assert exact == pytest.approx(limit, rel=1e-3)


@pytest.mark.parametrize("size", [1, 3], ids=["stimuli", "groups"])
@pytest.mark.parametrize("case", LEFT_OUT)
def test_effects_of_training_stimuli_equal_those_of_the_explicit_matrices(case, size):
    regression, features, n_splits = LEFT_OUT[case]
    rng = np.random.default_rng(4)
    directions = getattr(regression, "n_components", features)
    X = rng.standard_normal((42, directions))
    Y = X @ rng.standard_normal((directions, 3)) + rng.standard_normal((42, 3))
    shown = X if directions == features else X @ np.linalg.qr(rng.standard_normal((features, directions)))[0].T
    splits = [(np.sort(order[8:]), order[:8]) for order in (rng.permutation(42) for _ in range(n_splits))]
    group = np.arange(42) // size
    for (train, test), fit in zip(splits, regression.cross_fit(shown, Y, splits), strict=True):
        alphas = np.broadcast_to(getattr(regression, "alpha", 0.0) if fit.alpha is None else fit.alpha, 3)
        slopes = rng.standard_normal((8, 3))
        slopes -= slopes.mean(axis=0)
        which, codes = np.unique(group[train], return_inverse=True)
        tested = np.array([list(which).index(g) if g in which else -1 for g in group[test]])
        halves = [np.arange(1), np.arange(1, 3)]
        found = training_effects(fit.left_out, slopes, trained=codes, tested=tested, halves=halves)
        values, cells = np.zeros((len(which), 3)), np.zeros((8, 34, 3))
        for j, alpha in enumerate(alphas):
            hat, M = explicit(X, Y, train, test, alpha)
            np.testing.assert_allclose(fit.predicted[:, j], hat @ Y[train, j], atol=1e-8)
            hat = hat - hat.mean(axis=0)  # no correlation depends on what shifts all predictions
            for code in range(len(which)):
                rows, others = np.flatnonzero(codes == code), tested != code
                # residuals whose covariance is that of the noise; many splits share the scale of all stimuli
                corner = sqrtm((M @ M)[np.ix_(rows, rows)]).real
                if isinstance(regression, Ridge) and n_splits > 2:
                    every = explicit(X, Y, np.arange(42), test, alpha)[1]
                    corner = sqrtm((every @ every)[np.ix_(train[rows], train[rows])]).real
                residuals = np.linalg.solve(corner, (M @ Y[train, j])[rows])
                cells[np.ix_(others, rows, [j])] = (slopes[others, j][:, None] * hat[np.ix_(others, rows)] * residuals)[
                    ..., None
                ]
                values[code, j] = cells[:, rows, j].sum()
        np.testing.assert_allclose(found.values, values, atol=1e-8)
        if np.ndim(fit.alpha) == 0:
            of_groups = np.add.reduceat(cells, np.unique(codes, return_index=True)[1], axis=1)
            halves = [of_groups[..., :1].sum(axis=2), of_groups[..., 1:].sum(axis=2)]
            np.testing.assert_allclose(found.pairs, halves, atol=1e-8)


def test_effects_are_small_where_predictions_vary_little():
    """With a large penalty, predictions are nearly constant; a stimulus shifts them by more than they differ."""
    rng = np.random.default_rng(7)
    X, Y, groups = rng.standard_normal((60, 8)), rng.standard_normal((60, 2)) + 5, np.arange(60) // 5
    order = rng.permutation(60)
    found = [PredictivityOfSplits(groups) for _ in range(2)]
    for collected, penalty in zip(found, (1e4, 1e6), strict=True):
        for fit in Ridge(penalty).cross_fit(X, Y, [(order[12:], order[:12])]):
            options = {"test": order[:12], "train": order[12:], "left_out": fit.left_out}
            collected.add(fit.predicted, Y[order[:12]], **options)
    small, large = (collected.result().effects for collected in found)
    np.testing.assert_allclose(large, small, atol=0.01)
    assert np.abs(large).max() < 1


def test_effects_follow_what_a_refit_without_the_stimulus_does():
    rng = np.random.default_rng(5)
    X = rng.standard_normal((240, 12))
    Y = X @ rng.standard_normal((12, 1)) + 2 * rng.standard_normal((240, 1))
    order = rng.permutation(240)
    train, test = np.sort(order[40:]), order[:40]
    collected = PredictivityOfSplits(np.arange(240))
    (fit,) = Ridge(3.0).cross_fit(X, Y, [(train, test)])
    collected.add(fit.predicted, Y[test], test=test, train=train, left_out=fit.left_out)
    found = collected.result()
    assert found.value == pytest.approx(float(pearson(fit.predicted, Y[test])[0]))
    expected = np.empty(240)
    for row in range(240):
        rest = [side[side != row] for side in (train, test)]
        without = Ridge(3.0).fit(X[rest[0]], Y[rest[0]]).predict(X[rest[1]])
        expected[row] = found.value - float(pearson(without, Y[rest[1]])[0])
    for side in (train, test):  # the correlation changes by its slope where the map changes
        assert np.corrcoef(found.effects[side, 0], expected[side])[0, 1] > 0.99
    np.testing.assert_allclose(found.effects[test, 0], expected[test], atol=1e-12)
    np.testing.assert_allclose(found.effects[train, 0], expected[train], atol=0.001)


def test_effects_of_training_stimuli_may_come_from_some_of_the_splits():
    rng = np.random.default_rng(10)
    X = rng.standard_normal((200, 30))
    Y = X @ rng.standard_normal((30, 20)) + 5 * rng.standard_normal((200, 20))
    splits = [(np.sort(order[50:]), order[:50]) for order in (rng.permutation(200) for _ in range(8))]
    intervals = []
    for used in (8, 4):
        collected = PredictivityOfSplits(np.arange(200))
        for number, ((train, test), fit) in enumerate(zip(splits, Ridge(1.0).cross_fit(X, Y, splits), strict=True)):
            left_out = fit.left_out if number < used else None
            collected.add(fit.predicted, Y[test], test=test, train=train, left_out=left_out)
        intervals.append(predictivity_interval(collected.result()))
    every, some = intervals
    assert some.error == pytest.approx(every.error, rel=0.1)


def test_maps_that_vary_add_to_the_variance_with_maps_kept():
    predicted, measured = experiment(np.random.default_rng(12))
    kept = predictivity(predicted[0], measured)
    opposite = replace(kept, effects=0 * kept.effects, training=-kept.effects, pairs=kept.pairs + 1)
    assert predictivity_interval(opposite).error == predictivity_interval(kept).error


def test_what_a_training_and_a_test_stimulus_do_together_counts_once_in_a_difference():
    rng = np.random.default_rng(13)
    predicted, measured = experiment(rng)
    whole, codes = predictivity(predicted[0], measured), unit_codes(np.arange(40))
    table = np.triu(rng.standard_normal((40, 40)), 1)
    effects = np.repeat((table + table.T).sum(axis=1, keepdims=True) / 30, 30, axis=1)
    zero = replace(whole, effects=0 * effects, training=0 * effects)
    pairs = random_sums([table / 2, table / 2], codes, codes)
    once, twice = (replace(zero, effects=effects, training=effects / 2, pairs=each) for each in (pairs, 0 * pairs))
    variances = [compare_predictivity(one, zero).error ** 2 for one in (once, twice)]
    assert variances == pytest.approx(np.array([1, 2]) * np.sum(table**2), rel=0.3)


def test_groups_of_test_stimuli_are_left_out_together():
    rng = np.random.default_rng(6)
    (predicted, _), measured = experiment(rng, stimuli=30, neuroids=1)
    groups = np.arange(30) // 6
    found = predictivity(predicted, measured, stimuli=groups)
    for code in range(5):
        rest = groups != code
        expected = found.value - float(pearson(predicted[rest], measured[rest])[0])
        assert found.effects[code, 0] == pytest.approx(expected)


def test_interval_holds_the_value_of_the_population():
    """Over new stimuli and neuroids, with what a stimulus does to all neuroids in common."""
    held, values, errors = 0, [], []
    for i in range(200):
        (predicted, _), measured = experiment(np.random.default_rng([7, i]), stimuli=50, neuroids=20)
        found = predictivity(predicted, measured)
        interval = predictivity_interval(found, n_resamples=200)
        values.append(found.value)
        errors.append(interval.error)
    truth = np.mean(values)
    for value, error in zip(values, errors, strict=True):
        held += abs(value - truth) < 2.09 * error
    assert 0.92 <= held / 200 <= 0.995
    assert np.mean(errors) == pytest.approx(np.std(values), rel=0.2)


def test_clusters_of_neuroids_are_the_units_if_there_are_enough():
    rng = np.random.default_rng(8)
    (predicted, _), measured = experiment(rng, stimuli=60, neuroids=40)
    found = predictivity(predicted, measured)
    apart = predictivity_interval(found)
    ten, two = (predictivity_interval(found, clusters=np.arange(40) // size) for size in (4, 20))
    assert (apart.n, ten.n, two.n) == (40, 10, 40)
    values = [np.median(np.delete(found.correlations[0, 0], np.arange(4 * k, 4 * k + 4))) for k in range(10)]
    of_clusters = 0.9 * np.sum((values - np.mean(values)) ** 2)
    assert ten.error**2 >= of_clusters
    assert two.error == pytest.approx(apart.error, rel=0.2)


def test_no_interval_without_units():
    values = np.random.default_rng(9).standard_normal((9, 2))
    assert "at least 3" in predictivity_interval(predictivity(values, values)).reason
    assert "undefined" in predictivity_interval(predictivity(np.ones((9, 4)), np.ones((9, 4)))).reason


def _two(rng, n, neuroids):
    measured = rng.standard_normal((n, neuroids)) + rng.standard_normal((n, 1))
    return predictivity(measured + rng.uniform(0.5, 2, neuroids) * rng.standard_normal((n, neuroids)), measured)


def test_influence_of_stimuli_is_the_jackknife():
    rng = np.random.default_rng(20)
    result = _two(rng, 40, 15)
    effects = result.effects.sum(axis=1)
    expected = 39 / 40 * np.sum((effects - effects.mean()) ** 2)
    assert np.sum(influence_of_stimuli(result) ** 2) == pytest.approx(expected)


def test_influence_of_neuroids_is_the_jackknife_of_the_smoothed_median():
    from scipy.stats.mstats import hdmedian

    result = _two(np.random.default_rng(21), 40, 15)
    values = result.correlations[0, 0]
    left_out = np.array([float(hdmedian(np.delete(values, place))) for place in range(15)])
    expected = (left_out.mean() - left_out) * np.sqrt(14 / 15)
    np.testing.assert_allclose(influence_of_neuroids(result), expected, atol=1e-12)


def test_influence_of_neuroids_is_about_the_spread_of_medians():
    rng = np.random.default_rng(22)
    spreads, medians = [], []
    for _ in range(200):
        result = _two(rng, 30, 40)
        spreads.append(np.sum(influence_of_neuroids(result) ** 2))
        medians.append(np.median(result.correlations))
    own = np.mean([np.sum(influence_of_stimuli(_two(rng, 30, 40)) ** 2) for _ in range(20)])
    assert 0.9 * np.var(medians) < np.mean(spreads) + own < 2 * np.var(medians)


def test_influence_of_clusters_of_neuroids():
    result = _two(np.random.default_rng(23), 40, 30)
    clusters = np.repeat(list("fedcba"), 5)
    values = result.correlations[0, 0]
    left_out = np.array([np.median(values[clusters != name]) for name in "abcdef"])
    expected = (left_out.mean() - left_out) * np.sqrt(5 / 6)
    np.testing.assert_allclose(influence_of_neuroids(result, clusters=clusters), expected, atol=1e-12)
    few = influence_of_neuroids(result, clusters=np.repeat(["x", "y"], 15))
    assert few.shape == (30,)
    assert few[:15].sum() == pytest.approx(0)


def test_clusters_of_neuroids_vary_together_in_comparisons():
    rng = np.random.default_rng(24)
    found = []
    clusters = np.repeat(np.arange(8), 6)
    for _ in range(60):
        measured = rng.standard_normal((50, 48)) + rng.standard_normal((50, 1))
        noise = np.exp(0.5 * rng.standard_normal((2, 8)))[:, clusters]  # each animal prefers one of the models
        sides = [predictivity(measured + one * rng.standard_normal((50, 48)), measured) for one in noise]
        found.append([compare_predictivity(*sides, clusters=each).p <= 0.05 for each in (None, clusters)])
    single, grouped = np.mean(found, axis=0)
    assert single > 0.2
    assert grouped <= 0.1


def _named(predicted, measured, **columns):
    found = predictivity(predicted, measured)
    return PredictivityOfUnits(found, np.arange(len(measured)), np.arange(measured.shape[1]), **columns)


@pytest.mark.parametrize("groups", [2, 10])
def test_covariance_with_itself_is_the_variance(groups):
    rng = np.random.default_rng(3)
    shared = rng.standard_normal((60, 1))  # so that stimuli act on all neuroids in common
    measured = shared + rng.standard_normal((60, 40))
    predicted = measured + shared * rng.standard_normal((60, 1)) + 0.3 * rng.standard_normal((60, 40))
    clusters = np.repeat(np.arange(groups), 40 // groups)
    one = _named(predicted, measured, clusters=clusters)
    variance = predictivity_interval(one.found, clusters=clusters).error ** 2
    assert predictivity_covariance(one, one) == pytest.approx(variance)
    rows, columns = rng.permutation(60), rng.permutation(40)
    found = predictivity(predicted[rows][:, columns], measured[rows][:, columns])
    moved = PredictivityOfUnits(found, rows, columns, clusters[columns])
    assert predictivity_covariance(one, moved) == pytest.approx(variance)


def test_covariance_of_other_units_is_unknown():
    rng = np.random.default_rng(4)
    measured = rng.standard_normal((30, 8))
    one = _named(measured + rng.standard_normal((30, 8)), measured)
    for other in (
        replace(one, stimuli=np.arange(30) + 1),
        replace(one, neuroids=np.zeros(8, dtype=int)),
        replace(one, clusters=np.arange(8) % 2),
        _named(measured[:, 1:], measured[:, 1:]),
    ):
        assert predictivity_covariance(one, other) == 0.0


def test_covariance_against_simulation():
    """Predictions and a second measurement of the same responses: both correlate with them where these are strong."""
    rng = np.random.default_rng(5)
    values, covariances = [], []
    for _ in range(150):
        strength, common = rng.uniform(0.5, 2, 20), rng.standard_normal((40, 1))
        signal = strength * (common + rng.standard_normal((40, 20)))
        measured = signal + rng.standard_normal((40, 20))
        others = [signal + rng.standard_normal((40, 20)) for _ in range(2)]
        first, second = (_named(other, measured) for other in others)
        values.append((first.found.value, second.found.value))
        covariances.append(predictivity_covariance(first, second, n_resamples=200))
    assert np.mean(covariances) == pytest.approx(np.cov(np.transpose(values))[0, 1], rel=0.3)
