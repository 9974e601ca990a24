"""New scores and versions of benchmarks, as feeds and e-mails report them."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime
from typing import NamedTuple

import numpy as np
from django.db.models import Max, QuerySet
from django.urls import reverse
from django.utils import timezone

from brainscore_web.leaderboard.cards.formatting import estimate
from brainscore_web.leaderboard.exposure import verification_codes, verification_of_score
from brainscore_web.leaderboard.models import BenchmarkVersion, Score


class Update(NamedTuple):
    """A new score, or a new version of a benchmark."""

    title: str
    text: str  # sentences on its conditions; may be empty
    path: str  # URL of its page
    time: datetime
    key: str  # identifies it for ever


def score_updates(scores: QuerySet[Score], most: int) -> list[Update]:
    """Return the newest of some scores, with two further queries; pairs without a score are left out."""
    rows = scores.filter(state=Score.State.SCORED).order_by("-pk").select_related("model", "benchmark")
    newest = list(rows.defer("document", "reason", "model__bibtex", "benchmark__bibtex")[:most])
    doubts = verification_codes(np.array([row.pk for row in newest], dtype=np.int64)).tolist()
    conditions = _conditions({row.benchmark_id for row in newest})
    return [
        Update(
            title=f"{row.model.identifier} on {row.benchmark.identifier}: {_value(row)}",
            text=_sentences(
                f"Version {row.version} of the benchmark" if row.version else "Version of the benchmark not recorded",
                row.undetermined and f"relative to the ceiling the score says nothing: {row.undetermined}",
                row.error_reason if row.low is None and not row.undetermined else "",
                (condition := conditions.get((row.benchmark_id, row.version), "")) and f"holds for {condition}",
                verification_of_score(doubt),
            ),
            path=reverse("cards:receipt", args=[row.model.domain, row.receipt]),
            time=row.created,
            key=f"score/{row.receipt}",
        )
        for row, doubt in zip(newest, doubts, strict=True)
    ]


def _value(row: Score) -> str:
    if row.undetermined:
        return f"undetermined, raw {estimate(row.raw, row.raw_error, row.raw_low, row.raw_high, level=row.level)}"
    return estimate(row.value, row.error, row.low, row.high, level=row.level, reason=row.error_reason)


def _conditions(benchmarks: Iterable[int]) -> dict[tuple[int, str], str]:
    rows = BenchmarkVersion.objects.filter(benchmark__in=benchmarks).exclude(condition="").order_by()
    return {
        (pk, version): condition for pk, version, condition in rows.values_list("benchmark", "version", "condition")
    }


def version_updates(versions: QuerySet[BenchmarkVersion], most: int) -> list[Update]:
    """Return the newest of some versions of benchmarks."""
    newest = list(versions.order_by("-since", "-pk").select_related("benchmark").defer("benchmark__bibtex")[:most])
    return [
        Update(
            title=f"{row.benchmark.identifier}, version {row.version}",
            text=_sentences(
                row.benchmark.title if row.benchmark.title != row.benchmark.identifier else "",
                row.changes,
                row.ceiling is not None
                and row.ceiling_meaning != "none"
                and f"Ceiling {estimate(row.ceiling, row.ceiling_error, row.ceiling_low, row.ceiling_high)}",
                row.condition and f"scores hold for {row.condition}",
            ),
            path=reverse("cards:benchmark", args=[row.benchmark.domain, row.benchmark.identifier]) + "#versions",
            time=row.since,
            key=f"version/{row.pk}",
        )
        for row in newest
    ]


def _sentences(*texts: str | bool) -> str:
    return ". ".join(text.strip().rstrip(".") for text in texts if isinstance(text, str) and text.strip())


class NewestKeys(NamedTuple):
    """The primary keys of the newest score and version, and the present time."""

    last_score: int
    last_version: int
    news_until: datetime


def newest_keys() -> NewestKeys:
    """Return what has arrived by now."""
    score = Score.objects.aggregate(last=Max("pk"))["last"] or 0
    version = BenchmarkVersion.objects.aggregate(last=Max("pk"))["last"] or 0
    return NewestKeys(score, version, timezone.now())
