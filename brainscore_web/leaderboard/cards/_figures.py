"""Charts of the cards."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from django.urls import reverse
from django.utils.safestring import SafeString

from brainscore_core.figures import Dots, DotsRow, Lines, Mark, Series, Svg, dots_with_intervals, lines
from brainscore_web.leaderboard.cards._benchmark import BenchmarkCard
from brainscore_web.leaderboard.cards._formatting import axis_of, estimate, spark
from brainscore_web.leaderboard.cards._history import Rescored
from brainscore_web.leaderboard.cards._model import MeanHistory, ProfileView
from brainscore_web.leaderboard.clean import finite, or_nan

__all__ = ["history_lines", "means_chart", "means_lines", "models_chart", "profile_chart"]


def means_chart(histories: Sequence[MeanHistory]) -> Svg:
    """Means over time; nothing where there is no more than one day."""
    series = [
        Series(
            name=one.title,
            x=[point.day for point in one.points],
            y=[or_nan(point.value) for point in one.points],
            low=[or_nan(point.value) - 1.96 * or_nan(point.error) for point in one.points],
            high=[or_nan(point.value) + 1.96 * or_nan(point.error) for point in one.points],
            labels=[
                f"{one.title}, {point.day}: {estimate(point.value, point.error)}, "
                f"{point.n_scored} of {point.n_all} benchmarks"
                for point in one.points
            ],
        )
        for one in histories
        if len(one.points) > 1
    ]
    if not series:
        return Svg("")
    return lines(
        Lines(
            series=series,
            title="Means over time",
            description="Each mean on the days on which it can have changed; the table below has the numbers.",
            x_title="date",
            y_title="mean score",
            width=640,
            height=300,
        )
    )


def profile_chart(profile: ProfileView) -> Svg:
    """Scores of the layers, in the network's order; a chosen layer is ringed, the best of those that are chosen."""
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
            width=480,
            height=300,
        )
    )


def models_chart(card: BenchmarkCard, most: int | None = None) -> Svg:
    """Models on a benchmark, the highest first, with intervals."""
    median = finite(_number(card.median))
    marks = () if median is None else (Mark(value=median, kind="median"),)
    rows = [
        DotsRow(
            label=model.title,
            value=model.value,
            low=or_nan(model.low),
            high=or_nan(model.high),
            href=reverse("cards:model", args=[model.identifier]),
            marks=marks,
            text=model.score,
        )
        for model in card.models[:most]
    ]
    return dots_with_intervals(
        Dots(rows=rows, title=f"Models on {card.title}", x_title="score", width=640, identifier="models-chart")
    )


def means_lines(histories: Sequence[MeanHistory]) -> tuple[tuple[str, str, str, str], ...]:
    """The same as text: mean, day, value, benchmarks."""
    return tuple(
        (one.title, f"{point.day}", estimate(point.value, point.error), f"{point.n_scored} of {point.n_all}")
        for one in histories
        for point in one.points
    )


class ResultText(NamedTuple):
    """One result of a model on a benchmark."""

    version: str
    text: str
    day: str
    receipt: str


class HistoryLine(NamedTuple):
    """Results of a model on one benchmark, drawn and as text."""

    benchmark: str
    chart: SafeString
    points: tuple[ResultText, ...]


def history_lines(found: Sequence[Rescored]) -> tuple[HistoryLine, ...]:
    """Benchmarks with more than one result."""
    return tuple(
        HistoryLine(
            benchmark=one.benchmark,
            chart=_spark(one),
            points=tuple(
                ResultText(
                    version=point.version or "?",
                    text=estimate(point.value, point.error) if point.state == "scored" else point.state,
                    day=f"{point.created:%Y-%m-%d}",
                    receipt=point.receipt,
                )
                for point in one.points
            ),
        )
        for one in found
    )


def _spark(one: Rescored) -> SafeString:
    """Results on one benchmark over time; those of other versions are hollow."""
    values = [or_nan(value) for point in one.points for value in (point.value, point.low, point.high)]
    return spark(
        axis_of(values),
        [
            (point.created.timestamp(), point.value, point.low, point.high, point.version == one.current)
            for point in one.points
        ],
    )


def _number(text: str) -> float | None:
    try:
        return float(text.replace("−", "-"))
    except ValueError:
        return None
