"""Metrics and regressions of responses over time."""

import copy
from collections.abc import Callable, Iterator, Sequence
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from brainscore_core.metric_helpers.alignment import MetricInputError, as_table, finite_values, listed, match_rows
from brainscore_core.metric_helpers.xarray_utils import XarrayRegression
from brainscore_core.metrics import Score
from brainscore_core.numerics.linear_regression import Splits
from brainscore_core.progress import stage
from brainscore_core.supported_data_standards.brainio.assemblies import DataAssembly, NeuroidAssembly, coords_for_dim

TIME_DIM = "time_bin"
A = TypeVar("A", bound=DataAssembly)
_START, _END = "time_bin_start", "time_bin_end"


def matching_time_bins(
    source: DataAssembly, target: DataAssembly, *, roles: tuple[str, str] = ("source", "target")
) -> NDArray[np.intp]:
    """Time bins of `source` in the order of `target`.

    Bins are the same if start and end agree; if one of the two lacks these coordinates, bins correspond by
    position.

    A MetricInputError if one has no time bins, or they differ.
    """
    bins = []
    for assembly, role in zip((source, target), roles, strict=True):
        if TIME_DIM not in assembly.dims:
            raise MetricInputError(
                f"the {role} has no dimension {TIME_DIM!r}; its dimensions: {', '.join(map(str, assembly.dims))}",
                remedy="record several time bins, or use the metric for a single one",
            )
        named = all(name in assembly.coords for name in (_START, _END))
        bins.append(list(zip(assembly[_START].values, assembly[_END].values, strict=True)) if named else None)
    theirs, ours = bins
    if theirs is None or ours is None:
        if source.sizes[TIME_DIM] != target.sizes[TIME_DIM]:
            raise MetricInputError(
                f"the {roles[0]} has {source.sizes[TIME_DIM]} time bins but the {roles[1]} {target.sizes[TIME_DIM]}",
                remedy=f"record the same time bins, and name them by {_START!r} and {_END!r}",
            )
        return np.arange(target.sizes[TIME_DIM])
    for names, role in ((theirs, roles[0]), (ours, roles[1])):
        if len(set(names)) < len(names):
            raise MetricInputError(f"time bins of the {role} occur more than once", remedy="select each only once")
    if set(theirs) != set(ours):
        different = [f"{start}–{end}" for start, end in sorted(set(theirs) ^ set(ours))]
        raise MetricInputError(
            f"{roles[0]} and {roles[1]} hold different time bins, such as {listed(different)}",
            remedy=f"record the {roles[1]}'s time bins: model.start_recording(region, time_bins=[(start, end), …])",
        )
    position = {name: i for i, name in enumerate(theirs)}
    return np.array([position[name] for name in ours], dtype=np.intp)


class PerTime:
    """Apply a function to each time bin separately.

    Parameters
    ----------
    operation : callable
        ``operation(*assemblies) -> Score``, given assemblies without the dimension ``time_bin``.

    Examples
    --------
    >>> assembly = NeuroidAssembly(np.ones((4, 3, 2)), dims=["presentation", "neuroid", "time_bin"])
    >>> PerTime(lambda part: Score(part.values.sum()))(assembly).values.tolist()
    [12.0, 12.0]
    """

    def __init__(self, operation: Callable[..., Score]) -> None:
        self._operation = operation

    def __call__(self, *assemblies: DataAssembly) -> Score:
        """Results along a last dimension ``time_bin``; bins in the order of the last assembly.

        Raises
        ------
        MetricInputError
            If an assembly has no time bins, or they differ.
        """
        last = assemblies[-1]
        roles = ("first assembly", "last assembly")
        bins = [matching_time_bins(assembly, last, roles=roles) for assembly in assemblies]
        results = [
            self._operation(
                *(
                    assembly.isel({TIME_DIM: matching[i]}, drop=True)
                    for assembly, matching in zip(assemblies, bins, strict=True)
                )
            )
            for i in range(last.sizes[TIME_DIM])
        ]
        return _along_time(Score, results, last)


def _along_time(kind: type[A], parts: Sequence[DataAssembly], like: DataAssembly) -> A:
    """Assemblies of the time bins of `like`, stacked along a last dimension."""
    first = parts[0]
    coords: dict[str, Any] = coords_for_dim(like, TIME_DIM)
    for dim in first.dims:
        coords |= coords_for_dim(first, str(dim))
    values = np.stack([np.asarray(part.values) for part in parts], axis=-1)
    return kind(values, coords=coords, dims=[*first.dims, TIME_DIM])


