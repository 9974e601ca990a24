"""Arrays of measurements whose coordinates describe stimuli, neuroids and time bins."""

import functools
import os
import warnings
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Self, TypeVar

import numpy as np
import pandas as pd
import xarray as xr

from brainscore_core.errors import MissingColumn, UnknownIdentifier, UserError, nearest
from brainscore_core.formatting import as_html, as_text, folded
from brainscore_core.supported_data_standards.brainio.findings import format_values
from brainscore_core.supported_data_standards.brainio.levels import (
    GatheredCoords,
    build_array,
    converted,
    coords_for_dim,
    gather_coords,
    get_levels,
    get_metadata,
    holds_tuples,
    is_canonical,
    level_dims,
    named_coords,
    normalise_coords,
    plan_selection,
    sorted_positions,
    unknown_name_error,
    walk_coords,
)
from brainscore_core.supported_data_standards.brainio.netcdf import read_netcdf
from brainscore_core.supported_data_standards.brainio.stimuli import StimulusSet
from brainscore_core.supported_data_standards.brainio.summaries import assembly_rows
from brainscore_core.supported_data_standards.brainio.transform import (
    MultiGroupBy,
    apply_to_cells,
    array_is_element,
    gather_indexes,
    merge_data_arrays,
    reduce_over_levels,
    stack_dims,
    with_stimulus_columns,
    with_stimulus_ids,
)

if TYPE_CHECKING:
    from brainscore_core.figures import Plot

__all__ = [
    "ASSEMBLY_CLASSES",
    "AssemblyLoader",
    "BehavioralAssembly",
    "DataAssembly",
    "MetadataAssembly",
    "ModelFeaturesAssembly",
    "NeuroidAssembly",
    "NeuronRecordingAssembly",
    "PropertiesAssembly",
    "PropertyAssembly",
    "SpikeTimesAssembly",
    "array_is_element",
    "coords_for_dim",
    "gather_indexes",
    "get_levels",
    "get_metadata",
    "merge_data_arrays",
    "resolve_assembly_class",
    "walk_coords",
]


def keep_class(*methods: str) -> Callable[[type], type]:
    """Decorate a subclass of DataArray: these methods return the subclass, where xarray returns a plain array."""

    def decorate(cls: type) -> type:
        for name in methods:
            setattr(cls, name, _keeping(getattr(xr.DataArray, name)))
        return cls

    return decorate


