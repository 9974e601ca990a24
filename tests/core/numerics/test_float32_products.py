"""Products of all stimuli of large float32 features, which are mostly computed in float32."""

import tracemalloc

import numpy as np
import pytest
from threadpoolctl import threadpool_limits

from brainscore_core.numerics import (
    PLS,
    Ridge,
    _matrices,
    cka,
    linear_kernel,
    pls,
    rdm,
    stimulus_products,
)
from brainscore_core.numerics.stimulus_products import centred_gram, fast_gram, row_gram


@pytest.fixture(autouse=True)
def _always(monkeypatch):
    monkeypatch.setattr(stimulus_products, "_WORTH_FLOAT32", 0)


def _features(n=60, p=2500):
    """Features with a falling spectrum, and a mean for each of them."""
    rng = np.random.default_rng(0)
    latent = rng.standard_normal((n, 40)) / np.sqrt(np.arange(1, 41))
    X = latent @ rng.standard_normal((40, p)) + 0.1 * rng.standard_normal((n, p)) + rng.standard_normal(p)
    return X.astype(np.float32)


def _large_means(X):
    return X + np.float32(300) * np.random.default_rng(1).standard_normal(X.shape[1], dtype=np.float32)


def _few_dominate(X):
    X = X.copy()
    X[:, [3, 700, 701]] *= 3000
    return X


def _unequal_scales(X):
    return X * np.exp(2 * np.random.default_rng(1).standard_normal(X.shape[1], dtype=np.float32))


def _many_dominate(X):
    return X * np.where(np.arange(X.shape[1]) % 2, np.float32(1000), np.float32(1))


def _layers_of_unequal_scale(X):
    return X * np.where(np.arange(X.shape[1]) < 1200, np.float32(1000), np.float32(1))


def _mostly_constant(X):
    X = X.copy()
    X[:, 100:2300] = 0.1
    return X


REGIMES = [_large_means, _few_dominate, _unequal_scales, _many_dominate, _layers_of_unequal_scale, _mostly_constant]


@pytest.mark.parametrize("regime", REGIMES)
def test_errors_are_small_relative_to_what_float32_holds(regime):
    X = regime(_features())
    exact = X.astype(np.longdouble)
    columns, rows = exact - exact.mean(axis=0), exact - exact.mean(axis=1, keepdims=True)
    expected = (columns @ columns.T).astype(float)
    K, rounded = fast_gram(X)
    np.testing.assert_array_equal(K, K.T)
    difference = np.abs(K - expected).max()
    assert 0 < difference < 2e-6 * rounded + 1e-13 * expected.trace()
    assert rounded <= (1 + 1e-6) * expected.trace() / len(X)
    if regime in (_few_dominate, _unequal_scales):
        assert rounded < 0.02 * expected.trace() / len(X)
    for centred, values in ((True, rows), (False, exact)):
        expected = np.triu(values @ values.T).astype(float)
        found = np.triu(row_gram(X, centred=centred)[0])
        np.testing.assert_allclose(found, expected, atol=1e-6 * expected.trace() / len(X))


def test_any_layout():
    X = _features()
    K, rounded = fast_gram(X)
    for other in (np.asfortranarray(X), np.repeat(X, 2, axis=1)[:, ::2], X[::-1][::-1]):
        found = fast_gram(other)
        np.testing.assert_allclose(found[0], K, atol=1e-6 * rounded)
        assert found[1] == pytest.approx(rounded)


@pytest.mark.parametrize("exponent", [63, 100, 120, -50, -100, -120])
def test_values_beyond_the_range_of_squares_in_float32(exponent):
    X = _features() * np.float32(2) ** exponent
    K, rounded = fast_gram(X)
    assert rounded == 0
    np.testing.assert_allclose(K, centred_gram(X), rtol=1e-6, atol=1e-6 * K.trace() / len(X))
    np.testing.assert_allclose(rdm(X), rdm(_features()), atol=1e-6)


def test_largest_values_of_both_signs():
    X = _features()
    X[3, 5], X[4, 5] = np.finfo(np.float32).max, -np.finfo(np.float32).max
    K = centred_gram(X)
    np.testing.assert_allclose(fast_gram(X)[0], K, rtol=1e-6, atol=1e-6 * K.trace() / len(X))


