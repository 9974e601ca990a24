"""The plugins that are live at a moment, as a worker needs them: where they are, and which receipts they made.

Nothing of them is imported here, and this process never looks for plugins among them: what was submitted runs in
processes that score, models in a cage.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path

from brainscore_core.plugins._static import scan_file
from brainscore_core.scoring import Receipt
from brainscore_core.scoring._plugin_code import describe_plugin
from brainscore_web.submissions.models import Plugin, PluginKind

__all__ = ["VARIABLE", "Live", "live_now"]

VARIABLE = "BRAINSCORE_PLUGINS"
_REGISTRIES = {
    "benchmark": "benchmark_registry",
    "data": "data_registry",
    "metric": "metric_registry",
    "model": "model_registry",
    "stimulus_set": "stimulus_set_registry",
}


@dataclass(frozen=True)
class Live:
    """All live plugins.

    Attributes
    ----------
    folder : Path
        Holds ``models/``, ``benchmarks/`` and so on; its content never changes.
    revisions : mapping
        Of submitted models: name of the plugin's folder → primary key of its revision.
    """

    folder: Path
    revisions: dict[str, int] = field(default_factory=dict, compare=False)
    _hashes: dict[Path, str | None] = field(default_factory=dict, compare=False)

    @property
    def variable(self) -> str:
        """``BRAINSCORE_PLUGINS`` of processes that score."""
        return os.pathsep.join(filter(None, [str(self.folder), os.environ.get(VARIABLE, "")]))

    def folder_of(self, kind: str, identifier: str) -> Path | None:
        """Folder of the plugin that registers something; nothing is imported for it."""
        from brainscore_vision import plugin_index

        registry = _REGISTRIES.get(kind, "")
        if (registry, identifier) in _registered_in(self.folder):
            return _registered_in(self.folder)[registry, identifier]
        places = plugin_index.locations(registry).get(identifier, ()) if registry else ()
        return places[0].folder if places else None

    def version_of(self, benchmark: str) -> int | str | None:
        """Version of a benchmark, where the leaderboard's tree knows it."""
        return _versions()(benchmark)

    def is_submitted(self, identifier: str) -> bool:
        """Whether a model's code was submitted, or it is not known whose it is: it is run in a cage."""
        folder = self.folder_of("model", identifier)
        return folder is None or folder.is_relative_to(self.folder)

    def revision_of(self, identifier: str) -> int | None:
        """Primary key of the revision that a submitted model is of."""
        folder = self.folder_of("model", identifier)
        return None if folder is None or not folder.is_relative_to(self.folder) else self.revisions.get(folder.name)

    def made(self, receipt: Receipt) -> bool:
        """Whether the code of model and benchmark was that of now, as far as the receipt says."""
        for kind, info in (("model", receipt.model), ("benchmark", receipt.benchmark)):
            folder = self.folder_of(kind, info.identifier)
            if folder is not None and info.plugin is not None and info.plugin.sha256 != self._hash(folder):
                return False
        return True

    def _hash(self, folder: Path) -> str | None:
        if folder not in self._hashes:
            self._hashes[folder] = describe_plugin(folder).sha256
        return self._hashes[folder]


def live_now() -> Live:
    """What is live now."""
    from brainscore_web.submissions import pipeline

    folder = pipeline.published_folder()
    rows = Plugin.objects.filter(kind=PluginKind.MODELS).order_by("name").values_list("name", "revision")
    return Live(folder, dict(rows))


@lru_cache(maxsize=4)
def _registered_in(folder: Path) -> dict[tuple[str, str], Path]:
    """Which plugin of a folder registers what: (registry, key) → its folder."""
    found: dict[tuple[str, str], Path] = {}
    for kind in PluginKind.values:
        for file in sorted((folder / kind).glob("*/__init__.py")):
            for one in scan_file(file, list(_REGISTRIES.values())).registrations:
                found.setdefault((one.registry, one.key), file.parent)
    return found


@lru_cache(maxsize=1)
def _versions() -> Callable[[str], int | str | None]:
    from brainscore_vision.leaderboard import leaderboard_tree
    from brainscore_vision.pair_selection import version_finder

    return version_finder(leaderboard_tree())
