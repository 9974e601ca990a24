"""``brainscore cache``: the folders of fetched data and of stored activations."""

from __future__ import annotations

import sys
import time
from collections.abc import Sequence
from datetime import UTC, datetime
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any, NamedTuple

import click

from brainscore.cli._app import Subcommands
from brainscore.cli._output import echo, echo_json, echo_table
from brainscore_core.activation_store import (
    ActivationStore,
    Leftover,
    StoredEntry,
    default_store,
)
from brainscore_core.errors import UserError, nearest
from brainscore_core.memory import format_size
from brainscore_core.paths import activations_home, cache_home
from brainscore_core.plurals import counted
from brainscore_core.supported_data_standards.brainio.cache import (
    CacheEntry,
    CheckedEntry,
    cache_entries,
    remove_entry,
    verify_entry,
)

_LAYER_COLUMNS = ("key", "model", "layer", "stimulus set", "size", "last used")
_SHORTEST_KEY = 6
_KEY_DIGITS = 12  # digits of a key
_BEING_WRITTEN = 600.0  # seconds; files written to more recently may belong to a running process


def activations_folder() -> Path:
    """Folder of stored activations; raises an error if they are not stored."""
    home = activations_home()
    if home is None:
        raise UserError("activations are not stored", remedy="BRAINSCORE_ACTIVATIONS is 'off'; unset it")
    return home


Layer = StoredEntry | Leftover
"""A stored layer, or a file of an unfinished one."""


def _stored_layers() -> list[Layer]:
    """List stored activations, the most recently used first, then unfinished ones; empty if they are not stored."""
    store = default_store()
    return [] if store is None else [*store.entries(), *store.leftovers()]


def _label(layer: Layer) -> str:
    """The beginning of a layer's key, or the name of an unfinished file."""
    return layer.path.name if isinstance(layer, Leftover) else layer.key[:_KEY_DIGITS]


def _layer_names(layer: Layer) -> list[str]:
    """Names by which a layer can be selected, besides the beginning of its key."""
    if isinstance(layer, Leftover):
        return [_label(layer)]
    model, name = layer.named("model"), layer.named("layer")
    names = (model, f"{model}.{name}" if model and name else name, layer.named("stimulus_set"))
    return list(filter(None, names)) or [_label(layer)]


def _layer_matches(layer: Layer, name: str) -> bool:
    """Whether `name` selects a layer: beginning of the key, or pattern of model, model.layer or stimulus set."""
    key = "" if isinstance(layer, Leftover) else layer.key
    by_key = len(name) >= _SHORTEST_KEY and key.startswith(name.lower())
    return by_key or any(fnmatchcase(layer_name, name) for layer_name in _layer_names(layer))


def _verify_layers(layers: Sequence[Layer]) -> list[tuple[Layer, str, str]]:
    """Compare layers with their checksums; return their states ('good', 'wrong', or 'unknown') and problems."""
    keys = {layer.key for layer in layers if isinstance(layer, StoredEntry)}
    verified = {item.entry.key: item for item in ActivationStore(activations_folder()).verify(keys)} if keys else {}
    checked: list[tuple[Layer, str, str]] = []
    for layer in layers:
        if isinstance(layer, Leftover):
            checked.append((layer, "unknown", "unfinished"))
        elif layer.key in verified:  # otherwise another process has removed it
            checked.append((layer, verified[layer.key].state, verified[layer.key].found))
    return checked


def _is_in_use(layer: Layer) -> bool:
    """Whether a running process may be writing the layer."""
    return isinstance(layer, Leftover) and time.time() - layer.changed < _BEING_WRITTEN


def _remove_layers(layers: Sequence[Layer]) -> None:
    """Remove layers and unfinished files."""
    if keys := [layer.key for layer in layers if isinstance(layer, StoredEntry)]:
        ActivationStore(activations_folder()).remove(keys)
    for layer in layers:
        if isinstance(layer, Leftover):
            try:
                layer.path.unlink(missing_ok=True)
            except OSError as error:
                raise UserError(f"cannot remove {layer.path}: {error.strerror}", remedy="check who owns it") from error


def _layer_values(layer: Layer) -> dict[str, Any]:
    """Write a layer in plain types; when it was used as ISO 8601 in UTC."""
    unfinished = isinstance(layer, Leftover)
    used = layer.changed if isinstance(layer, Leftover) else layer.used
    named = {name: _named(layer, name) or None for name in ("model", "layer", "stimulus_set")}
    return {
        "key": None if isinstance(layer, Leftover) else layer.key,
        "kind": "unfinished" if unfinished else "layer",
        **named,
        "bytes": layer.nbytes,
        "used": datetime.fromtimestamp(used, UTC).isoformat(timespec="seconds"),
        "path": layer.path,
    }


