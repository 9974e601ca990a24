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
    errors_among,
    examine_files,
    examine_identifiers,
    registered_here,
    sort_findings,
)
from brainscore_web.accounts.models import User, owned_by
from brainscore_web.domains import package_folder
from brainscore_web.jobs.leases import Lease, Unavailable
from brainscore_web.leaderboard.models import Benchmark, VisionModel
from brainscore_web.submissions.declared_files import fetch_declared_files, package_of
from brainscore_web.submissions.examining import (
    Refused,
    Source,
    domain_of,
    examine,
    require_news,
    storable,
    title_of,
)
from brainscore_web.submissions.models import Plugin, Revision, Step, Submission, UnexaminedFiles
from brainscore_web.submissions.plugin_folders import unpacked
from brainscore_web.submissions.steps import Outcome, StepIsLong, StepLog

_Name = tuple[str, str]
_LIVE = ("domain", "kind", "name", "owner", "lab", "revision__plugins")

_ALLOWED = frozenset({"--no-index", "--pre", "--prefer-binary", "--only-binary", "--require-hashes"})
_REMEDY = "name packages of the Python Package Index, or put a wheel into the plugin's folder"


def environment_for(folder: Path, *, say: Callable[[str], None]) -> Environment:
    """Find or create the environment of a plugin. The caller must release it."""
    files = plugin_requirements(folder)
    _refuse_addresses(files, folder.name)
    try:
        return environment_of(files, plugin=folder.name, on_progress=say)
    except RequirementsUnavailable as error:
        why = f"the site could not install the requirements of {folder.parent.name}/{folder.name}"
        raise Unavailable(why, str(error)) from error


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
    # findings on arrival, such as files left out, cannot be found again in the archive
    arrived = map(Finding.from_dict, revision.findings)
    findings = [each for each in arrived if each.severity != "error" or each.check in _PERMANENT_CHECKS]
    findings += examine_submission(package, owner=revision.by, submission=submission)
    result: dict[str, Any] = {"files": [], "environments": []}
    if not errors_among(findings):
        if not lease.row.long and _takes_long(package, unpacked(revision), revision):
            raise StepIsLong
        files = fetch_declared_files(package, revision, say=log.say, stopped=lease.is_lost)
        result["files"] = [file.as_dict() for file in files]
        findings += [file.finding for file in files if not file.verified]
        result["environments"], refused = _environments(unpacked(revision), revision, log)
        findings += refused
    errors = len(errors_among(findings))
    reason = f"{errors} {'errors' if errors > 1 else 'error'} found" if errors else ""
    shown = [finding.as_dict() for finding in sort_findings(findings)]
    return Outcome(passed=not errors, reason=reason, log=log.text, result=result, findings=shown)


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
    try:
        examined = examine(Source(revision.origin, arrived.name, bytes(arrived.content), arrived.commit))
    except Refused as error:
        if error.status == 503:
            raise Unavailable(error.message, error.message) from error
        raise
    if examined is None:
        raise Unavailable("the submission could not be examined in time", "the site may be overloaded")
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
    names = _NamesInUse(plugins, owner, submission)
    return [*examine_identifiers(plugins, taken=names.holder), *filter(None, map(names.finding, plugins))]


