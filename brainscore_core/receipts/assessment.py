"""Receipts of assessments: what a benchmark's scores are worth, and how this was computed."""

import json
from dataclasses import asdict, dataclass, field, replace
from datetime import UTC, datetime
from functools import lru_cache
from hashlib import sha256
from importlib import resources
from typing import Any, Literal, Self

from brainscore_core.receipts.assessment_results import Result, result_of
from brainscore_core.receipts.receipt import ErrorInfo
from brainscore_core.receipts.schema import Check, ReceiptError, parse, quick_check
from brainscore_core.strict_json import dumps, plain

SCHEMA_VERSION = 1

Part = Literal["audit", "controls", "recovery"]
PARTS: tuple[Part, ...] = ("audit", "controls", "recovery")
"""Parts of an assessment, in the order in which they are computed."""


@dataclass(frozen=True, kw_only=True)
class Used:
    """A plugin that was used."""

    kind: str  # ``'benchmark'``, ``'model'``, ``'data'``, ``'metric'`` …
    identifier: str  # its name
    version: int | str | None = None  # version of a benchmark
    sha256: str | None = None  # hash of the plugin's code, as in receipts of scores; None if no plugin registers it


@dataclass(frozen=True, kw_only=True)
class Assessment:
    """One part of the assessment of a benchmark.

    Examples
    --------
    >>> found = Assessment(part="audit", benchmark=Used(kind="benchmark", identifier="Some2026.V1-pls"),
    ...                    state="assessed", result={"findings": []}, text="All checks passed.")
    >>> Assessment.from_json(found.identified().to_json()).text
    'All checks passed.'
    """

    part: Part
    benchmark: Used  # the benchmark
    models: tuple[Used, ...] = ()  # models that take part: the scored model, or the candidates of a recovery
    data: tuple[Used, ...] = ()  # data sets, stimulus sets and metrics that were used
    settings: dict[str, Any] = field(default_factory=dict)  # arguments of the computation, such as seeds
    state: Literal["assessed", "not applicable", "failed"]
    reason: str | None = None  # why there is no result
    error: ErrorInfo | None = None  # the error, if it failed
    result: dict[str, Any] | None = None  # fields of the part's result, as JSON types
    text: str = ""  # the result as the command line prints it
    environment: dict[str, Any] = field(default_factory=dict)  # interpreter, machine and libraries
    code: str | None = None  # hash of the platform's code
    seconds: float = 0.0
    # set when it is stored
    id: str | None = None
    created: str | None = None

    def identified(self) -> Self:
        """Return the assessment with time and id."""
        created = self.created or f"{datetime.now(UTC):%Y-%m-%dT%H:%M:%S.%f}Z"
        dated = replace(self, created=created)
        digest = sha256(dumps({**plain(asdict(dated)), "id": None}).encode()).hexdigest()[:12]
        return replace(dated, id=f"{datetime.fromisoformat(created):%Y%m%dT%H%M%S%fZ}-{digest}")

    @property
    def outcome(self) -> str:
        """``'findings'``, ``'recovered'`` … of an audit or a recovery; empty without one, and for controls."""
        result = self.typed_result
        return "" if result is None else result.outcome

    @property
    def typed_result(self) -> Result | None:
        """The result as an object; None without one.

        Raises ReceiptError if a field has another type.
        """
        return None if self.result is None else result_of(self.part, self.result)

    def to_dict(self) -> dict[str, Any]:
        """Convert to plain JSON types that follow the schema.

        Raises ReceiptError if the content does not follow the schema.
        """
        data: dict[str, Any] = {"schema_version": SCHEMA_VERSION, "id": self.id, "created": self.created}
        data |= {key: value for key, value in plain(asdict(self)).items() if key not in data}
        _validate(data)
        return data

    def to_json(self) -> str:
        """Convert to strict JSON: without NaN, UTF-8, indented."""
        return dumps(self.to_dict()) + "\n"

    @classmethod
    def from_json(cls, text: str | bytes) -> Self:
        """Read and check an assessment.

        Raises ReceiptError if the text is not JSON, does not follow the schema, or was written by a newer version.
        """
        data = parse(text)
        version = data.get("schema_version") if isinstance(data, dict) else None
        if isinstance(version, int) and not isinstance(version, bool) and version > SCHEMA_VERSION:
            raise ReceiptError(
                f"written by a newer Brain-Score: version {version}, but this one reads up to {SCHEMA_VERSION}",
                remedy="upgrade: pip install --upgrade brainscore",
            )
        _validate(data)
        fields = {key: value for key, value in data.items() if key != "schema_version"}
        fields["benchmark"] = Used(**data["benchmark"])
        for key in ("models", "data"):
            fields[key] = tuple(Used(**item) for item in data[key])
        fields["error"] = ErrorInfo(**data["error"]) if data["error"] else None
        return cls(**fields)


def assessment_schema() -> dict[str, Any]:
    """JSON Schema (draft 2020-12) of the assessments that this version writes.

    Examples
    --------
    >>> assessment_schema()["properties"]["schema_version"]
    {'const': 1}
    """
    text = resources.files("brainscore_core.receipts").joinpath("assessment.schema.json").read_text(encoding="utf-8")
    schema: dict[str, Any] = json.loads(text)
    return schema


@lru_cache(maxsize=1)
def _quick() -> Check:
    return quick_check(assessment_schema())


def _validate(data: Any) -> None:
    if _quick()(data):
        if data["result"] is not None:
            result_of(data["part"], data["result"])
        return
    from jsonschema import Draft202012Validator

    errors = sorted(Draft202012Validator(assessment_schema()).iter_errors(data), key=lambda error: error.json_path)
    if errors:
        problems = "; ".join(f"{error.json_path}: {error.message[:200]}" for error in errors[:5])
        raise ReceiptError(f"not a valid assessment: {problems}")
