"""The published schema of receipts: validation, and migration of receipts of earlier versions."""

import json
import operator
import re
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from importlib import resources
from itertools import islice
from typing import Any

from brainscore_core.errors import UserError
from brainscore_core.strict_json import loads

_MOST_ERRORS = 100  # that are looked for: of a list of a million wrong items, each is one


class ReceiptError(UserError, ValueError):
    """A receipt that is not JSON, does not follow the schema, or was written by a newer version."""


Check = Callable[[Any], bool]
"""Whether a value made of plain JSON types follows the schema."""

_TYPES: dict[str, tuple[type, ...]] = {
    "object": (dict,),
    "array": (list,),
    "string": (str,),
    "boolean": (bool,),
    "null": (type(None),),
    "integer": (int,),
    "number": (int, float),
}
_ANNOTATIONS = {"$schema", "$id", "$defs", "title", "description"}


def quick_check(schema: Mapping[str, Any]) -> Check:
    """Compile a schema into a function.

    The schema is one of draft 2020-12, with the keywords that receipts need. Raises NotImplementedError if the schema
    uses another keyword, which would otherwise be ignored silently.

    Examples
    --------
    >>> check = quick_check({"type": "object", "properties": {"score": {"type": ["number", "null"], "minimum": 0}}})
    >>> check({"score": 0.5}), check({"score": -1}), check([])
    (True, False, False)
    """
    return _compile(schema, schema)


def _compile(schema: Mapping[str, Any], root: Mapping[str, Any]) -> Check:
    unknown = set(schema) - set(_KEYWORDS) - set(_ANNOTATIONS) - {"then", "else", "additionalProperties"}
    if unknown:
        raise NotImplementedError(f"keywords of the schema that cannot be checked: {', '.join(sorted(unknown))}")
    if "additionalProperties" in schema and "properties" not in schema:
        schema = {**schema, "properties": {}}
    checks = [make(schema, root) for keyword, make in _KEYWORDS.items() if keyword in schema]
    return checks[0] if len(checks) == 1 else _all(checks)


def _all(checks: Sequence[Check]) -> Check:
    def check(value: Any) -> bool:
        for check_part in checks:  # noqa: SIM110 - a generator is slower, and there are many receipts
            if not check_part(value):
                return False
        return True

    return check


def _type(schema: Mapping[str, Any], root: Mapping[str, Any]) -> Check:
    names = [schema["type"]] if isinstance(schema["type"], str) else schema["type"]
    allowed = frozenset(kind for name in names for kind in _TYPES[name])
    return lambda value: type(value) in allowed


def _const(schema: Mapping[str, Any], root: Mapping[str, Any]) -> Check:
    return _one_of_values([schema["const"]])


def _enum(schema: Mapping[str, Any], root: Mapping[str, Any]) -> Check:
    return _one_of_values(schema["enum"])


def _one_of_values(allowed: Sequence[Any]) -> Check:
    # compares types as well, since True equals 1 in Python
    return lambda value: any(type(value) is type(constant) and value == constant for constant in allowed)


def _pattern(schema: Mapping[str, Any], root: Mapping[str, Any]) -> Check:
    search = re.compile(schema["pattern"]).search
    return lambda value: not isinstance(value, str) or search(value) is not None


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _limit(
    keyword: str, applies: Callable[[Any], bool], holds: Callable[[Any, Any], bool]
) -> Callable[[Mapping[str, Any], Mapping[str, Any]], Check]:
    """Make the compiler of a keyword that limits some values."""

    def compile_limit(schema: Mapping[str, Any], root: Mapping[str, Any]) -> Check:
        limit = schema[keyword]
        return lambda value: not applies(value) or holds(value, limit)

    return compile_limit


def _items(schema: Mapping[str, Any], root: Mapping[str, Any]) -> Check:
    item = _compile(schema["items"], root)
    return lambda value: not isinstance(value, list) or all(item(entry) for entry in value)


def _required(schema: Mapping[str, Any], root: Mapping[str, Any]) -> Check:
    names = frozenset(schema["required"])
    return lambda value: not isinstance(value, dict) or names <= value.keys()


def _properties(schema: Mapping[str, Any], root: Mapping[str, Any]) -> Check:
    checks = {name: _compile(subschema, root) for name, subschema in schema["properties"].items()}
    additional = schema.get("additionalProperties", True)
    unknown = (lambda value: additional) if isinstance(additional, bool) else _compile(additional, root)

    def check(value: Any) -> bool:
        if not isinstance(value, dict):
            return True
        for name, entry in value.items():  # noqa: SIM110 - as above
            if not checks.get(name, unknown)(entry):
                return False
        return True

    return check


