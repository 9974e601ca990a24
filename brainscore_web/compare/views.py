"""The page of comparisons: its forms, what is compared, its numbers as CSV, and its downloads."""

from __future__ import annotations

import io
import math
from csv import writer as csv_writer
from typing import Any, TypeAlias

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils.cache import patch_vary_headers
from django.views.decorators.http import require_safe

from brainscore_core.domains import Domain
from brainscore_core.errors import UnknownIdentifier, UserError
from brainscore_core.figures import standalone
from brainscore_core.formatting import harmless
from brainscore_web.accounts.callers import find_caller
from brainscore_web.compare.benchmark_comparison import Correlations, TwoColumns
from brainscore_web.compare.model_comparison import SeveralModels, TwoModels, without_models
from brainscore_web.compare.question import MODES, MOST_MODELS, Question, node_names
from brainscore_web.leaderboard.board import board_for
from brainscore_web.leaderboard.filters import MODEL_FILTERS, Link, active_filters, benchmark_facets, model_facets
from brainscore_web.leaderboard.http import answer, conditional, error_response, user_errors
from brainscore_web.leaderboard.revision import Cache
from brainscore_web.leaderboard.snapshot import Snapshot, SnapshotKey, snapshot_for


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
    """Download the numbers; programs may send a token, as to the API."""
    caller = find_caller(request)
    if caller is None:
        error = UserError("the token is not valid", remedy="make a new one on your account's page")
        return error_response(request, error, status=401)
    question = Question.from_query(request.GET)
    snapshot = snapshot_for(caller.visitor, domain.name, at=question.board.at)

    def make() -> HttpResponse:
        table = csv_of(compare(snapshot, question))
        return _file(table, "text/csv", question, "csv")

    response = answer(request, _tag(snapshot, question, "csv"), make)
    patch_vary_headers(response, ("Authorization",))
    return response


def _question_and_snapshot(request: HttpRequest, domain: Domain) -> tuple[Question, Snapshot]:
    question = Question.from_query(request.GET)
    return question, snapshot_for(request.user, domain.name, at=question.board.at)


def _tag(snapshot: Snapshot, question: Question, what: str) -> str:
    return conditional(snapshot, "compare", what, question.query())


def _file(content: str, kind: str, question: Question, ending: str) -> HttpResponse:
    response = HttpResponse(content, content_type=f"{kind}; charset=utf-8")
    response["Content-Disposition"] = f'attachment; filename="brain-score-{question.mode}.{ending}"'
    return response


def _page(request: HttpRequest, snapshot: Snapshot, question: Question) -> HttpResponse:
    context: dict[str, Any] = {"question": question, "form": form_of(snapshot, question)}
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
        context |= {"comparison": comparison, "svg": comparison.svg()}
    response = render(request, "compare/compare.html", context, status=status)
    if status != 200:
        response["Cache-Control"] = "no-store"
        patch_vary_headers(response, ("Cookie", "Accept-Encoding"))
    return response


_NO_CHIP = frozenset({"values", "unscored", "coverage"})  # shown as a field of the form of each mode
_MODE_FIELDS = {  # visible fields of the form of each mode
    "benchmarks": ("x", "y", "colour", "values"),
    "models": ("first", "second", "models", "values"),
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
        # fields of further models, one of them empty
        "others": list(enumerate((*question.others, "")[: MOST_MODELS - 2], 3)) if question.mode == "models" else [],
        "hidden": [pair for pair in pairs if pair[0] not in _MODE_FIELDS[question.mode]],
        "hidden_in_filters": [pair for pair in pairs if pair[0] not in filter_fields],
        "facets": facets,
        "chips": _chips(question),
        "colours": {"architecture": "architecture", "family": "family", "training": "training data", "none": "nothing"},
        "levels": {"means": "means", "benchmarks": "benchmarks", "all": "means and benchmarks"},
        "board_query": question.board.query(),
        "query": question.query(),
    }


def _chips(question: Question) -> list[Link]:
    return [
        Link(active.text, question.changed(board=active.without).query())
        for active in active_filters(question.board)
        if active.field not in _NO_CHIP
        # in the mode that compares two chosen models, filters of models have no effect
        and (question.mode != "models" or active.field not in MODEL_FILTERS)
    ]


Comparison: TypeAlias = TwoColumns | TwoModels | SeveralModels | Correlations


def csv_of(comparison: Comparison) -> str:
    """Write the table of a comparison as CSV."""
    file = io.StringIO(newline="")
    names, rows = comparison.table()
    csv_writer(file, lineterminator="\r\n").writerows([_cell(value) for value in row] for row in (names, *rows))
    return file.getvalue()


def _cell(value: object) -> str:
    if isinstance(value, float):
        return repr(value) if math.isfinite(value) else ""
    return harmless(value) if isinstance(value, str) else str(value)


_correlations: Cache[tuple[SnapshotKey, str], Correlations] = Cache(most=8)


def compare(snapshot: Snapshot, question: Question) -> Comparison:
    """Run the comparison that is requested, on the data that the visitor sees.

    A `UserError` says why it is not possible.
    """
    if question.mode == "models":
        unfiltered = without_models(question)
        every_state = bool(question.first or question.second)
        board = board_for(snapshot, unfiltered.board.changed(unscored=True, states=every_state))
        return SeveralModels(board, question) if question.others else TwoModels(board, unfiltered)
    board = board_for(snapshot, question.board.changed(unscored=True))
    if question.mode != "matrix":
        return TwoColumns(board, question)
    matrix_question = question.changed(x="", y="", first="", second="", colour="architecture")
    key = snapshot.key, matrix_question.query()
    return _correlations.get(key, lambda: Correlations(board, matrix_question))
