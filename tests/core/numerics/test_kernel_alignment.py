import numpy as np
import pytest
from scipy.spatial.distance import pdist, squareform

from brainscore_core.numerics import (
    cka,
    compare_kernels,
    compare_rdms_whitened,
    linear_kernel,
    rbf_kernel,
    rdm,
)


@pytest.fixture
def pair():
    rng = np.random.default_rng(0)
    x = rng.standard_normal((25, 40)) + 5
    return x, x[:, :10] @ rng.standard_normal((10, 12)) + rng.standard_normal((25, 12))


def _alignment(K, L):
    """Kornblith et al. 2019, equations 3 and 2."""
    H = np.eye(len(K)) - 1 / len(K)
    return np.trace(K @ H @ L @ H) / np.sqrt(np.trace(K @ H @ K @ H) * np.trace(L @ H @ L @ H))


def _u_centred(K):
    """Székely & Rizzo 2014: inner products of these are Song's unbiased HSIC."""
    n = len(K)
    K = K - np.diag(np.diag(K))
    K = K - K.sum(0) / (n - 2) - K.sum(1)[:, None] / (n - 2) + K.sum() / ((n - 1) * (n - 2))
    return K - np.diag(np.diag(K))


def _rbf(x, fraction):
    distances = pdist(x)
    return np.exp(-(squareform(distances) ** 2) / (2 * (fraction * np.median(distances)) ** 2))


@pytest.mark.parametrize("fraction", [0.2, 0.8])
def test_rbf_equals_the_definition(pair, fraction):
    x, y = pair
    np.testing.assert_allclose(rbf_kernel(x, bandwidth=fraction), _rbf(x, fraction), atol=1e-12)
    expected = _alignment(_rbf(x, fraction), _rbf(y, fraction))
    assert cka(x, y, kernel="rbf", bandwidth=fraction, unbiased=False).value == pytest.approx(expected, abs=1e-12)
    unbiased = cka(x, y, kernel="rbf", bandwidth=fraction).value
    K, L = (_u_centred(_rbf(values, fraction)) for values in (x, y))
    assert unbiased == pytest.approx((K * L).sum() / np.sqrt((K * K).sum() * (L * L).sum()), abs=1e-12)
    assert unbiased < expected


def test_wide_rbf_is_linear(pair):
    assert cka(*pair, kernel="rbf", bandwidth=1e3, unbiased=False).value == pytest.approx(
        cka(*pair, unbiased=False).value, abs=1e-5
    )


def test_alignment_ignores_what_centring_removes(pair):
    K, L = (linear_kernel(values) for values in pair)
    offset = np.random.default_rng(1).standard_normal(25)
    shifted = K + offset + offset[:, None] + 7
    for unbiased in (True, False):
        expected = compare_kernels(K, L, unbiased=unbiased)
        found = compare_kernels(shifted, L, unbiased=unbiased)
        assert found.value == pytest.approx(expected.value, abs=1e-12)
        np.testing.assert_allclose(found.influence, expected.influence, atol=1e-9)


def test_kernel_of_a_selection_is_the_selection_of_the_kernel(pair):
    x, y = pair
    rows = np.random.default_rng(2).permutation(25)[:15]
    for unbiased in (True, False):
        part = [linear_kernel(values)[np.ix_(rows, rows)] for values in pair]
        found = compare_kernels(*part, unbiased=unbiased).value
        assert found == pytest.approx(cka(x[rows], y[rows], unbiased=unbiased).value, abs=1e-12)


def test_alike_stimuli(pair):
    y = pair[1]
    for constant in (np.full((25, 3), 1 / 3), np.full((25, 3), 1e9 / 7), np.zeros((25, 1))):
        assert not linear_kernel(constant).any()
        for kernel in ("linear", "rbf"):
            assert np.isnan(cka(constant, y, kernel=kernel).value)
            assert "second representation" in cka(y, constant, kernel=kernel, unbiased=False).reason
    mostly = np.zeros((25, 3))
    mostly[0] = 1  # the median distance is 0
    assert np.isfinite(cka(mostly, y, kernel="rbf", unbiased=False).value)


def test_what_cannot_be_compared_is_refused(pair):
    x, y = pair
    with pytest.raises(ValueError, match="bandwidth is 0"):
        cka(x, y, kernel="rbf", bandwidth=0)
    with pytest.raises(ValueError, match="use 'linear' or 'rbf'"):
        cka(x, y, kernel="polynomial")
    with pytest.raises(ValueError, match="3 stimuli"):
        cka(x[:3], y[:3], kernel="rbf")
    with pytest.raises(ValueError, match="equal squares"):
        compare_kernels(np.eye(4), np.eye(5))
    with pytest.raises(ValueError, match="not finite"):
        compare_kernels(np.full((4, 4), np.nan), np.eye(4))


def _whitened(a, b):
    """Diedrichsen et al. 2021, with V written out."""
    n = round((1 + np.sqrt(1 + 8 * len(a))) / 2)
    contrasts = np.zeros((len(a), n))
    rows, columns = np.triu_indices(n, k=1)
    contrasts[np.arange(len(a)), rows] = 1
    contrasts[np.arange(len(a)), columns] = -1
    inverse = np.linalg.inv((contrasts @ contrasts.T) ** 2)
    return a @ inverse @ b / np.sqrt((a @ inverse @ a) * (b @ inverse @ b))


def test_whitened_comparison_equals_the_definition_and_its_interval_is_the_unbiased_ones(pair):
    rng = np.random.default_rng(0)
    a, b = (rdm(values, dissimilarity="sqeuclidean") for values in pair)
    b = b + 5 * rng.standard_normal(len(b))  # as cross-validated distances: no geometry of real vectors
    similarity = compare_rdms_whitened(a, b)
    assert similarity.value == pytest.approx(_whitened(a, b), abs=1e-10)
    unbiased = compare_kernels(*(squareform(values) / -2 for values in (a, b)))
    np.testing.assert_allclose(similarity.influence, unbiased.influence, atol=1e-12)
    assert similarity.value - similarity.bias == pytest.approx(unbiased.value, abs=1e-12)


def test_whitened_comparison_equals_rsatoolbox():
    """Rsatoolbox 0.3.2, compare(method='cosine_cov') of crossnobis and Euclidean RDMs."""
    from brainscore_core.numerics import crossnobis_rdm

    rng = np.random.default_rng(0)
    signal, mix = rng.standard_normal((12, 7)), rng.standard_normal((7, 7))
    folds = signal + rng.standard_normal((4, 12, 7)) @ mix
    a = crossnobis_rdm(folds, np.linalg.inv(np.cov(mix.T) + np.eye(7)))
    b = rdm(folds.mean(axis=0), dissimilarity="sqeuclidean")
    assert compare_rdms_whitened(a, b).value == pytest.approx(0.8830914207651677, abs=1e-12)


def test_whitened_cosine_of_distances_is_linear_cka(pair):
    distances = [rdm(values, dissimilarity="sqeuclidean") for values in pair]
    assert compare_rdms_whitened(*distances).value == pytest.approx(cka(*pair, unbiased=False).value, abs=1e-12)


def test_undefined_whitened_comparison_says_why():
    a = np.arange(1.0, 7)
    assert "second RDM are 0" in compare_rdms_whitened(a, 0 * a).reason
    assert "first RDM holds NaN" in compare_rdms_whitened(a * np.nan, a).reason
    with pytest.raises(ValueError, match="2 stimuli"):
        compare_rdms_whitened([1.0], [1.0])
