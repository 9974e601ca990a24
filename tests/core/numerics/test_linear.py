"""PLS and ridge against scikit-learn."""

import tracemalloc

import numpy as np
import pytest
from sklearn.cross_decomposition import PLSRegression
from sklearn.linear_model import LinearRegression
from sklearn.linear_model import Ridge as SklearnRidge

from brainscore_core.numerics import PLS, Ridge, _matrices


def _data(n, p, q, *, offset=0.0, seed=0):
    rng = np.random.default_rng(seed)
    latent = rng.standard_normal((n, 60)) / np.sqrt(np.arange(1, 61))
    X = latent @ rng.standard_normal((60, p)) + 0.1 * rng.standard_normal((n, p)) + offset
    return X, latent @ rng.standard_normal((60, q)) + 0.5 * rng.standard_normal((n, q)) - 3


def _splits(n, k=3):
    order = np.random.default_rng(1).permutation(n)
    return [(np.delete(order, np.arange(i, n, 8)), order[i::8]) for i in range(k)]


SHAPES = [(120, 200, 10), (120, 40, 10), (120, 200, 1), (120, 40, 1), (100, 150, 130), (100, 30, 60), (60, 61, 5)]


def _references(n_components):
    yield PLS(n_components), PLSRegression(n_components, scale=False, tol=1e-24, max_iter=200_000)
    yield Ridge(1.0), SklearnRidge(1.0)
    yield Ridge(37.5), SklearnRidge(37.5)


@pytest.mark.parametrize("offset", [0, 50])
@pytest.mark.parametrize("shape", SHAPES)
def test_predictions_equal_scikit_learn(shape, offset):
    X, Y = _data(*shape, offset=offset)
    splits = _splits(len(X))
    for ours, reference in _references(10):
        for (train, test), predicted in zip(splits, ours.cross_predict(X, Y, splits), strict=True):
            expected = reference.fit(X[train], Y[train]).predict(X[test]).reshape(len(test), -1)
            np.testing.assert_allclose(predicted, expected, atol=1e-7)
            np.testing.assert_allclose(ours.fit(X[train], Y[train]).predict(X[test]), expected, atol=1e-7)


@pytest.mark.parametrize("p", [60, 300])
def test_25_components_equal_converged_scikit_learn(p):
    X, Y = _data(150, p, 8)
    reference = PLSRegression(25, scale=False, tol=1e-24, max_iter=200_000).fit(X[:120], Y[:120])
    fit = PLS(25).fit(X[:120], Y[:120])
    assert fit.n_components == 25
    np.testing.assert_allclose(fit.predict(X[120:]), reference.predict(X[120:]), atol=1e-8)


def test_offset_of_a_million_costs_little_precision():
    X, Y = _data(120, 200, 5)
    for ours in (PLS(10), Ridge()):
        near, far = (ours.fit(data[:100], Y[:100]).predict(data[100:]) for data in (X, X + 1e6))
        np.testing.assert_allclose(far, near, atol=1e-5)


@pytest.mark.parametrize("p", [30, 90])
def test_float32_is_accumulated_in_float64(p):
    X, Y = _data(60, p, 4)
    X = X.astype(np.float32)
    for ours in (PLS(8), Ridge()):
        expected = ours.fit(X.astype(np.float64), Y).predict(X.astype(np.float64))
        np.testing.assert_allclose(ours.fit(X, Y.astype(np.float32)).predict(X), expected, atol=1e-5)


@pytest.mark.parametrize("p", [20, 100])
@pytest.mark.parametrize("scale", [1e-150, 1e-8, 1e8, 1e120])
def test_units_do_not_matter(scale, p):
    X, Y = _data(60, p, 3)
    expected = PLS(5).fit(X, Y).predict(X)
    np.testing.assert_allclose(PLS(5).fit(X * scale, Y).predict(X * scale), expected, atol=1e-10)
    np.testing.assert_allclose(PLS(5).fit(X, Y * scale).predict(X) / scale, expected, atol=1e-10)


@pytest.mark.parametrize("p", [50, 300])
def test_a_feature_ten_thousand_times_larger(p):
    X, Y = _data(150, p, 5)
    X[:, 0] *= 1e4
    reference = PLSRegression(10, scale=False, tol=1e-24, max_iter=200_000).fit(X[:120], Y[:120])
    np.testing.assert_allclose(PLS(10).fit(X[:120], Y[:120]).predict(X[120:]), reference.predict(X[120:]), atol=1e-6)


def test_rotating_features_changes_nothing():
    X, Y = _data(60, 100, 4)
    Q = np.linalg.qr(np.random.default_rng(0).standard_normal((100, 100)))[0]
    np.testing.assert_allclose(PLS(8).fit(X, Y).predict(X), PLS(8).fit(X @ Q, Y).predict(X @ Q), atol=1e-9)


