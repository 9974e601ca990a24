"""``brainscore leaderboard``."""

from __future__ import annotations

import csv
import io
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import click

from brainscore.cli._options import json_option, site_option
from brainscore.cli._output import echo, echo_json, harmless_text
from brainscore_core.errors import UserError
from brainscore_core.formatting import estimate_text, harmless, printable
from brainscore_core.training_data import MARKS, explained_signs

if TYPE_CHECKING:
    from brainscore.client import Client, Leaderboard

_FIELDS = ("value", "error", "low", "high", "state", "exposure", "verification")


@click.command("leaderboard")
@site_option
@click.option("--search", metavar="TEXT", help="Only models that match: words, with AND, OR, NOT and parentheses.")
@click.option(
    "--benchmark", "-b", "nodes", multiple=True, metavar="NODE", help="Show this benchmark or mean. May be repeated."
)
@click.option(
    "--over",
    type=click.Choice(("all", "scored")),
    default="all",
    show_default=True,
    help="In means, count missing scores as 0 (all), or omit them (scored).",
)
@click.option(
    "--exposure",
    type=click.Choice(("clean", "not-trained", "known")),
    help="Only scores whose stimuli the model was not trained on (clean), or is not known to have been trained on "
    "(not-trained), or for which it is known.",
)
@click.option("--raw", is_flag=True, help="Show scores before normalisation by the ceiling.")
@click.option("--at", metavar="DATE", help="State at the end of this day (UTC).")
@click.option(
    "--sort", metavar="NODE", help="Sort by this benchmark or mean, the best first; --sort=-NODE: the worst first."
)
@click.option("--models", type=click.IntRange(min=1), help="Show only this number of models.")
@json_option
@click.option("--csv", "csv_", is_flag=True, help="Print CSV, its columns named as in the site's export.")
def command(
    site: str | None,
    search: str | None,
    nodes: tuple[str, ...],
    over: str,
    exposure: str | None,
    raw: bool,
    at: str | None,
    sort: str | None,
    models: int | None,
    json_: bool,
    csv_: bool,
) -> None:
    """Show the leaderboard of a site in the terminal.

    Without --benchmark, the outermost means and the means directly below them are shown. Beside a rank
    stands the range of ranks that the model may have, if any two models could be tested. Your private models are
    included after brainscore login, or with BRAINSCORE_TOKEN.
    """
    from brainscore.client import Client

    if json_ and csv_:
        raise UserError("--json and --csv cannot be combined", remedy="omit one of them")
    asked: dict[str, Any] = {"q": search, "at": at, "sort": sort, "exposure": exposure}
    asked |= {"over": None if over == "all" else over, "values": "raw" if raw else None}
    with Client(site) as client:
        board = client.leaderboard(**asked, node=nodes or _outermost(client, asked), limit=models)
    if json_:
        echo_json(_document(client, board))
    elif csv_:
        _print_csv(board)
    else:
        _print_table(board, [board.column(name) for name in nodes] or list(range(len(board.nodes))))
        _print_notes(client, board)


def _outermost(client: Client, asked: dict[str, Any]) -> list[str]:
    """Means at the root and directly below; where there is no mean, everything."""
    nodes = client.leaderboard(**asked, limit=1).nodes
    return [node.identifier for node in nodes if node.kind == "mean" and node.depth < 2]


def _print_table(board: Leaderboard, places: Sequence[int]) -> None:
    from brainscore_core.results.board import Standing

    columns = ("Rank", "Model", *(printable(board.nodes[column_index].title) for column_index in places))
    rows = [
        (
            Standing(model.rank, model.best, model.worst).text,
            printable(model.title or model.identifier) + (" (private)" if model.private else ""),
            *(_cell(board, row, column_index) for column_index in places),
        )
        for row, model in enumerate(board.models)
    ]
    if not rows:
        return
    if not sys.stdout.isatty():
        for cells in (columns, *rows):
            echo("\t".join(cells))
        return
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    table = Table(box=None, pad_edge=False, header_style="bold")
    for number, column in enumerate(columns):
        table.add_column(
            Text(harmless_text(column)), overflow="fold", no_wrap=number == 0, justify="left" if number < 2 else "right"
        )
    for cells in rows:
        table.add_row(*(Text(harmless_text(cell)) for cell in cells))
    Console().print(table)


def _cell(board: Leaderboard, row: int, place: int) -> str:
    """A value with its interval, or why there is none."""
    value, error = float(board.value[row, place]), float(board.error[row, place])
    if value == value:
        limits = float(board.low[row, place]), float(board.high[row, place])
        exposure = str(board.exposure[row, place])
        sign = MARKS[exposure].sign if exposure else ""  # type: ignore[index] # checked by the client
        doubt = str(board.verification[row, place])  # of a remote worker's score
        return " ".join(filter(None, (estimate_text(value, error=error, ci=limits, brief=True), sign, doubt)))
    return str(board.state[row, place])


def _print_notes(client: Client, board: Leaderboard) -> None:
    for note in (*board.notes, *explained_signs(board.exposure.ravel().tolist())):
        echo(f"Note: {printable(note)}", err=True)
    if not board.models:
        echo("No models.", err=True)
    page = f"{client.url}/{board.domain}/leaderboard/"
    echo(f"See {page}{'?' if board.query else ''}{board.query}", err=True)


def _print_csv(board: Leaderboard) -> None:
    names = [node.identifier for node in board.nodes]
    head = ["model", "rank", "rank_best", "rank_worst", "groups"]
    head += [name if field == "value" else f"{name}:{field}" for name in names for field in _FIELDS]
    file = io.StringIO(newline="")
    writer = csv.writer(file, lineterminator="\n")
    writer.writerow(map(harmless, head))
    for row, model in enumerate(board.models):
        cells: list[object] = [model.identifier, model.rank, model.best, model.worst, model.groups]
        for column in range(len(names)):
            cells += [_blank(getattr(board, field)[row, column]) for field in _FIELDS]
        writer.writerow([harmless(cell) if isinstance(cell, str) else cell for cell in cells])
    echo(file.getvalue(), nl=False)


def _blank(value: Any) -> object:
    """A cell of the table; empty if there is no value."""
    return "" if value != value else value.item()


def _document(client: Client, board: Leaderboard) -> dict[str, Any]:
    from dataclasses import asdict

    return {
        "site": client.url,
        "query": board.query,
        "nodes": [asdict(node) for node in board.nodes],
        "models": [
            {
                **asdict(model),
                "scores": {
                    node.identifier: {field: getattr(board, field)[row, column] for field in _FIELDS}
                    for column, node in enumerate(board.nodes)
                },
            }
            for row, model in enumerate(board.models)
        ],
        "notes": board.notes,
    }
