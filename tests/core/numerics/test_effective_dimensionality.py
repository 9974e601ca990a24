import numpy as np
import pytest

from brainscore_core.numerics import effective_dimensionality, participation_ratio


@pytest.mark.parametrize("shape", [(40, 7), (7, 40), (20, 20), (30, 1)])
def test_equals_the_definition(shape):
    x = np.random.default_rng(0).standard_normal(shape) * np.arange(1, shape[1] + 1) + 100
    eigenvalues = np.linalg.eigvalsh(np.atleast_2d(np.cov(x.T)))
    found = participation_ratio(x)
    assert found.value == pytest.approx(eigenvalues.sum() ** 2 / (eigenvalues**2).sum(), rel=1e-12)
    assert participation_ratio(x.astype(np.float32)).value == pytest.approx(found.value, rel=1e-5)


@pytest.mark.parametrize("shape", [(40, 7), (15, 40)])
def test_influence_is_the_derivative_by_weights(shape):
    x = np.random.default_rng(0).standard_normal(shape) + 2

    def weighted(weights):
        eigenvalues = np.linalg.eigvalsh(np.cov(x.T, aweights=weights, ddof=0))
        return np.log(eigenvalues.sum() ** 2 / (eigenvalues**2).sum())

    n, step = len(x), 1e-5
    numeric = [(weighted(1 + step * row) - weighted(1 - step * row)) / (2 * step) * n for row in np.eye(n)]
    np.testing.assert_allclose(participation_ratio(x).log_influence, numeric, atol=1e-6)


@pytest.mark.parametrize("shape", [(40, 7), (15, 40)])
def test_bias_is_the_jackknifes(shape):
    x = np.random.default_rng(0).standard_normal(shape) + 2
    left_out = [np.log(participation_ratio(np.delete(x, i, 0)).value) for i in range(len(x))]
    found = participation_ratio(x)
    expected = (len(x) - 1) * (np.mean(left_out) - np.log(found.value))
    assert found.log_bias == pytest.approx(expected, abs=1e-9)


def test_known_dimensionalities():
    rng = np.random.default_rng(0)
    assert participation_ratio(rng.standard_normal((20_000, 5))).value == pytest.approx(5, rel=0.01)
    assert participation_ratio(np.outer(rng.standard_normal(9), rng.standard_normal(30))).value == pytest.approx(1)


@pytest.mark.parametrize("width", [3, 60])
def test_undefined_and_refused(width):
    constant = np.full((25, width), 1e9 / 7)
    found = participation_ratio(constant)
    assert np.isnan(found.value)
    assert found.reason == "does not vary over stimuli"
    with pytest.raises(ValueError, match="1 stimulus"):
        participation_ratio(constant[:1])
    constant[4, 1] = np.inf
    with pytest.raises(ValueError, match="not finite in row 4"):
        participation_ratio(constant)


@pytest.mark.parametrize("shape", [(60, 7), (60, 900), (20, 20), (30, 1)])
@pytest.mark.parametrize(
    ("scale", "offset"), [(1, 0), (1, 100), (1, 1e5), (1e-20, 0), (1e20, 0), (1e-3, 1e-3)], ids=str
)
def test_in_single_precision_the_value_is_the_same(shape, scale, offset):
    rng = np.random.default_rng(0)
    x = (scale * (rng.standard_normal(shape) * np.arange(1, shape[1] + 1) + offset)).astype(np.float32)
    assert effective_dimensionality(x) == pytest.approx(participation_ratio(x).value, rel=1e-5)


def test_in_single_precision_errors_are_the_same():
    assert np.isnan(effective_dimensionality(np.full((5, 3), 0.1, dtype=np.float32)))
    with pytest.raises(ValueError, match="not finite in row 2"):
        effective_dimensionality(np.array([[0, 1], [1, 2], [np.nan, 3]], dtype=np.float32))
    with pytest.raises(ValueError, match="1 stimulus"):
        effective_dimensionality(np.ones((1, 3), dtype=np.float32))
