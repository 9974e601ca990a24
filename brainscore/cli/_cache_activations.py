"""Stored activations as ``brainscore cache`` shows, checks and removes them."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any, Literal

from brainscore_core.errors import UserError
from brainscore_core.memory import format_size
from brainscore_vision.model_helpers.activations.store import (
    ActivationStore,
    Leftover,
    StoredEntry,
    activations_home,
    default_store,
)

__all__ = [
    "COLUMNS",
    "Checked",
    "Stored",
    "activations_folder",
    "in_use",
    "plain",
    "remove",
    "row",
    "stored",
    "verify",
]

COLUMNS = ("key", "model", "layer", "stimulus set", "size", "last used")
_SHORTEST_KEY = 6
_SHOWN = 12  # digits of a key
_BEING_WRITTEN = 600.0  # seconds; what was written to since then may belong to a process that is running


@dataclass(frozen=True)
class Stored:
    """A stored layer, or a file that belongs to no whole one."""

    name: str
    kind: Literal["layer", "unfinished"]
    bytes: int
    used: float
    path: Path
    model: str = ""
    layer: str = ""
    stimulus_set: str = ""
    key: str | None = None

    def matches(self, name: str) -> bool:
        """Whether `name` means it: start of the key, or pattern of model, model.layer or stimulus set."""
        by_key = self.key is not None and len(name) >= _SHORTEST_KEY and self.key.startswith(name.lower())
        return by_key or any(fnmatchcase(own, name) for own in self.names)

    @property
    def names(self) -> list[str]:
        """Names that it goes by."""
        if self.kind == "unfinished":
            return [self.name]
        of_layer = f"{self.model}.{self.layer}" if self.model and self.layer else self.layer
        return [own for own in (self.model, of_layer, self.stimulus_set) if own] or [self.name]


@dataclass(frozen=True)
class Checked:
    """`state` is 'good', 'wrong', or 'unknown' for what is unfinished; `found` says what is wrong."""

    entry: Stored
    state: Literal["good", "wrong", "unknown"]
    found: str


def activations_folder() -> Path:
    """Folder of stored activations; an error where there is none."""
    home = activations_home()
    if home is None:
        raise UserError("activations are not stored", remedy="BRAINSCORE_ACTIVATIONS is 'off'; unset it")
    return home


def stored() -> list[Stored]:
    """List stored activations, the most recently used first, then what is unfinished; nothing where it is off."""
    store = default_store()
    if store is None:
        return []
    return [*map(_of_entry, store.entries()), *map(_of_leftover, store.leftovers())]


def verify(entries: Sequence[Stored]) -> list[Checked]:
    """Compare layers with their checksums."""
    keys = {entry.key for entry in entries if entry.key is not None}
    found = {item.entry.key: item for item in _store().verify(keys)} if keys else {}
    checked = []
    for entry in entries:
        if entry.kind == "unfinished":
            checked.append(Checked(entry, "unknown", "unfinished"))
        elif entry.key in found:  # else another process removed it meanwhile
            checked.append(Checked(entry, found[entry.key].state, found[entry.key].found))
    return checked


def in_use(entry: Stored) -> bool:
    """Whether a running process may be writing it."""
    return entry.kind == "unfinished" and time.time() - entry.used < _BEING_WRITTEN


def remove(entries: Sequence[Stored]) -> None:
    """Remove layers and unfinished files."""
    keys = [entry.key for entry in entries if entry.key is not None]
    if keys:
        _store().remove(keys)
    for entry in entries:
        if entry.key is None:
            try:
                entry.path.unlink(missing_ok=True)
            except OSError as error:
                raise UserError(f"cannot remove {entry.path}: {error.strerror}", remedy="check who owns it") from error


def plain(entry: Stored) -> dict[str, Any]:
    """Write an entry in plain types; when it was used as ISO 8601 in UTC."""
    return {
        "key": entry.key,
        "kind": entry.kind,
        "model": entry.model or None,
        "layer": entry.layer or None,
        "stimulus_set": entry.stimulus_set or None,
        "bytes": entry.bytes,
        "used": datetime.fromtimestamp(entry.used, UTC).isoformat(timespec="seconds"),
        "path": entry.path,
    }


def row(entry: Stored) -> list[str]:
    """Write an entry as a row of a table."""
    layer = entry.layer if entry.kind == "layer" else entry.kind
    used = datetime.fromtimestamp(entry.used).astimezone().strftime("%Y-%m-%d %H:%M")
    return [entry.name, entry.model, layer, entry.stimulus_set, format_size(entry.bytes), used]


def _store() -> ActivationStore:
    return ActivationStore(activations_folder())


def _of_entry(entry: StoredEntry) -> Stored:
    return Stored(
        name=entry.key[:_SHOWN],
        kind="layer",
        bytes=entry.nbytes,
        used=entry.used,
        path=entry.path,
        model=entry.named("model"),
        layer=entry.named("layer"),
        stimulus_set=entry.named("stimulus_set"),
        key=entry.key,
    )


def _of_leftover(file: Leftover) -> Stored:
    return Stored(name=file.path.name, kind="unfinished", bytes=file.nbytes, used=file.changed, path=file.path)
