"""Content of the leaderboard page: links, headers and cells."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from datetime import date
from typing import Any, NamedTuple
from urllib.parse import quote, urlencode

import numpy as np
from django.urls import reverse
from django.utils.html import escape, format_html, format_html_join
from django.utils.safestring import SafeString, mark_safe

from brainscore_core.formatting import count_text, estimate_text, number_text
from brainscore_core.metrics import ABOVE_CEILING
from brainscore_core.plurals import counted
from brainscore_core.populations import population
from brainscore_core.results.board import fewest_scores
from brainscore_core.training_data import MARKS, Mark, compare
from brainscore_web.leaderboard.board import STATES, Board, BoardNode, children_of, mean_parts
from brainscore_web.leaderboard.cards.formatting import estimate, limits
from brainscore_web.leaderboard.descriptions import BADGES, plain_name
from brainscore_web.leaderboard.exposure import (
    EXPOSURE_PAGE,
    EXPOSURES,
    VERIFICATION_MARKS,
    VERIFICATION_PAGE,
    VERIFICATIONS,
    verification_of_score,
)
from brainscore_web.leaderboard.filters import benchmark_facets, chips, model_facets, tree_checkboxes
from brainscore_web.leaderboard.models import Score, Visitor
from brainscore_web.leaderboard.payload import (
    NEW_DAYS,
    badge_on,
    counts_text,
    n_filters,
    new_benchmarks,
    presets,
    rounded,
    rounded_limits,
    shortcuts,
    why_empty,
)
from brainscore_web.leaderboard.reasons import withheld_reason
from brainscore_web.leaderboard.snapshot import ModelRow
from brainscore_web.leaderboard.state import COVERAGE, FACTS, BoardState

_PLACE = "IDENTIFIER"


def card(domain: str, kind: str, identifier: str) -> str:
    """Return the URL of a card; `kind` is ``'model'`` or ``'benchmark'``."""
    return card_patterns(domain)[f"{kind}_card"].replace(_PLACE, quote(identifier))


def card_patterns(domain: str) -> dict[str, str]:
    """Return URLs of cards with IDENTIFIER as a placeholder, since reversing hundreds of URLs is slow."""
    return {f"{kind}_card": reverse(f"cards:{kind}", args=[domain, _PLACE]) for kind in ("model", "benchmark")}


def score_query(state: BoardState, model: str, node: str) -> str:
    """Return the query of the page about one score of a board."""
    pairs = urlencode({"model": model, "node": node}, quote_via=quote)
    return f"?{'&'.join(filter(None, (_query_of_scores(state), pairs)))}"


def _query_of_scores(state: BoardState) -> str:
    """Return the query that the pages about scores of a board share."""
    return state.changed(open=None, show=None, empty=False, errors=False, sort="rank").query()


def card_links(board: Board, row: int, place: int, receipt: str | None) -> list[tuple[str, str]]:
    """Return the links of a cell: to the model, to the benchmark or mean, and to the receipt if it has one."""
    node = board.nodes[place]
    domain = board.snapshot.domain
    links = [("Model", card(domain, "model", board.models[row].identifier))]
    if node.kind != "heading":
        links.append(("Mean" if node.kind == "mean" else "Benchmark", card(domain, "benchmark", node.identifier)))
    if receipt:
        links.append(("Receipt", reverse("cards:receipt", args=[domain, receipt])))
    if node.kind != "heading" and board.exposure[row, place] >= 0:
        links.append(("About training on stimuli", EXPOSURE_PAGE))
    if board.verification[row, place] > 0:
        links.append(("About remote workers", VERIFICATION_PAGE))
    return links


_FIELDS = (
    "receipt", "version", "created", "level", "state", "reason", "error_reason", "value", "error", "low", "high",
    "estimates", "undetermined",
)  # fmt: skip


_EXPOSURE_OF_MEAN = {
    "clean": "not trained on the stimuli of any of them",
    "unknown": "training unknown: for some of them, it is not known whether the model was trained on the stimuli",
    "trained on it": "trained on it: the model was trained on the stimuli of some of them",
}
_VERIFICATION_OF_MEAN = (
    "",
    "not verified: some of them were computed by remote workers, and not repeated by this site",
    "contradicted: for some of them, which remote workers computed, this site got another result",
)


class Facts(NamedTuple):
    """Details of a cell: a title, sentences, and the id of its receipt if it has one."""

    title: str
    texts: list[str]
    receipt: str | None = None


def cell_facts(board: Board, row: int, place: int, visitor: Visitor) -> Facts:
    """Return the details of the cell of a model (its row on the board) and a node.

    Runs one database query, for the score of a benchmark.
    """
    node = board.nodes[place]
    title = f"{board.models[row].title} · {node.title}"
    if node.kind == "heading":
        return Facts(title, [])
    if node.kind == "mean":
        return Facts(title, _mean_facts(board, row, place))
    score: dict[str, Any] = {}
    shown = int(board.snapshot.score[int(board.rows[row]), node.column])
    if shown >= 0:
        score = _score(shown, visitor)
    return Facts(title, _benchmark_facts(board, row, place, score), score.get("receipt"))


def _score(key: int, visitor: Visitor) -> dict[str, Any]:
    rows = Score.objects.visible_to(visitor).with_shows_data(visitor).filter(pk=key)
    score: dict[str, Any] = rows.values(*_FIELDS, "shows_data").first() or {}
    if score and not score["shows_data"]:
        score["reason"] = withheld_reason(score["state"], score["reason"])
    return score


def _mean_facts(board: Board, row: int, place: int) -> list[str]:
    n_scored, n_all = int(board.n_scored[row, place]), int(board.n_all[row, place])
    gaps = "count as 0" if board.state.over == "all" else "are left out"
    rest = "" if n_scored == n_all else f"; the others {gaps}"
    scored = f"mean of {n_all} benchmarks, {n_scored} of them scored{rest}" if n_all > 1 else f"{n_scored} of 1 scored"
    without = _states_below(board, row, place)
    if not math.isfinite(board.values[row, place]):
        fewest = f"; a mean is shown from {fewest_scores(n_all, board.state.coverage)}" if n_scored else ""
        return ["no value", scored.partition(";")[0] + fewest, *without]
    error = [] if math.isfinite(board.errors[row, place]) else ["no standard error: a score below has none"]
    return [
        _value(board, row, place, {}),
        *error,
        scored,
        *without,
        *_condition(board, place),
        # the most exposed and the most doubtful of the scores below
        _EXPOSURE_OF_MEAN[EXPOSURES[board.exposure[row, place]]],
        *filter(None, [_VERIFICATION_OF_MEAN[max(board.verification[row, place], 0)]]),
        *_rank_sentences(board, row, place),
    ]


def _states_below(board: Board, row: int, place: int) -> list[str]:
    """Return how many benchmarks below a mean failed, were never scored, or have no score for another reason."""
    columns = set(mean_parts(board.nodes, place)[0].tolist())
    states = [STATES[board.states[row, at]] for at, node in enumerate(board.nodes) if node.column in columns]
    counts = [
        f"{states.count(state)} {'never scored' if state == 'missing' else state}"
        for state in STATES
        if state != "scored" and state in states
    ]
    return [", ".join(counts)] if counts else []


def fact_text(board: Board, row: int, name: str) -> str:
    """Return a column about models (a key of `FACTS`) as text; empty if it is not known."""
    model = board.models[row]
    if name == "scored":
        return f"{board.n_scored[row, 0]} of {board.n_all[row, 0]}" if board.root >= 0 else ""
    number = getattr(model, name)
    return "" if number is None else count_text(number) if name == "parameters" else str(number)


def _benchmark_facts(board: Board, row: int, place: int, score: dict[str, Any]) -> list[str]:
    snapshot = board.snapshot
    at = int(board.rows[row]), board.nodes[place].column
    benchmark = snapshot.benchmarks[at[1]]
    state = STATES[board.states[row, place]]
    version = f" {score['version']}" if score.get("version") else " unknown"
    when = f"version{version} of the benchmark, {score['created']:%Y-%m-%d}" if score else ""
    counts = "" if not benchmark.in_tree or board.state.over == "scored" else "; counts as 0 in means"
    if state == "scored":
        facts = [_value(board, row, place, score)]
        if math.isnan(board.errors[row, place]):
            facts.append(f"no standard error: {score.get('error_reason') or 'not given'}")
        elif math.isnan(board.low[row, place]) and score.get("error_reason") and not _finding(score):
            facts.append(f"no interval: {score['error_reason']}")
        estimates = score.get("estimates") or ""
        facts += _condition(board, place)
        if estimates and not population(estimates):  # of a receipt of an earlier version, or of another program
            facts.append(f"the interval is about: {estimates}")
        raw, ceiled = snapshot.raw[at], snapshot.value[at]
        other, name = (raw, "raw") if board.state.values == "ceiled" else (ceiled, "ceiled")
        if math.isfinite(other):
            facts.append(f"{name} {number_text(other)}")
        if math.isfinite(benchmark.ceiling):
            meaning = f" ({benchmark.ceiling_meaning})" if benchmark.ceiling_meaning else ""
            facts.append(f"ceiling {number_text(benchmark.ceiling)}{meaning}")
        sizes = ((benchmark.n_stimuli, "stimulus"), (benchmark.n_neuroids, "neuroid"))
        if known := [counted(number, noun) for number, noun in sizes if number is not None]:
            facts.append(", ".join(known))
        facts += [_exposure(board, row, place), *filter(None, [verification_of_score(board.verification[row, place])])]
        return [*facts, *_rank_sentences(board, row, place), *filter(None, [when])]
    if state == "undetermined":
        raw = estimate_text(snapshot.raw[at], ci=limits(snapshot.raw_low[at], snapshot.raw_high[at]))
        doubt = verification_of_score(snapshot.verification[at])
        return [f"undetermined: {score.get('undetermined')}", f"raw {raw}", *filter(None, [doubt, when])]
    if state == "left out":
        return [f"left out by the filter on training; {_exposure(board, row, place)}"]
    if state == "missing":
        return [f"missing: never scored{counts}"]
    if state == "outdated":
        number = score.get("value")
        was = estimate(number, score["error"], score["low"], score["high"], level=score["level"]) if score else ""
        what = "" if number is None else f", {was}"
        return [f"outdated: only {when or 'another version'}{what}; version {benchmark.version} counts{counts}"]
    reason = (score.get("reason") or "").strip().splitlines()
    return [f"{state}{counts}", *(line[:300] for line in reason[:1]), *filter(None, [when])]


def _condition(board: Board, place: int) -> list[str]:
    """For which few subjects or groups alone the value and its rank hold."""
    condition = board.condition(place)
    return [f"holds for {condition}"] if condition else []


def _exposure(board: Board, row: int, place: int) -> str:
    """Whether the model was trained on the stimuli of a benchmark, and why that is said."""
    model, benchmark = board.models[row], board.snapshot.benchmarks[board.nodes[place].column]
    finding = compare(model.training, benchmark.taken_from)
    return f"{MARKS[finding.state].text}: {finding.reason}"


def _finding(score: Mapping[str, Any]) -> str:
    reason = score.get("error_reason") or ""
    return reason if reason.startswith(ABOVE_CEILING) else ""


def _value(board: Board, row: int, place: int, score: Mapping[str, Any]) -> str:
    value, error, low, high = board.numbers(row, place)
    kind = "raw" if board.state.values == "raw" else "ceiled"
    text = estimate_text(
        value,
        error=error,
        ci=limits(low, high),
        level=score.get("level"),
        estimates=score.get("estimates"),
        finding=_finding(score) if board.state.values == "ceiled" else None,
    )
    return f"{kind} {text}"


def _rank_sentences(board: Board, row: int, place: int) -> list[str]:
    ranks, n_ranked = board.rank_of(place)
    return [f"rank {ranks[row]} of {n_ranked} on this board"] if ranks[row] else []


class Head(NamedTuple):
    """A header cell."""

    place: int  # index of the node
    # start, width: the first column that it spans, and the number of columns
    start: int
    width: int
    # level, height: the header row in which it starts, and the number of rows that it spans
    level: int
    height: int
    # ``'group'``: an open node; ``'mean'``: the column of an open mean; ``'closed'``: a node that can be opened;
    # ``'benchmark'``
    kind: str


class Heads(NamedTuple):
    """Header cells by level, and the node index of each column."""

    levels: tuple[tuple[Head, ...], ...]
    columns: tuple[int, ...]


def heads_of(nodes: Sequence[BoardNode]) -> Heads:
    """Lay out the headers of the listed nodes; an open mean has its own column beside those of its children."""
    children = {parent: listed for parent, places in children_of(nodes).items()
                if (listed := [place for place in places if nodes[place].listed])}  # fmt: skip
    columns: list[int] = []
    heads: list[Head] = []

    def walk(place: int, level: int) -> None:
        node, start = nodes[place], len(columns)
        if not (node.open and place in children):
            columns.append(place)
            heads.append(Head(place, start, 1, level, 0, "closed" if place in children else "benchmark"))
            return
        at = len(heads)
        heads.append(Head(place, start, 0, level, 1, "group"))
        if node.kind == "mean" and not node.bare:
            columns.append(place)
            heads.append(Head(place, start, 1, level + 1, 0, "mean"))
        for child in children[place]:
            walk(child, level + 1)
        heads[at] = heads[at]._replace(width=len(columns) - start)

    for root in children.get(-1, []):
        walk(root, 0)
    n_levels = max((head.level + 1 for head in heads), default=1)
    levels: list[list[Head]] = [[] for _ in range(n_levels)]
    for head in heads:
        levels[head.level].append(head._replace(height=head.height or n_levels - head.level))
    return Heads(tuple(map(tuple, levels)), tuple(columns))


PAGE = 30
"""Models per page without JavaScript."""

MODULES = tuple(f"leaderboard/{name}.js" for name in ("grid", "paint", "table"))
"""Imports of the page's script, preloaded so that the browser fetches them in parallel."""

