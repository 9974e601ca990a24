"""Badges: small pictures with a score, for pages of others. They show public data only."""

from __future__ import annotations

import re

import numpy as np
from django.http import Http404
from django.utils.html import format_html
from django.utils.safestring import SafeString

from brainscore_core.plurals import counted
from brainscore_web.leaderboard.board import Board
from brainscore_web.leaderboard.cards.formatting import estimate

_LONGEST = 60
_WIDE, _PADDING = 6.4, 8.0  # width of a character and of the space around a text, in pixels
_NOT_IN_XML = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]")
_SVG = (
    '<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="22" viewBox="0 0 {width} 22" role="img">'
    "<title>{full}</title>"
    '<rect width="{width}" height="22" rx="4" fill="#24292f"/>'
    '<path d="M{left} 0h{bend}a4 4 0 0 1 4 4v14a4 4 0 0 1-4 4h-{bend}z" fill="#0b6e4f"/>'
    '<g fill="#ffffff" font-family="Verdana,DejaVu Sans,sans-serif" font-size="11">'
    '<text x="8" y="15" textLength="{label_length}" lengthAdjust="spacingAndGlyphs">{label}</text>'
    '<text x="{value_at}" y="15" textLength="{value_length}" lengthAdjust="spacingAndGlyphs">{value}</text>'
    "</g></svg>"
)


def badge(label: str, value: str, condition: str = "") -> SafeString:
    """Draw a label and a value, which may be any text; the condition of the value is in the picture's title.

    Examples
    --------
    >>> "&lt;b&gt; | 0.5; holds for two monkeys</title>" in badge("<b>", "0.5", "two monkeys")
    True
    """
    label, value = (_shortened(_NOT_IN_XML.sub("", text)) for text in (label, value))
    lengths = [round(_WIDE * len(text), 1) for text in (label, value)]
    left, right = (round(length + 2 * _PADDING, 1) for length in lengths)
    full = f"{label} | {value}" + (f"; holds for {_NOT_IN_XML.sub('', condition)}" if condition else "")
    return format_html(
        _SVG,
        width=round(left + right, 1),
        left=left,
        bend=round(right - 4, 1),
        label=label,
        value=value,
        full=full,
        label_length=lengths[0],
        value_at=left + _PADDING,
        value_length=lengths[1],
    )


def _shortened(text: str) -> str:
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 1]}…"


def model_badge(board: Board, identifier: str, node: str = "") -> SafeString:
    """Draw the score of a model at a node, by default at the first mean.

    Raises
    ------
    Http404
        If the model or the node is not on the board.
    """
    row, place = board.row_of(identifier), board.place(node) if node else board.root
    if row < 0 or place < 0 or board.nodes[place].kind == "heading":
        raise Http404("no public score for a badge")
    title = board.nodes[place].title
    value = estimate(*board.numbers(row, place))
    n_scored, n_all = int(board.n_scored[row, place]), int(board.n_all[row, place])
    coverage = f", {n_scored} of {n_all} scored" if board.nodes[place].kind == "mean" else ""
    return badge(f"Brain-Score · {identifier}", f"{title} {value}{coverage}", board.condition(place))


def benchmark_badge(board: Board, identifier: str) -> SafeString:
    """Draw the ceiling of a benchmark, and the number of models with a score on it or at a mean."""
    place = board.place(identifier)
    if place < 0:
        raise Http404("no public score for a badge")
    node, value = board.nodes[place], counted(int(np.isfinite(board.values[:, place]).sum()), "model")
    if node.column >= 0 and np.isfinite((row := board.snapshot.benchmarks[node.column]).ceiling):
        value += f", ceiling {estimate(row.ceiling, row.ceiling_error, row.ceiling_low, row.ceiling_high)}"
    return badge(f"Brain-Score · {node.title}", value, board.condition(place))
