"""Partial least squares regression (PLS2)."""

import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from brainscore_core.numerics import _linear
from brainscore_core.numerics._arrays import Array
from brainscore_core.numerics._linear import LinearFit, Weights

__all__ = ["PLS"]

_DENSE_LIMIT = 24
"""Up to this many responses an eigendecomposition is cheaper than Lanczos iterations (both to full precision)."""

_FORMED_LIMIT = 512
"""Up to this many responses it pays to form the responses × responses matrix that the iterations multiply with."""


@dataclass(frozen=True)
class PLS:
    """Partial least squares: each component is the direction of largest covariance between features and responses.

    Parameters
    ----------
    n_components : int
        Components to use; features and responses are centred, not scaled.

    Notes
    -----
    Components are those that NIPALS (``sklearn.cross_decomposition.PLSRegression(scale=False)``) converges to; each is
    found exactly rather than by power iterations, which stop early at their default tolerance. With more
    features than stimuli only the stimuli × stimuli Gram matrix enters [1]_, otherwise XᵀX and XᵀY [2]_, so predictions
    do not depend on how the features are rotated.

    Where features (or responses) hold fewer independent directions than components are asked for, the fit stops at
    the last one that is there, with a warning (``LinearFit.n_components`` says how many): what would follow is
    rounding noise, and predictions made of it are arbitrary.

    References
    ----------
    .. [1] Rosipal & Trejo (2001). Journal of Machine Learning Research 2, 97–123.
       https://www.jmlr.org/papers/v2/rosipal01a.html
    .. [2] Dayal & MacGregor (1997). Journal of Chemometrics 11, 73–85.
       https://doi.org/10.1002/(SICI)1099-128X(199701)11:1<73::AID-CEM435>3.0.CO;2-#

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> X = rng.standard_normal((30, 200))
    >>> fit = PLS(n_components=5).fit(X, X[:, :3])
    >>> fit.predict(X).shape, fit.n_components
    ((30, 3), 5)
    """

    n_components: int = 25

    def __post_init__(self) -> None:
        if self.n_components != int(self.n_components) or self.n_components < 1:
            raise ValueError(f"n_components is {self.n_components}; a positive whole number is needed")

    def fit(self, X: ArrayLike, Y: ArrayLike) -> LinearFit:
        """Fit responses Y (n × q) from features X (n × p).

        Raises
        ------
        ValueError
            If there are fewer stimuli or features than components, or X or Y hold NaN or infinity or differ in length.
        """
        return _linear.fit(X, Y, self)

    def cross_predict(
        self, X: ArrayLike, Y: ArrayLike, splits: Sequence[tuple[NDArray[np.intp], NDArray[np.intp]]]
    ) -> Iterator[Array]:
        """For each split (rows to train on, rows to test on) the predictions of its test rows (n_test × q)."""
        return _linear.cross_predict(X, Y, splits, self)

    def check(self, n: int, p: int) -> None:
        """Refuse fewer training stimuli or features than components."""
        limit = min(n, p)
        if self.n_components > limit:
            raise ValueError(
                f"PLS with {self.n_components} components needs at least as many stimuli and features; there are "
                f"{n} stimuli and {p} features, so use at most {limit} components"
            )

    def primal(self, C: Array, B: Array, y_size: float) -> Weights:
        """Weights (features × responses) from C = XᵀX and B = XᵀY (Dayal & MacGregor's second algorithm)."""
        p = len(C)
        B, rotation = _compressed(B)
        x_size = float(np.sqrt(np.trace(C)))
        rotations, loadings, y_loadings = np.empty((p, 0)), np.empty((p, 0)), np.empty((0, B.shape[1]))
        rounding = p * np.finfo(float).eps
        for _ in range(self.n_components):
            right = _dominant(B, B)
            w = B @ right
            covariance = float(np.linalg.norm(w))
            if covariance <= rounding * x_size * y_size:
                break
            w /= covariance
            r = w - rotations @ (loadings.T @ w)
            Cr = C @ r
            variance = float(r @ Cr)
            if variance <= rounding * x_size**2 * float(r @ r):
                break
            loading, y_loading = Cr / variance, B.T @ r / variance
            B = B - np.outer(Cr, y_loading)
            rotations, loadings = np.column_stack([rotations, r]), np.column_stack([loadings, loading])
            y_loadings = np.vstack([y_loadings, y_loading])
        return self._finished(rotations @ y_loadings, rotation, len(y_loadings))

    def dual(self, K: Array, Y: Array) -> Weights:
        """Weights (training stimuli × responses) from K = XXᵀ and Y."""
        from scipy.linalg import solve_triangular

        n = len(K)
        Y, rotation = _compressed(Y)
        # products of up to four of the inputs stay representable, whatever the units
        x_size, y_size = float(np.trace(K)) / n, float(np.linalg.norm(Y))
        if not (x_size > 0 and y_size > 0):
            return self._finished(np.zeros_like(Y), rotation, 0)
        K, Y = K / x_size, Y / y_size
        rounding = n * np.finfo(float).eps
        smallest = rounding * float(np.linalg.norm(K))
        KY = K @ Y
        scores, directions, images = np.empty((n, 0)), np.empty((n, 0)), np.empty((n, 0))
        y_loadings = np.empty((0, Y.shape[1]))
        for _ in range(self.n_components):
            right = _dominant(Y, KY)
            u, image = Y @ right, KY @ right
            if float(u @ image) <= smallest:  # the squared covariance of the component
                break
            t = image - scores @ (scores.T @ image)
            t -= scores @ (scores.T @ t)  # once more, for orthogonality to rounding
            length = float(np.linalg.norm(t))
            if length <= rounding * float(np.linalg.norm(image)):
                break
            t /= length
            y_loading = t @ Y
            Y = Y - np.outer(t, y_loading)
            KY = KY - np.outer(K @ t, y_loading)
            scores, directions = np.column_stack([scores, t]), np.column_stack([directions, u])
            images, y_loadings = np.column_stack([images, image]), np.vstack([y_loadings, y_loading])
        # scoresᵀ K directions is upper triangular: a score lies in the span of the images up to its own
        triangle = scores.T @ images
        weights = directions @ solve_triangular(triangle, y_loadings) if len(y_loadings) else np.zeros_like(Y)
        return self._finished(weights * (y_size / x_size), rotation, len(y_loadings))

    def _finished(self, weights: Array, rotation: Array | None, n_components: int) -> Weights:
        if n_components < self.n_components:
            warnings.warn(
                f"PLS stopped after {n_components} of {self.n_components} components: what is left of the features, or "
                "of the responses, is rounding noise (features that depend on each other, or of very different size)",
                stacklevel=2,
            )
        return Weights(weights if rotation is None else weights @ rotation, n_components)


