"""What the filters offer: only what the visitor's own snapshot holds."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable
from typing import NamedTuple

from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString

from brainscore_core.results.aggregates import Tree
from brainscore_web.leaderboard._nodes import CONTROLS, OUTSIDE
from brainscore_web.leaderboard.snapshot import BenchmarkRow, Snapshot
from brainscore_web.leaderboard.state import BoardState

__all__ = ["Facet", "Option", "benchmark_facets", "model_facets", "picks"]


class Option(NamedTuple):
    """A value that can be chosen, how many have it, and whether it is chosen."""

    value: str
    number: int
    chosen: bool


class Facet(NamedTuple):
    """A parameter with its options."""

    name: str
    title: str
    options: tuple[Option, ...]


def model_facets(snapshot: Snapshot, state: BoardState) -> tuple[Facet, ...]:
    """Filters of models by what they are."""
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
    """Filters of benchmarks by what they are; one that has several regions has each of them."""
    rows = snapshot.benchmarks
    return tuple(
        _facet(state, name, title, [_parts(getattr(row, name)) for row in rows])
        for name, title in (
            ("region", "Region"),
            ("species", "Species"),
            ("task", "Task"),
            ("stimuli", "Stimuli"),
            ("metric", "Metric"),
        )
    )


def _parts(text: str) -> set[str]:
    return {part.strip() for part in re.split("[,;]", text)}


def _facet(state: BoardState, name: str, title: str, values: Iterable[set[str]]) -> Facet:
    counts = Counter(value for several in values for value in several if value)
    chosen = {value.casefold() for value in getattr(state, name)}
    known = {value.casefold() for value in counts}
    for value in getattr(state, name):  # what is asked for stays visible, also where nothing has it
        if value.casefold() not in known:
            counts[value] = 0
    return Facet(
        name,
        title,
        tuple(Option(value, counts[value], value.casefold() in chosen) for value in sorted(counts, key=str.casefold)),
    )


def picks(snapshot: Snapshot, state: BoardState) -> SafeString:
    """The tree with two boxes for each node, as nested lists."""
    titles = {row.identifier: row.title for row in snapshot.benchmarks}
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

    parts = [_branch(tree, root, titles, line, include | exclude) for root in tree.roots]
    for heading, control in ((OUTSIDE, False), (CONTROLS, True)):
        apart: list[BenchmarkRow] = [row for row in snapshot.benchmarks if not row.in_tree and row.control is control]
        if apart:
            lines = format_html_join("", "<li>{}</li>", ((line(row.identifier, row.title),) for row in apart))
            parts.append(format_html("<li><details><summary>{}</summary><ul>{}</ul></details></li>", heading, lines))
    return format_html("<ul>{}</ul>", format_html_join("", "{}", ((part,) for part in parts)))


def _branch(
    tree: Tree, identifier: str, titles: dict[str, str], line: Callable[[str, str], SafeString], chosen: set[str]
) -> SafeString:
    node = tree[identifier]
    if node.benchmark:
        return format_html("<li>{}</li>", line(identifier, titles.get(identifier, identifier)))
    title = node.title or identifier
    inside = format_html_join(
        "", "{}", ((_branch(tree, child, titles, line, chosen),) for child in tree.children(identifier))
    )
    waiting, below = list(tree.children(identifier)), False
    while waiting and not below:
        one = waiting.pop()
        below = one in chosen
        waiting += tree.children(one)
    return format_html(
        "<li>{}<details{}><summary>Below {}</summary><ul>{}</ul></details></li>",
        line(identifier, title),
        " open" if below or node.parent is None else "",
        title,
        inside,
    )
