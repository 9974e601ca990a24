"""Cross-validated correlation of recordings with what a linear map of a subject's units predicts."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import xarray as xr
from sklearn.preprocessing import scale

from brainscore_core.metric_helpers import predictivity
from brainscore_core.metric_helpers.xarray_utils import Defaults, XarrayCorrelation, XarrayRegression
from brainscore_core.metrics import NEUROID_GROUPS, Metric, Score
from brainscore_core.numerics import LeastSquares
from brainscore_core.numerics.ridge_cv import RidgeCV
from brainscore_core.supported_data_standards.brainio.assemblies import DataAssembly, walk_coords
from brainscore_core.supported_data_standards.brainio.stimulus_groups import DECLARED
from brainscore_language.utils.transformations import CrossValidation

__all__ = [
    "CrossRegressedCorrelation",
    "Defaults",
    "ScaledCrossRegressedCorrelation",
    "XarrayCorrelation",
    "XarrayCorrelationBatched",
    "XarrayRegression",
    "linear_pearsonr",
    "linear_regression",
    "pearsonr",
    "pearsonr_correlation",
    "ridge_pearsonr",
    "ridge_regression",
]


def pearsonr(x: Any, y: Any) -> np.ndarray:
    """Pearson correlation of the columns of two matrices; 0 where a column does not vary."""
    first, second = (np.asarray(values) - np.mean(values, axis=0) for values in (x, y))
    first, second = (values / (np.linalg.norm(values, axis=0) + 1e-8) for values in (first, second))
    return (first * second).sum(axis=0)


class XarrayCorrelationBatched(XarrayCorrelation):
    """Pearson correlations of all neuroids at once."""

    is_pearson = True

    def __init__(
        self, correlation_coord: str = Defaults.stimulus_coord, neuroid_coord: str = Defaults.neuroid_coord
    ) -> None:
        super().__init__(pearsonr, correlation_coord, neuroid_coord, columnwise=True)


class CrossRegressedCorrelation(predictivity.CrossRegressedCorrelation):
    """Mean over splits of the median over neuroids of the correlation of predictions with recordings.

    As :class:`brainscore_core.metric_helpers.predictivity.CrossRegressedCorrelation`, with error and interval over new
    stimuli (or groups of stimuli that the recordings declare) and new neuroids, but with the published splits.

    Parameters
    ----------
    regression : XarrayRegression
        Predicts the target.
    correlation : XarrayCorrelation
        Compares predictions with the target.
    crossvalidation_kwargs : dict, optional
        Arguments of :class:`~brainscore_language.utils.transformations.CrossValidation`.
    store_regression_weights : bool
        Whether ``raw_regression_coef`` (split × source_neuroid × target_neuroid) and ``raw_regression_intercept``
        (split × target_neuroid) are stored in the score's attributes.
    stimulus_groups, neuroid_groups : str, optional
        Coordinates of the target whose values group stimuli and neuroids that do not vary independently; by default
        those that the recordings declare, and ``subject``.
    """

    _splits = CrossValidation

    def __init__(
        self,
        regression: XarrayRegression,
        correlation: Any,
        crossvalidation_kwargs: Mapping[str, Any] | None = None,
        store_regression_weights: bool = False,
        *,
        stimulus_groups: str | None = DECLARED,
        neuroid_groups: str | None = NEUROID_GROUPS,
    ) -> None:
        super().__init__(
            regression,
            correlation,
            crossvalidation_kwargs,
            stimulus_groups=stimulus_groups,
            neuroid_groups=neuroid_groups,
        )
        self.store_regression_weights = store_regression_weights
        self.from_products = bool(getattr(getattr(regression, "estimator", None), "from_products", False))

    def __call__(self, assembly1: DataAssembly, assembly2: DataAssembly) -> Score:
        """Predict `assembly2` from `assembly1`, both presentation × neuroid with ``stimulus_id``."""
        score = super().__call__(assembly1, assembly2)
        return self._with_weights(score, assembly1, assembly2) if self.store_regression_weights else score

    def _with_weights(self, score: Score, source: DataAssembly, target: DataAssembly) -> Score:
        """Fit the map of each split again, and store all in the score's attributes."""
        coefficients, intercepts = [], []
        for train, _ in self.cross_validation.split_rows(source, target):
            fitted_to = target.isel(presentation=train)
            rows = np.isin(source["stimulus_id"].values, fitted_to["stimulus_id"].values)
            self.regression.fit(source.isel(presentation=np.flatnonzero(rows)), fitted_to)
            units = source.sizes["neuroid"]
            at_zero, *at_units = self.regression.fitted.predict(np.vstack([np.zeros(units), np.eye(units)]))
            intercepts.append(at_zero)
            coefficients.append(np.array(at_units) - at_zero)
        sides = {
            side: {
                f"{side}_{name}": (f"{side}_neuroid", values)
                for name, dims, values in walk_coords(assembly)
                if tuple(dims) == (Defaults.neuroid_dim,)
            }
            for side, assembly in (("source", source), ("target", target))
        }
        dims = ["split", "source_neuroid", "target_neuroid"]
        score.attrs["raw_regression_coef"] = Score(coefficients, coords=sides["source"] | sides["target"], dims=dims)
        score.attrs["raw_regression_intercept"] = Score(intercepts, coords=sides["target"], dims=[dims[0], dims[2]])
        return score


