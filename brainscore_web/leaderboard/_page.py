"""What the leaderboard's templates show: the table of fifty models, links that change the state, the form."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from typing import Any, NamedTuple
from urllib.parse import quote

from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString, mark_safe

from brainscore_web.leaderboard._empty import counts_text, n_filters, why_empty
from brainscore_web.leaderboard._facets import benchmark_facets, model_facets, picks
from brainscore_web.leaderboard._heads import Head, heads_of
from brainscore_web.leaderboard._links import card
from brainscore_web.leaderboard.board import STATES, Board
from brainscore_web.leaderboard.payload import rounded
from brainscore_web.leaderboard.state import BoardState

__all__ = ["MODULES", "PAGE", "SIGNS", "page_context"]

PAGE = 50
"""Models a page, where there is no script."""

MODULES = tuple(f"leaderboard/{name}.js" for name in ("form", "grid", "inspector", "keys", "paint", "table"))
"""What the page's script imports: asked for at once, not one after the other."""

SIGNS = {"undefined": "NaN", "not applicable": "n/a", "failed": "✕", "outdated": "old", "missing": "–"}
"""What stands in cells without a value."""

_FEW = 40  # with more columns, cells have no titles: they would double the page
_NO_VALUE = [
    SafeString("")
    if state not in SIGNS
    else format_html(
        '<td class="none {}"><span aria-hidden="true">{}</span><span class="said">{}</span></td>',
        state.replace(" ", "-"),
        SIGNS[state],
        state,
    )
    for state in STATES
]
_BREAKS = re.compile(r"(?<=[._\-/])|(?<=[a-z])(?=\d{3})")
_VOID = SafeString('<td class="void"></td>')


class _Column(NamedTuple):
    """A header cell for the template."""

    title: SafeString
    full: str
    kind: str
    own: bool
    level: int
    width: int
    height: int
    number: int
    toggle: str
    sort: str
    aria: str
    arrow: str
    card: str


def page_context(board: Board, *, errors: bool, typed: Mapping[str, Any] | None = None) -> dict[str, Any]:
    """Everything the page's template needs but the request.

    Parameters
    ----------
    board : Board
        In the state that is shown.
    errors : bool
        Whether standard errors stand in the cells.
    typed : mapping, optional
        What the form was filled with, where that could not be read.
    """
    state = board.state
    heads = heads_of(board.nodes)
    pages = max(1, math.ceil(len(board.models) / PAGE))
    number = min(state.page, pages)
    start = (number - 1) * PAGE
    export = state.changed().query()
    return {
        "state": state,
        "search": (typed or {}).get("q", state.q),
        "errors": errors,
        "counts": counts_text(board),
        "chosen": n_filters(state),
        "notes": board.notes,
        "empty": why_empty(board),
        "is_empty": not board.models or not board.nodes,
        "corners": [_corner(state, name, title, errors) for name, title in (("rank", "Rank"), ("model", "Model"))],
        "n_levels": len(heads.levels),
        "levels": [[_column(board, head, errors) for head in level] for level in heads.levels],
        "rows": _rows(board, heads.columns, start, errors),
        "first": start + 1,
        "last": min(start + PAGE, len(board.models)),
        "n_models": len(board.models),
        "before": _query(state.changed(page=number - 1), errors) if number > 1 else None,
        "after": _query(state.changed(page=number + 1), errors) if number < pages else None,
        "all_open": _query(
            state.changed(open=tuple(node.identifier for node in board.nodes if node.kind != "benchmark")), errors
        ),
        "all_closed": _query(state.changed(open=()), errors),
        "export": f"?{export}" if export else "",
        "model_facets": model_facets(board.snapshot, state),
        "benchmark_facets": benchmark_facets(board.snapshot, state),
        "picks": picks(board.snapshot, state),
        "limits": [
            ("parameters", "Parameters", "e.g. 25M", _shown(state.parameters_min), _shown(state.parameters_max)),
            ("size", "Weights, MB", "e.g. 100", _shown(state.size_min), _shown(state.size_max)),
        ],
        "ceiling_min": _shown(state.ceiling_min),
        "legend": [(state.replace(" ", "-"), sign, state) for state, sign in SIGNS.items()],
        "shades": range(10),
        "modules": MODULES,
    }


def _breakable(text: str) -> SafeString:
    """Long names break after signs, and before a year."""
    return format_html_join(SafeString("<wbr>"), "{}", ((part,) for part in _BREAKS.split(text)))


