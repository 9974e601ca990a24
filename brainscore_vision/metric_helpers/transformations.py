"""Cross-validation of metrics."""

import warnings
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from brainscore_core.metrics import Score, attach_uncertainty
from brainscore_core.supported_data_standards.brainio.assemblies import DataAssembly, coords_for_dim
from brainscore_vision.metric_helpers.alignment import MetricInputError, coord_values, listed, match_rows
from brainscore_vision.metric_helpers.uncertainty import over_splits

__all__ = ["CrossValidation", "SplitRows", "apply_aggregate", "merge_splits"]

Rows = NDArray[np.intp]
Apply = Callable[[DataAssembly, DataAssembly, DataAssembly, DataAssembly], Score]
Aggregate = Callable[[Score], Score]

_DEFAULT_STRATIFICATION = "object_name"


class SplitRows(NamedTuple):
    """Rows of one assembly on either side of a split."""

    train: Rows
    test: Rows


class CrossValidation:
    """Splits stimuli into those to fit on and those to test on, again and again.

    Parameters
    ----------
    splits : int
        Number of splits.
    train_size, test_size : float or int, optional
        Share (or number) of stimuli to fit and to test on; 0.9 and the rest where neither is given. Not with `kfold`.
    split_coord : str
        Coordinate of ``presentation`` whose values are split.
    stratification_coord : str or None
        Coordinate whose values both sides hold in equal shares. The default, ``'object_name'``, applies where the
        target has it; any other one that the target lacks is warned about, and splits are then not stratified.
    unique_split_values : bool
        Whether a value of `split_coord` may occur in several presentations, which then stay on one side. Otherwise a
        repeated value is an error: the same stimulus could land on both sides.
    random_state : int
        Seed; the same seed gives the same splits as scikit-learn's ``StratifiedShuffleSplit``, ``ShuffleSplit``,
        ``StratifiedKFold`` or ``KFold`` on the target's order.
    kfold : bool
        Whether each stimulus is tested exactly once (shuffled k-fold), rather than drawn anew in each split.
    preprocess_indices : callable, optional
        ``preprocess_indices(train, test, source)`` returns the two, changed; positions are those of the split values.

    Examples
    --------
    >>> from brainscore_core.supported_data_standards.brainio.assemblies import NeuroidAssembly
    >>> assembly = NeuroidAssembly(
    ...     np.zeros((10, 1)),
    ...     coords={"stimulus_id": ("presentation", list("abcdefghij")), "neuroid_id": ("neuroid", [0])},
    ...     dims=["presentation", "neuroid"],
    ... )
    >>> split = CrossValidation(splits=3).split_rows(assembly, assembly)[0]
    >>> len(split.train), len(split.test)
    (9, 1)
    """

    def __init__(
        self,
        *,
        splits: int = 10,
        train_size: float | None = None,
        test_size: float | None = None,
        split_coord: str = "stimulus_id",
        stratification_coord: str | None = _DEFAULT_STRATIFICATION,
        unique_split_values: bool = False,
        random_state: int | None = 1,
        kfold: bool = False,
        preprocess_indices: Callable[[Rows, Rows, DataAssembly], tuple[Rows, Rows]] | None = None,
    ) -> None:
        if kfold and (train_size is not None or test_size is not None):
            raise ValueError("train_size and test_size have no meaning with kfold=True; leave them out")
        if train_size is None and test_size is None:
            train_size = 0.9
        self._splits = splits
        self._sizes = {"train_size": train_size, "test_size": test_size}
        self._split_coord = split_coord
        self._stratification_coord = stratification_coord
        self._unique_split_values = unique_split_values
        self._random_state = random_state
        self._kfold = kfold
        self._preprocess_indices = preprocess_indices

    def split_rows(self, source: DataAssembly, target: DataAssembly) -> list[SplitRows]:
        """Rows of `target` in each split.

        Raises
        ------
        MetricInputError
            If coordinates are missing, or there are too few stimuli to split.
        """
        values = coord_values(target, self._split_coord, role="target")
        index = pd.Index(values)
        if self._unique_split_values:
            _, first, codes = np.unique(values, return_index=True, return_inverse=True)
        elif not index.is_unique:
            raise MetricInputError(
                f"{listed(index[index.duplicated()][:1])} of {self._split_coord!r} occurs more than once in the "
                "target, so that it could be fitted and tested on",
                remedy="average over repetitions first, or pass unique_split_values=True to keep equal ones together",
            )
        else:
            first = codes = np.arange(len(values))
        result = []
        for train, test in self._split(len(first), self._strata(source, target, first)):
            if self._preprocess_indices is not None:
                train, test = self._preprocess_indices(train, test, source)
            if self._unique_split_values:
                train, test = (np.flatnonzero(np.isin(codes, side)) for side in (train, test))
            result.append(SplitRows(np.asarray(train, dtype=np.intp), np.asarray(test, dtype=np.intp)))
        return result

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
        source_values = coord_values(source, self._split_coord, role="source")
        target_values = coord_values(target, self._split_coord, role="target")
        if not self._unique_split_values:
            match_rows(source, target, self._split_coord)
        elif len(differing := pd.Index(source_values).unique().symmetric_difference(pd.Index(target_values).unique())):
            raise MetricInputError(
                f"source and target hold different values of {self._split_coord!r}, such as {listed(differing)}",
                remedy="select what both have",
            )
        scores = []
        for rows in self.split_rows(source, target):
            sides = []
            for side in rows:
                theirs = _rows_of(source_values, target_values[side])
                sides += [source.isel(presentation=theirs), target.isel(presentation=side)]
            scores.append(apply(*sides))
        return self.aggregate(merge_splits(scores), aggregate)

    def aggregate(self, raw: Score, aggregate: Aggregate | None = None) -> Score:
        """Mean over splits, its error, and the values it came from."""
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

    def _split(self, n: int, strata: NDArray[Any] | None) -> Iterator[tuple[Rows, Rows]]:
        from sklearn import model_selection

        options: dict[str, Any] = {"n_splits": self._splits, "random_state": self._random_state}
        options |= {"shuffle": True} if self._kfold else self._sizes
        name = ("Stratified" if strata is not None else "") + ("KFold" if self._kfold else "ShuffleSplit")
        try:
            yield from getattr(model_selection, name)(**options).split(np.zeros(n), strata)
        except ValueError as error:
            raise self._unsplittable(n, str(error)) from error

    def _unsplittable(self, n: int, why: str) -> MetricInputError:
        stratified = f" stratified by {self._stratification_coord!r}" if self._stratification_coord else ""
        return MetricInputError(
            f"{n} values of {self._split_coord!r} cannot be split{stratified}: {why}",
            remedy="use more stimuli, fewer splits or another test_size, or do not stratify: "
            "crossvalidation_kwargs=dict(stratification_coord=None)",
        )

    def _strata(self, source: DataAssembly, target: DataAssembly, first: Rows) -> NDArray[Any] | None:
        coord = self._stratification_coord
        if coord is None:
            return None
        if coord not in target.coords:
            if coord != _DEFAULT_STRATIFICATION:
                warnings.warn(
                    f"the target has no coordinate {coord!r} to stratify by; splits are not stratified", stacklevel=4
                )
            return None
        strata = coord_values(target, coord, role="target")
        if pd.isna(strata).any():
            raise MetricInputError(
                f"coordinate {coord!r} of the target has missing values, so splits cannot be stratified by it",
                remedy="fill them in, or pass crossvalidation_kwargs=dict(stratification_coord=None)",
            )
        if coord in source.coords:
            theirs, ours = (set(pd.unique(pd.Series(a[coord].values))) for a in (source, target))
            if theirs != ours:
                differing = sorted(theirs ^ ours, key=repr)
                raise MetricInputError(
                    f"source and target hold different values of {coord!r}, such as {listed(differing)}",
                    remedy="show the model the target's stimuli, or pass stratification_coord=None",
                )
        return np.asarray(strata[first])


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
