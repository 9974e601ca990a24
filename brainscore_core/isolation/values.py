"""Values as JSON and payloads, and the errors, warnings and notes that accompany an answer."""

from __future__ import annotations

import builtins
import io
import json
import math
import os
import warnings
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path, PurePath
from typing import Any, Literal, NamedTuple, NoReturn

import numpy as np
from numpy.lib import format as npy

from brainscore_core import errors
from brainscore_core.errors import NotApplicable, UserError
from brainscore_core.isolation.wire import (
    DTYPES,
    REPEATED,
    Buffer,
    WireError,
    anonymous_file,
    expect,
    parse,
    parts,
    read_npy,
    repeated,
    seal,
    text_array,
    too_much_text,
)
from brainscore_core.plugins import MissingRequirementError, PluginWarning
from brainscore_core.plugins.loading import LIBRARIES, is_absent
from brainscore_core.provenance import note
from brainscore_core.supported_data_standards.brainio import downloads

LARGE = 1 << 20  # bytes; larger arrays are sent as files
_INLINE = 32 << 20  # bytes of small arrays in one message; further ones are sent as files
_JSON = 256 << 20  # bytes of one payload of JSON
_PLAIN = {str, type(None), bool, int, float}
_NUMBERS = {"nan": math.nan, "inf": math.inf, "-inf": -math.inf}


class CannotTravel(UserError, TypeError):
    """A value that cannot be sent to another process."""


class Kind(NamedTuple):
    """A type that can be sent."""

    tag: str  # its name in messages
    type: type  # the type, subclasses included
    encode: Callable[[Encoder, Any], dict[str, Any]]  # encoder, value → dictionary of parts, which are encoded, too
    decode: Callable[[dict[str, Any]], Any]  # dictionary of decoded parts → value; raises `WireError` for invalid ones


class Encoded(dict[str, Any]):
    """A part that is encoded already."""