@pytest.mark.parametrize("p", [40, 100])
def test_exhausted_rank_stops_at_least_squares(p):
    rng = np.random.default_rng(0)
    latent = rng.standard_normal((80, 6))
    X = latent @ rng.standard_normal((6, p))
    Y = latent @ rng.standard_normal((6, 3)) + rng.standard_normal((80, 3))
    with pytest.warns(UserWarning, match="stopped after 6 of 25 components"):
        fit = PLS(25).fit(X[:60], Y[:60])
    assert fit.n_components == 6
    expected = LinearRegression().fit(latent[:60], Y[:60]).predict(latent[60:])
    np.testing.assert_allclose(fit.predict(X[60:]), expected, atol=1e-8)


def test_constant_response_is_predicted():
    X, Y = _data(60, 100, 3)
    Y[:, 1] = 4.0
    for ours in (PLS(5), Ridge()):
        np.testing.assert_allclose(ours.fit(X, Y).predict(X)[:, 1], 4.0, atol=1e-9)


@pytest.mark.parametrize(("n", "p"), [(20, 100), (100, 20)])
def test_fewer_stimuli_or_features_than_components_are_refused(n, p):
    X, Y = _data(n, p, 2)
    with pytest.raises(ValueError, match=f"25 components.*{n} stimuli and {p} features.*at most 20"):
        PLS(25).fit(X, Y)
    with pytest.raises(ValueError, match="at most 1"):
        list(PLS(25).cross_predict(X, Y, [(np.arange(10), np.arange(10, 20))]))


def test_nan_is_named():
    X, Y = _data(30, 5, 3)
    bad = Y.copy()
    bad[2, 1] = np.nan
    with pytest.raises(ValueError, match="column 1"):
        Ridge().fit(X, bad)
    for p in (5, 50):
        X, Y = _data(30, p, 3)
        X[7, 0] = np.inf
        with pytest.raises(ValueError, match="row 7"):
            Ridge().fit(X, Y)
        with pytest.raises(ValueError, match="row 7"):
            list(Ridge().cross_predict(X, Y, [(np.arange(10), np.arange(20, 30))]))


def test_wrong_shapes_are_refused():
    X, Y = _data(30, 5, 3)
    with pytest.raises(ValueError, match="30 rows but Y has 29"):
        Ridge().fit(X, Y[1:])
    with pytest.raises(ValueError, match=r"4 features.*fitted on 5"):
        Ridge().fit(X, Y).predict(X[:, 1:])
    with pytest.raises(ValueError, match="matrix"):
        Ridge().fit(X[:, 0], Y)
    with pytest.raises(ValueError, match="real numbers"):
        Ridge().fit(X.astype(str), Y)


@pytest.mark.parametrize("alpha", [0, -1, np.nan, np.inf])
def test_alpha_must_be_positive(alpha):
    with pytest.raises(ValueError, match="alpha"):
        Ridge(alpha)


@pytest.mark.parametrize("n_components", [0, -1, 2.5])
def test_components_must_be_a_positive_number(n_components):
    with pytest.raises(ValueError, match="n_components"):
        PLS(n_components)


def test_huge_features_with_a_tiny_penalty():
    X, Y = _data(40, 100, 2)
    predicted = Ridge(1e-12).fit(X * 1e6, Y).predict(X * 1e6)
    np.testing.assert_allclose(predicted, Y, atol=1e-4)  # interpolates: fewer stimuli than features


def test_inputs_are_not_changed():
    X, Y = _data(60, 100, 3)
    x, y = X.copy(), Y.copy()
    for ours in (PLS(5), Ridge()):
        ours.fit(X, Y).predict(X)
        list(ours.cross_predict(X, Y, _splits(60)))
    np.testing.assert_array_equal(X, x)
    np.testing.assert_array_equal(Y, y)


def test_memory_of_wide_features_is_bounded(monkeypatch):
    monkeypatch.setattr(_matrices, "CHUNK_BYTES", 2**20)
    X = np.random.default_rng(0).standard_normal((100, 100_000), dtype=np.float32)
    Y = X[:, :4].astype(np.float64)
    tracemalloc.start()
    list(Ridge().cross_predict(X, Y, _splits(100)))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < X.nbytes / 4


def test_equal_singular_values_do_not_stop_the_fit():
    """Lanczos iterations do not converge on a degenerate spectrum; predictions exist all the same."""
    rng = np.random.default_rng(0)
    X = np.linalg.qr(rng.standard_normal((90, 60)))[0]
    X -= X.mean(axis=0)
    X = np.linalg.svd(X, full_matrices=False)[0]
    fit = PLS(60).fit(X, X)
    np.testing.assert_allclose(fit.predict(X), X, atol=1e-8)