def _keeping(method: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(method)
    def kept(self: Any, *args: Any, **kwargs: Any) -> Any:
        attrs = dict(self.attrs)
        # some versions of xarray drop attributes here; others compare them, which fails for tables
        with xr.set_options(keep_attrs=False):
            result = method(self, *args, **kwargs)
        if isinstance(result, xr.DataArray):
            if type(result) is xr.DataArray:
                result = converted(type(self), result)
            if keeps_attrs(kwargs.get("keep_attrs")):
                result.attrs = attrs
        return result

    return kept


def keeps_attrs(keep_attrs: bool | None) -> bool:
    """Whether to keep attributes: `keep_attrs` if given, else xarray's option if set, else True."""
    if keep_attrs is None:
        option = xr.get_options()["keep_attrs"]
        return True if option == "default" else bool(option)
    return keep_attrs


def merge_attrs(operands: Iterable[Any]) -> dict[Any, Any]:
    """Attributes of all operands, without those that have different values."""
    if not keeps_attrs(None):
        return {}
    merged: dict[Any, Any] = {}
    contradictory = set()
    for operand in operands:
        if not isinstance(operand, xr.DataArray):
            continue
        for key, value in operand.attrs.items():
            if key in merged and not same_attribute(merged[key], value):
                contradictory.add(key)
            merged.setdefault(key, value)
    return {key: value for key, value in merged.items() if key not in contradictory}


def same_attribute(left: Any, right: Any) -> bool:
    """Whether two attributes of any type are equal; NaN equals NaN."""
    if left is right:
        return True
    if isinstance(left, xr.DataArray) and isinstance(right, xr.DataArray):
        return bool(left.equals(right))
    if isinstance(left, pd.DataFrame | pd.Series) or isinstance(right, pd.DataFrame | pd.Series):
        return type(left) is type(right) and bool(left.equals(right))
    if isinstance(left, np.ndarray) or isinstance(right, np.ndarray):
        left, right = np.asarray(left), np.asarray(right)
        return np.array_equal(left, right, equal_nan=left.dtype.kind in "fc" and right.dtype.kind in "fc")
    if isinstance(left, dict) and isinstance(right, dict):
        return left.keys() == right.keys() and all(same_attribute(left[key], right[key]) for key in left)
    if isinstance(left, list | tuple) and isinstance(right, list | tuple):
        return len(left) == len(right) and all(map(same_attribute, left, right))
    equal = left == right
    if isinstance(equal, bool | np.bool_):
        return bool(equal) or (isinstance(left, float) and isinstance(right, float) and left != left and right != right)
    return False


def different_dims(dims: Iterable[Hashable], cls: "type[DataAssembly]") -> str:
    """How dimensions differ from those of a class of assemblies, which may accept any; empty if they do not."""
    if not cls.DIMS or any(set(dims) == set(accepted) for accepted in cls.DIMS):
        return ""
    actual, expected = " × ".join(map(str, dims)) or "none", " or ".join(" × ".join(names) for names in cls.DIMS)
    return f"the dimensions are {actual}, but those of a {cls.__name__} are {expected}"


Assembly = TypeVar("Assembly", bound="DataAssembly")


@keep_class("where", "fillna", "clip", "isnull", "notnull", "astype", "isin", "dot", "combine_first",
             "interpolate_na", "rank", "ffill", "bfill")  # fmt: skip
class DataAssembly(xr.DataArray):
    """An array of measurements in which every coordinate of a dimension is a level of that dimension's index.

    It is an :class:`xarray.DataArray`, with these differences: coordinates become levels when an assembly is created;
    selecting on a level keeps the dimension's name and all levels; reductions accept levels as well as dimensions;
    attributes, such as the stimulus set, survive reductions and arithmetic; results keep the class.

    Functions of the xarray module (``xr.where``, ``xr.zeros_like``) return plain arrays; convert their results back.

    Parameters
    ----------
    data : array_like
        Measurements, or another array; its coordinates, attributes and name are kept.
    coords : mapping, optional
        ``{'coordinate': ('dimension', values)}``; for a coordinate named like its dimension, the values suffice.
    dims : sequence of str, optional
        Names of the dimensions.
    name : str, optional
        Name of the assembly.
    attrs : mapping, optional
        Further information about the data.

    Examples
    --------
    >>> assembly = DataAssembly(
    ...     [[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]],
    ...     coords={
    ...         "stimulus_id": ("presentation", ["a", "a", "b"]),
    ...         "repetition": ("presentation", [0, 1, 0]),
    ...         "region": ("neuroid", ["V4", "IT"]),
    ...     },
    ...     dims=["presentation", "neuroid"],
    ... )
    >>> assembly.sel(region="IT").dims
    ('presentation', 'neuroid')
    >>> assembly.mean(dim="repetition").values
    array([[2., 3.],
           [5., 6.]])
    """

    __slots__ = ()

    #: sets of dimensions that a packaged assembly of this class may have; empty: any
    DIMS: ClassVar[tuple[tuple[str, ...], ...]] = ()

    def __init__(
        self,
        data: Any = np.nan,
        coords: Any = None,
        dims: Any = None,
        name: Hashable | None = None,
        attrs: Mapping[Any, Any] | None = None,
        indexes: Mapping[Any, Any] | None = None,
        fastpath: bool = False,
    ) -> None:
        if fastpath:  # xarray passes complete results
            super().__init__(data, coords=coords, name=name, indexes=indexes, fastpath=True)
            return
        if isinstance(coords, Mapping) and not isinstance(coords, xr.Coordinates):
            coords = normalise_coords(coords)
        super().__init__(data, coords=coords, dims=dims, name=name, attrs=attrs)
        if not is_canonical(self):
            gathered = gather_coords(named_coords(self), self.dims)
            self._coords, self._indexes = gathered.variables, gathered.indexes

    def validate(self) -> None:
        """Check that the dimensions are those of the class, as packaging and loading do.

        Intermediate results may have any dimensions, such as model × model or a dimension of splits.

        Raises
        ------
        ValueError
            If the dimensions differ; the message names the actual and the expected ones.
        """
        if difference := different_dims(self.dims, type(self)):
            raise ValueError(
                f"{difference}: rename the dimensions, or use a class that accepts any dimensions, e.g. DataAssembly "
                f"or BehavioralAssembly"
            )

    # -- display -------------------------------------------------------------------------------------------------

    def __repr__(self) -> str:
        shown = super(DataAssembly, self._with_short_attributes()).__repr__()
        rows = assembly_rows(self)
        return f"{as_text(self._title(), rows)}\n{shown}" if rows else shown

    def _repr_html_(self) -> str:
        shown = super(DataAssembly, self._with_short_attributes())._repr_html_()
        rows = assembly_rows(self)
        more = folded("values, coordinates and attributes", shown)
        return as_html(self._title(), rows, more=more) if rows else shown

    def _with_short_attributes(self) -> Self:
        """The same assembly, whose stimulus set is described in one line."""
        stimuli = self.attrs.get("stimulus_set")
        if not isinstance(stimuli, pd.DataFrame):
            return self
        short = self.copy(deep=False)
        name = f" {stimuli.identifier}" if getattr(stimuli, "identifier", None) else ""
        short.attrs = self.attrs | {"stimulus_set": f"{type(stimuli).__name__}{name} ({len(stimuli)} rows)"}
        return short

    def plot_rdm(self, *, most: int = 200) -> "Plot":
        """Draw the dissimilarities of stimuli: 1 − Pearson correlation of their mean responses, as ranks from 0 to 1.

        Stimuli are ordered by ``object_name`` or ``category_name``, if they have one.

        Parameters
        ----------
        most : int
            Largest number of stimuli; of more, as many are chosen at equal distances, and the figure says so.

        Raises
        ------
        UserError
            If there are no stimuli to compare.
        """
        from brainscore_core.supported_data_standards.brainio.rdm_plot import rdm_plot

        return rdm_plot(self, most=most)

    def _title(self) -> str:
        name = f" {self.identifier}" if self.identifier is not None else ""
        return f"{type(self).__name__}{name} ({', '.join(f'{dim}: {size}' for dim, size in self.sizes.items())})"

    # -- identity ------------------------------------------------------------------------------------------------

    @property
    def identifier(self) -> Any:
        """The attribute ``identifier``, or the assembly's name if it is missing."""
        return self.attrs.get("identifier", self.name)

    @identifier.setter
    def identifier(self, identifier: Any) -> None:
        self.attrs["identifier"] = identifier

    @property
    def stimulus_set(self) -> Any:
        """The stimuli that were shown: the attribute ``stimulus_set``."""
        try:
            return self.attrs["stimulus_set"]
        except KeyError:
            raise AttributeError("this assembly has no stimulus set: set attrs['stimulus_set']") from None

    @stimulus_set.setter
    def stimulus_set(self, stimulus_set: Any) -> None:
        self.attrs["stimulus_set"] = stimulus_set

    @classmethod
    def from_files(
        cls,
        file_path: str | Path,
        stimulus_set_identifier: str | None = None,
        stimulus_set: Any = None,
        *,
        merge_stimulus_set_meta: bool = True,
    ) -> Self:
        """Read an assembly from a netCDF file.

        Parameters
        ----------
        file_path : str or Path
            The file.
        stimulus_set_identifier : str, optional
            Stored in the attributes; by default the identifier of the stimulus set.
        stimulus_set : StimulusSet, optional
            Stored in the attributes.
        merge_stimulus_set_meta : bool
            Whether the stimulus set's columns become levels of ``presentation``.
        """
        return AssemblyLoader(
            cls, file_path, stimulus_set_identifier, stimulus_set, merge_stimulus_set_meta=merge_stimulus_set_meta
        ).load()  # type: ignore[return-value] # the loader returns the class that it is given

    # -- coordinates ---------------------------------------------------------------------------------------------

    def __getitem__(self, key: Any) -> Any:
        """Select as a DataArray does; a missing coordinate is a `MissingColumn`, which is also a `KeyError`."""
        try:
            return super().__getitem__(key)
        except KeyError as error:
            if not isinstance(key, str) or key in self.coords:
                raise
            names = sorted(str(name) for name in self.coords if name not in self.dims)
            data = f"the assembly {self.attrs.get('identifier') or self.name or '(without identifier)'}"
            raise MissingColumn.among(names, key, data=data, kind="coordinate") from error

    def __setitem__(self, key: Any, value: Any) -> None:
        if isinstance(key, str):
            assigned = self.assign_coords({key: value})
            self._coords, self._indexes = dict(assigned.coords.variables), dict(assigned.xindexes)
        else:
            super().__setitem__(key, value)

    def __delitem__(self, key: Any) -> None:
        dropped = self.drop_vars(key)
        self._coords, self._indexes = dict(dropped.coords.variables), dict(dropped.xindexes)

    def assign_coords(self, coords: Any = None, **coords_kwargs: Any) -> Self:
        """Add or replace coordinates; they become levels of their dimension."""
        if isinstance(coords, xr.Coordinates):
            coords = dict(coords)
        new = named_coords(
            xr.DataArray(self.variable, coords=normalise_coords({**(coords or {}), **coords_kwargs}), dims=self.dims)
        )
        gathered = gather_coords({**named_coords(self), **new}, self.dims, self)
        return build_array(type(self), self.variable, gathered, self.name)

    def copy(self, deep: bool = True, data: Any = None) -> Self:
        """Return a copy; a shallow one shares the indexes, which cannot change."""
        if deep:
            return super().copy(deep=True, data=data)
        variables = {name: variable.copy(deep=False) for name, variable in self._coords.items()}
        coordinates = GatheredCoords(variables, dict(self._indexes))
        return build_array(type(self), self.variable.copy(deep=False, data=data), coordinates, self.name)

    def drop_vars(self, names: Any, *, errors: Any = "raise") -> Self:
        """Drop coordinates; other levels of their dimension remain."""
        if callable(names):
            names = names(self)
        names = {names} if isinstance(names, str) else set(names)
        dims = level_dims(self)
        # as in xarray, dropping the tuples of an index drops its levels
        whole = {name for name in names if name in self._coords and holds_tuples(self, name)}
        gone = names | {level for level, dim in dims.items() if dim in whole}
        if errors == "raise" and (missing := names - set(self._coords)):
            raise ValueError(f"cannot drop {sorted(map(str, missing))}: coordinates are {list(self._coords)}")
        remaining = {name: variable for name, variable in named_coords(self).items() if name not in gone}
        gathered = gather_coords(remaining, self.dims, self)
        return build_array(type(self), self.variable.copy(deep=False), gathered, self.name)

    def rename(self, new_name_or_name_dict: Any = None, **names: Any) -> Self:
        """Rename the assembly (given a name), or its dimensions and levels (given a mapping)."""
        return converted(type(self), super().rename(new_name_or_name_dict, **names))

    def stack(self, dim: Any = None, create_index: bool | None = True, index_cls: Any = None, **dims: Any) -> Any:
        """Stack dimensions into one dimension that has all levels of the stacked dimensions."""
        stacked = {**(dim or {}), **dims}
        result = self
        for new, names in stacked.items():
            if not create_index or index_cls is not None:
                return super().stack(stacked, create_index, **({} if index_cls is None else {"index_cls": index_cls}))
            result = stack_dims(result, new, names)
        return result

    # -- selection -----------------------------------------------------------------------------------------------

    def isel(self, indexers: Any = None, drop: bool = False, missing_dims: Any = "raise", **kwargs: Any) -> Self:
        """Select by position; the levels of a dimension that this removes become scalar coordinates."""
        return _without_tuples(super().isel(indexers, drop=drop, missing_dims=missing_dims, **kwargs))

    def sel(
        self, indexers: Any = None, method: str | None = None, tolerance: Any = None, drop: bool = False, **kwargs: Any
    ) -> Self:
        """Select by value, on dimensions and on levels.

        Selecting on levels keeps the dimension and all its levels, including the selected one.

        Parameters
        ----------
        indexers : mapping, optional
            Level or dimension → what to select: a value; several values, which also give the order of the result; a
            slice of values, both ends included; a boolean for each entry.
        method, tolerance
            For inexact matches on dimensions without levels; see :meth:`xarray.DataArray.sel`.
        drop : bool
            Whether to drop coordinates that become scalar by a selection on their dimension.
        **kwargs
            `indexers` as keyword arguments.

        Raises
        ------
        KeyError
            If a level or value does not exist; the message names the existing ones.

        Examples
        --------
        >>> assembly = DataAssembly(
        ...     [1, 2, 3],
        ...     coords={"region": ("neuroid", ["V4", "IT", "IT"]), "animal": ("neuroid", ["m", "m", "n"])},
        ...     dims=["neuroid"],
        ... )
        >>> assembly.sel(region="IT", animal=["n", "m"]).values
        array([3, 2])
        """
        requested = {**(indexers or {}), **kwargs}
        inexact = [name for name in requested if name not in self.dims] if method or tolerance is not None else []
        if inexact:
            raise ValueError(
                f"levels ({format_values(inexact)}) are selected by exact value: leave out method and tolerance"
            )
        plan = plan_selection(self, requested)
        result = self.isel(plan.positions) if plan.positions else self
        if plan.native or not plan.positions:
            result = super(DataAssembly, result).sel(plan.native, method=method, tolerance=tolerance, drop=drop)
        return _without_tuples(result)

    def multisel(self, indexers: Any = None, **kwargs: Any) -> Self:
        """Select on several levels; the same as :meth:`sel`."""
        return self.sel(indexers, **kwargs)

    def sortby(self, variables: Any, ascending: bool = True) -> Self:
        """Sort along dimensions by levels; equal entries keep their order, missing values come last.

        Parameters
        ----------
        variables : str or sequence of str
            Levels, in decreasing importance; each dimension is sorted by its own levels. Everything that
            :meth:`xarray.DataArray.sortby` accepts is also possible.
        ascending : bool
            If False, the greatest values come first.
        """
        names = [variables] if isinstance(variables, str) else variables
        dims = level_dims(self)
        if callable(names) or not all(isinstance(name, str) and name in dims for name in names):
            return super().sortby(variables, ascending=ascending)
        return self.isel(sorted_positions(self, names, ascending=ascending))

    # -- reductions and groups -----------------------------------------------------------------------------------

    def reduce(
        self,
        func: Callable[..., Any],
        dim: Any = None,
        *,
        axis: Any = None,
        keep_attrs: bool | None = None,
        keepdims: bool = False,
        **kwargs: Any,
    ) -> Any:
        """Reduce over dimensions or levels.

        A reduction over a level combines the entries that have equal values in all other levels of the dimension, and
        sorts the result by these levels. ``mean(dim='repetition')`` thus averages over repetitions. Missing values of
        levels count as equal and come last.

        Parameters
        ----------
        func : callable
            As for :meth:`xarray.DataArray.reduce`; ``mean``, ``median``, ``std``, ``sum`` etc. use this method.
        dim : str or iterable of str, optional
            Dimensions, levels or both; by default all dimensions.
        axis, keepdims
            For dimensions only.
        keep_attrs : bool, optional
            Whether to keep the attributes (default: True).
        """
        keep_attrs = keeps_attrs(keep_attrs)
        if isinstance(dim, Iterator):  # xarray itself passes generators
            dim = tuple(dim)
        names = [dim] if isinstance(dim, str) else [] if dim is None or dim is ... else list(dim)
        unknown = [name for name in names if name is not ... and name not in self.dims]
        if not unknown:
            return super().reduce(func, dim, axis=axis, keep_attrs=keep_attrs, keepdims=keepdims, **kwargs)
        levels = level_dims(self)
        for name in unknown:
            if name not in levels:
                raise ValueError(str(unknown_name_error(self, name, what="reduction")))
        if keepdims or axis is not None:
            raise ValueError(f"axis and keepdims are not supported in reductions over levels ({unknown})")
        whole_dims = [name for name in names if name in self.dims]
        unknown = [name for name in unknown if levels[name] not in whole_dims]  # their dimension is reduced as a whole

        def reduce(variable: xr.Variable, dims: list[Hashable]) -> xr.Variable:
            return variable.reduce(func, [*dims, *whole_dims], keep_attrs=keep_attrs, **kwargs)

        if not unknown:
            return self.reduce(func, whole_dims, keep_attrs=keep_attrs, **kwargs)
        return reduce_over_levels(self, unknown, reduce)

    def multi_groupby(self, group_coord_names: Any) -> MultiGroupBy:
        """Group by several levels of one dimension.

        Parameters
        ----------
        group_coord_names : sequence of str
            Levels that have equal values within a group. Missing values count as equal and come last.

        Returns
        -------
        MultiGroupBy
            It has ``mean``, ``median``, ``std``, ``sum``, ``min``, ``max``, ``count``, ``first`` and ``map``. Their
            results have one entry per group along the dimension, sorted by the named levels, and only these levels.

        Examples
        --------
        >>> assembly = DataAssembly(
        ...     [1.0, 2.0, 6.0],
        ...     coords={"a": ("p", ["x", "y", "x"]), "b": ("p", [0, 0, 0]), "c": ("p", [1, 2, 3])},
        ...     dims=["p"],
        ... )
        >>> assembly.multi_groupby(["a", "b"]).mean().values
        array([3.5, 2. ])
        """
        return MultiGroupBy(self, group_coord_names)

    def multi_dim_apply(self, groups: Sequence[str], apply: Callable[..., Any]) -> Self:
        """Apply a function to every combination of groups, along several dimensions at once.

        Parameters
        ----------
        groups : sequence of str
            Levels of one or several dimensions. Dimensions without a named level are not divided.
        apply : callable
            Called with the values of a combination and, as keywords, its values of every coordinate (a single value if
            there is only one). Returns values of the same shape, or a single value for all.

        Returns
        -------
        DataAssembly
            This assembly with the results as values.

        Examples
        --------
        >>> assembly = DataAssembly(
        ...     [[1.0, 2.0], [3.0, 5.0]], coords={"a": ("p", ["x", "y"]), "b": ("q", ["m", "n"])}, dims=["p", "q"]
        ... )
        >>> assembly.multi_dim_apply(["a"], lambda values, **_: values - values.mean()).values
        array([[-0.5,  0.5],
               [-1. ,  1. ]])
        """
        return apply_to_cells(self, [groups] if isinstance(groups, str) else list(groups), apply)

    # -- comparison and arithmetic -------------------------------------------------------------------------------

    def identical(self, other: Any) -> bool:
        """Whether values, coordinates, name and attributes are equal; attributes may be tables or assemblies."""
        if not (isinstance(other, xr.DataArray) and self.name == other.name):
            return False
        if not self.equals(other):  # type: ignore[arg-type] # any array may be compared
            return False
        coords, other_coords = named_coords(self), named_coords(other)
        return same_attribute(self.attrs, other.attrs) and all(
            same_attribute(variable.attrs, other_coords[name].attrs) for name, variable in coords.items()
        )

    def _binary_op(self, other: Any, f: Callable[..., Any], reflexive: bool = False) -> Any:
        with xr.set_options(keep_attrs=False):
            result = super()._binary_op(other, f, reflexive)
        if result is not NotImplemented:
            result.attrs = merge_attrs((other, self) if reflexive else (self, other))
        return result

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *inputs: Any, **kwargs: Any) -> Any:
        with xr.set_options(keep_attrs=False):
            result = super().__array_ufunc__(ufunc, method, *inputs, **kwargs)
        if type(result) is xr.DataArray:
            result = converted(type(self), result)
            result.attrs = merge_attrs(inputs)
        return result