class Encoder:
    """Collects the payloads of one message.

    Types of `kinds` can be sent in addition to plain types and arrays. Arrays of more than `memory` bytes are written
    to disk.
    """

    def __init__(self, kinds: Sequence[Kind] = (), *, memory: int = 1 << 40) -> None:
        self.payloads: list[bytes | int] = []
        self._kinds = kinds
        self._memory = memory
        self._inline = 0

    def close(self) -> None:
        """Close the files."""
        for payload in self.payloads:
            if isinstance(payload, int):
                with suppress(OSError):
                    os.close(payload)
        self.payloads = []

    def encode(self, value: Any) -> Any:
        """Encode a value.

        Raises CannotTravel if it is, or contains, a value of a type that cannot be sent.
        """
        if value is None or isinstance(value, bool | Encoded):
            return value
        if isinstance(value, str):
            return str.__str__(value)
        if isinstance(value, np.generic):
            return {"~": "scalar", "of": self.array(np.asarray(value))}
        if isinstance(value, int):
            return int(value)
        if isinstance(value, float):
            return float(value) if math.isfinite(value) else {"~": "number", "is": _name_of(value)}
        if isinstance(value, list):
            return [self.encode(item) for item in value]
        if isinstance(value, tuple):
            return {"~": "tuple", "items": [self.encode(item) for item in value]}
        if isinstance(value, np.ndarray):
            return self.array(value)
        if isinstance(value, PurePath):
            return {"~": "path", "is": str(value)}
        for kind in self._kinds:
            if isinstance(value, kind.type):
                return {"~": kind.tag, **{name: self.encode(part) for name, part in kind.encode(self, value).items()}}
        if isinstance(value, Mapping):
            return self._mapping(value)
        return _refuse(f"a {type(value).__name__}")

    def _mapping(self, value: Mapping[Any, Any]) -> dict[str, Any]:
        if all(type(key) is str for key in value) and "~" not in value:
            return {key: self.encode(item) for key, item in value.items()}
        return {"~": "dict", "items": [[self.encode(key), self.encode(item)] for key, item in value.items()]}

    def array(self, values: np.ndarray) -> dict[str, Any]:
        """Encode an array; values that are repeated along an axis without a copy are sent once."""
        values = np.asarray(values)
        if values.dtype.kind in "UTO":
            return self._objects(values)
        if values.dtype.kind in "Mm":
            return {"~": "times", "dtype": values.dtype.str[1:], "of": self.array(values.view(np.int64))}
        if not values.dtype.isnative:
            values = values.astype(values.dtype.newbyteorder("="))
        if values.dtype not in DTYPES:
            _refuse(f"an array of {values.dtype}")
        shape, encoded = values.shape, {"~": "array"}
        if values.size:
            repeated = [axis for axis, step in enumerate(values.strides) if step == 0 and shape[axis] > 1]
            if math.prod(shape[axis] for axis in repeated) > REPEATED:  # more than a reader accepts
                values, repeated = np.array(values), []
            values = values[tuple(slice(1) if axis in repeated else slice(None) for axis in range(values.ndim))]
            # in the order of memory, so that computations on the copy round as those on the original
            order = sorted(range(values.ndim), key=lambda axis: -abs(values.strides[axis]))
            values = values.transpose(order)
            if order != sorted(order):
                encoded["order"] = order  # type: ignore[assignment] # JSON
            if repeated:
                encoded["shape"] = list(shape)  # type: ignore[assignment] # JSON
        return encoded | {"payload": self._npy(values)}

    def _npy(self, values: np.ndarray) -> int:
        if values.nbytes < LARGE and self._inline + values.nbytes < _INLINE:
            stream = io.BytesIO()
            npy.write_array(stream, values, version=(1, 0), allow_pickle=False)
            return self._add(stream.getvalue())
        descriptor = anonymous_file(values.nbytes + 4096, memory=self._memory)
        self.payloads.append(descriptor)
        with open(descriptor, "wb", closefd=False) as file:
            npy.write_array(file, values, version=(1, 0), allow_pickle=False)
        seal(descriptor)
        return len(self.payloads) - 1

    def _objects(self, values: np.ndarray) -> dict[str, Any]:
        items = [item.item() if isinstance(item, np.generic) else item for item in values.ravel().tolist()]
        if values.dtype.kind == "U" and too_much_text(items):
            _refuse(f"an array of {len(items)} texts of up to {max(map(len, items))} characters")
        plain = set(map(type, items)) <= _PLAIN
        return {
            "~": "objects",
            "text": values.dtype.kind == "U",
            "shape": list(values.shape),
            "plain": plain,
            "payload": self.json(items if plain else [self.encode(item) for item in items]),
        }

    def json(self, value: Any) -> int:
        """Put plain JSON types into a payload; return its number."""
        text = json.dumps(value, separators=(",", ":")).encode("ascii")
        if len(text) > _JSON:
            _refuse(f"text and objects of {len(text)} bytes in one array")
        if len(text) < LARGE and self._inline + len(text) < _INLINE:
            return self._add(text)
        descriptor = anonymous_file(len(text), memory=self._memory)
        self.payloads.append(descriptor)
        with open(descriptor, "wb", closefd=False) as file:
            file.write(text)
        seal(descriptor)
        return len(self.payloads) - 1

    def _add(self, content: bytes) -> int:
        self._inline += len(content)
        self.payloads.append(content)
        return len(self.payloads) - 1


