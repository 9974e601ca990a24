"""All splits of PLS together: against each fitted by scikit-learn, in NumPy and in PyTorch."""

import sys
import threading
import tracemalloc
import warnings
from functools import partial

import numpy as np
import pytest
from sklearn.cross_decomposition import PLSRegression
from threadpoolctl import threadpool_limits

from brainscore_core.errors import UserError
from brainscore_core.numerics import (
    PLS,
    _matrices,
    _pls_components,
    _processors,
    pls,
    rdm,
    stimulus_products,
)
from brainscore_core.numerics.stimulus_products import centred_gram


def _data(n, p, q, *, seed=0):
    rng = np.random.default_rng(seed)
    latent = rng.standard_normal((n, 40)) / np.sqrt(np.arange(1, 41))
    X = latent @ rng.standard_normal((40, p)) + 0.1 * rng.standard_normal((n, p)) + 3
    return X, latent @ rng.standard_normal((40, q)) + 0.5 * rng.standard_normal((n, q)) - 3


def _splits(n):
    """Shuffled, from the sorted rows, half of them, few, with rows twice, and tested on rows that are trained on."""
    order = np.random.default_rng(1).permutation(n)
    splits = [(np.delete(order, np.arange(i, n, 8)), order[i::8]) for i in range(3)]
    splits += [(np.arange(n // 2, n), np.arange(n // 2)), (order[: n // 3], order[n // 2 :])]
    return [*splits, (np.concatenate([order[: n // 2], order[: n // 4]]), order[n // 2 :]), (order, order[:7])]


def _expected(X, Y, splits, k):
    for train, test in splits:
        reference = PLSRegression(k, scale=False, tol=1e-24, max_iter=200_000).fit(X[train], Y[train])
        yield reference.predict(X[test]).reshape(len(test), -1)


@pytest.mark.parametrize(
    ("n", "p", "q"),
    [
        (90, 150, 40),
        (90, 150, 70),
        (90, 150, 3),
        (90, 80, 30),
        (150, 100, 70),
        (150, 30, 40),
        (150, 30, 2),
        (90, 10, 1),
        (90, 200, 1),
    ],
)
def test_each_split_equals_converged_scikit_learn(n, p, q):
    X, Y = _data(n, p, q)
    splits = _splits(n)
    for predicted, expected in zip(PLS(8).cross_predict(X, Y, splits), _expected(X, Y, splits, 8), strict=True):
        np.testing.assert_allclose(predicted, expected, atol=1e-8)


@pytest.mark.parametrize("p", [40, 150])
@pytest.mark.parametrize("q", [60, 170])
def test_many_responses_are_only_multiplied_with(p, q, monkeypatch):
    monkeypatch.setattr(_pls_components, "FORMED", 50)
    X, Y = _data(120, p, q)  # also more responses than features, and than stimuli
    splits = _splits(120)
    for predicted, expected in zip(PLS(5).cross_predict(X, Y, splits), _expected(X, Y, splits, 5), strict=True):
        np.testing.assert_allclose(predicted, expected, atol=1e-8)


@pytest.mark.parametrize("p", [40, 150])
def test_one_left_out_stimulus_may_be_enormous(p):
    X, Y = _data(100, p, 5)
    X[3] *= 1e5
    Y[3] *= 1e5
    rows = np.arange(100)
    splits = [(np.delete(rows, [3, 5]), np.array([5, 7])), (np.delete(rows, [3, 8]), np.array([8]))]
    for predicted, expected in zip(PLS(6).cross_predict(X, Y, splits), _expected(X, Y, splits, 6), strict=True):
        np.testing.assert_allclose(predicted, expected, atol=1e-5)


@pytest.mark.parametrize("p", [30, 150])
def test_splits_in_groups_are_the_same(p, monkeypatch):
    X, Y = _data(90, p, 4)
    expected = list(PLS(5).cross_predict(X, Y, _splits(90)))
    monkeypatch.setattr(pls, "_GROUP_BYTES", 1)
    for values, others in zip(PLS(5).cross_predict(X, Y, _splits(90)), expected, strict=True):
        np.testing.assert_allclose(values, others, atol=1e-12)


@pytest.mark.parametrize("p", [1, 30, 150])
@pytest.mark.parametrize("q", [1, 4, 40])
def test_what_does_not_vary_is_predicted_by_its_mean(p, q):
    X, Y = _data(90, p, q)
    splits = _splits(90)
    k = min(5, p)
    for flat_X, flat_Y in ((np.full_like(X, 0.1), Y), (X, np.full_like(Y, 0.1))):
        with pytest.warns(UserWarning, match=f"stopped after 0 of {k} components"):
            predictions = list(PLS(k).cross_predict(flat_X, flat_Y, splits))
        for predicted, (train, test) in zip(predictions, splits, strict=True):
            np.testing.assert_allclose(predicted, np.tile(flat_Y[train].mean(axis=0), (len(test), 1)), atol=1e-12)


def test_features_that_vary_only_among_what_is_left_out():
    X, Y = _data(60, 5, 2)
    X[:40] = 1.0
    splits = [(np.arange(40), np.arange(40, 60)), (np.arange(20, 60), np.arange(20))]
    with pytest.warns(UserWarning, match="stopped after 0 of 3"):
        flat, fitted = PLS(3).cross_predict(X, Y, splits)
    np.testing.assert_allclose(flat, np.tile(Y[:40].mean(axis=0), (20, 1)), atol=1e-9)
    (expected,) = _expected(X, Y, splits[1:], 3)
    np.testing.assert_allclose(fitted, expected, atol=1e-8)


@pytest.mark.parametrize("p", [30, 150])
def test_some_responses_may_be_constant(p):
    X, Y = _data(90, p, 5)
    Y[:, 2] = 7.0
    for predicted, other in zip(
        PLS(5).cross_predict(X, Y, _splits(90)), PLS(5).cross_predict(X, np.delete(Y, 2, 1), _splits(90)), strict=True
    ):
        np.testing.assert_allclose(predicted[:, 2], 7.0, atol=1e-9)
        np.testing.assert_allclose(np.delete(predicted, 2, 1), other, atol=1e-9)


def test_one_feature():
    X, Y = _data(60, 1, 3)
    for predicted, expected in zip(
        PLS(1).cross_predict(X, Y, _splits(60)), _expected(X, Y, _splits(60), 1), strict=True
    ):
        np.testing.assert_allclose(predicted, expected, atol=1e-10)


@pytest.mark.parametrize("p", [30, 150])
def test_a_split_with_fewer_components_does_not_stop_the_others(p):
    rng = np.random.default_rng(0)
    X, Y = _data(90, p, 4)
    X[:30] = rng.standard_normal((30, 2)) @ rng.standard_normal((2, p))
    splits = [(np.arange(30), np.arange(30, 40)), (np.arange(20, 90), np.arange(20))]
    with pytest.warns(UserWarning, match="stopped after 2 of 6"):
        few, all_of_them = PLS(6).cross_predict(X, Y, splits)
    expected = [*_expected(X, Y, splits[:1], 2), *_expected(X, Y, splits[1:], 6)]
    np.testing.assert_allclose(few, expected[0], atol=1e-8)
    np.testing.assert_allclose(all_of_them, expected[1], atol=1e-8)


@pytest.mark.parametrize("p", [30, 150])
@pytest.mark.parametrize("q", [1, 10, 40])
def test_torch_equals_numpy(p, q, monkeypatch):
    pytest.importorskip("torch")
    monkeypatch.setattr(_matrices, "CHUNK_BYTES", 8 * 90 * 20)
    X, Y = _data(90, p, q)
    X = X.astype(np.float32)
    X.setflags(write=False)
    for formed in (300, 5):
        monkeypatch.setattr(_pls_components, "FORMED", formed)
        splits = _splits(90)
        for values, expected in zip(
            PLS(6, device="cpu").cross_predict(X, Y, splits), PLS(6).cross_predict(X, Y, splits), strict=True
        ):
            assert isinstance(values, np.ndarray)
            np.testing.assert_allclose(values, expected, atol=1e-10)
        fits = PLS(6, device="cpu").fit(X, Y), PLS(6).fit(X, Y)
        np.testing.assert_allclose(fits[0].predict(X), fits[1].predict(X), atol=1e-10)


def test_cuda_equals_numpy():
    torch = pytest.importorskip("torch")
    if not torch.cuda.is_available():
        pytest.skip("PyTorch sees no CUDA device")
    for p in (100, 2000):
        X, Y = _data(300, p, 40)
        for values, expected in zip(
            PLS(device="cuda").cross_predict(X, Y, _splits(300)[:4]),
            PLS().cross_predict(X, Y, _splits(300)[:4]),
            strict=True,
        ):
            np.testing.assert_allclose(values, expected, atol=1e-10)


def test_devices():
    torch = pytest.importorskip("torch")
    assert _processors.resolve_device(None) is None
    assert _processors.resolve_device("cpu") == _processors.resolve_device(torch.device("cpu")) == torch.device("cpu")
    assert _processors.resolve_device("auto") == (torch.device("cuda") if torch.cuda.is_available() else None)
    for device, message in (
        ("mps", "does not support float64"),
        ("cuda:99", "not available"),
        ("meta", "not supported"),
        ("gpu", "unknown"),
    ):
        with pytest.raises(UserError, match=message):
            PLS(device=device).fit(*_data(40, 30, 2))
    values = np.arange(6.0).reshape(2, 3).T
    tensor = _processors.to_device(values.astype(np.float32), torch.device("cpu"))
    assert tensor.dtype == torch.float64
    np.testing.assert_array_equal(_processors.to_numpy(tensor), values)


def test_without_torch(monkeypatch):
    monkeypatch.setitem(sys.modules, "torch", None)
    assert _processors.resolve_device("auto") is None
    with pytest.raises(UserError, match=r"pip install 'brainscore\[torch\]'"):
        PLS(device="cpu").fit(*_data(40, 30, 2))


@pytest.mark.parametrize("q", [1, 2, 24, 25, 60])
def test_dominant_eigenvectors(q):
    rng = np.random.default_rng(0)
    Q = np.linalg.qr(rng.standard_normal((4, q, q)))[0]
    values = np.sort(rng.random((4, q)))
    values[1] = 1 - 1e-4 * np.arange(q)[::-1]  # hardly any gap
    M = (Q * values[:, None]) @ Q.mT
    M = (M + M.mT) / 2
    for x in (
        _pls_components.dominant_vectors(M, np),
        _pls_components.dominant_vectors_of_map(lambda v: (M @ v[..., None])[..., 0], rng.standard_normal((4, q)), np),
    ):
        np.testing.assert_allclose(np.abs((x * Q[:, :, -1]).sum(1)), 1.0, atol=1e-14)
        np.testing.assert_allclose(
            np.abs(M @ x[..., None] - values[:, -1:, None] * x[..., None]).max(), 0.0, atol=1e-12
        )


@pytest.mark.parametrize("gap", np.geomspace(0.9, 1e-6, 20))
def test_dominant_eigenvectors_after_any_number_of_squarings(gap):
    Q = np.linalg.qr(np.random.default_rng(0).standard_normal((60, 60)))[0]
    M = (Q * np.r_[(1 - gap) * np.linspace(0.5, 1, 59), 1.0]) @ Q.T
    found = _pls_components.dominant_vectors(np.stack([M, 1e-9 * M]), np)
    np.testing.assert_allclose(np.abs(found @ Q[:, -1]), 1.0, atol=1e-13 + (1e-14 / gap) ** 2)


@pytest.mark.parametrize("q", [3, 40])
def test_dominant_eigenvectors_of_ties_and_of_nothing(q):
    Q = np.linalg.qr(np.random.default_rng(0).standard_normal((q, q)))[0]
    tied = np.r_[np.linspace(0, 0.5, q - 2), 1, 1]
    M = np.stack([(Q * tied) @ Q.T, np.eye(q), np.zeros((q, q))])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = _pls_components.dominant_vectors(M, np)
        multiplied = _pls_components.dominant_vectors_of_map(lambda v: (M @ v[..., None])[..., 0], np.ones((3, q)), np)
    for x in (found, multiplied):
        assert np.isfinite(x).all()
        np.testing.assert_allclose((M @ x[..., None])[:2, :, 0], x[:2], atol=1e-10)


def _rotated(values, q=70):
    """Matrices with these eigenvalues (s × q), and their eigenvectors."""
    Q = np.linalg.qr(np.random.default_rng(1).standard_normal((len(values), q, q)))[0]
    return (Q * np.asarray(values)[:, None]) @ Q.mT, Q


def test_dominant_eigenvectors_are_followed_without_squaring(monkeypatch):
    """While each component changes two of the dimensions, as in PLS, also if gaps are small."""
    values = np.geomspace(1e-3, 1, 70) * np.array([[1.0], [1e-6]])
    values[:, -2] = values[:, -1] * (1 - 1e-4)
    M, _ = _rotated(values)
    rng = np.random.default_rng(0)
    dominant = _pls_components._Dominant(2, 70, np)
    monkeypatch.setattr(_pls_components, "dominant_vectors", None)
    for _ in range(10):
        found, expected = dominant.of(M), np.linalg.eigh(M)[1][:, :, -1]
        np.testing.assert_allclose(np.abs((found * expected).sum(1)), 1.0, atol=1e-14)
        without = np.eye(70) - found[..., None] @ found[:, None]
        added = rng.standard_normal((2, 70, 1)) * values[:, -1:, None] ** 0.5 / 30
        M = without @ M @ without + added @ added.mT


def test_dominant_eigenvectors_that_cannot_be_followed(monkeypatch):
    """Spectra without gaps, ties, nothing at all, and a dominant vector that did not exist before."""
    squared = []
    squaring = _pls_components.dominant_vectors
    monkeypatch.setattr(_pls_components, "dominant_vectors", lambda M, xp: squared.append(len(M)) or squaring(M, xp))
    values = np.stack([1 - 1e-3 * np.arange(70)[::-1], np.r_[np.linspace(0, 0.5, 68), 1, 1], np.zeros(70)])
    M, Q = _rotated(values)
    monkeypatch.setattr(_pls_components, "_CACHED", 1)  # each matrix for itself
    dominant = _pls_components._Dominant(3, 70, np)
    for _ in range(2):
        found = dominant.of(M)
        np.testing.assert_allclose(np.abs((found[0] * Q[0, :, -1]).sum()), 1.0, atol=1e-12)
        np.testing.assert_allclose((M @ found[..., None])[1, :, 0], found[1], atol=1e-12)
        assert np.isfinite(found).all()
    assert squared
    other = M[1] / 2 + np.outer(Q[1, :, 0], Q[1, :, 0])
    found = dominant.of(np.stack([M[0], other, M[2]]))
    np.testing.assert_allclose(np.abs((found[1] * Q[1, :, 0]).sum()), 1.0, atol=1e-12)


def test_gram_of_a_memory_map_is_read_in_chunks(tmp_path, monkeypatch):
    monkeypatch.setattr(_matrices, "CHUNK_BYTES", 2**20)
    X = np.random.default_rng(0).standard_normal((60, 40_000), dtype=np.float32) + 5
    np.save(tmp_path / "X.npy", X)
    mapped = np.load(tmp_path / "X.npy", mmap_mode="r")
    centred = X.astype(np.float64) - X.mean(axis=0, dtype=np.float64)
    expected = centred @ centred.T
    del centred
    tracemalloc.start()
    K = centred_gram(mapped)
    assert tracemalloc.get_traced_memory()[1] < 2**21
    tracemalloc.stop()
    np.testing.assert_allclose(K, expected, rtol=1e-9)
    np.testing.assert_array_equal(K, K.T)
    Y = X[:, :3].astype(np.float64)
    splits = [(np.arange(50), np.arange(50, 60))]
    np.testing.assert_array_equal(*(next(PLS(5).cross_predict(values, Y, splits)) for values in (mapped, X)))


@pytest.mark.parametrize("offset", [0.0, 1.0, 1e5])
@pytest.mark.parametrize("kind", ["float32", "float64", "by column"])
def test_products_of_features_with_a_mean(tmp_path, kind, offset):
    """The mean is subtracted afterwards unless it is so large that digits would be lost."""
    X = (np.random.default_rng(0).standard_normal((30, 70)) + offset).astype("f4" if kind == "float32" else "f8")
    X = np.asfortranarray(X) if kind == "by column" else X
    exact = X.astype(np.longdouble)
    columns, rows = exact - exact.mean(axis=0), exact - exact.mean(axis=1, keepdims=True)
    mapped = np.load(_saved(tmp_path, X), mmap_mode="r")
    for features in (X, mapped):
        products = np.triu(stimulus_products.row_gram(features, centred=True)[0])
        np.testing.assert_allclose(products, np.triu(rows @ rows.T).astype(float), rtol=1e-9, atol=1e-9)
        products = np.triu(stimulus_products.row_gram(features)[0])
        np.testing.assert_allclose(products, np.triu(exact @ exact.T).astype(float), rtol=1e-12)
        np.testing.assert_allclose(centred_gram(features), (columns @ columns.T).astype(float), rtol=1e-9, atol=1e-9)


def _saved(folder, X):
    np.save(folder / "X.npy", X)
    return folder / "X.npy"


def test_one_stimulus_without_variation_among_others(tmp_path):
    X = np.random.default_rng(0).standard_normal((30, 70))
    X[3] = 5.0
    mapped = np.load(_saved(tmp_path, X), mmap_mode="r")
    for features in (X, mapped):
        products = np.triu(stimulus_products.row_gram(features, centred=True)[0])
        np.testing.assert_allclose([products[3], products[:, 3]], 0.0, atol=1e-12)
    X[5, 7] = np.nan
    missing = np.load(_saved(tmp_path, X), mmap_mode="r")
    np.testing.assert_array_equal(np.isnan(rdm(missing)), np.isnan(rdm(X)))


def test_functions_in_several_threads():
    if not _processors.blas_libraries().info():
        pytest.skip("this version of threadpoolctl does not know NumPy's BLAS")

    def inner(i):
        return _processors.in_parallel([partial(pow, i, power) for power in (1, 2, 3)], numbers=10**6)

    with threadpool_limits(2):
        assert _processors.in_parallel([partial(inner, i) for i in range(4)], numbers=10**6) == [
            [i, i**2, i**3] for i in range(4)
        ]
        with pytest.raises(ZeroDivisionError):
            _processors.in_parallel([partial(divmod, 1, i) for i in range(2)], numbers=10**6)
        assert _processors.blas_threads() == 2  # as before
        here = threading.get_ident()
        assert _processors.in_parallel([threading.get_ident] * 2, numbers=100) == [here] * 2
        assert here not in _processors.in_parallel([threading.get_ident] * 2, numbers=10**6)


@pytest.mark.parametrize("p", [150, 60])
@pytest.mark.parametrize("q", [30, 70])
def test_splits_in_several_threads(p, q, monkeypatch):
    """Also if one of the groups, which share their products, has fewer components than the others."""
    if not _processors.blas_libraries().info():
        pytest.skip("this version of threadpoolctl does not know NumPy's BLAS")
    X, Y = _data(90, p, q)
    X[:20] = X[:20, :1]
    splits = [(np.arange(20), np.arange(30)), *_splits(90)]
    monkeypatch.setattr(pls, "_FEW_STIMULI", 0)
    monkeypatch.setattr(_processors, "_FEW_NUMBERS", 0)
    results = []
    for threads in (1, 3, len(splits)):
        with threadpool_limits(threads):
            with pytest.warns(UserWarning, match="stopped after 1 of 6"):
                results.append(list(PLS(6).cross_predict(X, Y, splits)))
            assert {library["num_threads"] for library in _processors.blas_libraries().info()} == {threads}  # as before
    for together in results[1:]:
        for found, expected in zip(together, results[0], strict=True):
            np.testing.assert_allclose(found, expected, atol=1e-11)


def test_gram_on_a_device(monkeypatch):
    torch = pytest.importorskip("torch")
    X = np.random.default_rng(0).standard_normal((30, 500)) * 1e3 + 1e3
    monkeypatch.setattr(_matrices, "CHUNK_BYTES", 8 * 30 * 64)
    np.testing.assert_allclose(centred_gram(X, device=torch.device("cpu")), centred_gram(X), rtol=1e-10, atol=1e-4)
    assert not centred_gram(np.full((5, 9), 0.1), device=torch.device("cpu")).any()
    X[4, 7] = np.nan
    for device in (None, torch.device("cpu")):
        with pytest.raises(ValueError, match="Z is not finite in row 4"):
            centred_gram(X, "Z", device=device)
    with pytest.raises(ValueError, match="too large"):
        centred_gram(np.array([[1e200], [0.0]]))