def _without_tuples(array: Assembly) -> Assembly:
    """Remove the scalar tuple that remains of a dropped dimension's index and repeats its levels."""
    repeated = [name for name in array.coords if name not in array.dims and holds_tuples(array, name)]
    return array.reset_coords(repeated, drop=True) if repeated else array


class NeuroidAssembly(DataAssembly):
    """Recordings or activations of neuroids: presentation × neuroid, or presentation × neuroid × time_bin.

    Packaging and loading require these dimensions; intermediate results may have others.
    """

    __slots__ = ()

    DIMS = (("presentation", "neuroid"), ("presentation", "neuroid", "time_bin"))


class NeuronRecordingAssembly(NeuroidAssembly):
    """Recordings of neurons; another name of :class:`NeuroidAssembly`."""

    __slots__ = ()


class ModelFeaturesAssembly(NeuroidAssembly):
    """Activations of a model's units; another name of :class:`NeuroidAssembly`."""

    __slots__ = ()


class BehavioralAssembly(DataAssembly):
    """Responses of subjects, with any dimensions; usually presentation, or presentation × choice."""

    __slots__ = ()


class PropertyAssembly(DataAssembly):
    """Properties derived from recordings, such as a surround suppression index for each neuroid."""

    __slots__ = ()


PropertiesAssembly = PropertyAssembly


