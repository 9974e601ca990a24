"""The card of a model, with the profiles of its layers.

Database queries read what the visitor may see; from these data, pure functions compute the content.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence, Set
from datetime import UTC, date, datetime
from math import isnan
from typing import Any, NamedTuple
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
from brainscore_web.leaderboard.cards.formatting import Axis, estimate, number
from brainscore_web.leaderboard.cards.history import MeanHistory, mean_history, moments, rescored
from brainscore_web.leaderboard.cards.scores import ScoreLine, by_state, load_lines, score_axis, score_rows, tried
from brainscore_web.leaderboard.clean import finite, objects_in, or_nan
from brainscore_web.leaderboard.clean import number as finite_number
from brainscore_web.leaderboard.exposure import names_in
from brainscore_web.leaderboard.models import LayerProfile, Score, VisionModel, Visitor
from brainscore_web.leaderboard.simulation import is_simulated
from brainscore_web.leaderboard.snapshot import Snapshot, VersionHistory, load_versions

_MOST_DRAWN, _DEEPEST_DRAWN = 16, 2
"""Maximum number of rows of the figure of a model's scores, and the deepest level of the tree in it."""

_MOST_TRAINING = 24
"""Maximum number of benchmarks whose scores during training are drawn."""


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


def profiles_of(
    profiles: Iterable[tuple[str, str, Any]], regions: Sequence[tuple[str, tuple[str, ...]]]
) -> list[dict[str, Any]]:
    """Read profiles (region, benchmark, document): scores of all layers on one benchmark; invalid ones are skipped.

    They are in the order of the regions of the model, with other regions last.
    """
    chosen = dict(regions)
    place = {region: number for number, region in enumerate(chosen)}
    return [
        _profile(region, benchmark, document, chosen.get(region, ()))
        for region, benchmark, document in sorted(profiles, key=lambda row: (place.get(row[0], len(place)), row[:2]))
        if isinstance(document, Mapping) and any(item.get("layer") for item in objects_in(document, "scores"))
    ]


def _profile(region: str, benchmark: str, document: Mapping[str, Any], chosen: Sequence[str]) -> dict[str, Any]:
    lines_shown = []
    for item in objects_in(document, "scores"):
        layer, interval, reason = str(item.get("layer") or ""), item.get("ci"), item.get("reason")
        low, high = interval if isinstance(interval, list) and len(interval) == 2 else (None, None)
        numbers = [finite_number(value) for value in (item.get("score"), item.get("error"), low, high)]
        marks = (("chosen", layer in chosen), ("best", layer == document.get("best")))
        if layer:
            lines_shown.append(
                {
                    "layer": layer,
                    "mark": " and ".join(name for name, applies in marks if applies),
                    "features": count_text(item.get("features")),
                    "score": str(reason) if numbers[0] is None and reason else estimate(*numbers),
                    "numbers": numbers,
                }
            )
    return {
        "region": region,
        "benchmark": benchmark,
        "chosen": chosen,
        "notes": tuple(_profile_notes(document)),
        "lines": lines_shown,
        "chart": _profile_chart(region, benchmark, lines_shown, chosen),
    }


