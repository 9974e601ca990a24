"""Views of the leaderboard: its page, the data of the page's script, and exports."""

from __future__ import annotations

import functools
import json
from collections.abc import Callable
from typing import Any, NamedTuple

from django.http import HttpRequest, HttpResponse, JsonResponse, QueryDict
from django.shortcuts import render
from django.urls import reverse
from django.utils import timezone
from django.views.decorators.http import require_safe

from brainscore_core.domains import Domain
from brainscore_core.errors import UnknownIdentifier, UserError
from brainscore_web.leaderboard import export as exports
from brainscore_web.leaderboard.board import Board, board_for, owned_models
from brainscore_web.leaderboard.http import answer, cached_for_visitors, conditional, error_response, user_errors
from brainscore_web.leaderboard.page import card_links, card_patterns, cell_facts, page_context, score_query
from brainscore_web.leaderboard.payload import board_data, columns_below
from brainscore_web.leaderboard.search import SearchError
from brainscore_web.leaderboard.snapshot import Snapshot, snapshot_for
from brainscore_web.leaderboard.state import BoardState


class _BoardRequest(NamedTuple):
    """What the visitor may see, and the state that they request."""

    snapshot: Snapshot
    state: BoardState
    owned: tuple[str, ...] = ()

    @property
    def board(self) -> Board:
        return board_for(self.snapshot, self.state, self.owned)


def _board_request(request: HttpRequest, domain: Domain, *ignoring: str) -> _BoardRequest:
    state = BoardState.from_query(request.GET, ignoring=ignoring)
    return _BoardRequest(snapshot_for(request.user, domain.name, at=state.at), state, owned_models(request.user, state))


