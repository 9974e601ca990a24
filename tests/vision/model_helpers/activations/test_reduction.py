from itertools import pairwise

import numpy as np
import pytest
from sklearn.decomposition import PCA

from brainscore_core.activation_store import layer_key
from brainscore_core.errors import UserError
from brainscore_vision.model_helpers.activations.reduction import IncrementalPCA, RandomProjection, make_reduction


def decaying(n, p, seed=0, decay=0.9, dtype=np.float64, offset=5.0):
    rng = np.random.default_rng(seed)
    scores = rng.standard_normal((n, min(n, p))) * decay ** np.arange(min(n, p))
    return (scores @ rng.standard_normal((min(n, p), p)) + offset * rng.standard_normal(p)).astype(dtype)


def fitted(X, components, batch):
    pca = IncrementalPCA(components)
    for start in range(0, len(X), batch):
        pca.fit_batch(X[start : start + batch])
    return pca


def assert_same_components(found, expected, rtol):
    signs = np.sign((found * expected).sum(axis=1, keepdims=True))
    np.testing.assert_allclose(found * signs, expected, atol=rtol)


@pytest.mark.parametrize(("dtype", "tolerance"), [(np.float64, 1e-9), (np.float32, 2e-4)])
@pytest.mark.parametrize("batch", [1, 7, 40])
def test_is_an_ordinary_pca_where_that_fits(dtype, tolerance, batch):
    X = decaying(40, 300, dtype=dtype)
    reference = PCA(20, svd_solver="full").fit(X.astype(np.float64))
    pca = fitted(X, 20, batch)
    assert pca.n_seen_ == 40
    np.testing.assert_allclose(pca.mean_, reference.mean_, rtol=1e-5, atol=1e-5)
    np.testing.assert_allclose(pca.explained_variance_, reference.explained_variance_, rtol=10 * tolerance)
    np.testing.assert_allclose(pca.explained_variance_ratio_, reference.explained_variance_ratio_, rtol=10 * tolerance)
    assert_same_components(pca.components_, reference.components_, tolerance)
    new = decaying(5, 300, seed=1, dtype=dtype)
    expected = reference.transform(new.astype(np.float64))
    signs = np.sign((pca.components_ * reference.components_).sum(axis=1))
    assert pca.transform(new).dtype == dtype
    np.testing.assert_allclose(pca.transform(new) * signs, expected, atol=100 * tolerance, rtol=10 * tolerance)


