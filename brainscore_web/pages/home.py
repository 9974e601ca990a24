"""Content of the home page: the highest-ranked models as a figure, recent scores, and plugins published last."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Any, NamedTuple

import numpy as np
from django.urls import reverse

from brainscore_core.domains import domain
from brainscore_core.figures import Dots, DotsRow, Svg, dots_with_intervals
from brainscore_core.formatting import number_text
from brainscore_web.leaderboard.board import Board, board_for, range_text
from brainscore_web.leaderboard.cards.formatting import estimate
from brainscore_web.leaderboard.models import Score, Visitor
from brainscore_web.leaderboard.revision import Cache
from brainscore_web.leaderboard.snapshot import Snapshot, SnapshotKey
from brainscore_web.leaderboard.state import BoardState
from brainscore_web.submissions.models import Plugin

_LEADERS = 10
_SCORES = 6
_PLUGINS = 6
_SINGULAR = {"models": "model", "benchmarks": "benchmark"}
_PLUGINS_READ = 60  # of which the visitor may not see all
_KINDS = ("no model is significantly better", "another model is significantly better")


class RecentScore(NamedTuple):
    """A score with its interval, or the reason why there is none, as text."""

    row: Score
    text: str


class PublishedPlugin(NamedTuple):
    """A model or benchmark of a published submission."""

    kind: str  # model or benchmark
    title: str
    href: str
    published: datetime


def front_of(snapshot: Snapshot) -> dict[str, Any]:
    """Return counts, the highest-ranked models and their figure, of a board without filters, from the cache."""
    return _fronts.get(snapshot.key, lambda: _front_of(board_for(snapshot, BoardState())))


_fronts: Cache[SnapshotKey, dict[str, Any]] = Cache(most=100)


def _front_of(board: Board) -> dict[str, Any]:
    snapshot = board.snapshot
    first = next((index for index, node in enumerate(board.nodes) if node.kind == "mean"), None)
    ranked = [] if first is None else [row for row in np.argsort(board.rank, kind="stable") if board.rank[row]]
    leaders = tuple(_leader(board, row, first) for row in ranked[:_LEADERS] if first is not None)
    tested = bool(board.best.any())
    mean = "" if first is None else board.nodes[first].title
    return {
        "domain": domain(snapshot.domain),
        "models": len(snapshot.models),
        "benchmarks": len(snapshot.benchmarks),
        "scores": int(np.count_nonzero(snapshot.state == 0)),
        "pairs": snapshot.state.size,
        "mean": mean,
        "ranked": len(ranked),
        "tested": tested,
        "simulated": bool(snapshot.models)
        and all(model.identifier.startswith("simulated-") for model in snapshot.models),
        "condition": "" if first is None else board.condition(first),
        "leaders": leaders,
        "figure": _figure(leaders, snapshot.domain, mean, tested) if leaders else "",
    }


def _leader(board: Board, row: int, node: int) -> dict[str, Any]:
    model = board.models[row]
    value, error, low, high = board.numbers(row, node)
    return {
        "identifier": model.identifier,
        "title": model.title or model.identifier,
        "rank": int(board.rank[row]),
        "range": range_text(int(board.best[row]), int(board.worst[row])),
        "leads": int(board.best[row]) <= 1,
        "group": board.groups[row],
        "coverage": f"{board.n_scored[row, node]} of {board.n_all[row, node]}",
        "value": value,
        "low": low,
        "high": high,
        "mean": estimate(value, error, low, high),
    }


def _figure(leaders: Sequence[dict[str, Any]], name: str, mean: str, tested: bool) -> Svg:
    """Draw the models with their intervals; filled marks are those than which no model is significantly better."""
    rows = [
        DotsRow(
            label=f"{leader['rank']}  {leader['title']}",
            value=leader["value"],
            low=leader["low"],
            high=leader["high"],
            href=reverse("cards:model", args=[name, leader["identifier"]]),
            text=f"{number_text(leader['value'])} {leader['group']}".strip(),
            kind=0 if leader["leads"] else 1,
            hint=_hint(leader),
        )
        for leader in leaders
    ]
    return dots_with_intervals(
        Dots(
            rows=rows,
            title=f"Highest-ranked models of {name}",
            description="\n".join(row.hint for row in rows),
            x_title=f"{mean}, with 95 % interval" if any(np.isfinite(row.low) for row in rows) else mean,
            kinds=_KINDS if tested else (),
            width=440,
            identifier=f"leaders-{name}",
        )
    )


def _hint(leader: dict[str, Any]) -> str:
    ranks = f", possible ranks {leader['range']}" if leader["range"] else ""
    return (
        f"Rank {leader['rank']}{ranks}: {leader['title']}, {leader['mean']}, scored on {leader['coverage']} benchmarks"
    )


def recent_scores(visitor: Visitor, snapshot: Snapshot) -> list[RecentScore]:
    """Return the newest scores that the snapshot's visitor may see, from the cache.

    Those that their ceiling makes meaningless are left out.
    """
    return _recent_scores.get(snapshot.key, lambda: _newest_scores(visitor))


_recent_scores: Cache[SnapshotKey, list[RecentScore]] = Cache(most=100)


def _newest_scores(visitor: Visitor) -> list[RecentScore]:
    rows = Score.objects.visible_to(visitor).filter(state=Score.State.SCORED, undetermined="")
    rows = rows.select_related("model", "benchmark").defer("document", "reason")[:_SCORES]
    return [
        RecentScore(row, estimate(row.value, row.error, row.low, row.high, level=row.level, reason=row.error_reason))
        for row in rows
    ]


def recent_plugins(snapshots: Sequence[Snapshot]) -> list[PublishedPlugin]:
    """Return models and benchmarks of submissions, those published last first, that the snapshots' visitor may see."""
    visible: dict[tuple[str, str, str], PublishedPlugin] = {}
    titles = {
        (snapshot.domain, kind, row.identifier): row.title or row.identifier
        for snapshot in snapshots
        for kind, rows in (("models", snapshot.models), ("benchmarks", snapshot.benchmarks))
        for row in rows  # type: ignore[attr-defined] # of either kind
    }
    plugins = Plugin.objects.filter(kind__in=_SINGULAR).order_by("-published")[:_PLUGINS_READ]
    for plugin in plugins:
        for name in plugin.identifiers:
            key = (plugin.domain, plugin.kind, name)
            if key in titles and len(visible) < _PLUGINS:
                href = reverse(f"cards:{_SINGULAR[plugin.kind]}", args=[plugin.domain, name])
                visible[key] = PublishedPlugin(_SINGULAR[plugin.kind], titles[key], href, plugin.published)
    return list(visible.values())