def _query(state: BoardState, errors: bool) -> str:
    return f"?{_joined(state.query(), 'errors=1' if errors else '')}"


def _joined(*parts: str) -> str:
    return "&".join(filter(None, parts))


def _shown(number: float | None) -> str:
    if number is None:
        return ""
    return str(int(number)) if number.is_integer() else repr(number)


def _sorting(state: BoardState, name: str, errors: bool) -> tuple[str, str, str]:
    """The query that sorts by a column, what to call its order now, and the class of its arrow."""
    reverse = state.sort == name
    plain = state.changed(sort="rank").query()
    wanted = f"{'-' if reverse else ''}{name}"
    query = _joined(plain, "" if wanted == "rank" else f"sort={quote(wanted, safe='')}", "errors=1" if errors else "")
    if state.sort.removeprefix("-") != name:
        return f"?{query}", "none", ""
    rises = (name in ("rank", "model")) == reverse  # the best, or A, stands first
    return f"?{query}", "ascending" if rises else "descending", "up" if rises else "down"


def _corner(state: BoardState, name: str, title: str, errors: bool) -> dict[str, str]:
    query, aria, arrow = _sorting(state, name, errors)
    return {"name": name, "title": title, "sort": query, "aria": aria, "arrow": arrow}


def _column(board: Board, head: Head, errors: bool) -> _Column:
    node = board.nodes[head.place]
    sortable = head.kind != "group" and node.kind != "heading"
    sort, aria, arrow = _sorting(board.state, node.identifier, errors) if sortable else ("", "", "")
    return _Column(
        title=SafeString("Mean") if head.kind == "mean" else _breakable(node.title),
        full=node.title,
        kind=node.kind if head.kind == "closed" else head.kind,
        own=head.kind == "mean",
        level=min(head.level, 5),
        width=head.width,
        height=head.height,
        number=node.n_benchmarks,
        toggle=_query(board.toggled(head.place), errors) if head.kind in ("group", "closed") else "",
        sort=sort,
        aria=aria,
        arrow=arrow,
        card=card("benchmark", node.identifier) if head.kind != "mean" and node.kind != "heading" else "",
    )


def _rows(board: Board, columns: tuple[int, ...], start: int, errors: bool) -> SafeString:
    titled = len(columns) <= _FEW and not errors
    rows = []
    for row in range(start, min(start + PAGE, len(board.models))):
        cells = "".join(_cell(board, row, place, errors, titled) for place in columns)
        rows.append((_rank(board, row), _model(board, row), mark_safe(cells)))  # noqa: S308 # made of escaped parts
    return format_html_join("\n", "<tr>{}{}{}</tr>", rows)


def _cell(board: Board, row: int, place: int, errors: bool, titled: bool) -> str:
    if board.nodes[place].kind == "heading":
        return _VOID
    text = rounded(board.values[row, place])
    if not text:
        return _NO_VALUE[board.states[row, place]] or _NO_VALUE[STATES.index("undefined")]
    shade, error = board.shade[row, place], rounded(board.errors[row, place])
    title = f' title="{text} {f"± {error}" if error else "(no error known)"}"' if titled else ""
    inside = f' <span class="error">{error and f"±{error}"}</span>' if errors else ""
    return f'<td class="value{f" s{shade}" if shade >= 0 else ""}"{title}>{text}{inside}</td>'


def _rank(board: Board, row: int) -> SafeString:
    rank, best, worst, letters = board.rank[row], board.best[row], board.worst[row], board.groups[row]
    if not rank:
        return SafeString('<td class="rank"><span aria-hidden="true">–</span><span class="said">no rank</span></td>')
    between = format_html(' <span class="range">({}–{})</span>', best, worst) if best != worst else ""
    groups = format_html(' <span class="letters">{}</span>', letters) if letters else ""
    said = f"rank {rank}, between {best} and {worst}" + (f"; groups: {letters}" if letters else "")
    return format_html('<td class="rank" title="{}"><b>{}</b>{}{}</td>', said, rank, between, groups)


def _model(board: Board, row: int) -> SafeString:
    model = board.models[row]
    lock = SafeString("")
    if model.private:
        lock = format_html(
            ' <span class="private" title="{}">private</span>', "Only you see it" if model.mine else "Not public"
        )
    return format_html(
        '<th scope="row" class="model"><a href="{}" title="{}">{}</a>{}</th>',
        card("model", model.identifier),
        model.title,
        _breakable(model.title),
        lock,
    )
