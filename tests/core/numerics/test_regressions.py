"""Least squares, ridge with a chosen penalty, and one-to-one mapping against scikit-learn and SciPy."""

from typing import Any

import numpy as np
import pytest
import scipy.stats
from sklearn.linear_model import LinearRegression
from sklearn.linear_model import RidgeCV as SklearnRidgeCV

from brainscore_core.numerics import LeastSquares, OneToOne, Ridge, RidgeCV, _matrices, cross_pearson, ridge_cv

ALPHAS = np.logspace(-2, 7, 99).tolist()
SHAPES = [
    (120, 200, 10),
    (120, 40, 10),
    (120, 200, 1),
    (120, 40, 1),
    (100, 150, 130),
    (60, 61, 5),
    (60, 59, 5),
    (60, 60, 5),
]


def _data(n, p, q, *, offset=0.0, seed=0):
    rng = np.random.default_rng(seed)
    latent = rng.standard_normal((n, 60)) / np.sqrt(np.arange(1, 61))
    X = latent @ rng.standard_normal((60, p)) + 0.1 * rng.standard_normal((n, p)) + offset
    return X, latent @ rng.standard_normal((60, q)) + 0.5 * rng.standard_normal((n, q)) - 3


def _splits(n, k=3):
    order = np.random.default_rng(1).permutation(n)
    return [(np.delete(order, np.arange(i, n, 8)), order[i::8]) for i in range(k)]


@pytest.mark.parametrize("offset", [0, 50])
@pytest.mark.parametrize("shape", SHAPES)
def test_least_squares_equal_scikit_learn(shape, offset):
    X, Y = _data(*shape, offset=offset)
    splits = _splits(len(X))
    for (train, test), predicted in zip(splits, LeastSquares().cross_predict(X, Y, splits), strict=True):
        expected = LinearRegression().fit(X[train], Y[train]).predict(X[test])
        np.testing.assert_allclose(predicted, expected, atol=1e-8)
        np.testing.assert_allclose(LeastSquares().fit(X[train], Y[train]).predict(X[test]), expected, atol=1e-8)


@pytest.mark.parametrize("p", [30, 200])
def test_least_squares_of_dependent_features_and_stimuli(p):
    X, Y = _data(100, p, 4)
    X[:, 5], X[:, 6], X[:, 7] = 2.0, X[:, 0] + X[:, 1], 0.0
    X[90], Y[90] = X[0], Y[0] + 1
    expected = LinearRegression().fit(X[:95], Y[:95]).predict(X[95:])
    np.testing.assert_allclose(LeastSquares().fit(X[:95], Y[:95]).predict(X[95:]), expected, atol=1e-8)


def test_least_squares_do_not_square_the_range_of_few_features():
    X, Y = _data(100, 20, 3)
    X = X * np.logspace(0, 9, 20)
    expected = LinearRegression().fit(X[:80] / np.logspace(0, 9, 20), Y[:80]).predict(X[80:] / np.logspace(0, 9, 20))
    np.testing.assert_allclose(LeastSquares().fit(X[:80], Y[:80]).predict(X[80:]), expected, atol=1e-5)


@pytest.mark.parametrize("alpha", [1e-6, 1.0, 1e6])
@pytest.mark.parametrize("p", [20, 85, 99, 101, 300])
def test_ridge_of_all_splits_together_equals_each_refitted(p, alpha):
    """Also where leverages are nearly 1, rows are left out of both sides, or occur twice."""
    X, Y = _data(100, p, 4, offset=10)
    splits = _splits(100, 4)
    splits += [(np.arange(60), np.arange(90, 100)), (np.arange(20), np.arange(20, 100)), (splits[0][0], np.arange(9))]
    splits += [(np.concatenate([splits[1][0], splits[1][0][:3]]), splits[1][1])]
    for (train, test), predicted in zip(splits, Ridge(alpha).cross_predict(X, Y, splits), strict=True):
        mean = X[train].mean(axis=0)
        U, s, V = np.linalg.svd(X[train] - mean, full_matrices=False)
        weights = V.T @ ((s / (s**2 + alpha))[:, None] * (U.T @ (Y[train] - Y[train].mean(axis=0))))
        expected = (X[test] - mean) @ weights + Y[train].mean(axis=0)
        np.testing.assert_allclose(predicted, expected, atol=1e-6 if alpha < 1 else 1e-9)


