"""``brainscore cache``: the folders of fetched data and of stored activations."""

from __future__ import annotations

import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import click

from brainscore.cli._app import Subcommands
from brainscore.cli._options import json_option, named_items, yes_option
from brainscore.cli._output import echo, echo_json, echo_table
from brainscore_core.activation_store import ActivationStore, Leftover, StoredEntry, default_store
from brainscore_core.errors import UserError
from brainscore_core.memory import format_size
from brainscore_core.paths import activations_home, cache_home
from brainscore_core.plurals import counted
from brainscore_core.supported_data_standards.brainio.cache import (
    CacheEntry,
    cache_entries,
    remove_entry,
    verify_entry,
)

_COLUMNS = {
    "data": ("file", "kind", "size", "folder"),
    "activations": ("key", "model", "layer", "stimulus set", "size", "last used"),
}
"""Kind of the cache → columns of its list."""

_KEY_DIGITS = 12  # digits of a key
_BEING_WRITTEN = 600.0  # seconds; files written to more recently may belong to a running process


@dataclass(frozen=True)
class Item:
    """A fetched file, a stored layer, or an unfinished file of either."""

    part: str  # 'data' or 'activations'
    names: tuple[str, ...]  # by which it can be selected, besides the beginning of `key`
    key: str
    bytes: int
    row: tuple[str, ...]  # of a table
    values: dict[str, Any]  # as JSON
    content: CacheEntry | StoredEntry | Leftover


def _file(entry: CacheEntry) -> Item:
    digest = entry.digest
    values = {"name": entry.name, "kind": entry.kind, "bytes": entry.bytes, digest.algorithm: digest.value}
    row = (entry.name, entry.kind, format_size(entry.bytes), f"{digest.value[:_KEY_DIGITS]}…")
    return Item("data", (entry.name,), digest.value, entry.bytes, row, values | {"path": entry.path}, entry)


def _layer(entry: StoredEntry | Leftover) -> Item:
    if isinstance(entry, Leftover):
        key, label, used, named = "", entry.path.name, entry.changed, dict.fromkeys(("model", "layer", "stimulus_set"))
    else:
        key, label, used = entry.key, entry.key[:_KEY_DIGITS], entry.used
        named = {name: entry.named(name) or None for name in ("model", "layer", "stimulus_set")}
    model, layer, stimuli = named.values()
    names = (model, f"{model}.{layer}" if model and layer else layer, stimuli)
    values = {
        "key": key or None,
        "kind": "layer" if key else "unfinished",
        **named,
        "bytes": entry.nbytes,
        "used": datetime.fromtimestamp(used, UTC).isoformat(timespec="seconds"),
        "path": entry.path,
    }
    time_of_use = datetime.fromtimestamp(used).astimezone().strftime("%Y-%m-%d %H:%M")
    shown = (model or "", (layer or "") if key else "unfinished", stimuli or "", format_size(entry.nbytes), time_of_use)
    return Item(
        "activations", tuple(filter(None, names)) or (label,), key, entry.nbytes, (label, *shown), values, entry
    )


def _items(names: Sequence[str], kind: str) -> list[Item]:
    """Items that the names select; all items of the kind without names."""
    store = default_store()
    items = [] if kind == "activations" else list(map(_file, cache_entries()))
    if kind != "data" and store is not None:
        items += [*map(_layer, store.entries()), *map(_layer, store.leftovers())]
    homes = [str(home) for part, home in _homes().items() if kind in (part, "all") and home is not None]
    return named_items(names, items, f"the cache {' or '.join(homes)} has no", "brainscore cache ls")


def _homes() -> dict[str, Path | None]:
    return {"data": cache_home(), "activations": activations_home()}


def _in_words(items: Sequence[Item], word: str) -> str:
    numbers = {part: sum(item.part == part for item in items) for part in ("data", "activations")}
    if not items:
        numbers = {"data": 0}
    homes = _homes()
    return " and ".join(
        f"{counted(number, 'entry')} {word} {homes[part]}" for part, number in numbers.items() if number or not items
    )


def _size(items: Sequence[Item]) -> int:
    return sum(item.bytes for item in items)


def _echo_json(items: Sequence[Item], kind: str, names: tuple[str, str], **values: Any) -> None:
    """Print items as JSON, below a name for each part of the cache."""
    for name, (part, home) in zip(names, _homes().items(), strict=True):
        if kind in (part, "all"):
            listed = [item for item in items if item.part == part]
            document = {"path": home, "bytes": _size(listed), name: [item.values for item in listed]}
            values |= document if part == "data" else {part: document}
    echo_json(values)


_kind_option = click.option(
    "--kind",
    type=click.Choice(["all", "data", "activations"]),
    default="all",
    help="Part of the cache; by default all.",
)


@click.group("cache", cls=Subcommands)
def command() -> None:
    """Show, check and empty the folders of fetched data and stored activations.

    Data are in BRAINIO_HOME (by default ~/.brainio), activations in BRAINSCORE_ACTIVATIONS (by default
    ~/.brain-score/activations).
    """


