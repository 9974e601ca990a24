"""One receipt as the site keeps it."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from functools import lru_cache
from typing import Any, NamedTuple

from brainscore_core.scoring import Receipt
from brainscore_web.leaderboard.ingest._clean import (
    LONGEST_TEXT,
    check_identifier,
    check_receipt,
    json_value,
    moment,
    number,
    text,
)
from brainscore_web.leaderboard.models import Benchmark, BenchmarkVersion, Score, VisionModel

__all__ = ["Row", "limits", "row_of"]


class Row(NamedTuple):
    """A score and what its receipt says of the model, the benchmark and the ceiling; clean."""

    receipt: str
    created: datetime
    model: str
    benchmark: str
    version: str
    parent: str | None
    control: bool
    state: str
    reason: str = ""
    value: float | None = None
    error: float | None = None
    low: float | None = None
    high: float | None = None
    level: float | None = None
    estimates: str = ""
    error_reason: str = ""
    scale: str = ""
    unclamped: float | None = None
    raw: float | None = None
    raw_error: float | None = None
    raw_low: float | None = None
    raw_high: float | None = None
    ceiling: float | None = None
    ceiling_error: float | None = None
    ceiling_low: float | None = None
    ceiling_high: float | None = None
    ceiling_level: float | None = None
    ceiling_meaning: str = ""
    ceiling_estimates: str = ""
    ceiling_reason: str = ""
    lower_bound: float | None = None
    seconds: float | None = None
    model_plugin: str = ""
    benchmark_plugin: str = ""
    bibtex: str = ""
    document: dict[str, Any] | None = None


@lru_cache(maxsize=1)
def limits() -> dict[str, int | None]:
    """Characters that columns take, by attribute of `Row`."""
    fields = {
        **{name: (Score, name) for name in ("version", "estimates", "error_reason", "scale")},
        **{name: (BenchmarkVersion, name) for name in ("ceiling_meaning", "ceiling_estimates", "ceiling_reason")},
        "model": (VisionModel, "identifier"),
        "benchmark": (Benchmark, "identifier"),
        "model_plugin": (VisionModel, "plugin"),
        "benchmark_plugin": (Benchmark, "plugin"),
    }
    return {name: model._meta.get_field(field).max_length for name, (model, field) in fields.items()}


def row_of(document: Mapping[str, Any] | Receipt) -> Row:
    """Check a receipt, and take what the site shows.

    Parameters
    ----------
    document : mapping or Receipt
        Plain JSON types of this or an earlier version of the schema.

    Raises
    ------
    ReceiptError, ValueError
        If it follows no schema, or cannot be kept; the message says why.
    """
    plain = json_value(document.to_dict() if isinstance(document, Receipt) else document)
    receipt = Receipt.from_dict(plain)
    limits = limits()
    version = "" if receipt.benchmark.version is None else str(receipt.benchmark.version)
    if version:
        check_identifier(version, "the version", limits["version"] or 0)
    score, raw, ceiling = receipt.score, receipt.raw, receipt.ceiling
    low, high = (score and score.ci) or (None, None)
    raw_low, raw_high = (raw and raw.ci) or (None, None)
    ceiling_low, ceiling_high = (ceiling and ceiling.ci) or (None, None)
    model, benchmark = receipt.model, receipt.benchmark
    return Row(
        receipt=check_receipt(receipt.id),
        created=moment(receipt.created),
        model=check_identifier(model.identifier, "the model", limits["model"] or 0),
        benchmark=check_identifier(benchmark.identifier, "the benchmark", limits["benchmark"] or 0),
        version=version,
        parent=benchmark.parent,
        control=benchmark.control,
        state=receipt.state,
        reason=text(receipt.reason),
        value=score and number(score.value),
        error=score and number(score.error),
        low=number(low),
        high=number(high),
        level=score and number(score.ci_level),
        estimates=text(score and score.ci_estimates, limits["estimates"]),
        error_reason=text(score and (score.error_reason or score.ci_reason), limits["error_reason"]),
        scale=text(score and score.scale, limits["scale"]),
        unclamped=score and number(score.unclamped),
        raw=raw and number(raw.value),
        raw_error=raw and number(raw.error),
        raw_low=number(raw_low),
        raw_high=number(raw_high),
        ceiling=ceiling and number(ceiling.value),
        ceiling_error=ceiling and number(ceiling.error),
        ceiling_low=number(ceiling_low),
        ceiling_high=number(ceiling_high),
        ceiling_level=ceiling and number(ceiling.ci_level),
        ceiling_meaning=text(ceiling and ceiling.meaning, limits["ceiling_meaning"]),
        ceiling_estimates=text(ceiling and ceiling.ci_estimates, limits["ceiling_estimates"]),
        ceiling_reason=text(ceiling and (ceiling.error_reason or ceiling.ci_reason), limits["ceiling_reason"]),
        lower_bound=ceiling and number(ceiling.lower_bound),
        seconds=number(receipt.timings.total),
        model_plugin=text(model.plugin and model.plugin.name, limits["model_plugin"]),
        benchmark_plugin=text(benchmark.plugin and benchmark.plugin.name, limits["benchmark_plugin"]),
        bibtex=text(benchmark.bibtex) if len(benchmark.bibtex or "") < LONGEST_TEXT else "",
        document=plain,
    )
