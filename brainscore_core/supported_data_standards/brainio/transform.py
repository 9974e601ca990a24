"""Stack, merge and group assemblies, and select subsets of them."""

from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from typing import Any, Generic, TypeVar

import numpy as np
import pandas as pd
import xarray as xr

from brainscore_core.errors import UserError
from brainscore_core.supported_data_standards.brainio.findings import format_values
from brainscore_core.supported_data_standards.brainio.levels import (
    build_array,
    converted,
    coords_for_dim,
    gather_coords,
    group_codes,
    is_canonical,
    level_dims,
    named_coords,
    unknown_name_error,
    walk_coords,
)
from brainscore_core.supported_data_standards.brainio.stimuli import (
    LEGACY_STIMULUS_ID,
    STIMULUS_ID,
    STIMULUS_ID_COLUMNS,
    StimulusSet,
)

Array = TypeVar("Array", bound=xr.DataArray)


def array_is_element(arr: Any, element: Any) -> bool:
    """Whether ``arr`` has exactly one element, and it is ``element``.

    Examples
    --------
    >>> array_is_element(("presentation",), "presentation")
    True
    >>> array_is_element(("presentation", "neuroid"), "presentation")
    False
    """
    return len(arr) == 1 and bool(arr[0] == element)


def gather_indexes(xr_data: Any) -> Any:
    """Make every coordinate of a dimension a level of that dimension's index.

    The constructor of assemblies does this; use this function for arrays whose index was reset.

    `xr_data`: any array. Returns: of the same class.
    """
    return xr_data if is_canonical(xr_data) else converted(type(xr_data), xr_data)


def merge_data_arrays(data_arrays: Sequence[Any]) -> Any:
    """Merge arrays that hold different parts of the same whole.

    Arrays that differ along one dimension are concatenated along it, in the given order. Otherwise the parts are
    aligned by their levels; entries that are in no part become NaN.

    Parameters
    ----------
    data_arrays : sequence of DataArray
        Parts with the same dimensions.

    Returns
    -------
    DataArray
        With the class, attributes and name of the first array.

    Examples
    --------
    >>> from brainscore_core.supported_data_standards.brainio.assemblies import DataAssembly
    >>> parts = [DataAssembly([[i]], coords={"s": ("p", ["a"]), "n": ("q", [i])}, dims=["p", "q"]) for i in (1, 2)]
    >>> merge_data_arrays(parts).values
    array([[1, 2]])
    """
    arrays = [gather_indexes(array) for array in data_arrays]
    if not arrays:
        raise ValueError("no arrays to merge: the list is empty")
    first = arrays[0]
    if len(arrays) == 1:
        return first
    for array in arrays[1:]:
        if set(array.dims) != set(first.dims):
            raise ValueError(f"arrays to merge must have the same dimensions, not {first.dims} and {array.dims}")
    varying = [dim for dim in first.dims if not all(_same_along(first, array, dim) for array in arrays[1:])]
    if len(varying) == 1 and _disjoint(arrays, varying[0]):
        merged = xr.concat([array.transpose(*first.dims) for array in arrays], dim=varying[0], join="exact")
    else:
        unnamed = [array.rename("values") for array in arrays]
        merged = xr.merge(unnamed, join="outer", compat="no_conflicts", combine_attrs="override")["values"]
    result = converted(type(first), merged.rename(first.name))
    result.attrs = dict(first.attrs)
    return result


def _same_along(left: xr.DataArray, right: xr.DataArray, dim: Hashable) -> bool:
    if left.sizes[dim] != right.sizes[dim]:
        return False
    ours, theirs = coords_for_dim(left, dim), coords_for_dim(right, dim)
    return ours.keys() == theirs.keys() and all(variable.equals(theirs[name]) for name, variable in ours.items())


def _disjoint(arrays: Sequence[xr.DataArray], dim: Hashable) -> bool:
    """Whether the arrays have the same levels along ``dim`` and no entry in common."""
    names = list(coords_for_dim(arrays[0], dim))
    if not names or any(set(coords_for_dim(array, dim)) != set(names) for array in arrays):
        return False
    frames = [pd.DataFrame({name: coords_for_dim(array, dim)[name].values for name in names}) for array in arrays]
    together = [frame.drop_duplicates() for frame in frames]
    return not pd.concat(together).duplicated().any()


