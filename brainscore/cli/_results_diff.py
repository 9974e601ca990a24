"""``brainscore results diff``."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from brainscore.cli._difference_text import difference_lines, echo_rows
from brainscore.cli._output import echo_json, echo_pairs
from brainscore.cli._results_options import json_option, results_option

if TYPE_CHECKING:
    from brainscore_core.runner.verification import Stored
    from brainscore_core.scoring import Receipt, ResultsStore

__all__ = ["diff", "stored_receipt", "tolerance_options"]


def tolerance_options(command: click.decorators.FC) -> click.decorators.FC:
    """Add ``--tolerance`` and ``--tolerance-errors``."""
    command = click.option(
        "--tolerance-errors", type=click.FloatRange(min=0), default=1e-3, show_default=True,
        help="Difference that is allowed, in standard errors; the larger of the two counts.",
    )(command)  # fmt: skip
    return click.option(
        "--tolerance", type=click.FloatRange(min=0), default=1e-6, show_default=True,
        help="Difference that is allowed; of numbers above 1, relative to them.",
    )(command)  # fmt: skip


@click.command("diff")
@click.argument("a", metavar="A")
@click.argument("b", metavar="B")
@results_option
@tolerance_options
@json_option
def diff(a: str, b: str, results: str | None, tolerance: float, tolerance_errors: float, json_: bool) -> None:
    """Compare two receipts: their numbers, and which parts of how they came about differ.

    A and B are ids, the beginnings of ids, or files of receipts. Exit code 1 where the numbers differ by more than
    the tolerance.
    """
    from brainscore_core.runner.verification import compare_attachments
    from brainscore_core.scoring import ResultsStore, Tolerance, difference

    store = ResultsStore(results)
    first, second = stored_receipt(store, a), stored_receipt(store, b)
    found = difference(
        first.receipt,
        second.receipt,
        tolerance=Tolerance(absolute=tolerance, errors=tolerance_errors),
        arrays=compare_attachments(first, second),
    )
    if json_:
        echo_json(found.to_dict())
    else:
        echo_pairs([("first", _title(first.receipt)), ("second", _title(second.receipt)), ("verdict", found.verdict)])
        click.echo()
        echo_rows(difference_lines(found))
    if found.verdict == "different":
        sys.exit(1)


def stored_receipt(store: ResultsStore, name: str) -> Stored:
    """Read the receipt that an id, the beginning of one, or a file names."""
    from brainscore_core.runner.verification import Stored, read_receipt

    path = Path(name).expanduser()
    if path.suffix == ".json" or path.is_file():
        return read_receipt(path)
    receipt = store.load(name)
    return Stored(receipt, lambda kind: store.open_attachment(receipt, kind))


def _title(receipt: Receipt) -> str:
    return f"{receipt.id}: {receipt.model.identifier} on {receipt.benchmark.identifier}, {receipt.state}"