def _layer_row(layer: Layer) -> list[str]:
    """Write a layer as a row of a table."""
    name, used = ("unfinished", layer.changed) if isinstance(layer, Leftover) else (layer.named("layer"), layer.used)
    time_of_use = datetime.fromtimestamp(used).astimezone().strftime("%Y-%m-%d %H:%M")
    size = format_size(layer.nbytes)
    return [_label(layer), _named(layer, "model"), name, _named(layer, "stimulus_set"), size, time_of_use]


def _named(layer: Layer, name: str) -> str:
    return "" if isinstance(layer, Leftover) else layer.named(name)


_json_option = click.option("--json", "as_json", is_flag=True, help="Print JSON.")
_yes_option = click.option("--yes", is_flag=True, help="Do not ask.")
_kind_option = click.option(
    "--kind",
    type=click.Choice(["all", "data", "activations"]),
    default="all",
    help="Part of the cache; by default all.",
)


class _Chosen(NamedTuple):
    files: list[CacheEntry]
    layers: list[Layer]

    @property
    def total(self) -> int:
        return _total(self.files) + sum(layer.nbytes for layer in self.layers)

    def __str__(self) -> str:
        texts = []
        if self.files or not self.layers:
            texts.append(f"{counted(len(self.files), 'entry')} from {cache_home()}")
        if self.layers:
            texts.append(f"{counted(len(self.layers), 'entry')} from {activations_home()}")
        return " and ".join(texts)


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
@_json_option
def show_path(*, kind: str, as_json: bool) -> None:
    """Print the folder of the cache."""
    home = cache_home() if kind == "data" else activations_folder()
    if as_json:
        echo_json({"path": home})
    else:
        echo(home)


@command.command("ls")
@click.argument("names", nargs=-1, metavar="[NAME]...")
@_kind_option
@_json_option
def list_files(names: Sequence[str], *, kind: str, as_json: bool) -> None:
    """List what is in the cache.

    NAME is a file, a pattern such as '*.nc', or the beginning of a hash or key; for activations also a model,
    model.layer or stimulus set, or a pattern such as 'alexnet.*'.
    """
    chosen = _matching(names, kind)
    if as_json:
        _echo_json(chosen, kind, "files", "layers")
        return
    if chosen.files:
        echo_table(["file", "kind", "size", "folder"], [_file_row(entry) for entry in chosen.files])
    if chosen.layers:
        echo_table(_LAYER_COLUMNS, [_layer_row(entry) for entry in chosen.layers])
    echo(f"{chosen}, {format_size(chosen.total)}".replace(" from ", " in "), err=True)


@command.command("verify")
@click.argument("names", nargs=-1, metavar="[NAME]...")
@_kind_option
@_json_option
def verify(names: Sequence[str], *, kind: str, as_json: bool) -> None:
    """Check all files against their hashes. The exit code is 1 if any differs."""
    chosen = _matching(names, kind)
    checked = [verify_entry(entry) for entry in chosen.files]
    layers = _verify_layers(chosen.layers)
    wrong = sum(item.state == "wrong" for item in checked) + sum(state == "wrong" for _, state, _ in layers)
    if as_json:
        document: dict[str, Any] = {"wrong": wrong}
        if kind != "activations":
            listed = [{**_file_values(item.entry), "state": item.state, "found": item.found} for item in checked]
            document |= {"path": cache_home(), "files": listed}
        if kind != "data":
            shown = [{**_layer_values(layer), "state": state, "found": problem} for layer, state, problem in layers]
            document["activations"] = {"path": activations_home(), "layers": shown}
        echo_json(document)
    else:
        _print_checked(checked, layers, str(chosen))
    if wrong:
        sys.exit(1)


@command.command("rm")
@click.argument("names", nargs=-1, required=True, metavar="NAME...")
@_kind_option
@_yes_option
@_json_option
def remove(names: Sequence[str], *, kind: str, yes: bool, as_json: bool) -> None:
    """Remove from the cache; NAME as for `ls`.

    The folder unpacked from a ZIP file is removed with it.
    """
    chosen = _matching(names, kind)
    hashes = {(entry.digest, entry.name.removesuffix(".zip")) for entry in chosen.files if entry.name.endswith(".zip")}
    unpacked = [
        entry
        for entry in (cache_entries() if hashes else [])
        if entry.kind == "folder" and (entry.digest, entry.name) in hashes and entry not in chosen.files
    ]
    _remove(_Chosen([*chosen.files, *unpacked], chosen.layers), kind, yes=yes, as_json=as_json)


