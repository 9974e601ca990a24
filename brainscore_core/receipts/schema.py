"""Published schemas of receipts and assessments: validation, migration of earlier versions, and typed records."""

import json
import math
import types
from collections.abc import Callable, Mapping
from dataclasses import MISSING, fields, is_dataclass
from datetime import UTC, datetime
from functools import cache, cached_property, partial
from hashlib import sha256
from importlib import resources
from itertools import islice
from typing import Any, TypeVar, get_args, get_origin, get_type_hints

from brainscore_core.errors import UserError
from brainscore_core.strict_json import dumps, loads

_MOST_ERRORS = 100  # that are looked for: of a list of a million wrong items, each is one


class ReceiptError(UserError, ValueError):
    """A receipt that is not JSON, does not follow the schema, or was written by a newer version."""


SCHEMA_VERSION = 4


def parse(text: str | bytes) -> Any:
    """Read JSON; raise a ReceiptError if the text is not strict JSON."""
    try:
        return loads(text)
    except (ValueError, RecursionError) as error:
        raise ReceiptError(f"not valid JSON: {error}") from error


class Schema:
    """A JSON Schema (draft 2020-12) of this package, by the name of what it describes."""

    def __init__(self, name: str) -> None:
        self.name = name

    def read(self) -> dict[str, Any]:
        """Read the schema."""
        file = resources.files("brainscore_core.receipts").joinpath(f"{self.name}.schema.json")
        schema: dict[str, Any] = json.loads(file.read_text(encoding="utf-8"))
        return schema

    def validate(self, data: Any, *, origin: str = "") -> None:
        """Check that plain JSON types follow the schema.

        `origin` is text after "not a valid receipt", such as ``" of version 1"``. Raises ReceiptError if they do not;
        the message names the fields and their problems.
        """
        try:
            if self._accepts(data):
                return
        except ValueError:  # a name that is not valid Unicode
            pass
        from jsonschema import Draft202012Validator
        from jsonschema.exceptions import best_match

        found = Draft202012Validator(self.read()).iter_errors(data)
        errors = sorted(islice(found, _MOST_ERRORS), key=lambda error: error.json_path)
        if errors:
            # an error in one of several alternatives quotes the whole part; the actual problem is in its context
            causes = [best_match([error]) for error in errors[:5]]
            problems = "; ".join(f"{cause.json_path}: {cause.message[:200]}" for cause in causes)
            count = "many" if len(errors) == _MOST_ERRORS else len(errors) - 5
            more = f" (and {count} more)" if len(errors) > 5 else ""
            raise ReceiptError(f"not a valid {self.name}{origin}: {problems}{more}")

    @cached_property
    def _accepts(self) -> Callable[[Any], bool]:
        """A fast check; there may be thousands of receipts."""
        from jsonschema_rs import validator_for

        return validator_for(self.read()).is_valid


RECEIPTS = Schema("receipt")
ASSESSMENTS = Schema("assessment")


def receipt_schema() -> dict[str, Any]:
    """JSON Schema (draft 2020-12) of the receipts that this version writes.

    Examples
    --------
    >>> receipt_schema()["properties"]["schema_version"]
    {'const': 4}
    """
    return RECEIPTS.read()


def refuse_newer(data: Any, newest: int) -> None:
    """Raise a ReceiptError if a version of the schema after `newest` wrote these data."""
    version = data.get("schema_version") if isinstance(data, dict) else None
    if isinstance(version, int) and version > newest:
        raise ReceiptError(
            f"written by a newer Brain-Score: schema version {version}, but this one reads up to {newest}",
            remedy="upgrade: pip install --upgrade brainscore",
        )


def identify(content: Mapping[str, Any], created: str) -> str:
    """Make an id: a time (UTC, ISO 8601), and the beginning of the hash of the content."""
    return f"{datetime.fromisoformat(created):%Y%m%dT%H%M%S%fZ}-{sha256(dumps(content).encode()).hexdigest()[:12]}"


def present_time() -> str:
    """The present time in UTC, ISO 8601, to the microsecond."""
    return f"{datetime.now(UTC):%Y-%m-%dT%H:%M:%S.%f}Z"


Record = TypeVar("Record")
_Reader = Callable[[Any, str], Any]  # of a value and its path

_TYPES: Mapping[Any, tuple[tuple[type, ...], str]] = {
    str: ((str,), "a text"),
    bool: ((bool,), "true or false"),
    int: ((int,), "a whole number"),
    float: ((int, float), "a number"),
    tuple: ((list, tuple), "a list"),
    Mapping: ((Mapping,), "an object"),
}


def mismatch(path: str, problem: str) -> ReceiptError:
    """Make the error for a field of an assessment."""
    return ReceiptError(f"not a valid assessment: {path} is {problem}")


def read(kind: type[Record], value: Any, path: str = "", *, checked: bool = True) -> Record:
    """Convert plain JSON types to a dataclass.

    A missing or null field has its default; fields that the class does not have are ignored. With `checked`, a field of
    another type is a ReceiptError, which names its place below `path`; data that follow a schema need no check.
    """
    record: Record = _reader(kind, checked)(value, path)  # type: ignore[arg-type] # classes are hashable
    return record


