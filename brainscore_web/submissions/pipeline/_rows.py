"""Rows of what goes live: plugins, models, benchmarks. In the transaction that publishes."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from django.db.models import Q
from django.utils import timezone

from brainscore_core.errors import UserError
from brainscore_web.leaderboard.models import Benchmark, BenchmarkVersion, Visibility, VisionModel
from brainscore_web.leaderboard.nodes import nodes, placement
from brainscore_web.leaderboard.synced import fill_in
from brainscore_web.submissions.models import Plugin, PluginKind, Revision
from brainscore_web.submissions.pipeline._described import Facts, facts_of, of_benchmark, of_model, texts_in
from brainscore_web.submissions.publishing import hash_of
from brainscore_web.uploads.models import Upload

__all__ = ["Described", "describe", "write_rows"]

_MODELS, _BENCHMARKS = "model_registry", "benchmark_registry"


class Described:
    """What is read of a plugin before the transaction.

    Attributes
    ----------
    kind, name : str
        The plugin's.
    code : str
        Hash of its files.
    keys : list of (str, str)
        Registries and identifiers.
    values : dict
        Registry and identifier → attributes of the row.
    facts : dict
        Identifier → what its source says.
    texts : set of str
        All texts in its source.
    """

    def __init__(self, plugin: Mapping[str, Any], folder: Path, about: Mapping[str, Any]) -> None:
        self.kind, self.name = plugin["kind"], plugin["name"]
        self.code = hash_of(folder)
        self.keys = [(one["registry"], one["key"]) for one in plugin["registrations"]]
        readers = {_MODELS: of_model, _BENCHMARKS: of_benchmark}
        self.values = {
            (registry, key): readers[registry](_dictionary(about.get(key)), folder)
            for registry, key in self.keys
            if registry in readers
        }
        self.facts = facts_of(folder) if self.kind == PluginKind.BENCHMARKS else {}
        self.texts = texts_in(folder)


def describe(revision: Revision, root: Path, said: Mapping[str, Any]) -> list[Described]:
    """Read the plugins of a revision.

    Parameters
    ----------
    revision : Revision
        Of which.
    root : pathlib.Path
        Where it is unpacked.
    said : mapping
        Plugin → identifier → what it said of itself in the cage.
    """
    found = []
    for plugin in revision.plugins:
        path = f"{plugin['kind']}/{plugin['name']}"
        found.append(Described(plugin, root / path, _dictionary(said.get(path))))
    return found


def write_rows(revision: Revision, plugins: list[Described], *, private_files: bool) -> None:
    """Make a revision's plugins live, with rows for its models and benchmarks.

    Parameters
    ----------
    revision : Revision
        That goes live.
    plugins : list of Described
        Its plugins.
    private_files : bool
        Whether it names files that are private uploads.

    Raises
    ------
    UserError
        If somebody else has a name; names were looked up before, in the same transaction.
    """
    owner, now = revision.submission.owner, timezone.now()
    withheld = private_files or _names_private(set().union(*(plugin.texts for plugin in plugins)))
    means = nodes().ids if any(plugin.kind == PluginKind.BENCHMARKS for plugin in plugins) else {}
    for plugin in plugins:
        identifiers = sorted({key for _registry, key in plugin.keys})
        values = {"revision": revision, "identifiers": identifiers, "code": plugin.code, "published": now}
        row, new = Plugin.objects.get_or_create(
            kind=plugin.kind, name=plugin.name, defaults={**values, "owner": owner}
        )  # fmt: skip
        if not new:
            if owner is None or row.owner_id != owner.pk:
                raise UserError(f"{row} is somebody else's", remedy="rename the folder")
            for name, value in values.items():
                setattr(row, name, value)
            row.save()
        for registry, key in plugin.keys:
            if registry == _MODELS:
                _model(revision, plugin, key)
            elif registry == _BENCHMARKS:
                _benchmark(revision, plugin, key, means, withheld=withheld)


def _model(revision: Revision, plugin: Described, key: str) -> None:
    submission = revision.submission
    row = VisionModel.objects.filter(identifier=key).first() or VisionModel(
        identifier=key, owner=submission.owner, visibility=submission.visibility
    )
    fill_in(row, {**plugin.values[_MODELS, key], "plugin": plugin.name})
    row.plugin, row.runnable = plugin.name, True
    if submission.visibility == Visibility.PRIVATE:
        row.visibility = Visibility.PRIVATE
    row.save()


def _benchmark(revision: Revision, plugin: Described, key: str, means: Mapping[str, int], *, withheld: bool) -> None:
    owner = revision.submission.owner
    row = Benchmark.objects.filter(identifier=key).first()
    if row is None:
        row = Benchmark(identifier=key, owner=owner, access=Visibility.PUBLIC)
        row.credit = owner.public_name[:500] if owner is not None else ""
    elif row.is_mean:
        raise UserError(f"{key} is a mean of the leaderboard's tree", remedy="give the benchmark another identifier")
    facts = plugin.facts.get(key) or plugin.facts.get("") or Facts()
    place = placement(key, means, parent=facts.parent, version=facts.version)
    values = {**plugin.values[_BENCHMARKS, key], "plugin": plugin.name}
    if row.pk is None or facts.parent:
        values |= {"parent_id": place.parent_id, "in_tree": place.in_tree}
    access = values.pop("access", None)
    fill_in(row, values)
    row.plugin = plugin.name
    if facts.version:
        row.version = facts.version[:50]  # scores of another version count no more
    if withheld or access == Visibility.PRIVATE:
        row.access = Visibility.PRIVATE
    row.save()
    if row.version:
        BenchmarkVersion.objects.get_or_create(benchmark=row, version=row.version, defaults={"since": timezone.now()})


def _names_private(texts: set[str]) -> bool:
    """Whether a text is the name of a private upload."""
    private = Upload.objects.filter(visibility=Visibility.PRIVATE, state=Upload.State.ACCEPTED)
    some = sorted(text for text in texts if 0 < len(text) <= 200)
    return any(
        private.filter(Q(identifier__in=some[at : at + 400]) | Q(assembly_identifier__in=some[at : at + 400])).exists()
        for at in range(0, len(some), 400)
    )


def _dictionary(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}
