"""The leaderboard, scores and assessments as files."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Literal

from django.http import FileResponse, HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from ninja import Query, Router, Schema
from pydantic import Field

from brainscore_web.api.assessments import AssessmentsAsked, write_assessments
from brainscore_web.api.authentication import caller_of
from brainscore_web.api.leaderboard import BoardAsked, state_of
from brainscore_web.api.responses import Problem, problem_responses, refuse_unknown_parameters
from brainscore_web.api.schemas import DomainAsked
from brainscore_web.api.scores import ScoresAsked, rows_of, scores, write_scores
from brainscore_web.leaderboard import export, http
from brainscore_web.leaderboard.board import board_for, owned_models
from brainscore_web.leaderboard.snapshot import snapshot_for

router = Router()

MEDIA_TYPES = {
    "csv": "text/csv; charset=utf-8",
    "parquet": "application/vnd.apache.parquet",
    "bib": "application/x-bibtex; charset=utf-8",
}
"""Media type of each file format."""

_writing = threading.BoundedSemaphore(2)  # per process, so that other requests are still served
_PATIENCE = 10


class FormAsked(Schema):
    """The layout of a table."""

    form: str = Field(
        "",
        description="wide: one row per model (the default); long: one row per model and node.",
        json_schema_extra={"enum": ["", *export.FORMS]},
    )


def _files(*forms: str) -> dict[str, list[str]]:
    return {"x-media-types": [MEDIA_TYPES[form] for form in forms]}


@router.get(
    "exports/leaderboard.{format}",
    response={200: bytes, **problem_responses(404)},
    tags=["exports"],
    summary="Leaderboard as a file",
    openapi_extra=_files("csv", "parquet", "bib"),
)
def export_leaderboard(
    request: HttpRequest,
    format: Literal["csv", "parquet", "bib"],  # noqa: A002 (what it is)
    query: Query[BoardAsked],
    laid_out: Query[FormAsked],
    of: Query[DomainAsked],
) -> HttpResponse:
    """Download the leaderboard as a table, or the citations of its models and benchmarks as BibTeX.

    The parameters are those of the page.
    """
    state = state_of(request, FormAsked)
    form: export.Form = laid_out.form or "wide"  # type: ignore[assignment] # checked by the export
    visitor = caller_of(request).visitor
    snapshot, owned = snapshot_for(visitor, of.domain, at=state.at), owned_models(visitor, state)
    board = board_for(snapshot, state, owned)
    write: dict[str, Callable[[], bytes]] = {
        "csv": lambda: export.csv(board, form=form),
        "parquet": lambda: export.parquet(board, form=form),
        "bib": lambda: export.bibtex(board).encode(),
    }

    def make() -> HttpResponse:
        return HttpResponse(write[format](), content_type=MEDIA_TYPES[format], headers=_named("leaderboard", format))

    if format == "bib":  # citations are not part of the snapshot
        return make()
    return http.answer(
        request, http.conditional(snapshot, "api", format, form, state.query(), only_snapshot=True), make
    )


@router.get(
    "exports/scores.{format}",
    response={200: bytes, **problem_responses(404, 503)},
    tags=["exports"],
    summary="Scores as a file",
    openapi_extra=_files("csv", "parquet"),
)
def export_scores(
    request: HttpRequest,
    format: Literal["csv", "parquet"],  # noqa: A002 (what it is)
    query: Query[ScoresAsked],
) -> HttpResponseBase:
    """Download the scores that count, or all with `history`, as a table; the filters are those of `scores`."""
    refuse_unknown_parameters(request, ScoresAsked)
    visitor = caller_of(request).visitor
    with _turn():
        file, digest = write_scores(rows_of(visitor, *scores(visitor, query)), format)
    headers = {**_named("scores", format), "ETag": f'"{digest[:32]}"'}
    return FileResponse(file, content_type=MEDIA_TYPES[format], headers=headers)


@router.get(
    "exports/assessments.{format}",
    response={200: bytes, **problem_responses(400, 404, 503)},
    tags=["exports"],
    summary="Assessments as a file",
    openapi_extra=_files("csv", "parquet"),
)
def export_assessments(
    request: HttpRequest,
    format: Literal["csv", "parquet"],  # noqa: A002 (what it is)
    query: Query[AssessmentsAsked],
) -> HttpResponse:
    """Download the newest assessments as a table, one row for each number; the filters are those of `assessments`."""
    refuse_unknown_parameters(request, AssessmentsAsked)
    visitor = caller_of(request).visitor
    with _turn():
        content = write_assessments(visitor, query, format)
    return HttpResponse(content, content_type=MEDIA_TYPES[format], headers=_named("assessments", format))


@contextmanager
def _turn() -> Iterator[None]:
    """Wait until at most one other long table is being written."""
    if not _writing.acquire(timeout=_PATIENCE):
        wait = {"Retry-After": str(_PATIENCE)}
        raise Problem(503, "other exports are being written", f"try again in {_PATIENCE} s", headers=wait)
    try:
        yield
    finally:
        _writing.release()


def _named(what: str, form: str) -> dict[str, str]:
    return {"Content-Disposition": f'attachment; filename="brain-score-{what}.{form}"'}
