"""Views of the comparison: the page, and its downloads."""

from __future__ import annotations

from typing import Any

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils.cache import patch_vary_headers
from django.views.decorators.http import require_safe

from brainscore_core.domains import Domain
from brainscore_core.errors import UnknownIdentifier, UserError
from brainscore_core.figures import standalone
from brainscore_web.compare import forms
from brainscore_web.compare.comparison import compare, csv_of
from brainscore_web.compare.question import Question
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
    context: dict[str, Any] = {"question": question, "form": forms.form_of(snapshot, question)}
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
            **forms.comparison_context(comparison, question),
        }
    response = render(request, "compare/compare.html", context, status=status)
    if status != 200:
        response["Cache-Control"] = "no-store"
        patch_vary_headers(response, ("Cookie", "Accept-Encoding"))
    return response
