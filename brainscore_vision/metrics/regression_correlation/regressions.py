"""Regressions that predictivity is measured with."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from brainscore_core.metric_helpers.xarray_utils import XarrayRegression
from brainscore_core.numerics import PLS, LeastSquares, LinearFit, OneToOne, Ridge, RidgeCV

Options = Mapping[str, Any] | None

ALPHA_LIST: list[float] = [
    0.01,
    0.1,
    0.5,
    1.0,
    *np.linspace(1e1, 1e2, 4, endpoint=False).tolist(),
    *np.linspace(1e2, 1e3, 18, endpoint=False).tolist(),
    *np.linspace(1e3, 1e4, 18, endpoint=False).tolist(),
    *np.linspace(1e4, 1e5, 18, endpoint=False).tolist(),
    *np.linspace(1e5, 1e6, 18, endpoint=False).tolist(),
    *np.linspace(1e6, 1e7, 19).tolist(),
]
"""Penalties that a cross-validated ridge regression chooses from."""

RELATIVE_ALPHAS: list[float] = np.geomspace(1e-6, 1e4, 61).tolist()
"""Penalties of a ridge regression whose predictions do not depend on the unit of features; see `RidgeCV.relative`."""


class DualRidgeCVRegression:
    """Ridge regression with the penalty chosen on held-out stimuli, in the manner of a scikit-learn estimator.

    `alphas`: penalties to choose from. `alpha_per_target`: whether each response has its own penalty. `cv`: folds to
    choose by, as for :class:`brainscore_core.numerics.RidgeCV`. None: one stimulus is left out at a time. `device`:
    where to compute, as there.

    Notes
    -----
    The arithmetic is that of :class:`brainscore_core.numerics.RidgeCV`, which works on the stimuli × stimuli Gram
    matrix where there are at least as many features as stimuli.

    Examples
    --------
    >>> X = np.random.default_rng(0).standard_normal((20, 100))
    >>> regression = DualRidgeCVRegression(alphas=[1.0, 1000.0]).fit(X, X.sum(axis=1, keepdims=True))
    >>> regression.alpha_, regression.predict(X).shape
    (1.0, (20, 1))
    """

    alpha_: float | NDArray[np.float64]  # the chosen penalty, after :meth:`fit`

    def __init__(
        self,
        alphas: Sequence[float] = ALPHA_LIST,
        *,
        alpha_per_target: bool = False,
        cv: Any = None,
        device: Any = None,
    ) -> None:
        self.alphas = alphas
        self.alpha_per_target = alpha_per_target
        self._regression = RidgeCV(alphas, alpha_per_target, cv=cv, device=device)
        self._fit: LinearFit | None = None

    def fit(self, X: ArrayLike, Y: ArrayLike) -> "DualRidgeCVRegression":
        """Fit responses Y (n × q) from features X (n × p)."""
        self._fit = self._regression.fit(X, Y)
        if self._fit.alpha is not None:
            self.alpha_ = self._fit.alpha
        return self

    def predict(self, X: ArrayLike) -> NDArray[np.float64]:
        """Predict the responses (n × q) to features (n × p).

        A ValueError if nothing was fitted.
        """
        if self._fit is None:
            raise ValueError("nothing was fitted yet; call fit(X, Y) first")
        return self._fit.predict(X)


def pls_regression(regression_kwargs: Options = None, xarray_kwargs: Options = None) -> XarrayRegression:
    """PLS with 25 components, unscaled; `regression_kwargs` go to :class:`~brainscore_core.numerics.PLS`."""
    return XarrayRegression(PLS(**({"n_components": 25} | dict(regression_kwargs or {}))), **(xarray_kwargs or {}))


def ridge_regression(regression_kwargs: Options = None, xarray_kwargs: Options = None) -> XarrayRegression:
    """Ridge regression with alpha 1; `regression_kwargs` go to :class:`brainscore_core.numerics.Ridge`."""
    return XarrayRegression(Ridge(**({"alpha": 1.0} | dict(regression_kwargs or {}))), **(xarray_kwargs or {}))


def dual_ridge_regression(regression_kwargs: Options = None, xarray_kwargs: Options = None) -> XarrayRegression:
    """Ridge regression, as :func:`ridge_regression`, which takes the dual form where it is the smaller one."""
    return ridge_regression(regression_kwargs, xarray_kwargs)


def ridge_cv_regression(regression_kwargs: Options = None, xarray_kwargs: Options = None) -> XarrayRegression:
    """Ridge regression that chooses its penalty; see :class:`brainscore_core.numerics.RidgeCV`."""
    return XarrayRegression(
        RidgeCV(**({"alphas": ALPHA_LIST} | dict(regression_kwargs or {}))), **(xarray_kwargs or {})
    )


def relative_ridge_cv_regression(regression_kwargs: Options = None, xarray_kwargs: Options = None) -> XarrayRegression:
    """Ridge regression that chooses its penalty relative to the variance of the features."""
    arguments: dict[str, Any] = {"alphas": RELATIVE_ALPHAS, "relative": True, **(regression_kwargs or {})}
    return XarrayRegression(RidgeCV(**arguments), **(xarray_kwargs or {}))


def dual_ridge_cv_regression(regression_kwargs: Options = None, xarray_kwargs: Options = None) -> XarrayRegression:
    """Ridge regression, as :func:`ridge_cv_regression`, which takes the dual form where it is the smaller one."""
    return ridge_cv_regression(regression_kwargs, xarray_kwargs)


def linear_regression(regression_kwargs: Options = None, xarray_kwargs: Options = None) -> XarrayRegression:
    """Ordinary least squares; see :class:`brainscore_core.numerics.LeastSquares`."""
    return XarrayRegression(LeastSquares(**(regression_kwargs or {})), **(xarray_kwargs or {}))


def neuron_to_neuron_regression(regression_kwargs: Options = None, xarray_kwargs: Options = None) -> XarrayRegression:
    """The best feature of each neuroid; see :class:`brainscore_core.numerics.OneToOne`."""
    return XarrayRegression(OneToOne(**(regression_kwargs or {})), **(xarray_kwargs or {}))