def stack_dims(array: Any, new: Hashable, names: Any) -> Any:
    """Stack several dimensions into one, which has all their levels."""
    if ... in names:
        remaining = [dim for dim in array.dims if dim not in names]
        names = [dim for name in names for dim in (remaining if name is ... else [name])]
    names = list(names)
    for name in names:
        if name not in array.dims:
            raise unknown_name_error(array, name, what="stack")
    sizes = {name: array.sizes[name] for name in names}
    coords: dict[Hashable, xr.Variable] = {}
    for name, variable in named_coords(array).items():
        if set(variable.dims) & set(names):
            missing = {dim: size for dim, size in sizes.items() if dim not in variable.dims}
            variable = variable.set_dims({**missing, **dict(zip(variable.dims, variable.shape, strict=True))})
            coords[name] = variable.stack({new: names})
        else:
            coords[name] = variable
    for name in names:
        if not coords_for_dim(array, name):
            counted = xr.Variable((name,), np.arange(sizes[name])).set_dims(sizes)
            coords[name] = counted.stack({new: names})
    variable = array.variable.stack({new: names})
    return build_array(type(array), variable, gather_coords(coords, variable.dims), array.name)


_GROUP, _MEMBER = "__group__", "__member__"


def reduce_groups(
    variable: xr.Variable, dim: Hashable, codes: np.ndarray, reduce: Callable[[xr.Variable], xr.Variable]
) -> xr.Variable:
    """Reduce the members of each group along ``dim``; the groups replace the members.

    Groups of equal size are reduced together, as one array; the result is the same as for separate arrays. `codes` has
    the group of each position, 0 … n − 1. `reduce` takes a variable with the first dimension ``__member__``, and
    returns it reduced over this dimension.
    """
    data = variable.transpose(dim, ...)
    values, further_dims = data.values, data.dims[1:]
    order = np.argsort(codes, kind="stable")
    counts = np.bincount(codes)
    starts = np.cumsum(counts) - counts
    reduced, numbers = [], []
    for size in np.unique(counts) if len(counts) else np.array([1]):
        groups = np.flatnonzero(counts == size)
        rows = order[starts[groups][:, np.newaxis] + np.arange(size)]
        block = reduce(xr.Variable((_GROUP, _MEMBER, *further_dims), values[rows], variable.attrs))
        if _MEMBER in block.dims:
            raise ValueError("groups can only be reduced, for example by a mean, but this function keeps the dimension")
        reduced.append(block)
        numbers.append(groups)
    order = np.argsort(np.concatenate(numbers))
    result = xr.Variable(reduced[0].dims, np.concatenate([block.values for block in reduced])[order], reduced[0].attrs)
    order_of_dims = [dim if name == dim else name for name in variable.dims if name == dim or name in result.dims]
    renamed = xr.Variable([dim if name == _GROUP else name for name in result.dims], result.values, result.attrs)
    return renamed.transpose(*order_of_dims)


def with_groups(
    array: Array, variable: xr.Variable, dim: Hashable, first: np.ndarray, names: Sequence[Hashable]
) -> Array:
    """Array with one entry per group, which has the levels ``names`` of the group's first member."""
    coords: dict[Hashable, xr.Variable] = {}
    for name, coordinate in named_coords(array).items():
        if dim in coordinate.dims and (coordinate.dims != (dim,) or name not in names):
            continue
        if set(coordinate.dims) <= set(variable.dims):
            coords[name] = coordinate.isel({dim: first}) if dim in coordinate.dims else coordinate
    return build_array(type(array), variable, gather_coords(coords, variable.dims), array.name)


