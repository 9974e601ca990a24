"""``brainscore results rm``."""

from __future__ import annotations

import sys
from dataclasses import replace
from typing import TYPE_CHECKING

import click

from brainscore.cli._output import echo_json
from brainscore.cli._results_options import (
    Filters,
    filter_options,
    json_option,
    listed,
    parse_moment,
    results_option,
)
from brainscore_core.errors import UserError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from brainscore_core.scoring import Receipt, ResultsStore

__all__ = ["remove"]

_SHOWN = 20


@click.command("rm")
@click.argument("receipt_ids", nargs=-1, metavar="[RECEIPT]...")
@results_option
@filter_options
@click.option("--older-than", help="Only receipts older than this: an age such as 30d, or a date (UTC).")
@click.option(
    "--superseded", is_flag=True, help="Only where the pair has a newer receipt; the newest score stays, too."
)
@click.option("--dry-run", is_flag=True, help="Say what would be removed, and remove nothing.")
@click.option("--yes", is_flag=True, help="Do not ask.")
@json_option
def remove(
    receipt_ids: tuple[str, ...],
    results: str | None,
    filters: Filters,
    older_than: str | None,
    superseded: bool,
    dry_run: bool,
    yes: bool,
    json_: bool,
) -> None:
    """Remove receipts and what is stored beside them.

    RECEIPT is an id or the beginning of one; without any, the options say which. A receipt of a pair that somebody
    is scoring stays, and so does one that cannot be read. Exit code 1 where one stayed that was to go.
    """
    from brainscore_core.scoring import ResultsStore

    if older_than:
        filters = replace(filters, before=parse_moment(older_than))
    store = ResultsStore(results)
    chosen = _chosen(store, receipt_ids, filters, superseded)
    if dry_run or not chosen:
        _tell(store, chosen, [], dry_run=True, json_=json_)
        return
    if not yes:
        _show(chosen)
        click.confirm(f"Remove {_count(chosen)} from {_name(store)}?", abort=True, err=True)
    removed, kept = _remove(store, chosen)
    _tell(store, removed, kept, dry_run=False, json_=json_)
    if kept:
        sys.exit(1)


def _chosen(store: ResultsStore, receipt_ids: Sequence[str], filters: Filters, superseded: bool) -> tuple[Receipt, ...]:
    if receipt_ids and (filters or superseded):
        raise UserError(
            "receipts are named by their ids and by options", remedy="name them either way, in two commands"
        )
    if receipt_ids:
        found = {receipt.id: receipt for receipt in map(store.load, receipt_ids)}
        return tuple(found.values())
    if not filters and not superseded:
        raise UserError(
            "nothing says which receipts to remove",
            remedy="name ids, or use --model, --benchmark, --state, --run, --older-than or --superseded",
        )
    listing = listed(store, filters)
    if not superseded:
        return listing.receipts
    # the newest of a pair may be none of those that the options choose
    every = store.listing()
    scored = replace(every, receipts=tuple(receipt for receipt in every.receipts if receipt.state == "scored"))
    newest = {receipt.id for some in (every, scored) for receipt in some.newest_of_each()}
    return tuple(receipt for receipt in listing.receipts if receipt.id not in newest)


def _remove(store: ResultsStore, chosen: Sequence[Receipt]) -> tuple[list[Receipt], list[tuple[Receipt, str]]]:
    """Remove, pair by pair, what nobody else works on: a claim keeps others away meanwhile."""
    by_pair: dict[tuple[str, str], list[Receipt]] = {}
    for receipt in chosen:
        by_pair.setdefault((receipt.model.identifier, receipt.benchmark.identifier), []).append(receipt)
    removed: list[Receipt] = []
    kept: list[tuple[Receipt, str]] = []
    for (model, benchmark), receipts in by_pair.items():
        claim = store.claim(model, benchmark, owner="brainscore results rm")
        if claim is None:
            kept += [(receipt, "its pair is being scored") for receipt in receipts]
            continue
        with claim:
            for receipt in receipts:
                try:
                    store.remove(receipt)
                except (UserError, OSError) as error:
                    kept.append((receipt, getattr(error, "message", None) or str(error)))
                else:
                    removed.append(receipt)
    return sorted(removed, key=lambda receipt: receipt.id), kept


def _tell(
    store: ResultsStore, receipts: Sequence[Receipt], kept: Sequence[tuple[Receipt, str]], *, dry_run: bool, json_: bool
) -> None:
    if json_:
        echo_json(
            {
                "results": _name(store),
                "dry_run": dry_run,
                "would_remove" if dry_run else "removed": [_as_dict(receipt) for receipt in receipts],
                "kept": [{**_as_dict(receipt), "why": why} for receipt, why in kept],
            }
        )
        return
    for receipt, why in kept:
        click.echo(f"Kept {receipt.id} ({receipt.model.identifier} on {receipt.benchmark.identifier}): {why}", err=True)
    if dry_run:
        _show(receipts)
        click.echo(f"Would remove {_count(receipts)} from {_name(store)}")
        return
    for receipt in receipts:
        click.echo(f"Removed {_line(receipt)}")


def _show(receipts: Sequence[Receipt]) -> None:
    for receipt in receipts[:_SHOWN]:
        click.echo(_line(receipt), err=True)
    if len(receipts) > _SHOWN:
        click.echo(f"… and {len(receipts) - _SHOWN} more", err=True)


def _line(receipt: Receipt) -> str:
    return f"{receipt.id}  {receipt.model.identifier} on {receipt.benchmark.identifier}: {receipt.state}"


def _as_dict(receipt: Receipt) -> dict[str, str]:
    pair = {"model": receipt.model.identifier, "benchmark": receipt.benchmark.identifier}
    return {"id": receipt.id, **pair, "state": receipt.state}


def _count(receipts: Sequence[Receipt]) -> str:
    return f"{len(receipts)} receipt{'' if len(receipts) == 1 else 's'}"


def _name(store: ResultsStore) -> str:
    return store.address
