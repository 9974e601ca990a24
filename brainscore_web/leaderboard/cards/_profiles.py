"""How well each layer of a model predicts a region, from the profiles that `brainscore layers` writes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from brainscore_web.leaderboard.cards._formatting import count, estimate, interval, known, number

__all__ = ["LayerLine", "LayerPoint", "ProfileView", "layer_map", "profile_views"]


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
    views = [view for region, benchmark, document in profiles if (view := _view(region, benchmark, document, chosen))]
    return tuple(sorted(views, key=lambda view: (place.get(view.region, len(place)), view.region, view.benchmark)))


def _view(region: str, benchmark: str, document: Any, chosen: Mapping[str, tuple[str, ...]]) -> ProfileView | None:
    if not isinstance(document, Mapping) or not isinstance(document.get("scores"), list):
        return None
    layers = chosen.get(region, ())
    best = document.get("best")
    points = tuple(
        _point(item, layers, best) for item in document["scores"] if isinstance(item, Mapping) and item.get("layer")
    )
    if not points:
        return None
    return ProfileView(region=region, benchmark=benchmark, points=points, chosen=layers, notes=tuple(_notes(document)))


def _point(item: Mapping[str, Any], chosen: Sequence[str], best: Any) -> LayerPoint:
    interval = item.get("ci")
    low, high = interval if isinstance(interval, list | tuple) and len(interval) == 2 else (None, None)
    layer = str(item["layer"])
    return LayerPoint(
        layer=layer,
        features=count(item.get("features")),
        score=known(item.get("score")),
        error=known(item.get("error")),
        low=known(low),
        high=known(high),
        chosen=layer in chosen,
        best=layer == best,
        reason=str(item.get("reason") or ""),
    )


def _notes(document: Mapping[str, Any]) -> Iterable[str]:
    if document.get("stimuli"):
        yield f"{document['stimuli']:,} stimuli"
    ceiling = known(document.get("ceiling"))
    yield "scores as measured, without a ceiling" if ceiling is None else f"relative to the ceiling, {number(ceiling)}"
    held_out = document.get("held_out")
    if isinstance(held_out, Mapping) and known(held_out.get("value")) is not None:
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