VALIDITIES = (
    ("", "any"),
    ("assessed", "assessed"),
    ("no-finding", "audit without a finding"),
    ("recovered", "each candidate recovered"),
)
"""Values of the filter on validity, and their texts."""

EXPOSURE_CHOICES = (
    ("", "any"),
    ("clean", "not trained on them"),
    ("not-trained", "not known to be trained on them"),
    ("known", "known either way"),
)
"""Values of the filter on exposure, and their texts."""

SIGNS = {
    "undefined": "NaN",
    "not applicable": "n/a",
    "failed": "✕",
    "outdated": "old",
    "missing": "–",
    "undetermined": "?",
    "not run": "○",
    "left out": "·",
    "too few scores": "few",
}
"""Text of cells without a value."""

_LINKED_COLUMNS = 40  # with more columns, cells have no links, since these would double the size of the page
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


def _mark(kind: str, mark: Mark) -> SafeString:
    html = '<span class="{}"><span aria-hidden="true">{}</span><span class="said"> {}</span></span>'
    return format_html(html, kind, mark.sign, mark.text) if mark.sign else SafeString("")


_MARKS = [_mark("exposure", MARKS[name]) for name in EXPOSURES]
_DOUBTS = [_mark("unverified", VERIFICATION_MARKS[name]) for name in VERIFICATIONS]
"""Marks of scores, in the order of `EXPOSURES` and of `VERIFICATIONS`."""

