"""``brainscore report``."""

from __future__ import annotations

from pathlib import Path

import click

from brainscore.cli._output import echo_json

__all__ = ["command"]


@click.command("report")
@click.option("--results", type=click.Path(path_type=Path), help="Folder of receipts. Default: where scores are kept.")
@click.option(
    "--output", type=click.Path(path_type=Path, dir_okay=False), default="report.html", show_default=True,
    help="The page to write.",
)  # fmt: skip
@click.option(
    "--plot", type=click.Path(path_type=Path, dir_okay=False), help="Also write the plot alone (.png, .svg or .pdf)."
)
@click.option("--model", help="Only this model.")
@click.option("--benchmark", help="Only this benchmark.")
@click.option("--json", "json_", is_flag=True, help="Print JSON.")
def command(
    results: Path | None, output: Path, plot: Path | None, model: str | None, benchmark: str | None, json_: bool
) -> None:
    """Write a page with plot and table of the newest scores.

    The page is one HTML file that opens offline. Of each model and benchmark it shows the newest receipt.
    """
    from brainscore.report import view_of, write_report
    from brainscore_core.errors import UserError
    from brainscore_core.scoring import ResultsStore

    if plot is not None and plot.suffix.lower() not in {".png", ".svg", ".pdf"}:
        raise UserError(f"cannot plot as {plot.name!r}", "end its name in .png, .svg or .pdf")
    store = ResultsStore(results)
    listing = store.listing(model=model, benchmark=benchmark)
    for problem in listing.problems:
        click.echo(f"Warning: a receipt cannot be read: {problem}", err=True)
    newest = listing.newest_of_each()
    if not newest:
        raise UserError(
            f"no receipts{_of(model, benchmark)} in {store.folder}",
            "score something first: brainscore score MODEL BENCHMARK, or: brainscore demo",
        )
    write_report(view_of(newest, listing.problems), output, plot=plot)
    if json_:
        echo_json({"report": output, "plot": plot, "receipts": len(newest), "unreadable": len(listing.problems)})
        return
    click.echo(f"Report of {len(newest)} scores: {output}")
    if plot is not None:
        click.echo(f"Plot: {plot}")


def _of(model: str | None, benchmark: str | None) -> str:
    return "".join(f" of {name}" for name in (model, benchmark) if name)
