"""Folders of plugins, created from the database: of all live plugins, or of one revision.

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
from collections.abc import Callable
from contextlib import suppress
from datetime import datetime, timedelta
from pathlib import Path
from typing import NamedTuple

from django.conf import settings
from django.db.models import Q
from django.utils import timezone

from brainscore_core.files import PART_SUFFIX, STALE
from brainscore_web.submissions.models import Plugin, PluginKind, Revision, Step

_BYTE_CODE = shutil.ignore_patterns("__pycache__")  # which an interpreter has written
_TOUCHED = 3600.0  # seconds; a folder in use is touched at most this often


class _LivePlugin(NamedTuple):
    """A live plugin."""

    kind: str
    name: str
    revision: int
    digest: str


def published_folder() -> Path:
    """The folder of all live plugins, for ``BRAINSCORE_PLUGINS``: ``models/``, ``benchmarks/`` and so on."""
    live = _live()
    return _create_once(_sets() / _digest(live), lambda folder: _link_plugins(live, folder))


def unpacked(revision: Revision) -> Path:
    """The folder of the plugins of one revision, with the same layout."""
    return _unpacked(revision.pk, revision.digest)


def folder_with(revision: Revision) -> Path:
    """What `published_folder` would return if this revision were live: its plugins replace those of the same name."""
    return _with(revision, _live())


def folder_shown_to(revision: Revision) -> Path:
    """The folder of plugins that tests of a revision may read, with the same layout; its submitter sees their output.

    It has the plugins of the revision, live plugins of the user who sent it or of the submission's lab, and the live
    data and metrics of others, except those that name private files. Models and benchmarks of others are not shown.
    """
    used = Q(kind__in=(PluginKind.DATA, PluginKind.METRICS))
    lab = revision.submission.lab_id
    yours = Q(owner=revision.by_id, owner__isnull=False) | Q(lab=lab, lab__isnull=False)
    rows = Plugin.objects.filter(used | yours).order_by("kind", "name")
    with_private_files = {
        step.revision_id
        for step in Step.objects.filter(revision__in=rows.exclude(yours).values("revision"), kind=Step.Kind.CHECK)
        if any(file.get("private") for file in step.result.get("files", ()))
    }
    shown = rows.filter(yours | ~Q(revision__in=with_private_files))
    return _with(
        revision, [_LivePlugin(*row) for row in shown.values_list("kind", "name", "revision_id", "revision__digest")]
    )


def _with(revision: Revision, live: list[_LivePlugin]) -> Path:
    plugins = {(plugin["kind"], plugin["name"]) for plugin in revision.plugins}
    mine = [_LivePlugin(kind, name, revision.pk, revision.digest) for kind, name in plugins]
    all_of_them = sorted([*mine, *(plugin for plugin in live if (plugin.kind, plugin.name) not in plugins)])
    return _create_once(_sets() / _digest(all_of_them), lambda folder: _link_plugins(all_of_them, folder))


def delete_unused_folders() -> int:
    """Remove folders that were not used for the time in the settings, and leftovers of killed processes."""
    return delete_old_folders(timezone.now() - timedelta(days=settings.OPERATIONS["folders"]))


def delete_old_folders(before: datetime, *, dry: bool = False) -> int:
    """Remove folders of plugins that have not been used for some time."""
    live, old, abandoned = _live(), before.timestamp(), time.time() - STALE
    digests = {_digest(live), *(plugin.digest for plugin in live)}
    folders = [*_sets().glob("*"), *(_home() / "revisions").glob("*")]
    unused = [path for path in folders if path.name not in digests and _is_older(path, old)]
    unused += [path for path in _home().glob(f".*{PART_SUFFIX}") if _is_older(path, abandoned)]
    if not dry:
        for path in unused:
            _remove(path)
    return len(unused)


def _home() -> Path:
    return Path(settings.SUBMISSIONS["folder"]).expanduser().absolute()


def _aside() -> Path:
    return _home() / f".{uuid.uuid4().hex}{PART_SUFFIX}"


def _sets() -> Path:
    return _home() / "live"


def _live() -> list[_LivePlugin]:
    rows = Plugin.objects.order_by()
    return sorted(_LivePlugin(*row) for row in rows.values_list("kind", "name", "revision_id", "revision__digest"))


def _digest(live: list[_LivePlugin]) -> str:
    content = [[plugin.kind, plugin.name, plugin.digest] for plugin in live]
    return hashlib.sha256(json.dumps(content).encode()).hexdigest()


def _unpacked(key: int, digest: str) -> Path:
    from brainscore_core.submission import unpack

    def write(folder: Path) -> None:
        archive = Revision.objects.values_list("archive", flat=True).get(pk=key)
        unpack(bytes(archive), folder)
        _sync_to_disk(folder)

    return _create_once(_home() / "revisions" / digest, write)


def _link_plugins(live: list[_LivePlugin], folder: Path) -> None:
    folder.chmod(0o755)
    for kind in PluginKind.values:
        (folder / kind).mkdir()
        (folder / kind).chmod(0o755)
    for plugin in live:
        source = _unpacked(plugin.revision, plugin.digest) / plugin.kind / plugin.name
        # hard links: copies would need the space twice, and symbolic links would not resolve in a sandbox
        shutil.copytree(source, folder / plugin.kind / plugin.name, copy_function=_link, ignore=_BYTE_CODE)


def _link(source: str, target: str) -> None:
    try:
        os.link(source, target)
    except OSError:  # no hard links, or too many of them; if the disk is full, copying raises
        shutil.copy2(source, target)


def _create_once(place: Path, write: Callable[[Path], None]) -> Path:
    """Return a folder, creating it if it does not exist."""
    with suppress(FileNotFoundError):
        if time.time() - place.stat().st_mtime > _TOUCHED:
            os.utime(place)  # marks it as used, so that it is not removed
        return place
    aside = _aside()
    try:
        aside.mkdir(parents=True)
        write(aside)
        place.parent.mkdir(parents=True, exist_ok=True)
        try:
            os.rename(aside, place)
        except OSError:
            if not place.is_dir():  # otherwise another process has created the same folder
                raise
    finally:
        shutil.rmtree(aside, ignore_errors=True)
    return place


def _sync_to_disk(folder: Path) -> None:
    """Write files to disk before the folder gets its final name, and let the user of a sandbox read them."""
    for path in (folder, *folder.rglob("*")):
        path.chmod(0o755 if path.is_dir() else 0o644)
        if path.is_file():
            with path.open("rb") as stream:
                os.fsync(stream.fileno())


def _is_older(path: Path, limit: float) -> bool:
    try:
        return path.stat().st_mtime < limit
    except FileNotFoundError:
        return False


def _remove(path: Path) -> None:
    """Remove a folder; it is renamed first, so that no process sees a partial one."""
    with suppress(FileNotFoundError):
        if not path.name.endswith(PART_SUFFIX):
            path = path.rename(_aside())
        shutil.rmtree(path, ignore_errors=True)
