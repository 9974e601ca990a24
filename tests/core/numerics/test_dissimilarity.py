import numpy as np
import pytest
from scipy.spatial.distance import pdist, squareform

from brainscore_core.numerics import (
    _matrices,
    crossnobis_rdm,
    dissimilarity,
    mahalanobis_rdm,
    noise_precision,
    rdm,
    square_rdm,
)

KINDS = ("correlation", "cosine", "euclidean", "sqeuclidean")


@pytest.mark.parametrize("shape", [(30, 90), (90, 7), (300, 40), (3, 1000)])
@pytest.mark.parametrize("kind", KINDS)
def test_equals_scipy(shape, kind, monkeypatch):
    monkeypatch.setattr(_matrices, "CHUNK_BYTES", 2**14)
    x = np.random.default_rng(0).standard_normal(shape) + 3
    for values in (x, x.astype(np.float32), np.asfortranarray(x), x[:, ::-1]):
        expected = pdist(values.astype(np.float64), kind)
        np.testing.assert_allclose(rdm(values, dissimilarity=kind), expected, atol=1e-11 * expected.max())
    np.testing.assert_allclose(square_rdm(x, dissimilarity=kind), squareform(pdist(x, kind)), atol=1e-10)


def test_distances_of_equal_stimuli_are_0_whatever_their_offset():
    x = np.random.default_rng(0).standard_normal((20, 50)) + 1e3
    x[7] = x[3]
    for kind in ("euclidean", "sqeuclidean"):
        square = square_rdm(x, dissimilarity=kind)
        assert square[3, 7] == 0
        np.testing.assert_allclose(square, squareform(pdist(x, kind)), atol=1e-8)


def test_stimulus_without_responses_has_no_cosine():
    x = np.random.default_rng(0).standard_normal((5, 4))
    x[2] = 0
    square = square_rdm(x, dissimilarity="cosine")
    assert np.isnan(np.delete(square[2], 2)).all()
    assert np.isfinite(np.delete(np.delete(square, 2, 0), 2, 1)).all()
    assert np.isfinite(rdm(x, dissimilarity="euclidean")).all()


def test_one_feature():
    x = np.array([[1.0], [2.0], [-4.0]])
    assert np.isnan(rdm(x)).all()
    np.testing.assert_allclose(rdm(x, dissimilarity="cosine"), [0, 2, 2])
    np.testing.assert_allclose(rdm(x, dissimilarity="euclidean"), [1, 5, 6])


def test_what_is_not_finite_is_named():
    x = np.ones((4, 3))
    x[2, 1] = np.nan
    with pytest.raises(ValueError, match="not finite in row 2"):
        rdm(x, dissimilarity="euclidean")
    assert np.isnan(rdm(x)).all()
    with pytest.raises(ValueError, match=r"'manhattan'; use one of 'correlation'"):
        rdm(np.ones((3, 3)), dissimilarity="manhattan")


@pytest.fixture
def folds():
    rng = np.random.default_rng(0)
    signal, mix = rng.standard_normal((12, 7)), rng.standard_normal((7, 7))
    measured = signal + rng.standard_normal((4, 12, 7)) @ mix
    return measured, np.linalg.inv(np.cov(mix.T) + np.eye(7))


def test_noise_normalised_distances_equal_rsatoolbox_and_the_definition(folds):
    """First values of rsatoolbox 0.3.2, calc_rdm(method='crossnobis' and 'mahalanobis'), same noise precision."""
    measured, precision = folds
    crossnobis, mahalanobis = crossnobis_rdm(measured, precision), mahalanobis_rdm(measured.mean(axis=0), precision)
    np.testing.assert_allclose(
        crossnobis[:3], [0.2539659202064456, -0.3303053580576894, 0.5804073713258744], rtol=1e-10
    )
    np.testing.assert_allclose(mahalanobis[:3], [2.143660642427865, 1.2528170657733761, 2.026418686752763], rtol=1e-10)
    pairs = list(zip(*np.triu_indices(12, k=1), strict=True))
    literal = [
        np.mean([
            (measured[a, i] - measured[a, j]) @ precision @ (measured[b, i] - measured[b, j]) / 7
            for a in range(4) for b in range(4) if a != b
        ])
        for i, j in pairs
    ]  # fmt: skip
    np.testing.assert_allclose(crossnobis, literal, atol=1e-12)
    inverse = pdist(measured.mean(axis=0), "mahalanobis", VI=precision) ** 2 / 7
    np.testing.assert_allclose(mahalanobis, inverse, atol=1e-12)