def test_constant_features_are_exactly_zero():
    X = np.tile(np.random.default_rng(0).standard_normal(2500, dtype=np.float32) * 100, (60, 1))
    assert not fast_gram(X)[0].any()
    assert cka(X, _features(p=5)).reason == "the first representation does not vary consistently over stimuli"
    X = _features()
    X[7] = 0.1
    np.testing.assert_array_equal(np.isnan(rdm(X)), np.isnan(rdm(X.astype(np.float64))))
    np.testing.assert_array_equal(np.isnan(rdm(X)).sum(), 59)


@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_values_that_are_not_finite(value, tmp_path):
    X = _features()
    X[4, 7] = value
    np.save(tmp_path / "X.npy", X)
    for features in (X, np.load(tmp_path / "X.npy", mmap_mode="r")):
        for call in (linear_kernel, PLS(3).fit):
            with pytest.raises(ValueError, match="X is not finite in row 4"):
                call(features, **({} if call is linear_kernel else {"Y": _features(p=3)}))
        assert np.isnan(rdm(features)).sum() == 59


def test_a_memory_map_is_read_in_blocks(tmp_path, monkeypatch):
    monkeypatch.setattr(_matrices, "CHUNK_BYTES", 2**20)
    np.save(tmp_path / "X.npy", _features(p=30_000))
    mapped = np.load(tmp_path / "X.npy", mmap_mode="r")
    tracemalloc.start()
    fast_gram(mapped)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 2**20


def test_threads_change_only_rounding():
    X, results = _features(n=200), []
    for threads in (1, 2):
        with threadpool_limits(threads):
            results.append(fast_gram(X))
    np.testing.assert_allclose(results[1][0], results[0][0], atol=1e-6 * results[0][1])


def test_small_features_and_others_are_computed_in_float64(monkeypatch):
    X = _features()
    exact = Ridge(1.0).fit(X.astype(np.float64), X[:, :2]).weights
    np.testing.assert_allclose(Ridge(1.0).fit(X, X[:, :2]).weights, exact, rtol=1e-9)
    assert fast_gram(X.astype(np.float64))[1] == 0
    monkeypatch.undo()
    K, rounded = fast_gram(X)
    assert rounded == 0
    np.testing.assert_array_equal(K, centred_gram(X))


def _both(monkeypatch, call):
    """Results in float32 and in float64, and how often products were computed in float64."""
    count = []
    exact = pls.gram_on
    monkeypatch.setattr(pls, "gram_on", lambda *args: count.append(args) or exact(*args))
    found = call()
    monkeypatch.setattr(stimulus_products, "_WORTH_FLOAT32", np.inf)
    return found, call(), len(count)


def test_pls_in_float32(monkeypatch):
    X = _features(n=90)
    Y = X[:, :8].astype(np.float64) + np.random.default_rng(2).standard_normal((90, 8))
    splits = [(np.setdiff1d(np.arange(90), test), test) for test in np.arange(90).reshape(3, 30)]
    found, expected, in_float64 = _both(monkeypatch, lambda: np.concatenate(list(PLS(8).cross_predict(X, Y, splits))))
    assert in_float64 == 0
    assert 0 < np.abs(found - expected).max() < 1e-5 * expected.std()


@pytest.mark.filterwarnings("ignore:PLS stopped after")
@pytest.mark.parametrize("kind", ["dependent", "steep", "a level of each stimulus"])
def test_pls_in_float64_where_components_are_small(kind, monkeypatch):
    rng = np.random.default_rng(0)
    latent = rng.standard_normal((90, 40))
    if kind == "dependent":
        X = np.tile(latent[:, :5], 500)
    elif kind == "steep":
        X = (latent / np.arange(1, 41) ** 2) @ rng.standard_normal((40, 2500))
    else:
        X = _features(n=90) + 100 * latent[:, :1]
    X, Y = X.astype(np.float32), latent[:, :6] + rng.standard_normal((90, 6))
    splits = [(np.setdiff1d(np.arange(90), test), test) for test in np.arange(90).reshape(3, 30)]
    found, expected, in_float64 = _both(monkeypatch, lambda: np.concatenate(list(PLS(8).cross_predict(X, Y, splits))))
    assert in_float64 == 1
    np.testing.assert_allclose(found, expected, atol=1e-9)
    fit = PLS(8).fit(X, Y)
    assert fit.n_components == (5 if kind == "dependent" else 8)