class Decoder:
    """Reads what an `Encoder` wrote, and checks everything."""

    def __init__(self, payloads: Sequence[Buffer], kinds: Sequence[Kind] = ()) -> None:
        self._payloads = payloads
        self._read: set[int] = set()
        self._kinds = {kind.tag: kind for kind in kinds}

    def decode(self, value: Any) -> Any:
        """Decode a value.

        Raises WireError if an `Encoder` would not write it.
        """
        if isinstance(value, list):
            return [self.decode(item) for item in value]
        if not isinstance(value, dict):
            if isinstance(value, float) and not math.isfinite(value):
                raise WireError("a number that is not valid JSON")
            return value
        if "~" not in value:
            return {key: self.decode(item) for key, item in value.items()}
        tag, content = value["~"], {key: item for key, item in value.items() if key != "~"}
        if tag == "array":
            return self._array(content)
        if tag == "objects":
            return self._objects(content)
        content = {key: self.decode(item) for key, item in content.items()}
        if not isinstance(tag, str):
            raise WireError("a tag that is not text")
        return self._kinds[tag].decode(content) if tag in self._kinds else self._plain(tag, content)

    def _plain(self, tag: str, content: dict[str, Any]) -> Any:
        match tag:
            case "tuple":
                (items,) = parts(content, items=list)
                return tuple(items)
            case "dict":
                (items,) = parts(content, items=list)
                try:
                    return {key: item for key, item in items}  # noqa: C416 (pairs, not items of a dictionary)
                except (TypeError, ValueError) as error:
                    raise WireError("a dictionary with invalid items") from error
            case "number":
                (name,) = parts(content, **{"is": str})
                if name not in _NUMBERS:
                    raise WireError(f"{name[:40]!r} is not one of the numbers {', '.join(_NUMBERS)}")
                return _NUMBERS[name]
            case "path":
                return Path(*parts(content, **{"is": str}))
            case "scalar":
                (array,) = parts(content, of=np.ndarray)
                if array.shape != ():
                    raise WireError(f"a single value of shape {array.shape}")
                return array[()]
            case "times":
                name, array = parts(content, dtype=str, of=np.ndarray)
                try:
                    dtype = np.dtype(name)
                    if dtype.kind not in "Mm" or np.datetime_data(dtype)[0] == "generic" or array.dtype != np.int64:
                        raise WireError("invalid times")
                    return array.view(dtype)
                except (TypeError, ValueError) as error:
                    raise WireError(f"not a unit of time: {name[:40]!r}") from error
        raise WireError(f"an unknown kind of value: {tag[:40]!r}")

    def json(self, number: Any) -> Any:
        """Read plain JSON types from a payload."""
        content = self._payload(expect(number, int))
        if len(content) > _JSON:
            raise WireError(f"{len(content)} bytes of JSON, but only {_JSON} are allowed")
        return parse(content)

    def _payload(self, number: int) -> Buffer:
        if not 0 <= number < len(self._payloads):
            raise WireError(f"payload {number} does not exist; there are {len(self._payloads)}")
        if number in self._read:
            raise WireError(f"payload {number} is used twice")
        self._read.add(number)
        return self._payloads[number]

    def _array(self, content: dict[str, Any]) -> np.ndarray:
        content = {"order": None, "shape": None, **content}
        number, order, shape = parts(content, payload=int, order=object, shape=object)
        stored = read_npy(self._payload(number))
        axes = list(range(stored.ndim))
        order = axes if order is None else order
        if not isinstance(order, list) or sorted(order, key=repr) != sorted(axes, key=repr):
            raise WireError(f"not an order of {stored.ndim} axes")
        array = stored.transpose(np.argsort(order)) if order else stored
        return array if shape is None else repeated(array, _shape(shape))

    def _objects(self, content: dict[str, Any]) -> np.ndarray:
        text, sizes, plain, number = parts(content, text=bool, shape=list, plain=bool, payload=int)
        items = expect(self.json(number), list)
        if not plain:
            items = [self.decode(item) for item in items]
        elif not set(map(type, items)) <= _PLAIN:
            raise WireError("an array announced as plain values has other objects")
        shape = _shape(sizes)
        if math.prod(shape) != len(items):
            raise WireError(f"an array of shape {shape} has {len(items)} objects")
        array = text_array(items) if text else np.fromiter(items, dtype=object, count=len(items))
        return array.reshape(shape)


def _shape(value: Any) -> tuple[int, ...]:
    sizes = expect(value, list)
    if len(sizes) > 32 or not all(type(size) is int and 0 <= size < 1 << 40 for size in sizes):
        raise WireError("an impossible shape")
    return tuple(sizes)


def _name_of(value: float) -> str:
    return "nan" if math.isnan(value) else "inf" if value > 0 else "-inf"


def _refuse(value: str) -> NoReturn:
    raise CannotTravel(
        f"{value} cannot be sent to or from an isolated model",
        remedy="use numbers, booleans, text, arrays of these, lists, dictionaries, stimulus sets or assemblies",
    )


_seen: dict[Any, Any] = {}  # warnings that were shown, as each module keeps them
_MAX_SEEN = 1000
_MAX_NOTES = 10_000
_MAX_WARNINGS = 100
_MAX_CHARACTERS = 100_000  # of a warning
_MAX_LOCATION = 500
_USER_ERRORS: dict[str, type[UserError]] = {
    kind.__name__: kind
    for kind in (
        errors.DataUnavailable,
        errors.MissingColumn,
        errors.UnknownIdentifier,
        MissingRequirementError,
        downloads.AccessDenied,
        downloads.FetchError,
        downloads.HashMismatch,
        downloads.IncompleteDownload,
        downloads.NotFound,
        downloads.Offline,
        downloads.SeveralFailures,
        downloads.SeveralUnavailable,
        downloads.StorageError,
    )
}