class _NamesInUse:
    """Names on this site that look like those of a submission: in registries, and in folders such as ``models/``."""

    def __init__(self, plugins: Sequence[SubmittedPlugin], owner: User | None, submission: Submission | None) -> None:
        names = (name for plugin in plugins for name in _names_of(plugin.as_dict()))
        # registry or folder, and similar form → each name in use of this form, with who has it
        self._uses: dict[_Name, list[_Name]] = {(space, similar_form(name)): [] for space, name in names}
        self._owned: set[_Name] = set()  # identifiers of live plugins that the submission replaces
        self._replaced: set[SubmittedPlugin] = set()
        for live in Plugin.objects.order_by("kind", "name").values(*_LIVE).iterator():
            yours = owner is not None and (live["owner"] == owner.pk or live["lab"] in owner.lab_keys)
            self._add_live(live, next((each for each in plugins if yours and _key(live) == each.path), None), yours)
        for domain, kind in {(plugin.domain, str(plugin.kind)) for plugin in plugins}:
            for path in (package_folder(domain) / kind).glob("*/"):  # two folders of one name cannot both be imported
                self._add(f"{kind}/", path.name, "the platform")
        for name in (name for plugin in _open_plugins(owner, submission) for name in _names_of(plugin)):
            self._add(*name, "an open submission of another member")
        for registry, table in (("model_registry", VisionModel), ("benchmark_registry", Benchmark)):
            if any(space == registry for space, _form in self._uses):
                rows: Any = table._default_manager.order_by("identifier").values_list("identifier", flat=True)
                yours = set() if owner is None else set(rows.filter(owned_by(owner)))
                for name in rows.iterator():
                    self._add(
                        registry, name, "" if name in yours else "an entry of this site's leaderboard that is not yours"
                    )

    def holder(self, domain: str, registry: str, key: str) -> str | None:
        """Describe who has an identifier, for `examine_identifiers`."""
        uses = self._uses[registry, similar_form(key)]
        if exact := next((who for name, who in uses if name == key and who), ""):
            return exact
        if (registry, key) in self._owned:
            return None
        other = next((name for name, _who in uses if name != key), None)
        return (
            registered_here(domain, registry, key)
            if other is None
            else f"it looks like {other!r}, which is already in use"
        )

    def finding(self, plugin: SubmittedPlugin) -> Finding | None:
        """Return an error if the name of a plugin's folder is taken, and a note if the plugin is a new version."""
        file = f"{plugin.path}/__init__.py"
        if plugin in self._replaced:
            message = "this replaces your live plugin of the same name when it is published"
            return Finding("note", "new version", file, None, message, "no action is needed")
        for other, who in self._uses[f"{plugin.kind}/", similar_form(plugin.name)][:1]:
            like = "" if plugin.name == other else "; names that differ only in case or separators are equal"
            message = f"{who} already has a folder {plugin.kind}/{other}"
            return Finding("error", "name of a plugin", file, None, message, f"rename your folder{like}")
        return None

    def _add(self, space: str, name: str, who: str) -> None:
        if (form := (space, similar_form(name))) in self._uses:
            self._uses[form].append((name, who))

    def _add_live(self, live: dict[str, Any], new: SubmittedPlugin | None, yours: bool) -> None:
        """Add a live plugin; `new`: the plugin of the submission that replaces it."""
        same = (plugin for plugin in live["revision__plugins"] if _key(plugin) == _key(live))
        identifiers = [name for plugin in same for name in _names_of(plugin)[1:]]
        if new is not None:
            self._owned.update(identifiers)
        else:
            for name in identifiers:
                self._add(*name, f"your plugin {_key(live)}" if yours else "a plugin of another member")
        if new is not None and new.domain == live["domain"]:
            self._replaced.add(new)
        else:
            self._add(f"{live['kind']}/", live["name"], "your live plugin" if yours else "a plugin of another member")


def _key(plugin: dict[str, Any]) -> str:
    return f"{plugin['kind']}/{plugin['name']}"


def _names_of(plugin: dict[str, Any]) -> list[_Name]:
    """Return the name of a plugin's folder, and its identifiers."""
    identifiers = [(entry["registry"], entry["key"]) for entry in plugin["registrations"]]
    return [(f"{plugin['kind']}/", plugin["name"]), *identifiers]


def _open_plugins(owner: User | None, submission: Submission | None) -> Iterator[dict[str, Any]]:
    """Plugins of the newest revisions of open submissions of other users, of earlier ones than this submission."""
    rows = Revision.objects.exclude(submission__state__in=Submission.CLOSED)
    if owner is not None:
        rows = rows.exclude(owned_by(owner, "submission__"))
    if submission is not None:
        same = Q(submission__created=submission.created, submission__lt=submission.pk)
        rows = rows.filter(Q(submission__created__lt=submission.created) | same)
    newest = dict(rows.order_by("submission", "number").values_list("submission", "plugins"))
    return (plugin for plugins in newest.values() for plugin in plugins)
