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
    """Draw means over time; empty with less than two days."""
    series = [
        Series(
            name=history.title,
            x=[point.day for point in history.points],
            y=[or_nan(point.value) for point in history.points],
            low=[or_nan(point.value) - 1.96 * or_nan(point.error) for point in history.points],
            high=[or_nan(point.value) + 1.96 * or_nan(point.error) for point in history.points],
            labels=[
                f"{history.title}, {point.day}: {estimate(point.value, point.error)}, "
                f"{point.n_scored} of {point.n_all} benchmarks"
                for point in history.points
            ],
        )
        for history in histories
        if len(history.points) > 1
    ]
    if not series:
        return Svg("")
    return lines(
        Lines(
            series=series,
            title="Means over time",
            description="Each mean on the days on which it may have changed; the table below has the numbers.",
            x_title="date",
            y_title="mean score",
            width=640,
            height=300,
        )
    )


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
            width=480,
            height=300,
        )
    )


def models_chart(card: BenchmarkCard, most: int | None = None) -> Svg:
    """Draw the scores of models on a benchmark with intervals, highest first."""
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
    """Return means over time as text: mean, day, value, benchmarks."""
    return tuple(
        (history.title, f"{point.day}", estimate(point.value, point.error), f"{point.n_scored} of {point.n_all}")
        for history in histories
        for point in history.points
    )


class ResultText(NamedTuple):
    """One result of a model on a benchmark."""

    version: str
    text: str
    day: str
    receipt: str


class HistoryLine(NamedTuple):
    """Results of a model on one benchmark, as a drawing and as text."""

    benchmark: str
    chart: SafeString
    points: tuple[ResultText, ...]


def history_lines(rescored: Sequence[Rescored]) -> tuple[HistoryLine, ...]:
    """Return the lines of benchmarks with more than one result."""
    return tuple(
        HistoryLine(
            benchmark=results.benchmark,
            chart=_spark(results),
            points=tuple(
                ResultText(
                    version=point.version or "?",
                    text=estimate(point.value, point.error) if point.state == "scored" else point.state,
                    day=f"{point.created:%Y-%m-%d}",
                    receipt=point.receipt,
                )
                for point in results.points
            ),
        )
        for results in rescored
    )


def _spark(results: Rescored) -> SafeString:
    """Draw results on one benchmark over time; those of other versions are hollow."""
    values = [or_nan(value) for point in results.points for value in (point.value, point.low, point.high)]
    return spark(
        axis_of(values),
        [
            (point.created.timestamp(), point.value, point.low, point.high, point.version == results.current)
            for point in results.points
        ],
    )


def _number(text: str) -> float | None:
    try:
        return float(text.replace("−", "-"))
    except ValueError:
        return None