@cache
def _reader(kind: Any, checked: bool) -> _Reader:
    """Function that converts plain JSON values to a dataclass, or to the type of one of its fields."""
    origin, arguments = get_origin(kind), get_args(kind)
    if origin is types.UnionType:
        choices = [choice for choice in arguments if choice is not types.NoneType]
        return _reader(choices[0], checked) if len(choices) == 1 else _unchanged
    convert: _Reader = _unchanged
    if is_dataclass(kind):
        convert = _reader_of_record(kind, checked)  # type: ignore[arg-type] # a class
    elif kind == tuple[float, float]:
        convert = _reader_of_interval(checked)
    elif origin is tuple:
        item = _reader(arguments[0], checked)

        def items(value: Any, path: str) -> Any:
            return tuple(item(each, f"{path}[{number}]") for number, each in enumerate(value))

        convert = items
    elif checked and origin is Mapping:
        entry = _reader(arguments[1], checked)

        def entries(value: Any, path: str) -> Any:
            return {str(name): entry(each, f"{path}.{name:.40}") for name, each in value.items()}

        convert = entries
    elif checked and kind in (int, float):
        convert = partial(_number, kind)
    if not checked:
        return convert
    allowed, name = _TYPES[Mapping if is_dataclass(kind) else origin or kind]

    def check(value: Any, path: str) -> Any:
        if not isinstance(value, allowed) or (isinstance(value, bool) and kind is not bool):
            raise mismatch(path, f"{value!r:.40}, not {name}")
        return convert(value, path)

    return check


def _unchanged(value: Any, path: str) -> Any:
    return value


def _number(kind: type, value: Any, path: str) -> Any:
    if not abs(value) < (2**63 if kind is int else 1e300):
        raise mismatch(path, "too large a number" if value == value else "not a number")
    return kind(value)


def _reader_of_interval(checked: bool) -> _Reader:
    """Limits are null where there is none."""
    limit = _reader(float, checked)

    def limits(value: Any, path: str) -> tuple[float, float] | None:
        if checked and len(value) != 2:
            raise mismatch(path, f"{value!r:.40}, not two limits")
        low, high = (None if each is None else limit(each, path) for each in value)
        if checked and low is None and high is None:
            return None
        return -math.inf if low is None else low, math.inf if high is None else high

    return limits


def _reader_of_record(kind: type, checked: bool) -> _Reader:
    hints = get_type_hints(kind)
    readers = {field.name: _reader(hints[field.name], checked) for field in fields(kind)}
    optional = {name for name, hint in hints.items() if types.NoneType in get_args(hint)}
    required = {field.name for field in fields(kind) if field.default is MISSING and field.default_factory is MISSING}

    def record(data: Mapping[str, Any], path: str) -> Any:
        values = {}
        for name, convert in readers.items():
            value = data.get(name)
            if value is not None:
                values[name] = convert(value, f"{path}.{name}")
            elif name in required:
                if name not in optional:
                    raise mismatch(f"{path}.{name}", "missing")
                values[name] = None
        return kind(**values)

    return record


_NAN = "the benchmark returned NaN"  # default reason in receipts of version 1


def migrated(data: Any) -> dict[str, Any]:
    """Migrate a receipt to the present version of the schema.

    The data are plain JSON types of any version; those of the present version are returned unchanged. The result is not
    validated. Raises ReceiptError if it is not an object, or was written by a newer version.
    """
    if not isinstance(data, dict):
        raise ReceiptError(f"not a receipt: it must be a JSON object, not {type(data).__name__}")
    version = data.get("schema_version")
    if not isinstance(version, int) or isinstance(version, bool):
        return data  # the validation reports the problem
    refuse_newer(data, SCHEMA_VERSION)
    while version in STEPS:
        data = STEPS[version](data) | {"schema_version": version + 1}
        version += 1
    return data


def _from_1_to_2(data: dict[str, Any]) -> dict[str, Any]:
    """NaN becomes a state; add time of extraction, weights, run, platform code and threads."""
    new = {"weights": [], "run": None, **data}
    if _was_undefined(data):
        new["state"] = "undefined"
    if isinstance(data.get("timings"), dict):
        new["timings"] = {"extraction": None, **data["timings"]}
    if isinstance(data.get("environment"), dict):
        new["environment"] = {"code": None, "threads": None, **data["environment"]}
    return new


def _from_2_to_3(data: dict[str, Any]) -> dict[str, Any]:
    """Add the features that were recorded."""
    return {"features": [], **data}


def _from_3_to_4(data: dict[str, Any]) -> dict[str, Any]:
    """Add the visual angle of the model."""
    model = data.get("model")
    return data | {"model": {"visual_angle": None, **model}} if isinstance(model, dict) else data


def _was_undefined(data: Mapping[str, Any]) -> bool:
    # a model that is not applicable has no raw score and no attachments; a benchmark that returns NaN may have
    if data.get("state") != "not applicable":
        return False
    return data.get("raw") is not None or bool(data.get("attachments")) or data.get("reason") == _NAN


STEPS: dict[int, Callable[[dict[str, Any]], dict[str, Any]]] = {1: _from_1_to_2, 2: _from_2_to_3, 3: _from_3_to_4}
"""Version → function that migrates a receipt to the next version."""