def _profile_chart(region: str, benchmark: str, shown: Sequence[dict[str, Any]], chosen: Sequence[str]) -> Svg:
    """Draw scores of layers in the order of the network; the best of the chosen layers is highlighted."""
    names = [line["layer"] for line in shown]
    score, _, low, high = ([or_nan(line["numbers"][at]) for line in shown] for at in range(4))
    candidates = [at for at, name in enumerate(names) if name in chosen and not isnan(score[at])]
    best = max(candidates, key=lambda at: score[at], default=None)
    series = (
        Series(name=region, x=names, y=score, low=low, high=high, labels=names)
        if len(set(names)) == len(names)
        else Series(name=region, x=list(range(len(names))), y=score)
    )
    return lines(
        Lines(
            series=[series],
            title=f"Layers on {benchmark}",
            description=f"Score of each layer for {region}; the table below has the numbers.",
            x_title="layer, in the network's order",
            y_title="score",
            highlight=None if best is None else (0, best),
            width=360,
            height=300,
        )
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


class ModelData(NamedTuple):
    """Data of a model from the database, in addition to its row and the snapshot."""

    scores: Mapping[int, ScoreLine]  # all scores of the model, by primary key
    versions: Mapping[str, VersionHistory]  # of all benchmarks, by identifier
    profiles: Sequence[tuple[str, str, Any]]  # layer profiles
    angle: Any  # visual angle that the last receipt with one records
    packaged: bool  # whether the model is part of an installed package

    def changes(self, names: Set[str]) -> list[datetime]:
        """Return when versions of these benchmarks were first seen."""
        known = self.versions.keys() & names
        return [version["since"] for name in known for version in self.versions[name].versions]


def find_model(identifier: str, visitor: Visitor) -> VisionModel | None:
    """Return the model if it exists and the visitor may see it."""
    return VisionModel.objects.visible_to(visitor).select_related("owner", "lab").filter(identifier=identifier).first()


def near_models(identifier: str, visitor: Visitor, domain: str) -> list[str]:
    """Return similar identifiers among the models of a domain that the visitor may see."""
    visible = VisionModel.objects.visible_to(visitor).filter(domain=domain)
    return nearest(identifier, visible.values_list("identifier", flat=True))


def model_data(model: VisionModel, visitor: Visitor) -> ModelData:
    """Return the data of a model that the visitor may see, with five queries."""
    scores = Score.objects.filter(model=model)
    angles = scores.filter(document__model__visual_angle__isnull=False).order_by("-created", "-receipt")
    profiles = LayerProfile.objects.filter(model=model).values_list("region", "benchmark", "document")
    return ModelData(
        scores=load_lines(scores, visitor),
        versions=load_versions(),
        profiles=list(profiles),
        angle=next(filter(None, angles.values_list("document__model__visual_angle", flat=True)), None),
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
    rows = score_rows(board, model.identifier, data.scores, shown) if there else ()
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
        "unscored": by_state(_unscored(rows)),
        "profiles": profiles_of(data.profiles, regions),
        "code": model_code(
            domain(model.domain),
            model.identifier,
            _example(rows),
            runnable=model.runnable and (not is_simulated(model.identifier) or bool(distribution_of(model.details))),
            packaged=data.packaged,
            distribution=distribution_of(model.details),
        ),
        "citation": citation_of(model.bibtex, model.identifier, model.source),
        "means": _means(board, model.identifier, data, rows) if there else [],
        "rescored": rescored(data.scores.values(), {row.identifier: row.version for row in board.snapshot.benchmarks}),
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


def _unscored(rows: Iterable[dict[str, Any]]) -> Iterable[tuple[str, tuple[str, str, str]]]:
    for row in rows:
        if row["kind"] == "benchmark" and row["state_name"] != "scored":
            yield row["state_name"], (row["identifier"], row["title"], row["reason"])


def _example(rows: Iterable[dict[str, Any]]) -> str | None:
    """Return a benchmark with public data on which the model was scored."""
    scored = (row for row in rows if row["kind"] == "benchmark" and row["state_name"] == "scored")
    return next((row["identifier"] for row in scored if not row["private"]), None)


def _means(board: Board, model: str, data: ModelData, rows: Sequence[dict[str, Any]]) -> list[MeanHistory]:
    titles = {row["identifier"]: row["title"] for row in rows if row["upper"]}
    inside = set(board.snapshot.tree.benchmarks)
    scored = [line.created for line in data.scores.values() if line.benchmark in inside]
    days = moments(scored, data.changes(inside))
    history = mean_history(board.snapshot, model, data.versions, days, titles) if days else {}
    return [
        MeanHistory(node, titles[node], points)
        for node, points in history.items()
        if any(point.value is not None for point in points)
    ]


def rank_days(data: ModelData) -> tuple[date, ...]:
    """Return the days between which steps of the rank are explained: changes of the model's means, and today."""
    today = datetime.now(UTC).date()
    days = moments((line.created for line in data.scores.values()), data.changes(data.versions.keys()), most=RANK_DAYS)
    return tuple(sorted({*(day for day in days if day < today), today}))


RANK_DAYS = 12
"""Maximum number of days between which steps of the rank are explained."""