class ScaledCrossRegressedCorrelation(Metric):
    """`CrossRegressedCorrelation` of a target whose neuroids are z-scored over all stimuli; arguments as there."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        self.cross_regressed_correlation = CrossRegressedCorrelation(*args, **kwargs)
        self.aggregate = self.cross_regressed_correlation.aggregate
        self.apply = self.cross_regressed_correlation.apply

    def __call__(self, source: DataAssembly, target: DataAssembly) -> Score:
        """Predict the z-scored target."""
        return self.cross_regressed_correlation(source, xr.DataArray.copy(target, data=scale(target, copy=True)))


def ridge_regression(xarray_kwargs: Mapping[str, Any] | None = None) -> XarrayRegression:
    """Ridge regression whose penalty, 10⁻³ to 10³, has the least leave-one-out error over all neuroids."""
    return XarrayRegression(RidgeCV(alphas=[10.0**power for power in range(-3, 4)]), **(xarray_kwargs or {}))


def linear_regression(xarray_kwargs: Mapping[str, Any] | None = None) -> XarrayRegression:
    """Least squares with an intercept."""
    return XarrayRegression(LeastSquares(), **(xarray_kwargs or {}))


def pearsonr_correlation(xarray_kwargs: Mapping[str, Any] | None = None) -> XarrayCorrelationBatched:
    """Pearson correlations."""
    return XarrayCorrelationBatched(**(xarray_kwargs or {}))


def linear_pearsonr(
    *args: Any,
    regression_kwargs: Mapping[str, Any] | None = None,
    correlation_kwargs: Mapping[str, Any] | None = None,
    **kwargs: Any,
) -> CrossRegressedCorrelation:
    """Least squares; further arguments as for :class:`CrossRegressedCorrelation`."""
    return CrossRegressedCorrelation(
        linear_regression(regression_kwargs), pearsonr_correlation(correlation_kwargs), *args, **kwargs
    )


def ridge_pearsonr(
    *args: Any,
    regression_kwargs: Mapping[str, Any] | None = None,
    correlation_kwargs: Mapping[str, Any] | None = None,
    **kwargs: Any,
) -> CrossRegressedCorrelation:
    """Ridge regression; further arguments as for :class:`CrossRegressedCorrelation`."""
    return CrossRegressedCorrelation(
        ridge_regression(regression_kwargs), pearsonr_correlation(correlation_kwargs), *args, **kwargs
    )
