"""Filters of the leaderboard: their options, the models and benchmarks that pass, and which of these count in ranks."""

from __future__ import annotations

import difflib
import functools
import re
from collections import Counter
from collections.abc import Callable, Iterable, Sequence, Set
from dataclasses import replace
from typing import Any, NamedTuple
from urllib.parse import quote, urlencode

import numpy as np
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString
from numpy.typing import NDArray

from brainscore_core.errors import UserError
from brainscore_core.identifiers import states_of_models
from brainscore_core.plurals import counted
from brainscore_core.results import board
from brainscore_core.results.board import CONTROLS, OUTSIDE, fewest_scores
from brainscore_core.results.tree import Tree
from brainscore_web.leaderboard import search
from brainscore_web.leaderboard.models import StoredAssessment
from brainscore_web.leaderboard.snapshot import STATES, BenchmarkRow, ModelRow, Snapshot
from brainscore_web.leaderboard.state import DEFAULTS, PARAMETERS, BoardState, parameters_of


class Option(NamedTuple):
    """A value to filter by, the number of rows that have it, and whether it is chosen."""

    value: str
    number: int
    chosen: bool


class Facet(NamedTuple):
    """A filter with its options."""

    name: str
    title: str
    options: tuple[Option, ...]


class ActiveFilter(NamedTuple):
    """A filter that is set."""

    field: str  # attribute of `BoardState`
    # label, value: its name and value as text; `value` is empty for a checkbox
    label: str
    value: str
    without: BoardState  # the state without this filter

    @property
    def text(self) -> str:
        """Label and value."""
        return f"{self.label}: {self.value}" if self.value else self.label


def active_filters(state: BoardState) -> tuple[ActiveFilter, ...]:
    """Return what differs from the default: one item for each value of a filter.

    Examples
    --------
    >>> [(item.label, item.value) for item in active_filters(BoardState(region=("IT", "V4"), parameters_min=25e6))]
    [('parameters from', '25,000,000'), ('region', 'IT'), ('region', 'V4')]
    """
    active = []
    for name, parameter in PARAMETERS.items():
        given, default = getattr(state, name), DEFAULTS[name]
        if given == default or parameter.of == "view":
            continue
        for item in given if isinstance(given, tuple) else (given,):
            rest: Any = tuple(other for other in given if other != item) if isinstance(given, tuple) else default
            text = "" if item is True else f"{item:,.10g}" if isinstance(item, float) else str(item)
            active.append(ActiveFilter(name, parameter.label, text, state.changed(**{name: rest})))
    return tuple(active)


class Link(NamedTuple):
    """A link to the leaderboard in another state: its text and query."""

    text: str
    query: str


def chips(state: BoardState, search_text: str = "") -> list[Link]:
    """Return a link for each active filter that removes it; `search_text` is a search that is not part of the state."""
    pairs = [("q", search_text)] if search_text else []
    search_query = urlencode(pairs, quote_via=quote, safe="")
    links = [
        Link(active.text, "&".join(filter(None, (active.without.query(), search_query))))
        for active in active_filters(state)
    ]
    return [*(Link(f"search: {text}", state.changed().query()) for _, text in pairs), *links]


def model_facets(snapshot: Snapshot, state: BoardState) -> tuple[Facet, ...]:
    """Return the filters of models."""
    models = snapshot.models
    return tuple(
        _facet(state, name, title, [{getattr(model, attribute)} for model in models])
        for name, title, attribute in (
            ("architecture", "Architecture", "architecture"),
            ("family", "Family", "family"),
            ("training", "Training data", "training_data"),
        )
    )


def benchmark_facets(snapshot: Snapshot, state: BoardState) -> tuple[Facet, ...]:
    """Return the filters of benchmarks; a benchmark of several regions counts in each of them."""
    rows = snapshot.benchmarks
    return tuple(
        _facet(state, name, title, [_items(getattr(row, name)) for row in rows])
        for name, title in (
            ("region", "Region"),
            ("species", "Species"),
            ("task", "Task"),
            ("stimuli", "Stimuli"),
            ("metric", "Metric"),
        )
    )


@functools.lru_cache(maxsize=1_000)
def _items(text: str) -> frozenset[str]:
    return frozenset(item.strip() for item in re.split("[,;]", text))


def _facet(state: BoardState, name: str, title: str, values: Iterable[Set[str]]) -> Facet:
    counts = Counter(value for row_values in values for value in row_values if value)
    chosen = {value.casefold() for value in getattr(state, name)}
    known = {value.casefold() for value in counts}
    for value in getattr(state, name):  # a chosen value stays visible even if nothing has it
        if value.casefold() not in known:
            counts[value] = 0
    return Facet(
        name,
        title,
        tuple(Option(value, counts[value], value.casefold() in chosen) for value in sorted(counts, key=str.casefold)),
    )


