"""Assessments of benchmarks in the API."""

from __future__ import annotations

from collections.abc import Mapping
from io import BytesIO
from typing import Any, Literal

from django.http import HttpRequest
from ninja import Query, Router, Schema
from pydantic import Field

from brainscore_core.receipts.assessment import Part
from brainscore_core.results.assessments import ASSESSMENT_COLUMNS, assessment_rows
from brainscore_core.results.export import write_rows
from brainscore_web.api.authentication import caller_of
from brainscore_web.api.responses import Problem, problem_responses, refuse_unknown_parameters, url_with
from brainscore_web.api.schemas import AssessmentPage
from brainscore_web.api.scores import benchmark_keys, model_keys
from brainscore_web.leaderboard.clean import objects_in
from brainscore_web.leaderboard.models import StoredAssessment, StoredAssessmentQuerySet, Visitor
from brainscore_web.leaderboard.reasons import withheld_assessment

router = Router()
_MOST = 20_000  # assessments in a file


class AssessmentsAsked(Schema):
    """Filters of assessments; a repeated filter matches any of its values."""

    benchmark: list[str] = Field(
        [],
        description="Identifiers of benchmarks, or of means for all below them. Repeat it for several values.",
    )
    model: list[str] = Field(
        [], description="Identifiers of models, one of which takes part. Repeat it for several values."
    )
    part: list[Part] = Field([], description="Repeat it for several values.")
    state: list[Literal["assessed", "not applicable", "failed"]] = Field(
        [], description="Repeat it for several values."
    )


class AssessmentsPaged(AssessmentsAsked):
    """Filters of assessments, and the requested page."""

    limit: int = Field(20, ge=1, le=50, description="Maximum number of assessments.")
    after: str = Field("", max_length=100, description="The last assessment of the previous page.")


def assessments(visitor: Visitor, query: AssessmentsAsked) -> StoredAssessmentQuerySet:
    """Return the newest assessments that are requested and that the visitor may see, oldest first."""
    rows = StoredAssessment.objects.visible_to(visitor).newest()
    if query.benchmark:
        rows = rows.filter(benchmark__in=benchmark_keys(query.benchmark))
    if query.model:
        keys = model_keys(visitor, query.model)
        rows = rows.filter(pk__in=StoredAssessment.objects.filter(vision_models__in=keys).order_by().values("pk"))
    if query.part:
        rows = rows.filter(part__in=query.part)
    if query.state:
        rows = rows.filter(state__in=query.state)
    return rows.order_by("identifier")


@router.get(
    "assessments",
    response={200: AssessmentPage, **problem_responses(404)},
    tags=["benchmarks"],
    summary="List assessments",
)
def list_assessments(request: HttpRequest, query: Query[AssessmentsPaged]) -> dict[str, Any]:
    """List assessments of benchmarks, oldest first: of each benchmark, part and choice of models the newest.

    An assessment is listed if you may see all models that take part. If the benchmark's data are withheld, texts that
    may reveal them are removed: single stimuli, reasons, notes. The parts question, explanation and atlas are answers
    to questions, of each question the newest; they are listed if you may see the benchmark's data.
    """
    refuse_unknown_parameters(request, AssessmentsPaged)
    visitor = caller_of(request).visitor
    rows = assessments(visitor, query).select_related("benchmark")
    if query.after:
        rows = rows.filter(identifier__gt=query.after)
    rows_and_next = list(rows[: query.limit + 1])
    more, page = len(rows_and_next) > query.limit, rows_and_next[: query.limit]
    return {
        "items": [_entry(row, shows_data=row.benchmark.shows_data_to(visitor)) for row in page],
        "limit": query.limit,
        "next": url_with(request, limit=query.limit, after=page[-1].identifier) if more else None,
    }


def write_assessments(visitor: Visitor, query: AssessmentsAsked, form: str) -> bytes:
    """Write the requested assessments that the visitor may see as CSV or Parquet."""
    stored = assessments(visitor, query).select_related("benchmark")
    if (count := stored.count()) > _MOST:
        raise Problem(400, f"{count:,} assessments are too many for one file", "filter by benchmark, model or part")
    documents = (
        _document(row, shows_data=row.benchmark.shows_data_to(visitor)) for row in stored.iterator(chunk_size=50)
    )
    rows = assessment_rows(documents)
    stream = BytesIO()
    write_rows(rows, ASSESSMENT_COLUMNS, stream, parquet=form == "parquet")
    return stream.getvalue()


def _document(row: StoredAssessment, *, shows_data: bool) -> Mapping[str, Any]:
    document: Mapping[str, Any] = row.document or {}
    return document if shows_data else withheld_assessment(document)


def _entry(row: StoredAssessment, *, shows_data: bool) -> dict[str, Any]:
    document = _document(row, shows_data=shows_data)
    return {
        "id": row.identifier,
        "created": row.created,
        "part": row.part,
        "benchmark": row.benchmark.identifier,
        "version": row.version,
        "models": [item["identifier"] for item in objects_in(document, "models")],
        "state": row.state,
        "outcome": row.outcome,
        "reason": document.get("reason") or "",
        "code": document.get("code"),
        "seconds": document.get("seconds"),
        "text": document.get("text") or "",
        "used": [dict(item) for item in _used(document)],
        "settings": document.get("settings") or {},
        "environment": document.get("environment") or {},
        "result": document.get("result"),
    }


def _used(document: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    benchmark = document.get("benchmark")
    first = [benchmark] if isinstance(benchmark, dict) else []
    return [*first, *objects_in(document, "models"), *objects_in(document, "data")]
