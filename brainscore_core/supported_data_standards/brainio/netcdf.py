"""Assemblies in netCDF files: how values are encoded, written and read."""

import hashlib
import os
import re
import threading
import warnings
from collections.abc import Callable, Hashable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol, TypeVar

import numpy as np
import pandas as pd
import xarray as xr
from xarray.indexes import PandasIndex

from brainscore_core.errors import UserError
from brainscore_core.files import replacing
from brainscore_core.supported_data_standards.brainio.hdf5 import refuse_other_files
from brainscore_core.supported_data_standards.brainio.levels import index_order, named_coords
from brainscore_core.supported_data_standards.brainio.tables import ImportReport

if TYPE_CHECKING:
    import netCDF4

#: attributes that describe how values are stored; attributes of an assembly cannot have these names
RESERVED = frozenset({"_FillValue", "missing_value", "coordinates", "dtype", "scale_factor", "add_offset", "calendar"})

_NOT_A_TIME = np.iinfo(np.int64).min
_SINCE = re.compile(r"^\s*[a-z]+\s+since\s", re.IGNORECASE)
_UNITS = {"D": "days", "h": "hours", "m": "minutes", "s": "seconds", "ms": "milliseconds", "us": "microseconds"}


class Encoded(NamedTuple):
    """Values as written to a file, the attributes needed to read them, and the fill value if there is one."""

    values: np.ndarray
    attrs: dict[str, Any]
    fill: Any = None


def encode(name: str, values: np.ndarray) -> Encoded:
    """Encode values as numbers or text.

    Raises UserError if the values have several types, or a type that netCDF does not support.
    """
    kind = values.dtype.kind
    if kind == "O":
        return _encode_objects(name, values)
    if kind == "f":
        if values.dtype.itemsize == 2:
            return Encoded(values.astype("f4"), {"dtype": "float16"}, np.float32(np.nan))
        if values.dtype.itemsize > 8:
            raise UserError(f"{name}: netCDF does not support {values.dtype}", remedy="convert it to float64")
        return Encoded(values, {}, values.dtype.type(np.nan))
    if kind in "iu":
        return Encoded(values, {})
    if kind == "b":
        return Encoded(values.astype("i1"), {"dtype": "bool"})
    if kind in "UT":
        return Encoded(values.astype(object), {})
    if kind == "M":
        unit = np.datetime_data(values.dtype)[0]
        if unit not in _UNITS:  # nanoseconds; and months and years, whose length varies
            unit, values = ("ns", values.astype("M8[ns]")) if unit == "ns" else ("D", values.astype("M8[D]"))
        units = f"{_UNITS.get(unit, 'nanoseconds')} since 1970-01-01"
        attrs = {"units": units, "calendar": "proleptic_gregorian"}
        return Encoded(values.astype(np.int64), attrs, _fill_of_times(values))
    if kind == "m":
        values = values.astype("m8[ns]")
        attrs = {"units": "nanoseconds", "dtype": "timedelta64[ns]"}
        return Encoded(values.astype(np.int64), attrs, _fill_of_times(values))
    raise UserError(
        f"{name}: values of type {values.dtype} cannot be stored", remedy="use numbers, booleans, text or dates"
    )


def _fill_of_times(values: np.ndarray) -> Any:
    return np.int64(_NOT_A_TIME) if np.isnat(values).any() else None


def _encode_objects(name: str, values: np.ndarray) -> Encoded:
    missing = np.asarray(pd.isna(values), dtype=bool)
    kind = "empty" if missing.all() else pd.api.types.infer_dtype(values[~missing])
    if kind in ("string", "empty"):
        return _encode_text(values, missing)
    if kind == "boolean":
        fill = np.int8(-1) if missing.any() else None
        return Encoded(np.where(missing, -1, values).astype("i1"), {"dtype": "bool"}, fill)
    if kind == "integer" and not missing.any():
        return encode(name, values.astype(np.int64))
    if kind in ("integer", "floating", "mixed-integer-float"):
        return encode(name, np.where(missing, np.nan, values).astype(np.float64))
    names = ", ".join(sorted({type(value).__name__ for value in values[~missing]}))
    raise UserError(
        f"{name}: values of several or unknown types ({names}) cannot be stored",
        remedy="convert them to one type, e.g. to text with .astype(str)",
    )