def tree_checkboxes(snapshot: Snapshot, state: BoardState) -> SafeString:
    """Return the tree as nested lists with two checkboxes for each node."""
    include, exclude = set(state.include), set(state.exclude)
    tree = snapshot.tree

    def line(identifier: str, title: str) -> SafeString:
        return format_html(
            '<span class="pick"><span class="title">{}</span>'
            '<label><input type="checkbox" name="include" value="{}"{}>only<span class="said"> {}</span></label>'
            '<label><input type="checkbox" name="exclude" value="{}"{}>without<span class="said"> {}</span></label>'
            "</span>",
            title,
            identifier,
            " checked" if identifier in include else "",
            title,
            identifier,
            " checked" if identifier in exclude else "",
            title,
        )

    opened = {above for name in include | exclude if name in tree for above in tree.ancestors(name)} | {*tree.roots}
    parts = [_branch(tree, root, line, opened) for root in tree.roots]
    for heading, control in ((OUTSIDE, False), (CONTROLS, True)):
        rows: list[BenchmarkRow] = [row for row in snapshot.benchmarks if not row.in_tree and row.control is control]
        if rows:
            lines = format_html_join("", "<li>{}</li>", ((line(row.identifier, row.identifier),) for row in rows))
            parts.append(format_html("<li><details><summary>{}</summary><ul>{}</ul></details></li>", heading, lines))
    return format_html("<ul>{}</ul>", format_html_join("", "{}", ((part,) for part in parts)))


def _branch(tree: Tree, identifier: str, line: Callable[[str, str], SafeString], opened: set[str]) -> SafeString:
    node = tree[identifier]
    if node.benchmark:
        return format_html("<li>{}</li>", line(identifier, identifier))
    title = node.title or identifier
    inside = format_html_join("", "{}", ((_branch(tree, child, line, opened),) for child in tree.children(identifier)))
    return format_html(
        "<li>{}<details{}><summary>Below {}</summary><ul>{}</ul></details></li>",
        line(identifier, title),
        " open" if identifier in opened else "",
        title,
        inside,
    )


_TEXTS = ("identifier", "title", "architecture", "family", "training_data")


MODEL_FILTERS = parameters_of("models")
"""Attributes of `BoardState` that filter models."""


def without_model_filters(models: Sequence[ModelRow], state: BoardState) -> BoardState:
    """Return the state of the board to which the chosen models belong: with all models, which their ranks are among.

    A board lists one state of a model that was scored during its training, unless a chosen one is another.
    """
    names = set(state.models)
    others = bool(names) and not names.isdisjoint(
        {model.identifier for model in models}.difference(states_of_models(model.identifier for model in models))
    )
    return replace(state, **{name: DEFAULTS[name] for name in MODEL_FILTERS}, states=state.states or others)


def chosen_models(models: Sequence[ModelRow], state: BoardState) -> list[int]:
    """Return the rows of the models that pass; a model whose number is not known passes no limit on it.

    Of a model that was scored during its training, one state passes, unless the state asks for all or names models.
    """
    query = search.parse(state.q)
    required = [
        (name, {text.casefold() for text in texts})
        for name, texts in (
            ("family", state.family),
            ("architecture", state.architecture),
            ("training_data", state.training),
        )
        if texts
    ]
    limits = [
        (name, least, most)
        for name, least, most in (
            ("parameters", state.parameters_min, state.parameters_max),
            ("size_mb", state.size_min, state.size_max),
        )
        if least is not None or most is not None
    ]

    only = set(state.models)
    all_states = bool(only) or state.states
    listed = set() if all_states else set(states_of_models(model.identifier for model in models))

    def passes(model: ModelRow) -> bool:
        if not all_states and model.identifier not in listed:
            return False
        if only and model.identifier not in only:
            return False
        if state.runnable and not model.runnable:
            return False
        if not all(getattr(model, name).casefold() in texts for name, texts in required):
            return False
        for name, least, most in limits:
            number = getattr(model, name)
            if number is None or not (least is None or number >= least) or not (most is None or number <= most):
                return False
        return not state.q or query.matches({name: getattr(model, name) for name in _TEXTS})

    return [place for place, model in enumerate(models) if passes(model)]


def chosen_benchmarks(snapshot: Snapshot, state: BoardState) -> list[int]:
    """Return the columns of the benchmarks that pass."""
    included = _below(snapshot, "include", state.include) if state.include else None
    excluded = _below(snapshot, "exclude", state.exclude)
    required = [
        (name, {text.casefold() for text in getattr(state, name)})
        for name in ("region", "species", "task", "stimuli", "metric")
        if getattr(state, name)
    ]

    fewest, most = state.stimuli_min, state.stimuli_max

    def passes(benchmark: BenchmarkRow) -> bool:
        n = benchmark.n_stimuli
        if (fewest is not None and (n is None or n < fewest)) or (most is not None and (n is None or n > most)):
            return False
        if (included is not None and benchmark.identifier not in included) or benchmark.identifier in excluded:
            return False
        if state.access and benchmark.access != state.access:
            return False
        if not _VALID[state.validity](benchmark):
            return False
        if state.ceiling_min is not None and not benchmark.ceiling >= state.ceiling_min:  # NaN fails
            return False
        return all(_values(getattr(benchmark, name)) & texts for name, texts in required)

    return [column for column, benchmark in enumerate(snapshot.benchmarks) if passes(benchmark)]


