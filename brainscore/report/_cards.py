"""What is known of each model: its code, weights, where it ran, what it cost, and all of its scores."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import TypeVar

from brainscore.report._board import Board
from brainscore.report._formatting import short
from brainscore.report._view import Group, Row, View
from brainscore_core.scoring import Environment, PluginCode, Receipt

_MOST_FACTS = 40
_Item = TypeVar("_Item")


@dataclass(frozen=True)
class Fact:
    """Something that holds for `count` of the receipts."""

    text: str
    count: int


@dataclass(frozen=True)
class Card:
    """One model."""

    model: str  # identifier
    place: int  # on the leaderboard, from 0
    rows: tuple[Row, ...]  # its pairs in the leaderboard's order of benchmarks
    # what its receipts say, the most frequent first
    plugins: tuple[Fact, ...]
    weights: tuple[Fact, ...]
    environments: tuple[Fact, ...]
    devices: tuple[Fact, ...]
    angles: tuple[Fact, ...]
    runs: tuple[Fact, ...]
    # sums over its pairs: of everything, and of getting activations
    seconds: float | None
    extraction: float | None
    peak: int | None  # highest memory of a process that scored it, in bytes
    newest: str  # when it was last scored
    # receipts of all states of its training, this one included; empty if there is only one
    states: tuple[Receipt, ...] = ()


@dataclass(frozen=True)
class Sources:
    """What a benchmark is made of, as its receipts say."""

    plugins: tuple[Fact, ...]
    data: tuple[Fact, ...]
    files: tuple[Fact, ...]
    methods: tuple[Fact, ...]
    bibtex: str | None
    n: int


def cards_of(
    view: View, board: Board, states: Mapping[str, Sequence[Receipt]] = MappingProxyType({})
) -> tuple[Card, ...]:
    """One card a model, in the leaderboard's order; `states` are the receipts of models with several states."""
    order = {board.nodes[row_number].identifier: number for number, row_number in enumerate(board.benchmarks)}
    rows: dict[str, list[Row]] = {model: [] for model in board.models}
    for group in view.groups:
        for row in group.rows:
            rows[row.model].append(row)
    cards = []
    for row_number, model in enumerate(board.models):
        its = sorted(rows[model], key=lambda row: (order[row.benchmark], row.benchmark))
        cards.append(replace(_card(model, row_number, its), states=tuple(states.get(model, ()))))
    return tuple(cards)


def sources_of(group: Group) -> Sources:
    """Gather what the receipts of one benchmark say about its code and data."""
    receipts = [row.receipt for row in group.rows]
    newest = max(receipts, key=lambda receipt: receipt.id)
    return Sources(
        plugins=_facts(_plugin(receipt.benchmark.plugin) for receipt in receipts),
        data=_facts(f"{item.identifier} ({item.kind.replace('_', ' ')})" for r in receipts for item in _unique(r.data)),
        files=_facts(f"{item.url} {short(item.sha256 or item.sha1)}" for r in receipts for item in _unique(r.files)),
        methods=_facts(
            f"{receipt.score.ci_method}; {receipt.score.ci_estimates}"
            for receipt in receipts
            if receipt.score and receipt.score.ci_method
        ),
        bibtex=newest.benchmark.bibtex,
        n=len(receipts),
    )


def _plugin(plugin: PluginCode | None) -> str:
    if plugin is None:
        return "unknown"
    package = f"{plugin.distribution} {plugin.version}, " if plugin.distribution else ""
    return f"{plugin.name} ({package}sha256 {short(plugin.sha256)})"


def _environment(environment: Environment) -> str:
    packages = ", ".join(f"{name} {version}" for name, version in sorted(environment.packages.items()))
    texts = [environment.python, packages, environment.platform, environment.cpu or ""]
    return "; ".join(text for text in texts if text) or "unknown"


def _card(model: str, place: int, rows: Sequence[Row]) -> Card:
    receipts = [row.receipt for row in rows]
    totals = [receipt.timings.total for receipt in receipts if receipt.timings.total is not None]
    extraction = [receipt.timings.extraction for receipt in receipts if receipt.timings.extraction is not None]
    peaks = [receipt.memory.peak_bytes for receipt in receipts if receipt.memory.peak_bytes is not None]
    return Card(
        model=model,
        place=place,
        rows=tuple(rows),
        plugins=_facts(_plugin(receipt.model.plugin) for receipt in receipts),
        weights=_facts(
            f"{item.identifier} (sha256 {short(item.sha256)})" for r in receipts for item in _unique(r.weights)
        ),
        environments=_environments(receipts),
        devices=_facts(receipt.device for receipt in receipts),
        angles=_facts(_angle(receipt) for receipt in receipts),
        runs=_facts(_run(receipt) for receipt in receipts if receipt.run is not None),
        seconds=sum(totals) if totals else None,
        extraction=sum(extraction) if extraction else None,
        peak=max(peaks, default=None),
        newest=max((receipt.created for receipt in receipts), default="")[:16].replace("T", " "),
    )


def _angle(receipt: Receipt) -> str:
    """Visual angle of the model, without scores at other angles."""
    angle = receipt.model.visual_angle
    return "not recorded" if angle is None else replace(angle, others=()).text()


def _environments(receipts: Sequence[Receipt]) -> tuple[Fact, ...]:
    texts: dict[int, str] = {}  # many receipts share one object
    for receipt in receipts:
        if id(receipt.environment) not in texts:
            texts[id(receipt.environment)] = _environment(receipt.environment)
    return _facts(texts[id(receipt.environment)] for receipt in receipts)


def _run(receipt: Receipt) -> str:
    run = receipt.run
    if run is None:
        return ""
    where = f", isolated in environment {(run.environment or 'unknown')[:12]}" if run.isolated else ""
    packages = ", ".join(f"{name} {version}" for name, version in sorted(run.packages.items()))
    return f"{run.id}{where}" + (f": {packages}" if packages else "")


def _unique(items: Iterable[_Item]) -> list[_Item]:
    return list(dict.fromkeys(items))


def _facts(texts: Iterable[str]) -> tuple[Fact, ...]:
    ordered = sorted(Counter(texts).items(), key=lambda item: (-item[1], item[0]))
    facts = [Fact(text, count) for text, count in ordered[:_MOST_FACTS]]
    if len(ordered) > _MOST_FACTS:
        facts.append(Fact(f"and {len(ordered) - _MOST_FACTS} more", 0))
    return tuple(facts)
