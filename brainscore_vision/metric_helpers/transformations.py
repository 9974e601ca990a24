"""Cross-validation of metrics, and metrics of parts of assemblies."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from brainscore_core.metrics import Score, attach_uncertainty
from brainscore_core.supported_data_standards.brainio.assemblies import DataAssembly, coords_for_dim
from brainscore_vision.metric_helpers._splits import Rows, SplitRows, Splits
from brainscore_vision.metric_helpers.alignment import MetricInputError, coord_values, listed, match_rows
from brainscore_vision.metric_helpers.products import Alignment, CartesianProduct, enumerate_done, expand
from brainscore_vision.metric_helpers.uncertainty import over_splits

__all__ = [
    "Alignment",
    "CartesianProduct",
    "CrossValidation",
    "CrossValidationSingle",
    "SplitRows",
    "Splits",
    "TestOnlyCrossValidation",
    "TestOnlyCrossValidationSingle",
    "aggregate_splits",
    "apply_aggregate",
    "enumerate_done",
    "expand",
    "merge_splits",
]

Apply = Callable[[DataAssembly, DataAssembly, DataAssembly, DataAssembly], Score]
ApplyToPair = Callable[[DataAssembly, DataAssembly], Score]
ApplyToOne = Callable[[DataAssembly], Score]
Aggregate = Callable[[Score], Score]


class CrossValidation(Splits):
    """Apply a metric that fits on one part of the stimuli and tests on the other, in each split.

    Takes the arguments of :class:`Splits`: `splits`, `train_size`, `test_size`, `split_coord`, `stratification_coord`,
    `unique_split_values`, `random_state`, `kfold`, `group_coord`, `preprocess_indices`.
    """

    def __call__(
        self, source: DataAssembly, target: DataAssembly, *, apply: Apply, aggregate: Aggregate | None = None
    ) -> Score:
        """Apply a metric to each split.

        Parameters
        ----------
        source, target : DataAssembly
            Must hold the same values of the split coordinate.
        apply : callable
            ``apply(source_train, target_train, source_test, target_test) -> Score``.
        aggregate : callable, optional
            Reduces the values of all splits (with a ``split`` dimension) to one a split.

        Returns
        -------
        Score
            Mean over splits of the aggregated values; ``raw`` holds all values, ``error`` is the standard deviation
            over splits (ddof 0) divided by √splits.
        """
        pick = self._corresponding(source, target)
        scores = [apply(*pick(rows.train), *pick(rows.test)) for rows in self.split_rows(source, target)]
        return self.aggregate(merge_splits(scores), aggregate)

    def aggregate(self, raw: Score, aggregate: Aggregate | None = None) -> Score:
        """Mean over splits, its error, and the values it came from: :func:`aggregate_splits`."""
        return aggregate_splits(raw, aggregate)

    def _corresponding(
        self, source: DataAssembly, target: DataAssembly
    ) -> Callable[[Rows], tuple[DataAssembly, DataAssembly]]:
        """Source and target at rows of the target, after a check that they hold the same values."""
        source_values = coord_values(source, self._split_coord, role="source")
        target_values = coord_values(target, self._split_coord, role="target")
        if not self._unique_split_values:
            match_rows(source, target, self._split_coord)
        elif len(differing := pd.Index(source_values).unique().symmetric_difference(pd.Index(target_values).unique())):
            raise MetricInputError(
                f"source and target hold different values of {self._split_coord!r}, such as {listed(differing)}",
                remedy="select what both have",
            )

        def pick(rows: Rows) -> tuple[DataAssembly, DataAssembly]:
            theirs = _rows_of(source_values, target_values[rows])
            return source.isel(presentation=theirs), target.isel(presentation=rows)

        return pick


class TestOnlyCrossValidation(CrossValidation):
    """Apply a metric that fits nothing to the test part of each split; arguments are those of :class:`Splits`.

    Examples
    --------
    >>> from brainscore_core.supported_data_standards.brainio.assemblies import NeuroidAssembly
    >>> assembly = NeuroidAssembly(
    ...     np.zeros((10, 1)),
    ...     coords={"stimulus_id": ("presentation", list("abcdefghij")), "neuroid_id": ("neuroid", [0])},
    ...     dims=["presentation", "neuroid"],
    ... )
    >>> validation = TestOnlyCrossValidation(test_size=0.9)
    >>> float(validation(assembly, assembly, apply=lambda source, target: Score(len(target))))
    9.0
    """

    __test__ = False  # the name is not that of a test

    def __call__(  # type: ignore[override]  # the metric takes two parts rather than four
        self, source: DataAssembly, target: DataAssembly, *, apply: ApplyToPair, aggregate: Aggregate | None = None
    ) -> Score:
        """Apply a metric to each split's test part.

        Parameters
        ----------
        source, target : DataAssembly
            Must hold the same values of the split coordinate.
        apply : callable
            ``apply(source_test, target_test) -> Score``.
        aggregate : callable, optional
            Reduces the values of all splits (with a ``split`` dimension) to one a split.

        Returns
        -------
        Score
            As for :class:`CrossValidation`.
        """
        pick = self._corresponding(source, target)
        scores = [apply(*pick(rows.test)) for rows in self.split_rows(source, target)]
        return self.aggregate(merge_splits(scores), aggregate)


class CrossValidationSingle(Splits):
    """Apply a function to the two parts of one assembly, in each split; arguments are those of :class:`Splits`."""

    def __call__(self, assembly: DataAssembly, *, apply: ApplyToPair, aggregate: Aggregate | None = None) -> Score:
        """Apply a function to each split.

        Parameters
        ----------
        assembly : DataAssembly
            With the split coordinate along ``presentation``.
        apply : callable
            ``apply(train, test) -> Score``.
        aggregate : callable, optional
            Reduces the values of all splits (with a ``split`` dimension) to one a split.

        Returns
        -------
        Score
            As for :class:`CrossValidation`.
        """
        scores = [
            apply(*(assembly.isel(presentation=side) for side in rows)) for rows in self.split_rows(assembly, assembly)
        ]
        return aggregate_splits(merge_splits(scores), aggregate)


class TestOnlyCrossValidationSingle(Splits):
    """Apply a function to the test part of one assembly, in each split; arguments are those of :class:`Splits`."""

    __test__ = False  # the name is not that of a test

    def __call__(self, assembly: DataAssembly, *, apply: ApplyToOne, aggregate: Aggregate | None = None) -> Score:
        """Apply a function to each split's test part.

        Parameters
        ----------
        assembly : DataAssembly
            With the split coordinate along ``presentation``.
        apply : callable
            ``apply(test) -> Score``.
        aggregate : callable, optional
            Reduces the values of all splits (with a ``split`` dimension) to one a split.

        Returns
        -------
        Score
            As for :class:`CrossValidation`.
        """
        splits = self.split_rows(assembly, assembly)
        scores = [apply(assembly.isel(presentation=rows.test)) for rows in splits]
        return aggregate_splits(merge_splits(scores), aggregate)


def aggregate_splits(raw: Score, aggregate: Aggregate | None = None) -> Score:
    """Mean over splits, its error, and the values it came from.

    Parameters
    ----------
    raw : Score
        With a ``split`` dimension.
    aggregate : callable, optional
        Reduces `raw` to one value a split.

    Returns
    -------
    Score
        ``raw`` holds all values, ``error`` the standard deviation over splits (ddof 0) divided by √splits. Splits in
        which nothing is defined are left out. Where several values a split are left, each is averaged over splits,
        without an error.
    """
    per_split = raw if aggregate is None else aggregate(raw)
    if per_split.ndim != 1:
        score = Score(per_split.mean("split"))
        score.attrs = {Score.RAW_VALUES_KEY: raw}
        return attach_uncertainty(score, reason="several values; aggregate them first")
    value, error = over_splits(np.asarray(per_split.values, dtype=np.float64))
    score = Score(value)
    score.attrs = {Score.RAW_VALUES_KEY: raw}
    reason = "only the metric knows what its values can be resampled over"
    if np.isnan(error):
        reason = "undefined in every split"
    return attach_uncertainty(score, error=error, reason=reason)


def apply_aggregate(aggregate_fnc: Callable[[Any], Score], values: Any) -> Score:
    """Aggregate values and keep them in ``attrs['raw']`` of the result.

    Examples
    --------
    >>> values = Score([0.2, 0.4], dims=["neuroid"])
    >>> score = apply_aggregate(lambda scores: scores.mean("neuroid"), values)
    >>> round(float(score), 3), score.attrs["raw"].size
    (0.3, 2)
    """
    score = aggregate_fnc(values)
    score.attrs[Score.RAW_VALUES_KEY] = values
    return score


def merge_splits(scores: list[Score]) -> Score:
    """Scores of the same neuroids (or of single values), one a split, along a new dimension ``split``."""
    first = scores[0]
    coords: dict[str, Any] = {"split": ("split", np.arange(len(scores)))}
    for dim in first.dims:
        coords |= coords_for_dim(first, dim)
    return Score(np.stack([np.asarray(score.values) for score in scores]), coords=coords, dims=["split", *first.dims])


def _rows_of(values: NDArray[Any], wanted: NDArray[Any]) -> Rows:
    """Rows whose value is wanted, ordered like the wanted ones where those are unique."""
    index, codes = pd.Index(values), pd.Index(pd.unique(pd.Series(wanted)))
    positions = codes.get_indexer(index)
    rows = np.flatnonzero(positions >= 0)
    return np.asarray(rows[np.argsort(positions[rows], kind="stable")], dtype=np.intp)
