"""The leaderboard: its page, what the page's script asks for, and exports."""

from __future__ import annotations

import functools
import json
from collections.abc import Callable
from typing import Any, NamedTuple

from django.http import HttpRequest, HttpResponse, JsonResponse, QueryDict
from django.shortcuts import render
from django.views.decorators.http import require_safe

from brainscore_core.errors import UserError
from brainscore_web.leaderboard import export as exports
from brainscore_web.leaderboard.board import Board, board_for
from brainscore_web.leaderboard.http import answer, cached_for_visitors, conditional, error_response, user_errors
from brainscore_web.leaderboard.page import card_links, card_patterns, cell_facts, page_context
from brainscore_web.leaderboard.payload import board_data, columns_below
from brainscore_web.leaderboard.search import SearchError
from brainscore_web.leaderboard.snapshot import Snapshot, snapshot_for
from brainscore_web.leaderboard.state import BoardState

__all__ = ["cell", "columns", "data", "export", "page"]

_TYPES = {"csv": "text/csv; charset=utf-8", "parquet": "application/vnd.apache.parquet", "bib": "application/x-bibtex"}


class _BoardRequest(NamedTuple):
    """Who asks sees this, and asks for that."""

    snapshot: Snapshot
    state: BoardState

    @property
    def board(self) -> Board:
        return board_for(self.snapshot, self.state)


def _board_request(request: HttpRequest, *ignoring: str) -> _BoardRequest:
    state = BoardState.from_query(request.GET, ignoring=ignoring)
    return _BoardRequest(snapshot_for(request.user, at=state.at), state)


def _json_errors(view: Callable[..., HttpResponse]) -> Callable[..., HttpResponse]:
    """Let a view's UserErrors be JSON that names the field of the form.

    The status is 200: what is being typed is often not yet whole, and browsers complain of every 4xx.
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


def _json(content: Any) -> bytes:
    return json.dumps(content, separators=(",", ":"), ensure_ascii=False, allow_nan=False).encode()


@require_safe
@cached_for_visitors
def page(request: HttpRequest) -> HttpResponse:
    """The table as HTML, fifty models a page; a script takes over where there is one."""

    def make() -> HttpResponse:
        context = page_context(asked.board, errors=asked.state.errors)
        return render(request, "leaderboard/board.html", {**context, **card_patterns()})

    try:
        asked = _board_request(request)
        # the whole address, which the link to log in names
        tag = conditional(asked.snapshot, "page", request.get_full_path(), only_snapshot=True)
        return answer(request, tag, make)
    except UserError as error:
        try:
            board = board_for(snapshot_for(request.user), BoardState())
        except UserError as other:  # not what was asked for is at fault, but what the site holds
            return error_response(request, other)
        context = page_context(board, errors=False, typed=request.GET)
        context["problem"] = _problem(request.GET, error)
        response = render(request, "leaderboard/board.html", {**context, **card_patterns()}, status=400)
        response["Cache-Control"] = "no-store"
        return response


@require_safe
@cached_for_visitors
@_json_errors
def data(request: HttpRequest) -> HttpResponse:
    """Models, nodes and the columns that are shown."""
    asked = _board_request(request)
    tag = conditional(asked.snapshot, "data", asked.state.changed(page=1, errors=False).query(), only_snapshot=True)
    return answer(request, tag, lambda: _send(_json(board_data(asked.board))))


@require_safe
@cached_for_visitors
@_json_errors
def columns(request: HttpRequest) -> HttpResponse:
    """The columns directly below the nodes that ``node`` names."""
    asked = _board_request(request, "node")
    nodes = sorted(set(request.GET.getlist("node")))
    tag = conditional(asked.snapshot, "columns", asked.state.query(), *nodes, only_snapshot=True)
    return answer(request, tag, lambda: _send(_json(columns_below(asked.board, nodes))))


@require_safe
@_json_errors
def cell(request: HttpRequest) -> HttpResponse:
    """What is known of the cell that ``model`` and ``node`` name."""
    asked = _board_request(request, "model", "node")
    board = asked.board
    identifier, node = request.GET.get("model", ""), request.GET.get("node", "")
    row = next((row for row, model in enumerate(board.models) if model.identifier == identifier), -1)
    place = board.place(node)
    if row < 0 or place < 0:
        name, value = ("model", identifier) if row < 0 else ("node", node)
        raise UserError(f"{name}: {value[:80]!r} is not on this board", remedy="load the board again")
    tag = conditional(asked.snapshot, "cell", asked.state.query(), identifier, node, only_snapshot=True)

    def make() -> HttpResponse:
        facts = cell_facts(board, row, place, request.user)
        links = card_links(board, row, place, facts.receipt)
        return _send(_json({"title": facts.title, "facts": facts.texts, "links": links}))

    return answer(request, tag, make)


@require_safe
@user_errors
def export(request: HttpRequest, kind: str) -> HttpResponse:
    """The board as a file: ``csv``, ``parquet`` (both also with ``form=long``) or ``bib``."""
    asked = _board_request(request, "form")
    form = request.GET.get("form", "wide")
    # citations are in no snapshot
    content = exports.bibtex(asked.board) if kind == "bib" else ""
    tag = conditional(asked.snapshot, "export", kind, form, asked.state.query(), content, only_snapshot=True)

    def make() -> HttpResponse:
        made = content or getattr(exports, kind)(asked.board, form=form)
        response = HttpResponse(made, content_type=_TYPES[kind])
        day = f"-{asked.state.at}" if asked.state.at else ""
        response["Content-Disposition"] = f'attachment; filename="brain-score{day}.{kind}"'
        return response

    return answer(request, tag, make)


def _send(content: bytes) -> HttpResponse:
    return HttpResponse(content, content_type="application/json")