def _json_errors(view: Callable[..., HttpResponse]) -> Callable[..., HttpResponse]:
    """Turn a view's UserErrors into JSON that names the field of the form.

    The status is 200, since text that is being typed is often incomplete and browsers log every 4xx as an error.
    """

    @functools.wraps(view)
    def wrapped(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        try:
            return view(request, *args, **kwargs)
        except UserError as error:
            response = JsonResponse({"problem": _problem(request.GET, error)})
            response["Cache-Control"] = "no-store"
            return response

    return wrapped


def _problem(query: QueryDict, error: UserError) -> dict[str, str]:
    field = "q" if isinstance(error, SearchError) else error.message.replace(":", " ").split()[0]
    return {
        "message": error.message,
        "remedy": error.remedy or "",
        "field": field if field in query else "",
    }


def _json_answer(
    request: HttpRequest, query: _BoardRequest, make: Callable[[], dict[str, Any]], *parts: object
) -> HttpResponse:
    """Respond with JSON that depends on the board and these values."""

    def response() -> HttpResponse:
        text = json.dumps(make(), separators=(",", ":"), ensure_ascii=False, allow_nan=False)
        return HttpResponse(text.encode(), content_type="application/json")

    return answer(request, conditional(query.snapshot, query.owned, *parts), response)


@require_safe
@cached_for_visitors
def page(request: HttpRequest, domain: Domain) -> HttpResponse:
    """The leaderboard as HTML, by pages of models; with JavaScript, a script replaces the table.

    With ``picks=1``, the filters are open and list all benchmarks.
    """
    today = timezone.now().date()  # benchmarks are new for some days

    def make() -> HttpResponse:
        signed_in, choosing = request.user.is_authenticated, "picks" in request.GET
        context = page_context(query.board, today, signed_in=signed_in, choosing=choosing)
        return render(request, "leaderboard/board.html", {**context, **card_patterns(domain.name)})

    try:
        query = _board_request(request, domain, "picks")
        # the login link contains the full path
        tag = conditional(query.snapshot, "page", today, request.get_full_path(), query.owned)
        return answer(request, tag, make)
    except UserError as error:
        try:
            board = board_for(snapshot_for(request.user, domain.name), BoardState())
        except UserError as site_error:  # the data of the site are at fault, not the request
            return error_response(request, site_error)
        signed_in = request.user.is_authenticated
        context = page_context(board, today, signed_in=signed_in, typed=request.GET)
        context["problem"] = _problem(request.GET, error)
        response = render(request, "leaderboard/board.html", {**context, **card_patterns(domain.name)}, status=400)
        response["Cache-Control"] = "no-store"
        return response


@require_safe
@cached_for_visitors
@_json_errors
def data(request: HttpRequest, domain: Domain) -> HttpResponse:
    """Models, nodes and the shown columns as JSON."""
    query, today = _board_request(request, domain), timezone.now().date()
    state = query.state.changed(page=1, errors=False).query()
    return _json_answer(request, query, lambda: board_data(query.board, today), "data", today, state)


@require_safe
@cached_for_visitors
@_json_errors
def columns(request: HttpRequest, domain: Domain) -> HttpResponse:
    """The columns of the children of the nodes in ``node``, as JSON."""
    query = _board_request(request, domain, "node")
    nodes = sorted(set(request.GET.getlist("node")))
    return _json_answer(
        request, query, lambda: columns_below(query.board, nodes), "columns", query.state.query(), *nodes
    )


def _requested_cell(request: HttpRequest, board: Board) -> tuple[int, int]:
    """Return the indices of the requested model and node."""
    model, node = request.GET.get("model", ""), request.GET.get("node", "")
    row, place = board.row_of(model), board.place(node)
    if row < 0 or place < 0:
        name, value = ("model", model) if row < 0 else ("node", node)
        raise UnknownIdentifier(f"{name}: {value[:80]!r} is not on this board", remedy="reload the leaderboard")
    return row, place


@require_safe
@_json_errors
def cell(request: HttpRequest, domain: Domain) -> HttpResponse:
    """Details of the cell of ``model`` and ``node``, as JSON."""
    query = _board_request(request, domain, "model", "node")
    row, place = _requested_cell(request, query.board)

    def make() -> dict[str, Any]:
        facts = cell_facts(query.board, row, place, request.user)
        query_of_page = score_query(query.state, request.GET["model"], request.GET["node"])
        page = reverse("leaderboard:score", args=[domain]) + query_of_page
        links = [*card_links(query.board, row, place, facts.receipt), ("Link to these details", page)]
        return {"title": facts.title, "facts": facts.texts, "links": links}

    return _json_answer(request, query, make, "cell", query.state.query(), row, place)


@require_safe
@user_errors
def score(request: HttpRequest, domain: Domain) -> HttpResponse:
    """Details of the cell of ``model`` and ``node``, as a page."""
    query = _board_request(request, domain, "model", "node")
    row, place = _requested_cell(request, query.board)

    def make() -> HttpResponse:
        facts = cell_facts(query.board, row, place, request.user)
        links = card_links(query.board, row, place, facts.receipt)
        context = {"facts": facts, "links": links, "query": query.state.query(), "notes": query.board.notes}
        return render(request, "leaderboard/score.html", context)

    # the login link contains the full path
    return answer(request, conditional(query.snapshot, "score", request.get_full_path(), query.owned), make)


@require_safe
@user_errors
def export(request: HttpRequest, domain: Domain, kind: str) -> HttpResponse:
    """The board as a file: ``csv``, ``parquet`` (both also with ``form=long``) or ``bib``."""
    query = _board_request(request, domain, "form")
    form = exports.checked_form(request.GET.get("form", "wide"))
    # citations are not part of a snapshot
    content = exports.written(query.board, kind, form) if kind == "bib" else b""
    tag = conditional(query.snapshot, "export", kind, form, query.state.query(), query.owned, content)

    def make() -> HttpResponse:
        exported = content or exports.written(query.board, kind, form)
        response = HttpResponse(exported, content_type=exports.MEDIA_TYPES[kind])
        day = f"-{query.state.at}" if query.state.at else ""
        response["Content-Disposition"] = f'attachment; filename="brain-score-{domain.name}{day}.{kind}"'
        return response

    return answer(request, tag, make)