_BREAKS = re.compile(r"(?<=[._\-/])|(?<=[a-z])(?=\d{3})")
_VOID = SafeString('<td class="void"></td>')


def page_context(
    board: Board,
    today: date,
    *,
    signed_in: bool,
    choosing: bool = False,
    typed: Mapping[str, Any] | None = None,
) -> dict[str, Any]:
    """Return the context of the page's template.

    `today` is the day by which benchmarks are new; `choosing` is whether the filters are open and list all benchmarks;
    `typed` are parameters that cannot be read.
    """
    state = board.state
    new = new_benchmarks(board, today)
    heads = heads_of(board.nodes)
    pages = max(1, math.ceil(len(board.models) / PAGE))
    number = min(state.page, pages)
    start = (number - 1) * PAGE
    export = state.changed().query()
    assessed = any(row.audit or row.recovery for row in board.snapshot.benchmarks)
    return {
        "state": state,
        "search": (typed or {}).get("q", state.q),
        "errors": state.errors,
        "counts": counts_text(board),
        "chosen": n_filters(state),
        "notes": board.notes,
        "empty": why_empty(board),
        "shortcuts": shortcuts(board),
        "chips": chips(state),
        "presets": presets(board, signed_in=signed_in),
        "has_unranked": any(board.unranked),
        "facts": [(name, title, name in state.facts) for name, title in FACTS.items()],
        "is_empty": not board.models or not board.nodes,
        "corners": [_corner(state, name, title) for name, title in (("rank", "Rank"), ("model", "Model"))],
        "fact_heads": [_corner(state, name, FACTS[name]) for name in state.facts],
        "n_levels": len(heads.levels),
        "levels": [[_column(board, head, new) for head in level] for level in heads.levels],
        "rows": _rows(board, heads.columns, start),
        "first": start + 1,
        "last": min(start + PAGE, len(board.models)),
        "n_models": len(board.models),
        "before": _query(state.changed(page=number - 1)) if number > 1 else None,
        "after": _query(state.changed(page=number + 1)) if number < pages else None,
        "all_open": _query(state.changed(open=[node.identifier for node in board.nodes if node.kind != "benchmark"])),
        "all_closed": _query(state.changed(open=())),
        "export": f"?{export}" if export else "",
        "model_facets": model_facets(board.snapshot, state),
        "benchmark_facets": benchmark_facets(board.snapshot, state),
        "choosing": choosing,
        "picks": tree_checkboxes(board.snapshot, state) if choosing or state.include or state.exclude else "",
        "with_picks": f"{_query(state.changed())}&picks=1",
        "texts": state.texts,
        "default_coverage": f"{COVERAGE:g}",
        "legend": [(state.replace(" ", "-"), sign, state) for state, sign in SIGNS.items()],
        "shades": range(10),
        "new_days": NEW_DAYS if new else None,
        "badges": BADGES if assessed else (),
        "exposure_choices": EXPOSURE_CHOICES,
        "exposure_marks": tuple(MARKS.values()),
        "exposure_page": EXPOSURE_PAGE,
        "verification_marks": [
            VERIFICATION_MARKS[VERIFICATIONS[code]] for code in (1, 2) if (board.snapshot.verification == code).any()
        ],
        "verification_page": VERIFICATION_PAGE,
        "validities": VALIDITIES if assessed or state.validity else (),
        "modules": MODULES,
    }


