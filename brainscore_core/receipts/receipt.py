"""The receipt: everything needed to reproduce, compare and show a score."""

import json
from dataclasses import asdict, dataclass, field, replace
from datetime import UTC, datetime
from hashlib import sha256
from typing import Any, Literal, Self

from brainscore_core.receipts.environment import Environment
from brainscore_core.receipts.parts import (
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
    RunInfo,
    Timings,
    WeightsItem,
)
from brainscore_core.receipts.schema import SCHEMA_VERSION, ReceiptError, migrated, validate
from brainscore_core.strict_json import dumps, plain

__all__ = ["Receipt", "State"]

State = Literal["scored", "undefined", "not applicable", "failed"]


@dataclass(frozen=True, kw_only=True)
class Receipt:
    """One model scored on one benchmark.

    Attributes
    ----------
    id : str
        Time in UTC to the microsecond, and the beginning of the content's hash; empty before :meth:`identified`.
    created : str
        Time in UTC, ISO 8601.
    model, benchmark : ModelInfo, BenchmarkInfo
        The model and the benchmark, with hashes of both plugins' code.
    state : str
        ``'scored'``; ``'undefined'`` (NaN); ``'not applicable'`` (the model cannot do it); ``'failed'``.
    reason : str or None
        Why there is no score.
    error : ErrorInfo or None
        The error of a failed pair.
    score, raw : Estimate or None
        The score relative to the ceiling, and before normalization.
    ceiling : CeilingEstimate or None
        The score of the best possible model.
    data, files, weights : tuple
        Data sets, stimulus sets and metrics that were used, files that were read, the model's weights.
    run : RunInfo or None
        The run that it belongs to, and the model's own environment.
    environment, seeds, device, timings, memory, cache
        Circumstances of the run.
    attachments : tuple of AttachmentInfo
        Files beside the receipt: arrays as netCDF, output as text.
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
    weights: tuple[WeightsItem, ...] = ()
    environment: Environment = field(
        default_factory=lambda: Environment(python="", platform="", cpu=None, cpu_count=None, packages={})
    )
    run: RunInfo | None = None
    seeds: dict[str, int | str | None] = field(default_factory=dict)
    device: str = "cpu"
    timings: Timings = field(default_factory=Timings)
    memory: Memory = field(default_factory=Memory)
    cache: CacheUse = field(default_factory=CacheUse)
    attachments: tuple[AttachmentInfo, ...] = ()
    notes: tuple[str, ...] = ()

    def identified(self) -> Self:
        """Return the receipt with time and id, and with names of its attachments."""
        moment = datetime.now(UTC)
        created = self.created or f"{moment:%Y-%m-%dT%H:%M:%S.%f}Z"
        dated = replace(self, created=created)
        content = {**asdict(dated), "id": None, "attachments": [(a.kind, a.sha256, a.bytes) for a in self.attachments]}
        stamp = f"{datetime.fromisoformat(created):%Y%m%dT%H%M%S%fZ}"
        identifier = f"{stamp}-{sha256(dumps(content).encode()).hexdigest()[:12]}"
        attachments = tuple(replace(a, name=f"{identifier}{a.suffix}") for a in self.attachments)
        return replace(dated, id=identifier, attachments=attachments)

    def to_dict(self) -> dict[str, Any]:
        """Convert to plain JSON types that follow the schema.

        Raises
        ------
        ReceiptError
            If the content does not follow the schema.
        """
        data: dict[str, Any] = {"schema_version": SCHEMA_VERSION, "id": self.id, "created": self.created}
        data |= {key: value for key, value in plain(asdict(self)).items() if key not in data}
        validate(data)
        return data

    def to_json(self) -> str:
        """Convert to strict JSON: without NaN, UTF-8, indented."""
        return dumps(self.to_dict()) + "\n"

    @classmethod
    def from_json(cls, text: str | bytes) -> Self:
        """Read and check a receipt; a receipt of an earlier version is migrated.

        Raises
        ------
        ReceiptError
            If the text is not JSON, does not follow the schema, or was written by a newer version.
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
        version = data.get("schema_version") if isinstance(data, dict) else None
        data = migrated(data)
        validate(data, origin="" if version == data.get("schema_version") else f" of version {version}")
        fields = {key: value for key, value in data.items() if key != "schema_version"}
        fields["model"] = ModelInfo(**_with_plugin(data["model"]))
        fields["benchmark"] = BenchmarkInfo(**_with_plugin(data["benchmark"]))
        fields["error"] = ErrorInfo(**data["error"]) if data["error"] else None
        for key in ("score", "raw"):
            fields[key] = Estimate(**_with_interval(data[key])) if data[key] else None
        fields["ceiling"] = CeilingEstimate(**_with_interval(data["ceiling"])) if data["ceiling"] else None
        fields["data"] = tuple(DataItem(**_with_plugin(item)) for item in data["data"])
        fields["files"] = tuple(FileItem(**item) for item in data["files"])
        fields["weights"] = tuple(WeightsItem(**item) for item in data["weights"])
        fields["environment"] = Environment(**data["environment"])
        fields["run"] = RunInfo(**data["run"]) if data["run"] else None
        fields["timings"] = Timings(**data["timings"])
        fields["memory"] = Memory(**data["memory"])
        fields["cache"] = CacheUse(**data["cache"])
        fields["attachments"] = tuple(AttachmentInfo(**item) for item in data["attachments"])
        fields["notes"] = tuple(data["notes"])
        return cls(**fields)


def _refuse_constant(name: str) -> None:
    raise ValueError(f"{name} is not valid in JSON")


def _with_plugin(data: dict[str, Any]) -> dict[str, Any]:
    plugin = data["plugin"]
    return {**data, "plugin": PluginCode(**plugin) if plugin else None}


def _with_interval(data: dict[str, Any]) -> dict[str, Any]:
    intervals = {key: data[key] for key in ("ci", "unclamped_ci")}
    return {**data, **{key: (limits[0], limits[1]) if limits else None for key, limits in intervals.items()}}
