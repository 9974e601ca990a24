"""Results of functions that are kept in files or in memory: what plugins use of the package ``result_caching``.

The package belongs to brain-score 2.x. Where it is not installed, ``import result_caching`` finds this module
(:class:`StandInFinder`). Names and contents of files are those of the package, so that both read the same results.

``RESULTCACHING_HOME`` is the folder of the files (by default ``~/.result_caching``). ``RESULTCACHING_DISABLE`` and
``RESULTCACHING_CACHEDONLY`` are ``1``, or beginnings of function identifiers, separated by commas: results of these
functions are not kept, or must be there already.
"""

import itertools
import os
import pickle
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import wraps
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec
from importlib.util import spec_from_file_location
from inspect import signature
from pathlib import Path
from types import ModuleType
from typing import Any

from brainscore_core.errors import UserError
from brainscore_core.files import replacing

_NAME = "result_caching"


class StandInFinder(MetaPathFinder):
    """Finds this module as ``result_caching`` if no other finder finds a module of that name."""

    def find_spec(
        self, fullname: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """Specification of this module under the name of the package."""
        return spec_from_file_location(_NAME, __file__) if fullname == _NAME else None


def install_stand_in() -> None:
    """Let ``import result_caching`` find this module, unless the package is installed."""
    if not any(isinstance(finder, StandInFinder) for finder in sys.meta_path):
        sys.meta_path.append(StandInFinder())


class NotCachedError(Exception):
    """The result of a function is not stored, although ``RESULTCACHING_CACHEDONLY`` requires it."""


def is_iterable(value: Any) -> bool:
    """Whether a value can be iterated, and is not a text."""
    return isinstance(value, Iterable) and not isinstance(value, str)


def get_function_identifier(function: Callable[..., Any], call_args: Mapping[str, Any]) -> str:
    """Name of a call of a function.

    Examples
    --------
    >>> get_function_identifier(is_iterable, {"value": "a/b"}).rpartition(".")[2]
    'is_iterable/value=a_b'
    """
    names, arguments = [function.__module__, function.__name__], dict(call_args)
    if "self" in arguments:
        instance = arguments.pop("self")
        name = type(instance).__name__
        names.insert(1, name if "object at" in str(instance) else f"{name}({instance})")
    listed = ",".join(f"{key}={str(value).replace('/', '_')}" for key, value in arguments.items())
    return os.path.join(".".join(names), listed) if listed else ".".join(names)


def is_enabled(function_identifier: str) -> bool:
    """Whether results of a function are kept."""
    return not _is_listed(function_identifier, "RESULTCACHING_DISABLE")


def cached_only(function_identifier: str) -> bool:
    """Whether a function must not run, since its result has to be stored."""
    return _is_listed(function_identifier, "RESULTCACHING_CACHEDONLY")


def _is_listed(function_identifier: str, variable: str) -> bool:
    setting = os.environ.get(variable, "0")
    return setting == "1" or (setting != "" and function_identifier.startswith(tuple(setting.split(","))))


class _Memory:
    """Decorator that keeps results of a function in this process; arguments in `identifier_ignore` do not matter."""

    def __init__(self, identifier_ignore: Iterable[str] = ()) -> None:
        self.identifier_ignore = identifier_ignore
        self.cache: dict[str, Any] = {}

    def __call__(self, function: Callable[..., Any]) -> Callable[..., Any]:
        @wraps(function)
        def wrapper(*args: Any, **kwargs: Any) -> Any:
            bound = signature(function).bind(*args, **kwargs)
            bound.apply_defaults()
            identifier = self.get_function_identifier(function, bound.arguments)
            enabled = is_enabled(identifier)
            stored = self.load(identifier) if enabled and self.is_stored(identifier) else None
            missing = None if stored is None else self._missing(bound.arguments, stored[0])
            if stored is not None and not missing:
                return self._selected(bound.arguments, stored[0])
            if cached_only(identifier):
                raise NotCachedError(f"No result stored for {identifier!r}")
            result = function(**{**bound.arguments, **missing}) if missing else function(*args, **kwargs)
            if stored is not None:
                result = self._merged(stored[0], result)
            if absent := self._missing(bound.arguments, result):
                raise ValueError(f"result does not contain requested keys: {absent}")
            if enabled:
                self.save(result, identifier)
            return self._selected(bound.arguments, result)

        return wrapper

    def get_function_identifier(self, function: Callable[..., Any], call_args: Mapping[str, Any]) -> str:
        """Name of a call, without the arguments that do not matter."""
        kept = {name: value for name, value in call_args.items() if name not in self.identifier_ignore}
        return get_function_identifier(function, kept)

    def is_stored(self, function_identifier: str) -> bool:
        """Whether there is a result."""
        return function_identifier in self.cache

    def load(self, function_identifier: str) -> tuple[Any]:
        """The result, in a tuple since it may be None."""
        return (self.cache[function_identifier],)

    def save(self, result: Any, function_identifier: str) -> None:
        """Keep a result."""
        self.cache[function_identifier] = result

    def _missing(self, arguments: Mapping[str, Any], result: Any) -> dict[str, Any]:
        """Arguments of a call that computes what a result lacks; empty if it is complete."""
        return {}

    def _merged(self, stored: Any, result: Any) -> Any:
        raise NotImplementedError("only results that can be incomplete are merged")

    def _selected(self, arguments: Mapping[str, Any], result: Any) -> Any:
        return result


class _Disk(_Memory):
    """Decorator that keeps results of a function in files."""

    def __init__(self, identifier_ignore: Iterable[str] = ()) -> None:
        super().__init__(identifier_ignore)
        self._folder = os.path.expanduser(os.environ.get("RESULTCACHING_HOME", "~/.result_caching"))

    def storage_path(self, function_identifier: str) -> str:
        """The file of a result."""
        return os.path.join(self._folder, f"{function_identifier}.pkl")

    def is_stored(self, function_identifier: str) -> bool:
        """Whether there is a file with the result."""
        return os.path.isfile(self.storage_path(function_identifier))

    def load(self, function_identifier: str) -> tuple[Any]:
        """Read a result; files of earlier versions of pandas can be read, too."""
        import pandas as pd

        path = self.storage_path(function_identifier)
        try:
            return (pd.read_pickle(path)["data"],)  # noqa: S301 - the user's files
        except Exception as error:  # a damaged pickle can raise any
            raise UserError(
                f"the stored result {path} cannot be read: {type(error).__name__}: {error}",
                "remove the file; the result is then computed again",
            ) from error

    def save(self, result: Any, function_identifier: str) -> None:
        """Write a result."""
        with replacing(Path(self.storage_path(function_identifier))) as stream:
            pickle.dump({"data": result}, stream, protocol=pickle.HIGHEST_PROTOCOL)


class _Dicts(_Disk):
    """Decorator of a function that returns a dictionary with the keys in its argument `dict_key`; each is kept."""

    def __init__(self, dict_key: str, identifier_ignore: Iterable[str] = ()) -> None:
        super().__init__(identifier_ignore)
        self._dict_key = dict_key

    def _missing(self, arguments: Mapping[str, Any], result: Any) -> dict[str, Any]:
        absent = [key for key in arguments[self._dict_key] if key not in result]
        return {self._dict_key: absent} if absent else {}

    def _merged(self, stored: Any, result: Any) -> Any:
        return {**stored, **result}

    def _selected(self, arguments: Mapping[str, Any], result: Any) -> Any:
        return type(result)((key, result[key]) for key in arguments[self._dict_key])


class _Arrays(_Disk):
    """Decorator of a function that returns an array of xarray; values along coordinates are kept.

    `combine_fields` names the arguments that list values of coordinates, or maps them to the coordinates.
    """

    def __init__(
        self,
        combine_fields: Iterable[str] | Mapping[str, str],
        sub_fields: bool = False,
        map_field_values: Callable[[str, Any], Any] | None = None,
        map_field_values_inverse: Callable[[str, Any], Any] | None = None,
        identifier_ignore: Iterable[str] = (),
    ) -> None:
        if sub_fields:
            raise NotImplementedError(f"sub_fields of store_xarray: {_REMEDY}")
        super().__init__(identifier_ignore)
        fields = combine_fields if isinstance(combine_fields, Mapping) else {name: name for name in combine_fields}
        self._fields = dict(fields)
        self._to_values = map_field_values or (lambda key, value: value)
        self._from_values = map_field_values_inverse or (lambda key, value: value)

    def _requested(self, arguments: Mapping[str, Any]) -> dict[str, list[Any]]:
        """Coordinate → requested values."""
        return {
            coordinate: list(self._to_values(coordinate, arguments[argument]))
            for argument, coordinate in self._fields.items()
            if argument in arguments
        }

    def _missing(self, arguments: Mapping[str, Any], result: Any) -> dict[str, Any]:
        requested = self._requested(arguments)
        absent = [
            values
            for values in itertools.product(*requested.values())
            if 0 in _chosen(result, {name: [value] for name, value in zip(requested, values, strict=True)}).shape
        ]
        columns = dict(zip(requested, zip(*absent, strict=True), strict=True)) if absent else {}
        argument_of = {coordinate: argument for argument, coordinate in self._fields.items()}
        return {
            argument_of[name]: self._from_values(name, list(dict.fromkeys(values))) for name, values in columns.items()
        }

    def _merged(self, stored: Any, result: Any) -> Any:
        import xarray as xr

        both = [array.rename("z") for array in (stored, result)]
        merged = xr.merge(both, join="outer", compat="no_conflicts")["z"].rename(None)
        return type(stored)(merged)

    def _selected(self, arguments: Mapping[str, Any], result: Any) -> Any:
        return _chosen(result, self._requested(arguments))


def _chosen(array: Any, requested: Mapping[str, Sequence[Any]]) -> Any:
    """The part of an array with these values of coordinates, in their order."""
    import numpy as np

    for name, values in requested.items():
        (dimension,) = array[name].dims
        present = array[name].values
        positions = [np.flatnonzero([entry == value for entry in present]) for value in values]
        array = array.isel({dimension: np.concatenate([*positions, np.empty(0, dtype=int)]).astype(int)})
    return array


cache = _Memory
store = _Disk
store_dict = _Dicts
store_xarray = _Arrays

_REMEDY = "install the package itself: python -m pip install result-caching"


def __getattr__(name: str) -> Any:
    if name in ("store_netcdf", "store_xarray_s3", "get_calling_function", "log_outcome"):
        raise AttributeError(f"{name}: {_REMEDY}")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
