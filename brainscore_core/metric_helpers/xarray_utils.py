"""Regressions and correlations of assemblies."""

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from brainscore_core.metric_helpers.alignment import MetricInputError, as_table, finite_values, match_rows
from brainscore_core.metrics import Score
from brainscore_core.numerics import pearson
from brainscore_core.numerics.linear_regression import SplitFit, Splits
from brainscore_core.progress import stage
from brainscore_core.supported_data_standards.brainio.assemblies import DataAssembly, NeuroidAssembly, coords_for_dim


class Defaults:
    """Names of dimensions and coordinates."""

    expected_dims = ("presentation", "neuroid")
    stimulus_coord = "stimulus_id"
    neuroid_dim = "neuroid"
    neuroid_coord = "neuroid_id"


class XarrayRegression:
    """A regression of arrays, applied to assemblies.

    Parameters
    ----------
    regression : object
        With ``fit(X, Y)`` that returns something with ``predict(X)``: those of :mod:`brainscore_core.numerics`, or a
        scikit-learn estimator.
    expected_dims : (str, str)
        Dimensions of the assemblies: stimuli, then neuroids. Others of length 1 are dropped.
    neuroid_dim : str
        Dimension of the targets.
    neuroid_coord : str
        Coordinate that names a target in messages.
    stimulus_coord : str
        Coordinate by which features and targets are matched.
    """

    def __init__(
        self,
        regression: Any,
        expected_dims: tuple[str, ...] = Defaults.expected_dims,
        neuroid_dim: str = Defaults.neuroid_dim,
        neuroid_coord: str = Defaults.neuroid_coord,
        stimulus_coord: str = Defaults.stimulus_coord,
    ) -> None:
        self._regression = regression
        self._dims = tuple(expected_dims)
        self._neuroid_dim = neuroid_dim
        self._neuroid_coord = neuroid_coord
        self._stimulus_coord = stimulus_coord
        self._fitted: Any = None
        self._target_coords: dict[str, Any] = {}

    def fit(self, source: DataAssembly, target: DataAssembly) -> "XarrayRegression":
        """Fit `target` from `source`, matched by the stimulus coordinate.

        Raises
        ------
        MetricInputError
            If the two hold different stimuli, or NaN, or too few stimuli for the regression.
        """
        X, Y, order = self._pair(source, target)
        self._check(len(Y), X.shape[1])
        if not np.array_equal(order, np.arange(len(order))):
            X = X[order]
        self._fitted = self._regression.fit(X, Y)
        self._target_coords = coords_for_dim(target, self._neuroid_dim)
        return self

    def predict(self, source: DataAssembly) -> NeuroidAssembly:
        """Predict the responses to the stimuli of `source`; presentation × the fitted target's neuroids.

        Raises
        ------
        MetricInputError
            If nothing was fitted, or `source` holds NaN.
        """
        if self._fitted is None:
            raise MetricInputError("the regression is not fitted yet", remedy="call fit(source, target) first")
        source = as_table(source, self._dims, role="source")
        values = np.asarray(self._fitted.predict(finite_values(source, role="source")))
        coords = coords_for_dim(source, self._dims[0]) | self._target_coords
        dims = [self._dims[0], self._neuroid_dim]
        return _with_alpha(NeuroidAssembly(values.reshape(len(values), -1), coords=coords, dims=dims), self.alpha)

    @property
    def options(self) -> dict[str, Any]:
        """The arguments besides the regression."""
        return {
            "expected_dims": self._dims,
            "neuroid_dim": self._neuroid_dim,
            "neuroid_coord": self._neuroid_coord,
            "stimulus_coord": self._stimulus_coord,
        }

    @property
    def estimator(self) -> Any:
        """The regression of arrays."""
        return self._regression

    @property
    def fitted(self) -> Any:
        """The last fit, with ``predict``; None before the first one."""
        return self._fitted

    @property
    def alpha(self) -> Any:
        """Penalty that the last fit chose; None if the regression does not choose one."""
        return getattr(self._fitted, "alpha", getattr(self._fitted, "alpha_", None))

    def cross_predict(self, source: DataAssembly, target: DataAssembly, splits: Splits) -> Iterator[NeuroidAssembly]:
        """Out-of-fold predictions, split after split.

        Parameters
        ----------
        source, target : DataAssembly
            All stimuli of both.
        splits : sequence of (array of int, array of int)
            Rows of `target` to fit on and to test on.

        Yields
        ------
        NeuroidAssembly
            Predictions for the test rows, in their order; ``attrs['alpha']`` is the penalty, if one was chosen.
        """
        neuroids = coords_for_dim(target, self._neuroid_dim)
        for (_, test), fit in zip(splits, self.cross_fit(source, target, splits), strict=True):
            stimuli = coords_for_dim(target.isel({self._dims[0]: test}), self._dims[0])
            dims = [self._dims[0], self._neuroid_dim]
            yield _with_alpha(NeuroidAssembly(fit.predicted, coords=stimuli | neuroids, dims=dims), fit.alpha)

    def cross_fit(self, source: DataAssembly, target: DataAssembly, splits: Splits) -> Iterator[SplitFit]:
        """As :meth:`cross_predict`, without coordinates: predictions (test rows × neuroids) and penalty of each split.

        The penalty is None if the regression does not choose one, ``left_out`` if it does not compute the effects of
        its training stimuli.
        """
        X, Y, order = self._pair(source, target)
        with stage("regression", len(splits), unit="splits") as progress:
            for (_, test), fit in zip(splits, self._cross_fit(X, Y, order, splits), strict=True):
                yield fit._replace(predicted=fit.predicted.reshape(len(test), -1))
                progress.advance()

    def _cross_fit(
        self, X: NDArray[Any], Y: NDArray[Any], order: NDArray[np.intp], splits: Sequence[Any]
    ) -> Iterator[SplitFit]:
        """Predictions of each split's test rows; splits are rows of Y, `order` those rows of X."""
        for train, _ in splits:
            self._check(len(train), X.shape[1])
        fit_all, predict = (getattr(self._regression, name, None) for name in ("cross_fit", "cross_predict"))
        if fit_all is None and predict is None:
            for train, test in splits:
                fitted = self._regression.fit(X[order[train]], Y[train])
                yield SplitFit(np.asarray(fitted.predict(X[order[test]])), getattr(fitted, "alpha_", None))
            return
        # X, which may be large, is not copied; Y is reordered instead
        in_source_order = np.empty_like(Y)
        in_source_order[order] = Y
        moved = [(order[train], order[test]) for train, test in splits]
        if fit_all is not None:
            yield from fit_all(X, in_source_order, moved)
        elif predict is not None:
            yield from map(SplitFit, predict(X, in_source_order, moved))

    def _pair(self, source: DataAssembly, target: DataAssembly) -> tuple[NDArray[Any], NDArray[Any], NDArray[np.intp]]:
        source, target = as_table(source, self._dims, role="source"), as_table(target, self._dims, role="target")
        order = match_rows(source, target, self._stimulus_coord)
        X = finite_values(source, role="source", label=self._neuroid_coord)
        return X, finite_values(target, role="target", label=self._neuroid_coord), order

    def _check(self, n: int, p: int) -> None:
        check = getattr(self._regression, "check", None)
        if check is not None:
            try:
                check(n, p)
            except ValueError as error:
                remedy = "use more training stimuli"
                if hasattr(self._regression, "n_components"):
                    remedy = (
                        "set the number with load_metric('pls', regression_kwargs=dict(n_components=…)), or use "
                        "'ridge', which has no components"
                    )
                raise MetricInputError(str(error), remedy=remedy) from error


