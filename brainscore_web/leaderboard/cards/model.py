"""The card of a model, with the profiles of its layers.

Database queries read what the visitor may see; from these data, pure functions compute the content.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime
from typing import Any
from urllib.parse import quote

import numpy as np
from django.urls import reverse

from brainscore_core.domains import domain
from brainscore_core.errors import nearest
from brainscore_core.figures import (
    Dots,
    DotsRow,
    Lines,
    Mark,
    Series,
    StateScore,
    Svg,
    dots_with_intervals,
    lines,
    training_plot,
)
from brainscore_core.formatting import count_text
from brainscore_core.identifiers import series_point, states_of_models
from brainscore_core.results.board import open_at_first
from brainscore_core.training_data import Training
from brainscore_web.leaderboard.board import Board
from brainscore_web.leaderboard.cards.facts import (
    citation_of,
    distribution_of,
    installed,
    model_code,
    model_facts,
    notes_of,
)
from brainscore_web.leaderboard.cards.formatting import (
    STATES,
    Axis,
    estimate,
    number,
)
from brainscore_web.leaderboard.cards.history import (
    MeanHistory,
    Rescored,
    ScorePoint,
    VersionSince,
    mean_history,
    moments,
    rescored,
)
from brainscore_web.leaderboard.cards.scores import (
    ANNOTATIONS,
    ScoreLine,
    score_axis,
    score_rows,
    tried,
)
from brainscore_web.leaderboard.clean import finite, or_nan
from brainscore_web.leaderboard.exposure import names_in
from brainscore_web.leaderboard.models import (
    Benchmark,
    BenchmarkVersion,
    LayerProfile,
    Score,
    VisionModel,
    Visitor,
)
from brainscore_web.leaderboard.reasons import withheld_reason
from brainscore_web.leaderboard.simulation import is_simulated
from brainscore_web.leaderboard.snapshot import Snapshot

_MOST_DRAWN, _DEEPEST_DRAWN = 16, 2
"""Maximum number of rows of the figure of a model's scores, and the deepest level of the tree in it."""

_MOST_TRAINING = 24
"""Maximum number of benchmarks whose scores during training are drawn."""


@dataclass(frozen=True, kw_only=True)
class LayerPoint:
    """Score of one layer; None if there is none, with the reason."""

    layer: str
    features: str
    score: float | None
    error: float | None
    low: float | None
    high: float | None
    chosen: bool
    best: bool
    reason: str = ""


@dataclass(frozen=True, kw_only=True)
class ProfileView:
    """Scores of all layers on one benchmark of a region."""

    # region, benchmark: the region, and the benchmark on which the layers were scored
    region: str
    benchmark: str
    points: tuple[LayerPoint, ...]  # points in the order of the network
    chosen: tuple[str, ...]  # the layers that the model commits to for this region
    notes: tuple[str, ...] = ()  # notes on stimuli, the ceiling, and the selection of layers

    @property
    def lines(self) -> tuple[dict[str, Any], ...]:
        """The points as text."""
        return tuple(
            {
                "layer": point.layer,
                "mark": " and ".join(
                    name for name, applies in (("chosen", point.chosen), ("best", point.best)) if applies
                ),
                "features": point.features,
                "score": point.reason
                if point.score is None and point.reason
                else estimate(point.score, point.error, point.low, point.high),
            }
            for point in self.points
        )


def layer_map(regions: Any) -> tuple[tuple[str, tuple[str, ...]], ...]:
    """Return the layers of each region, from a mapping of regions to one or several layers.

    Examples
    --------
    >>> layer_map({"V1": ["conv1"], "IT": "avgpool", "V4": None})
    (('V1', ('conv1',)), ('IT', ('avgpool',)))
    """
    if not isinstance(regions, Mapping):
        return ()
    pairs = ((str(region), _layers(layers)) for region, layers in regions.items())
    return tuple((region, layers) for region, layers in pairs if layers)


def profile_views(
    profiles: Iterable[tuple[str, str, Any]], regions: Sequence[tuple[str, tuple[str, ...]]]
) -> tuple[ProfileView, ...]:
    """Read profiles (region, benchmark, document); invalid ones are skipped.

    They are in the order of the regions of the model, with other regions last.
    """
    chosen = dict(regions)
    place = {region: number for number, region in enumerate(chosen)}
    views = [
        view for region, benchmark, document in profiles if (view := _profile_view(region, benchmark, document, chosen))
    ]
    return tuple(sorted(views, key=lambda view: (place.get(view.region, len(place)), view.region, view.benchmark)))


