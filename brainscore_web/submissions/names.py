"""Which identifiers and plugin names are taken: the platform, live plugins, models and benchmarks, open submissions."""

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
    """Return a function that says who has an identifier, for `examine`.

    Parameters
    ----------
    package : Package
        The submitted package.
    owner : User or None
        Its submitter. The identifiers of their own live plugin that they submit again are not taken.
    submission : Submission, optional
        The submission it belongs to. Of two open submissions, the older one has the name.

    Returns
    -------
    callable
        ``taken(registry, key)``, a description of who has it, or None if it is free.
    """
    asked = {(entry.registry, entry.key) for plugin in package.plugins for entry in plugin.registrations}
    mine = {(str(plugin.kind), plugin.name) for plugin in package.plugins}
    own: set[_Key] = set()
    holder_of: dict[_Key, str] = {}
    for plugin in _live(mine):
        keys = set(_keys(plugin["revision__plugins"], plugin["kind"], plugin["name"])) & asked
        yours = owner is not None and plugin["owner"] == owner.pk
        if yours and (plugin["kind"], plugin["name"]) in mine:
            own |= keys
        else:
            whose = f"your plugin {plugin['kind']}/{plugin['name']}" if yours else "a plugin of another member"
            holder_of.update(dict.fromkeys(keys, whose))
    for plugins in _open(owner, submission):
        for plugin in plugins:
            for key in set(_keys([plugin], plugin["kind"], plugin["name"])) & asked:
                holder_of.setdefault(key, "an open submission of another member")
    for key in _on_the_board(asked, owner):
        holder_of.setdefault(key, "an entry of this site's leaderboard that is not yours")
    for key, other in _looking_alike(asked - own, mine, _open(owner, submission)):
        holder_of.setdefault(key, f"it looks like {other!r}, which is already in use")

    def taken(registry: str, key: str) -> str | None:
        if (registry, key) in holder_of:
            return holder_of[registry, key]
        return None if (registry, key) in own else registered_here(registry, key)

    return taken


def clashes(package: Package, *, owner: User | None, submission: Submission | None = None) -> tuple[Finding, ...]:
    """Find plugins whose folder name is taken, and note which ones are new versions of the owner's live plugins."""
    mine = {(str(plugin.kind), plugin.name) for plugin in package.plugins}
    found: dict[_Key, Finding] = {}
    for plugin in _live(mine):
        key = (plugin["kind"], plugin["name"])
        if key not in mine:
            continue
        if owner is not None and plugin["owner"] == owner.pk:
            message = "this replaces your live plugin of the same name when it is published"
            found[key] = _finding("note", "new version", key, message, "no action is needed")
        else:
            found[key] = _taken(key, "a plugin of another member")
    here = Path(str(brainscore_vision.__file__)).parent
    for kind, name in mine - set(found):
        if (here / kind / name).is_dir():  # two folders of one name cannot both be imported
            found[kind, name] = _taken((kind, name), "the platform")
    for plugins in _open(owner, submission):
        for plugin in plugins:
            key = (plugin["kind"], plugin["name"])
            if key in mine and key not in found:
                found[key] = _taken(key, "an open submission of another member")
    return tuple(found[key] for key in sorted(found))


def _taken(key: _Key, who: str) -> Finding:
    return _finding(
        "error", "name of a plugin", key, f"{who} already has a folder {key[0]}/{key[1]}", "rename your folder"
    )


def _finding(severity: Any, check: str, key: _Key, message: str, remedy: str) -> Finding:
    return Finding(severity, check, f"{key[0]}/{key[1]}/__init__.py", None, message, remedy)


def _live(mine: set[_Key]) -> Iterator[dict[str, Any]]:
    kinds = {kind for kind, _name in mine}
    rows = Plugin.objects.filter(kind__in=kinds).order_by("kind", "name")
    yield from rows.values("kind", "name", "owner", "revision__plugins").iterator()


def _open(owner: User | None, submission: Submission | None) -> list[list[dict[str, Any]]]:
    """Plugins of the newest revisions of open submissions of other users."""
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
            for entry in plugin["registrations"]:
                yield entry["registry"], entry["key"]


def _looking_alike(asked: set[_Key], mine: set[_Key], open_ones: list[list[Any]]) -> Iterator[tuple[_Key, str]]:
    """Find identifiers that look like one of the live plugins (except these), the leaderboard, or open submissions."""
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
    """Models and benchmarks on the leaderboard, which may come from receipts or the catalogue."""
    for word, table in (("model", VisionModel), ("benchmark", Benchmark)):
        keys = {key: registry for registry, key in asked if registry.startswith(word)}
        rows: Any = table._default_manager.filter(identifier__in=keys)
        if owner is not None:
            rows = rows.exclude(owner=owner)
        for identifier in rows.order_by("identifier").values_list("identifier", flat=True):
            yield keys[identifier], identifier
