"""``brainscore compare``."""

from __future__ import annotations

import fnmatch
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import click

from brainscore.cli._output import echo_json
from brainscore_core.errors import UserError

if TYPE_CHECKING:
    from brainscore_core.scoring import ResultsStore
    from brainscore_core.scoring.comparison import Comparison, Comparisons, Ranking

__all__ = ["command"]

_CORRECTIONS = ("holm", "benjamini-hochberg", "none")


@click.command("compare")
@click.argument("models", nargs=-1, metavar="[MODEL MODEL...]")
@click.option("--benchmark", "-b", "benchmarks", multiple=True, required=True, help="On which benchmark; repeatable.")
@click.option("--ranks", is_flag=True, help="Rank the models, with intervals and groups of models not told apart.")
@click.option("--each", is_flag=True, help="With --ranks: each interval holds alone, rather than all together.")
@click.option(
    "--correction", type=click.Choice(_CORRECTIONS), default="holm", show_default=True, help="For many comparisons."
)
@click.option("--level", default=0.95, show_default=True, help="Confidence level.")
@click.option(
    "--results", metavar="FOLDER", help="Folder of receipts, or s3://bucket/prefix. Default: where scores are kept."
)
@click.option("--json", "json_", is_flag=True, help="Print JSON.")
def command(
    models: tuple[str, ...],
    benchmarks: tuple[str, ...],
    ranks: bool,
    each: bool,
    correction: Any,
    level: float,
    results: str | None,
    json_: bool,
) -> None:
    """Compare the newest scores of models, pair by pair.

    MODEL may be a pattern such as 'resnet*'; without any, all that have a receipt of the benchmarks are compared.

    Differences are tested on the stimuli, neuroids or subjects that both models were scored on, from what the receipts
    keep; p-values are corrected over all pairs and benchmarks. The exit code is 1 if nothing could be compared.
    """
    from brainscore_core.scoring import ResultsStore
    from brainscore_core.scoring.comparison import compare

    store = ResultsStore(results)
    found = compare(_chosen(models, benchmarks, store), benchmarks, results=store, correction=correction, level=level)
    if ranks:
        rankings = [found.ranks(benchmark, simultaneous=not each) for benchmark in dict.fromkeys(benchmarks)]
        if json_:
            echo_json([_ranking(ranking) for ranking in rankings])
        else:
            _print_ranks(rankings)
    elif json_:
        echo_json([_comparison(one, found) for one in found])
    else:
        _print_comparisons(found)
    if all(one.p is None for one in found):
        click.get_current_context().exit(1)


def _chosen(wanted: Sequence[str], benchmarks: Sequence[str], store: ResultsStore) -> list[str]:
    """Models that names and patterns mean, each once."""
    if wanted and not any(map(_is_pattern, wanted)):
        return list(dict.fromkeys(wanted))
    known = sorted({model for model, benchmark in store.pairs() if benchmark in benchmarks})
    chosen: list[str] = []
    for name in wanted or ("*",):
        found = [model for model in known if fnmatch.fnmatchcase(model, name)] if _is_pattern(name) else [name]
        if not found:
            which = f"no model {name!r}" if wanted else "no model"
            raise UserError(
                f"{which} has a receipt of {' or '.join(benchmarks)} in {store.address}",
                remedy=f"there are {', '.join(known)}" if known else "score something first: brainscore run",
            )
        chosen += found
    return list(dict.fromkeys(chosen))


def _is_pattern(name: str) -> bool:
    return any(character in name for character in "*?[")


def _print_comparisons(found: Comparisons) -> None:
    from brainscore.report import number

    rows = [
        (
            one.benchmark,
            f"{one.first} − {one.second}",
            number(one.difference, one.error) if one.difference is not None else "",
            f"{one.ci[0]:.3f} to {one.ci[1]:.3f}" if one.ci else "",
            _p(one.p),
            _p(one.p_corrected),
            one.units or "",
            one.verdict + (" (raw scores)" if one.scale == "raw" else ""),
        )
        for one in found
    ]
    adjusted = {"holm": "p (Holm)", "benjamini-hochberg": "p (BH)", "none": "p (uncorrected)"}[found.correction]
    interval = f"{100 * found.level:g} % interval"
    _table(("Benchmark", "Models", "Difference", interval, "p", adjusted, "Resampled", "Outcome"), rows)
    for one in found:
        if one.reason:
            click.echo(f"{one.benchmark}, {one.first} and {one.second}: {one.reason}", err=True)
    for note in dict.fromkeys(f"{one.benchmark}: {note}" for one in found for note in one.notes):
        click.echo(f"Note: {note}", err=True)


def _print_ranks(rankings: Sequence[Ranking]) -> None:
    rows = [
        (
            ranking.benchmark,
            str(model.rank),
            f"{model.best} to {model.worst}" if model.best < model.worst else str(model.best),
            model.groups,
            f"{model.score:.4f}",
            model.model,
        )
        for ranking in rankings
        for model in ranking.models
    ]
    _table(("Benchmark", "Rank", "Interval", "Groups", "Score", "Model"), rows)
    for ranking in rankings:
        for model, reason in ranking.left_out.items():
            click.echo(f"{ranking.benchmark}, {model} is not ranked: {reason}", err=True)
        for note in ranking.notes:
            click.echo(f"{ranking.benchmark}, not compared: {note}", err=True)


def _table(columns: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """A table in a terminal, else columns between tabs."""
    if not sys.stdout.isatty():
        for row in (columns, *rows):
            click.echo("\t".join(row))
        return
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    table = Table(box=None, pad_edge=False, header_style="bold")
    for column in columns:
        table.add_column(column, overflow="fold")
    for row in rows:
        table.add_row(*(Text(cell) for cell in row))
    Console().print(table)


def _p(value: float | None) -> str:
    if value is None:
        return ""
    return "< 0.0001" if value < 0.0001 else f"{value:.4f}"


def _comparison(one: Comparison, found: Comparisons) -> dict[str, Any]:
    from dataclasses import asdict

    return asdict(one) | {"correction": found.correction, "better": one.better, "outcome": one.verdict}


def _ranking(ranking: Ranking) -> dict[str, Any]:
    from dataclasses import asdict

    return asdict(ranking)
