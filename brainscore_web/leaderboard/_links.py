"""Links from the leaderboard to cards."""

from __future__ import annotations

from urllib.parse import quote

from django.urls import reverse

from brainscore_web.leaderboard.board import Board

__all__ = ["card", "card_links", "card_patterns"]

_PLACE = "IDENTIFIER"


def card(kind: str, identifier: str) -> str:
    """The address of a card; `kind` is ``'model'`` or ``'benchmark'``."""
    return card_patterns()[f"{kind}_card"].replace(_PLACE, quote(identifier))


def card_patterns() -> dict[str, str]:
    """Addresses of cards in which IDENTIFIER stands for the identifier: reversing hundreds takes long."""
    return {f"{kind}_card": reverse(f"cards:{kind}", args=[_PLACE]) for kind in ("model", "benchmark")}


def card_links(board: Board, row: int, place: int, receipt: str | None) -> list[tuple[str, str]]:
    """Links from a cell: to the model, the benchmark or mean, and the receipt if there is one."""
    node = board.nodes[place]
    links = [("Model", card("model", board.models[row].identifier))]
    if node.kind != "heading":
        links.append(("Mean" if node.kind == "mean" else "Benchmark", card("benchmark", node.identifier)))
    if receipt:
        links.append(("Receipt", reverse("cards:receipt", args=[receipt])))
    return links
