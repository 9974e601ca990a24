"""Encode tables of stimuli and assemblies by their columns, coordinates and indexes."""

from __future__ import annotations

import re
import warnings
from collections.abc import Hashable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import xarray as xr
from xarray.indexes import PandasIndex, PandasMultiIndex

from brainscore_core.isolation.values import CannotTravel, Encoded, Encoder, Kind
from brainscore_core.isolation.wire import WireError, expect, parts
from brainscore_core.supported_data_standards.brainio.assemblies import ASSEMBLY_CLASSES
from brainscore_core.supported_data_standards.brainio.stimuli import StimulusSet

_EXTENSION = re.compile(r"(U?Int|Float)\d+|boolean|string.*|str")  # pandas types that can be created from a list
_SCALARS = (str, int, float, bool, type(None), np.generic)


# -- tables ------------------------------------------------------------------------------------------------------


def _encode_table(encoder: Encoder, table: pd.DataFrame) -> dict[str, Any]:
    index: Any = table.index
    plain_index = isinstance(index, pd.RangeIndex)
    return {
        "stimuli": _encode_about(table) if isinstance(table, StimulusSet) else None,
        "names": list(table.columns),
        "columns": [
            _encode_column(encoder, name, table.iloc[:, position]) for position, name in enumerate(table.columns)
        ],
        "index": [index.start, index.stop, index.step] if plain_index else _encode_column(encoder, "index", index),
        "rows": len(table),
    }


def _encode_about(stimuli: StimulusSet) -> dict[str, Any]:
    about: dict[str, Any] = {"identifier": None if stimuli.identifier is None else str(stimuli.identifier)}
    for name in ("stimulus_paths", "original_paths"):
        paths = getattr(stimuli, name)
        columns = [] if paths is None else [paths, [str(path) for path in paths.values()]]
        # two arrays are faster than many single values
        about[name] = [np.fromiter(column, dtype=object, count=len(paths)) for column in columns]
    return about


def _encode_column(encoder: Encoder, name: Hashable, column: Any) -> dict[str, Any]:
    dtype = column.dtype
    if isinstance(dtype, pd.CategoricalDtype):
        codes: Any = getattr(column, "cat", column).codes  # of an index or a column
        return {
            "type": "category",
            "ordered": bool(dtype.ordered),
            "categories": _encode_column(encoder, name, dtype.categories),
            "codes": np.asarray(codes),
        }
    if isinstance(dtype, np.dtype):
        values: Any = column.to_numpy()
        try:
            return {"type": "plain", "values": Encoded(encoder.array(values))}
        except CannotTravel as error:
            raise CannotTravel(f"column {name!r}: {error.message}", error.remedy) from error
    if not _EXTENSION.fullmatch(str(dtype)):
        raise CannotTravel(
            f"column {name!r} is of type {dtype}, which cannot be sent to an isolated model",
            remedy=f"convert it, for instance with stimuli[{name!r}].astype(str)",
        )
    values = column.astype(object).to_numpy()
    filled: Any = np.where(pd.isna(values), None, values)
    return {"type": str(dtype), "values": filled}


def _decode_table(content: dict[str, Any]) -> pd.DataFrame:
    stimuli, names, columns, index, rows = parts(
        content, stimuli=object, names=list, columns=list, index=object, rows=int
    )
    if len(names) != len(columns):
        raise WireError("the names of a table do not match its columns")
    if not all(isinstance(name, (*_SCALARS, tuple)) for name in names):
        raise WireError("invalid names of columns")
    decoded = [_decode_column(column) for column in columns]
    if any(len(column) != rows for column in decoded):
        raise WireError("a table whose columns are not equally long")
    try:
        if isinstance(index, list):
            start, stop, step = (expect(number, int) for number in index)
            row_index: Any = pd.RangeIndex(start, stop, step)
        else:
            row_index = _level(index)
        table = pd.DataFrame(dict(enumerate(decoded)), index=pd.RangeIndex(rows))
        table.index = row_index
        table.columns = pd.Index(names, tupleize_cols=False)
    except (TypeError, ValueError) as error:
        raise WireError(f"not a table: {error}") from error
    return table if stimuli is None else _about(StimulusSet(table), stimuli)


