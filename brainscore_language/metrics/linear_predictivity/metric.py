"""Cross-validated correlation of recordings with what a linear map of a subject's units predicts."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import xarray as xr
from sklearn.linear_model import LinearRegression
from sklearn.preprocessing import scale

from brainscore_core.metrics import Metric, Score
from brainscore_core.numerics.ridge_cv import RidgeCV
from brainscore_core.supported_data_standards.brainio.assemblies import DataAssembly, NeuroidAssembly, walk_coords
from brainscore_language.utils.transformations import CrossValidation

__all__ = [
    "CrossRegressedCorrelation",
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


class Defaults:
    """Names of dimensions and coordinates."""

    expected_dims = ("presentation", "neuroid")
    stimulus_coord = "stimulus_id"
    neuroid_dim = "neuroid"
    neuroid_coord = "neuroid_id"


class XarrayRegression:
    """A regression on assemblies; predictions have the neuroids of the target.

    Parameters
    ----------
    regression : object
        With ``fit(X, Y)`` and ``predict(X)``.
    """

    def __init__(
        self,
        regression: Any,
        expected_dims: tuple[str, str] = Defaults.expected_dims,
        neuroid_dim: str = Defaults.neuroid_dim,
        neuroid_coord: str = Defaults.neuroid_coord,
        stimulus_coord: str = Defaults.stimulus_coord,
    ) -> None:
        self._regression = regression
        self._expected_dims = expected_dims
        self._neuroid_dim = neuroid_dim
        self._neuroid_coord = neuroid_coord
        self._stimulus_coord = stimulus_coord
        self._neuroids: dict[str, Any] = {}

    def fit(self, source: DataAssembly, target: DataAssembly) -> None:
        """Fit the target's neuroids from the source's units, both in the order of their stimuli."""
        source, target = self._align(source), self._align(target)
        ours, theirs = (a[self._stimulus_coord].values for a in (source, target))
        if len(ours) != len(theirs) or not (ours == theirs).all():
            raise AssertionError(f"source and target hold different values of {self._stimulus_coord!r}")
        fitted = self._regression.fit(source.values, target.values)
        self._fitted = fitted if hasattr(fitted, "predict") else self._regression
        self._neuroids = {
            name: (dims, values) for name, dims, values in walk_coords(target) if tuple(dims) == (self._neuroid_dim,)
        }

    def predict(self, source: DataAssembly) -> NeuroidAssembly:
        """Predict the target's neuroids from a source."""
        source = self._align(source)
        values = np.asarray(self._fitted.predict(source.values)).reshape(len(source), -1)
        stimuli = {
            name: (dims, values)
            for name, dims, values in walk_coords(source)
            if tuple(dims) == (self._expected_dims[0],)
        }
        return NeuroidAssembly(values, coords={**stimuli, **self._neuroids}, dims=self._expected_dims)

    def _align(self, assembly: DataAssembly) -> DataAssembly:
        return assembly.transpose(*self._expected_dims).sortby(self._stimulus_coord)


def pearsonr(x: Any, y: Any) -> np.ndarray:
    """Pearson correlation of the columns of two matrices; 0 where a column does not vary."""
    first, second = (np.asarray(values) - np.mean(values, axis=0) for values in (x, y))
    first, second = (values / (np.linalg.norm(values, axis=0) + 1e-8) for values in (first, second))
    return (first * second).sum(axis=0)


class XarrayCorrelation:
    """Correlation of each neuroid's predictions and recordings.

    Parameters
    ----------
    correlation : callable
        (predictions, recordings) of one neuroid → number, or (number, p).
    """

    def __init__(
        self,
        correlation: Callable[[Any, Any], Any],
        correlation_coord: str = Defaults.stimulus_coord,
        neuroid_coord: str = Defaults.neuroid_coord,
    ) -> None:
        self._correlation = correlation
        self._coords = [correlation_coord, neuroid_coord]

    def __call__(self, prediction: DataAssembly, target: DataAssembly) -> Score:
        """Correlate predictions with recordings of the same stimuli and neuroids."""
        prediction, target = (a.sortby(self._coords) for a in (prediction, target))
        for coord in self._coords:
            if not np.array_equal(prediction[coord].values, target[coord].values):
                raise AssertionError(f"predictions and recordings hold different values of {coord!r}")
        values = self._correlate(prediction.values, target.values)
        neuroids = {
            name: (dims, values) for name, dims, values in walk_coords(target) if tuple(dims) == (Defaults.neuroid_dim,)
        }
        return Score(values, coords=neuroids, dims=[Defaults.neuroid_dim])

    def _correlate(self, prediction: np.ndarray, target: np.ndarray) -> np.ndarray:
        pairs = zip(prediction.T, target.T, strict=True)
        return np.array([np.ravel(self._correlation(*pair))[0] for pair in pairs])


