"""Assemblies in netCDF files."""

import hashlib
import threading
import warnings
from collections.abc import Hashable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
import pandas as pd
import xarray as xr

from brainscore_core.errors import UserError
from brainscore_core.files import replacing
from brainscore_core.supported_data_standards.brainio._encoding import RESERVED, Encoded, decode, encode, storable
from brainscore_core.supported_data_standards.brainio._levels import named_coords, ordered
from brainscore_core.supported_data_standards.brainio.assemblies import DataAssembly

if TYPE_CHECKING:
    import netCDF4

__all__ = ["read_netcdf", "write_netcdf"]

Assembly = TypeVar("Assembly", bound=DataAssembly)

_DATA = "data"
# what the library's own bookkeeping, or xarray, writes among the global attributes
_BOOKKEEPING = {"_NCProperties", "coordinates"}
# the name of a dimension's single coordinate was lost when older files were written; this is what it was called
_SINGLE = {"presentation": "stimulus_id", "neuroid": "neuroid_id"}
# the HDF5 library must not be used by two threads at once
_hdf5 = threading.RLock()


def write_netcdf(
    assembly: xr.DataArray,
    path: str | Path,
    *,
    compress: bool = True,
    extras: Mapping[str, xr.DataArray] | None = None,
) -> str:
    """Write an assembly into a netCDF file.

    The same assembly gives the same bytes, in any process and whatever the order of its coordinates. An existing
    file is replaced only when the new one is complete.

    Parameters
    ----------
    assembly : DataAssembly
        Values and coordinates are numbers, booleans, text or dates. Attributes that are text, numbers or lists of
        these are stored; a stimulus set is not, others not either, with a warning.
    path : str or Path
        The file; missing folders are made.
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
        Something cannot be stored; the message names it.

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
    import netCDF4

    path = Path(path)
    # everything that can go wrong with the data goes wrong before a file is touched
    prepared = _prepare(assembly)
    groups = {name: _prepare(extra) for name, extra in sorted((extras or {}).items())}
    for name in groups:
        if not name or "/" in name or name == _DATA:
            raise UserError(f"{name!r} cannot be the name of an extra assembly", remedy="choose one without '/'")
    with _hdf5, replacing(path) as stream:
        with netCDF4.Dataset(stream.name, "w", format="NETCDF4") as file:
            _write_group(file, *prepared, compress=compress)
            for name, (dims, variables, attrs) in groups.items():
                _write_group(file.createGroup(name), dims, variables, attrs, compress=compress)
        with open(stream.name, "rb") as written:
            return hashlib.file_digest(written, lambda: hashlib.sha1(usedforsecurity=False)).hexdigest()


_Prepared = tuple[dict[str, int], dict[str, tuple[tuple[str, ...], Encoded]], dict[str, Any]]


def _prepare(assembly: xr.DataArray) -> _Prepared:
    """Dimensions, variables and attributes.

    The data come first, then coordinates by name, but a start before its end: other readers take the time bins of
    assemblies as pairs of levels in the order of the file.
    """
    dims = {checked_name(dim, "dimension"): size for dim, size in assembly.sizes.items()}
    # a matrix of similarities may have the same dimension twice
    variables = {_DATA: (tuple(map(str, assembly.dims)), encode("the assembly's values", assembly.values))}
    coords = named_coords(assembly)
    for name in ordered(coords):
        variable = coords[name]
        text = checked_name(name, "coordinate")
        if text == _DATA:
            raise UserError("a coordinate cannot be called 'data' in a file", remedy="rename it")
        variables[text] = (tuple(map(str, variable.dims)), encode(f"coordinate {text!r}", variable.values))
    attrs: dict[str, Any] = {}
    for key, value in sorted(assembly.attrs.items(), key=lambda item: str(item[0])):
        stored = storable(value)
        if stored is not None and isinstance(key, str) and key not in _BOOKKEEPING:
            attrs[checked_name(key, "attribute")] = stored
        elif value is not None and not isinstance(value, pd.DataFrame):
            warnings.warn(f"attribute {key!r} ({type(value).__name__}) cannot be stored and is left out", stacklevel=3)
    if isinstance(assembly.name, str) and "name" not in assembly.attrs:
        attrs["name"] = assembly.name
    return dims, variables, attrs


def checked_name(name: Hashable, what: str) -> str:
    if not isinstance(name, str) or not name or "/" in name or name != name.strip() or not name.isprintable():
        raise UserError(f"{name!r} cannot be the name of a {what} in a file", remedy="use letters, digits and '_'")
    return name


def _write_group(
    group: "netCDF4.Dataset | netCDF4.Group",
    dims: Mapping[str, int],
    variables: Mapping[str, tuple[tuple[str, ...], Encoded]],
    attrs: Mapping[str, Any],
    *,
    compress: bool,
) -> None:
    for dim, size in dims.items():
        group.createDimension(dim, size)
    coordinates = [name for name in variables if name != _DATA and name not in dims]
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
        if text and not along:
            variable[...] = encoded.values.item()
        elif encoded.values.size:
            variable.set_auto_maskandscale(False)
            variable[...] = encoded.values
    group.setncatts(attrs)


def read_netcdf(path: str | Path, cls: type[Assembly] = DataAssembly, group: str | None = None) -> Assembly:  # type: ignore[assignment] # a TypeVar's default
    """Read an assembly from a netCDF file, of this project or of older ones.

    Parameters
    ----------
    path : str or Path
        The file. It is closed when this returns.
    cls : type
        Class of the assembly.
    group : str, optional
        Name of an extra assembly in the file.

    Returns
    -------
    DataAssembly
        Of class ``cls``, in memory.

    Raises
    ------
    UserError
        The file is missing, empty, damaged, or holds no assembly; the message names it.
    ValueError
        The assembly has other dimensions than its class.
    """
    import netCDF4

    path = Path(path)
    if not path.is_file():
        raise UserError(f"there is no file {path}", remedy="check the path, or fetch the file anew")
    if path.stat().st_size == 0:
        raise UserError(f"{path} is empty", remedy="fetch or write it anew")
    with _hdf5:
        try:
            with netCDF4.Dataset(str(path), "r") as file:
                assembly = _read_group(_find_group(file, group, path), cls, path)
        except (OSError, RuntimeError, AttributeError) as error:
            if isinstance(error, PermissionError):
                raise
            raise UserError(
                f"{path} cannot be read as netCDF ({error})", remedy="it is damaged or of another kind: fetch it anew"
            ) from error
    assembly.validate()
    return assembly


def _find_group(file: "netCDF4.Dataset", group: str | None, path: Path) -> Any:
    if group is None:
        return file
    if group not in file.groups:
        raise UserError(f"{path} has no group {group!r}", remedy=f"its groups are {list(file.groups)}")
    return file.groups[group]


def _read_group(group: Any, cls: type[Assembly], path: Path) -> Assembly:
    attributes = {name: _attributes(variable) for name, variable in group.variables.items()}
    name = _data_name(group, attributes, path)
    data = group.variables[name]
    dims, values = _read_variable(
        data, attributes[name], times="dtype" in attributes[name] or "calendar" in attributes[name]
    )
    coords = {}
    for other, variable in group.variables.items():
        if other != name:
            along, column = _read_variable(variable, attributes[other], times=True)
            if set(along) <= set(dims):
                coords[other] = (along, column)
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
    listed = {one for attrs in attributes.values() for one in str(attrs.get("coordinates", "")).split()}
    left = [name for name in group.variables if name not in listed and name not in group.dimensions]
    if len(left) > 1:  # coordinates whose names hold blanks are not listed
        left = [name for name in left if "coordinates" in attributes[name]] or left
    if len(left) != 1:
        raise UserError(
            f"{path} holds no assembly: it has no variable 'data', and {len(left)} others that could be it"
            + (f" ({', '.join(left)})" if left else ""),
            remedy="write it with write_netcdf, or pass the group that holds the assembly",
        )
    return left[0]


def _read_variable(variable: Any, attrs: Mapping[str, Any], *, times: bool) -> tuple[tuple[str, ...], np.ndarray]:
    variable.set_auto_maskandscale(False)
    variable.set_auto_chartostring(False)
    dims, values = variable.dimensions, variable[...]
    if values.dtype == "S1" if isinstance(values, np.ndarray) else False:  # text as older writers stored it
        import netCDF4

        dims, values = dims[:-1], netCDF4.chartostring(values, encoding="utf-8")
    values = np.asarray(values, dtype=object) if variable.dtype is str else np.asarray(values)
    return dims, decode(values, attrs, times=times)


def _restored(coords: dict[str, Any], dims: tuple[str, ...]) -> dict[str, Any]:
    """Give back the name of a dimension's single coordinate, stored as ``<dim>_`` by older writers."""
    restored = {}
    for name, (along, values) in coords.items():
        dim = name[:-1]
        if name.endswith("_") and along == (dim,) and dim in dims and dim not in coords:
            alone = sum(other == along for other, _ in coords.values()) == 1
            if alone:
                name = _SINGLE.get(dim, dim)
                name = name if name not in coords else dim
        restored[name] = (along, values)
    return restored