class XarrayCorrelation:
    """A correlation of arrays, applied to each neuroid of two assemblies.

    Parameters
    ----------
    correlation : callable
        ``correlation(x, y)`` of two 1-D arrays, returning r or (r, p) as ``scipy.stats.pearsonr`` does; with
        `columnwise`, of two matrices, returning one r per column.
    correlation_coord : str
        Coordinate by which the observations are matched.
    neuroid_coord : str
        Coordinate by which the neuroids are matched; without it they correspond by position.
    columnwise : bool
        Whether `correlation` takes all neuroids at once.
    """

    def __init__(
        self,
        correlation: Callable[..., Any],
        correlation_coord: str = Defaults.stimulus_coord,
        neuroid_coord: str = Defaults.neuroid_coord,
        *,
        columnwise: bool = False,
    ) -> None:
        self._correlation = correlation
        self._correlation_coord = correlation_coord
        self._neuroid_coord = neuroid_coord
        self._columnwise = columnwise

    def __call__(self, prediction: DataAssembly, target: DataAssembly) -> Score:
        """Correlate each neuroid of `prediction` with that of `target`.

        Returns: one value a neuroid, with the target's coordinates. Raises MetricInputError if observations or neuroids
        differ.
        """
        dims = Defaults.expected_dims
        prediction, target = as_table(prediction, dims, role="prediction"), as_table(target, dims, role="target")
        order = match_rows(prediction, target, self._correlation_coord, roles=("prediction", "target"))
        neuroids = self._matching_neuroids(prediction, target)
        predicted = np.asarray(prediction.values)[order]
        values = self.correlate(predicted if neuroids is None else predicted[:, neuroids], np.asarray(target.values))
        return Score(values, coords=coords_for_dim(target, "neuroid"), dims=["neuroid"])

    def _matching_neuroids(self, prediction: DataAssembly, target: DataAssembly) -> NDArray[np.intp] | None:
        """Columns of `prediction` in the order of `target`; None if they are in that order or have no names."""
        coord = self._neuroid_coord
        if prediction.sizes["neuroid"] == target.sizes["neuroid"]:
            if not all(coord in side.coords for side in (prediction, target)):
                return None
            names, expected = prediction[coord].values, target[coord].values
            if np.array_equal(names, expected):
                return None
            column = {name: position for position, name in enumerate(names)}
            if len(column) == len(names) and column.keys() == set(expected):
                return np.array([column[name] for name in expected], dtype=np.intp)
        raise MetricInputError(
            f"prediction and target hold different neuroids ({prediction.sizes['neuroid']} and "
            f"{target.sizes['neuroid']}, by {coord!r})",
            remedy="predict each of the target's neuroids once",
        )

    @property
    def is_pearson(self) -> bool:
        """Whether values are Pearson correlations."""
        return self._correlation is pearson

    def correlate(self, x: NDArray[Any], y: NDArray[Any]) -> NDArray[Any]:
        """One correlation per column of two matrices (observations × neuroids) that correspond."""
        if self._columnwise:
            return np.asarray(self._correlation(x, y))
        return np.array([np.ravel(self._correlation(a, b))[0] for a, b in zip(x.T, y.T, strict=True)])

    def pairs_rows_of(self, regression: XarrayRegression) -> bool:
        """Whether predictions of `regression` correspond to the target row by row, so that arrays can be passed.

        So it is unless a subclass has its own way of calling, or observations are matched by another coordinate.
        """
        ours, theirs = type(self), type(regression)
        return (
            ours.__call__ is XarrayCorrelation.__call__
            and theirs.cross_predict is XarrayRegression.cross_predict
            and regression.options["expected_dims"] == Defaults.expected_dims
            and self._correlation_coord == regression.options["stimulus_coord"]
        )


def _with_alpha(prediction: NeuroidAssembly, alpha: Any) -> NeuroidAssembly:
    if alpha is not None:
        prediction.attrs["alpha"] = np.asarray(alpha, dtype=np.float64).tolist()
    return prediction