class MetadataAssembly(DataAssembly):
    """Metadata of events: dimension ``event``."""

    __slots__ = ()

    DIMS = (("event",),)


class SpikeTimesAssembly(DataAssembly):
    """Times of spikes: dimension ``event``."""

    __slots__ = ()

    DIMS = (("event",),)


#: the classes that a registration or a file may name
ASSEMBLY_CLASSES: dict[str, type[DataAssembly]] = {
    **{cls.__name__: cls for cls in (DataAssembly, NeuroidAssembly, NeuronRecordingAssembly, ModelFeaturesAssembly)},
    **{cls.__name__: cls for cls in (BehavioralAssembly, PropertyAssembly, MetadataAssembly, SpikeTimesAssembly)},
    "PropertiesAssembly": PropertyAssembly,
}


def resolve_assembly_class(name: str | type[DataAssembly]) -> type[DataAssembly]:
    """Return the assembly class of this name.

    `name`: for example ``'NeuroidAssembly'``. A class is returned unchanged. Raises UnknownIdentifier if the class does
    not exist; the message suggests similar names.

    Examples
    --------
    >>> from brainscore_core.supported_data_standards.brainio.fetch import resolve_assembly_class
    >>> resolve_assembly_class("BehavioralAssembly").__name__
    'BehavioralAssembly'
    """
    if isinstance(name, type):
        return name
    if name not in ASSEMBLY_CLASSES:
        near = nearest(str(name), ASSEMBLY_CLASSES, limit=3) or sorted(ASSEMBLY_CLASSES)
        raise UnknownIdentifier(f"there is no assembly class {name!r}", remedy=f"did you mean {' or '.join(near)}?")
    return ASSEMBLY_CLASSES[name]