def reduce_over_levels(
    array: Array, levels: Sequence[Hashable], reduce: Callable[[xr.Variable, list[Hashable]], xr.Variable]
) -> Array:
    """Reduce over levels of one dimension: group by all its other levels.

    `reduce` takes a variable and a list of dimensions, and returns the variable reduced over these.
    """
    dims = {level_dims(array)[level] for level in levels}
    if len(dims) > 1:
        raise ValueError(
            f"the levels {list(levels)} belong to several dimensions ({sorted(map(str, dims))}): reduce over the "
            f"levels of one dimension at a time"
        )
    dim = dims.pop()
    remaining = [name for name in coords_for_dim(array, dim) if name not in levels]
    if not remaining:
        variable = reduce(array.variable, [dim])
        return array._replace_maybe_drop_dims(variable)  # noqa: SLF001 -- xarray offers nothing public for it
    codes, first = group_codes(array, remaining, array.sizes[dim])
    variable = reduce_groups(array.variable, dim, codes, lambda block: reduce(block, [_MEMBER]))
    return with_groups(array, variable, dim, first, remaining)


def _members_of(codes: np.ndarray) -> list[np.ndarray]:
    """Positions of the members of each group."""
    order = np.argsort(codes, kind="stable")
    return np.split(order, np.cumsum(np.bincount(codes))[:-1]) if len(codes) else []


class MultiGroupBy(Generic[Array]):
    """Groups of entries that are equal in several levels of one dimension; see :meth:`DataAssembly.multi_groupby`."""

    def __init__(self, array: Array, names: Sequence[Hashable]) -> None:
        names = [names] if isinstance(names, str) else list(names)
        dims = level_dims(array)
        for name in names:
            if name not in dims:
                raise unknown_name_error(array, name, what="multi_groupby")
        if len({dims[name] for name in names}) != 1:
            raise ValueError(
                f"multi_groupby requires levels of one dimension, not { ({name: dims[name] for name in names}) }"
            )
        self._array = array
        self._names = names
        self._dim = dims[names[0]]
        self._codes, self._first = group_codes(array, names, array.sizes[self._dim])

    def __len__(self) -> int:
        return len(self._first)

    def __iter__(self) -> Iterator[tuple[Any, Array]]:
        """Yield each group's key (a tuple if there are several levels) and its part of the assembly."""
        columns = [self._array.coords.variables[name].values[self._first] for name in self._names]
        for number, positions in enumerate(_members_of(self._codes)):
            key = tuple(column[number] for column in columns)
            yield key[0] if len(key) == 1 else key, self._array.isel({self._dim: positions})

    def _reduce(self, method: str, dim: Any, keep_attrs: bool, **kwargs: Any) -> Array:
        further_dims = _other_dims(self._array, self._dim, dim)
        kwargs = {name: value for name, value in kwargs.items() if value is not None}

        def reduce(block: xr.Variable) -> xr.Variable:
            return getattr(block, method)(dim=[_MEMBER, *further_dims], **kwargs)

        variable = reduce_groups(self._array.variable, self._dim, self._codes, reduce)
        result = with_groups(self._array, variable, self._dim, self._first, self._names)
        result.attrs = dict(self._array.attrs) if keep_attrs else {}
        return result

    def mean(self, dim: Any = None, *, skipna: bool | None = None, keep_attrs: bool = True) -> Array:
        """Mean of each group.

        - `dim`: further dimensions to reduce; the dimension of the groups is always reduced. ``...`` stands for all.
        - `skipna`: whether to skip missing values; by default those of floating-point data.
        - `keep_attrs`: whether to keep the assembly's attributes.
        """
        return self._reduce("mean", dim, keep_attrs, skipna=skipna)

    def median(self, dim: Any = None, *, skipna: bool | None = None, keep_attrs: bool = True) -> Array:
        """Median of each group; parameters as for :meth:`mean`."""
        return self._reduce("median", dim, keep_attrs, skipna=skipna)

    def sum(self, dim: Any = None, *, skipna: bool | None = None, keep_attrs: bool = True) -> Array:
        """Sum of each group; parameters as for :meth:`mean`."""
        return self._reduce("sum", dim, keep_attrs, skipna=skipna)

    def std(self, dim: Any = None, *, ddof: int = 0, skipna: bool | None = None, keep_attrs: bool = True) -> Array:
        """Standard deviation of each group, divided by n − ``ddof``; other parameters as for :meth:`mean`."""
        return self._reduce("std", dim, keep_attrs, ddof=ddof, skipna=skipna)

    def min(self, dim: Any = None, *, skipna: bool | None = None, keep_attrs: bool = True) -> Array:
        """Minimum of each group; parameters as for :meth:`mean`."""
        return self._reduce("min", dim, keep_attrs, skipna=skipna)

    def max(self, dim: Any = None, *, skipna: bool | None = None, keep_attrs: bool = True) -> Array:
        """Maximum of each group; parameters as for :meth:`mean`."""
        return self._reduce("max", dim, keep_attrs, skipna=skipna)

    def count(self, dim: Any = None, *, keep_attrs: bool = True) -> Array:
        """Number of values of each group that are not missing; parameters as for :meth:`mean`."""
        return self._reduce("count", dim, keep_attrs)

    def first(self) -> Array:
        """First entry of each group, missing or not."""
        variable = self._array.variable.isel({self._dim: self._first})
        return with_groups(self._array, variable, self._dim, self._first, self._names)

    def apply(self, func: Callable[..., Any], *args: Any, **kwargs: Any) -> Array:
        """Apply a function to each group and combine the results.

        - `func`: called with each group (an assembly) and the other arguments. If all results are as long as their
          groups, they replace the groups in place; otherwise they are concatenated in the order of the groups. A result
          without the dimension of the groups becomes one entry with the group's levels.
        """
        if not len(self):
            raise ValueError(f"no groups to map over: {self._dim} is empty")
        dim = self._dim
        members = _members_of(self._codes)
        results = [func(group, *args, **kwargs) for _, group in self]
        if all(isinstance(result, xr.DataArray) and dim in result.dims for result in results):
            combined = xr.concat(results, dim=dim)
            if [result.sizes[dim] for result in results] == [len(positions) for positions in members]:
                combined = combined.isel({dim: np.argsort(np.concatenate(members), kind="stable")})
            cls: Any = type(self._array)
            return converted(cls, combined)
        variables = [
            result.variable if isinstance(result, xr.DataArray) else xr.Variable((), result) for result in results
        ]
        variable = xr.Variable.concat(variables, dim=dim)
        return with_groups(self._array, variable, dim, self._first, self._names)


