"""Links from the leaderboard to cards."""

from __future__ import annotations

from urllib.parse import quote

from django.urls import NoReverseMatch, reverse

from brainscore_web.leaderboard.board import Board

__all__ = ["card", "card_links", "card_patterns"]

_PLACE = "IDENTIFIER"


def card(kind: str, identifier: str) -> str:
    """The address of a card; `kind` is ``'model'`` or ``'benchmark'``."""
    return card_patterns()[f"{kind}_card"].replace(_PLACE, quote(identifier))


def card_patterns() -> dict[str, str]:
    """Addresses of cards in which IDENTIFIER stands for the identifier: reversing hundreds takes long."""
    found = {}
    for kind in ("model", "benchmark"):
        try:
            found[f"{kind}_card"] = reverse(f"cards:{kind}", args=[_PLACE])
        except NoReverseMatch:
            found[f"{kind}_card"] = f"/vision/{kind}/{_PLACE}/"
    return found


def card_links(board: Board, row: int, place: int) -> list[tuple[str, str]]:
    """Links from a cell: to the model, and to the benchmark if it is one."""
    links = [("Model", card("model", board.models[row].identifier))]
    if board.nodes[place].kind == "benchmark":
        links.append(("Benchmark", card("benchmark", board.nodes[place].identifier)))
    return links
