"""The card of a model, with the profiles of its layers."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, NamedTuple

from brainscore_web.leaderboard.board import Board
from brainscore_web.leaderboard.cards._facts import (
    Citation,
    Code,
    Fact,
    citation_of,
    distribution_of,
    model_code,
    model_facts,
    notes_of,
)
from brainscore_web.leaderboard.cards._formatting import (
    STATES,
    Axis,
    StateText,
    count,
    estimate,
    interval,
    number,
)
from brainscore_web.leaderboard.cards._history import (
    MeanPoint,
    Rescored,
    ScorePoint,
    VersionSince,
    mean_history,
    moments,
    rescored,
)
from brainscore_web.leaderboard.cards._scores import ScoreLine, ScoreRow, default_open, score_axis, score_rows
from brainscore_web.leaderboard.clean import finite
from brainscore_web.leaderboard.models import VisionModel

__all__ = ["MeanHistory", "ModelCard", "ModelData", "ProfileView", "model_card"]


@dataclass(frozen=True, kw_only=True)
class LayerPoint:
    """Score of one layer; None where there is no number, with the reason."""

    layer: str
    features: str
    score: float | None
    error: float | None
    low: float | None
    high: float | None
    chosen: bool
    best: bool
    reason: str = ""


class LayerLine(NamedTuple):
    """The same as text."""

    layer: str
    mark: str
    features: str
    score: str
    interval: str


@dataclass(frozen=True, kw_only=True)
class ProfileView:
    """All layers on what a region was scored on.

    Attributes
    ----------
    region, benchmark : str
        Which region, and on what the layers were scored.
    points : tuple of LayerPoint
        In the network's order.
    chosen : tuple of str
        The layers that the model commits to for this region.
    notes : tuple of str
        Ceiling, stimuli, and what choosing on other stimuli gives.
    """

    region: str
    benchmark: str
    points: tuple[LayerPoint, ...]
    chosen: tuple[str, ...]
    notes: tuple[str, ...] = ()

    @property
    def lines(self) -> tuple[LayerLine, ...]:
        """The points as text."""
        return tuple(
            LayerLine(
                layer=point.layer,
                mark=" and ".join(name for name, is_it in (("chosen", point.chosen), ("best", point.best)) if is_it),
                features=point.features,
                score=point.reason if point.score is None and point.reason else estimate(point.score, point.error),
                interval=interval(point.low, point.high),
            )
            for point in self.points
        )


def layer_map(regions: Any) -> tuple[tuple[str, tuple[str, ...]], ...]:
    """Region and its layers, from what the model's row holds: a layer, or several.

    Examples
    --------
    >>> layer_map({"V1": ["conv1"], "IT": "avgpool", "V4": None})
    (('V1', ('conv1',)), ('IT', ('avgpool',)))
    """
    if not isinstance(regions, Mapping):
        return ()
    found = ((str(region), _layers(layers)) for region, layers in regions.items())
    return tuple((region, layers) for region, layers in found if layers)


def profile_views(
    profiles: Iterable[tuple[str, str, Any]], regions: Sequence[tuple[str, tuple[str, ...]]]
) -> tuple[ProfileView, ...]:
    """Read profiles: region, benchmark, document; one that cannot be read is left out.

    Regions come in the order of the model's map, others after them.
    """
    chosen = dict(regions)
    place = {region: number for number, region in enumerate(chosen)}
    views = [
        view for region, benchmark, document in profiles if (view := _profile_view(region, benchmark, document, chosen))
    ]
    return tuple(sorted(views, key=lambda view: (place.get(view.region, len(place)), view.region, view.benchmark)))


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
        features=count(item.get("features")),
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
        yield f"{document['stimuli']:,} stimuli"
    ceiling = finite(document.get("ceiling"))
    yield "scores as measured, without a ceiling" if ceiling is None else f"relative to the ceiling, {number(ceiling)}"
    held_out = document.get("held_out")
    if isinstance(held_out, Mapping) and finite(held_out.get("value")) is not None:
        yield (
            f"chosen on one half of the stimuli and scored on the other: {number(held_out['value'])} raw, "
            f"{number(held_out.get('optimism'))} less than where it was chosen"
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
    """What the database says about a model, besides its row and the snapshot.

    Attributes
    ----------
    scores : dict of int to (ScorePoint, ScoreLine)
        All of its scores, by primary key.
    versions : sequence of VersionSince
        Of all benchmarks.
    there : mapping of str to datetime
        Since when benchmarks have been there.
    profiles : sequence of (region, benchmark, document)
        Of its layers.
    packaged : bool
        Whether the model comes with the package.
    """

    scores: Mapping[int, tuple[ScorePoint, ScoreLine]]
    versions: Sequence[VersionSince]
    there: Mapping[str, datetime]
    profiles: Sequence[tuple[str, str, Any]] = ()
    packaged: bool = True


@dataclass(frozen=True, kw_only=True)
class Unscored:
    """Benchmarks without a score, for the same kind of reason: identifier, title, reason."""

    state: StateText
    benchmarks: tuple[tuple[str, str, str], ...]


@dataclass(frozen=True, kw_only=True)
class MeanHistory:
    """A mean over time."""

    identifier: str
    title: str
    points: tuple[MeanPoint, ...]


@dataclass(frozen=True, kw_only=True)
class ModelCard:
    """Everything that is shown of a model.

    Attributes
    ----------
    identifier, title, owner : str
        The owner's public name, or nothing.
    private : bool
        Whether others do not see it.
    facts, notes
        What is known of it.
    layers : tuple of (region, layers)
        Which layers stand for which region.
    rows : tuple of ScoreRow
        The tree; empty where nothing was scored yet.
    axis : Axis
        Of the bars in these rows.
    opened : frozenset of str
        Nodes whose children are shown.
    unscored : tuple of Unscored
        What has no score, and why.
    profiles : tuple of ProfileView
        Scores of its layers.
    code : Code or None
        How to run it.
    citation : Citation or None
        How to cite it.
    means : tuple of MeanHistory
        Over time.
    rescored : tuple of Rescored
        Benchmarks with more than one result.
    """

    identifier: str
    title: str
    owner: str
    private: bool
    facts: tuple[Fact, ...]
    notes: tuple[str, ...]
    layers: tuple[tuple[str, tuple[str, ...]], ...]
    rows: tuple[ScoreRow, ...]
    axis: Axis
    opened: frozenset[str]
    unscored: tuple[Unscored, ...]
    profiles: tuple[ProfileView, ...]
    code: Code | None
    citation: Citation | None
    means: tuple[MeanHistory, ...]
    rescored: tuple[Rescored, ...]

    @property
    def headline(self) -> tuple[ScoreRow, ...]:
        """The numbers to see first."""
        return tuple(row for row in self.rows if row.upper)


def model_card(model: VisionModel, board: Board, data: ModelData, opened: Collection[str] | None = None) -> ModelCard:
    """Make the card of a model.

    Parameters
    ----------
    model : VisionModel
        One that the visitor may see.
    board : Board
        Of all models and benchmarks that the visitor sees.
    data : ModelData
        Of this model.
    opened : collection of str, optional
        Nodes whose children are shown.
    """
    shown = default_open(board.nodes) if opened is None else frozenset(opened)
    there = model.identifier in board.snapshot.model_index
    lines = {key: line for key, (_, line) in data.scores.items()}
    rows = score_rows(board, model.identifier, lines, shown) if there else ()
    regions = layer_map(model.regions)
    return ModelCard(
        identifier=model.identifier,
        title=str(model),
        owner=model.owner.public_name if model.owner else "",
        private=model.visibility != "public",
        facts=model_facts(model),
        notes=notes_of(model.details),
        layers=regions,
        rows=rows,
        axis=score_axis(board, model.identifier) if there else Axis(0.0, 1.0),
        opened=shown,
        unscored=tuple(_unscored(rows)),
        profiles=profile_views(data.profiles, regions),
        code=model_code(
            model.identifier,
            _example(rows),
            runnable=model.runnable,
            packaged=data.packaged,
            distribution=distribution_of(model.details),
        ),
        citation=citation_of(model.bibtex, model.identifier, model.source),
        means=_means(board, data, rows),
        rescored=_rescored(board, data),
    )


def _unscored(rows: Iterable[ScoreRow]) -> Iterable[Unscored]:
    groups: dict[str, list[tuple[str, str, str]]] = {}
    for row in rows:
        if row.kind == "benchmark" and row.state_name != "scored":
            groups.setdefault(row.state_name, []).append((row.identifier, row.title, row.reason))
    for state in STATES:
        if state in groups:
            yield Unscored(state=STATES[state], benchmarks=tuple(groups[state]))


def _example(rows: Iterable[ScoreRow]) -> str | None:
    """A benchmark that everybody can score on, of those that the model was scored on."""
    return next(
        (row.identifier for row in rows if row.kind == "benchmark" and row.state_name == "scored" and not row.private),
        None,
    )


def _means(board: Board, data: ModelData, rows: Sequence[ScoreRow]) -> tuple[MeanHistory, ...]:
    chosen = {row.identifier: row.title for row in rows if row.upper}
    points = [point for point, _ in data.scores.values()]
    tree = board.snapshot.tree
    inside = set(tree.benchmarks)
    days = moments(
        (point for point in points if point.benchmark in inside),
        (one for one in data.versions if one.benchmark in inside),
    )
    found = mean_history(tree, points, data.versions, data.there, days, tuple(chosen))
    return tuple(
        MeanHistory(identifier=node, title=chosen[node], points=found[node])
        for node in chosen
        if any(point.value is not None for point in found[node])
    )


def _rescored(board: Board, data: ModelData) -> tuple[Rescored, ...]:
    benchmarks = board.snapshot.benchmarks
    return rescored(
        (point for point, _ in data.scores.values()),
        [one.identifier for one in benchmarks],
        {one.identifier: one.version for one in benchmarks},
    )