MultiGroupBy.map = MultiGroupBy.apply  # type: ignore[attr-defined] # xarray's name; inside the class it would hide the builtin


def _other_dims(array: xr.DataArray, grouped: Hashable, dim: Any) -> list[Hashable]:
    requested = array.dims if dim is ... else [] if dim is None else [dim] if isinstance(dim, str) else list(dim)
    for name in requested:
        if name not in array.dims:
            raise unknown_name_error(array, name, what="multi_groupby")
    return [name for name in requested if name != grouped]


def apply_to_cells(array: Array, groups: Sequence[Hashable], apply: Callable[..., Any]) -> Any:
    """Apply a function to every combination of groups; see :meth:`DataAssembly.multi_dim_apply`."""
    dims = level_dims(array)
    for name in groups:
        if name not in dims:
            raise unknown_name_error(array, name, what="multi_dim_apply")
    members: list[list[np.ndarray]] = []
    for dim in array.dims:
        names = [name for name in groups if dims[name] == dim]
        members.append(_members_of(group_codes(array, names, array.sizes[dim])[0]))
    coords = named_coords(array)
    axes = {dim: axis for axis, dim in enumerate(array.dims)}
    columns = {name: ([axes[dim] for dim in variable.dims], variable.values) for name, variable in coords.items()}
    values, result = array.values, None
    for number in np.ndindex(*(len(groups_of_dim) for groups_of_dim in members)):
        rows = [members[axis][group] for axis, group in enumerate(number)]
        cells = np.ix_(*rows)
        passed = {
            str(name): _single(column[np.ix_(*(rows[axis] for axis in along))] if along else column)
            for name, (along, column) in columns.items()
        }
        computed = np.asarray(apply(_single(values[cells]), **passed))
        if result is None:
            result = np.zeros(values.shape, dtype=computed.dtype)
        elif not np.can_cast(computed.dtype, result.dtype):
            result = result.astype(np.result_type(result.dtype, computed.dtype))
        result[cells] = computed
    if result is None:
        result = values.copy()
    return array.copy(data=result)


