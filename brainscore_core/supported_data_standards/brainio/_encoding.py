"""Values as netCDF stores them, and back."""

import re
from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import xarray as xr

from brainscore_core.errors import UserError

__all__ = ["RESERVED", "Encoded", "decode", "encode", "storable"]

#: attributes that say how values are stored, so that none of an assembly's own may be called so
RESERVED = frozenset({"_FillValue", "missing_value", "coordinates", "dtype", "scale_factor", "add_offset", "calendar"})

_NOT_A_TIME = np.iinfo(np.int64).min
_SINCE = re.compile(r"^\s*[a-z]+\s+since\s", re.IGNORECASE)
_UNITS = {"D": "days", "h": "hours", "m": "minutes", "s": "seconds", "ms": "milliseconds", "us": "microseconds"}


class Encoded(NamedTuple):
    """What is written: values, attributes that say how to read them, and the fill value (None: none)."""

    values: np.ndarray
    attrs: dict[str, Any]
    fill: Any = None


def encode(name: str, values: np.ndarray) -> Encoded:
    """Values as numbers or text.

    Raises
    ------
    UserError
        The values are of several types, or of one that netCDF does not know.
    """
    kind = values.dtype.kind
    if kind == "O":
        return _encode_objects(name, values)
    if kind == "f":
        if values.dtype.itemsize == 2:
            return Encoded(values.astype("f4"), {"dtype": "float16"}, np.float32(np.nan))
        if values.dtype.itemsize > 8:
            raise UserError(f"{name}: netCDF has no {values.dtype}", remedy="convert it to float64")
        return Encoded(values, {}, values.dtype.type(np.nan))
    if kind in "iu":
        return Encoded(values, {})
    if kind == "b":
        return Encoded(values.astype("i1"), {"dtype": "bool"})
    if kind in "UT":
        return Encoded(values.astype(object), {})
    if kind == "M":
        unit = np.datetime_data(values.dtype)[0]
        if unit not in _UNITS:  # nanoseconds; and months and years, which are no fixed time
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
    missing = pd.isna(values)
    present = values[~missing]
    types = {type(value) for value in present.ravel()}
    if all(issubclass(one, str) for one in types):
        return _encode_text(values, missing)
    if all(issubclass(one, bool | np.bool_) for one in types):
        return Encoded(
            np.where(missing, -1, values).astype("i1"), {"dtype": "bool"}, np.int8(-1) if missing.any() else None
        )
    if all(issubclass(one, int | np.integer) for one in types):
        if missing.any():
            return encode(name, np.where(missing, np.nan, values).astype(np.float64))
        return encode(name, values.astype(np.int64))
    if all(issubclass(one, int | float | np.integer | np.floating) and not issubclass(one, bool) for one in types):
        return encode(name, np.where(missing, np.nan, values).astype(np.float64))
    found = ", ".join(sorted(one.__name__ for one in types))
    raise UserError(
        f"{name}: values of several or unknown types ({found}) cannot be stored",
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
    """Values as they were before :func:`encode`; also as other writers follow the CF conventions.

    Parameters
    ----------
    values : array
        As stored.
    attrs : mapping
        Attributes of the variable.
    times : bool
        Whether ``units`` such as 'days since 2020-01-01' make dates of numbers.
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
    known = np.where(missing, 0, values)
    decoded = xr.decode_cf(xr.Dataset({"values": (tuple(f"d{i}" for i in range(values.ndim)), known, plain)}))
    dates: np.ndarray = decoded["values"].values
    if missing.any():
        dates = np.where(missing, np.datetime64("NaT"), dates)
    return dates


def storable(value: Any) -> Any:
    """Attribute as netCDF stores it: text, number, or a list of these; None where it cannot be stored."""
    if isinstance(value, bool | np.bool_):
        return np.int8(value)  # numbers are never stored so small: this is how a truth value is known again
    if isinstance(value, str):
        return str(value)
    if isinstance(value, int | np.integer):
        return np.int64(value) if -(2**63) <= int(value) < 2**63 else None
    if isinstance(value, float | np.floating):
        return np.float64(value)
    if isinstance(value, list | tuple | np.ndarray):
        array = np.asarray(value)
        if array.ndim != 1 or not array.size:
            return None
        if array.dtype.kind in "iu":
            return array.astype(np.int64)
        if array.dtype.kind == "f":
            return array.astype(np.float64)
        if all(isinstance(one, str) for one in array):
            return [str(one) for one in array]
    return None