def _breakable(text: str) -> SafeString:
    """Allow line breaks in long names: after punctuation, and before a year."""
    return format_html_join(SafeString("<wbr>"), "{}", ((part,) for part in _BREAKS.split(text)))


def _query(state: BoardState) -> str:
    return f"?{state.query()}"


def _sorting(state: BoardState, name: str) -> tuple[str, str, str]:
    """Return the query that sorts by a column, its current `aria-sort`, and the CSS class of its arrow."""
    reverse = state.sort == name
    query = _query(state.changed(sort=f"-{name}" if reverse else name))
    if state.sort.removeprefix("-") != name:
        return query, "none", ""
    rises = (name in ("rank", "model")) == reverse  # by default, the best or A comes first
    return query, "ascending" if rises else "descending", "up" if rises else "down"


def _corner(state: BoardState, name: str, title: str) -> dict[str, str]:
    query, aria, arrow = _sorting(state, name)
    return {"name": name, "title": title, "sort": query, "aria": aria, "arrow": arrow}


def _column(board: Board, head: Head, new: frozenset[str]) -> dict[str, Any]:
    node = board.nodes[head.place]
    sortable = head.kind != "group" and node.kind != "heading"
    sort, aria, arrow = _sorting(board.state, node.identifier) if sortable else ("", "", "")
    badge = badge_on(board, head.place)
    words = plain_name(board.snapshot.benchmarks[node.column]) if node.column >= 0 else ""
    return {
        "title": SafeString("Mean") if head.kind == "mean" else _breakable(node.title),
        "full": " — ".join(filter(None, (node.title, words))),
        "kind": node.kind if head.kind == "closed" else head.kind,
        "own": head.kind == "mean",
        "level": min(head.level, 5),
        "width": head.width,
        "height": head.height,
        "number": node.n_benchmarks,
        "toggle": _query(board.toggled(head.place)) if head.kind in ("group", "closed") else "",
        "sort": sort,
        "aria": aria,
        "arrow": arrow,
        "card": card(board.snapshot.domain, "benchmark", node.identifier)
        if head.kind != "mean" and node.kind != "heading"
        else "",
        "new": node.identifier in new,
        "badge": badge.signs,
        "badge_text": badge.text,
    }


