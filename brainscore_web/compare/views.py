"""The page of comparisons, its forms, and its downloads."""

from __future__ import annotations

from typing import Any

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils.cache import patch_vary_headers
from django.views.decorators.http import require_safe

from brainscore_core.domains import Domain
from brainscore_core.errors import UnknownIdentifier, UserError
from brainscore_core.figures import standalone
from brainscore_web.compare import views
from brainscore_web.compare.benchmark_comparison import ScoreAgainstSize, TwoBenchmarks
from brainscore_web.compare.comparison import Comparison, compare, csv_of
from brainscore_web.compare.model_comparison import TwoModels
from brainscore_web.compare.question import MODES, Question, benchmark_href, model_href, node_names
from brainscore_web.leaderboard.filters import MODEL_FILTERS, active_filters, benchmark_facets, model_facets
from brainscore_web.leaderboard.http import answer, conditional, user_errors
from brainscore_web.leaderboard.snapshot import Snapshot, snapshot_for


@require_safe
@user_errors
def page(request: HttpRequest, domain: Domain) -> HttpResponse:
    """Compare two benchmarks, two models, or all benchmarks; the page shows errors together with its forms."""
    question, snapshot = _question_and_snapshot(request, domain)
    return answer(request, _tag(snapshot, question, "page"), lambda: _page(request, snapshot, question))


@require_safe
@user_errors
def svg(request: HttpRequest, domain: Domain) -> HttpResponse:
    """Download the chart."""
    question, snapshot = _question_and_snapshot(request, domain)

    def make() -> HttpResponse:
        chart = standalone(compare(snapshot, question).svg())
        return _file(chart, "image/svg+xml", question, "svg")

    return answer(request, _tag(snapshot, question, "svg"), make)


@require_safe
@user_errors
def csv(request: HttpRequest, domain: Domain) -> HttpResponse:
    """Download the numbers."""
    question, snapshot = _question_and_snapshot(request, domain)

    def make() -> HttpResponse:
        table = csv_of(compare(snapshot, question))
        return _file(table, "text/csv", question, "csv")

    return answer(request, _tag(snapshot, question, "csv"), make)


def _question_and_snapshot(request: HttpRequest, domain: Domain) -> tuple[Question, Snapshot]:
    question = Question.from_query(request.GET)
    return question, snapshot_for(request.user, domain.name, at=question.board.at)


def _tag(snapshot: Snapshot, question: Question, what: str) -> str:
    return conditional(snapshot, "compare", what, question.query(), only_snapshot=True)


def _file(content: str, kind: str, question: Question, ending: str) -> HttpResponse:
    response = HttpResponse(content, content_type=f"{kind}; charset=utf-8")
    response["Content-Disposition"] = f'attachment; filename="brain-score-{question.mode}.{ending}"'
    return response


def _page(request: HttpRequest, snapshot: Snapshot, question: Question) -> HttpResponse:
    context: dict[str, Any] = {"question": question, "form": views.form_of(snapshot, question)}
    status = 200
    try:
        comparison = compare(snapshot, question)
    except UserError as error:
        if snapshot.models or snapshot.at is not None:
            status = 404 if isinstance(error, UnknownIdentifier) else 400
            context |= {"message": error.message, "remedy": error.remedy}
        else:
            context |= {"message": "there are no scores to compare yet", "remedy": ""}
    else:
        context |= {
            "comparison": comparison,
            "svg": comparison.svg(),
            **views.comparison_context(comparison, question),
        }
    response = render(request, "compare/compare.html", context, status=status)
    if status != 200:
        response["Cache-Control"] = "no-store"
        patch_vary_headers(response, ("Cookie", "Accept-Encoding"))
    return response


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