def _single(values: np.ndarray) -> Any:
    return values.reshape(-1)[0] if values.size == 1 else values


def subset(
    source: Any, target: Any, *, dims: Sequence[str] | None = None, dims_must_match: bool = True, repeat: bool = False
) -> Any:
    """Restrict one assembly to the coordinate values that another one has.

    - `source`: the assembly to restrict.
    - `target`: the assembly with the values to keep.
    - `dims`: levels, or dimensions, which stand for all their levels common to both assemblies; by default all
      dimensions of the target.
    - `dims_must_match`: whether it is an error if the source lacks one of ``dims``; otherwise it is ignored.
    - `repeat`: if False, keep the entries of the source whose value in each level occurs in the target, in the source's
      order. If True, return for every entry of the target the entries of the source that are equal in all levels, in
      the target's order and as often as there.

    Returns: with the class of the source. Raises KeyError if a dimension is missing. Raises ValueError if the two have
    no level in common.

    The time is O(n log n) for n entries.

    Examples
    --------
    >>> from brainscore_core.supported_data_standards.brainio.assemblies import DataAssembly
    >>> source = DataAssembly([1, 2, 3], coords={"stimulus_id": ("trial", ["a", "b", "c"])}, dims=["trial"])
    >>> target = DataAssembly([0, 0, 0], coords={"stimulus_id": ("trial", ["c", "a", "a"])}, dims=["trial"])
    >>> subset(source, target).values
    array([1, 3])
    >>> subset(source, target, repeat=True).values
    array([3, 1, 1])
    """
    names = list(target.dims) if dims is None else [dims] if isinstance(dims, str) else list(dims)
    for name in names:
        needed = _columns(target, name)
        if needed is None:
            raise unknown_name_error(target, name, what="subset, target")
        have = _columns(source, name)
        if have is None:
            if dims_must_match:
                raise unknown_name_error(source, name, what="subset, source")
            continue
        common = [level for level in have if level in needed]
        if not common:
            raise ValueError(
                f"along {name!r}, source and target have no level in common: the source has {format_values(have)}, the "
                f"target {format_values(needed)}"
            )
        dim = name if name in source.dims else level_dims(source)[name]
        if repeat:
            positions = _each(have, needed, common)
        else:
            inside = [pd.Index(have[level], tupleize_cols=False).isin(pd.unique(needed[level])) for level in common]
            positions = np.flatnonzero(np.logical_and.reduce(inside))
        source = source.isel({dim: positions})
    return source


def _columns(array: xr.DataArray, name: Hashable) -> dict[Hashable, np.ndarray] | None:
    """Values of the levels that ``name`` stands for; None if it is unknown."""
    if name in array.dims:
        return {level: variable.values for level, variable in coords_for_dim(array, name).items()}
    if name in level_dims(array):
        return {name: array.coords.variables[name].values}
    return None


def _each(
    have: dict[Hashable, np.ndarray], needed: dict[Hashable, np.ndarray], levels: Sequence[Hashable]
) -> np.ndarray:
    """Positions of the source's entries that are equal to each entry of the target, in the target's order."""
    size = len(have[levels[0]])
    codes = np.zeros(size + len(needed[levels[0]]), dtype=np.int64)
    for level in levels:
        both = np.concatenate([np.asarray(have[level], dtype=object), np.asarray(needed[level], dtype=object)])
        level_codes, values = pd.factorize(pd.Index(both, tupleize_cols=False), use_na_sentinel=True)
        codes = pd.factorize(codes * (len(values) + 1) + level_codes + 1)[0].astype(np.int64)
    ours, theirs = codes[:size], codes[size:]
    order = np.argsort(ours, kind="stable")  # a merge of pandas orders equal entries as it likes
    starts = np.searchsorted(ours[order], theirs, side="left")
    counts = np.searchsorted(ours[order], theirs, side="right") - starts
    ends = np.cumsum(counts)
    offsets = np.arange(ends[-1] if len(ends) else 0) - np.repeat(ends - counts, counts)
    return order[np.repeat(starts, counts) + offsets]


