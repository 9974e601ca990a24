"""Metrics applied to parts of assemblies, and merging of the results."""

import itertools
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, TypeVar

import numpy as np
import pandas as pd

from brainscore_core.metric_helpers.alignment import MetricInputError, coord_values, listed
from brainscore_core.metrics import Score, attach_uncertainty
from brainscore_core.supported_data_standards.brainio.assemblies import DataAssembly, merge_data_arrays, walk_coords
from brainscore_core.supported_data_standards.brainio.transform import subset

Aggregate = Callable[[Score], Score]
Value = TypeVar("Value")


class CartesianProduct:
    """Apply a function to each part of an assembly, such as each region of each subject.

    `dividers`: coordinates, each along one dimension; there is a part for each combination of their values that occurs.
    Without dividers, the whole assembly is the only part.

    Examples
    --------
    >>> assembly = DataAssembly(
    ...     [[1.0, 2, 6], [3, 4, 8]],
    ...     coords={"stimulus_id": ("presentation", ["a", "b"]), "region": ("neuroid", ["V4", "V4", "IT"]),
    ...             "neuroid_id": ("neuroid", [0, 1, 2])},
    ...     dims=["presentation", "neuroid"])
    >>> score = CartesianProduct(["region"])(assembly, apply=lambda part: Score(part.values.mean()))
    >>> dict(zip(score["region"].values.tolist(), score.values.tolist()))
    {'V4': 2.5, 'IT': 7.0}
    """

    def __init__(self, dividers: Sequence[str] = ()) -> None:
        self._dividers = [dividers] if isinstance(dividers, str) else list(dividers or ())

    def dividers(self, assembly: DataAssembly, dividing_coords: Sequence[str]) -> list[dict[str, Any]]:
        """All combinations of the coordinates' values, in the order in which these first occur.

        A MetricInputError if a coordinate is missing, or is not along one dimension.
        """
        choices = {}
        for coord in dividing_coords:
            if coord not in assembly.coords or len(assembly[coord].dims) != 1 or not assembly[coord].size:
                present = [name for name, dims, values in walk_coords(assembly) if len(dims) == 1 and len(values)]
                raise MetricInputError(
                    f"the assembly has no values of {coord!r} along one dimension",
                    remedy=f"divide by one of {listed(present)}" if present else "check the selection before it",
                )
            choices[coord] = pd.unique(pd.Series(assembly[coord].values)).tolist()
        return [dict(zip(choices, values, strict=True)) for values in itertools.product(*choices.values())]

    def __call__(
        self, assembly: DataAssembly, *, apply: Callable[[DataAssembly], Any], aggregate: Aggregate | None = None
    ) -> Score:
        """Apply a function to each part.

        `assembly`: with the dividing coordinates. Dimensions of length 1 are dropped from a part. `apply`:
        ``apply(part)`` returns a number or a Score. `aggregate`: reduces the values of all parts. Result: a Score with
        a dimension for each divider, the last one first; NaN for combinations that do not occur. ``raw`` holds the
        results' own raw values if all have them, else the values before `aggregate`; a divider is a dimension there,
        too, unless it is a coordinate of the raw values already. A MetricInputError if a dividing coordinate is
        missing, or a result has a dimension of its own for it.
        """
        divisions = self.dividers(assembly, self._dividers)
        results = []
        for division in divisions:
            selected = _part(assembly, division)
            if selected is not None:
                results.append((division, _as_score(apply(selected))))
        values = _merged([_expanded(result, division) for division, result in results], divisions)
        raws = [
            _expanded(result.attrs[Score.RAW_VALUES_KEY], division, keep=True)
            for division, result in results
            if isinstance(result.attrs.get(Score.RAW_VALUES_KEY), DataAssembly)
        ]
        raw = merge_data_arrays(raws) if len(raws) == len(results) else values.copy()
        score = values if aggregate is None else aggregate(values)
        score.attrs[Score.RAW_VALUES_KEY] = raw
        return attach_uncertainty(score, reason="only the metric knows what its values can be resampled over")


class Alignment:
    """Apply a function to a source with the stimuli of a target, both sorted.

    `order_dimensions`: dimensions of the source in the required order; others follow. `alignment_dim`: coordinate (or
    dimension) by which both are aligned. `repeat`: whether the target may hold a value several times; the source's
    entry is then repeated.

    Examples
    --------
    >>> def assembly(names, values):
    ...     return DataAssembly(values, coords={"stimulus_id": ("presentation", names)}, dims=["presentation"])
    >>> align = Alignment(order_dimensions=["presentation"])
    >>> score = align(assembly(list("cab"), [3.0, 1, 2]), assembly(list("ba"), [2.0, 1]),
    ...               apply=lambda source, target: Score(float((source.values == target.values).mean())))
    >>> float(score)
    1.0
    """

    def __init__(
        self,
        order_dimensions: Sequence[str] = ("presentation", "neuroid"),
        alignment_dim: str = "stimulus_id",
        repeat: bool = False,
    ) -> None:
        self._order = list(order_dimensions)
        self._dim = alignment_dim
        self._repeat = repeat

    def align(self, source: DataAssembly, target: DataAssembly) -> DataAssembly:
        """Select the source's entries that the target has, in the order of the source (with `repeat`, of the target).

        A MetricInputError if a dimension or coordinate is missing, or the two do not hold the same values as often.
        """
        missing = [dim for dim in self._order if dim not in source.dims]
        if missing:
            raise MetricInputError(
                f"the source lacks the dimensions {listed(missing)}; it has {listed(source.dims)}",
                remedy="name its dimensions in order_dimensions",
            )
        source = source.transpose(*self._order, ...)
        for side, role in ((source, "source"), (target, "target")):
            if self._dim not in side.coords or len(side[self._dim].dims) != 1:
                coord_values(side, self._dim, role=role)
        aligned = subset(source, target, dims=[self._dim], repeat=self._repeat)
        available, requested = (pd.Series(side[self._dim].values).value_counts() for side in (aligned, target))
        differing = available.sub(requested, fill_value=0)
        differing = differing[differing != 0]
        if len(differing):
            raise MetricInputError(
                f"source and target have different numbers of entries with {self._dim!r} {listed(differing.index)}",
                remedy="show the model the stimuli of the target; pass repeat=True if the target repeats stimuli",
            )
        return aligned

    def __call__(
        self,
        source: DataAssembly,
        target: DataAssembly,
        *,
        apply: Callable[[DataAssembly, DataAssembly], Any],
        aggregate: Aggregate | None = None,
    ) -> Score:
        """Apply a function to the aligned source and the target, both sorted by the coordinate.

        Result: the function's, reduced by `aggregate`; ``raw`` holds what it was reduced from.
        """
        values = _as_score(apply(self.align(source, target).sortby(self._dim), target.sortby(self._dim)))
        score = values.copy() if aggregate is None else aggregate(values)
        score.attrs.setdefault(Score.RAW_VALUES_KEY, values.attrs.get(Score.RAW_VALUES_KEY, values))
        return score


