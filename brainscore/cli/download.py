"""``brainscore download``."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from brainscore.cli._app import Subcommands
from brainscore.cli._options import site_option
from brainscore.cli._output import echo
from brainscore_core.errors import UserError

_OUTPUT = click.option(
    "--output",
    "-o",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="File to write. Default: a file in this folder, named after its content.",
)


@click.group("download", cls=Subcommands)
def command() -> None:
    """Download scores, the leaderboard, receipts and submissions from a site.

    A file is replaced when the download is complete.
    """


@command.command("scores")
@click.option("--format", "form", type=click.Choice(("csv", "parquet")), default="csv", show_default=True)
@click.option("--model", multiple=True, metavar="MODEL", help="Only of this model. May be repeated.")
@click.option(
    "--benchmark", multiple=True, metavar="NODE", help="Only on this benchmark, or below this mean. May be repeated."
)
@click.option("--history", is_flag=True, help="All scores, not only the current ones.")
@_OUTPUT
@site_option
def scores(
    form: str, model: tuple[str, ...], benchmark: tuple[str, ...], history: bool, output: Path | None, site: str | None
) -> None:
    """Download scores as a table."""
    asked = {"model": list(model), "benchmark": list(benchmark), "history": history or None}
    _fetch(f"exports/scores.{form}", output or Path(f"brain-score-scores.{form}"), site, asked)


@command.command("leaderboard")
@click.option("--format", "form", type=click.Choice(("csv", "parquet", "bib")), default="csv", show_default=True)
@click.option("--long", "long_", is_flag=True, help="One row per model and node, instead of one row per model.")
@click.option("--at", metavar="DATE", help="State at the end of this day (UTC).")
@_OUTPUT
@site_option
def leaderboard(form: str, long_: bool, at: str | None, output: Path | None, site: str | None) -> None:
    """Download the leaderboard as a table, or its references as BibTeX."""
    if long_ and form == "bib":
        raise UserError("--long is for tables", remedy="leave it out")
    asked = {"form": "long" if long_ else None, "at": at}
    _fetch(f"exports/leaderboard.{form}", output or Path(f"brain-score-leaderboard.{form}"), site, asked)


@command.command("receipt")
@click.argument("identifier")
@_OUTPUT
@site_option
def receipt(identifier: str, output: Path | None, site: str | None) -> None:
    """Download a receipt, the record of how a score was computed, as JSON."""
    _fetch(f"receipts/{identifier}", output or Path(f"{_plain(identifier)}.json"), site, {})


@command.command("submission")
@click.argument("identifier", metavar="ID")
@click.option("--revision", type=click.IntRange(min=1), help="Number of the revision. Default: the newest.")
@_OUTPUT
@site_option
def submission(identifier: str, revision: int | None, output: Path | None, site: str | None) -> None:
    """Download the files of a submission as a ZIP file."""
    from brainscore.cli.status import find_submission
    from brainscore.client import Client

    with Client(site) as client:
        whole = find_submission(client, identifier)
    name = Path(f"submission-{_plain(whole)[:8]}" + (f"-{revision}" if revision else "") + ".zip")
    _fetch(f"submissions/{whole}/archive", output or name, site, {"revision": revision})


def _plain(identifier: str) -> str:
    if not identifier or not all(char.isalnum() or char in "-_." for char in identifier) or identifier[0] == ".":
        raise UserError(f"{identifier!r} is not an identifier", remedy="copy it as the site shows it")
    return identifier


def _fetch(export: str, output: Path, site: str | None, asked: dict[str, Any]) -> None:
    from brainscore.client import Client

    if output.is_dir():
        raise UserError(f"{output} is a folder", remedy="name a file with --output")
    with Client(site, timeout=120) as client:
        path = client.download(export, output, **asked)
    echo(f"{path} ({path.stat().st_size:,} bytes)")