@pytest.mark.parametrize("p", [30, 200])
@pytest.mark.parametrize("size", [0.0, 1e-6])
def test_ridge_of_flat_features_predicts_the_mean(p, size):
    """To rounding of the mean, however large single responses are; what varies is what the features say."""
    X, Y = _data(100, p, 4)
    Y -= Y.mean(axis=0)
    splits = _splits(100, 4)
    for (train, test), predicted in zip(splits, Ridge(1.0).cross_predict(0.1 + size * X, Y, splits), strict=True):
        mean = X[train].mean(axis=0)
        expected = size**2 * (X[test] - mean) @ ((X[train] - mean).T @ Y[train])  # to first order
        np.testing.assert_allclose(predicted - predicted[0], expected - expected[0], rtol=1e-4, atol=1e-14 * (size > 0))


@pytest.mark.parametrize("per_target", [False, True])
@pytest.mark.parametrize("shape", SHAPES)
def test_ridge_cv_equals_scikit_learn(shape, per_target):
    X, Y = _data(*shape, offset=20)
    splits = _splits(len(X))
    ours = RidgeCV(ALPHAS, per_target)
    for (train, test), (predicted, alpha, _) in zip(splits, ours.cross_fit(X, Y, splits), strict=True):
        reference = SklearnRidgeCV(ALPHAS, alpha_per_target=per_target).fit(X[train], Y[train])
        np.testing.assert_array_equal(alpha, reference.alpha_)
        expected = reference.predict(X[test]).reshape(len(test), -1)
        np.testing.assert_allclose(predicted, expected, atol=1e-8)
        fit = ours.fit(X[train], Y[train])
        np.testing.assert_array_equal(fit.alpha, reference.alpha_)
        np.testing.assert_allclose(fit.predict(X[test]), expected, atol=1e-8)
    np.testing.assert_array_equal(list(ours.cross_predict(X, Y, splits))[-1], predicted)


@pytest.mark.parametrize("p", [20, 60])
@pytest.mark.parametrize("alphas", [[0.5], [1e-3, 1.0, 1e3], ALPHAS[::14]])
def test_leave_one_out_errors_are_those_of_refitting(p, alphas, monkeypatch):
    """All of them, not only the smallest."""
    from sklearn.linear_model import Ridge

    X, Y = _data(40, p, 3)
    refitted = [
        [
            (Ridge(alpha).fit(np.delete(X, i, 0), np.delete(Y, i, 0)).predict(X[i : i + 1])[0] - Y[i]) ** 2
            for i in range(40)
        ]
        for alpha in alphas
    ]
    seen = []
    leave_one_out = ridge_cv._leave_one_out

    def spy(*args):
        seen.append(leave_one_out(*args))
        return seen[-1]

    monkeypatch.setattr(ridge_cv, "_leave_one_out", spy)
    RidgeCV(alphas, alpha_per_target=True).fit(X, Y)
    np.testing.assert_allclose(seen[0], np.mean(refitted, axis=1), rtol=1e-8)


def test_ridge_cv_with_repeated_stimuli_and_constant_features():
    X, Y = _data(50, 80, 3)
    X[40:], Y[40:] = X[:10], Y[:10] + 0.1  # the Gram matrix has further null directions
    X[:, :5] = 1.0
    reference = SklearnRidgeCV(ALPHAS).fit(X, Y)
    fit = RidgeCV(ALPHAS).fit(X, Y)
    assert fit.alpha == reference.alpha_
    np.testing.assert_allclose(fit.predict(X), reference.predict(X), atol=1e-8)
    for p in (4, 90):
        flat = RidgeCV(ALPHAS).fit(np.ones((50, p)), Y)
        np.testing.assert_allclose(flat.predict(np.ones((2, p))), np.tile(Y.mean(axis=0), (2, 1)))


@pytest.mark.parametrize("p", [20, 100])
def test_chunks_change_nothing(p, monkeypatch):
    X, Y = _data(60, p, 7)
    methods: list[Any] = [RidgeCV(ALPHAS), LeastSquares(), OneToOne()]
    expected = [method.fit(X, Y).predict(X) for method in methods]
    monkeypatch.setattr(_matrices, "CHUNK_BYTES", 8 * 60 * 30)
    for method, values in zip(methods, expected, strict=True):
        np.testing.assert_allclose(method.fit(X, Y).predict(X), values, atol=1e-9)
        np.testing.assert_allclose(method.fit(X.astype(np.float32), Y).predict(X), values, atol=1e-2)