def _about(stimuli: StimulusSet, about: Any) -> StimulusSet:
    identifier, *columns = parts(about, identifier=object, stimulus_paths=list, original_paths=list)
    if identifier is not None:
        stimuli.identifier = expect(identifier, str)
    for name, arrays in zip(("stimulus_paths", "original_paths"), columns, strict=True):
        if arrays:
            if [type(array) is np.ndarray and array.ndim for array in arrays] != [1, 1]:
                raise WireError("paths must be two columns")
            ids, files = (array.tolist() for array in arrays)
            if len(ids) != len(files) or not set(map(type, files)) <= {str}:
                raise WireError("invalid paths")
            try:
                setattr(stimuli, name, dict(zip(ids, map(Path, files), strict=True)))
            except TypeError as error:
                raise WireError("invalid keys") from error
    return stimuli


def _decode_column(column: Any) -> Any:
    column = expect(column, dict)
    try:
        if column.get("type") == "category":
            _, ordered, categories, codes = parts(column, type=str, ordered=bool, categories=dict, codes=np.ndarray)
            return pd.Categorical.from_codes(codes, categories=pd.Index(_decode_column(categories)), ordered=ordered)
        how, values = parts(column, type=str, values=np.ndarray)
        if values.ndim != 1:
            raise WireError(f"a column of {values.ndim} dimensions")
        if how == "plain":
            return pd.Series(values, dtype=values.dtype)
        if not _EXTENSION.fullmatch(how):
            raise WireError("a column of unknown type")
        return pd.Series(values.tolist(), dtype=how)
    except (TypeError, ValueError) as error:
        raise WireError(f"not a column: {error}") from error


# -- assemblies --------------------------------------------------------------------------------------------------


def _encode_assembly(encoder: Encoder, assembly: xr.DataArray) -> dict[str, Any]:
    indexes, indexed = [], set()
    for index, variables in assembly.xindexes.group_by_index():
        if isinstance(index, PandasMultiIndex):
            indexes.append(_encode_levels(encoder, index))
        elif isinstance(index, PandasIndex):
            (name,) = variables
            indexes.append({"dim": index.dim, "name": name, "values": _encode_column(encoder, str(name), index.index)})
        else:
            raise CannotTravel(
                f"an index of type {type(index).__name__} cannot be sent to or from an isolated model",
                remedy="reset it: assembly.reset_index(…)",
            )
        indexed |= set(variables)
    coords = assembly.coords.variables
    classes = (kind.__name__ for kind in type(assembly).__mro__ if ASSEMBLY_CLASSES.get(kind.__name__) is kind)
    return {
        "kind": next(classes, "DataArray"),
        "name": assembly.name,
        "dims": list(assembly.dims),
        "values": assembly.variable.values,
        "order": list(coords),
        "indexes": indexes,
        "coords": [
            [name, list(variable.dims), variable.values] for name, variable in coords.items() if name not in indexed
        ],
        "attrs": _encode_attrs(encoder, assembly),
    }


def _encode_attrs(encoder: Encoder, assembly: xr.DataArray) -> dict[str, Any]:
    encoded = {}
    for name, value in assembly.attrs.items():
        try:
            encoded[str(name)] = encoder.encode(value)
        except CannotTravel as error:
            warnings.warn(f"attribute {name!r} is left out: {error.message}", stacklevel=2)
    return Encoded({"~": "dict", "items": [[name, value] for name, value in encoded.items()]})


def _encode_levels(encoder: Encoder, index: PandasMultiIndex) -> dict[str, Any]:
    multi_index: Any = index.index
    if any(len(level) > len(multi_index) for level in multi_index.levels):
        multi_index = multi_index.remove_unused_levels()
    names = list(multi_index.names)
    types = [index.level_coords_dtype[name] for name in names]
    return {
        "dim": index.dim,
        "names": names,
        "levels": [_encode_column(encoder, name, level) for name, level in zip(names, multi_index.levels, strict=True)],
        "codes": [np.asarray(codes) for codes in multi_index.codes],
        "types": [str(dtype) if isinstance(dtype, np.dtype) else "object" for dtype in types],
    }