def expand(assembly: DataAssembly, target_dims: Sequence[str]) -> DataAssembly:
    """Make dimensions of length 1 of coordinates without one.

    Names in the assembly that end in ``_source`` or ``_target`` count without it; the assembly's dimensions come first,
    and names that it lacks are left out. A MetricInputError if it has a dimension that is not in `target_dims`.

    Examples
    --------
    >>> assembly = DataAssembly([1, 2], coords={"neuroid": [5, 6], "region": "IT"}, dims=["neuroid"])
    >>> expanded = expand(assembly, ["neuroid", "region"])
    >>> expanded.dims, expanded.shape, expanded["region"].values.tolist()
    (('neuroid', 'region'), (2, 1), ['IT'])
    """
    surplus = [dim for dim in assembly.dims if _stripped(dim) not in target_dims]
    if surplus:
        raise MetricInputError(
            f"the assembly has the dimensions {listed(surplus)}, which are not among {listed(target_dims)}",
            remedy="select one entry of each, or name them in target_dims",
        )
    coords = {name: (dims, values) for name, dims, values in walk_coords(assembly)}
    new = [name for name, (dims, _) in coords.items() if not dims and _stripped(name) in target_dims]
    for name in new:
        coords[name] = ((name,), np.reshape(coords[name][1], 1))
    values = np.asarray(assembly.values).reshape(*assembly.shape, *[1] * len(new))
    return DataAssembly(values, coords=coords, dims=[*assembly.dims, *new])


def enumerate_done(values: Iterable[Value]) -> Iterator[tuple[int, Value, bool]]:
    """Enumerate values, and mark the last one.

    Examples
    --------
    >>> list(enumerate_done("ab"))
    [(0, 'a', False), (1, 'b', True)]
    """
    iterator = iter(values)
    try:
        value = next(iterator)
    except StopIteration:
        return
    count = 0
    for following in iterator:
        yield count, value, False
        count, value = count + 1, following
    yield count, value, True


def _stripped(name: Any) -> str:
    return str(name).removesuffix("_source").removesuffix("_target")


def _part(assembly: DataAssembly, division: dict[str, Any]) -> DataAssembly | None:
    """The entries with these values; None if there are none."""
    masks: dict[Any, Any] = {}
    for coord, value in division.items():
        (dim,) = assembly[coord].dims
        values = pd.Series(assembly[coord].values)
        mask = values.isna() if pd.isna(value) else values == value
        masks[dim] = masks.get(dim, True) & np.asarray(mask, dtype=bool)
    positions = {dim: np.flatnonzero(mask) for dim, mask in masks.items()}
    if not all(len(rows) for rows in positions.values()):
        return None
    return assembly.isel({dim: rows[0] if len(rows) == 1 else rows for dim, rows in positions.items()})


def _as_score(result: Any) -> Score:
    if isinstance(result, Score):
        return result
    if not isinstance(result, DataAssembly):
        return Score(result)
    coords = {name: (dims, values) for name, dims, values in walk_coords(result)}
    score = Score(result.values, coords=coords, dims=result.dims)
    score.attrs = dict(result.attrs)
    return score


def _expanded(result: DataAssembly, division: dict[str, Any], *, keep: bool = False) -> DataAssembly:
    """Add a dimension for each divider; with `keep` only for those that are not a coordinate of a dimension."""
    coords = {name: (dims, values) for name, dims, values in walk_coords(result)}
    present = [name for name in division if coords.get(name, ((), None))[0]]
    if present and not keep:
        raise MetricInputError(
            f"the result for {division} has a dimension with the coordinate {present[0]!r} already",
            remedy="reduce the result over that dimension before it is returned",
        )
    new = [name for name in reversed(division) if name not in present]
    coords |= {name: ((name,), np.array([division[name]])) for name in new}
    values = np.asarray(result.values).reshape(*[1] * len(new), *result.shape)
    return type(result)(values, coords=coords, dims=[*new, *result.dims])


def _merged(results: list[DataAssembly], divisions: list[dict[str, Any]]) -> Score:
    """All parts in the order of the divisions."""
    merged = merge_data_arrays(results)
    for name in divisions[0]:
        labels = pd.unique(pd.Series([division[name] for division in divisions]))
        merged = merged.isel({name: pd.Index(merged[name].values).get_indexer(pd.Index(labels))})
    merged.attrs = {}
    return merged