def _encode_text(values: np.ndarray, missing: np.ndarray) -> Encoded:
    if not missing.any():
        return Encoded(values, {})
    used = set(values[~missing].ravel())
    mark = "nan"
    while mark in used:
        mark += "_"
    return Encoded(np.where(missing, mark, values).astype(object), {"missing_value": mark})


def decode(values: Any, attrs: Mapping[str, Any], *, times: bool = True) -> np.ndarray:
    """Decode the values of :func:`encode`, and of other writers that follow the CF conventions.

    - `values`: values as stored.
    - `attrs`: attributes of the variable.
    - `times`: whether to convert numbers with ``units`` such as 'days since 2020-01-01' to dates.
    """
    values = np.asarray(values)
    if values.dtype.kind == "S":
        values = np.char.decode(values, "utf-8").astype(object)
    if values.dtype.kind in "UT":
        values = values.astype(object)
    note = str(attrs.get("dtype", ""))
    marks = [attrs[key] for key in ("_FillValue", "missing_value") if key in attrs]
    missing = np.zeros(values.shape, dtype=bool)
    for mark in marks:
        missing |= np.asarray(values == mark, dtype=bool)
    if note == "bool":
        truths = values.astype(bool)
        return np.where(missing, np.nan, truths.astype(object)) if missing.any() else truths
    units = str(attrs.get("units", ""))
    if times and values.dtype.kind in "iuf" and _SINCE.match(units):
        return _decode_dates(values, missing, attrs)
    if note.startswith("timedelta64"):
        return np.where(missing, np.timedelta64("NaT"), values.astype("m8[ns]"))
    if missing.any():
        values = values.astype(np.float64) if values.dtype.kind in "iu" else values.copy()
        values[missing] = np.nan
    if "scale_factor" in attrs or "add_offset" in attrs:
        values = values * attrs.get("scale_factor", 1.0) + attrs.get("add_offset", 0.0)
    return values.astype("f2") if note == "float16" else values


def _decode_dates(values: np.ndarray, missing: np.ndarray, attrs: Mapping[str, Any]) -> np.ndarray:
    plain = {key: attrs[key] for key in ("units", "calendar") if key in attrs}
    filled = np.where(missing, 0, values)
    decoded = xr.decode_cf(xr.Dataset({"values": (tuple(f"d{i}" for i in range(values.ndim)), filled, plain)}))
    dates: np.ndarray = decoded["values"].values
    if missing.any():
        dates = np.where(missing, np.datetime64("NaT"), dates)
    return dates


def storable(value: Any) -> Any:
    """Convert an attribute to text, a number or a list of these for netCDF; None if it cannot be stored."""
    if isinstance(value, bool | np.bool_):
        return np.int8(value)  # int8 marks booleans: numbers are stored with more bits
    if isinstance(value, str):
        return str(value)
    if isinstance(value, int | np.integer):
        return np.int64(value) if -(2**63) <= int(value) < 2**63 else None
    if isinstance(value, float | np.floating):
        return np.float64(value)
    if isinstance(value, list | tuple | np.ndarray):
        array = np.asarray(value)
        kind = array.dtype.kind if array.ndim == 1 and array.size else ""
        if kind and kind in "iuf":
            return array.astype(np.float64 if kind == "f" else np.int64)
        if kind and all(isinstance(item, str) for item in array):
            return [str(item) for item in array]
    return None


class _Validated(Protocol):
    """An assembly, as far as reading requires it."""

    def validate(self) -> None: ...


Assembly = TypeVar("Assembly", bound=_Validated)

_DATA = "data"
# global attributes written by the netCDF library or by xarray
_BOOKKEEPING = {"_NCProperties", "coordinates"}
# older files lack the name of a dimension's only coordinate; these are the original names
_SINGLE = {"presentation": "stimulus_id", "neuroid": "neuroid_id"}
# the HDF5 library must not be used by two threads at once
_hdf5 = threading.RLock()
if hasattr(os, "register_at_fork"):  # a forked process could never lock it if another thread held it meanwhile
    os.register_at_fork(before=_hdf5.acquire, after_in_parent=_hdf5.release, after_in_child=_hdf5.release)