class SpanTimeRegression(XarrayRegression):
    """One regression for all time bins: fitted on the presentations of all bins together, predicts bin by bin.

    Parameters
    ----------
    regression : XarrayRegression or object
        A regression of assemblies, or of arrays as :class:`XarrayRegression` takes it.
    """

    def __init__(self, regression: Any) -> None:
        if isinstance(regression, XarrayRegression):
            super().__init__(regression.estimator, **regression.options)
        else:
            super().__init__(regression)

    def fit(self, source: DataAssembly, target: DataAssembly) -> "SpanTimeRegression":
        """Fit `target` from `source`; both presentation × neuroid × time_bin, in any order.

        Raises
        ------
        MetricInputError
            If stimuli or time bins differ, or values are missing.
        """
        X, Y, order = self._pair(source, target)
        self._check(len(Y), X.shape[1])
        self._fitted = self._regression.fit(X[order], Y)
        self._target_coords = coords_for_dim(target, self._neuroid_dim)
        return self

    def predict(self, source: DataAssembly) -> NeuroidAssembly:
        """Predict the responses to the stimuli of `source` in each of its time bins."""
        if self._fitted is None:
            raise MetricInputError("the regression is not fitted yet", remedy="call fit(source, target) first")
        source = as_table(source, (*self._dims, TIME_DIM), role="source")
        values = np.asarray(self._fitted.predict(self._pooled(source, role="source")))
        return self._unpooled(values, source, self._target_coords)

    def cross_predict(self, source: DataAssembly, target: DataAssembly, splits: Splits) -> Iterator[NeuroidAssembly]:
        """Out-of-fold predictions, split after split; a stimulus is on the same side in all time bins.

        Parameters
        ----------
        source, target : DataAssembly
            All stimuli of both, presentation × neuroid × time_bin.
        splits : sequence of (array of int, array of int)
            Rows of `target` to fit on and to test on.

        Yields
        ------
        NeuroidAssembly
            Predictions for the test rows, in their order.
        """
        X, Y, order = self._pair(source, target)
        target = as_table(target, (*self._dims, TIME_DIM), role="target")
        n, n_bins = target.sizes[self._dims[0]], target.sizes[TIME_DIM]
        offsets = n * np.arange(n_bins)[:, None]
        pooled = [tuple((offsets + side).ravel() for side in split) for split in splits]
        neuroids = coords_for_dim(target, self._neuroid_dim)
        with stage("regression", len(splits), unit="splits") as progress:
            for (_, test), fit in zip(splits, self._cross_fit(X, Y, order, pooled), strict=True):
                yield self._unpooled(fit.predicted, target.isel({self._dims[0]: test}), neuroids)
                progress.advance()

    def _pair(self, source: DataAssembly, target: DataAssembly) -> tuple[NDArray[Any], NDArray[Any], NDArray[np.intp]]:
        dims = (*self._dims, TIME_DIM)
        bins = matching_time_bins(source, target)
        source, target = as_table(source, dims, role="source"), as_table(target, dims, role="target")
        order = match_rows(source, target, self._stimulus_coord)
        rows = (len(order) * bins[:, None] + order).ravel()
        return self._pooled(source, role="source"), self._pooled(target, role="target"), rows

    def _pooled(self, assembly: DataAssembly, *, role: str) -> NDArray[Any]:
        """(time_bin · presentation) × neuroid."""
        bins = [assembly.isel({TIME_DIM: i}, drop=True) for i in range(assembly.sizes[TIME_DIM])]
        return np.concatenate([finite_values(responses, role=role, label=self._neuroid_coord) for responses in bins])

    def _unpooled(self, values: NDArray[Any], like: DataAssembly, neuroids: dict[str, Any]) -> NeuroidAssembly:
        cube = np.moveaxis(values.reshape(like.sizes[TIME_DIM], like.sizes[self._dims[0]], -1), 0, -1)
        coords = coords_for_dim(like, self._dims[0]) | neuroids | coords_for_dim(like, TIME_DIM)
        return NeuroidAssembly(cube, coords=coords, dims=[self._dims[0], self._neuroid_dim, TIME_DIM])


class PerTimeRegression:
    """A separate regression for each time bin.

    `regression`: a regression of assemblies, or of arrays as :class:`XarrayRegression` takes it; it stays as it is.
    """

    def __init__(self, regression: Any) -> None:
        self._regression = regression if isinstance(regression, XarrayRegression) else XarrayRegression(regression)
        self._fits: list[XarrayRegression] = []
        self._like: DataAssembly | None = None

    def fit(self, source: DataAssembly, target: DataAssembly) -> "PerTimeRegression":
        """Fit `target` from `source`, both presentation × neuroid × time_bin, in each time bin.

        A MetricInputError if stimuli or time bins differ, or values are missing.
        """
        bins = matching_time_bins(source, target)
        self._fits = [
            copy.deepcopy(self._regression).fit(
                source.isel({TIME_DIM: source_bin}, drop=True), target.isel({TIME_DIM: i}, drop=True)
            )
            for i, source_bin in enumerate(bins)
        ]
        self._like = target
        return self

    def predict(self, source: DataAssembly) -> NeuroidAssembly:
        """Predict the responses to the stimuli of `source` in each of the time bins that were fitted."""
        if self._like is None:
            raise MetricInputError("the regression is not fitted yet", remedy="call fit(source, target) first")
        bins = matching_time_bins(source, self._like)
        predictions = [
            fit.predict(source.isel({TIME_DIM: index}, drop=True)) for fit, index in zip(self._fits, bins, strict=True)
        ]
        return _along_time(NeuroidAssembly, predictions, self._like)
