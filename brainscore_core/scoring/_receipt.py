"""The receipt: everything needed to redo, compare and show one score."""

import json
from dataclasses import asdict, dataclass, field, replace
from datetime import UTC, datetime
from functools import lru_cache
from hashlib import sha256
from importlib import resources
from typing import Any, Literal, Self

from brainscore_core.scoring._environment import Environment
from brainscore_core.scoring._errors import ReceiptError
from brainscore_core.scoring._json import dumps, plain
from brainscore_core.scoring._parts import (
    AttachmentInfo,
    BenchmarkInfo,
    CacheUse,
    CeilingEstimate,
    DataItem,
    ErrorInfo,
    Estimate,
    FileItem,
    Memory,
    ModelInfo,
    PluginCode,
    Timings,
)

__all__ = ["SCHEMA_VERSION", "Receipt", "State", "receipt_schema"]

SCHEMA_VERSION = 1

State = Literal["scored", "not applicable", "failed"]


@dataclass(frozen=True, kw_only=True)
class Receipt:
    """One model scored on one benchmark.

    Attributes
    ----------
    id : str
        Time in UTC to the microsecond, and the beginning of the content's hash; empty until :meth:`identified`.
    created : str
        Time in UTC, ISO 8601.
    model, benchmark : ModelInfo, BenchmarkInfo
        What was scored on what, with hashes of both plugins' code.
    state : str
        ``'scored'``, ``'not applicable'`` or ``'failed'``.
    reason : str or None
        Why there is no score.
    error : ErrorInfo or None
        What went wrong; only of a failed pair.
    score, raw : Estimate or None
        Relative to the ceiling, and before.
    ceiling : CeilingEstimate or None
        What the best possible model would reach.
    data, files : tuple
        Data sets, stimulus sets and metrics that took part, and the files that were read.
    environment, seeds, device, timings, memory, cache
        Under which circumstances.
    attachments : tuple of AttachmentInfo
        netCDF files beside the receipt.
    notes : tuple of str
        What could not be stored, and why.

    Examples
    --------
    >>> receipt = Receipt(model=ModelInfo(identifier="pixels"), benchmark=BenchmarkInfo(identifier="Some2026-pls"),
    ...                   state="scored", score=Estimate(value=0.25)).identified()
    >>> Receipt.from_json(receipt.to_json()) == receipt
    True
    """

    model: ModelInfo
    benchmark: BenchmarkInfo
    state: State
    id: str = ""
    created: str = ""
    reason: str | None = None
    error: ErrorInfo | None = None
    score: Estimate | None = None
    raw: Estimate | None = None
    ceiling: CeilingEstimate | None = None
    data: tuple[DataItem, ...] = ()
    files: tuple[FileItem, ...] = ()
    environment: Environment = field(
        default_factory=lambda: Environment(python="", platform="", cpu=None, cpu_count=None, packages={})
    )
    seeds: dict[str, int | str | None] = field(default_factory=dict)
    device: str = "cpu"
    timings: Timings = field(default_factory=Timings)
    memory: Memory = field(default_factory=Memory)
    cache: CacheUse = field(default_factory=CacheUse)
    attachments: tuple[AttachmentInfo, ...] = ()
    notes: tuple[str, ...] = ()

    def identified(self) -> Self:
        """Give the receipt its time and id, and its attachments their names."""
        moment = datetime.now(UTC)
        created = self.created or f"{moment:%Y-%m-%dT%H:%M:%S.%f}Z"
        dated = replace(self, created=created)
        content = {**asdict(dated), "id": None, "attachments": [(a.kind, a.sha256, a.bytes) for a in self.attachments]}
        stamp = f"{datetime.fromisoformat(created):%Y%m%dT%H%M%S%fZ}"
        identifier = f"{stamp}-{sha256(dumps(content).encode()).hexdigest()[:12]}"
        attachments = tuple(replace(a, name=f"{identifier}.{a.kind}.nc") for a in self.attachments)
        return replace(dated, id=identifier, attachments=attachments)

    def to_dict(self) -> dict[str, Any]:
        """Plain JSON types, as the schema says.

        Raises
        ------
        ReceiptError
            If the content does not follow the schema.
        """
        data: dict[str, Any] = {"schema_version": SCHEMA_VERSION, "id": self.id, "created": self.created}
        data |= {key: value for key, value in plain(asdict(self)).items() if key not in data}
        _validate(data)
        return data

    def to_json(self) -> str:
        """Strict JSON: no NaN, UTF-8, indented."""
        return dumps(self.to_dict()) + "\n"

    @classmethod
    def from_json(cls, text: str | bytes) -> Self:
        """Read and check a receipt.

        Raises
        ------
        ReceiptError
            If the text is no JSON, does not follow the schema, or was written by a newer version.
        """
        try:
            data = json.loads(text, parse_constant=_refuse_constant)
        except (ValueError, RecursionError) as error:
            raise ReceiptError(f"not valid JSON: {error}") from error
        return cls.from_dict(data)

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> Self:
        """Make a receipt from plain JSON types, after checking them against the schema.

        Raises
        ------
        ReceiptError
            If the content does not follow the schema, or was written by a newer version.
        """
        _validate(data)
        fields = {key: value for key, value in data.items() if key != "schema_version"}
        fields["model"] = ModelInfo(**_with_plugin(data["model"]))
        fields["benchmark"] = BenchmarkInfo(**_with_plugin(data["benchmark"]))
        fields["error"] = ErrorInfo(**data["error"]) if data["error"] else None
        for key in ("score", "raw"):
            fields[key] = Estimate(**_with_interval(data[key])) if data[key] else None
        fields["ceiling"] = CeilingEstimate(**_with_interval(data["ceiling"])) if data["ceiling"] else None
        fields["data"] = tuple(DataItem(**_with_plugin(item)) for item in data["data"])
        fields["files"] = tuple(FileItem(**item) for item in data["files"])
        fields["environment"] = Environment(**data["environment"])
        fields["timings"] = Timings(**data["timings"])
        fields["memory"] = Memory(**data["memory"])
        fields["cache"] = CacheUse(**data["cache"])
        fields["attachments"] = tuple(AttachmentInfo(**item) for item in data["attachments"])
        fields["notes"] = tuple(data["notes"])
        return cls(**fields)