def write_netcdf(
    assembly: xr.DataArray,
    path: str | Path,
    *,
    compress: bool = True,
    extras: Mapping[str, xr.DataArray] | None = None,
) -> str:
    """Write an assembly into a netCDF file.

    The same assembly always gives the same bytes, whatever the order of its coordinates. An existing file is replaced
    only when the new file is complete.

    Parameters
    ----------
    assembly : DataAssembly
        Values and coordinates must be numbers, booleans, text or dates. Attributes are stored if they are text, numbers
        or lists of these. The stimulus set is left out; other attributes are left out with a warning.
    path : str or Path
        The file; missing folders are created.
    compress : bool
        Whether to compress the values.
    extras : mapping, optional
        Name → further assembly, stored in the same file as a group.

    Returns
    -------
    str
        SHA-1 of the file.

    Raises
    ------
    UserError
        If a value, coordinate or name cannot be stored; the message names it.

    Examples
    --------
    >>> import tempfile
    >>> from brainscore_core.supported_data_standards.brainio.assemblies import DataAssembly
    >>> assembly = DataAssembly([1.0, 2.0], coords={"stimulus_id": ("presentation", ["a", "b"])}, dims=["presentation"])
    >>> path = Path(tempfile.mkdtemp()) / "assy_example.nc"
    >>> sha1 = write_netcdf(assembly, path)
    >>> read_netcdf(path, DataAssembly).identical(assembly)
    True
    """
    groups = _prepare_groups(assembly, extras)
    with replacing(Path(path)) as stream:
        _write_file(groups, stream.name, compress)
        with open(stream.name, "rb") as written:
            return hashlib.file_digest(written, lambda: hashlib.sha1(usedforsecurity=False)).hexdigest()


def write_new_netcdf(
    assembly: xr.DataArray, path: str | Path, *, extras: Mapping[str, xr.DataArray] | None = None
) -> None:
    """Write a new file as :func:`write_netcdf` does, but directly, for callers that move it to its final path.

    The folder must exist. An interrupt leaves an incomplete file.
    """
    _write_file(_prepare_groups(assembly, extras), path, compress=True)


_Prepared = tuple[dict[str, int], dict[str, tuple[tuple[str, ...], Encoded]], dict[str, Any]]


def _prepare_groups(assembly: xr.DataArray, extras: Mapping[str, xr.DataArray] | None) -> dict[str, _Prepared]:
    """Encode all data before a file is opened, so that errors in the data leave no file; the assembly has no name."""
    encoded: dict[tuple[int, str], Encoded] = {}
    groups = {"": _prepare(assembly, encoded)}
    for name, extra in sorted((extras or {}).items()):
        if not name or "/" in name or name == _DATA:
            raise UserError(f"{name!r} cannot be the name of an extra assembly", remedy="choose one without '/'")
        groups[name] = _prepare(extra, encoded)
    return groups


def _write_file(groups: Mapping[str, _Prepared], path: str | Path, compress: bool) -> None:
    import netCDF4

    with _hdf5, netCDF4.Dataset(path, "w", format="NETCDF4") as file:
        variables = [
            variable
            for name, content in groups.items()
            for variable in _define_group(file.createGroup(name) if name else file, *content, compress=compress)
        ]
        for variable, values in variables:  # after all definitions: going back to defining takes as long as writing
            _write_values(variable, values)