def profile_chart(profile: ProfileView) -> Svg:
    """Draw scores of layers in the order of the network; the best of the chosen layers is highlighted."""
    points = profile.points
    chosen = [number for number, point in enumerate(points) if point.chosen and point.score is not None]
    best = max(chosen, key=lambda number: points[number].score or 0.0, default=None)
    return lines(
        Lines(
            series=[
                Series(
                    name=profile.region,
                    x=[point.layer for point in points],
                    y=[or_nan(point.score) for point in points],
                    low=[or_nan(point.low) for point in points],
                    high=[or_nan(point.high) for point in points],
                    labels=[point.layer for point in points],
                )
            ]
            if len({point.layer for point in points}) == len(points)
            else [Series(name=profile.region, x=list(range(len(points))), y=[or_nan(point.score) for point in points])],
            title=f"Layers on {profile.benchmark}",
            description=f"Score of each layer for {profile.region}; the table below has the numbers.",
            x_title="layer, in the network's order",
            y_title="score",
            highlight=None if best is None else (0, best),
            width=360,
            height=300,
        )
    )


def _profile_view(
    region: str, benchmark: str, document: Any, chosen: Mapping[str, tuple[str, ...]]
) -> ProfileView | None:
    if not isinstance(document, Mapping) or not isinstance(document.get("scores"), list):
        return None
    layers = chosen.get(region, ())
    best = document.get("best")
    points = tuple(
        _layer_point(item, layers, best)
        for item in document["scores"]
        if isinstance(item, Mapping) and item.get("layer")
    )
    if not points:
        return None
    return ProfileView(
        region=region, benchmark=benchmark, points=points, chosen=layers, notes=tuple(_profile_notes(document))
    )


def _layer_point(item: Mapping[str, Any], chosen: Sequence[str], best: Any) -> LayerPoint:
    interval = item.get("ci")
    low, high = interval if isinstance(interval, list | tuple) and len(interval) == 2 else (None, None)
    layer = str(item["layer"])
    return LayerPoint(
        layer=layer,
        features=count_text(item.get("features")),
        score=finite(item.get("score")),
        error=finite(item.get("error")),
        low=finite(low),
        high=finite(high),
        chosen=layer in chosen,
        best=layer == best,
        reason=str(item.get("reason") or ""),
    )


def _profile_notes(document: Mapping[str, Any]) -> Iterable[str]:
    if document.get("stimuli"):
        yield f"{count_text(document['stimuli'])} stimuli"
    ceiling = finite(document.get("ceiling"))
    yield "scores as measured, without a ceiling" if ceiling is None else f"relative to the ceiling, {number(ceiling)}"
    held_out = document.get("held_out")
    if isinstance(held_out, Mapping) and finite(held_out.get("value")) is not None:
        yield (
            f"chosen on one half of the stimuli and scored on the other: {number(held_out['value'])} raw, "
            f"{number(held_out.get('optimism'))} less than on the first half"
        )
    elif document.get("no_halves"):
        yield str(document["no_halves"])


def _layers(layers: Any) -> tuple[str, ...]:
    if isinstance(layers, str):
        return (layers,) if layers else ()
    if isinstance(layers, Mapping):  # by time bin
        return tuple(dict.fromkeys(layer for part in layers.values() for layer in _layers(part)))
    return tuple(str(layer) for layer in layers) if isinstance(layers, list | tuple) else ()


@dataclass(frozen=True, kw_only=True)
class ModelData:
    """Data of a model from the database, in addition to its row and the snapshot."""

    scores: Mapping[int, tuple[ScorePoint, ScoreLine]]  # all scores of the model, by primary key
    versions: Sequence[VersionSince]  # versions of all benchmarks
    there: Mapping[str, datetime]  # since when benchmarks exist
    profiles: Sequence[tuple[str, str, Any]] = ()  # layer profiles
    angle: Any = None  # visual angle that the last receipt with one records
    packaged: bool = True  # whether the model is part of an installed package


def find_model(identifier: str, visitor: Visitor) -> VisionModel | None:
    """Return the model if it exists and the visitor may see it."""
    return VisionModel.objects.visible_to(visitor).select_related("owner", "lab").filter(identifier=identifier).first()


def near_models(identifier: str, visitor: Visitor, domain: str) -> list[str]:
    """Return similar identifiers among the models of a domain that the visitor may see."""
    visible = VisionModel.objects.visible_to(visitor).filter(domain=domain)
    return nearest(identifier, visible.values_list("identifier", flat=True))


