"""The leaderboard in the API, and tables of it, of scores and of assessments as files."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, Literal

import numpy as np
from django.http import FileResponse, HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from ninja import Query, Router, Schema
from numpy.typing import NDArray
from pydantic import Field

from brainscore_core.errors import UnknownIdentifier
from brainscore_web.api.authentication import caller_of
from brainscore_web.api.responses import Problem, problem_responses, refuse_unknown_parameters
from brainscore_web.api.schemas import BoardAnswer, DomainAsked
from brainscore_web.api.scores import AssessmentsAsked, ScoresAsked, rows_of, scores, write_assessments, write_scores
from brainscore_web.leaderboard import export, http
from brainscore_web.leaderboard.board import STATES, Board, board_for, owned_models
from brainscore_web.leaderboard.clean import finite
from brainscore_web.leaderboard.exposure import EXPOSURES, VERIFICATIONS
from brainscore_web.leaderboard.revision import Cache
from brainscore_web.leaderboard.snapshot import SnapshotKey, snapshot_for
from brainscore_web.leaderboard.state import BoardState


def _many(description: str) -> Any:
    return Field([], description=f"{description} Repeat it for several values.")


def _one_of(*choices: str, description: str) -> Any:
    return Field("", description=description, json_schema_extra={"enum": ["", *choices]})


_NUMBER = "such as 25000000, 25e6 or 25M"
_AMOUNT: Any = {"pattern": r"^[0-9]{0,12}$"}


class BoardAsked(Schema):
    """The requested leaderboard, with the parameters of its page; empty values are ignored."""

    q: str = Field("", description="Search for models: words, with AND, OR, NOT and parentheses.")
    models: list[str] = _many("Only these models.")
    mine: str = _one_of("0", "1", description="1: only models of the token's owner.")
    family: list[str] = _many("Models of this family.")
    architecture: list[str] = _many("Models of this architecture.")
    training: list[str] = _many("Models trained on this.")
    parameters_min: str = Field("", description=f"Minimum number of parameters, {_NUMBER}.")
    parameters_max: str = Field("", description=f"Maximum number of parameters, {_NUMBER}.")
    size_min: str = Field("", description="Minimum size of the weights in MB.")
    size_max: str = Field("", description="Maximum size of the weights in MB.")
    runnable: str = _one_of("0", "1", description="1: only models that can be loaded from published code and weights.")
    unscored: str = _one_of("0", "1", description="1: also models without a score on any of the benchmarks.")
    states: str = _one_of("0", "1", description="1: all states of models that were scored during their training.")
    include: list[str] = _many("Benchmarks, or nodes for all benchmarks below.")
    exclude: list[str] = _many("Benchmarks, or nodes for all benchmarks below; takes precedence over include.")
    region: list[str] = _many("Benchmarks of this region.")
    species: list[str] = _many("Benchmarks of this species.")
    task: list[str] = _many("Benchmarks with this task.")
    stimuli: list[str] = _many("Benchmarks with this kind of stimuli.")
    metric: list[str] = _many("Benchmarks with this metric.")
    stimuli_min: str = Field("", description="Minimum number of stimuli.")
    stimuli_max: str = Field("", description="Maximum number of stimuli.")
    ceiling_min: str = Field("", description="Benchmarks with at least this ceiling.")
    common: str = _one_of(
        "all",
        "most",
        description="Benchmarks on which all of the models were scored, or those that the most complete ones share.",
    )
    coverage: str = Field(
        "", description="Percentage of the benchmarks on which a model must have been scored to be ranked; default 50."
    )
    access: str = _one_of("public", description="public: benchmarks whose stimuli and measurements are public.")
    validity: str = _one_of(
        "assessed",
        "no-finding",
        "recovered",
        description="Benchmarks that are assessed, whose audit has no finding, or whose recovery finds each candidate.",
    )
    exposure: str = _one_of(
        "clean",
        "not-trained",
        "known",
        description="Scores whose stimuli the model was not trained on (clean), or is not known to have been trained "
        "on (not-trained), or for which it is known (known). The others count in no mean.",
    )
    values: str = _one_of("ceiled", "raw", description="Scores relative to the ceiling (the default), or raw.")
    over: str = _one_of(
        "all",
        "scored",
        description="In means, missing scores count as 0 (all, the default) or are left out (scored).",
    )
    at: str = Field("", description="As of the end of this day (UTC), such as 2026-03-31.")
    sort: str = Field("", description="A node, rank (the default) or model; a leading - reverses the order.")
    open: list[str] = _many("Nodes whose children the page shows.")
    show: list[str] = _many("Columns about models that the page shows: scored, parameters, published.")
    page: str = Field("", description="Used by the page; ignored here.", json_schema_extra=_AMOUNT)


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


@router.get(
    "leaderboard", response={200: BoardAnswer, **problem_responses(404)}, tags=["leaderboard"], summary="Leaderboard"
)
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

    return http.answer(request, http.conditional(snapshot, "api", *key, only_snapshot=True), make)


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
    form = export.checked_form(laid_out.form or "wide")
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
