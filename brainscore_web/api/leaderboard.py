"""The leaderboard, as its page shows it."""

from __future__ import annotations

from django.http import HttpRequest, HttpResponse
from ninja import Query, Router

from brainscore_web.api._board_asked import BoardAsked, BoardPart, state_of
from brainscore_web.api._board_content import content, places
from brainscore_web.api._callers import caller_of
from brainscore_web.api._schemas import BoardAnswer
from brainscore_web.api._site_api import problems
from brainscore_web.leaderboard import http
from brainscore_web.leaderboard._cache import Cache
from brainscore_web.leaderboard.board import board_for
from brainscore_web.leaderboard.snapshot import SnapshotKey, snapshot_for

__all__ = ["router"]

router = Router()

_contents: Cache[tuple[SnapshotKey, str, tuple[int, ...], int, int], bytes] = Cache(most=4)  # up to some MB each


@router.get("leaderboard", response={200: BoardAnswer, **problems(404)}, tags=["leaderboard"], summary="Leaderboard")
def show_leaderboard(request: HttpRequest, asked: Query[BoardAsked], part: Query[BoardPart]) -> HttpResponse:
    """Show the leaderboard with values, errors, intervals, states and ranks.

    The parameters are those of the page, so that the query of its address asks for the same here. Averages and ranks
    follow the filters.
    """
    state = state_of(request, BoardPart)
    snapshot = snapshot_for(caller_of(request).visitor, at=state.at)
    board = board_for(snapshot, state)
    nodes = tuple(places(board, part.node, shown=part.shown))
    asked_for = (state.query(), nodes, part.limit, part.offset)

    def make() -> HttpResponse:
        body = _contents.get((snapshot.key, *asked_for), lambda: content(board, nodes, part.limit, part.offset))
        return HttpResponse(body, content_type="application/json; charset=utf-8")

    return http.answer(request, http.conditional(snapshot, "api", *asked_for, only_snapshot=True), make)
