"""The check step: examine code, fetch declared files, install requirements; no submitted code runs.

A submission is examined when it arrives; if that takes long, at the beginning of this step instead. It is examined
again in this step and before it is published, since its identifiers and plugin names may be taken meanwhile: by the
platform, live plugins, models and benchmarks of the leaderboard, or open submissions.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

from django.db import transaction
from django.db.models import Q

from brainscore_core.identifiers import similar_form
from brainscore_core.plugins.environments import (
    Environment,
    RequirementsError,
    RequirementsUnavailable,
    environment_of,
    plugin_requirements,
)
from brainscore_core.plugins.environments.requirements import Refusals, read_lines
from brainscore_core.submission import (
    Finding,
    Package,
    SubmittedPlugin,
    declared_files,
    examine_files,
    examine_identifiers,
    registered_here,
)
from brainscore_core.submission.package import sort_findings
from brainscore_web.accounts.models import User, owned_by
from brainscore_web.domains import package_folder
from brainscore_web.jobs.leases import Lease
from brainscore_web.leaderboard.models import Benchmark, VisionModel
from brainscore_web.submissions.declared_files import FetchedFile, fetch_declared_files, package_of
from brainscore_web.submissions.examining import (
    Git,
    Pull,
    Refused,
    Source,
    Zip,
    domain_of,
    examine,
    require_news,
    storable,
    title_of,
)
from brainscore_web.submissions.models import Plugin, Revision, Step, Submission, UnexaminedFiles
from brainscore_web.submissions.plugin_folders import unpacked
from brainscore_web.submissions.steps import Outcome, StepIsLong, StepLog, StepUnavailable

_Key = tuple[str, str]

_ALLOWED = frozenset({"--no-index", "--pre", "--prefer-binary", "--only-binary", "--require-hashes"})
_REMEDY = "name packages of the Python Package Index, or put a wheel into the plugin's folder"


def environment_for(folder: Path, *, say: Callable[[str], None]) -> Environment:
    """Find or create the environment of a plugin. The caller must release it."""
    files = plugin_requirements(folder)
    _refuse_addresses(files, folder.name)
    return environment_of(files, plugin=folder.name, on_progress=say)


def _refuse_addresses(files: tuple[Path, ...], plugin: str) -> None:
    refusals = Refusals(plugin)
    for line in read_lines(files, refusals):
        if line.option and line.option not in _ALLOWED:
            refusals.add(line, f"{line.option} installs from another source", _REMEDY)
        elif "://" in line.text:
            refusals.add(line, "an address installs from another source", _REMEDY)
    refusals.raise_any()


_PERMANENT_CHECKS = frozenset({"data in code", "domain", "layout", "link", "program", "size"})
"""Checks on arrival that cannot be repeated, since not all files are kept. Their errors stay with the revision."""


def check(lease: Lease[Step]) -> Outcome | None:
    """Run the check step."""
    revision = lease.row.revision
    try:
        _examine_arrived(lease)
    except Refused as error:
        finding = Finding("error", "examination", "", None, error.message, error.remedy or "send it again")
        return Outcome(passed=False, reason="it could not be examined", findings=[finding.as_dict()])
    submission, package, log = revision.submission, package_of(revision), StepLog(lease)
    new = examine_submission(package, owner=revision.by, submission=submission)
    # findings on arrival, such as files left out, cannot be found again in the archive
    on_arrival = [Finding.from_dict(one) for one in revision.findings]
    permanent = [one for one in on_arrival if one.severity != "error" or one.check in _PERMANENT_CHECKS]
    result: dict[str, Any] = {"files": [], "environments": []}
    if not _errors([*permanent, *new]):
        if not lease.row.long and _takes_long(package, unpacked(revision), revision):
            raise StepIsLong
        files = fetch_declared_files(package, revision, say=log.say, stopped=lease.is_lost)
        result["files"] = [one.as_dict() for one in files]
        new += [_fetch_finding(one) for one in files if not one.verified]
        result["environments"], refused = _environments(unpacked(revision), revision, log)
        new += refused
    findings = [one.as_dict() for one in sort_findings([*permanent, *new])]
    errors = len(_errors([*permanent, *new]))
    reason = f"{errors} {'errors' if errors > 1 else 'error'} found" if errors else ""
    return Outcome(passed=not errors, reason=reason, log=log.text, result=result, findings=findings)


def _takes_long(package: Package, root: Path, revision: Revision) -> bool:
    """Whether files are to be fetched or packages installed, which takes as long as other servers like."""
    plugins = (root / plugin["kind"] / plugin["name"] for plugin in revision.plugins)
    return bool(declared_files(package)) or any(plugin_requirements(folder) for folder in plugins)


def _examine_arrived(lease: Lease[Step]) -> None:
    """Examine the files of a revision for which its request did not wait, and store what was found."""
    revision = lease.row.revision
    arrived = UnexaminedFiles.objects.filter(revision=revision).first()
    if arrived is None:
        return
    source = _source_of(arrived)
    try:
        examined = examine(source)
    except Refused as error:
        if error.status == 503:
            raise StepUnavailable(error.message, internal=error.message) from error
        raise
    if examined is None:
        raise StepUnavailable("the submission could not be examined in time", internal="the site may be overloaded")
    if revision.number == 1:
        require_news(revision.submission.owner, {examined.digest}, but=revision.submission)
    values = {**examined.columns(sort_findings(examined.findings)), "address": storable(examined.address)[-500:]}
    for name, value in values.items():
        if name != "address" or value:
            setattr(revision, name, value)
    with transaction.atomic():
        if not lease.rows().select_for_update().exists():
            return
        revision.save(update_fields=list(values))
        Submission.objects.filter(pk=revision.submission_id).update(
            title=title_of(examined.plugins), domain=domain_of(examined.plugins)
        )
        if revision.needs_review:
            revision.steps.filter(kind=Step.Kind.REVIEW, state=Step.State.SKIPPED).update(state=Step.State.WAITING)
        arrived.delete()


def _source_of(arrived: UnexaminedFiles) -> Source:
    if arrived.revision.origin == Submission.Origin.ZIP:
        return Zip(bytes(arrived.content), arrived.name)
    return Git(arrived.name, arrived.commit) if arrived.revision.origin == Submission.Origin.GIT else Pull(arrived.name)


def _errors(found: list[Finding]) -> list[Finding]:
    return [finding for finding in found if finding.severity == "error"]


def _fetch_finding(one: FetchedFile) -> Finding:
    declared = one.declared
    remedy = one.remedy or "check the address and the hash"
    return Finding("error", "declared files", declared.file, declared.line, one.problem, remedy)


def _remedy_for_submitter(error: RequirementsError) -> str:
    """Return the remedy without settings of pip, which only operators can change."""
    lines = (error.remedy or "").splitlines()
    shown = [line for line in lines if "PIP_" not in line]
    if len(shown) < len(lines):
        shown.insert(0, "check the names and versions: only wheels from the package index are installed")
    return "\n".join(shown) or "change the versions so that they are compatible"


def _environments(root: Path, revision: Revision, log: StepLog) -> tuple[list[dict[str, Any]], list[Finding]]:
    results, refused = [], []
    for plugin in revision.plugins:
        path = f"{plugin['kind']}/{plugin['name']}"
        try:
            environment = environment_for(root / path, say=log.say)
        except RequirementsUnavailable as error:
            reason = f"the site could not install the requirements of {path}"
            raise StepUnavailable(reason, internal=str(error)) from error
        except RequirementsError as error:
            message = error.message.replace(f"{root}/", "")
            remedy = _remedy_for_submitter(error)
            log.say(f"{message}\n{remedy}")
            refused.append(Finding("error", "requirements", f"{path}/requirements.txt", None, message, remedy))
            continue
        for note in environment.notes:
            log.say(f"{path}: {note}".replace(f"{root}/", ""))
        results.append({"plugin": path, "key": environment.key, "installed": environment.installed})
        environment.release()
    return results, refused


def examine_submission(package: Package, *, owner: User | None, submission: Submission | None = None) -> list[Finding]:
    """Find problems of a submission from its source, and names that are taken on this site."""
    names = examine_names(package.plugins, owner=owner, submission=submission)
    return [*sort_findings([*names, *examine_files(package)])]


def examine_names(
    plugins: Sequence[SubmittedPlugin], *, owner: User | None, submission: Submission | None = None
) -> list[Finding]:
    """Find identifiers that are invalid or taken, and folder names that are taken on this site."""
    holders = _holders(plugins, owner=owner, submission=submission)
    clashes = _clashes(plugins, owner=owner, submission=submission)
    return [*examine_identifiers(plugins, taken=holders), *clashes]


def _holders(
    plugins: Sequence[SubmittedPlugin], *, owner: User | None, submission: Submission | None = None
) -> Callable[..., str | None]:
    """Return a function that says who has an identifier, for `examine_identifiers`."""
    asked = {(entry.registry, entry.key) for plugin in plugins for entry in plugin.registrations}
    mine = {(str(plugin.kind), plugin.name) for plugin in plugins}
    owned: set[_Key] = set()
    holder_of: dict[_Key, str] = {}
    for live in _live(set(mine)):
        keys = set(_keys(live["revision__plugins"], live["kind"], live["name"])) & asked
        yours = _is_owned(live, owner)
        if yours and (live["kind"], live["name"]) in mine:
            owned |= keys
        else:
            whose = f"your plugin {live['kind']}/{live['name']}" if yours else "a plugin of another member"
            holder_of.update(dict.fromkeys(keys, whose))
    for submitted in _open(owner, submission):
        for plugin in submitted:
            for key in set(_keys([plugin], plugin["kind"], plugin["name"])) & asked:
                holder_of.setdefault(key, "an open submission of another member")
    for key in _on_the_board(asked, owner):
        holder_of.setdefault(key, "an entry of this site's leaderboard that is not yours")
    for key, lookalike in _looking_alike(asked - owned, mine, _open(owner, submission)):
        holder_of.setdefault(key, f"it looks like {lookalike!r}, which is already in use")

    def taken(domain: str, registry: str, key: str) -> str | None:
        if (registry, key) in holder_of:
            return holder_of[registry, key]
        if (registry, key) in owned:
            return None
        return registered_here(domain, registry, key)

    return taken


def _clashes(
    plugins: Sequence[SubmittedPlugin], *, owner: User | None, submission: Submission | None = None
) -> tuple[Finding, ...]:
    """Find plugins whose folder name is taken, and note which ones are new versions of the owner's live plugins."""
    mine = {(str(plugin.kind), plugin.name): plugin.domain for plugin in plugins}
    like = {(kind, similar_form(name)): (kind, name) for kind, name in mine}
    holders: list[tuple[_Key, str]] = []
    findings: dict[_Key, Finding] = {}
    for live in _live(set(mine)):
        key, yours = (live["kind"], live["name"]), _is_owned(live, owner)
        if key in mine and yours and live["domain"] == mine[key]:
            message = "this replaces your live plugin of the same name when it is published"
            findings[key] = _finding("note", "new version", key, message, "no action is needed")
        else:
            holders.append((key, "your live plugin" if yours else "a plugin of another member"))
    for domain, kind in {(plugin.domain, str(plugin.kind)) for plugin in plugins}:
        # two folders of one name cannot both be imported
        here = package_folder(domain) / kind
        holders += [((kind, path.name), "the platform") for path in here.glob("*/")]
    for submitted in _open(owner, submission):
        holders += [((plugin["kind"], plugin["name"]), "an open submission of another member") for plugin in submitted]
    for other, who in holders:
        same = like.get((other[0], similar_form(other[1])))
        if same is not None:
            findings.setdefault(same, _taken(same, other, who))
    return tuple(findings[key] for key in sorted(findings))


