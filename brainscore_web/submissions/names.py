"""Who has an identifier or a plugin's name: the platform, live plugins, models and benchmarks, open submissions."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from django.db.models import Q

import brainscore_vision
from brainscore_core.identifiers import confusable_form
from brainscore_vision.submission import Finding, Package, registered_here
from brainscore_web.accounts.models import User
from brainscore_web.leaderboard.models import Benchmark, VisionModel
from brainscore_web.submissions.models import Plugin, Revision, Submission
from brainscore_web.submissions.quota import CLOSED

__all__ = ["clashes", "holders"]

_Key = tuple[str, str]


def holders(package: Package, *, owner: User | None, submission: Submission | None = None) -> Callable[..., str | None]:
    """Answer who has an identifier already, as `examine` asks.

    Parameters
    ----------
    package : Package
        What is submitted.
    owner : User or None
        By whom: a live plugin of theirs that is sent again is no other.
    submission : Submission, optional
        Which submission it belongs to. Of two open ones, the older has the name.

    Returns
    -------
    callable
        ``taken(registry, key)``, in words who has it; None where it is free.
    """
    asked = {(one.registry, one.key) for plugin in package.plugins for one in plugin.registrations}
    mine = {(str(plugin.kind), plugin.name) for plugin in package.plugins}
    own: set[_Key] = set()
    found: dict[_Key, str] = {}
    for plugin in _live(mine):
        keys = set(_keys(plugin["revision__plugins"], plugin["kind"], plugin["name"])) & asked
        yours = owner is not None and plugin["owner"] == owner.pk
        if yours and (plugin["kind"], plugin["name"]) in mine:
            own |= keys
        else:
            whose = f"your plugin {plugin['kind']}/{plugin['name']}" if yours else "a plugin of another member"
            found.update(dict.fromkeys(keys, whose))
    for plugins in _open(owner, submission):
        for plugin in plugins:
            for key in set(_keys([plugin], plugin["kind"], plugin["name"])) & asked:
                found.setdefault(key, "an open submission of another member")
    for key in _on_the_board(asked, owner):
        found.setdefault(key, "this site's leaderboard, where it is not yours")
    for key, other in _looking_alike(asked - own, mine, _open(owner, submission)):
        found.setdefault(key, f"it looks like {other!r}, which others know already")

    def taken(registry: str, key: str) -> str | None:
        if (registry, key) in found:
            return found[registry, key]
        return None if (registry, key) in own else registered_here(registry, key)

    return taken


def clashes(package: Package, *, owner: User | None, submission: Submission | None = None) -> tuple[Finding, ...]:
    """Find plugins whose folder's name others have; say of which live plugins these are new versions."""
    mine = {(str(plugin.kind), plugin.name) for plugin in package.plugins}
    found: dict[_Key, Finding] = {}
    for plugin in _live(mine):
        key = (plugin["kind"], plugin["name"])
        if key not in mine:
            continue
        if owner is not None and plugin["owner"] == owner.pk:
            message = "your live plugin of this name is replaced once this is published"
            found[key] = _finding("note", "new version", key, message, "nothing is to be done")
        else:
            found[key] = _taken(key, "a plugin of another member")
    here = Path(str(brainscore_vision.__file__)).parent
    for kind, name in mine - set(found):
        if (here / kind / name).is_dir():  # of two folders only one could be imported
            found[kind, name] = _taken((kind, name), "the platform")
    for plugins in _open(owner, submission):
        for plugin in plugins:
            key = (plugin["kind"], plugin["name"])
            if key in mine and key not in found:
                found[key] = _taken(key, "an open submission of another member")
    return tuple(found[key] for key in sorted(found))


def _taken(key: _Key, who: str) -> Finding:
    return _finding("error", "name of a plugin", key, f"{who} has a folder {key[0]}/{key[1]}", "rename your folder")


def _finding(severity: Any, check: str, key: _Key, message: str, remedy: str) -> Finding:
    return Finding(severity, check, f"{key[0]}/{key[1]}/__init__.py", None, message, remedy)


def _live(mine: set[_Key]) -> Iterator[dict[str, Any]]:
    kinds = {kind for kind, _name in mine}
    rows = Plugin.objects.filter(kind__in=kinds).order_by("kind", "name")
    yield from rows.values("kind", "name", "owner", "revision__plugins").iterator()


def _open(owner: User | None, submission: Submission | None) -> list[list[dict[str, Any]]]:
    """Plugins of the newest revisions of others' open submissions."""
    rows = Revision.objects.exclude(submission__state__in=CLOSED)
    if owner is not None:
        rows = rows.exclude(submission__owner=owner)
    if submission is not None:
        same = Q(submission__created=submission.created, submission__lt=submission.pk)
        rows = rows.filter(Q(submission__created__lt=submission.created) | same)
    newest = dict(rows.order_by("submission", "number").values_list("submission", "plugins"))
    return list(newest.values())


def _keys(plugins: list[dict[str, Any]], kind: str, name: str) -> Iterator[_Key]:
    for plugin in plugins:
        if (plugin["kind"], plugin["name"]) == (kind, name):
            for one in plugin["registrations"]:
                yield one["registry"], one["key"]


def _looking_alike(asked: set[_Key], mine: set[_Key], open_ones: list[list[Any]]) -> Iterator[tuple[_Key, str]]:
    """Names of which one could be taken for another: of live plugins but these, of the leaderboard, of open ones."""
    like = {(registry, confusable_form(key)): key for registry, key in asked}

    def others() -> Iterator[_Key]:
        for plugin in Plugin.objects.order_by("kind", "name").values("kind", "name", "revision__plugins").iterator():
            if (plugin["kind"], plugin["name"]) not in mine:
                yield from _keys(plugin["revision__plugins"], plugin["kind"], plugin["name"])
        for plugin in (one for plugins in open_ones for one in plugins):
            yield from _keys([plugin], plugin["kind"], plugin["name"])
        for registry, table in (("model_registry", VisionModel), ("benchmark_registry", Benchmark)):
            if any(one == registry for one, _key in asked):
                rows: Any = table._default_manager.order_by("identifier")
                yield from ((registry, one) for one in rows.values_list("identifier", flat=True).iterator())

    for registry, other in others():
        key = like.get((registry, confusable_form(other)))
        if key is not None and key != other:
            yield (registry, key), other


def _on_the_board(asked: set[_Key], owner: User | None) -> Iterator[_Key]:
    """Models and benchmarks that the site has from elsewhere: receipts, the catalogue."""
    for word, table in (("model", VisionModel), ("benchmark", Benchmark)):
        keys = {key: registry for registry, key in asked if registry.startswith(word)}
        rows: Any = table._default_manager.filter(identifier__in=keys)
        if owner is not None:
            rows = rows.exclude(owner=owner)
        for identifier in rows.order_by("identifier").values_list("identifier", flat=True):
            yield keys[identifier], identifier