def test_cross_pearson_equals_scipy():
    X, Y = _data(50, 8, 5, offset=1e5)
    X[:, 3], Y[:, 1] = 7.0, np.nan
    r = cross_pearson(X, Y)
    assert np.isnan(r[3]).all()
    assert np.isnan(r[:, 1]).all()
    for i in (0, 7):
        for j in (0, 4):
            assert r[i, j] == pytest.approx(scipy.stats.pearsonr(X[:, i], Y[:, j])[0], abs=1e-10)
    assert np.isnan(cross_pearson([[1.0]], [[2.0]])).all()
    with pytest.raises(ValueError, match="same length"):
        cross_pearson(np.ones((3, 2)), np.ones((4, 2)))


def test_one_to_one_takes_the_largest_signed_correlation():
    X, Y = _data(60, 90, 12)
    X[:, 4] = 1.0
    X[:, 70] = X[:, 10]  # equal ones: the first
    Y[:, 3], Y[:, 5], Y[:, 6] = 2.0, -X[:, 20], X[:, 70] * 3 - 1
    fit = OneToOne().fit(X, Y)
    r = np.corrcoef(np.delete(X, 4, 1).T, np.delete(Y, 3, 1).T)[:89, 89:]
    kept = np.delete(np.arange(90), 4)
    expected = kept[r.argmax(axis=0)]
    np.testing.assert_array_equal(np.delete(fit.features, [3, 6]), np.delete(expected, 5))
    assert fit.features[6] in (10, 70)
    assert fit.features[3] == -1
    assert fit.features[5] != 20
    predicted = fit.predict(X[:5])
    assert np.isnan(predicted[:, 3]).all()
    np.testing.assert_array_equal(predicted[:, 0], X[:5, fit.features[0]])
    splits = _splits(60)
    for (train, test), found in zip(splits, OneToOne().cross_predict(X, Y, splits), strict=True):
        np.testing.assert_array_equal(found, OneToOne().fit(X[train], Y[train]).predict(X[test]))


@pytest.mark.parametrize("method", [LeastSquares(), RidgeCV([1.0]), OneToOne()])
@pytest.mark.parametrize("p", [5, 50])
def test_what_is_wrong_is_named(method, p):
    X, Y = _data(20, p, 2)
    for broken in (np.nan, np.inf):
        bad = X.copy()
        bad[4, 2] = broken
        with pytest.raises(ValueError, match="X is not finite"):
            method.fit(bad, Y)
        bad = Y.copy()
        bad[4, 1] = broken
        with pytest.raises(ValueError, match="Y is not finite"):
            method.fit(X, bad)
    with pytest.raises(ValueError, match="20 rows but Y has 19"):
        method.fit(X, Y[:19])
    with pytest.raises(ValueError, match=f"features, but the map was fitted on {p}"):
        method.fit(X, Y).predict(X[:, :3])
    with pytest.raises(ValueError, match="at least"):
        method.check(0, p)


@pytest.mark.parametrize(
    ("alphas", "message"), [([], "at least one"), ([1.0, 0.0], "contains 0"), ([np.nan], "contains nan")]
)
def test_impossible_penalties_are_refused(alphas, message):
    with pytest.raises(ValueError, match=message):
        RidgeCV(alphas)


def test_one_to_one_of_splits_equals_fits_where_features_fade():
    """Features that are constant, faint beside their mean, or vary only among the stimuli that are left out."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((80, 40)) * 10.0 ** rng.integers(-3, 3, 40) + 100
    X[:, 5], X[:, 7] = 0.0, 0.0
    X[3, 7] = 1.0
    X[:, 9] = 1e9 + 100 * rng.standard_normal(80)
    X[:, 30] *= 1e180
    Y = X[:, :20] / np.maximum(X[:, :20].std(axis=0), 1e-3) + rng.standard_normal((80, 20))
    Y[:, 4], Y[:, 6] = 1.0, 0.0
    Y[8, 6] = 3.0
    splits = [(order[:65], order[65:]) for order in (rng.permutation(80) for _ in range(6))]
    splits.append((np.setdiff1d(np.arange(80), [3, 8]), np.array([8, 3])))
    for values in (X, X[:, :25].astype(np.float32)):
        for (train, test), found in zip(splits, OneToOne().cross_predict(values, Y, splits), strict=True):
            expected = OneToOne().fit(values[train], Y[train]).predict(values[test])
            np.testing.assert_array_equal(found, expected)