def test_many_merges_of_few_dimensions_are_exact():
    """Rank 6 with 8 components: nothing is ever dropped."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((500, 6)) @ rng.standard_normal((6, 90)) + rng.standard_normal(90)
    reference = PCA(6, svd_solver="full").fit(X)
    pca = fitted(X, 8, 33)
    assert len(pca.components_) == 6
    np.testing.assert_allclose(pca.explained_variance_, reference.explained_variance_, rtol=1e-9)
    assert_same_components(pca.components_, reference.components_, 1e-8)
    np.testing.assert_allclose(pca.explained_variance_ratio_.sum(), 1)


def test_many_merges_come_close():
    X = decaying(1000, 200, decay=0.8)
    reference = PCA(20, svd_solver="full").fit(X)
    pca = fitted(X, 20, 64)
    np.testing.assert_allclose(pca.explained_variance_[:10], reference.explained_variance_[:10], rtol=1e-3)
    np.testing.assert_allclose(pca.mean_, reference.mean_, atol=1e-10)
    overlap = np.linalg.svd(pca.components_[:10] @ reference.components_[:10].T, compute_uv=False)
    assert overlap.min() > 0.999
    total = X.var(axis=0, ddof=1).sum()
    np.testing.assert_allclose(pca.explained_variance_ / pca.explained_variance_ratio_, total, rtol=1e-9)


def test_batches_do_not_matter():
    X = decaying(150, 80, dtype=np.float32)
    one, other = fitted(X, 10, 150), fitted(X, 10, 11)
    assert np.array_equal(one.transform(X), other.transform(X))


def test_learning_goes_on_after_use():
    X = decaying(60, 100)
    pca = fitted(X[:30], 20, 10)
    before = pca.transform(X)
    pca.fit_batch(X[30:])
    assert pca.n_seen_ == 60
    reference = PCA(20, svd_solver="full").fit(X)
    np.testing.assert_allclose(pca.mean_, X.mean(axis=0), atol=1e-10)
    np.testing.assert_allclose(pca.explained_variance_[:5], reference.explained_variance_[:5], rtol=0.02)
    assert before.shape == (60, 20)


def test_components_are_orthonormal_and_signed():
    pca = fitted(decaying(50, 70), 12, 20)
    np.testing.assert_allclose(pca.components_ @ pca.components_.T, np.eye(12), atol=1e-8)
    largest = np.abs(pca.components_).argmax(axis=1)
    assert (pca.components_[np.arange(12), largest] > 0).all()
    assert pca.width(70) == 12


@pytest.mark.parametrize(
    "reduction",
    [IncrementalPCA(10).fit_batch(np.ones((4, 10))), RandomProjection(10), RandomProjection(10, dense=True)],
)
def test_few_features_stay_as_they_are(reduction):
    X = np.random.default_rng(0).standard_normal((4, 10)).astype(np.float32)
    assert np.array_equal(reduction.transform(X), X)
    assert (reduction.width(10), reduction.width(11)) == (10, 10)
    if isinstance(reduction, RandomProjection):
        assert reduction.nbytes(11) > reduction.nbytes(10) == 0


def test_what_pca_cannot_learn_from():
    pca = IncrementalPCA(3)
    with pytest.raises(ValueError, match="call fit_batch first"):
        pca.transform(np.ones((2, 10)))
    with pytest.raises(ValueError, match="not finite"):
        pca.fit_batch([[np.nan] * 10])
    with pytest.raises(ValueError, match="rows × features"):
        pca.fit_batch(np.ones(10))
    pca.fit_batch(np.ones((1, 10)))
    with pytest.raises(ValueError, match="two rows"):
        pca.transform(np.ones((2, 10)))
    with pytest.raises(ValueError, match="11 features, but 10 before"):
        pca.fit_batch(np.ones((1, 11)))
    for wrong in (0, -1, 1.5, True):
        with pytest.raises(ValueError, match="n_components"):
            IncrementalPCA(wrong)


def test_constant_rows_have_no_components():
    pca = fitted(np.ones((9, 20), np.float32), 3, 4)
    assert pca.transform(np.ones((2, 20), np.float32)).shape == (2, 0)


@pytest.mark.parametrize("dense", [False, True])
def test_projection_keeps_inner_products(dense):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((30, 1500)) + rng.standard_normal(1500)
    errors = []
    for seed in range(20):
        Z = RandomProjection(200, seed=seed, dense=dense).transform(X)
        errors.append((Z @ Z.T - X @ X.T) / (np.linalg.norm(X, axis=1)[:, None] * np.linalg.norm(X, axis=1)))
    errors = np.array(errors)
    assert np.abs(errors.mean(axis=0)).max() < 5 * np.sqrt(2 / 200 / 20)  # unbiased
    assert errors[:, 0, 0].std() < 2 * np.sqrt(2 / 200)


@pytest.mark.parametrize("dense", [False, True])
def test_projection_is_linear_and_follows_its_seed(dense):
    X = np.random.default_rng(0).standard_normal((6, 400))
    projection = RandomProjection(50, seed=3, dense=dense)
    Z = projection.transform(X)
    np.testing.assert_allclose(projection.transform(2 * X[:2]), 2 * Z[:2])
    np.testing.assert_allclose(np.concatenate([projection.transform(row[None]) for row in X]), Z)
    assert np.array_equal(RandomProjection(50, seed=3, dense=dense).transform(X), Z)
    assert not np.allclose(RandomProjection(50, seed=4, dense=dense).transform(X), Z)
    single = projection.transform(X.astype(np.float32))
    assert single.dtype == np.float32
    np.testing.assert_allclose(single, Z, atol=1e-4)
    assert projection.transform(X.astype(np.float16)).dtype == np.float32


def test_sparse_weights():
    weights = RandomProjection(100).transform(np.eye(5000, dtype=np.float32))
    assert (np.count_nonzero(weights, axis=1) == 8).all()
    np.testing.assert_allclose(np.abs(weights[weights != 0]), 1 / np.sqrt(8), rtol=1e-6)
    np.testing.assert_allclose((weights > 0).sum() / (weights != 0).sum(), 0.5, atol=0.01)
    used = np.count_nonzero(weights, axis=0)
    assert abs(used.mean() - 400) < 1
    assert used.std() < 30  # every component is used about alike
    edges = np.linspace(0, 100, 9).astype(int)
    blocks = [np.count_nonzero(weights[:, start:stop], axis=1) for start, stop in pairwise(edges)]
    assert (np.array(blocks) == 1).all()


def test_the_sparse_projection_stays_the_same_in_later_versions():
    found = RandomProjection(3, seed=0).transform(np.arange(8.0)[None])
    again = RandomProjection(3, seed=0).transform(np.arange(8.0)[None])
    assert np.array_equal(found, again)
    np.testing.assert_allclose(found * np.sqrt(3), np.round(found * np.sqrt(3)), atol=1e-6)
    assert (found * np.sqrt(3)).round().astype(int).tolist() == [[6, 0, 10]]


def test_names():
    keys = set()
    for spec in ("pca", "pca:300", "projection", "projection:300", "gaussian", "gaussian:300"):
        described = make_reduction(spec).describe()
        assert described["components"] == (300 if "300" in spec else 1000)
        keys.add(layer_key(described))
    keys |= {layer_key(make_reduction("projection", seed=1).describe())}
    keys |= {layer_key(make_reduction("pca", fitted_on=name).describe()) for name in ("a", "b")}
    assert len(keys) == 9
    for wrong in ("", "ica", "pca:", "pca:0", "pca:many", "pca:-3", ":3"):
        with pytest.raises(UserError, match="there is no reduction"):
            make_reduction(wrong)