def _prepare(assembly: xr.DataArray, earlier: dict[tuple[int, str], Encoded]) -> _Prepared:
    """Return the dimensions, variables and attributes to write.

    Encoded levels are added to `earlier`, by the id of their index, and not encoded again for another assembly with the
    same index, as responses and their predictions have.

    The values come first, then the coordinates by name, but a start before its end: other readers interpret time bins
    as pairs of levels in the order of the file.
    """
    dims = {checked_name(dim, "dimension"): size for dim, size in assembly.sizes.items()}
    # a similarity matrix may have the same dimension twice
    variables = {_DATA: (tuple(map(str, assembly.dims)), encode("the assembly's values", assembly.values))}
    coords, indexes = named_coords(assembly), assembly.xindexes
    for name in index_order(coords):
        variable = coords[name]
        text = checked_name(name, "coordinate")
        if text == _DATA:
            raise UserError("a coordinate cannot be named 'data' in a file", remedy="rename it")
        index = indexes.get(name)
        key = (id(index.index), text) if isinstance(index, PandasIndex) else None
        encoded = earlier.get(key) if key is not None else None
        if encoded is None:
            encoded = encode(f"coordinate {text!r}", variable.values)
        if key is not None:
            earlier[key] = encoded
        variables[text] = (tuple(map(str, variable.dims)), encoded)
    attrs: dict[str, Any] = {}
    for key, value in sorted(assembly.attrs.items(), key=lambda item: str(item[0])):
        stored = storable(value)
        if stored is not None and isinstance(key, str) and key not in _BOOKKEEPING:
            attrs[checked_name(key, "attribute")] = stored
        elif value is not None and not isinstance(value, pd.DataFrame | ImportReport):
            warnings.warn(f"attribute {key!r} ({type(value).__name__}) cannot be stored and is left out", stacklevel=3)
    if isinstance(assembly.name, str) and "name" not in assembly.attrs:
        attrs["name"] = assembly.name
    return dims, variables, attrs


def checked_name(name: Hashable, what: str) -> str:
    """Return a name that a NetCDF file can hold, or say why it cannot."""
    if not isinstance(name, str) or not name or "/" in name or name != name.strip() or not name.isprintable():
        raise UserError(f"{name!r} cannot be the name of a {what} in a file", remedy="use letters, digits and '_'")
    return name


def _define_group(
    group: "netCDF4.Dataset | netCDF4.Group",
    dims: Mapping[str, int],
    variables: Mapping[str, tuple[tuple[str, ...], Encoded]],
    attrs: Mapping[str, Any],
    *,
    compress: bool,
) -> list[tuple["netCDF4.Variable", np.ndarray]]:
    """Define a group, and return its variables, each with the values to write."""
    for dim, size in dims.items():
        group.createDimension(dim, size)
    coordinates = [name for name in variables if name != _DATA and name not in dims]
    defined = []
    for name, (along, encoded) in variables.items():
        text = encoded.values.dtype == object
        packed = compress and name == _DATA and not text and bool(along)
        options: dict[str, Any] = {"zlib": True, "shuffle": True, "complevel": 4} if packed else {}
        datatype: Any = str if text else encoded.values.dtype
        fill = None if text else encoded.fill if encoded.fill is not None else False
        variable = group.createVariable(name, datatype, along, fill_value=fill, **options)
        notes = dict(encoded.attrs)
        if name == _DATA:
            if coordinates:
                notes["coordinates"] = " ".join(coordinates)
            notes |= {key: attrs[key] for key in attrs if key not in RESERVED | {"name"} and key not in notes}
        variable.setncatts(notes)
        defined.append((variable, encoded.values))
    group.setncatts(attrs)
    return defined


def _write_values(variable: "netCDF4.Variable", values: np.ndarray) -> None:
    if values.dtype == object and not variable.dimensions:
        variable[...] = values.item()
    elif values.size:
        variable.set_auto_maskandscale(False)
        variable[...] = values


def read_netcdf(path: str | Path, cls: Callable[..., Assembly], group: str | None = None) -> Assembly:
    """Read an assembly from a netCDF file, also of older formats.

    - `path`: the file, which is closed afterwards.
    - `cls`: class of the assembly.
    - `group`: name of an extra assembly in the file.

    Returns: of class ``cls``, in memory. Raises UserError if the file is missing, empty or damaged, contains no
    assembly, or reads other files; the message names it. Raises ValueError if the dimensions are not those of the
    class.
    """
    import netCDF4

    path = Path(path)
    if not path.is_file():
        raise UserError(f"the file {path} does not exist", remedy="check the path, or fetch the file again")
    if path.stat().st_size == 0:
        raise UserError(f"{path} is empty", remedy="fetch or write it again")
    refuse_other_files(path)
    with _hdf5:
        try:
            with netCDF4.Dataset(str(path), "r") as file:
                if group is not None and group not in file.groups:
                    raise UserError(f"{path} has no group {group!r}", remedy=f"its groups are {list(file.groups)}")
                assembly = _read_group(file if group is None else file.groups[group], cls, path)
        except (OSError, RuntimeError, AttributeError) as error:
            if isinstance(error, PermissionError):
                raise
            raise UserError(
                f"{path} cannot be read as netCDF ({error})",
                remedy="it is damaged or not a netCDF file: fetch it again",
            ) from error
    assembly.validate()
    return assembly


