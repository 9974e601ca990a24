import numpy as np
import pytest
from scipy.linalg import orthogonal_procrustes
from scipy.spatial import procrustes

from brainscore_core.numerics import _matrices, shape_similarity


@pytest.fixture
def pair():
    rng = np.random.default_rng(0)
    x = rng.standard_normal((25, 12)) + 5
    return x, x @ rng.standard_normal((12, 12)) + rng.standard_normal((25, 12))


def _literal(x, y):
    """Williams et al. 2021: angle after the best rotation, spaces padded to equal width."""
    width = max(x.shape[1], y.shape[1])
    x, y = (np.pad(v - v.mean(axis=0), ((0, 0), (0, width - v.shape[1]))) for v in (x, y))
    x, y = x / np.linalg.norm(x), y / np.linalg.norm(y)
    rotation = orthogonal_procrustes(x, y)[0]
    return np.sum(x @ rotation * y)


@pytest.mark.parametrize("widths", [(12, 12), (3, 12), (12, 1), (60, 80), (60, 2), (2, 60)])
@pytest.mark.parametrize("chunk", [2**12, 2**26])
def test_equals_the_definition(widths, chunk, monkeypatch):
    monkeypatch.setattr(_matrices, "CHUNK_BYTES", chunk)
    rng = np.random.default_rng(0)
    x, y = (rng.standard_normal((25, width)) + 5 for width in widths)
    shape = shape_similarity(x, y)
    assert shape.similarity.value == pytest.approx(_literal(x, y), abs=1e-12)
    assert shape.angle == pytest.approx(np.arccos(_literal(x, y)), abs=1e-10)


def test_equals_scipy(pair):
    disparity = procrustes(*pair)[2]
    shape = shape_similarity(*pair)
    assert 1 - shape.similarity.value**2 == pytest.approx(disparity, abs=1e-12)


def test_influence_is_the_derivative_by_weights(pair):
    x, y = pair

    def weighted(weights):
        a, b = ((v - np.average(v, axis=0, weights=weights)) * np.sqrt(weights)[:, None] for v in (x, y))
        return np.linalg.svd(a.T @ b, compute_uv=False).sum() / (np.linalg.norm(a) * np.linalg.norm(b))

    step = 1e-5
    numeric = [(weighted(1 + step * row) - weighted(1 - step * row)) / (2 * step) * 25 for row in np.eye(25)]
    influence = shape_similarity(x, y).similarity.influence
    scale = influence.std() / np.std(numeric)
    np.testing.assert_allclose(influence, scale * np.array(numeric), atol=1e-6)
    assert scale > 1  # the rotation is fitted, too
    assert abs(np.sum(numeric)) < 1e-5


@pytest.mark.parametrize(("n", "widths"), [(40, (5, 12)), (47, (60, 3)), (33, (40, 50)), (9, (3, 2))])
def test_bias_and_error_are_the_jackknifes_of_groups(n, widths):
    rng = np.random.default_rng(0)
    x, y = (rng.standard_normal((n, width)) + 3 for width in widths)
    groups = 8

    def without(*left_out):
        kept = ~np.isin(np.arange(n) % groups, left_out)
        return _literal(x[kept], y[kept])

    value, one = _literal(x, y), np.array([without(g) for g in range(groups)])
    similarity = shape_similarity(x, y).similarity
    assert similarity.bias == pytest.approx((groups - 1) * (one.mean() - value), abs=1e-6)
    # the same correction of the value without a group
    two = np.array([np.mean([without(g, h) for h in range(groups) if h != g]) for g in range(groups)])
    corrected = one - (groups - 2) * (two - one)
    error = np.sqrt((groups - 1) / groups * np.sum((corrected - corrected.mean()) ** 2))
    first_order = _first_order(x, y)
    assert similarity.influence.std(ddof=1) / np.sqrt(n) == pytest.approx(
        max(first_order, np.sqrt((first_order**2 + error**2) / 2) if error > first_order else 0), rel=1e-4
    )
    order = rng.permutation(n)
    shuffled = shape_similarity(x[order], y[order], order=order).similarity
    np.testing.assert_allclose(shuffled.influence, similarity.influence[order], atol=1e-7)
    assert shuffled.bias == pytest.approx(similarity.bias, abs=1e-6)


def _first_order(x, y):
    n, step = len(x), 1e-5

    def weighted(weights):
        a, b = ((v - np.average(v, axis=0, weights=weights)) * np.sqrt(weights)[:, None] for v in (x, y))
        return np.linalg.svd(a.T @ b, compute_uv=False).sum() / (np.linalg.norm(a) * np.linalg.norm(b))

    slopes = [(weighted(1 + step * row) - weighted(1 - step * row)) / (2 * step) * n for row in np.eye(n)]
    return np.std(slopes, ddof=1) / np.sqrt(n)


def test_angle_is_a_metric_and_exact_near_0(pair):
    rng = np.random.default_rng(1)
    x, y = pair
    z = rng.standard_normal((25, 9))
    rotation = np.linalg.qr(rng.standard_normal((12, 12)))[0]
    assert shape_similarity(x, 1e3 * x @ rotation - 4).angle < 1e-12
    near = x + 1e-9 * rng.standard_normal(x.shape)
    assert 0 < shape_similarity(x, near).angle < 1e-8
    angles = [shape_similarity(*two).angle for two in ((x, y), (y, z), (x, z))]
    assert angles[2] <= angles[0] + angles[1]
    assert angles[0] == pytest.approx(shape_similarity(y, x).angle, abs=1e-12)


def test_undefined_and_refused(pair):
    x = pair[0].copy()
    shape = shape_similarity(np.full((25, 3), 1e9 / 7), x)
    assert np.isnan([shape.angle, shape.similarity.value]).all()
    assert "first representation does not vary" in shape.similarity.reason
    with pytest.raises(ValueError, match="1 stimulus"):
        shape_similarity(x[:1], x[:1])
    x[3, 0] = np.nan
    with pytest.raises(ValueError, match="Y is not finite in row 3"):
        shape_similarity(pair[1], x)
