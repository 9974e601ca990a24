"""Eigendecompositions of centred matrices."""

import numpy as np

from brainscore_core.numerics._matrices import centred_eigh


def _gram(n, *, spectrum=1.0, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, 2 * n)) * np.arange(1, 2 * n + 1) ** (-spectrum / 2)
    X -= X.mean(axis=0)
    return X @ X.T


def test_systems_are_solved_as_without_a_decomposition():
    n, rng = 47, np.random.default_rng(1)
    K = _gram(n)
    Y = rng.standard_normal((n, 5))
    Y -= Y.mean(axis=0)
    found = centred_eigh(K.copy(), np)
    assert found.vectors.shape == (n, n - 1)
    assert found.limits == (found.values.min(), found.values.max())
    for alpha in np.trace(K) / n * np.array([1e-4, 1.0, 100.0]):
        solved = found.vectors @ ((found.vectors.T @ Y) / (found.values[:, None] + alpha))
        expected = np.linalg.solve(K + alpha * np.eye(n), Y)
        np.testing.assert_allclose(solved, expected, rtol=1e-9, atol=1e-9 * np.abs(expected).max())