def _read_group(group: Any, cls: Callable[..., Assembly], path: Path) -> Assembly:
    attributes = {name: _attributes(variable) for name, variable in group.variables.items()}
    name = _data_name(group, attributes, path)
    data = group.variables[name]
    dims, values = _read_variable(
        data, attributes[name], times="dtype" in attributes[name] or "calendar" in attributes[name]
    )
    coords = {}
    for coord_name, variable in group.variables.items():
        if coord_name != name:
            along, column = _read_variable(variable, attributes[coord_name], times=True)
            if set(along) <= set(dims):
                coords[coord_name] = (along, column)
    stored = {key: _attribute(group.getncattr(key)) for key in group.ncattrs() if key not in _BOOKKEEPING}
    attrs = {key: value for key, value in attributes[name].items() if key not in RESERVED}
    if "calendar" in attributes[name] or "dtype" in attributes[name]:
        attrs.pop("units", None)
    title = stored.pop("name", None)
    return cls(values, coords=_restored(coords, dims), dims=dims, name=title, attrs=attrs | stored)


def _attributes(variable: Any) -> dict[str, Any]:
    raw = {key: variable.getncattr(key) for key in variable.ncattrs()}
    return {key: value if key in RESERVED else _attribute(value) for key, value in raw.items()}


def _attribute(value: Any) -> Any:
    if isinstance(value, np.int8):
        return bool(value)
    if isinstance(value, np.ndarray):
        return value.tolist()
    return value.item() if isinstance(value, np.generic) else value


def _data_name(group: Any, attributes: Mapping[str, Mapping[str, Any]], path: Path) -> str:
    if _DATA in group.variables:
        return _DATA
    listed = {coordinate for attrs in attributes.values() for coordinate in str(attrs.get("coordinates", "")).split()}
    candidates = [name for name in group.variables if name not in listed and name not in group.dimensions]
    if len(candidates) > 1:  # coordinates whose names contain spaces are not listed
        candidates = [name for name in candidates if "coordinates" in attributes[name]] or candidates
    if len(candidates) != 1:
        raise UserError(
            f"{path} contains no assembly: it has no variable 'data', but {len(candidates)} other candidates"
            + (f" ({', '.join(candidates)})" if candidates else ""),
            remedy="write it with write_netcdf, or pass the group that holds the assembly",
        )
    return candidates[0]


def _read_variable(variable: Any, attrs: Mapping[str, Any], *, times: bool) -> tuple[tuple[str, ...], np.ndarray]:
    variable.set_auto_maskandscale(False)
    variable.set_auto_chartostring(False)
    dims, values = variable.dimensions, variable[...]
    if values.dtype == "S1" if isinstance(values, np.ndarray) else False:  # text in the form of older writers
        import netCDF4

        dims, values = dims[:-1], netCDF4.chartostring(values, encoding="utf-8")
    values = np.asarray(values, dtype=object) if variable.dtype is str else np.asarray(values)
    return dims, decode(values, attrs, times=times)


def _restored(coords: dict[str, Any], dims: tuple[str, ...]) -> dict[str, Any]:
    """Restore the name of a dimension's only coordinate, which older writers stored as ``<dim>_``."""
    restored = {}
    for name, (along, values) in coords.items():
        dim = name[:-1]
        if name.endswith("_") and along == (dim,) and dim in dims and dim not in coords:
            alone = sum(other_dims == along for other_dims, _ in coords.values()) == 1
            if alone:
                name = _SINGLE.get(dim, dim)
                name = name if name not in coords else dim
        restored[name] = (along, values)
    return restored
