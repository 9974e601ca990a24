"""Cross-validation of metrics: splits of stimuli, and metrics applied to each split."""

import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any, NamedTuple, Self

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from brainscore_core.metric_helpers.alignment import MetricInputError, canonical_rows, coord_values, listed, match_rows
from brainscore_core.metric_helpers.uncertainty import over_splits
from brainscore_core.metrics import Score, amend_uncertainty, attach_uncertainty
from brainscore_core.numerics.splits import k_folds, shuffle_splits
from brainscore_core.progress import track
from brainscore_core.supported_data_standards.brainio.assemblies import DataAssembly, coords_for_dim

Rows = NDArray[np.intp]

_DEFAULT_STRATIFICATION = "object_name"


class SplitRows(NamedTuple):
    """Rows of one assembly on either side of a split."""

    train: Rows
    test: Rows


@dataclass(eq=False, kw_only=True)
class Splits:
    """Division of stimuli into training and test stimuli.

    Splits do not depend on the order of the presentations: these are sorted first, as
    :func:`~brainscore_core.metric_helpers.alignment.canonical_rows` does.

    - `splits`: number of splits (with `kfold` of parts).
    - `train_size`, `test_size`: share (or number) of stimuli to fit and to test on; 0.9 and the rest where neither is
      given. Not with `kfold`. With `group_coord` the share (or number) of groups.
    - `split_coord`: coordinate of ``presentation`` whose values are split.
    - `stratification_coord`: coordinate whose values occur in equal shares on both sides. The default,
      ``'object_name'``, applies if the target has it; if the target lacks another coordinate, there is a warning, and
      splits are not stratified.
    - `unique_split_values`: whether a value of `split_coord` may occur in several presentations, which then stay on one
      side. Otherwise a repeated value is an error: the same stimulus could land on both sides.
    - `random_state`: seed; the same seed gives the same splits as scikit-learn's ``StratifiedShuffleSplit``,
      ``ShuffleSplit``, ``StratifiedKFold`` or ``KFold`` on the sorted target.
    - `kfold`: whether each stimulus is tested exactly once (shuffled k-fold), rather than drawn independently in each
      split.
    - `group_coord`: coordinate whose values never occur on both sides, such as the scene, subject or session. Groups
      are then split, as in scikit-learn's ``GroupShuffleSplit``: sorted, whatever their sizes. Splits are stratified if
      all stimuli of a group belong to one stratum; otherwise the default stratification does not apply, and any other
      is an error.
    - `preprocess_indices`: ``preprocess_indices(train, test, source)`` returns the two, changed; positions are those of
      the split values, and `source` is in their order.

    Examples
    --------
    >>> from brainscore_core.supported_data_standards.brainio.assemblies import NeuroidAssembly
    >>> assembly = NeuroidAssembly(
    ...     np.zeros((10, 1)),
    ...     coords={"stimulus_id": ("presentation", list("abcdefghij")), "neuroid_id": ("neuroid", [0])},
    ...     dims=["presentation", "neuroid"],
    ... )
    >>> split = Splits(splits=3).split_rows(assembly, assembly)[0]
    >>> len(split.train), len(split.test)
    (9, 1)
    """

    splits: int = 10
    train_size: float | None = None
    test_size: float | None = None
    split_coord: str = "stimulus_id"
    stratification_coord: str | None = _DEFAULT_STRATIFICATION
    unique_split_values: bool = False
    random_state: int | None = 1
    kfold: bool = False
    group_coord: str | None = None
    preprocess_indices: Callable[[Rows, Rows, DataAssembly], tuple[Rows, Rows]] | None = None

    def __post_init__(self) -> None:
        if self.train_size is None and self.test_size is None:
            self.train_size = None if self.kfold else 0.9
        elif self.kfold:
            raise ValueError("train_size and test_size have no meaning with kfold=True; leave them out")

    @property
    def description(self) -> str:
        """How stimuli are divided, in words.

        Examples
        --------
        >>> Splits(splits=5, kfold=True, group_coord="scene", stratification_coord=None).description
        '5 folds over stimulus_id, values of scene on one side'
        >>> Splits().description
        '10 random splits over stimulus_id, 90 % to fit, seed 1, stratified by object_name where it is known'
        """
        sizes = {"fit": self.train_size, "test": self.test_size}
        shares = [
            f"{100 * size:g} % to {purpose}" if isinstance(size, float) else f"{size} stimuli to {purpose}"
            for purpose, size in sizes.items()
            if size is not None
        ]
        kinds = [f"{self.splits} {'folds' if self.kfold else 'random splits'} over {self.split_coord}"]
        kinds += [] if self.kfold else [*shares, f"seed {self.random_state}"]
        kinds += [f"values of {self.group_coord} on one side"] if self.group_coord else []
        if self.stratification_coord:
            kinds.append(f"stratified by {self.stratification_coord} where it is known")
        return ", ".join(kinds)

    def by_groups(
        self,
        group_coord: str,
        *,
        groups: int,
        stimuli: int,
        preprocess_indices: Callable[[Rows, Rows, DataAssembly], tuple[Rows, Rows]] | None = None,
    ) -> Self:
        """The same kind of splits with the values of a coordinate on one side, not stratified.

        Numbers of stimuli to fit and to test on become shares of groups, and there are at most as many folds as groups.
        `preprocess_indices` replaces that of these splits.

        Examples
        --------
        >>> validation = CrossValidation(train_size=40, splits=5).by_groups("scene", groups=10, stimuli=50)
        >>> assembly = DataAssembly(np.zeros(50), dims=["presentation"], coords={
        ...     "stimulus_id": ("presentation", range(50)), "scene": ("presentation", np.arange(50) // 5)})
        >>> [len(rows.train) for rows in validation.split_rows(assembly, assembly)]
        [40, 40, 40, 40, 40]
        """
        sizes: dict[str, Any] = {
            name: min(max(round(size * groups / stimuli), 1), groups - 1)
            for name in ("train_size", "test_size")
            if isinstance(size := getattr(self, name), int | np.integer)
        }
        return replace(
            self,
            splits=min(self.splits, groups) if self.kfold else self.splits,
            stratification_coord=None,
            group_coord=group_coord,
            preprocess_indices=preprocess_indices or self.preprocess_indices,
            **sizes,
        )

    def split_rows(self, source: DataAssembly, target: DataAssembly) -> list[SplitRows]:
        """Rows of `target` in each split; rows of a side are in the order of the split.

        A MetricInputError if coordinates are missing, or there are too few stimuli to split.
        """
        order = canonical_rows(target)
        values = coord_values(target, self.split_coord, role="target")[order]
        index = pd.Index(values)
        if self.unique_split_values:
            _, first, codes = np.unique(values, return_index=True, return_inverse=True)
        elif not index.is_unique:
            raise MetricInputError(
                f"{listed(index[index.duplicated()][:1])} of {self.split_coord!r} occurs more than once in the "
                "target, so that it could be fitted and tested on",
                remedy="average over repetitions first, or pass unique_split_values=True to keep equal ones together",
            )
        else:
            first = codes = np.arange(len(values))
        strata = self._strata(source, target, order[first])
        groups = None
        if self.group_coord is not None:
            groups = self._groups(target, order, first, codes)
            strata = self._strata_of_groups(strata, groups)
        if self.preprocess_indices is not None:
            theirs = coord_values(source, self.split_coord, role="source")
            source = source.isel(presentation=_rows_of(theirs, values))
        result = []
        for train, test in self._split(len(first) if groups is None else int(groups.max()) + 1, strata):
            if groups is not None:
                train, test = (np.flatnonzero(np.isin(groups, side)) for side in (train, test))
            if self.preprocess_indices is not None:
                train, test = self.preprocess_indices(train, test, source)
            if self.unique_split_values:
                train, test = (np.flatnonzero(np.isin(codes, side)) for side in (train, test))
            result.append(SplitRows(order[np.asarray(train, dtype=np.intp)], order[np.asarray(test, dtype=np.intp)]))
        return result

    def _shown(self, source: DataAssembly, target: DataAssembly) -> Iterator[SplitRows]:
        """The splits, one after the other; a terminal or notebook shows how many are done."""
        splits = self.split_rows(source, target)
        yield from track(splits, "comparing", len(splits), unit="splits")

    def _split(self, n: int, strata: NDArray[Any] | None) -> Iterator[tuple[Rows, Rows]]:
        options: dict[str, Any] = {"n_splits": self.splits, "random_state": self.random_state}
        try:
            if self.kfold:
                yield from k_folds(n, strata, **options)
            else:
                yield from shuffle_splits(n, strata, **options, train_size=self.train_size, test_size=self.test_size)
        except ValueError as error:
            raise self._unsplittable(n, str(error)) from error

    def _unsplittable(self, n: int, why: str) -> MetricInputError:
        stratified = f" stratified by {self.stratification_coord!r}" if self.stratification_coord else ""
        units, coordinate = ("stimuli", self.split_coord) if self.group_coord is None else ("groups", self.group_coord)
        return MetricInputError(
            f"{n} values of {coordinate!r} cannot be split{stratified}: {why}",
            remedy=f"use more {units}, fewer splits or another test_size, or do not stratify: "
            "crossvalidation_kwargs=dict(stratification_coord=None)",
        )

    def _strata(self, source: DataAssembly, target: DataAssembly, first: Rows) -> NDArray[Any] | None:
        coord = self.stratification_coord
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

    def _groups(self, target: DataAssembly, order: Rows, first: Rows, codes: Rows) -> Rows:
        """Number of the group to which each value of the split coordinate belongs; groups are numbered sorted."""
        coord = str(self.group_coord)
        groups = coord_values(target, coord, role="target")[order]
        if pd.isna(groups).any():
            raise MetricInputError(
                f"coordinate {coord!r} of the target has missing values, so splits cannot keep its groups together",
                remedy="fill them in, or leave out the presentations without a group",
            )
        numbers = np.unique(groups, return_inverse=True)[1]
        torn = np.flatnonzero(numbers != numbers[first][codes])
        if len(torn):
            value = coord_values(target, self.split_coord, role="target")[order[torn[:1]]]
            raise MetricInputError(
                f"{listed(value)} of {self.split_coord!r} occurs in several groups of {coord!r}, so that one of them "
                "would be on both sides",
                remedy=f"split by the groups themselves: split_coord={coord!r}, unique_split_values=True",
            )
        return np.asarray(numbers[first], dtype=np.intp)

    def _strata_of_groups(self, strata: NDArray[Any] | None, groups: Rows) -> NDArray[Any] | None:
        if strata is None:
            return None
        of_groups = strata[np.unique(groups, return_index=True)[1]]
        if (of_groups[groups] == strata).all():
            return np.asarray(of_groups)
        if self.stratification_coord == _DEFAULT_STRATIFICATION:
            return None
        raise MetricInputError(
            f"a group of {self.group_coord!r} holds stimuli of several values of {self.stratification_coord!r}, so "
            "splits cannot keep groups together and be stratified",
            remedy="do not stratify: crossvalidation_kwargs=dict(stratification_coord=None)",
        )


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

        - `source`, `target`: must hold the same values of the split coordinate.
        - `apply`: ``apply(source_train, target_train, source_test, target_test) -> Score``.
        - `aggregate`: reduces the values of all splits (with a ``split`` dimension) to one per split.

        Returns: mean over splits of the aggregated values; ``raw`` holds all values, ``split_error`` is the standard
        deviation over splits (ddof 0) divided by √splits.
        """
        pick = self._corresponding(source, target)
        scores = [apply(*pick(rows.train), *pick(rows.test)) for rows in self._shown(source, target)]
        return self.aggregate(merge_splits(scores), aggregate)

    def aggregate(self, raw: Score, aggregate: Aggregate | None = None) -> Score:
        """Mean over splits, its spread, and the values of the splits: :func:`aggregate_splits`.

        The raw values say in ``attrs['splits']`` how stimuli were divided.
        """
        raw.attrs["splits"] = self.description
        return aggregate_splits(raw, aggregate)

    def _corresponding(
        self, source: DataAssembly, target: DataAssembly
    ) -> Callable[[Rows], tuple[DataAssembly, DataAssembly]]:
        """Source and target at rows of the target, after a check that they hold the same values."""
        source_values = coord_values(source, self.split_coord, role="source")
        target_values = coord_values(target, self.split_coord, role="target")
        if not self.unique_split_values:
            match_rows(source, target, self.split_coord)
        elif len(differing := pd.Index(source_values).unique().symmetric_difference(pd.Index(target_values).unique())):
            raise MetricInputError(
                f"source and target hold different values of {self.split_coord!r}, such as {listed(differing)}",
                remedy="select the common values",
            )

        def pick(rows: Rows) -> tuple[DataAssembly, DataAssembly]:
            theirs = _rows_of(source_values, target_values[rows])
            return source.isel(presentation=theirs), target.isel(presentation=rows)

        return pick


class TestedStimuli(CrossValidation):
    """A single split: stimuli for which a coordinate is True are tested, with maps that are fitted on all others.

    Examples
    --------
    >>> assembly = DataAssembly(np.zeros(4), dims=["presentation"], coords={
    ...     "stimulus_id": ("presentation", list("abcd")), "tested": ("presentation", [True, False, False, True])})
    >>> [rows.tolist() for rows in TestedStimuli("tested").split_rows(assembly, assembly)[0]]
    [[1, 2], [0, 3]]
    """

    __test__ = False  # not a test, despite its name

    def __init__(self, tested_coord: str) -> None:
        super().__init__(splits=1, stratification_coord=None)
        self._tested_coord = tested_coord

    @property
    def description(self) -> str:
        """How stimuli are divided, in words."""
        return f"1 split: stimuli with {self._tested_coord} are tested, the others fitted"

    def split_rows(self, source: DataAssembly, target: DataAssembly) -> list[SplitRows]:
        """Rows of `target` on either side."""
        order = canonical_rows(target)
        tested = coord_values(target, self._tested_coord, role="target")[order].astype(bool)
        return [SplitRows(order[~tested], order[tested])]


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

    __test__ = False  # not a test, despite its name

    def __call__(  # type: ignore[override]  # the metric takes two parts rather than four
        self, source: DataAssembly, target: DataAssembly, *, apply: ApplyToPair, aggregate: Aggregate | None = None
    ) -> Score:
        """Apply a metric to each split's test part.

        - `source`, `target`: must hold the same values of the split coordinate.
        - `apply`: ``apply(source_test, target_test) -> Score``.
        - `aggregate`: reduces the values of all splits (with a ``split`` dimension) to one per split.

        Returns: as for :class:`CrossValidation`.
        """
        pick = self._corresponding(source, target)
        scores = [apply(*pick(rows.test)) for rows in self._shown(source, target)]
        return self.aggregate(merge_splits(scores), aggregate)


class CrossValidationSingle(Splits):
    """Apply a function to the two parts of one assembly, in each split; arguments are those of :class:`Splits`."""

    def __call__(self, assembly: DataAssembly, *, apply: ApplyToPair, aggregate: Aggregate | None = None) -> Score:
        """Apply a function to each split.

        - `assembly`: with the split coordinate along ``presentation``.
        - `apply`: ``apply(train, test) -> Score``.
        - `aggregate`: reduces the values of all splits (with a ``split`` dimension) to one per split.

        Returns: as for :class:`CrossValidation`.
        """
        splits = self._shown(assembly, assembly)
        scores = [apply(*(assembly.isel(presentation=side) for side in rows)) for rows in splits]
        return aggregate_splits(merge_splits(scores), aggregate)


class TestOnlyCrossValidationSingle(Splits):
    """Apply a function to the test part of one assembly, in each split; arguments are those of :class:`Splits`."""

    __test__ = False  # not a test, despite its name

    def __call__(self, assembly: DataAssembly, *, apply: ApplyToOne, aggregate: Aggregate | None = None) -> Score:
        """Apply a function to each split's test part.

        - `assembly`: with the split coordinate along ``presentation``.
        - `apply`: ``apply(test) -> Score``.
        - `aggregate`: reduces the values of all splits (with a ``split`` dimension) to one per split.

        Returns: as for :class:`CrossValidation`.
        """
        scores = [apply(assembly.isel(presentation=rows.test)) for rows in self._shown(assembly, assembly)]
        return aggregate_splits(merge_splits(scores), aggregate)


def aggregate_splits(raw: Score, aggregate: Aggregate | None = None) -> Score:
    """Mean over splits, its spread, and the values of the splits.

    `aggregate` reduces `raw` to one value per split. ``raw`` of the result holds all values, ``split_error`` the
    standard deviation over splits (ddof 0) divided by √splits. It is not a standard error, as splits overlap: ``error``
    is NaN until the metric attaches one. Splits in which nothing is defined are left out. If several values a split are
    left, each is averaged over splits.
    """
    per_split = raw if aggregate is None else aggregate(raw)
    if per_split.ndim != 1:
        score = Score(per_split.mean("split"))
        score.attrs = {Score.RAW_VALUES_KEY: raw}
        return attach_uncertainty(score, reason="several values; aggregate them first")
    value, error = over_splits(np.asarray(per_split.values, dtype=np.float64))
    score = Score(value)
    score.attrs = {Score.RAW_VALUES_KEY: raw}
    amend_uncertainty(score, split_error=error)
    reason = "the metric does not say over which units its values vary; the spread over splits is not one"
    return attach_uncertainty(score, reason="undefined in every split" if np.isnan(error) else reason)


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
    """Join scores of the same neuroids (or single values), one per split, along a new dimension ``split``."""
    first = scores[0]
    coords: dict[str, Any] = {"split": ("split", np.arange(len(scores)))}
    for dim in first.dims:
        coords |= coords_for_dim(first, dim)
    return Score(np.stack([np.asarray(score.values) for score in scores]), coords=coords, dims=["split", *first.dims])


def _rows_of(values: NDArray[Any], selected: NDArray[Any]) -> Rows:
    """Rows with one of the given values, in the order of these values if they are unique."""
    index, codes = pd.Index(values), pd.Index(pd.unique(pd.Series(selected)))
    positions = codes.get_indexer(index)
    rows = np.flatnonzero(positions >= 0)
    return np.asarray(rows[np.argsort(positions[rows], kind="stable")], dtype=np.intp)
