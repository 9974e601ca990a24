"""Content of the forms of the comparison page, as template context."""

from __future__ import annotations

from typing import Any

from brainscore_web.compare.benchmark_comparison import ScoreAgainstSize, TwoBenchmarks
from brainscore_web.compare.comparison import Comparison
from brainscore_web.compare.model_comparison import TwoModels
from brainscore_web.compare.question import MODES, Question, benchmark_href, model_href, node_names
from brainscore_web.leaderboard.filters import MODEL_FILTERS, active_filters, benchmark_facets, model_facets
from brainscore_web.leaderboard.snapshot import Snapshot

_NO_CHIP = frozenset({"values", "unscored", "coverage"})  # shown as a field of the form of each mode
_MODE_FIELDS = {  # visible fields of the form of each mode
    "benchmarks": ("x", "y", "colour", "values"),
    "models": ("first", "second", "values"),
    "matrix": ("level", "method", "least", "values"),
    "size": ("y", "colour", "values"),
}


def form_of(snapshot: Snapshot, question: Question) -> dict[str, Any]:
    """Return the content of the forms for the data in a snapshot."""
    facets = benchmark_facets(snapshot, question.board)
    if question.mode != "models":
        facets = (*model_facets(snapshot, question.board), *facets)
    facets = tuple(
        facet for facet in facets if len(facet.options) > 1 or any(choice.chosen for choice in facet.options)
    )
    filter_fields = {facet.name for facet in facets} | {"q", "over", "at"}
    pairs = question.pairs()
    return {
        "modes": [(title, question.changed(mode=mode).query(), mode == question.mode) for mode, title in MODES.items()],
        "nodes": [
            (name, name if name in snapshot.benchmark_index else title) for name, title in node_names(snapshot).items()
        ]
        if question.mode in ("benchmarks", "size")
        else [],
        "models": [(model.identifier, model.title) for model in snapshot.models] if question.mode == "models" else [],
        "hidden": [pair for pair in pairs if pair[0] not in _MODE_FIELDS[question.mode]],
        "hidden_in_filters": [pair for pair in pairs if pair[0] not in filter_fields],
        "facets": facets,
        "chips": _chips(question),
        "colours": {"architecture": "architecture", "family": "family", "training": "training data", "none": "nothing"},
        "levels": {"means": "means", "benchmarks": "benchmarks", "all": "means and benchmarks"},
        "board_query": question.board.query(),
        "query": question.query(),
    }


def comparison_context(comparison: Comparison, question: Question) -> dict[str, Any]:
    """Return the identifiers of the two compared items, the query that swaps them, and links to their pages."""
    if isinstance(comparison, TwoBenchmarks):
        items = [
            (axis.identifier, axis.title, "" if axis.is_mean else benchmark_href(axis.identifier))
            for axis in (comparison.x, comparison.y)
        ]
        swapped = question.changed(x=items[1][0], y=items[0][0])
    elif isinstance(comparison, TwoModels):
        models = (comparison.first, comparison.second)
        items = [(model.identifier, model.title, model_href(model.identifier)) for model in models]
        swapped = question.changed(first=items[1][0], second=items[0][0])
    elif isinstance(comparison, ScoreAgainstSize):
        axis = comparison.axis
        return {
            "names": [axis.identifier],
            "cards": [] if axis.is_mean else [(axis.title, benchmark_href(axis.identifier))],
        }
    else:
        return {}
    return {
        "names": [name for name, _, _ in items],
        "swapped": swapped.query(),
        "cards": [(title, href) for _, title, href in dict.fromkeys(items) if href],
    }


def _chips(question: Question) -> list[dict[str, Any]]:
    return [
        {
            "text": f"{active.label}: {active.value}" if active.value else active.label,
            "query": question.changed(board=active.without).query(),
        }
        for active in active_filters(question.board)
        if active.field not in _NO_CHIP
        # in the mode that compares two chosen models, filters of models have no effect
        and (question.mode != "models" or active.field not in MODEL_FILTERS)
    ]
