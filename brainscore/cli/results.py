"""``brainscore results``."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from brainscore.cli._output import echo_json, echo_pairs, echo_table
from brainscore.cli._results_diff import diff
from brainscore.cli._results_export import export
from brainscore.cli._results_options import Filters, filter_options, json_option, listed, results_option
from brainscore.cli._results_rm import remove
from brainscore.cli._results_tree import tree

if TYPE_CHECKING:
    from brainscore_core.scoring import Receipt

__all__ = ["command"]


@click.group("results")
def command() -> None:
    """List receipts, show, compare, export and remove them, average along the leaderboard's tree."""


@command.command("ls")
@results_option
@filter_options
@click.option("--newest", is_flag=True, help="Only the newest receipt of each model and benchmark.")
@click.option("--limit", type=click.IntRange(min=1), help="Only so many, the newest ones.")
@json_option
def list_(results: str | None, filters: Filters, newest: bool, limit: int | None, json_: bool) -> None:
    """List receipts, oldest first.

    Outside a terminal, prints their ids alone, one a line.
    """
    from brainscore.report import number
    from brainscore_core.scoring import ResultsStore

    listing = listed(ResultsStore(results), filters)
    receipts = listing.newest_of_each() if newest else listing.receipts
    if limit is not None:
        receipts = tuple(sorted(receipts, key=lambda receipt: receipt.id)[-limit:])
    if json_:
        echo_json([_as_row(receipt) for receipt in receipts])
        return
    if not receipts:
        click.echo(f"No receipts{f' ({filters})' if filters else ''}.", err=True)
        return
    rows = [
        (
            receipt.id,
            receipt.model.identifier,
            receipt.benchmark.identifier,
            number(receipt.score.value, receipt.score.error) if receipt.score else receipt.state,
        )
        for receipt in receipts
    ]
    echo_table(("Receipt", "Model", "Benchmark", "Score"), rows)


def _as_row(receipt: Receipt) -> dict[str, object]:
    return {
        "id": receipt.id,
        "created": receipt.created,
        "model": receipt.model.identifier,
        "benchmark": receipt.benchmark.identifier,
        "version": receipt.benchmark.version,
        "state": receipt.state,
        "reason": receipt.reason,
        "score": receipt.score.value if receipt.score else None,
        "error": receipt.score.error if receipt.score else None,
        "run": receipt.run.id if receipt.run else None,
    }


@command.command("show")
@click.argument("receipt_id", metavar="RECEIPT")
@results_option
@click.option("--log", is_flag=True, help="Print what the pair printed while it was scored.")
@json_option
def show(receipt_id: str, results: str | None, log: bool, json_: bool) -> None:
    """Show a receipt, named by its id or the beginning of it."""
    from brainscore_core.receipts.summary import summary
    from brainscore_core.scoring import ResultsStore

    store = ResultsStore(results)
    receipt = store.load(receipt_id)
    if log:
        click.echo(store.attachment_path(receipt, "log").read_text(encoding="utf-8", errors="replace"), nl=False)
    elif json_:
        echo_json(receipt.to_dict())
    else:
        details = [(name, text) for name, text in _details(receipt).items() if text]
        echo_pairs([("id", receipt.id), *summary(receipt), *details, ("receipt", store.address_of(receipt))])


def _details(receipt: Receipt) -> dict[str, str]:
    """What `summary` leaves out."""
    steps = {name: seconds for name, seconds in vars(receipt.timings).items() if seconds is not None}
    memory = receipt.memory.peak_bytes
    run = receipt.run
    own = _versions(run.packages) if run else ""
    return {
        "created": receipt.created,
        "error": f"{receipt.error.type}: {receipt.error.message}\n{receipt.error.traceback}" if receipt.error else "",
        "data": ", ".join(item.identifier for item in receipt.data),
        "files": "" if not receipt.files else f"{len(receipt.files)}, with their hashes in --json",
        "weights": "\n".join(f"{item.identifier} {item.sha256[:12]}…" for item in receipt.weights),
        "seconds": ", ".join(f"{name.replace('_', ' ')} {seconds:.2f}" for name, seconds in steps.items()),
        "memory": "" if memory is None else f"at most {memory / 1e9:.2f} GB",
        "activations": _cache(receipt),
        "device": receipt.device,
        "run": "" if run is None else run.id + (", the model in a process of its own" if run.isolated else ""),
        "environment": " ".join(text for text in (run.environment if run else "", own) if text),
        "python": receipt.environment.python,
        "platform": ", ".join(text for text in (receipt.environment.platform, receipt.environment.cpu) if text),
        "packages": _versions(receipt.environment.packages),
        "attachments": "\n".join(item.name for item in receipt.attachments),
    }


def _versions(packages: dict[str, str]) -> str:
    return ", ".join(f"{name} {version}" for name, version in sorted(packages.items()))


def _cache(receipt: Receipt) -> str:
    hits, misses = receipt.cache.hits, receipt.cache.misses
    return f"{hits} of {hits + misses} read from the store" if hits or misses else ""


for _command in (export, diff, remove, tree):
    command.add_command(_command)
