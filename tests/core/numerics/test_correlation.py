import numpy as np
import pytest
from scipy import stats

from brainscore_core.numerics import pearson, spearman
from brainscore_core.numerics.correlation import mean_ranks


@pytest.fixture
def pair():
    rng = np.random.default_rng(0)
    x = rng.standard_normal((50, 7))
    return x, 0.5 * x + rng.standard_normal((50, 7))


@pytest.mark.parametrize("offset", [0, 1e6])
@pytest.mark.parametrize("scale", [1e-200, 1, 1e200])
def test_pearson_equals_scipy(pair, offset, scale):
    x, y = pair
    expected = [stats.pearsonr(a, b)[0] for a, b in zip((x + offset).T, y.T, strict=True)]
    np.testing.assert_allclose(pearson((x + offset) * scale, y), expected, atol=1e-8 if offset else 1e-13)


def test_spearman_with_ties_equals_scipy(pair):
    x, y = np.round(pair[0]), np.round(pair[1])
    expected = [stats.spearmanr(a, b)[0] for a, b in zip(x.T, y.T, strict=True)]
    np.testing.assert_allclose(spearman(x, y), expected, atol=1e-13)


def test_axis(pair):
    x, y = pair
    np.testing.assert_array_equal(pearson(x.T, y.T, axis=1), pearson(x, y))


@pytest.mark.parametrize("constant", [0.0, 1.0, 1 / 3, 1e300])
def test_constant_column_is_nan_and_leaves_the_others(pair, constant):
    x, y = pair
    x = x.copy()
    x[:, 2] = constant
    result = pearson(x, y)
    assert np.flatnonzero(np.isnan(result)).tolist() == [2]


def test_rounding_noise_counts_as_constant(pair):
    x, y = pair
    noisy = 1 + 1e-15 * x
    assert np.isnan(pearson(noisy, y)).all()


def test_small_but_real_variation_counts(pair):
    x, y = pair
    np.testing.assert_allclose(pearson(1 + 1e-9 * x, y), pearson(x, y), atol=1e-5)


@pytest.mark.parametrize("function", [pearson, spearman])
def test_nan_stays_in_its_column(pair, function):
    x, y = pair[0].copy(), pair[1]
    x[3, 4] = np.nan
    assert np.flatnonzero(np.isnan(function(x, y))).tolist() == [4]


def test_one_observation_is_nan():
    assert np.isnan(pearson(np.ones((1, 3)), np.ones((1, 3)))).all()
    assert pearson(np.ones((0, 3)), np.ones((0, 3))).shape == (3,)


def test_integers_and_float32():
    assert pearson(np.arange(5), np.arange(5)[::-1]) == pytest.approx(-1)
    x = np.random.default_rng(0).standard_normal((100, 2)).astype(np.float32)
    assert pearson(x, x).dtype == np.float64


def test_different_shapes_are_refused():
    with pytest.raises(ValueError, match=r"\(3,\).*\(4,\)"):
        pearson(np.zeros(3), np.zeros(4))


@pytest.mark.parametrize("values", [np.arange(12.0) ** 2, np.arange(12.0) % 5, np.ones(12)])
def test_mean_ranks_equal_scipy(values):
    columns = np.random.default_rng(0).permuted(np.stack([values] * 3, axis=1), axis=0)
    np.testing.assert_array_equal(mean_ranks(columns), stats.rankdata(columns, axis=0))
    columns[4, 1] = np.nan
    expected = stats.rankdata(columns, axis=0, nan_policy="propagate")
    np.testing.assert_array_equal(mean_ranks(columns), expected)


MANY = np.random.default_rng(0).standard_normal(25_000)


@pytest.mark.parametrize(
    "values",
    [
        MANY,
        np.round(MANY, 2),
        np.r_[MANY, -MANY[:99], 0.0, -0.0],
        np.exp(9 * MANY),
        np.r_[MANY, np.inf],
        np.r_[1 + 1e-15 * np.arange(40)[::-1], 1e6 * MANY],
        np.r_[MANY * 1e-9, 1e9],
        np.full(25_000, 3.0),
    ],
    ids=["distinct", "ties", "signs", "wide", "infinite", "a few close together", "most close together", "equal"],
)
def test_mean_ranks_of_many_values_equal_scipy(values):
    """They are sorted with keys of limited precision first."""
    np.testing.assert_array_equal(mean_ranks(values), stats.rankdata(values))