def _taken(key: _Key, other: _Key, who: str) -> Finding:
    remedy = "rename your folder" + ("" if key == other else "; names that differ only in case or separators are equal")
    return _finding("error", "name of a plugin", key, f"{who} already has a folder {other[0]}/{other[1]}", remedy)


def _finding(severity: Any, check: str, key: _Key, message: str, remedy: str) -> Finding:
    return Finding(severity, check, f"{key[0]}/{key[1]}/__init__.py", None, message, remedy)


def _is_owned(live: dict[str, Any], owner: User | None) -> bool:
    return owner is not None and (live["owner"] == owner.pk or live["lab"] in owner.lab_keys)


def _live(mine: set[_Key]) -> Iterator[dict[str, Any]]:
    kinds = {kind for kind, _name in mine}
    rows = Plugin.objects.filter(kind__in=kinds).order_by("kind", "name")
    yield from rows.values("domain", "kind", "name", "owner", "lab", "revision__plugins").iterator()


def _open(owner: User | None, submission: Submission | None) -> list[list[dict[str, Any]]]:
    """Plugins of the newest revisions of open submissions of other users."""
    rows = Revision.objects.exclude(submission__state__in=Submission.CLOSED)
    if owner is not None:
        rows = rows.exclude(owned_by(owner, "submission__"))
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
    like = {(registry, similar_form(key)): key for registry, key in asked}

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
        key = like.get((registry, similar_form(other)))
        if key is not None and key != other:
            yield (registry, key), other


def _on_the_board(asked: set[_Key], owner: User | None) -> Iterator[_Key]:
    """Models and benchmarks on the leaderboard, which may come from receipts or the catalogue."""
    for word, table in (("model", VisionModel), ("benchmark", Benchmark)):
        keys = {key: registry for registry, key in asked if registry.startswith(word)}
        rows: Any = table._default_manager.filter(identifier__in=keys)
        if owner is not None:
            rows = rows.exclude(owned_by(owner))
        for identifier in rows.order_by("identifier").values_list("identifier", flat=True):
            yield keys[identifier], identifier
