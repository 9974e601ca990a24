"""Lets scoring find the site's own data without the network: files that live plugins name are put into the cache.

Loaders look into the cache of fetched files, by hash, before they ask anybody. A file that is private is put there only
for plugins of its own owner. Models in a cage do not see the cache.
"""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterable, Iterator
from pathlib import Path

from django.db.models import Q

from brainscore_core.files import replacing
from brainscore_core.paths import cache_home
from brainscore_web.leaderboard.models import Visibility
from brainscore_web.submissions.models import Plugin, PluginKind
from brainscore_web.uploads.models import Upload, UploadedFile
from brainscore_web.uploads.storage import storage

__all__ = ["hand_out"]

_HASH = re.compile(rb"(?<![0-9a-f])(?:[0-9a-f]{64}|[0-9a-f]{40})(?![0-9a-f])")
_LARGEST = 5_000_000  # bytes of a source file
_SOURCES = (".py", ".csv", ".json", ".toml", ".yaml", ".yml")
_AT_ONCE = 300


def hand_out(folder: Path) -> int:
    """Put files of this site into the cache: those whose hashes stand in live plugins of data, benchmarks and metrics.

    Parameters
    ----------
    folder : Path
        Of all live plugins.

    Returns
    -------
    int
        How many files were put there; those that are there already are not touched.

    Raises
    ------
    StorageFailure
        If the storage does not answer.
    OSError
        If the cache cannot be written.
    """
    count = 0
    rows = Plugin.objects.exclude(kind=PluginKind.MODELS).order_by("kind", "name")
    for kind, name, owner in rows.values_list("kind", "name", "owner"):
        for file in _files(set(_hashes(folder / kind / name)), owner):
            count += _put(file)
    return count


def _hashes(folder: Path) -> Iterator[str]:
    for path in sorted(folder.rglob("*")):
        if path.suffix in _SOURCES and path.is_file() and path.stat().st_size <= _LARGEST:
            yield from (found.decode() for found in _HASH.findall(path.read_bytes().lower()))


def _files(hashes: set[str], owner: int | None) -> Iterable[UploadedFile]:
    found: dict[int, UploadedFile] = {}
    known = sorted(hashes)
    own = Q(upload__owner=owner, upload__owner__isnull=False)
    for start in range(0, len(known), _AT_ONCE):
        part = known[start : start + _AT_ONCE]
        rows = UploadedFile.objects.select_related("upload").filter(
            Q(sha1__in=part) | Q(sha256__in=part),
            own | Q(upload__visibility=Visibility.PUBLIC),
            upload__state=Upload.State.ACCEPTED,
            size__isnull=False,
        )
        found |= {row.pk: row for row in rows.order_by("pk")}
    return found.values()


def _put(file: UploadedFile) -> int:
    """Put a file where it is looked for by either of its hashes."""
    wanted = [cache_home() / digest / file.key.rpartition("/")[2] for digest in (file.sha1, file.sha256) if digest]
    missing = [path for path in wanted if not (path.is_file() and path.stat().st_size == file.size)]
    if not missing:
        return 0
    with storage().at_hand(file.token, file.key, file.version_id) as there:
        first, *others = missing
        with there.path.open("rb") as source, replacing(first) as target:
            shutil.copyfileobj(source, target, 1 << 20)
    for other in others:
        other.parent.mkdir(parents=True, exist_ok=True)
        other.unlink(missing_ok=True)
        other.hardlink_to(first)
    return 1
