"""Computed with PyTorch, values are the same."""

import numpy as np
import pytest

from brainscore_core.errors import UserError
from brainscore_core.numerics import Ridge, _matrices, _processors, cka, rdm

torch = pytest.importorskip("torch")

DEVICES = [
    "cpu",
    pytest.param(
        "cuda", marks=pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a CUDA device; none is here")
    ),
]


def _data(n=60, p=90, q=7):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((n, p)) + 3
    return X, X[:, :q] + rng.standard_normal((n, q))


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("kind", [np.float64, np.float32])
@pytest.mark.parametrize("p", [90, 58, 20])
def test_ridge(device, kind, p):
    X, Y = _data(p=p)
    X = X.astype(kind)
    rng = np.random.default_rng(1)
    orders = [rng.permutation(60) for _ in range(4)]
    splits = [(order[:50], order[50:]) for order in orders[:3]] + [(orders[3][:25], orders[3][40:])]
    on_device, plain = Ridge(0.5, device=device), Ridge(0.5)
    np.testing.assert_allclose(on_device.fit(X, Y).predict(X), plain.fit(X, Y).predict(X), atol=1e-10)
    pairs = zip(on_device.cross_predict(X, Y, splits), plain.cross_predict(X, Y, splits), strict=True)
    for found, expected in pairs:
        np.testing.assert_allclose(found, expected, atol=1e-10)


@pytest.mark.parametrize("device", DEVICES)
def test_ridge_of_dependent_stimuli(device):
    """A Gram matrix with eigenvalues that rounding makes negative, and hardly any penalty."""
    X, Y = _data(n=30, p=40)
    X = np.repeat(1e6 * X, 2, axis=0)
    Y = np.repeat(Y, 2, axis=0)
    found = Ridge(1e-12, device=device).fit(X[:, :35], Y).predict(X[:, :35])
    np.testing.assert_allclose(found, Y, atol=1e-3)


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("dissimilarity", ["correlation", "cosine", "euclidean", "sqeuclidean"])
def test_rdm(device, dissimilarity):
    X, _ = _data()
    found = rdm(X, dissimilarity=dissimilarity, device=device)
    np.testing.assert_allclose(found, rdm(X, dissimilarity=dissimilarity), atol=1e-10)


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("options", [{}, {"unbiased": False}, {"kernel": "rbf"}])
def test_cka(device, options):
    X, Y = _data()
    found, expected = (cka(X.astype(np.float32), Y, device=where, **options) for where in (device, None))
    assert found.value == pytest.approx(expected.value, abs=1e-10)
    np.testing.assert_allclose(found.influence, expected.influence, atol=1e-9)


@pytest.mark.parametrize("device", DEVICES)
def test_features_in_a_file_are_read_in_chunks(device, tmp_path, monkeypatch):
    monkeypatch.setattr(_matrices, "CHUNK_BYTES", 2**21)
    monkeypatch.setattr(_matrices, "_MAX_GPU_CHUNK_BYTES", 2**21)
    monkeypatch.setattr(_processors, "_STAGED_BYTES", 2**19)
    rng = np.random.default_rng(2)
    np.save(tmp_path / "features.npy", rng.standard_normal((300, 3001), dtype=np.float32) + 3)
    X = np.load(tmp_path / "features.npy", mmap_mode="r")
    expected = rdm(np.array(X), dissimilarity="sqeuclidean")
    np.testing.assert_allclose(rdm(X, dissimilarity="sqeuclidean", device=device), expected, rtol=1e-10)
    np.testing.assert_allclose(rdm(X, device=device), rdm(np.array(X)), atol=1e-10)


def test_automatic_device_and_one_that_is_not_there():
    X, Y = _data()
    np.testing.assert_allclose(rdm(X, device="auto"), rdm(X), atol=1e-10)
    for call in (lambda: rdm(X, device="abacus"), lambda: cka(X, Y, device="mps"), lambda: Ridge(device="x").fit(X, Y)):
        with pytest.raises(UserError, match="device"):
            call()
    X[3, 4] = np.nan
    for p in (90, 20):
        with pytest.raises(ValueError, match="X is not finite in row 3"):
            Ridge(device="cpu").fit(X[:, :p], Y)
