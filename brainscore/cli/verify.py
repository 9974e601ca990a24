"""``brainscore verify``."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING

import click

from brainscore.cli._options import json_option, results_option
from brainscore.cli._output import change_lines, difference_lines, echo, echo_json, echo_lines, echo_pairs, style
from brainscore.cli.results import stored_receipt, tolerance_options
from brainscore_core.errors import UserError
from brainscore_core.progress import stage

if TYPE_CHECKING:
    from collections.abc import Sequence

    from brainscore_core.runner.verification import Stored
    from brainscore_core.scoring import Change, Receipt, Verification


@click.command("verify")
@click.argument("name", metavar="RECEIPT")
@results_option
@click.option("--site", metavar="URL", help="Read the receipt with this id from a site, such as its page names it.")
@click.option("--model", help="The model, if it is not registered: path/to/file.py:make_model.")
@click.option("--layer", "layers", multiple=True, help="Candidate layer, for a model from a file; may be repeated.")
@click.option("--visual-degrees", type=float, help="Visual angle of the model's input.")
@tolerance_options
@click.option(
    "--isolated/--in-process", default=None,
    help="Run the model in a process and an environment of its own, or in this one. [default: as in the receipt]",
)  # fmt: skip
@click.option("--keep", is_flag=True, help="Keep the new receipt in the results.")
@click.option("--stored-activations", is_flag=True, help="Use stored activations instead of computing them again.")
@click.option("--max-memory", help="Memory limit, such as 8GB. [default: 80 % of the available memory]")
@json_option
def command(
    name: str,
    results: str | None,
    site: str | None,
    model: str | None,
    layers: tuple[str, ...],
    visual_degrees: float | None,
    tolerance: float,
    tolerance_errors: float,
    isolated: bool | None,
    keep: bool,
    stored_activations: bool,
    max_memory: str | None,
    json_: bool,
) -> None:
    """Score the pair of a receipt again and compare the result with the receipt.

    RECEIPT is an id, the beginning of an id, or a receipt's file; with --site, the id of a receipt of that site.

    The exit code is 0 if the result is the same or within tolerance, 1 if it differs, 2 if it cannot be verified here.
    """
    with stage("starting"):  # imports take seconds
        from brainscore_core.memory import parse_size
        from brainscore_core.runner.scoring import verify
        from brainscore_core.scoring import ResultsStore, Tolerance

    if max_memory is not None:
        os.environ["BRAINSCORE_MAX_MEMORY"] = str(parse_size(max_memory))
    store = ResultsStore(results)
    stored = stored_receipt(store, name) if site is None else _receipt_of_site(site, name)
    how = {"layers": list(layers) or None, "visual_degrees": visual_degrees}
    if not json_:
        _announce(stored.receipt)
    verification = verify(
        stored,
        model=model,
        how={key: value for key, value in how.items() if value is not None},
        results=store if keep else None,
        tolerance=Tolerance(absolute=tolerance, errors=tolerance_errors),
        stored_activations=stored_activations,
        isolated=isolated,
        on_foreseen=None if json_ else _foreseen,
    )
    if json_:
        echo_json(verification.to_dict())
    else:
        _report(verification, store.address_of(verification.found) if keep and verification.found else None)
    if verification.problem:
        remedy = f"\n{verification.remedy}" if verification.remedy else ""
        echo(f"Error: not verified: {verification.problem}{remedy}", err=True)
    sys.exit(verification.exit_code)


def _receipt_of_site(site: str, name: str) -> Stored:
    from brainscore.client import Client
    from brainscore_core.runner.verification import Stored
    from brainscore_core.scoring import Receipt

    def open_attachment(kind: str) -> None:
        raise UserError(f"sites do not store arrays such as {kind!r}")

    return Stored(Receipt.from_dict(Client(site).receipt(name)), open_attachment)


def _announce(receipt: Receipt) -> None:
    version = "" if receipt.benchmark.version is None else f" (version {receipt.benchmark.version})"
    echo_pairs(
        [
            ("receipt", receipt.id),
            ("model", receipt.model.identifier),
            ("benchmark", f"{receipt.benchmark.identifier}{version}"),
            ("state", f"{receipt.state}: {receipt.reason}" if receipt.reason else receipt.state),
        ]
    )


def _foreseen(changes: Sequence[Change]) -> None:
    echo()
    if changes:
        echo("Known to differ here:")
        echo_lines(f"  {line}" for line in change_lines(changes))
    else:
        echo("Code of plugins, libraries, Python, platform and processor are as they were.")
    echo("Scoring again …")
    echo()


def _report(verification: Verification, stored: str | None) -> None:
    if verification.difference is not None:
        echo_lines(difference_lines(verification.difference))
        echo()
    if verification.found is not None and verification.found.error is not None:
        echo(verification.found.error.traceback.rstrip(), err=True)
    echo(f"{style('verdict', bold=True)}  {verification.verdict}")
    if stored is not None:
        echo(f"{style('receipt', bold=True)}  {stored}")
