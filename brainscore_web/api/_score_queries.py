"""Which scores are asked for, as a query of the database."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from datetime import UTC, date, datetime
from typing import Annotated, Literal

from django.db.models import BooleanField, Case, CharField, Exists, F, OuterRef, Q, Value, When
from ninja import Schema
from pydantic import BeforeValidator, Field

from brainscore_web.api._problems import Problem
from brainscore_web.leaderboard.models import Benchmark, Score, ScoreQuerySet, VisionModel, Visitor

__all__ = ["COLUMNS", "Moment", "ScoresAsked", "scores"]

COLUMNS = (
    "receipt", "version", "state", "reason", "value", "error", "low", "high", "level", "estimates", "error_reason",
    "scale", "unclamped", "raw", "raw_error", "raw_low", "raw_high", "ceiling", "seconds", "created",
)  # fmt: skip
"""Fields of a score that are answered as they are."""


def _moment(value: object) -> datetime | None:
    """Read a date or a time; UTC unless it says otherwise."""
    if value is None or isinstance(value, datetime):
        return value
    try:
        text = str(value)
        if len(text) == len("2026-01-31"):
            text = f"{date.fromisoformat(text).isoformat()}T00:00:00"
        elif "T" not in text.upper():
            raise ValueError
        moment = datetime.fromisoformat(text.upper())
        return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).astimezone(UTC)
    except (ValueError, OverflowError):
        raise ValueError("write a date such as 2026-01-31, or a time such as 2026-01-31T12:00:00Z") from None


Moment = Annotated[datetime | None, BeforeValidator(_moment)]
"""A date or a time in ISO 8601."""


class ScoresAsked(Schema):
    """Which scores; filters that are repeated mean any of the values."""

    model: list[str] = Field([], description="Identifiers of models. Repeat it for several.")
    benchmark: list[str] = Field(
        [], description="Identifiers of benchmarks, or of means, which stand for all below them. Repeat it for several."
    )
    state: list[Literal["scored", "undefined", "not applicable", "failed"]] = Field(
        [], description="Repeat it for several."
    )
    version: str | None = Field(None, max_length=50, description="Of the benchmarks.")
    history: bool = Field(False, description="All receipts, rather than those that count.")
    since: Moment = Field(
        None,
        description="Only receipts made since this date or time (ISO 8601; UTC unless it says otherwise).",
        examples=["2026-01-31"],
    )


def scores(visitor: Visitor, asked: ScoresAsked) -> ScoreQuerySet:
    """Scores that are asked for and that the visitor may see, each with `counts`, the oldest receipt first.

    Those count that are the newest of their model on their benchmark's version that counts, as on the leaderboard; of
    several of the same moment the one whose id is the last.

    Raises
    ------
    Problem
        404, if a model or benchmark is not there, or the visitor may not see it.
    """
    found = Score.objects.visible_to(visitor)
    if asked.model:
        found = found.filter(model__in=_models(visitor, asked.model))
    if asked.benchmark:
        found = found.filter(benchmark__in=_benchmarks(asked.benchmark))
    if asked.state:
        found = found.filter(state__in=asked.state)
    if asked.version is not None:
        found = found.filter(version=asked.version)
    if asked.since is not None:
        found = found.filter(created__gte=asked.since)
    # what failed before the benchmark was loaded has no version, and is of every one
    of_every = Q(version="", state__in=[Score.State.FAILED, Score.State.NOT_APPLICABLE])
    of_version = Q(benchmark__version="") | Q(version=F("benchmark__version")) | of_every
    same = Score.objects.filter(model=OuterRef("model"), benchmark=OuterRef("benchmark"))
    newer = (
        same.filter(created__gte=OuterRef("created"))
        .filter(Q(created__gt=OuterRef("created")) | Q(receipt__gt=OuterRef("receipt")))
        .alias(any_version=Value("", output_field=CharField()))
        .filter(Q(version=OuterRef("benchmark__version")) | Q(any_version=OuterRef("benchmark__version")) | of_every)
    )
    counts = of_version & ~Exists(newer.order_by())
    if asked.history:
        found = found.annotate(counts=Case(When(counts, then=Value(True)), default=False, output_field=BooleanField()))
    else:
        found = found.filter(counts).annotate(counts=Value(True, output_field=BooleanField()))
    return found.order_by("receipt")


def _models(visitor: Visitor, wanted: Iterable[str]) -> list[int]:
    rows = VisionModel.objects.visible_to(visitor).filter(identifier__in=set(wanted)).values_list("identifier", "pk")
    found = dict(rows)
    for identifier in wanted:
        if identifier not in found:
            raise Problem(404, f"there is no model {identifier!r}", "see /api/v1/models")
    return list(found.values())


def _benchmarks(wanted: Iterable[str]) -> list[int]:
    children: defaultdict[int | None, list[int]] = defaultdict(list)
    keys: dict[str, int] = {}
    for identifier, pk, parent in Benchmark.objects.order_by().values_list("identifier", "pk", "parent_id"):
        keys[identifier] = pk
        children[parent].append(pk)
    found: set[int] = set()
    for identifier in wanted:
        if identifier not in keys:
            raise Problem(404, f"there is no benchmark {identifier!r}", "see /api/v1/benchmarks")
        waiting = [keys[identifier]]
        while waiting:
            pk = waiting.pop()
            if pk not in found:
                found.add(pk)
                waiting += children[pk]
    return sorted(found)
