"""Cross-validation of metrics, with the splits of the published plugins."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
from sklearn.model_selection import (
    GroupKFold,
    KFold,
    ShuffleSplit,
    StratifiedKFold,
    StratifiedShuffleSplit,
)

from brainscore_core.errors import UserError
from brainscore_core.metric_helpers.products import enumerate_done
from brainscore_core.metric_helpers.transformations import SplitRows, aggregate_splits
from brainscore_core.metrics import Score
from brainscore_core.progress import track
from brainscore_core.supported_data_standards.brainio.assemblies import DataAssembly

__all__ = [
    "CrossValidation",
    "CrossValidationSingle",
    "Split",
    "TestOnlyCrossValidation",
    "TestOnlyCrossValidationSingle",
    "Transformation",
    "apply_aggregate",
    "enumerate_done",
    "extract_coord",
    "standard_error_of_the_mean",
]


def extract_coord(assembly: DataAssembly, coord: str, unique: bool = False) -> tuple[np.ndarray, np.ndarray]:
    """Values of a coordinate, and the rows at which they stand (the first ones, if `unique`)."""
    values = np.asarray(assembly[coord].values)
    return np.unique(values, return_index=True) if unique else (values, np.arange(len(values)))


class Split:
    """Division of the values of a coordinate into training and test values.

    Parameters
    ----------
    splits : int
        Number of splits or folds.
    train_size, test_size : float or int, optional
        Share or number of values, without `kfold`; 0.9 to train on where neither is given.
    split_coord : str
        Coordinate whose values are split.
    stratification_coord : str, optional
        Coordinate whose values occur in equal shares on both sides.
    unique_split_values : bool
        Whether each value of `split_coord` counts once.
    random_state : int, optional
        Seed.
    kfold : bool or 'group'
        True: each value is tested once. ``'group'``: equal values of `split_coord`, such as stories, are a group, and
        each group is tested once.

    Examples
    --------
    >>> assembly = DataAssembly(np.zeros(6), coords={"story": ("presentation", list("aabbcc"))}, dims=["presentation"])
    >>> [len(test) for _, test in Split(splits=3, split_coord="story", kfold="group").build_splits(assembly)[0]]
    [2, 2, 2]
    """

    class Defaults:
        """Defaults of the published metrics."""

        splits = 10
        train_size = 0.9
        split_coord = "stimulus_id"
        stratification_coord = None
        unique_split_values = False
        random_state = 1
        kfold = False

    def __init__(
        self,
        splits: int = Defaults.splits,
        train_size: float | None = None,
        test_size: float | None = None,
        split_coord: str = Defaults.split_coord,
        stratification_coord: str | None = Defaults.stratification_coord,
        unique_split_values: bool = Defaults.unique_split_values,
        random_state: int | None = Defaults.random_state,
        kfold: bool | str = Defaults.kfold,
    ) -> None:
        if train_size is None and test_size is None:
            train_size = self.Defaults.train_size
        if kfold and (train_size not in (None, self.Defaults.train_size) or test_size is not None):
            raise UserError("train_size and test_size have no meaning with kfold", "leave them out")
        self.keeps_groups = kfold == "group" or unique_split_values
        side = "the groups" if kfold == "group" else "the values"
        kind = "folds" if kfold else "random splits"
        self.description = f"{splits} {kind} over {side} of {split_coord}, seed {random_state}"
        self._coord = split_coord
        self._strata = stratification_coord
        self._unique = unique_split_values
        self._groups = kfold == "group"
        options = {"n_splits": splits, "random_state": random_state}
        if self._groups:
            self._splitter: Any = GroupKFold(shuffle=True, **options)
        elif kfold:
            self._splitter = (StratifiedKFold if stratification_coord else KFold)(shuffle=True, **options)
        else:
            kind = StratifiedShuffleSplit if stratification_coord else ShuffleSplit
            self._splitter = kind(train_size=train_size, test_size=test_size, **options)

    @property
    def do_stratify(self) -> bool:
        """Whether splits are stratified."""
        return bool(self._strata)

    def build_splits(self, assembly: DataAssembly) -> tuple[list[tuple[np.ndarray, np.ndarray]], np.ndarray]:
        """Positions on both sides of each split, and the values that they stand for."""
        values, rows = extract_coord(assembly, self._coord, unique=self._unique)
        strata = np.asarray(assembly[self._strata].values)[rows] if self._strata else np.zeros(len(values))
        groups = values if self._groups else None
        return list(self._splitter.split(np.zeros(len(values)), strata, groups)), values

    @classmethod
    def aggregate(cls, values: Score) -> Score:
        """Mean over splits."""
        return values.mean("split")


class Transformation:
    """Applies a metric to parts of assemblies, and joins the scores."""

    def __call__(
        self, *args: Any, apply: Callable[..., Score], aggregate: Callable[[Score], Score] | None = None, **kwargs: Any
    ) -> Score:
        """Apply `apply` to what :meth:`pipe` yields; `aggregate` reduces the joined values before :meth:`aggregate`."""
        steps = self.pipe(*args, **kwargs)
        values = next(steps)
        while not isinstance(values, Score):
            values = steps.send(apply(*values))
        reduced = apply_aggregate(aggregate, values) if aggregate is not None else values
        score = apply_aggregate(self.aggregate, reduced)
        score.attrs[Score.RAW_VALUES_KEY] = reduced.attrs.get(Score.RAW_VALUES_KEY, reduced)
        return score

    def pipe(self, *args: Any, **kwargs: Any) -> Any:
        """Yield arguments of the metric, receive their score; yield the joined score at last."""
        raise NotImplementedError

    def aggregate(self, score: Score) -> Score:
        """Reduce the joined values."""
        return score


class CrossValidationSingle(Transformation):
    """Training and test parts of one assembly; arguments as for :class:`Split`."""

    _test_only = False

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        self._split = Split(*args, **kwargs)
        bound = inspect.signature(Split.__init__).bind(None, *args, **kwargs)
        bound.apply_defaults()
        self._split_coord = str(bound.arguments["split_coord"])

    def pipe(self, *assemblies: DataAssembly) -> Any:
        """Parts of each split: of the assemblies in turn, first those to train on."""
        splits, values = self._split.build_splits(assemblies[-1])
        scores = []
        for number, sides in track(list(enumerate(splits)), "comparing", len(splits), unit="splits"):
            compared = sides[1:] if self._test_only else sides
            score = yield tuple(
                assembly.isel(presentation=self._rows(assembly, values[side]))
                for side in compared
                for assembly in assemblies
            )
            scores.append(_numbered(score, number))
        yield Score.merge(*scores)

    def _rows(self, assembly: DataAssembly, values: np.ndarray) -> np.ndarray:
        return np.flatnonzero(pd.Index(values).unique().get_indexer(assembly[self._split_coord].values) >= 0)

    def aggregate(self, score: Score, aggregate: Callable[[Score], Score] | None = None) -> Score:
        """Mean over splits, of the values that `aggregate` reduces to one a split."""
        score.attrs["splits"] = self._split.description
        return aggregate_splits(score, aggregate)


class CrossValidation(CrossValidationSingle):
    """Training and test parts of two assemblies with the same values of the coordinate: (train, train, test, test)."""

    def pipe(self, *assemblies: DataAssembly) -> Any:
        """Parts of each split of source and target; splits are drawn over the rows of the target."""
        self._require_equal_values(*assemblies)
        yield from super().pipe(*assemblies)

    def split_rows(self, source: DataAssembly, target: DataAssembly) -> list[SplitRows]:
        """Rows of the target on both sides of each split."""
        self._require_equal_values(source, target)
        splits, values = self._split.build_splits(target)
        return [SplitRows(*(self._rows(target, values[side]) for side in sides)) for sides in splits]

    @property
    def group_coord(self) -> str | None:
        """Coordinate whose values are on one side of each split."""
        return self._split_coord if self._split.keeps_groups else None

    def _require_equal_values(self, *assemblies: DataAssembly) -> None:
        ours, theirs = (np.sort(assembly[self._split_coord].values) for assembly in assemblies)
        if len(ours) != len(theirs) or not (ours == theirs).all():
            raise AssertionError(f"source and target hold different values of {self._split_coord!r}")


class TestOnlyCrossValidationSingle(CrossValidationSingle):
    """Test parts of one assembly, for metrics that fit nothing."""

    __test__ = False  # for pytest
    _test_only = True


class TestOnlyCrossValidation(CrossValidation):
    """Test parts of two assemblies, for metrics that fit nothing."""

    __test__ = False
    _test_only = True


def _numbered(score: Score, number: int) -> Score:
    """A score with a dimension of one split; its raw values likewise."""
    score = score.expand_dims("split", _apply_raw=True)
    score["split"] = "split", [number]
    return score


def apply_aggregate(aggregate_fnc: Callable[[Score], Score], values: Score) -> Score:
    """Reduce values; ``raw`` of the result holds them, unless they hold raw values themselves."""
    score = aggregate_fnc(values)
    for key, value in values.attrs.items():
        score.attrs.setdefault(key, value)
    score.attrs.setdefault(Score.RAW_VALUES_KEY, values)
    return score


def standard_error_of_the_mean(values: Score, dim: str) -> Score:
    """Standard deviation (of the population) over a dimension, divided by the root of its length."""
    return values.std(dim) / np.sqrt(values.sizes[dim])