def test_crossnobis_distance_of_equal_stimuli_is_0_on_average():
    rng = np.random.default_rng(0)
    noise = rng.standard_normal((3, 200, 20))
    crossnobis = crossnobis_rdm(noise, np.eye(20))
    assert abs(crossnobis.mean()) < 0.02
    assert (crossnobis < 0).mean() > 0.3
    assert mahalanobis_rdm(noise.mean(axis=0), np.eye(20)).mean() == pytest.approx(2 / 3, rel=0.05)


def test_noise_precision_equals_rsatoolbox_and_inverts_the_covariance(folds):
    """Rsatoolbox 0.3.2, prec_from_residuals(method='shrinkage_eye', dof=36)."""
    residuals = (folds[0] - folds[0].mean(axis=0)).reshape(-1, 7)
    precision = noise_precision(residuals, degrees_of_freedom=36)
    np.testing.assert_allclose(precision[0, :2], [0.14379787, -0.07653439], atol=5e-9)
    np.testing.assert_allclose(noise_precision(residuals * 1e8, degrees_of_freedom=36), precision * 1e-16, rtol=1e-9)
    rng = np.random.default_rng(0)
    covariance = np.diag([1.0, 4.0, 9.0]) + 0.5
    many = rng.multivariate_normal(np.zeros(3), covariance, 100_000)
    np.testing.assert_allclose(noise_precision(many) @ covariance, np.eye(3), atol=0.03)


def test_noise_of_more_features_than_presentations_can_be_inverted():
    residuals = np.random.default_rng(0).standard_normal((20, 100))
    residuals[:, 5] = 0  # a neuroid without noise
    precision = noise_precision(residuals)
    assert np.linalg.eigvalsh(precision).min() > 0


def test_noise_normalisation_refuses_what_has_no_noise(folds):
    measured, precision = folds
    with pytest.raises(ValueError, match="all 0: repetitions do not differ"):
        noise_precision(np.zeros((10, 3)))
    with pytest.raises(ValueError, match="0 degrees of freedom"):
        noise_precision(np.ones((3, 3)), degrees_of_freedom=0)
    with pytest.raises(ValueError, match="1 fold"):
        crossnobis_rdm(measured[:1], precision)
    with pytest.raises(ValueError, match=r"it must be \(7, 7\) for 7 features"):
        crossnobis_rdm(measured, np.eye(3))
    with pytest.raises(ValueError, match="not positive definite"):
        crossnobis_rdm(measured, -np.eye(7))
    measured[0, 0, 0] = np.inf
    with pytest.raises(ValueError, match="not finite"):
        crossnobis_rdm(measured, precision)


def test_triangle_and_square_equal_scipy():
    pairs = np.random.default_rng(0).standard_normal(45)
    square = squareform(pairs)
    np.testing.assert_array_equal(dissimilarity.expanded(pairs), square)
    np.testing.assert_array_equal(dissimilarity.condensed(square), pairs)
    with pytest.raises(ValueError, match="44 values are not the upper triangle"):
        dissimilarity.expanded(pairs[1:])


def test_plain_noise_precision_is_the_inverse():
    rng = np.random.default_rng(0)
    residuals = rng.standard_normal((60, 4)) @ rng.standard_normal((4, 4))
    expected = np.linalg.inv(residuals.T @ residuals / 45)
    np.testing.assert_allclose(noise_precision(residuals, degrees_of_freedom=45, shrink=False), expected, rtol=1e-9)
    for hopeless, freedom in ((residuals, 4), (residuals * [1, 1, 0, 1], 45)):
        with pytest.raises(ValueError, match="has no inverse without shrinkage"):
            noise_precision(hopeless, degrees_of_freedom=freedom, shrink=False)