class AssemblyLoader:
    """Reads an assembly and connects it with its stimulus set.

    Parameters
    ----------
    cls : type or str
        Class of the assembly, or its name.
    file_path : path
        The netCDF file.
    stimulus_set_identifier : str, optional
        By default the identifier of `stimulus_set`, else the one in the file.
    stimulus_set : StimulusSet, optional
        The stimuli that were shown.
    merge_stimulus_set_meta : bool, default True
        Whether the stimulus set's columns become levels of `presentation`.
    identifier : str, optional
        Name of the data set for error messages.

    Notes
    -----
    The merge is a left join on `stimulus_id`: presentations keep their number and order. If the assembly already has a
    level with the name of a column, the level is kept and the column is left out. A presentation of a stimulus that is
    not in the stimulus set is an error. An assembly without a dimension `presentation` is not merged. Older files that
    have only `image_id` also get `stimulus_id`, and integer ids become text.

    The result's ``encoding['source']`` is the path of the file, for later error messages.
    """

    def __init__(
        self,
        cls: type[DataAssembly] | str,
        file_path: str | os.PathLike[str],
        stimulus_set_identifier: str | None = None,
        stimulus_set: StimulusSet | None = None,
        merge_stimulus_set_meta: bool = True,
        *,
        identifier: str | None = None,
    ) -> None:
        self.cls = resolve_assembly_class(cls)
        self.file_path = Path(file_path)
        self.stimulus_set_identifier = stimulus_set_identifier
        self.stimulus_set = stimulus_set
        self.merge_stimulus_set_meta = merge_stimulus_set_meta
        self.identifier = identifier

    def load(self) -> DataAssembly:
        """Read the file; the result's ``attrs`` have `stimulus_set` and `stimulus_set_identifier`.

        Raises
        ------
        UserError
            If the file cannot be read, its dimensions are not those of its class, a coordinate is missing, or the
            stimulus set lacks a stimulus. The message names the data set, the file and the coordinate.
        """
        with warnings.catch_warnings():
            # similarity matrices are published as presentation × presentation × neuroid
            warnings.filterwarnings("ignore", "Duplicate dimension names", UserWarning)
            where = str(self.file_path) if self.identifier is None else f"{self.identifier} ({self.file_path})"
            assembly = with_stimulus_ids(_with_class(read_netcdf(self.file_path, DataAssembly), self.cls, where))
            stimulus_set = self.stimulus_set
            if stimulus_set is not None and self.merge_stimulus_set_meta:
                assembly = with_stimulus_columns(assembly, stimulus_set, where)
        if stimulus_set is not None:
            assembly.attrs["stimulus_set"] = stimulus_set
        identifier = self.stimulus_set_identifier or getattr(stimulus_set, "identifier", None)
        if identifier is not None:
            assembly.attrs["stimulus_set_identifier"] = identifier
        assembly.encoding["source"] = str(self.file_path)
        return assembly


StimulusMergeAssemblyLoader = AssemblyLoader  # existing plugins import it by this name


def _with_class(assembly: DataAssembly, cls: type[DataAssembly], where: str) -> DataAssembly:
    """Convert an assembly to the class with which it is registered, if it has that class's dimensions."""
    if difference := different_dims(assembly.dims, cls):
        raise UserError(
            f"{where}: {difference}",
            remedy="package the data again with these dimensions, or register them with another class, such as "
            "DataAssembly or BehavioralAssembly, which accept any dimensions",
        )
    if issubclass(cls, NeuroidAssembly) and "time_bin" in assembly.dims:
        dims_of = {name: dims for name, dims, _ in walk_coords(assembly)}
        for name in ("time_bin_start", "time_bin_end"):
            if dims_of.get(name) != ("time_bin",):
                raise UserError(
                    f"{where} has no coordinate {name!r} on time_bin",
                    remedy=f"package the data again with coords={{'{name}': ('time_bin', milliseconds)}}",
                )
    return cls(assembly)