def raise_error(name: str, error: Any) -> NoReturn:
    """Raise an error of an isolated model in this process.

    Raises NotApplicable, UserError or SubjectFailed with the traceback of the model's process as a note; WireError if
    the description of the error is invalid.
    """
    kind, type_name, message, remedy, trace = parts(
        error, kind=str, type=str, message=str, remedy=object, traceback=str
    )
    remedy = None if remedy is None else expect(remedy, str)
    raised: Exception
    if kind == "not applicable":
        raised = NotApplicable(message)
    elif kind == "user":
        raised = _USER_ERRORS.get(type_name, UserError)(message, remedy)
    elif kind in ("other", "memory"):
        failed = SubjectOutOfMemory if kind == "memory" else SubjectFailed
        raised = failed(f"the subject {name!r} raised {type_name}: {message}", cause="exception")
    else:
        raise WireError(f"an error of unknown kind: {kind[:40]!r}")
    raised.add_note(f"{_heading(type_name, message)}\n{trace}")
    raise raised


def _heading(type_name: str, message: str) -> str:
    """Say where an error occurred. That a library is missing here is checked, since a model may claim it."""
    package = message.partition(" is not installed")[0]
    if type_name == MissingRequirementError.__name__ and package in LIBRARIES and is_absent(package):
        return f"In the model's process, on a machine without {package}:"
    return "In the subject's process:"


def take_over(about: Any) -> int:
    """Repeat the notes and warnings of an isolated model in this process.

    Returns the highest resident memory of its process, in bytes.
    """
    notes, warned, peak = parts(about, notes=list, warnings=list, peak_bytes=int)
    if len(notes) > _MAX_NOTES:
        raise WireError(f"{len(notes)} notes, but only {_MAX_NOTES} are allowed")
    if len(warned) > _MAX_WARNINGS:
        raise WireError(f"{len(warned)} warnings, but only {_MAX_WARNINGS} are allowed")
    for item in notes:
        fields = dict(expect(item, dict))
        kind = expect(fields.pop("kind", None), str)
        if not kind:
            raise WireError("a note without a kind")
        note(kind, **fields)
    for item in warned:
        if not isinstance(item, list) or len(item) != 4:
            raise WireError("an invalid warning")
        message, names, file, line = item
        if len(expect(message, str)) > _MAX_CHARACTERS:
            raise WireError(f"a warning of {len(message)} characters, but only {_MAX_CHARACTERS} are allowed")
        if len(_seen) > _MAX_SEEN:
            _seen.clear()
        category = _category(expect(names, list))
        # in brackets, since showing a warning reads its source line, which could be in any file of this machine
        location = f"<{expect(file, str)[:_MAX_LOCATION]}>"
        warnings.warn_explicit(message, category, location, expect(line, int), registry=_seen)
    return int(peak)


def _category(names: list[Any]) -> type[Warning]:
    """Return the most specific category that this process knows."""
    for name in names:
        if name == "PluginWarning":
            return PluginWarning
        category = getattr(builtins, name, None) if isinstance(name, str) else None
        if isinstance(category, type) and issubclass(category, Warning):
            return category
    return UserWarning


Cause = Literal["start", "crash", "exit", "timeout", "output", "protocol", "exception"]


class SubjectFailed(UserError):
    """The process of an isolated model crashed, hung, printed too much, raised an error, or gave an invalid answer.

    Parameters
    ----------
    message : str
        The model, what its process did, and the end of what it printed.
    remedy : str, optional
        How to fix it.
    cause : str
        ``'start'``, ``'crash'`` (ended by a signal), ``'exit'``, ``'timeout'``, ``'output'`` (too much),
        ``'protocol'`` or ``'exception'`` (an error of the model, whose traceback is in the notes).
    """

    def __init__(self, message: str, remedy: str | None = None, *, cause: Cause = "exception") -> None:
        super().__init__(message, remedy)
        self.cause = cause


class SubjectOutOfMemory(SubjectFailed):
    """The process of an isolated model ran out of memory: it was killed, or raised an error that says so."""
