"""``brainscore report``."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import click

from brainscore.cli._options import Filters, domain_option, json_option, listed, matches, of_one_domain, results_option
from brainscore.cli._output import echo, echo_json
from brainscore_core.plurals import counted
from brainscore_core.progress import stage

if TYPE_CHECKING:
    from collections.abc import Sequence

    from brainscore_core.domains import Domain
    from brainscore_core.results.aggregates import Over, Tree

_MOST_READ = 1000  # receipts whose stored data are read by default


@click.command("report")
@click.argument("place", metavar="[RESULTS]", required=False)
@results_option
@click.option(
    "--output", type=click.Path(path_type=Path, dir_okay=False), default="report.html", show_default=True,
    help="The page to write.",
)  # fmt: skip
@click.option(
    "--figures", metavar="FOLDER", type=click.Path(path_type=Path, file_okay=False),
    help="Also write figures for a paper, as PNG, SVG and PDF.",
)  # fmt: skip
@click.option(
    "--scatter", nargs=2, metavar="X Y", help="Also draw a scatter plot of these two benchmarks (with --figures)."
)
@click.option(
    "--table",
    type=click.Path(path_type=Path, dir_okay=False),
    help="Also write tables, as LaTeX (.tex), Markdown (.md) or CSV (.csv).",
)
@click.option(
    "--plot", type=click.Path(path_type=Path, dir_okay=False),
    help="Also write one plot of all scores (.png, .svg or .pdf).",
)  # fmt: skip
@click.option(
    "--over", type=click.Choice(["all", "scored"]), default="all", show_default=True,
    help="In means, count missing scores as 0 (all), or omit them (scored). The page can switch between both.",
)  # fmt: skip
@click.option(
    "--model", "models", multiple=True, metavar="NAME", help="Only this model, or a pattern; may be repeated."
)
@click.option(
    "--benchmark", "benchmarks", multiple=True, metavar="NAME",
    help="Only this benchmark, or a pattern; may be repeated. Means are then over these benchmarks.",
)  # fmt: skip
@click.option(
    "--ranks/--no-ranks", default=None,
    help="Also rank the models of each benchmark, which can be slow. By default, the models are ranked by means, and "
    "ranges of ranks and intervals are read from the data stored with at most 1,000 receipts. --no-ranks reads none.",
)  # fmt: skip
@domain_option
@json_option
def command(
    place: str | None,
    results: str | None,
    output: Path,
    figures: Path | None,
    scatter: tuple[str, str] | None,
    table: Path | None,
    plot: Path | None,
    over: Over,
    models: tuple[str, ...],
    benchmarks: tuple[str, ...],
    ranks: bool | None,
    domain: str | None,
    json_: bool,
) -> None:
    """Write an HTML report of scores: leaderboard, heat map, each benchmark with its validity, and each model.

    The report is a single HTML file that works offline. For each model and benchmark, it shows the newest receipt of
    the benchmark's current version.
    """
    with stage("starting"):  # imports take seconds
        from brainscore.report import (
            find_profiles,
            log_ends,
            rankings_of,
            report_of,
            save_plot,
            write_figures,
            write_report,
            write_table,
        )
        from brainscore_core.errors import UserError
        from brainscore_core.results.assessments import AssessmentStore
        from brainscore_core.scoring import ResultsStore
        from brainscore_core.statistics.units import read_influences

    _check_file_types(plot, table)
    if place is not None and results is not None and place != results:
        raise UserError(
            f"results are given as an argument ({place}) and as --results ({results})", "give only one of them"
        )
    if scatter and figures is None:
        raise UserError("--scatter needs a folder to write to", "add: --figures FOLDER")
    store = ResultsStore(place or results)
    with stage(f"reading {store.address}"):
        listing = listed(store, Filters(models=models, benchmarks=benchmarks))
        described, receipts = of_one_domain(listing.receipts, domain)
        listing = replace(listing, receipts=receipts)
        assessments, unreadable = AssessmentStore(store).newest()
    if not listing.receipts:
        selection = f" of {', '.join((*models, *benchmarks))}" if models or benchmarks else ""
        raise UserError(
            f"no receipts{selection} in {store.address}",
            "score a model first: brainscore score MODEL BENCHMARK, or: brainscore demo",
        )
    selected = (("models", models), ("benchmarks", benchmarks))
    remarks = [f"Only {kind} {', '.join(names)}." for kind, names in selected if names]
    for problem in unreadable:
        echo(f"Warning: an assessment cannot be read: {problem}", err=True)
    with stage(f"report of {len(listing.receipts)} receipts"):
        counting = listing.newest_of_each()
        reads = len(counting) <= _MOST_READ if ranks is None else ranks
        if ranks is None and not reads:
            remarks.append(f"Without ranges of ranks and intervals of means: {len(counting):,} receipts. Add --ranks.")
        report = report_of(
            listing.receipts,
            (*listing.problems, *unreadable),
            domain=described,
            tree=_tree(described, benchmarks),
            over=over,
            profiles=find_profiles({receipt.model.identifier for receipt in listing.receipts}),
            log_ends=log_ends(store, listing.receipts),
            remarks=remarks,
            influences=read_influences(store, counting) if reads else None,
            assessments=assessments,
        )
        if ranks:
            report = replace(report, rankings=rankings_of(report, store))
        figure_files = write_figures(report, figures, scatter=scatter) if figures is not None else ()
        write_report(report, output)
        if plot is not None:
            save_plot(report.view, plot)
        if table is not None:
            write_table(report, table)
    pairs = len(report.board.receipts)
    if json_:
        echo_json(
            {
                "report": output,
                "plot": plot,
                "table": table,
                "figures": figure_files,
                "receipts": pairs,
                "unreadable": len(listing.problems) + len(unreadable),
                "assessed": len(report.validity),
            }
        )
        return
    echo(f"Report of {counted(pairs, 'score')}: {output}")
    for name, path in (("Plot", plot), ("Tables", table)):
        if path is not None:
            echo(f"{name}: {path}")
    if figures is not None:
        echo(f"Figures: {len(figure_files)} files in {figures}")


def _check_file_types(plot: Path | None, table: Path | None) -> None:
    """Raise an error if a file name does not have a supported extension."""
    from brainscore.report import TABLE_ENDINGS
    from brainscore_core.errors import UserError

    if plot is not None and plot.suffix.lower() not in {".png", ".svg", ".pdf"}:
        raise UserError(f"cannot write a plot as {plot.name!r}", "use the extension .png, .svg or .pdf")
    if table is not None and table.suffix.lower() not in TABLE_ENDINGS:
        raise UserError(f"cannot write a table as {table.name!r}", "use the extension .tex, .md or .csv")


def _tree(domain: Domain, benchmarks: Sequence[str]) -> Tree:
    """Return the leaderboard's tree, with only the benchmarks that match the patterns; with all if there are none."""
    from brainscore_core.results.aggregates import Tree

    tree = domain.tree()
    return Tree(tree[name] for name in tree if not tree[name].benchmark or matches(name, benchmarks))
