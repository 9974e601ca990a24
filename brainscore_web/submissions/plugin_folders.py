"""Folders of plugins, made from the database: of all live plugins, or of one revision.

The name of each folder is a hash of its content. A folder is built aside, moved into place as a whole and never
changed, so that any number of processes may build the same one.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import time
import uuid
from collections.abc import Callable, Iterator
from contextlib import suppress
from datetime import datetime, timedelta
from pathlib import Path
from typing import NamedTuple

from django.conf import settings
from django.db.models import Q
from django.utils import timezone

from brainscore_core.files import PART_SUFFIX, STALE
from brainscore_web.submissions.models import Plugin, PluginKind, Revision, Step

__all__ = [
    "delete_old_folders",
    "delete_unused_folders",
    "folder_shown_to",
    "folder_with",
    "plugin_hash",
    "published_folder",
    "unpacked",
]

_TOUCHED = 3600.0  # seconds; not each time


class _LivePlugin(NamedTuple):
    """A plugin that is live."""

    kind: str
    name: str
    revision: int
    digest: str


def published_folder() -> Path:
    """The folder of all live plugins, for ``BRAINSCORE_PLUGINS``: ``models/``, ``benchmarks/`` and so on.

    Returns
    -------
    pathlib.Path
        Its content never changes: when something is published, this gives another folder.

    Raises
    ------
    OSError
        If it cannot be written; nothing half-written stays.
    """
    live = _live()
    return _create_once(_sets() / _digest(live), lambda folder: _link_plugins(live, folder))


def unpacked(revision: Revision) -> Path:
    """The plugins of one revision, laid out alike.

    Raises
    ------
    OSError
        If it cannot be written; nothing half-written stays.
    """
    return _unpacked(revision.pk, revision.digest)


def folder_with(revision: Revision) -> Path:
    """What `published_folder` would give, were this revision live: its plugins take the places of those they replace.

    Raises
    ------
    OSError
        If it cannot be written; nothing half-written stays.
    """
    return _with(revision, _live())


def folder_shown_to(revision: Revision) -> Path:
    """The plugins that tests of a revision may read, laid out alike: whoever sent it reads what they print.

    These are its own, live ones of its owner, and others' live data and metrics, but for those that name private
    files. Models and benchmarks of others are nobody else's to read.

    Raises
    ------
    OSError
        If it cannot be written; nothing half-written stays.
    """
    owner = revision.submission.owner_id
    used = Q(kind__in=(PluginKind.DATA, PluginKind.METRICS))
    yours = Q(owner=owner) if owner is not None else Q(pk__in=())
    rows = Plugin.objects.filter(used | yours).order_by("kind", "name")
    closed = {
        step.revision_id
        for step in Step.objects.filter(revision__in=rows.exclude(yours).values("revision"), kind=Step.Kind.CHECK)
        if any(one.get("private") for one in step.result.get("files", ()))
    }
    shown = rows.filter(yours | ~Q(revision__in=closed))
    return _with(
        revision, [_LivePlugin(*row) for row in shown.values_list("kind", "name", "revision_id", "revision__digest")]
    )


def _with(revision: Revision, live: list[_LivePlugin]) -> Path:
    own = {(one["kind"], one["name"]) for one in revision.plugins}
    mine = [_LivePlugin(kind, name, revision.pk, revision.digest) for kind, name in own]
    all_of_them = sorted([*mine, *(plugin for plugin in live if (plugin.kind, plugin.name) not in own)])
    return _create_once(_sets() / _digest(all_of_them), lambda folder: _link_plugins(all_of_them, folder))


def plugin_hash(folder: Path) -> str:
    """Hash of a plugin's code, as receipts have it; the same wherever the folder lies."""
    from brainscore_core.receipts.environment import describe_plugin

    return describe_plugin(folder).sha256 or ""


def delete_unused_folders() -> int:
    """Remove folders that nobody asked for in so long as the settings say, and what killed processes left."""
    return delete_old_folders(timezone.now() - timedelta(days=settings.OPERATIONS["folders"]))


