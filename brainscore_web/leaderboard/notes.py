"""Sentences that explain what a board shows."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from brainscore_web.leaderboard import search
from brainscore_web.leaderboard.snapshot import Snapshot
from brainscore_web.leaderboard.state import BoardState

__all__ = ["BoardSummary", "counted", "notes"]


class BoardSummary(NamedTuple):
    """What the notes are about.

    Attributes
    ----------
    rows, columns
        Models and benchmarks that pass the filters.
    ranked_by : str
        Title of the mean that models are ranked by; empty without a mean.
    n_ranked, n_sure : int
        Number of models that have this mean, and that have it with a standard error.
    too_many_groups : bool
        Whether the groups of ties were left out.
    n_without_raw : int
        Number of scores without a raw value, if raw values are shown.
    is_sorted : bool
        Whether the requested column to sort by is on the board.
    """

    rows: NDArray[np.intp]
    columns: NDArray[np.intp]
    ranked_by: str
    n_ranked: int
    n_sure: int
    too_many_groups: bool
    n_without_raw: int
    is_sorted: bool


def notes(snapshot: Snapshot, state: BoardState, summary: BoardSummary) -> tuple[str, ...]:
    """Return all notes on a board."""
    return (
        *_on_filters(snapshot, state, summary),
        *_on_means(state, summary),
        *_on_ranks(summary),
        *_on_day(snapshot, state),
    )


def _on_filters(snapshot: Snapshot, state: BoardState, summary: BoardSummary) -> Iterator[str]:
    n_models, n_benchmarks = len(snapshot.models), len(snapshot.benchmarks)
    if len(summary.rows) < n_models or len(summary.columns) < n_benchmarks:
        yield (
            f"{len(summary.rows)} of {n_models} models and {len(summary.columns)} of {n_benchmarks} benchmarks pass "
            "the filters; means, ranks and colours are computed over these."
        )
    for name, limits, text in (
        ("parameters", (state.parameters_min, state.parameters_max), "number of parameters"),
        ("size_mb", (state.size_min, state.size_max), "size"),
    ):
        unknown = sum(getattr(model, name) is None for model in snapshot.models)
        if unknown and limits != (None, None):
            yield f"{counted(unknown, 'model')} whose {text} is not known {_is(unknown)} excluded."
    if operators := [word for word in search.parse(state.q).words if word in ("and", "or", "not")]:
        yield f"“{operators[0]}” is searched as a word; write operators in capitals: AND, OR, NOT."
    if not summary.is_sorted:
        yield f"{state.sort.removeprefix('-')} does not pass the filters: models are sorted by rank."


def _on_means(state: BoardState, summary: BoardSummary) -> Iterator[str]:
    if summary.ranked_by and state.over == "all":
        yield "In means, a benchmark without a score counts as 0, whatever the reason."
    elif summary.ranked_by:
        yield (
            "Means are over the benchmarks that each model was scored on. Means over different benchmarks are not "
            "comparable, nor are ranks by them."
        )
    if state.values == "raw":
        yield (
            "Raw values are not normalised by ceilings. They are correlations, accuracies and other quantities that "
            "are not comparable; means mix them."
        )
    if summary.n_without_raw:
        n = summary.n_without_raw
        yield f"{counted(n, 'score')} without a raw value {_is(n)} shown as undefined."


def _on_ranks(summary: BoardSummary) -> Iterator[str]:
    if not summary.ranked_by or not summary.n_ranked:
        return
    yield (
        f"Ranks are by {summary.ranked_by}. Their intervals contain all true ranks with 95 % confidence if errors are "
        "normal and independent; models share stimuli and subjects, so intervals are usually wider than necessary."
    )
    if summary.n_sure < summary.n_ranked:
        n = summary.n_ranked - summary.n_sure
        yield (
            f"For {n} of {summary.n_ranked} models this mean has no standard error, because a score below has none; "
            f"{'its interval contains' if n == 1 else 'their intervals contain'} all ranks."
        )
    if summary.too_many_groups:
        yield "There are too many groups of ties to show their letters."


def _on_day(snapshot: Snapshot, state: BoardState) -> Iterator[str]:
    if snapshot.at is not None:
        yield (
            f"As of the end of {snapshot.at} (UTC): receipts made until then, with the benchmark versions of that day. "
            "The tree, metadata and permissions are those of today."
        )


def counted(number: int, noun: str) -> str:
    """Return a number with its noun.

    Examples
    --------
    >>> counted(1, "model"), counted(2, "model")
    ('1 model', '2 models')
    """
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def _is(n: int) -> str:
    return "is" if n == 1 else "are"
