"""``brainscore results export``."""

from __future__ import annotations

from pathlib import Path

import click

from brainscore.cli._output import echo_json
from brainscore.cli._results_options import Filters, filter_options, json_option, listed, results_option

__all__ = ["export"]


@click.command("export")
@click.argument("file", type=click.Path(path_type=Path, dir_okay=False))
@results_option
@filter_options
@click.option("--newest", is_flag=True, help="Only the newest receipt of each model and benchmark.")
@json_option
def export(file: Path, results: str | None, filters: Filters, newest: bool, json_: bool) -> None:
    """Write receipts as a table, one row each, to FILE.csv or FILE.parquet.

    The columns are the same in both and are described on the documentation's page on verification and export.
    """
    from brainscore_core.scoring import EXPORT_COLUMNS, ResultsStore, export_table

    listing = listed(ResultsStore(results), filters)
    rows = export_table(listing.newest_of_each() if newest else listing.receipts, file)
    if json_:
        echo_json({"file": file, "rows": rows, "columns": len(EXPORT_COLUMNS), "unreadable": len(listing.problems)})
    else:
        click.echo(f"{rows} receipts: {file}")