def delete_old_folders(before: datetime, *, dry: bool = False) -> int:
    """Remove folders of plugins that nobody has asked for since.

    Parameters
    ----------
    before : datetime
        Since when. What is live now always stays.
    dry : bool
        Only count them.

    Returns
    -------
    int
        How many there are.
    """
    live, old = _live(), before.timestamp()
    kept = {_digest(live), *(plugin.digest for plugin in live)}
    found = [path for path in _below(_sets(), _revisions()) if path.name not in kept and _age_of(path) < old]
    left = time.time() - STALE
    found += [path for path in _below(_home()) if path.name.endswith(PART_SUFFIX) and _age_of(path) < left]
    if not dry:
        for path in found:
            _remove(path)
    return len(found)


def _home() -> Path:
    return Path(settings.SUBMISSIONS["folder"]).expanduser().absolute()


def _sets() -> Path:
    return _home() / "live"


def _revisions() -> Path:
    return _home() / "revisions"


def _live() -> list[_LivePlugin]:
    rows = Plugin.objects.order_by()
    return sorted(_LivePlugin(*row) for row in rows.values_list("kind", "name", "revision_id", "revision__digest"))


def _digest(live: list[_LivePlugin]) -> str:
    content = [[plugin.kind, plugin.name, plugin.digest] for plugin in live]
    return hashlib.sha256(json.dumps(content).encode()).hexdigest()


def _unpacked(key: int, digest: str) -> Path:
    from brainscore_vision.submission import unpack

    def write(folder: Path) -> None:
        archive = Revision.objects.values_list("archive", flat=True).get(pk=key)
        unpack(bytes(archive), folder)
        _sync_to_disk(folder)

    return _create_once(_revisions() / digest, write)


def _link_plugins(live: list[_LivePlugin], folder: Path) -> None:
    folder.chmod(0o755)
    for kind in PluginKind.values:
        (folder / kind).mkdir()
        (folder / kind).chmod(0o755)
    for plugin in live:
        source = _unpacked(plugin.revision, plugin.digest) / plugin.kind / plugin.name
        # no copies: hundreds of plugins take no room twice; no links by name: a sandbox that shows this folder has all
        shutil.copytree(source, folder / plugin.kind / plugin.name, copy_function=_link, ignore=_not_code)


def _not_code(folder: str, names: list[str]) -> list[str]:
    """What an interpreter has written there since."""
    return [name for name in names if name == "__pycache__"]


def _link(source: str, target: str) -> None:
    try:
        os.link(source, target)
    except OSError:  # a file system without them, or too many; where it is full, this says so
        shutil.copy2(source, target)


def _create_once(place: Path, write: Callable[[Path], None]) -> Path:
    """Give a folder, made now where it is not there."""
    with suppress(FileNotFoundError):
        if time.time() - place.stat().st_mtime > _TOUCHED:
            os.utime(place)  # somebody needs it: it is not removed
        return place
    aside = _home() / f".{uuid.uuid4().hex}{PART_SUFFIX}"
    try:
        aside.mkdir(parents=True)
        write(aside)
        place.parent.mkdir(parents=True, exist_ok=True)
        try:
            os.rename(aside, place)
        except OSError:
            if not place.is_dir():  # else somebody else was first with the very same
                raise
    finally:
        shutil.rmtree(aside, ignore_errors=True)
    return place


def _sync_to_disk(folder: Path) -> None:
    """Have files on disk before the folder's name says that they are whole; the user of a cage may read them."""
    for path in (folder, *folder.rglob("*")):
        path.chmod(0o755 if path.is_dir() else 0o644)
        if path.is_file():
            with path.open("rb") as stream:
                os.fsync(stream.fileno())


def _below(*folders: Path) -> Iterator[Path]:
    for folder in folders:
        if folder.is_dir():
            yield from sorted(folder.iterdir())


def _age_of(path: Path) -> float:
    try:
        return path.stat().st_mtime
    except FileNotFoundError:
        return float("inf")


def _remove(path: Path) -> None:
    """Take the name away first: nobody finds half a folder."""
    aside = _home() / f".{uuid.uuid4().hex}{PART_SUFFIX}"
    with suppress(FileNotFoundError):
        if not path.name.endswith(PART_SUFFIX):
            path = path.rename(aside)
        shutil.rmtree(path, ignore_errors=True)