def model_data(model: VisionModel, visitor: Visitor) -> ModelData:
    """Return the data of a model that the visitor may see, with four queries."""
    rows = list(Benchmark.objects.filter(is_mean=False).order_by().values_list("pk", "identifier", "created"))
    benchmarks = {pk: identifier for pk, identifier, _ in rows}
    scores = {}
    angle = None
    rows_of_scores = Score.objects.filter(model=model).with_shows_data(visitor).annotate(**ANNOTATIONS)
    for row in rows_of_scores.order_by("created", "receipt").values(
        "pk", "benchmark_id", "shows_data", "document__model__visual_angle", *ScoreLine._fields
    ):
        angle = row["document__model__visual_angle"] or angle
        if not row["shows_data"]:
            row["reason"], row["has_outcomes"] = withheld_reason(row["state"], row["reason"]), False
        if row["benchmark_id"] in benchmarks:
            row["benchmark"] = benchmarks[row["benchmark_id"]]
            point = ScorePoint._make(row[name] for name in ScorePoint._fields)
            scores[row["pk"]] = point, ScoreLine._make(row[name] for name in ScoreLine._fields)
    versions = BenchmarkVersion.objects.order_by().values_list("benchmark_id", "version", "since")
    profiles = LayerProfile.objects.filter(model=model).values_list("region", "benchmark", "document")
    return ModelData(
        scores=scores,
        versions=[VersionSince(benchmarks[pk], version, since) for pk, version, since in versions if pk in benchmarks],
        there={identifier: created for _, identifier, created in rows},
        profiles=list(profiles),
        angle=angle,
        packaged=model.identifier in installed(model.domain, "model"),
    )


def training_of(snapshot: Snapshot, identifier: str, address: str) -> dict[str, Any] | None:
    """Return the states of a model during its training that the visitor may see; None if there is only one."""
    model = series_point(identifier).model
    alike = [row.identifier for row in snapshot.models if series_point(row.identifier).model == model]
    if len(alike) < 2:
        return None
    ((listed, states),) = states_of_models(alike).items()
    rows = [snapshot.model_index[state] for state in states]
    value, low, high = (array[rows] for array in (snapshot.value, snapshot.low, snapshot.high))
    lines = []
    for column in np.flatnonzero(np.isfinite(value).sum(axis=0) > 1)[:_MOST_TRAINING].tolist():
        benchmark = snapshot.benchmarks[column]
        scores = [
            StateScore(
                benchmark.identifier,
                state,
                float(value[place, column]),
                finite(low[place, column]),
                finite(high[place, column]),
                href=f"{address}{quote(state)}/",
            )
            for place, state in enumerate(states)
            if np.isfinite(value[place, column])
        ]
        chart = training_plot(scores, identifier=f"training-{column}")
        if chart is not None:
            texts = tuple((one.identifier, estimate(one.value, None, one.low, one.high)) for one in scores)
            lines.append({"benchmark": scores[0].benchmark, "chart": chart, "states": texts})
    return {"model": model, "listed": listed, "lines": tuple(lines)}


def model_card(
    model: VisionModel, board: Board, data: ModelData, opened: Collection[str] | None = None
) -> dict[str, Any]:
    """Return the content of a model's card."""
    there = model.identifier in board.snapshot.model_index
    if opened is None:
        opened = open_at_first(board.nodes, tried(board, model.identifier) if there else None)
    shown = frozenset(opened)
    lines = {key: line for key, (_, line) in data.scores.items()}
    rows = score_rows(board, model.identifier, lines, shown) if there else ()
    regions = layer_map(model.regions)
    return {
        "identifier": model.identifier,
        "title": str(model),
        "owner": model.owner,
        "lab": model.lab,
        "private": model.visibility != "public",
        "facts": model_facts(model, _training(model, board), data.angle),
        "notes": notes_of(model.details),
        "layers": regions,
        "rows": rows,
        "chart": regions_chart(model, rows),
        "headline": [row for row in rows if row["upper"]],  # the results shown first
        "n_scored": sum(row["kind"] == "benchmark" and row["state_name"] == "scored" for row in rows),
        "doubtful": there and bool(board.snapshot.verification[board.snapshot.model_index[model.identifier]].any()),
        "axis": score_axis(board, model.identifier) if there else Axis(0.0, 1.0),
        "opened": shown,
        "unscored": tuple(_unscored(rows)),
        "profiles": profile_views(data.profiles, regions),
        "code": model_code(
            domain(model.domain),
            model.identifier,
            _example(rows),
            runnable=model.runnable and (not is_simulated(model.identifier) or bool(distribution_of(model.details))),
            packaged=data.packaged,
            distribution=distribution_of(model.details),
        ),
        "citation": citation_of(model.bibtex, model.identifier, model.source),
        "means": _means(board, data, rows),
        "rescored": _rescored(board, data),
    }