def _compressed(B: Array) -> tuple[Array, Array | None]:
    """B with at most as many columns as rows, and the orthonormal rows that bring a result back; PLS is equivariant."""
    if B.shape[1] <= B.shape[0]:
        return B, None
    Q, R = np.linalg.qr(B.T)
    return R.T, Q.T


def _dominant(left: Array, right: Array) -> Array:
    """Eigenvector of the largest eigenvalue of leftᵀ right, which is symmetric and positive semidefinite."""
    from scipy.linalg import eigh
    from scipy.sparse.linalg import ArpackNoConvergence, LinearOperator, eigsh

    q = left.shape[1]
    if q == 1:
        return np.ones(1)
    M = left.T @ right if q <= _FORMED_LIMIT else None
    if q > _DENSE_LIMIT:
        operator = (
            M if M is not None else LinearOperator((q, q), matvec=lambda v: left.T @ (right @ v), dtype=np.float64)
        )
        start = np.random.default_rng(0).standard_normal(q)
        try:
            return np.asarray(eigsh(operator, k=1, which="LA", v0=start, maxiter=300)[1][:, 0])
        except ArpackNoConvergence:  # the two largest are too close for it
            pass
    if M is None:
        M = left.T @ right
    return np.asarray(eigh((M + M.T) / 2, subset_by_index=[q - 1, q - 1], check_finite=False)[1][:, 0])
