"""Torn matrices, whose parts are decomposed, and eigendecompositions."""

import numpy as np
import pytest

from brainscore_core.numerics import _decomposition
from brainscore_core.numerics._decomposition import centred_eigh, torn


@pytest.fixture(autouse=True)
def parts_are_small(monkeypatch):
    monkeypatch.setattr(_decomposition, "_PART", 10)
    monkeypatch.setattr(_decomposition, "_FEWEST_PARTS", 2)
    monkeypatch.setattr(_decomposition, "_REFLECTORS", 7)


def _gram(n, *, spectrum=1.0, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, 2 * n)) * np.arange(1, 2 * n + 1) ** (-spectrum / 2)
    X -= X.mean(axis=0)
    return X @ X.T


def _equal_eigenvalues(n):
    """A centred matrix whose eigenvalues are equal, except that of the constant; its tridiagonal form is diagonal."""
    return np.eye(n) - 1 / n


@pytest.mark.parametrize(
    "K",
    [_gram(20), _gram(47), _gram(101), _gram(64, spectrum=4), 1e-9 * _gram(47), _equal_eigenvalues(33)],
    ids=["two parts", "uneven parts", "many parts", "steep", "small values", "nothing to reflect"],
)
def test_systems_are_solved_as_without_a_decomposition(K):
    n, size = len(K), np.trace(K) / len(K)
    rng = np.random.default_rng(1)
    Y = rng.standard_normal((n, 5))
    Y -= Y.mean(axis=0)
    alphas = size * np.array([1e-4, 1.0, 100.0, 1.0, 1e-4])
    kept = K.copy()
    found = torn(K, alphas.min())
    np.testing.assert_array_equal(K, kept)
    assert found.links.shape == (n, 2 * (n // 10) - 1)
    assert (np.diff(found.values) >= 0).all()
    np.testing.assert_allclose(found.vectors.T @ found.vectors, np.eye(n), atol=1e-13)
    for whole in (found, centred_eigh(kept, np)):
        solved = whole.vectors @ whole.solve(whole.vectors.T @ Y, alphas)
        for column, alpha in enumerate(alphas):
            expected = np.linalg.solve(K + alpha * np.eye(n), Y[:, column])
            np.testing.assert_allclose(solved[:, column], expected, rtol=1e-9, atol=1e-9 * np.abs(expected).max())


def test_what_is_not_torn():
    assert torn(_gram(19), 1.0) is None  # too small for two parts
    dependent = _gram(20)[np.repeat(np.arange(20), 2)][:, np.repeat(np.arange(20), 2)]
    assert torn(dependent, 1e-3) is None
    assert torn(np.zeros((40, 40)), 1.0) is None
    steep = _gram(60, spectrum=14)
    assert torn(steep, 1e-12 * np.trace(steep)) is None
