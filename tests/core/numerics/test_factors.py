import numpy as np
import pytest

from brainscore_core.numerics import factor_dimensions


def test_chunks_of_columns_do_not_matter(monkeypatch):
    rng = np.random.default_rng(0)
    a, b = rng.standard_normal((2, 30, 100)) + 50
    factors = np.repeat(["x", "y"], 15)
    whole = factor_dimensions(a, b, factors)
    monkeypatch.setattr("brainscore_core.numerics._matrices.CHUNK_BYTES", 8 * 30 * 7)
    parts = factor_dimensions(a, b, factors)
    np.testing.assert_allclose(parts.shares, whole.shares, atol=1e-12)
    np.testing.assert_allclose(parts.left_out, whole.left_out, atol=1e-12)


def test_order_and_side_of_pairs_do_not_matter():
    rng = np.random.default_rng(0)
    a, b = rng.standard_normal((2, 30, 10))
    factors = np.repeat(["x", "y"], 15)
    order, swap = rng.permutation(30), rng.random(30)[:, None] < 0.5
    other = factor_dimensions(np.where(swap, b, a)[order], np.where(swap, a, b)[order], factors[order])
    np.testing.assert_allclose(other.shares, factor_dimensions(a, b, factors).shares, atol=1e-12)


def test_dimensions_add_up_and_nothing_varies():
    rng = np.random.default_rng(0)
    a, b = rng.standard_normal((2, 30, 17))
    factors = np.resize(["x", "y", "z"], 30)
    result = factor_dimensions(a, b, factors)
    assert result.dimensions.sum() == 17
    assert result.shares.sum() == pytest.approx(1)
    flat = factor_dimensions(np.ones((30, 17)), np.ones((30, 17)), factors)
    assert np.isnan(flat.shares).all()
    assert not flat.dimensions.any()


def test_pairs_correspond():
    with pytest.raises(ValueError, match="one row per pair"):
        factor_dimensions(np.ones((3, 2)), np.ones((4, 2)), ["x"] * 3)
