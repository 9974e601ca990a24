"""Encode tables of stimuli and assemblies by their columns, coordinates and indexes."""

from __future__ import annotations

import re
import warnings
from collections.abc import Hashable, Iterable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import xarray as xr
from xarray.indexes import PandasIndex, PandasMultiIndex

from brainscore_core.isolation.values import CannotTravel, Decoder, Encoder, Kind, expect, only
from brainscore_core.isolation.wire import WireError
from brainscore_core.supported_data_standards.brainio.assemblies import ASSEMBLY_CLASSES
from brainscore_core.supported_data_standards.brainio.stimuli import StimulusSet

_EXTENSION = re.compile(r"(U?Int|Float)\d+|boolean|string.*|str")  # pandas types that can be created from a list
_SCALARS = (str, int, float, bool, type(None), np.generic)


# -- tables ------------------------------------------------------------------------------------------------------


def _encode_table(encoder: Encoder, table: pd.DataFrame) -> dict[str, Any]:
    index: Any = table.index
    plain_index = isinstance(index, pd.RangeIndex)
    return {
        "stimuli": isinstance(table, StimulusSet),
        "names": encoder.encode(list(table.columns)),
        "columns": [
            _encode_column(encoder, name, table.iloc[:, position]) for position, name in enumerate(table.columns)
        ],
        "index": [index.start, index.stop, index.step] if plain_index else _encode_column(encoder, "index", index),
        "rows": len(table),
        "about": _encode_about(encoder, table) if isinstance(table, StimulusSet) else {},
    }


def _encode_about(encoder: Encoder, stimuli: StimulusSet) -> dict[str, Any]:
    about: dict[str, Any] = {} if stimuli.identifier is None else {"identifier": str(stimuli.identifier)}
    for name in ("stimulus_paths", "original_paths"):
        paths = getattr(stimuli, name)
        if paths is not None:  # two arrays are faster than many single values
            files = [str(path) for path in paths.values()]
            about[name] = [
                encoder.array(np.fromiter(column, dtype=object, count=len(paths))) for column in (paths, files)
            ]
    return about


def _encode_column(encoder: Encoder, name: Hashable, column: Any) -> dict[str, Any]:
    dtype = column.dtype
    if isinstance(dtype, pd.CategoricalDtype):
        codes: Any = getattr(column, "cat", column).codes  # of an index or a column
        return {
            "as": "category",
            "ordered": bool(dtype.ordered),
            "categories": _encode_column(encoder, name, dtype.categories),
            "codes": encoder.array(np.asarray(codes)),
        }
    if isinstance(dtype, np.dtype):
        values: Any = column.to_numpy()
        try:
            return {"as": "plain", "values": encoder.array(values)}
        except CannotTravel as error:
            raise CannotTravel(f"column {name!r}: {error.message}", error.remedy) from error
    if not _EXTENSION.fullmatch(str(dtype)):
        raise CannotTravel(
            f"column {name!r} is of type {dtype}, which cannot be sent to an isolated model",
            remedy=f"convert it, for instance with stimuli[{name!r}].astype(str)",
        )
    values = column.astype(object).to_numpy()
    filled: Any = np.where(pd.isna(values), None, values)
    return {"as": str(dtype), "values": encoder.array(filled)}


def _decode_table(decoder: Decoder, content: dict[str, Any]) -> pd.DataFrame:
    content = only(content, "stimuli", "names", "columns", "index", "rows", "about")
    names, columns = decoder.decode(content["names"]), expect(content["columns"], list)
    rows = expect(content["rows"], int)
    if not isinstance(names, list) or len(names) != len(columns):
        raise WireError("the names of a table do not match its columns")
    if not all(isinstance(name, (*_SCALARS, tuple)) for name in names):
        raise WireError("invalid names of columns")
    decoded = [_decode_column(decoder, column) for column in columns]
    if any(len(column) != rows for column in decoded):
        raise WireError("a table whose columns are not equally long")
    index = content["index"]
    try:
        if isinstance(index, list):
            start, stop, step = (expect(number, int) for number in index)
            row_index: Any = pd.RangeIndex(start, stop, step)
        else:
            row_index = _level(decoder, index)
        table = pd.DataFrame(dict(enumerate(decoded)), index=pd.RangeIndex(rows))
        table.index = row_index
        table.columns = pd.Index(names, tupleize_cols=False)
    except (TypeError, ValueError) as error:
        raise WireError(f"not a table: {error}") from error
    return _about(decoder, StimulusSet(table), content["about"]) if expect(content["stimuli"], bool) else table