def receipt_schema() -> dict[str, Any]:
    """JSON Schema (draft 2020-12) of the receipts that this version writes.

    Examples
    --------
    >>> receipt_schema()["properties"]["schema_version"]
    {'const': 1}
    """
    text = resources.files("brainscore_core.scoring").joinpath("receipt.schema.json").read_text(encoding="utf-8")
    schema: dict[str, Any] = json.loads(text)
    return schema


@lru_cache(maxsize=1)
def _validator() -> Any:
    from jsonschema import Draft202012Validator

    return Draft202012Validator(receipt_schema())


def _validate(data: Any) -> None:
    if not isinstance(data, dict):
        raise ReceiptError(f"not a receipt: a JSON object is needed, not {type(data).__name__}")
    version = data.get("schema_version")
    if isinstance(version, int) and not isinstance(version, bool) and version > SCHEMA_VERSION:
        raise ReceiptError(
            f"written by a newer Brain-Score: schema version {version}, this one reads up to {SCHEMA_VERSION}",
            remedy="upgrade: pip install --upgrade brainscore",
        )
    from jsonschema.exceptions import best_match

    errors = sorted(_validator().iter_errors(data), key=lambda error: error.json_path)
    if errors:
        # an error in one of several alternatives quotes the whole part; what is wrong there lies in its context
        causes = [best_match([error]) for error in errors[:5]]
        shown = "; ".join(f"{cause.json_path}: {cause.message[:200]}" for cause in causes)
        more = f" (and {len(errors) - 5} more)" if len(errors) > 5 else ""
        raise ReceiptError(f"not a valid receipt: {shown}{more}")


def _refuse_constant(name: str) -> None:
    raise ValueError(f"{name} is no JSON")


def _with_plugin(data: dict[str, Any]) -> dict[str, Any]:
    plugin = data["plugin"]
    return {**data, "plugin": PluginCode(**plugin) if plugin else None}


def _with_interval(data: dict[str, Any]) -> dict[str, Any]:
    interval = data["ci"]
    return {**data, "ci": (interval[0], interval[1]) if interval else None}
