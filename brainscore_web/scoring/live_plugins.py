"""The live plugins that a worker scores with: their folder, versions and uploaded files.

They are not imported here. Submitted code runs only in separate scoring processes, and models in a sandbox.
"""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path

from django.db.models import Q

from brainscore_core.domains import domains
from brainscore_core.files import replacing
from brainscore_core.paths import cache_home
from brainscore_core.plugins.source import plugin_hash, scan_file
from brainscore_core.scoring import Receipt
from brainscore_web.leaderboard.models import Visibility, chunks
from brainscore_web.submissions.models import Plugin, PluginKind
from brainscore_web.submissions.plugin_folders import published_folder
from brainscore_web.uploads.models import Upload, UploadedFile
from brainscore_web.uploads.storage import storage

VARIABLE, REPLACE = "BRAINSCORE_PLUGINS", "BRAINSCORE_PLUGINS_REPLACE"
_REGISTRIES = {
    "benchmark": "benchmark_registry",
    "data": "data_registry",
    "metric": "metric_registry",
    "model": "model_registry",
    "stimulus_set": "stimulus_set_registry",
}


@dataclass(frozen=True)
class LivePlugins:
    """All live plugins."""

    folder: Path  # the folder with ``models/``, ``benchmarks/`` and so on; its content never changes
    # for submitted models: name of the plugin's folder → primary key of its revision
    revisions: dict[str, int] = field(default_factory=dict, compare=False)
    _hashes: dict[Path, str | None] = field(default_factory=dict, compare=False)

    @property
    def variable(self) -> str:
        """The value of ``BRAINSCORE_PLUGINS`` for scoring processes."""
        return os.pathsep.join(filter(None, [str(self.folder), os.environ.get(VARIABLE, "")]))

    @property
    def environment(self) -> dict[str, str]:
        """Variables of scoring processes, in which no submitted plugin takes the place of a built-in one."""
        return {VARIABLE: self.variable, REPLACE: "0"}

    def folder_of(self, kind: str, identifier: str) -> Path | None:
        """Return the folder of the plugin that registers an identifier, without importing it."""
        registry = _REGISTRIES.get(kind, "")
        if (registry, identifier) in _registered_in(self.folder):
            return _registered_in(self.folder)[registry, identifier]
        installed = (each.plugin_index.locations(registry).get(identifier) for each in domains() if registry)
        locations = next(filter(None, installed), None)
        return locations[0].folder if locations else None

    def version_of(self, benchmark: str) -> int | str | None:
        """Return the version of a benchmark in the leaderboard's tree, if known."""
        versions = [version(benchmark) for version in _versions()]
        return next((version for version in versions if version is not None), None)

    def is_submitted(self, identifier: str) -> bool:
        """Whether a model must run in a sandbox: its code was submitted, or its origin is unknown."""
        folder = self.folder_of("model", identifier)
        return folder is None or folder.is_relative_to(self.folder)

    def revision_of(self, identifier: str) -> int | None:
        """Return the primary key of a submitted model's revision."""
        folder = self.folder_of("model", identifier)
        return None if folder is None or not folder.is_relative_to(self.folder) else self.revisions.get(folder.name)

    def made(self, receipt: Receipt) -> bool:
        """Whether a receipt was made with the current code of model and benchmark, as far as it states them."""
        for kind, info in (("model", receipt.model), ("benchmark", receipt.benchmark)):
            folder = self.folder_of(kind, info.identifier)
            if folder is not None and info.plugin is not None and info.plugin.sha256 != self._hash(folder):
                return False
        return True

    def _hash(self, folder: Path) -> str | None:
        if folder not in self._hashes:
            self._hashes[folder] = plugin_hash(folder)
        return self._hashes[folder]


def current_live_plugins() -> LivePlugins:
    """Return the plugins that are live now."""
    folder = published_folder()
    rows = Plugin.objects.filter(kind=PluginKind.MODELS).order_by("name").values_list("name", "revision")
    return LivePlugins(folder, dict(rows))


@lru_cache(maxsize=4)
def _registered_in(folder: Path) -> dict[tuple[str, str], Path]:
    """Return the registrations of the plugins in a folder: (registry, key) → the plugin's folder."""
    folders: dict[tuple[str, str], Path] = {}
    for kind in PluginKind.values:
        for file in sorted((folder / kind).glob("*/__init__.py")):
            for entry in scan_file(file, list(_REGISTRIES.values())).registrations:
                folders.setdefault((entry.registry, entry.key), file.parent)
    return folders


@lru_cache(maxsize=1)
def _versions() -> tuple[Callable[[str], int | str | None], ...]:
    from brainscore_core.runner.selection import version_finder

    return tuple(version_finder(each) for each in domains())


_HASH = re.compile(rb"(?<![0-9a-f])(?:[0-9a-f]{64}|[0-9a-f]{40})(?![0-9a-f])")
_LARGEST = 5_000_000  # bytes of a source file
_SOURCES = (".py", ".csv", ".json", ".toml", ".yaml", ".yml")


def cache_uploaded_files(folder: Path) -> int:
    """Copy uploaded files into the cache, if their hashes are in live plugins of data, benchmarks or metrics."""
    count = 0
    rows = Plugin.objects.exclude(kind=PluginKind.MODELS).order_by("kind", "name")
    for kind, name, owner in rows.values_list("kind", "name", "owner"):
        for file in _uploaded_files(set(_hashes(folder / kind / name)), owner):
            count += _cache_file(file)
    return count


def _hashes(folder: Path) -> Iterator[str]:
    for path in sorted(folder.rglob("*")):
        if path.suffix in _SOURCES and path.is_file() and path.stat().st_size <= _LARGEST:
            yield from (digest.decode() for digest in _HASH.findall(path.read_bytes().lower()))


def _uploaded_files(hashes: set[str], owner: int | None) -> Iterable[UploadedFile]:
    files: dict[int, UploadedFile] = {}
    of_owner = Q(upload__owner=owner, upload__owner__isnull=False)
    for batch in chunks(sorted(hashes)):
        rows = UploadedFile.objects.select_related("upload").filter(
            Q(sha1__in=batch) | Q(sha256__in=batch),
            of_owner | Q(upload__visibility=Visibility.PUBLIC),
            upload__state=Upload.State.ACCEPTED,
            size__isnull=False,
        )
        files |= {row.pk: row for row in rows.order_by("pk")}
    return files.values()


def _cache_file(file: UploadedFile) -> int:
    """Put a file into the cache under both of its hashes."""
    paths = [cache_home() / digest / file.key.rpartition("/")[2] for digest in (file.sha1, file.sha256) if digest]
    missing = [path for path in paths if not (path.is_file() and path.stat().st_size == file.size)]
    if not missing:
        return 0
    with storage().at_hand(file.token, file.key, file.version_id) as there:
        first, *copies = missing
        with there.path.open("rb") as source, replacing(first) as target:
            shutil.copyfileobj(source, target, 1 << 20)
    for copy in copies:
        copy.parent.mkdir(parents=True, exist_ok=True)
        copy.unlink(missing_ok=True)
        copy.hardlink_to(first)
    return 1