_VALID: dict[str, Callable[[BenchmarkRow], bool]] = {
    "": lambda row: True,
    "assessed": lambda row: bool(row.audit or row.recovery),
    "no-finding": lambda row: row.audit == StoredAssessment.Outcome.NO_FINDING,
    "recovered": lambda row: row.recovery == StoredAssessment.Outcome.RECOVERED,
}


def _values(text: str) -> set[str]:
    """Return a text and, if it is a list such as ``V1, V2``, its items."""
    return {text.casefold(), *map(str.casefold, _items(text))} - {""}


def _below(snapshot: Snapshot, parameter: str, names: Sequence[str]) -> set[str]:
    tree, chosen = snapshot.tree, set(names)
    for name in names:
        if name not in tree and name not in snapshot.benchmark_index:
            when = f" on {snapshot.at}" if snapshot.at else ""
            raise UserError(
                f"{parameter}: there is no benchmark or node {name[:80]!r}{when}",
                remedy=suggestion(name, snapshot) or f"leave {parameter}={name[:80]} out",
            )
    return chosen | {node for node in tree if chosen and not chosen.isdisjoint(tree.ancestors(node))}


def suggestion(name: str, snapshot: Snapshot) -> str | None:
    """Return a question that suggests the benchmark or node with the most similar name; None if none is similar."""
    near = difflib.get_close_matches(name, [*snapshot.tree, *snapshot.benchmark_index], 1)
    return f"did you mean {near[0]!r}?" if near else None


_SCORED = STATES.index("scored")
_NO_RESULT = (STATES.index("missing"), STATES.index("outdated"))
Flags = NDArray[np.bool_]


def counting_benchmarks(states: NDArray[np.int8], ranked: Flags, percentage: float) -> Flags:
    """Return which benchmarks count in ranks, by the states of the models (indices into `STATES`) on them."""
    return board.counting_benchmarks(~np.isin(states, _NO_RESULT), ranked, percentage)


class Common(NamedTuple):
    """Benchmarks that models have in common: number of models, and for each benchmark whether it is one of them."""

    n_models: int
    benchmarks: Flags

    @property
    def n_benchmarks(self) -> int:
        """Number of these benchmarks."""
        return int(self.benchmarks.sum())


def common_benchmarks(states: NDArray[np.int8]) -> tuple[Common, Common]:
    """Return the benchmarks that all models have, and those that the most complete models have in common.

    Examples
    --------
    >>> scored, missing = STATES.index("scored"), STATES.index("missing")
    >>> states = np.array([[scored] * 3, [scored, scored, missing], [missing] * 2 + [scored]], dtype=np.int8)
    >>> everyone, most = common_benchmarks(states)
    >>> everyone.n_models, everyone.n_benchmarks
    (3, 0)
    >>> most.n_models, most.benchmarks.tolist()
    (2, [True, True, False])
    """
    scored = states == _SCORED
    scored = scored[scored.any(axis=1)]
    if not len(scored):
        none = Common(0, np.zeros(states.shape[1], dtype=bool))
        return none, none
    order = np.argsort(-scored.sum(axis=1), kind="stable")
    shared = np.logical_and.accumulate(scored[order], axis=0)
    size = shared.sum(axis=1) * np.arange(1, len(shared) + 1)
    if len(size) > 1:
        size[0] = 0  # one model has nothing in common with others
    best = int(np.argmax(size))
    return Common(len(shared), shared[-1]), Common(best + 1, shared[best])


def reason_unranked(n_scored: int, n_all: int, percentage: float, states: Sequence[str]) -> str:
    """Return why a model is not ranked, from the numbers of its scores and the states of its other benchmarks.

    Examples
    --------
    >>> reason_unranked(1, 4, 50, ["missing", "failed", "missing"])
    'scored on 1 of 4 benchmarks, ranked from 2; 1 failed, 2 never scored'
    """
    fewest = fewest_scores(n_all, percentage)
    names = {"missing": "never scored", "outdated": "scored in an older version only"}
    counts = ((names.get(state, state), states.count(state)) for state in STATES if state != "scored")
    others = ", ".join(f"{count} {name}" for name, count in counts if count)
    scored = f"scored on {n_scored} of {counted(n_all, 'benchmark')}, ranked from {fewest}"
    return f"{scored}; {others}" if others else scored
