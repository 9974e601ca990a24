"""What there is to score: models and benchmarks of the platform and of live plugins, as far as the site scores them.

Nothing is imported: the platform's plugins are read by its static index, live ones stand in the tables.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from fnmatch import fnmatchcase
from typing import Any

from django.conf import settings

from brainscore_web.submissions.models import Plugin, PluginKind, Revision

__all__ = ["BENCHMARKS", "MODELS", "caged_models", "keys_of", "scored_identifiers"]

MODELS, BENCHMARKS = "model_registry", "benchmark_registry"


def keys_of(revision: Revision) -> dict[str, set[str]]:
    """What a revision registers: registry → keys."""
    found: dict[str, set[str]] = {}
    for one in revision.plugins:
        for registration in one.get("registrations", []):
            found.setdefault(registration["registry"], set()).add(registration["key"])
    return found


def _identifiers(registry: str, **conditions: Any) -> set[str]:
    """What live plugins register; all of them, or those of which the conditions are true."""
    found: set[str] = set()
    # not the archives, which may be large
    rows = Plugin.objects.filter(**conditions).order_by("pk").values_list("kind", "name", "revision__plugins")
    for kind, name, plugins in rows.iterator(chunk_size=200):
        found |= _keys(plugins, kind, name, registry)
    return found


def scored_identifiers(registry: str) -> set[str]:
    """All models, or all benchmarks, that the site scores: those that its settings name, and those of live plugins."""
    from brainscore_vision import plugin_index

    patterns = settings.SUBMISSIONS["models" if registry == MODELS else "benchmarks"]
    installed = {key for key in plugin_index.locations(registry) if _fits(key, patterns)}
    return installed | _identifiers(registry)


def caged_models() -> set[str]:
    """Models that were submitted: their code is run in a cage."""
    return _identifiers(MODELS, kind=PluginKind.MODELS)


def _keys(plugins: Iterable[Mapping[str, Any]], kind: str, name: str, registry: str) -> set[str]:
    return {
        registration["key"]
        for plugin in plugins
        if (plugin["kind"], plugin["name"]) == (kind, name)
        for registration in plugin.get("registrations", [])
        if registration["registry"] == registry
    }


def _fits(key: str, patterns: Iterable[str]) -> bool:
    return any(fnmatchcase(key, pattern) for pattern in patterns)