def _one_of(schema: Mapping[str, Any], root: Mapping[str, Any]) -> Check:
    choices = [_compile(subschema, root) for subschema in schema["oneOf"]]
    if len(choices) == 2:
        first, second = choices
        return lambda value: first(value) != second(value)
    return lambda value: sum(choice(value) for choice in choices) == 1


def _all_of(schema: Mapping[str, Any], root: Mapping[str, Any]) -> Check:
    return _all([_compile(subschema, root) for subschema in schema["allOf"]])


def _if(schema: Mapping[str, Any], root: Mapping[str, Any]) -> Check:
    condition = _compile(schema["if"], root)
    then, otherwise = _compile(schema.get("then", {}), root), _compile(schema.get("else", {}), root)
    return lambda value: then(value) if condition(value) else otherwise(value)


def _ref(schema: Mapping[str, Any], root: Mapping[str, Any]) -> Check:
    prefix, _, name = schema["$ref"].rpartition("/")
    if prefix != "#/$defs":
        raise NotImplementedError(f"{schema['$ref']!r} does not point to $defs")
    return _compile(root["$defs"][name], root)


_KEYWORDS: dict[str, Callable[[Mapping[str, Any], Mapping[str, Any]], Check]] = {
    "$ref": _ref,
    "type": _type,
    "const": _const,
    "enum": _enum,
    "pattern": _pattern,
    "minLength": _limit("minLength", lambda value: isinstance(value, str), lambda value, least: len(value) >= least),
    "minimum": _limit("minimum", _is_number, operator.ge),
    "exclusiveMinimum": _limit("exclusiveMinimum", _is_number, operator.gt),
    "exclusiveMaximum": _limit("exclusiveMaximum", _is_number, operator.lt),
    "minItems": _limit("minItems", lambda value: isinstance(value, list), lambda value, least: len(value) >= least),
    "maxItems": _limit("maxItems", lambda value: isinstance(value, list), lambda value, most: len(value) <= most),
    "items": _items,
    "required": _required,
    "properties": _properties,
    "oneOf": _one_of,
    "allOf": _all_of,
    "if": _if,
}


SCHEMA_VERSION = 4


def parse(text: str | bytes) -> Any:
    """Read JSON; raise a ReceiptError if the text is not strict JSON."""
    try:
        return loads(text)
    except (ValueError, RecursionError) as error:
        raise ReceiptError(f"not valid JSON: {error}") from error


def receipt_schema() -> dict[str, Any]:
    """JSON Schema (draft 2020-12) of the receipts that this version writes.

    Examples
    --------
    >>> receipt_schema()["properties"]["schema_version"]
    {'const': 4}
    """
    text = resources.files("brainscore_core.receipts").joinpath("receipt.schema.json").read_text(encoding="utf-8")
    schema: dict[str, Any] = json.loads(text)
    return schema


def validate(data: dict[str, Any], *, origin: str = "") -> None:
    """Check that a receipt follows the schema.

    The data are plain JSON types; `origin` is text after "not a valid receipt", such as ``" of version 1"``. Raises
    ReceiptError if it does not follow the schema; the message names the fields and their problems.
    """
    if not _quick()(data):
        _explain(data, origin)


def _explain(data: dict[str, Any], origin: str) -> None:
    """Raise an error that names what the schema rejects; the quick check may be stricter than the schema."""
    from jsonschema.exceptions import best_match

    errors = sorted(islice(_validator().iter_errors(data), _MOST_ERRORS), key=lambda error: error.json_path)
    if errors:
        # an error in one of several alternatives quotes the whole part; the actual problem is in its context
        causes = [best_match([error]) for error in errors[:5]]
        problems = "; ".join(f"{cause.json_path}: {cause.message[:200]}" for cause in causes)
        count = "many" if len(errors) == _MOST_ERRORS else len(errors) - 5
        more = f" (and {count} more)" if len(errors) > 5 else ""
        raise ReceiptError(f"not a valid receipt{origin}: {problems}{more}")


@lru_cache(maxsize=1)
def _quick() -> Check:
    return quick_check(receipt_schema())


@lru_cache(maxsize=1)
def _validator() -> Any:
    from jsonschema import Draft202012Validator

    return Draft202012Validator(receipt_schema())


Step = Callable[[dict[str, Any]], dict[str, Any]]

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
    if version > SCHEMA_VERSION:
        raise ReceiptError(
            f"written by a newer Brain-Score: schema version {version}, but this one reads up to {SCHEMA_VERSION}",
            remedy="upgrade: pip install --upgrade brainscore",
        )
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


STEPS: dict[int, Step] = {1: _from_1_to_2, 2: _from_2_to_3, 3: _from_3_to_4}
"""Version → function that migrates a receipt to the next version."""
