"""Sentences on what a board shows and what it rests on."""

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
    """What there is to be said.

    Attributes
    ----------
    rows, columns
        Models and benchmarks that pass the filters.
    ranked_by : str
        Title of the mean that models are ranked by; empty if there is none.
    n_ranked, n_sure : int
        How many models have that mean, and with a standard error.
    too_many_groups : bool
        Whether groups of ties were left out.
    n_without_raw : int
        Scores without a raw value, where raw values are shown.
    is_sorted : bool
        Whether what was asked to be sorted by is there.
    """

    rows: NDArray[np.intp]
    columns: NDArray[np.intp]
    ranked_by: str
    n_ranked: int
    n_sure: int
    too_many_groups: bool
    n_without_raw: int
    is_sorted: bool


def notes(snapshot: Snapshot, state: BoardState, told: BoardSummary) -> tuple[str, ...]:
    """Everything that should be said of a board."""
    return (
        *_of_filters(snapshot, state, told),
        *_of_means(state, told),
        *_of_ranks(told),
        *_of_the_day(snapshot, state),
    )


def _of_filters(snapshot: Snapshot, state: BoardState, told: BoardSummary) -> Iterator[str]:
    n_models, n_benchmarks = len(snapshot.models), len(snapshot.benchmarks)
    if len(told.rows) < n_models or len(told.columns) < n_benchmarks:
        yield (
            f"{len(told.rows)} of {n_models} models and {len(told.columns)} of {n_benchmarks} benchmarks pass the "
            "filters; means, ranks and colours are over these."
        )
    for name, limits, text in (
        ("parameters", (state.parameters_min, state.parameters_max), "number of parameters"),
        ("size_mb", (state.size_min, state.size_max), "size"),
    ):
        unknown = sum(getattr(model, name) is None for model in snapshot.models)
        if unknown and limits != (None, None):
            yield f"{counted(unknown, 'model')} whose {text} is not known {_is(unknown)} left out."
    if operators := [word for word in search.parse(state.q).words if word in ("and", "or", "not")]:
        yield f"“{operators[0]}” in the search is a word; operators are in capitals: AND, OR, NOT."
    if not told.is_sorted:
        yield f"{state.sort.removeprefix('-')} does not pass the filters: models are in the order of their ranks."


def _of_means(state: BoardState, told: BoardSummary) -> Iterator[str]:
    if told.ranked_by and state.over == "all":
        yield "In means, a benchmark without a score counts as 0, whatever the reason."
    elif told.ranked_by:
        yield (
            "Means are over what each model was scored on; those over different benchmarks do not compare, nor do "
            "ranks by them."
        )
    if state.values == "raw":
        yield (
            "Raw values are as measured, before they were related to ceilings: correlations, accuracies and others, "
            "which do not compare and which means mix."
        )
    if told.n_without_raw:
        n = told.n_without_raw
        yield f"{counted(n, 'score')} without a raw value {_is(n)} shown as undefined."


def _of_ranks(told: BoardSummary) -> Iterator[str]:
    if not told.ranked_by or not told.n_ranked:
        return
    yield (
        f"Ranks are by {told.ranked_by}. Their intervals hold all true ranks with 95 % confidence if errors are normal "
        "and independent; models share stimuli and subjects, so that intervals are usually wider than need be."
    )
    if told.n_sure < told.n_ranked:
        n = told.n_ranked - told.n_sure
        yield (
            f"For {n} of {told.n_ranked} models this mean has no standard error, because a score below has none; "
            f"{'its interval holds' if n == 1 else 'their intervals hold'} all ranks."
        )
    if told.too_many_groups:
        yield "There are too many groups of models that were not told apart to name them."


def _of_the_day(snapshot: Snapshot, state: BoardState) -> Iterator[str]:
    if snapshot.at is not None:
        yield (
            f"As of the end of {snapshot.at} (UTC): by the receipts made until then, in the benchmarks' versions of "
            "then. The tree, metadata, and who may see what, are those of today."
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