class XarrayCorrelationBatched(XarrayCorrelation):
    """Pearson correlations of all neuroids at once."""

    def __init__(
        self, correlation_coord: str = Defaults.stimulus_coord, neuroid_coord: str = Defaults.neuroid_coord
    ) -> None:
        super().__init__(pearsonr, correlation_coord, neuroid_coord)

    def _correlate(self, prediction: np.ndarray, target: np.ndarray) -> np.ndarray:
        return pearsonr(prediction, target)


class CrossRegressedCorrelation(Metric):
    """Mean over splits of the median over neuroids of the correlation of predictions with recordings.

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
    """

    scale = "correlation"

    def __init__(
        self,
        regression: Any,
        correlation: Any,
        crossvalidation_kwargs: Mapping[str, Any] | None = None,
        store_regression_weights: bool = False,
    ) -> None:
        self.regression = regression
        self.correlation = correlation
        self.cross_validation = CrossValidation(**(crossvalidation_kwargs or {}))
        self.store_regression_weights = store_regression_weights

    def __call__(self, assembly1: DataAssembly, assembly2: DataAssembly) -> Score:
        """Predict `assembly2` from `assembly1`, both presentation × neuroid with ``stimulus_id``."""
        return self.cross_validation(assembly1, assembly2, apply=self.apply, aggregate=self.aggregate)

    def apply(
        self,
        source_train: DataAssembly,
        target_train: DataAssembly,
        source_test: DataAssembly,
        target_test: DataAssembly,
    ) -> Score:
        """Correlations of one split, a neuroid each."""
        self.regression.fit(source_train, target_train)
        score = self.correlation(self.regression.predict(source_test), target_test)
        return (
            self.attach_regression_weights(score, source_test, target_test) if self.store_regression_weights else score
        )

    def attach_regression_weights(self, score: Score, source_test: DataAssembly, target_test: DataAssembly) -> Score:
        """Store the map of a split in the attributes of its score."""
        fitted = self.regression._fitted  # noqa: SLF001 - of this module
        slopes = np.asarray(fitted.coef_).T if hasattr(fitted, "coef_") else _slopes(fitted, source_test.shape[1])
        at_zero = np.asarray(fitted.predict(np.zeros((1, source_test.shape[1])))).ravel()
        named = {
            side: {
                f"{side}_{name}": (f"{side}_neuroid", values)
                for name, dims, values in walk_coords(assembly)
                if tuple(dims) == (Defaults.neuroid_dim,)
            }
            for side, assembly in (("source", source_test), ("target", target_test))
        }
        score.attrs["raw_regression_coef"] = Score(
            np.atleast_2d(slopes), coords=named["source"] | named["target"], dims=["source_neuroid", "target_neuroid"]
        )
        score.attrs["raw_regression_intercept"] = Score(at_zero, coords=named["target"], dims=["target_neuroid"])
        return score

    def aggregate(self, scores: Score) -> Score:
        """Median over neuroids."""
        return scores.median(dim="neuroid")


class ScaledCrossRegressedCorrelation(Metric):
    """`CrossRegressedCorrelation` of a target whose neuroids are z-scored over all stimuli; arguments as there."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        self.cross_regressed_correlation = CrossRegressedCorrelation(*args, **kwargs)
        self.aggregate = self.cross_regressed_correlation.aggregate
        self.apply = self.cross_regressed_correlation.apply

    def __call__(self, source: DataAssembly, target: DataAssembly) -> Score:
        """Predict the z-scored target."""
        return self.cross_regressed_correlation(source, xr.DataArray.copy(target, data=scale(target, copy=True)))


def _slopes(fitted: Any, units: int) -> np.ndarray:
    """Slopes of a linear map, units × neuroids, from its predictions."""
    return np.asarray(fitted.predict(np.eye(units))) - np.asarray(fitted.predict(np.zeros((1, units))))


def ridge_regression(xarray_kwargs: Mapping[str, Any] | None = None) -> XarrayRegression:
    """Ridge regression whose penalty, 10⁻³ to 10³, has the least leave-one-out error over all neuroids."""
    return XarrayRegression(RidgeCV(alphas=[10.0**power for power in range(-3, 4)]), **(xarray_kwargs or {}))


def linear_regression(xarray_kwargs: Mapping[str, Any] | None = None) -> XarrayRegression:
    """Least squares with an intercept."""
    return XarrayRegression(LinearRegression(), **(xarray_kwargs or {}))


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
