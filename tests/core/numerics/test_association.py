from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy import stats

from brainscore_core.numerics import spearman
from brainscore_core.numerics.correlation import association, correlation_matrix


def test_correlations_agree_with_scipy():
    rng = np.random.default_rng(3)
    x = rng.normal(size=12)
    y = np.round(x + rng.normal(size=12), 1)
    found = association(x, y)
    expected = stats.pearsonr(x, y)
    interval = expected.confidence_interval()
    assert found.pearson == pytest.approx(expected.statistic, abs=1e-12)
    assert found.pearson_ci == pytest.approx((interval.low, interval.high), abs=1e-9)
    assert found.spearman == pytest.approx(stats.spearmanr(x, y).statistic, abs=1e-12)
    assert found.spearman_ci[0] < found.spearman < found.spearman_ci[1]


def test_correlations_that_are_not_there():
    assert association([0.1, 0.2], [0.1, 0.2]) == (2, None, None, None, None)
    assert association([], []) == (0, None, None, None, None)
    assert association([0.1, 0.1, 0.1, 0.1], [0.1, 0.2, 0.3, 0.4]).pearson is None
    assert association([0.1, 0.2, 0.3, 0.4], [0.1, 0.2, 0.3, 0.4])[1:3] == (1.0, None)


@pytest.mark.parametrize(
    ("x", "y", "match"),
    [([1, 2, 3], [1, 2], "shape"), ([1, 2, np.nan], [1, 2, 3], "finite"), ([1, 2, 3], [1, 2, np.inf], "finite")],
)
def test_arguments(x, y, match):
    with pytest.raises(ValueError, match=match):
        association(x, y)


def scores(models, benchmarks, missing, digits=None, seed=0):
    rng = np.random.default_rng(seed)
    values = rng.standard_normal((models, 1)) + rng.standard_normal((models, benchmarks))
    values[rng.random(values.shape) < missing] = np.nan
    return values if digits is None else values.round(digits)


def matrices(values):
    (pearson, n), (spearman, _) = (correlation_matrix(values, method=method) for method in ("pearson", "spearman"))
    return SimpleNamespace(pearson=pearson, spearman=spearman, n=n)


def same_as_pandas(values):
    found = matrices(values)
    table = pd.DataFrame(np.where(np.isfinite(values), values, np.nan))
    known = table.notna().to_numpy().astype(int)
    np.testing.assert_array_equal(found.n, known.T @ known)
    for method in ("pearson", "spearman"):
        matrix = getattr(found, method)
        np.testing.assert_allclose(matrix, table.corr(method=method, min_periods=3), atol=1e-11, err_msg=method)
        np.testing.assert_array_equal(matrix, matrix.T)
    return found


@pytest.mark.parametrize("missing", [0.0, 0.2, 0.7])
@pytest.mark.parametrize("digits", [None, 1, 0])
@pytest.mark.parametrize("shape", [(30, 5), (7, 12), (3, 3), (60, 70)])
def test_each_pair_is_as_in_pandas(shape, missing, digits):
    same_as_pandas(scores(*shape, missing, digits))


def test_more_columns_than_a_block_that_lack_the_same_models():
    values = scores(40, 150, 0.0)
    values[:10, :50], values[5:20, 100:130] = np.nan, np.nan
    same_as_pandas(values)


@given(arrays(float, (6, 4), elements=st.sampled_from([0.0, 0.1, 0.25, 0.3, 1.0, np.nan, np.inf])))
def test_few_models_with_ties_and_gaps(values):
    """Each pair alone, as `association` has it."""
    found = matrices(values)
    for i in range(4):
        for j in range(4):
            both = np.isfinite(values[:, i]) & np.isfinite(values[:, j])
            pair = association(values[both, i], values[both, j])
            assert found.n[i, j] == pair.n
            for name in ("pearson", "spearman"):
                expected, made = getattr(pair, name), getattr(found, name)[i, j]
                assert np.isnan(made) if expected is None else made == pytest.approx(expected, abs=1e-9)


def test_what_is_constant_among_the_shared_models_has_no_correlation():
    values = np.array([[0.1, np.nan], [0.7, np.nan], [0.3, 0.1], [0.3, 0.2], [0.3, 0.5], [0.3, 0.4]])
    found = matrices(values)
    assert np.isnan([found.pearson[0, 1], found.spearman[0, 1]]).all()
    assert (found.n[0, 1], found.pearson[0, 0], found.pearson[1, 1]) == (4, 1.0, 1.0)


@pytest.mark.parametrize("scale", [1e-200, 1e-6, 1e150])
@pytest.mark.parametrize("offset", [0.0, 1e5])
def test_values_far_from_zero_or_of_another_size(scale, offset):
    values = scores(30, 4, 0.2)
    values[:20, 0] *= 1e-5  # hardly varies among the models of the next column
    values[20:, 1] = np.nan
    expected = matrices(values)
    found = matrices((values + offset) * scale)
    np.testing.assert_allclose(found.pearson, expected.pearson, atol=1e-4 if offset else 1e-10)
    both = np.isfinite(values[:, 0]) & np.isfinite(values[:, 1])
    assert expected.pearson[0, 1] == pytest.approx(stats.pearsonr(values[both, 0], values[both, 1]).statistic, abs=1e-9)


def test_ranks_are_those_of_the_other_function():
    values = scores(50, 6, 0.0, 1)
    found = matrices(values)
    for i in range(6):
        np.testing.assert_allclose(
            found.spearman[i], spearman(np.repeat(values[:, [i]], 6, axis=1), values), atol=1e-12
        )


@pytest.mark.parametrize("shape", [(0, 3), (3, 0), (0, 0), (2, 2)])
def test_too_few(shape):
    found = matrices(np.ones(shape))
    assert found.pearson.shape == found.spearman.shape == found.n.shape == (shape[1], shape[1])
    assert np.isnan(found.pearson).all()
    assert np.isnan(found.spearman).all()


def test_the_input_stays_as_it_is():
    values = scores(10, 3, 0.2)
    values[0, 0] = np.inf
    before = values.copy()
    matrices(values)
    np.testing.assert_array_equal(values, before)
    with pytest.raises(ValueError, match="values has the shape"):
        matrices(values[0])
