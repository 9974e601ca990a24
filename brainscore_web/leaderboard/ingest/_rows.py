"""One receipt as the site keeps it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import datetime
from functools import lru_cache
from typing import Any, NamedTuple

from django.db.models import Model

from brainscore_core.scoring import CeilingEstimate, Receipt
from brainscore_web.leaderboard.clean import (
    LARGEST,
    LONGEST_TEXT,
    check_identifier,
    check_receipt,
    json_value,
    moment,
    number,
    text,
)
from brainscore_web.leaderboard.models import Benchmark, BenchmarkVersion, Score, VisionModel

__all__ = ["MEASURED", "Row", "limits", "row_of", "too_large"]


_NONE = CeilingEstimate(value=None)


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


MEASURED = (
    *("value", "error", "low", "high", "unclamped", "raw", "raw_error", "raw_low", "raw_high"),
    *("ceiling", "ceiling_error", "ceiling_low", "ceiling_high", "lower_bound"),
)
"""Attributes of `Row` on the scales of scores."""


def too_large(row: Row, names: Iterable[str] = MEASURED) -> str:
    """Say which number cannot be one of a score, if any."""
    for name in names:
        found = getattr(row, name)
        if isinstance(found, float) and abs(found) > LARGEST:
            what = {"value": "score"}.get(name, name.replace("_", " "))
            return f"its {what} is {found:g}; at most ±{LARGEST:,.0f} is possible"
    return ""


@lru_cache(maxsize=1)
def limits() -> dict[str, int | None]:
    """Characters that columns take, by attribute of `Row`."""
    fields: dict[str, tuple[type[Model], str]] = {
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
    at_most = limits()
    version = "" if receipt.benchmark.version is None else str(receipt.benchmark.version)
    if version:
        check_identifier(version, "the version", at_most["version"] or 0)
    score, raw, ceiling = receipt.score or _NONE, receipt.raw or _NONE, receipt.ceiling or _NONE
    low, high = score.ci or (None, None)
    raw_low, raw_high = raw.ci or (None, None)
    ceiling_low, ceiling_high = ceiling.ci or (None, None)
    model, benchmark = receipt.model, receipt.benchmark
    row = Row(
        receipt=check_receipt(receipt.id),
        created=moment(receipt.created),
        model=check_identifier(model.identifier, "the model", at_most["model"] or 0),
        benchmark=check_identifier(benchmark.identifier, "the benchmark", at_most["benchmark"] or 0),
        version=version,
        parent=benchmark.parent,
        control=benchmark.control,
        state=receipt.state,
        reason=text(receipt.reason),
        value=number(score.value),
        error=number(score.error),
        low=number(low),
        high=number(high),
        level=number(score.ci_level),
        estimates=text(score.ci_estimates, at_most["estimates"]),
        error_reason=text(score.error_reason or score.ci_reason, at_most["error_reason"]),
        scale=text(score.scale, at_most["scale"]),
        unclamped=number(score.unclamped),
        raw=number(raw.value),
        raw_error=number(raw.error),
        raw_low=number(raw_low),
        raw_high=number(raw_high),
        ceiling=number(ceiling.value),
        ceiling_error=number(ceiling.error),
        ceiling_low=number(ceiling_low),
        ceiling_high=number(ceiling_high),
        ceiling_level=number(ceiling.ci_level),
        ceiling_meaning=text(ceiling.meaning, at_most["ceiling_meaning"]),
        ceiling_estimates=text(ceiling.ci_estimates, at_most["ceiling_estimates"]),
        ceiling_reason=text(ceiling.error_reason or ceiling.ci_reason, at_most["ceiling_reason"]),
        lower_bound=number(ceiling.lower_bound),
        seconds=number(receipt.timings.total),
        model_plugin=text(model.plugin and model.plugin.name, at_most["model_plugin"]),
        benchmark_plugin=text(benchmark.plugin and benchmark.plugin.name, at_most["benchmark_plugin"]),
        bibtex=text(benchmark.bibtex) if len(benchmark.bibtex or "") < LONGEST_TEXT else "",
        document=plain,
    )
    if wrong := too_large(row):
        raise ValueError(wrong)
    return row