def with_stimulus_ids(assembly: Array) -> Array:
    """Add the level `stimulus_id` if only the older `image_id` exists, and convert integer ids to text."""
    coords = {name: (dims, values) for name, dims, values in walk_coords(assembly)}
    corrected = {name: (coords[name][0], _text_ids(coords[name][1])) for name in STIMULUS_ID_COLUMNS if name in coords}
    if LEGACY_STIMULUS_ID in corrected:
        corrected.setdefault(STIMULUS_ID, corrected[LEGACY_STIMULUS_ID])
    if all(name in coords and values is coords[name][1] for name, (_, values) in corrected.items()):
        return assembly
    return _with_coords(assembly, coords | corrected)


def _text_ids(values: np.ndarray) -> np.ndarray:
    """Return ids as text if they are integers, and unchanged otherwise."""
    if values.dtype.kind not in "iuf":
        return values
    whole = values.dtype.kind == "f" and np.array_equal(values, np.round(values))
    return (values.astype(np.int64) if whole else values).astype(str).astype(object)


def with_stimulus_columns(assembly: Array, stimulus_set: StimulusSet, where: str) -> Array:
    """Add the columns of a stimulus set as levels of ``presentation``.

    Rows of the stimulus set are joined on ``stimulus_id``. An assembly without a dimension ``presentation`` is returned
    unchanged; its own levels take precedence over columns. `where` names the assembly in messages. Raises UserError if
    stimuli of the assembly are not in the stimulus set, or an id occurs twice in it.
    """
    if "presentation" not in assembly.dims:
        return assembly
    coords = {name: (dims, values) for name, dims, values in walk_coords(assembly)}
    if STIMULUS_ID not in coords:
        raise UserError(
            f"{where} has no coordinate 'stimulus_id' on presentation, so its stimuli are unknown",
            remedy="add it, or pass merge_stimulus_set_meta=False",
        )
    ids = pd.Index(np.atleast_1d(coords[STIMULUS_ID][1]).astype(str), dtype=object)
    table = pd.DataFrame(stimulus_set).set_index(pd.Index(stimulus_set[STIMULUS_ID].astype(str), dtype=object))
    if not table.index.is_unique:
        repeated = table.index[table.index.duplicated()].unique()
        raise UserError(
            f"the stimulus set of {where} has duplicate values of 'stimulus_id': {format_values(repeated)}",
            remedy="give each stimulus its own id",
        )
    columns = [column for column in table.columns if column not in coords and column not in assembly.dims]
    rows = table.index.get_indexer(ids)
    unknown = ids[rows < 0].unique()
    if len(unknown):
        none = not (rows >= 0).any()
        name = getattr(stimulus_set, "identifier", None)
        named = f" {name!r}" if name else ""
        raise UserError(
            f"{'none' if none else f'{len(unknown)}'} of the stimuli of {where} {'is' if none else 'are not'} in the "
            f"stimulus set{named}; coordinate 'stimulus_id' has {format_values(unknown)}, "
            f"the stimulus set {format_values(table.index[:5])}",
            remedy="load the stimulus set that belongs to the assembly, or pass merge_stimulus_set_meta=False",
        )
    joined = table[columns].reindex(ids)
    merged = {str(column): (("presentation",), _column_values(joined[column])) for column in columns}
    return _with_coords(assembly, {**coords, **merged})


def _column_values(column: "pd.Series[Any]") -> np.ndarray:
    """Return a column's values: text as objects, whatever string type pandas uses, and missing values as NaN."""
    if isinstance(column.dtype, np.dtype):
        return column.to_numpy()
    return column.astype(object).where(column.notna(), np.nan).to_numpy(dtype=object)


def _with_coords(assembly: Array, coords: Mapping[Any, Any]) -> Array:
    return type(assembly)(assembly.values, coords=coords, dims=assembly.dims, attrs=assembly.attrs, name=assembly.name)