def _about(decoder: Decoder, stimuli: StimulusSet, about: Any) -> StimulusSet:
    about = expect(about, dict)
    only(about, "identifier", "stimulus_paths", "original_paths")
    if "identifier" in about:
        stimuli.identifier = expect(about["identifier"], str)
    for name in ("stimulus_paths", "original_paths"):
        if name in about:
            arrays = [decoder.array(texts) for texts in expect(about[name], list)]
            if [array.ndim for array in arrays] != [1, 1]:
                raise WireError("paths must be two columns")
            ids, files = (array.tolist() for array in arrays)
            if len(ids) != len(files) or not set(map(type, files)) <= {str}:
                raise WireError("invalid paths")
            setattr(stimuli, name, _mapping(ids, [Path(file) for file in files]))
    return stimuli


def _mapping(keys: list[Any], values: list[Any]) -> dict[Any, Any]:
    try:
        return dict(zip(keys, values, strict=True))
    except TypeError as error:
        raise WireError("invalid keys") from error


def _decode_column(decoder: Decoder, column: Any) -> Any:
    column = only(expect(column, dict), "as", "values", "ordered", "categories", "codes")
    how = expect(column["as"], str)
    try:
        if how == "category":
            categories = pd.Index(_decode_column(decoder, column["categories"]))
            return pd.Categorical.from_codes(
                decoder.array(column["codes"]),
                categories=categories,
                ordered=expect(column["ordered"], bool),
            )
        values = decoder.array(column["values"])
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
    return {
        "class": _class_name(assembly),
        "name": encoder.encode(assembly.name),
        "dims": encoder.encode(list(assembly.dims)),
        "values": encoder.array(assembly.variable.values),
        "order": encoder.encode(list(coords)),
        "indexes": indexes,
        "coords": [
            [encoder.encode(name), encoder.encode(list(variable.dims)), encoder.array(variable.values)]
            for name, variable in coords.items()
            if name not in indexed
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
    return {"~": "dict", "items": [[name, value] for name, value in encoded.items()]}


def _class_name(assembly: xr.DataArray) -> str:
    for kind in type(assembly).__mro__:
        if ASSEMBLY_CLASSES.get(kind.__name__) is kind:
            return kind.__name__
    return "DataArray"


def _encode_levels(encoder: Encoder, index: PandasMultiIndex) -> dict[str, Any]:
    multi_index: Any = index.index
    if any(len(level) > len(multi_index) for level in multi_index.levels):
        multi_index = multi_index.remove_unused_levels()
    return {
        "dim": index.dim,
        "names": encoder.encode(list(multi_index.names)),
        "levels": [
            _encode_column(encoder, name, level)
            for name, level in zip(multi_index.names, multi_index.levels, strict=True)
        ],
        "codes": [encoder.array(np.asarray(codes)) for codes in multi_index.codes],
        "types": [_type_name(index.level_coords_dtype[name]) for name in multi_index.names],
    }


def _type_name(dtype: Any) -> str:
    return str(dtype) if isinstance(dtype, np.dtype) else "object"


def _decode_assembly(decoder: Decoder, content: dict[str, Any]) -> xr.DataArray:
    content = only(content, "class", "name", "dims", "values", "order", "indexes", "coords", "attrs")
    cls = {**ASSEMBLY_CLASSES, "DataArray": xr.DataArray}.get(expect(content["class"], str))
    if cls is None:
        raise WireError(f"an assembly of the unknown class {content['class'][:40]!r}")
    values, dims = decoder.array(content["values"]), _names(content["dims"])
    if values.ndim != len(dims):
        raise WireError(f"{len(dims)} dimensions for an array of {values.ndim}")
    attrs = decoder.decode(expect(content["attrs"], dict))
    if not isinstance(attrs, dict):
        raise WireError("invalid attributes")
    name = decoder.decode(content["name"])
    if not isinstance(name, str | type(None)):
        raise WireError("the name of an assembly is not text")
    sizes = dict(zip(dims, values.shape, strict=True))
    variables: dict[Hashable, xr.Variable] = {}
    indexes: dict[Hashable, Any] = {}
    try:
        for encoded in expect(content["indexes"], list):
            index = _decode_index(decoder, encoded)
            index_variables = index.create_variables()
            variables |= index_variables
            indexes |= dict.fromkeys(index_variables, index)
        for encoded in expect(content["coords"], list):
            coordinate, along, column = expect(encoded, list)
            variables[expect(coordinate, str)] = xr.Variable(_names(along), decoder.array(column))
        _check(variables, sizes)
        ordered = {expect(key, str): variables.pop(key) for key in expect(content["order"], list)} | variables
        variable = xr.Variable(dims, values, attrs)
        return cls(variable, coords=ordered, name=name, indexes=indexes, fastpath=True)
    except (TypeError, ValueError, KeyError) as error:
        raise WireError(f"not an assembly: {error}") from error


def _decode_index(decoder: Decoder, content: Any) -> PandasIndex | PandasMultiIndex:
    content = only(expect(content, dict), "dim", "name", "values", "names", "levels", "codes", "types")
    dim = expect(content["dim"], str)
    if "names" not in content:
        values = _level(decoder, content["values"])
        values.name = expect(content["name"], str)
        return PandasIndex(values, dim)
    names, types = _names(content["names"]), expect(content["types"], list)
    codes = [decoder.array(numbers) for numbers in expect(content["codes"], list)]
    if any(numbers.dtype.kind not in "iu" or numbers.ndim != 1 for numbers in codes) or len(set(map(len, codes))) != 1:
        raise WireError("invalid codes of levels")
    levels: Any = [_level(decoder, level) for level in expect(content["levels"], list)]
    index: Any = pd.MultiIndex(levels, codes, names=names, verify_integrity=True)  # type: ignore[arg-type] # stubs: any sequence
    if len(names) != len(types) or dim in names:
        raise WireError("levels without types, or with the name of their dimension")
    return PandasMultiIndex(index, dim, {name: _dtype(type_name) for name, type_name in zip(names, types, strict=True)})


def _level(decoder: Decoder, column: Any) -> pd.Index:
    values = _decode_column(decoder, column)
    if not isinstance(values, pd.Series) or any(not isinstance(value, _SCALARS) for value in _objects_of(values)):
        raise WireError("a level whose values are not single values")
    return pd.Index(values, dtype=values.dtype, tupleize_cols=False)


def _objects_of(values: pd.Series) -> Iterable[Any]:
    return values.tolist() if values.dtype == object else ()


def _dtype(name: Any) -> np.dtype[Any]:
    dtype = np.dtype(expect(name, str))
    if dtype.kind not in "biufMmOU":
        raise WireError(f"a level of type {dtype}")
    return dtype


def _names(value: Any) -> list[str]:
    names = expect(value, list)
    if not all(type(name) is str for name in names) or len(set(names)) != len(names):
        raise WireError("invalid or duplicate names")
    return names


def _check(variables: dict[Hashable, xr.Variable], sizes: dict[str, int]) -> None:
    for name, variable in variables.items():
        for dim, size in zip(variable.dims, variable.shape, strict=True):
            if sizes.get(str(dim)) != size:
                raise WireError(f"coordinate {str(name)[:40]!r} does not fit the dimension {str(dim)[:40]!r}")


KINDS = (
    Kind("assembly", xr.DataArray, _encode_assembly, _decode_assembly),
    Kind("table", pd.DataFrame, _encode_table, _decode_table),
)
