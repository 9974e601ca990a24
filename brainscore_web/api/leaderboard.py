"""The leaderboard in the API, and tables of it, of scores and of assessments as files."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any, Literal, get_args, get_origin

import numpy as np
from django.http import FileResponse, HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from ninja import Query, Router, Schema
from numpy.typing import NDArray
from pydantic import Field, create_model

from brainscore_core.errors import UnknownIdentifier
from brainscore_web.api.authentication import caller_of
from brainscore_web.api.responses import Problem, operation, refuse_unknown_parameters
from brainscore_web.api.schemas import BoardAnswer, DomainAsked
from brainscore_web.api.scores import AssessmentsAsked, ScoresAsked, rows_of, scores, write_assessments, write_scores
from brainscore_web.leaderboard import export, http
from brainscore_web.leaderboard.board import STATES, Board, board_for, owned_models
from brainscore_web.leaderboard.clean import finite
from brainscore_web.leaderboard.exposure import EXPOSURES, VERIFICATIONS
from brainscore_web.leaderboard.revision import Cache
from brainscore_web.leaderboard.snapshot import SnapshotKey, snapshot_for
from brainscore_web.leaderboard.state import KINDS, PARAMETERS, BoardState


def _many(description: str) -> Any:
    return Field([], description=f"{description} Repeat it for several values.")


def _field(name: str, kind: Any, description: str) -> tuple[Any, Any]:
    """Return the type and the description of a parameter of the page, which only `BoardState` validates."""
    if tuple[str, ...] in (kind, *get_args(kind)):
        return list[str], _many(description)
    choices = ("0", "1") if kind is bool else get_args(kind) if get_origin(kind) is Literal else ()
    more: dict[str, Any] = {"enum": list(dict.fromkeys(("", *choices)))} if choices else {}
    if name == "page":
        more = {"pattern": r"^[0-9]{0,12}$"}
    return str, Field("", description=description, json_schema_extra=more or None)


_FIELDS: Any = {name: _field(name, kind, PARAMETERS[name].about) for name, kind in KINDS.items()}


class BoardAsked(create_model("_BoardAsked", __base__=Schema, **_FIELDS)):  # type: ignore[misc] # a computed class
    """The requested leaderboard, with the parameters of its page; empty values are ignored."""


class BoardPart(Schema):
    """The requested part of the leaderboard."""

    node: list[str] = _many("Only these nodes; all if left out.")
    shown: bool = Field(False, description="Only nodes that the page shows.")
    limit: int = Field(1000, ge=1, le=1000, description="Maximum number of models.")
    offset: int = Field(0, ge=0, le=1_000_000, description="Number of models to skip.")


def state_of(request: HttpRequest, *more: type[Schema]) -> BoardState:
    """Read the requested state."""
    schemas: tuple[type[Schema], ...] = (DomainAsked, *more)
    return BoardState.from_query(request.GET, ignoring={name for schema in schemas for name in schema.model_fields})


def places(board: Board, wanted: Sequence[str], *, shown: bool) -> list[int]:
    """Return the indices of the requested nodes, in the order of the board."""
    here = {node.identifier: index for index, node in enumerate(board.nodes) if node.kind != "heading"}
    for name in wanted:
        if name not in here:
            raise UnknownIdentifier(f"node: {name[:80]!r} is not on this leaderboard", remedy="see /api/v1/benchmarks")
    columns = {here[name] for name in wanted} if wanted else set(here.values())
    return sorted(index for index in columns if board.nodes[index].shown or not shown)


def content(board: Board, nodes: Sequence[int], limit: int, offset: int) -> bytes:
    """Return a board as JSON, limited to these nodes and to `limit` models after the first `offset`."""
    page = slice(offset, offset + limit)
    total = len(board.models)
    document = {
        "domain": board.snapshot.domain,
        "query": board.state.query(),
        "total": total,
        "limit": limit,
        "offset": offset,
        "state_names": list(STATES),
        "models": [_model(board, index) for index in range(total)[page]],
        "nodes": [_node(board, index) for index in nodes],
        "value": _numbers(board.values[page][:, nodes]),
        "error": _numbers(board.errors[page][:, nodes]),
        "low": _numbers(board.low[page][:, nodes]),
        "high": _numbers(board.high[page][:, nodes]),
        "state": board.states[page][:, nodes].tolist(),
        "n_scored": board.n_scored[page][:, nodes].tolist(),
        "exposure_names": list(EXPOSURES),
        "exposure": _codes(board.exposure[page][:, nodes]),
        "verification_names": list(VERIFICATIONS),
        "verification": board.verification[page][:, nodes].tolist(),
        "notes": list(board.notes),
    }
    return json.dumps(document, ensure_ascii=False, allow_nan=False, separators=(",", ":")).encode(errors="replace")


def _model(board: Board, place: int) -> dict[str, Any]:
    model = board.models[place]
    names = ("identifier", "title", "private", "architecture", "family", "parameters", "training_data", "runnable")
    return {
        **{name: getattr(model, name) for name in names},
        "trained_on": list(model.training.names),
        "training_known": model.training.complete,
        "size_mb": finite(model.size_mb),
        "rank": int(board.rank[place]) or None,
        "best": int(board.best[place]) or None,
        "worst": int(board.worst[place]) or None,
        "groups": board.groups[place],
        "unranked": board.unranked[place] or None,
        "n_scored": int(board.n_scored[place, board.root]) if board.root >= 0 else 0,
        "n_all": int(board.n_all[place, board.root]) if board.root >= 0 else 0,
        "published": model.published,
    }


def _node(board: Board, place: int) -> dict[str, Any]:
    node = board.nodes[place]
    above = board.nodes[node.parent] if node.parent >= 0 else None
    return {
        "identifier": node.identifier,
        "title": board.snapshot.benchmarks[node.column].title if node.column >= 0 else node.title,
        "parent": above.identifier if above is not None and above.kind != "heading" else None,
        "depth": node.depth,
        "kind": node.kind,
        "n_benchmarks": node.n_benchmarks,
        "version": board.snapshot.benchmarks[node.column].version if node.column >= 0 else None,
        "taken_from": _taken_from(board, node.column),
        "shown": node.shown,
        "best": finite(board.node_best[place]),
        "median": finite(board.node_median[place]),
        "ceiling": finite(board.node_ceiling[place]),
        "condition": board.condition(place),
    }


def _taken_from(board: Board, column: int) -> list[str] | None:
    names = board.snapshot.benchmarks[column].taken_from if column >= 0 else None
    return None if names is None else list(names)


def _codes(matrix: NDArray[np.int8]) -> list[list[int | None]]:
    return [[code if code >= 0 else None for code in row] for row in matrix.tolist()]


def _numbers(matrix: NDArray[np.float64]) -> list[list[float | None]]:
    finite = np.isfinite(matrix)
    if finite.all():
        return matrix.tolist()
    values = matrix.astype(object)
    values[~finite] = None
    return values.tolist()


router = Router()

_contents: Cache[tuple[SnapshotKey, str, tuple[str, ...], tuple[int, ...], int, int], bytes] = Cache(
    most=4
)  # up to several MB each


@router.get("leaderboard", **operation("leaderboard", "Leaderboard", BoardAnswer, 404))
def show_leaderboard(
    request: HttpRequest, query: Query[BoardAsked], part: Query[BoardPart], of: Query[DomainAsked]
) -> HttpResponse:
    """Show the leaderboard of a domain with values, errors, intervals, states and ranks.

    The parameters are those of the page, so the query of its URL gives the same leaderboard here. Means and ranks
    depend on the filters on benchmarks; ranks are among all models that you can see, also those that filters leave out.
    """
    state = state_of(request, BoardPart)
    visitor = caller_of(request).visitor
    snapshot, owned = snapshot_for(visitor, of.domain, at=state.at), owned_models(visitor, state)
    board = board_for(snapshot, state, owned)
    nodes = tuple(places(board, part.node, shown=part.shown))
    key = (state.query(), owned, nodes, part.limit, part.offset)

    def make() -> HttpResponse:
        body = _contents.get((snapshot.key, *key), lambda: content(board, nodes, part.limit, part.offset))
        return HttpResponse(body, content_type="application/json; charset=utf-8")

    return http.answer(request, http.conditional(snapshot, "api", *key), make)


_writing = threading.BoundedSemaphore(2)  # per process, so that other requests are still served
_PATIENCE = 10


class FormAsked(Schema):
    """The layout of a table."""

    form: str = Field(
        "",
        description="wide: one row per model (the default); long: one row per model and node.",
        json_schema_extra={"enum": ["", *export.FORMS]},
    )


def _media(*forms: str) -> list[str]:
    return [export.MEDIA_TYPES[form] for form in forms]


@router.get(
    "exports/leaderboard.{format}",
    **operation("exports", "Leaderboard as a file", bytes, 404, media=_media("csv", "parquet", "bib")),
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
    form = export.checked_form(laid_out.form or "wide")
    visitor = caller_of(request).visitor
    snapshot, owned = snapshot_for(visitor, of.domain, at=state.at), owned_models(visitor, state)
    board = board_for(snapshot, state, owned)

    def make() -> HttpResponse:
        content = export.written(board, format, form)
        return HttpResponse(content, content_type=export.MEDIA_TYPES[format], headers=_named("leaderboard", format))

    if format == "bib":  # citations are not part of the snapshot
        return make()
    return http.answer(request, http.conditional(snapshot, "api", format, form, state.query()), make)


@router.get(
    "exports/scores.{format}",
    **operation("exports", "Scores as a file", bytes, 404, 503, media=_media("csv", "parquet")),
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
    return FileResponse(file, content_type=export.MEDIA_TYPES[format], headers=headers)


@router.get(
    "exports/assessments.{format}",
    **operation("exports", "Assessments as a file", bytes, 400, 404, 503, media=_media("csv", "parquet")),
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
    return HttpResponse(content, content_type=export.MEDIA_TYPES[format], headers=_named("assessments", format))


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