@command.command("path")
@click.option(
    "--kind", type=click.Choice(["data", "activations"]), default="data", help="Part of the cache; by default data."
)
@json_option
def show_path(*, kind: str, json_: bool) -> None:
    """Print the folder of the cache."""
    home = _homes()[kind]
    if home is None:
        raise UserError("activations are not stored", remedy="BRAINSCORE_ACTIVATIONS is 'off'; unset it")
    if json_:
        echo_json({"path": home})
    else:
        echo(home)


@command.command("ls")
@click.argument("names", nargs=-1, metavar="[NAME]...")
@_kind_option
@json_option
def list_files(names: Sequence[str], *, kind: str, json_: bool) -> None:
    """List what is in the cache.

    NAME is a file, a pattern such as '*.nc', or the beginning of a hash or key; for activations also a model,
    model.layer or stimulus set, or a pattern such as 'alexnet.*'.
    """
    items = _items(names, kind)
    if json_:
        _echo_json(items, kind, ("files", "layers"))
        return
    for part, columns in _COLUMNS.items():
        if rows := [item.row for item in items if item.part == part]:
            echo_table(columns, rows)
    echo(f"{_in_words(items, 'in')}, {format_size(_size(items))}", err=True)


@command.command("verify")
@click.argument("names", nargs=-1, metavar="[NAME]...")
@_kind_option
@json_option
def verify(names: Sequence[str], *, kind: str, json_: bool) -> None:
    """Check all files against their hashes. The exit code is 1 if any differs."""
    items = _items(names, kind)
    keys = {item.key for item in items if isinstance(item.content, StoredEntry)}
    store = default_store()
    layers = {} if store is None or not keys else {checked.entry.key: checked for checked in store.verify(keys)}
    checked = []
    for item in items:
        if isinstance(item.content, CacheEntry):
            result = verify_entry(item.content)
            item.values.update(state=result.state, found=result.found)
        elif isinstance(item.content, Leftover):
            item.values.update(state="unknown", found="unfinished")
        elif item.key in layers:
            item.values.update(state=layers[item.key].state, found=layers[item.key].found)
        else:
            continue  # another process has removed it
        checked.append(item)
    wrong = [item.part for item in checked if item.values["state"] == "wrong"]
    if json_:
        _echo_json(checked, kind, ("files", "layers"), wrong=len(wrong))
    else:
        rows = [
            (item.row[0], item.values["state"], item.names[0], item.key[:_KEY_DIGITS], item.values["found"])
            for item in checked
            if item.values["state"] != "good"
        ]
        if rows:
            echo_table(("entry", "state", "name", "hash or key", "found"), rows)
        echo(f"checked {_in_words(items, 'from')}, {len(wrong)} wrong")
        if "data" in wrong:
            echo("A wrong copy is never used; it is replaced when the data are fetched again.", err=True)
        if "activations" in wrong:
            echo("Remove wrong activations with `brainscore cache rm KEY`; they are then computed again.", err=True)
    if wrong:
        sys.exit(1)


@command.command("rm")
@click.argument("names", nargs=-1, required=True, metavar="NAME...")
@_kind_option
@yes_option
@json_option
def remove(names: Sequence[str], *, kind: str, yes: bool, json_: bool) -> None:
    """Remove from the cache; NAME as for `ls`.

    The folder unpacked from a ZIP file is removed with it.
    """
    items = _items(names, kind)
    archives = {(item.key, item.names[0].removesuffix(".zip")) for item in items if item.names[0].endswith(".zip")}
    present = {item.values["path"] for item in items}
    unpacked = [
        item
        for item in (_items((), "data") if archives else ())
        if (item.key, item.names[0]) in archives and item.values["path"] not in present
    ]
    _remove([*items, *unpacked], kind, yes=yes, json_=json_)


@command.command("clear")
@_kind_option
@yes_option
@json_option
def clear(*, kind: str, yes: bool, json_: bool) -> None:
    """Remove everything from the cache; it is fetched or computed again when needed.

    Activations that are being written are kept.
    """
    written_since = time.time() - _BEING_WRITTEN
    items = [
        item
        for item in _items((), kind)
        if not (isinstance(item.content, Leftover) and item.content.changed > written_since)
    ]
    _remove(items, kind, yes=yes, json_=json_)


def _remove(items: Sequence[Item], kind: str, *, yes: bool, json_: bool) -> None:
    what, size = _in_words(items, "from"), format_size(_size(items))
    if items and not yes:
        click.confirm(f"Remove {what} ({size})?", abort=True, err=True)
    home = activations_home()
    for item in items:
        if isinstance(item.content, CacheEntry):
            remove_entry(item.content)
        elif isinstance(item.content, Leftover):
            try:
                item.content.path.unlink(missing_ok=True)
            except OSError as error:
                message = f"cannot remove {item.content.path}: {error.strerror}"
                raise UserError(message, remedy="check who owns it") from error
    if home is not None and (keys := [item.key for item in items if isinstance(item.content, StoredEntry)]):
        ActivationStore(home).remove(keys)
    if json_:
        _echo_json(items, kind, ("removed", "removed"))
    else:
        echo(f"Removed {what}, {size}")