def _rows(board: Board, columns: tuple[int, ...], start: int) -> SafeString:
    linked = len(columns) <= _LINKED_COLUMNS and not board.state.errors
    common = escape("?" + "&".join(filter(None, (_query_of_scores(board.state), "model=")))) if linked else ""
    first = next((place for place in columns if board.nodes[place].kind == "mean"), -1)
    model_card = card_patterns(board.snapshot.domain)["model_card"]
    rows = []
    for row in range(start, min(start + PAGE, len(board.models))):
        cells = "".join(_cell(board, row, place, common, place == first) for place in columns)
        facts = format_html_join(
            "", '<td class="fact {}">{}</td>', ((name, fact_text(board, row, name)) for name in board.state.facts)
        )
        rows.append((_rank_cell(board, row), _model(board.models[row], model_card), facts, mark_safe(cells)))  # noqa: S308 # made of escaped parts
    return format_html_join("\n", "<tr>{}{}{}{}</tr>", rows)


def _cell(board: Board, row: int, place: int, common: str, first: bool) -> str:
    if board.nodes[place].kind == "heading":
        return _VOID
    text = rounded(board.values[row, place])
    if not text:
        return _NO_VALUE[board.states[row, place]] or _NO_VALUE[STATES.index("undefined")]
    shade, between = board.shade[row, place], rounded_limits(board.low[row, place], board.high[row, place])
    link = end = ""
    if common:
        model, node = quote(board.models[row].identifier), quote(board.nodes[place].identifier)
        link, end = f'<a href="score/{common}{model}&amp;node={node}">', "</a>"
    inside = _interval(board, row, place, between, first) if board.state.errors or (first and between) else ""
    mark = _MARKS[board.exposure[row, place]] if board.exposure[row, place] > 0 else ""
    mark += _DOUBTS[board.verification[row, place]]
    classes = f"value{f' s{shade}' if shade >= 0 else ''}{' first' if first else ''}"
    return f'<td class="{classes}">{link}{text}{end}{mark}{inside}</td>'