def regions_chart(model: VisionModel, rows: Sequence[dict[str, Any]]) -> Svg | None:
    """Draw the means of a model with intervals, best and median model; without means, its benchmarks.

    None if the model has no score.
    """
    scored = [row for row in rows if row["value"] is not None]
    drawn = [row for row in scored if row["kind"] == "mean" and row["depth"] <= _DEEPEST_DRAWN]
    drawn = (drawn or [row for row in scored if row["kind"] == "benchmark"])[:_MOST_DRAWN]
    if not drawn:
        return None
    dots = [
        DotsRow(
            label=row["title"],
            value=row["value"],
            low=or_nan(row["low"]),
            high=or_nan(row["high"]),
            href=reverse("cards:benchmark", args=[model.domain, row["identifier"]]),
            marks=[Mark(value=or_nan(row["marks"][kind]), kind=kind) for kind in ("best", "median")],
            text=row["score"],
            indent=row["depth"] if row["kind"] == "mean" else 0,
        )
        for row in drawn
    ]
    numbers = (
        f"{row['title']}: {row['score']}, best model {row['best']}, median model {row['median']}" for row in drawn
    )
    return dots_with_intervals(
        Dots(
            rows=dots,
            title=f"Scores of {model}, with the best and the median model",
            description=f"{'; '.join(numbers)}.",
            x_title="score",
            width=360,
            identifier="regions-chart",
        )
    )


def _training(model: VisionModel, board: Board) -> Training:
    """What a model was trained on; of one without scores, only what it states itself."""
    at = board.snapshot.model_index.get(model.identifier)
    if at is not None:
        return board.snapshot.models[at].training
    names = names_in(model.trained_on)
    return Training(names or (), complete=names is not None and not model.fine_tuned_from)


def _unscored(rows: Iterable[dict[str, Any]]) -> Iterable[dict[str, Any]]:
    groups: dict[str, list[tuple[str, str, str]]] = {}
    for row in rows:
        if row["kind"] == "benchmark" and row["state_name"] != "scored":
            groups.setdefault(row["state_name"], []).append((row["identifier"], row["title"], row["reason"]))
    for state in STATES:
        if state in groups:
            yield {"state": STATES[state], "benchmarks": tuple(groups[state])}


def _example(rows: Iterable[dict[str, Any]]) -> str | None:
    """Return a benchmark with public data on which the model was scored."""
    scored = (row for row in rows if row["kind"] == "benchmark" and row["state_name"] == "scored")
    return next((row["identifier"] for row in scored if not row["private"]), None)


def _means(board: Board, data: ModelData, rows: Sequence[dict[str, Any]]) -> tuple[MeanHistory, ...]:
    chosen = {row["identifier"]: row["title"] for row in rows if row["upper"]}
    points = [point for point, _ in data.scores.values()]
    tree = board.snapshot.tree
    inside = set(tree.benchmarks)
    days = moments(
        (point for point in points if point.benchmark in inside),
        (version for version in data.versions if version.benchmark in inside),
    )
    history = mean_history(tree, points, data.versions, data.there, days, tuple(chosen))
    return tuple(
        MeanHistory(identifier=node, title=chosen[node], points=history[node])
        for node in chosen
        if any(point.value is not None for point in history[node])
    )


def rank_days(data: ModelData) -> tuple[date, ...]:
    """Return the days between which steps of the rank are explained: changes of the model's means, and today."""
    today = datetime.now(UTC).date()
    days = moments((point for point, _ in data.scores.values()), data.versions, most=RANK_DAYS)
    return tuple(sorted({*(day for day in days if day < today), today}))


RANK_DAYS = 12
"""Maximum number of days between which steps of the rank are explained."""


def _rescored(board: Board, data: ModelData) -> tuple[Rescored, ...]:
    benchmarks = board.snapshot.benchmarks
    return rescored(
        (point for point, _ in data.scores.values()),
        [row.identifier for row in benchmarks],
        {row.identifier: row.version for row in benchmarks},
    )
