"""``brainscore cache``: the folder of fetched data."""

import sys
from collections.abc import Sequence
from fnmatch import fnmatchcase
from typing import Any

import click

from brainscore.cli._output import echo_json, echo_table
from brainscore_core.errors import UserError
from brainscore_core.plugins import nearest
from brainscore_core.supported_data_standards.brainio._cache import cache_home
from brainscore_core.supported_data_standards.brainio._cache_entries import (
    CacheEntry,
    CheckedEntry,
    cache_entries,
    remove_entry,
    verify_entry,
)

__all__ = ["command"]

_json_option = click.option("--json", "as_json", is_flag=True, help="Machine-readable output.")
_yes_option = click.option("--yes", is_flag=True, help="Do not ask.")
_SHORTEST_HASH = 6


@click.group("cache")
def command() -> None:
    """Show, check and empty the folder of fetched data (BRAINIO_HOME, by default ~/.brainio)."""


@command.command("path")
@_json_option
def show_path(*, as_json: bool) -> None:
    """Print where the cache is."""
    home = cache_home()
    if as_json:
        echo_json({"path": home})
    else:
        click.echo(home)


@command.command("ls")
@click.argument("names", nargs=-1, metavar="[NAME]...")
@_json_option
def list_files(names: Sequence[str], *, as_json: bool) -> None:
    """List what is in the cache; NAME is a file, a pattern such as '*.nc', or the start of a hash."""
    entries = _matching(names)
    if as_json:
        listed = [_plain(entry) for entry in entries]
        echo_json({"path": cache_home(), "bytes": _total(entries), "files": listed})
        return
    if entries:
        echo_table(["file", "kind", "size", "folder"], [_row(entry) for entry in entries])
    click.echo(f"{len(entries)} in {cache_home()}, {_readable(_total(entries))}", err=True)


@command.command("verify")
@click.argument("names", nargs=-1, metavar="[NAME]...")
@_json_option
def verify(names: Sequence[str], *, as_json: bool) -> None:
    """Hash every file again. Exit status 1 where one is not what it should be."""
    checked = [verify_entry(entry) for entry in _matching(names)]
    wrong = [item for item in checked if item.state == "wrong"]
    if as_json:
        listed = [{**_plain(item.entry), "state": item.state, "found": item.found} for item in checked]
        echo_json({"path": cache_home(), "wrong": len(wrong), "files": listed})
    else:
        _print_checked(checked, wrong)
    if wrong:
        sys.exit(1)


@command.command("rm")
@click.argument("names", nargs=-1, required=True, metavar="NAME...")
@_yes_option
@_json_option
def remove(names: Sequence[str], *, yes: bool, as_json: bool) -> None:
    """Remove files from the cache; NAME is a file, a pattern such as '*.nc', or the start of a hash.

    What was unpacked from a ZIP goes with it.
    """
    chosen = _matching(names)
    hashes = {(entry.digest, entry.name.removesuffix(".zip")) for entry in chosen if entry.name.endswith(".zip")}
    unpacked = [e for e in cache_entries() if e.kind == "folder" and (e.digest, e.name) in hashes and e not in chosen]
    _remove([*chosen, *unpacked], yes=yes, as_json=as_json)


@command.command("clear")
@_yes_option
@_json_option
def clear(*, yes: bool, as_json: bool) -> None:
    """Remove everything that was fetched; the next use fetches it again."""
    _remove(cache_entries(), yes=yes, as_json=as_json)


def _matching(names: Sequence[str]) -> list[CacheEntry]:
    entries = cache_entries()
    if not names:
        return entries
    chosen: set[CacheEntry] = set()
    for name in names:
        found = [entry for entry in entries if _matches(entry, name)]
        if not found:
            near = nearest(name, sorted({entry.name for entry in entries}), limit=3)
            hint = f"did you mean {' or '.join(near)}?" if near else "`brainscore cache ls` lists what is there"
            raise UserError(f"the cache {cache_home()} has no {name!r}", remedy=hint)
        chosen.update(found)
    return [entry for entry in entries if entry in chosen]


def _matches(entry: CacheEntry, name: str) -> bool:
    by_hash = len(name) >= _SHORTEST_HASH and entry.digest.value.startswith(name.lower())
    return by_hash or fnmatchcase(entry.name, name)


def _remove(entries: Sequence[CacheEntry], *, yes: bool, as_json: bool) -> None:
    size = _readable(_total(entries))
    if entries and not yes:
        click.confirm(f"Remove {len(entries)} from {cache_home()} ({size})?", abort=True, err=True)
    for entry in entries:
        remove_entry(entry)
    if as_json:
        removed = [_plain(entry) for entry in entries]
        echo_json({"path": cache_home(), "bytes": _total(entries), "removed": removed})
    else:
        click.echo(f"Removed {len(entries)} from {cache_home()}, {size}")


def _plain(entry: CacheEntry) -> dict[str, Any]:
    return {
        "name": entry.name,
        "kind": entry.kind,
        "bytes": entry.bytes,
        entry.digest.algorithm: entry.digest.value,
        "path": entry.path,
    }


def _row(entry: CacheEntry) -> list[str]:
    return [entry.name, entry.kind, _readable(entry.bytes), f"{entry.digest.value[:12]}…"]


def _total(entries: Sequence[CacheEntry]) -> int:
    return sum(entry.bytes for entry in entries)


def _readable(count: int) -> str:
    from rich.filesize import decimal

    return decimal(count)


def _print_checked(checked: Sequence[CheckedEntry], wrong: Sequence[CheckedEntry]) -> None:
    shown = [item for item in checked if item.state != "good"]
    if shown:
        echo_table(["file", "state", "expected", "found"], [_checked_row(item) for item in shown])
    click.echo(f"{len(checked)} checked in {cache_home()}, {len(wrong)} wrong")
    if wrong:
        click.echo("A wrong copy is never used; it is replaced when the data are fetched again.", err=True)


def _checked_row(item: CheckedEntry) -> list[str]:
    return [item.entry.name, item.state, str(item.entry.digest) if item.entry.kind == "file" else "", item.found]