def _interval(board: Board, row: int, place: int, text: str, drawn: bool) -> str:
    """Return an interval as text; if it has both limits, also as a line on the range of the column's intervals."""
    value, _, low, high = board.numbers(row, place)
    if not drawn or not math.isfinite(low + high):
        return f' <span class="interval">{text}</span>'
    lowest, highest = float(np.nanmin(board.low[:, place])), float(np.nanmax(board.high[:, place]))
    width = (highest - lowest) or 1.0
    at, start, end = (f"{100 * (number - lowest) / width:.1f}" for number in (value, low, high))
    return (
        f' <span class="interval bounded">{text}</span><svg class="whisker" viewBox="0 0 100 6" aria-hidden="true" '
        f'preserveAspectRatio="none"><path d="M{start} 3H{end}M{at} 0V6"/></svg>'
    )


def _rank_cell(board: Board, row: int) -> SafeString:
    rank, best, worst, letters = board.rank[row], board.best[row], board.worst[row], board.groups[row]
    if not rank:
        return format_html(
            '<td class="rank" title="{}"><span aria-hidden="true">–</span><span class="said">no rank</span>{}</td>',
            board.unranked[row],
            format_html(' <span class="why">{}</span>', "too few") if board.unranked[row] else "",
        )
    between = format_html(' <span class="range">({}–{})</span>', best, worst) if best != worst else ""
    groups = format_html(' <span class="letters">{}</span>', letters) if letters else ""
    limits = f"between {best} and {worst}" if board.tested[row] else "not tested"
    description = f"rank {rank}, {limits}" + (f"; groups: {letters}" if letters else "")
    return format_html('<td class="rank" title="{}"><b>{}</b>{}{}</td>', description, rank, between, groups)


def _model(model: ModelRow, model_card: str) -> SafeString:
    lock = SafeString("")
    if model.private:
        lock = format_html(
            ' <span class="private" title="{}">private</span>',
            "Only owners can see it" if model.mine else "Not public",
        )
    return format_html(
        '<th scope="row" class="model"><input type="checkbox" class="tick-model" form="ticked" name="models" '
        'value="{}" aria-label="Choose {}"><a href="{}" title="{}">{}</a>{}</th>',
        model.identifier,
        model.title,
        model_card.replace(_PLACE, quote(model.identifier)),
        model.title,
        _breakable(model.title),
        lock,
    )