def _decode_assembly(content: dict[str, Any]) -> xr.DataArray:
    kind, name, dims, values, order, encoded, coords, attrs = parts(
        content, kind=str, name=object, dims=list, values=np.ndarray, order=list, indexes=list, coords=list, attrs=dict
    )
    cls = {**ASSEMBLY_CLASSES, "DataArray": xr.DataArray}.get(kind)
    if cls is None:
        raise WireError(f"an assembly of the unknown class {kind[:40]!r}")
    if values.ndim != len(_names(dims)):
        raise WireError(f"{len(dims)} dimensions for an array of {values.ndim}")
    if not isinstance(name, str | None):
        raise WireError("the name of an assembly is not text")
    sizes = dict(zip(dims, values.shape, strict=True))
    variables: dict[Hashable, xr.Variable] = {}
    indexes: dict[Hashable, Any] = {}
    try:
        for index in map(_decode_index, encoded):
            index_variables = index.create_variables()
            variables |= index_variables
            indexes |= dict.fromkeys(index_variables, index)
        for coordinate, along, column in coords:
            variables[expect(coordinate, str)] = xr.Variable(_names(along), expect(column, np.ndarray))
        for coordinate, variable in variables.items():
            if any(sizes.get(str(dim)) != size for dim, size in zip(variable.dims, variable.shape, strict=True)):
                raise WireError(f"coordinate {str(coordinate)[:40]!r} does not fit the dimensions")
        ordered = {expect(key, str): variables.pop(key) for key in order} | variables
        return cls(xr.Variable(dims, values, attrs), coords=ordered, name=name, indexes=indexes, fastpath=True)
    except (TypeError, ValueError, KeyError) as error:
        raise WireError(f"not an assembly: {error}") from error


def _decode_index(content: Any) -> PandasIndex | PandasMultiIndex:
    if "names" not in expect(content, dict):
        dim, name, column = parts(content, dim=str, name=str, values=dict)
        values = _level(column)
        values.name = name
        return PandasIndex(values, dim)
    dim, names, levels, codes, types = parts(content, dim=str, names=list, levels=list, codes=list, types=list)
    numbers = [expect(column, np.ndarray) for column in codes]
    if any(column.dtype.kind not in "iu" or column.ndim != 1 for column in numbers) or len(set(map(len, codes))) != 1:
        raise WireError("invalid codes of levels")
    indexes: Any = [_level(level) for level in levels]
    index: Any = pd.MultiIndex(indexes, codes, names=_names(names), verify_integrity=True)
    if len(names) != len(types) or dim in names:
        raise WireError("levels without types, or with the name of their dimension")
    dtypes = {name: np.dtype(expect(type_name, str)) for name, type_name in zip(names, types, strict=True)}
    if any(dtype.kind not in "biufMmOU" for dtype in dtypes.values()):
        raise WireError("a level of an invalid type")
    return PandasMultiIndex(index, dim, dtypes)


def _level(column: Any) -> pd.Index:
    values = _decode_column(column)
    single = isinstance(values, pd.Series) and (
        values.dtype != object or all(isinstance(value, _SCALARS) for value in values.tolist())
    )
    if not single:
        raise WireError("a level whose values are not single values")
    return pd.Index(values, dtype=values.dtype, tupleize_cols=False)


def _names(value: Any) -> list[str]:
    names = expect(value, list)
    if not all(type(name) is str for name in names) or len(set(names)) != len(names):
        raise WireError("invalid or duplicate names")
    return names


KINDS = (
    Kind("assembly", xr.DataArray, _encode_assembly, _decode_assembly),
    Kind("table", pd.DataFrame, _encode_table, _decode_table),
)
