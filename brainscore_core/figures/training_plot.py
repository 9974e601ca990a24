"""Plots of the states of a model: scores over epochs of its training, or over seeds."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import nan

from brainscore_core.figures.axes import Svg
from brainscore_core.figures.line_plot import Lines, Series, lines
from brainscore_core.identifiers import series_point

_SHIFT = 0.2  # of the smallest distance between epochs, for all lines


@dataclass(frozen=True)
class StateScore:
    """Score of one state of a model on a benchmark."""

    benchmark: str
    identifier: str
    value: float
    low: float | None = None
    high: float | None = None
    href: str | None = None


def training_plot(scores: Sequence[StateScore], *, title: str = "", identifier: str = "") -> Svg | None:
    """Draw scores over epochs with their intervals: a line for each benchmark and seed.

    States without an epoch are left out, unless there are no others: then scores are drawn over seeds. None if there is
    nothing to draw.

    Parameters
    ----------
    scores : sequence of StateScore
        Scores of one model.
    title, identifier : str
        Of the figure; for assistive technology, and if a page contains several figures.

    Examples
    --------
    >>> scores = [StateScore("A-x", "net@epoch0", 0.1, 0.0, 0.2), StateScore("A-x", "net@epoch5", 0.3, 0.2, 0.4)]
    >>> training_plot(scores).count("<circle")
    2
    """
    points = [(series_point(score.identifier), score) for score in scores]
    over_epochs = any(point.epoch is not None for point, _ in points)
    drawn = [(point, score) for point, score in points if (point.epoch if over_epochs else point.seed) is not None]
    if not drawn:
        return None
    groups: dict[tuple[str, int | None], list[tuple[int, StateScore]]] = {}
    for point, score in drawn:
        x_value = point.epoch if over_epochs else point.seed
        groups.setdefault((score.benchmark, point.seed if over_epochs else None), []).append((x_value or 0, score))
    x_values = sorted({x_value for states in groups.values() for x_value, _ in states})
    # lines are moved apart a little, so that intervals at the same epoch are beside each other
    step = _SHIFT * min((right - left for left, right in pairwise(x_values)), default=1) / len(groups)
    several = len({benchmark for benchmark, _ in groups}) > 1
    series = []
    ordered_groups = sorted(groups.items(), key=lambda item: (item[0][0], item[0][1] or 0))
    for number, ((benchmark, seed), states) in enumerate(ordered_groups):
        shift = step * (number - (len(groups) - 1) / 2)
        ordered = sorted(states, key=lambda item: item[0])
        named = [benchmark] if several or seed is None else []
        series.append(
            Series(
                name=", ".join([*named, *([] if seed is None else [f"seed {seed}"])]),
                x=[x_value + shift for x_value, _ in ordered],
                y=[score.value for _, score in ordered],
                low=[nan if score.low is None else score.low for _, score in ordered],
                high=[nan if score.high is None else score.high for _, score in ordered],
                labels=[score.identifier for _, score in ordered],
                hrefs=[score.href for _, score in ordered],
            )
        )
    model = drawn[0][0].model
    return lines(
        Lines(
            series=series,
            title=title or f"Scores of {model} during training",
            x_title="epoch" if over_epochs else "seed",
            y_title="score",
            identifier=identifier,
        )
    )