@command.command("clear")
@_kind_option
@_yes_option
@_json_option
def clear(*, kind: str, yes: bool, as_json: bool) -> None:
    """Remove everything from the cache; it is fetched or computed again when needed.

    Activations that are being written are kept.
    """
    every = _matching([], kind)
    layers = [entry for entry in every.layers if not _is_in_use(entry)]
    _remove(_Chosen(every.files, layers), kind, yes=yes, as_json=as_json)


def _matching(names: Sequence[str], kind: str) -> _Chosen:
    entries = cache_entries() if kind != "activations" else []
    layers = _stored_layers() if kind != "data" else []
    if not names:
        return _Chosen(entries, layers)
    files: set[CacheEntry] = set()
    stored: list[Layer] = []
    for name in names:
        matching = [entry for entry in entries if _file_matches(entry, name)]
        computed = [layer for layer in layers if _layer_matches(layer, name)]
        if not matching and not computed:
            present = {entry.name for entry in entries} | {
                layer_name for layer in layers for layer_name in _layer_names(layer)
            }
            near = nearest(name, sorted(present), limit=3)
            hint = f"did you mean {' or '.join(near)}?" if near else "`brainscore cache ls` lists what is there"
            raise UserError(f"the cache {_where(kind)} has no {name!r}", remedy=hint)
        files.update(matching)
        stored += computed
    return _Chosen([entry for entry in entries if entry in files], [layer for layer in layers if layer in stored])


def _where(kind: str) -> str:
    homes = [cache_home() if kind != "activations" else None, activations_home() if kind != "data" else None]
    return " or ".join(str(home) for home in homes if home is not None)


def _file_matches(entry: CacheEntry, name: str) -> bool:
    by_hash = len(name) >= _SHORTEST_KEY and entry.digest.value.startswith(name.lower())
    return by_hash or fnmatchcase(entry.name, name)


def _remove(chosen: _Chosen, kind: str, *, yes: bool, as_json: bool) -> None:
    size = format_size(chosen.total)
    if (chosen.files or chosen.layers) and not yes:
        click.confirm(f"Remove {chosen} ({size})?", abort=True, err=True)
    for entry in chosen.files:
        remove_entry(entry)
    _remove_layers(chosen.layers)
    if as_json:
        _echo_json(chosen, kind, "removed", "removed")
    else:
        echo(f"Removed {chosen}, {size}")


def _echo_json(chosen: _Chosen, kind: str, name: str, name_of_layers: str) -> None:
    document: dict[str, Any] = {}
    if kind != "activations":
        listed = [_file_values(entry) for entry in chosen.files]
        document = {"path": cache_home(), "bytes": _total(chosen.files), name: listed}
    if kind != "data":
        document["activations"] = {
            "path": activations_home(),
            "bytes": sum(layer.nbytes for layer in chosen.layers),
            name_of_layers: [_layer_values(entry) for entry in chosen.layers],
        }
    echo_json(document)


def _file_values(entry: CacheEntry) -> dict[str, Any]:
    return {
        "name": entry.name,
        "kind": entry.kind,
        "bytes": entry.bytes,
        entry.digest.algorithm: entry.digest.value,
        "path": entry.path,
    }


def _file_row(entry: CacheEntry) -> list[str]:
    return [entry.name, entry.kind, format_size(entry.bytes), f"{entry.digest.value[:12]}…"]


def _total(entries: Sequence[CacheEntry]) -> int:
    return sum(entry.bytes for entry in entries)


def _print_checked(checked: Sequence[CheckedEntry], layers: Sequence[tuple[Layer, str, str]], where: str) -> None:
    shown = [item for item in checked if item.state != "good"]
    if shown:
        echo_table(["file", "state", "expected", "found"], [_checked_row(item) for item in shown])
    computed = [item for item in layers if item[1] != "good"]
    if computed:
        columns = ["key", "state", "model", "layer", "found"]
        rows = [
            [_label(layer), state, _named(layer, "model"), _named(layer, "layer"), problem]
            for layer, state, problem in computed
        ]
        echo_table(columns, rows)
    wrong = sum(item.state == "wrong" for item in shown)
    wrong_layers = sum(state == "wrong" for _, state, _ in computed)
    echo(f"checked {where}, {wrong + wrong_layers} wrong")
    if wrong:
        echo("A wrong copy is never used; it is replaced when the data are fetched again.", err=True)
    if wrong_layers:
        echo("Remove wrong activations with `brainscore cache rm KEY`; they are then computed again.", err=True)


def _checked_row(item: CheckedEntry) -> list[str]:
    return [item.entry.name, item.state, str(item.entry.digest) if item.entry.kind == "file" else "", item.found]
