"""``brainscore results tree``."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import click

from brainscore.cli._output import echo_json
from brainscore.cli._results_options import results_option

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from brainscore_core.results.aggregates import Aggregate, Coverage, ModelAggregates, Over, Tree
    from brainscore_core.scoring import BenchmarkInfo, Receipt, ResultsStore

__all__ = ["tree"]

_NOT_SCORED = {
    "n_undefined": "NaN",
    "n_not_applicable": "not applicable",
    "n_failed": "failed",
    "n_outdated": "outdated",
    "n_missing": "missing",
}


@click.command("tree")
@results_option
@click.option("--model", "models", multiple=True, help="Only this model. Can be repeated.")
@click.option(
    "--over", type=click.Choice(["all", "scored"]), default="all", show_default=True,
    help="Count what has no score as 0, or leave it out.",
)  # fmt: skip
@click.option("--benchmarks", is_flag=True, help="Show the benchmarks, too, not only the means.")
@click.option("--own", is_flag=True, help="Count benchmarks of other plugins, too, below the parents they name.")
@click.option("--json", "json_", is_flag=True, help="Print JSON.")
def tree(results: str | None, models: tuple[str, ...], over: Over, benchmarks: bool, own: bool, json_: bool) -> None:
    """Average results along the tree of the leaderboard.

    A mean is over the nodes directly below. As on the published leaderboard, whatever has no score counts as 0;
    beside each mean stands how many benchmarks were scored, and what became of the others.
    Models are ordered by their score of the first node.
    """
    from brainscore_core.results.aggregates import aggregate, results_of
    from brainscore_core.scoring import ResultsStore
    from brainscore_vision.leaderboard import leaderboard_tree

    receipts = _receipts(ResultsStore(results), models)
    nodes = leaderboard_tree()
    if own:
        nodes = leaderboard_tree(_own(nodes, receipts))
    wanted = set(models) or {receipt.model.identifier for receipt in receipts}
    found = [made for made in aggregate(nodes, results_of(receipts), over=over) if made.model in wanted]
    found.sort(key=lambda made: (-_first(made), made.model))
    if json_:
        echo_json({"over": over, "models": [_as_dict(nodes, made) for made in found]})
        return
    if not found:
        click.echo("No receipts.", err=True)
        return
    for number, made in enumerate(found):
        if number:
            click.echo()
        click.echo(click.style(made.model, bold=True))
        _echo(_rows(nodes, made, benchmarks))
    outside = sorted({name for made in found for name in made.outside})
    if outside:
        click.echo(f"Not on the leaderboard: {', '.join(outside)}", err=True)


def _receipts(store: ResultsStore, models: Sequence[str]) -> tuple[Receipt, ...]:
    from brainscore_core.errors import UserError

    listing = store.listing()
    for problem in listing.problems:
        click.echo(f"Warning: a receipt cannot be read: {problem}", err=True)
    known = {receipt.model.identifier for receipt in listing.receipts}
    for model in models:
        if model not in known:
            there = f"there are: {', '.join(sorted(known))}" if known else "there are none at all"
            raise UserError(f"no receipts of the model {model!r} in {store.address}", remedy=there)
    return listing.receipts


def _own(nodes: Tree, receipts: Iterable[Receipt]) -> list[BenchmarkInfo]:
    """Registered benchmarks that the tree lacks but has the parent of, as the newest receipt describes them."""
    from brainscore_vision import benchmark_registry
    from brainscore_vision.leaderboard import node_name

    newest: dict[str, BenchmarkInfo] = {}
    for receipt in receipts:
        benchmark = receipt.benchmark
        parent = node_name(benchmark.parent)
        if benchmark.control or parent is None or parent not in nodes or nodes[parent].benchmark:
            continue
        if benchmark.identifier not in nodes and benchmark.identifier in benchmark_registry:
            newest[benchmark.identifier] = benchmark
    return list(newest.values())


def _first(made: ModelAggregates) -> float:
    value = next(iter(made.values())).value if made else None
    return float("-inf") if value is None else value


def _as_dict(nodes: Tree, made: ModelAggregates) -> dict[str, Any]:
    return {
        "model": made.model,
        "outside": made.outside,
        "nodes": [
            {
                "identifier": node.identifier,
                "title": nodes[node.identifier].title,
                "parent": nodes[node.identifier].parent,
                "benchmark": nodes[node.identifier].benchmark,
                "version": nodes[node.identifier].version,
                "value": node.value,
                "error": node.error,
                "error_reason": node.error_reason,
                "state": node.state,
                "result": asdict(node.result) if node.result else None,
                **asdict(node.coverage),
                "n_applicable": node.coverage.n_applicable,
            }
            for node in made.values()
        ],
    }


def _rows(nodes: Tree, made: ModelAggregates, benchmarks: bool) -> Iterable[tuple[str, str, str, str]]:
    from brainscore.report import number

    yield "", "score", "scored", "not scored"
    for identifier, node in made.items():
        if nodes[identifier].benchmark and not benchmarks:
            continue
        name = "  " * len(nodes.ancestors(identifier)) + (nodes[identifier].title or identifier)
        scored = f"{node.coverage.n_scored} of {node.coverage.n_all}"
        if node.state is not None:
            yield name, number(node.value, node.error), "", _why(node)
        else:
            yield name, number(node.value, node.error), scored, _others(node.coverage)


def _others(coverage: Coverage) -> str:
    counts = ((getattr(coverage, name), text) for name, text in _NOT_SCORED.items())
    return ", ".join(f"{count} {text}" for count, text in counts if count)


def _why(node: Aggregate) -> str:
    if node.state == "scored":
        return ""
    if node.state == "outdated" and node.result is not None:
        return f"outdated: version {node.result.version}"
    state = "NaN" if node.state == "undefined" else str(node.state)
    return f"{state}: {node.result.reason}" if node.result and node.result.reason else state


def _echo(rows: Iterable[Sequence[str]]) -> None:
    table = list(rows)
    widths = [max(len(row[column]) for row in table) for column in range(len(table[0]))]
    for row in table:
        click.echo("  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip())
