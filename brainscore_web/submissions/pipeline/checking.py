"""The check step: examine code, fetch declared files, install requirements; no submitted code runs."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from brainscore_core.plugins.environments import Environment, RequirementsError, environment_of, plugin_requirements
from brainscore_core.plugins.environments.requirements import Refusals, read_lines
from brainscore_vision.submission import Finding, examine
from brainscore_vision.submission.package import sort_findings
from brainscore_web.jobs.leases import Lease
from brainscore_web.submissions.declared_files import FetchedFile, fetch_declared_files, package_of
from brainscore_web.submissions.models import Revision, Step
from brainscore_web.submissions.names import clashes, holders
from brainscore_web.submissions.plugin_folders import unpacked
from brainscore_web.submissions.steps import Outcome, StepLog

__all__ = ["check", "environment_for"]

_ALLOWED = frozenset({"--no-index", "--pre", "--prefer-binary", "--only-binary", "--require-hashes"})
_REMEDY = "name packages of the Python Package Index, or put a wheel into the plugin's folder"


def environment_for(folder: Path, *, say: Callable[[str], None]) -> Environment:
    """Find or create the environment of a plugin. The caller must release it.

    Parameters
    ----------
    folder : pathlib.Path
        The plugin's folder.
    say : callable
        Called with one line for each operation that takes time.

    Raises
    ------
    RequirementsError
        If requirements cannot be met, or name addresses, from which the site does not install.
    """
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


_PERMANENT_CHECKS = frozenset({"data in code", "layout", "link", "program", "size"})
"""Checks on arrival that cannot be repeated, since not all files are kept. Their errors stay with the revision."""


def check(lease: Lease[Step]) -> Outcome | None:
    """Run the check step.

    Parameters
    ----------
    lease : Lease
        The lease of the step.
    """
    revision = lease.row.revision
    submission, package, log = revision.submission, package_of(revision), StepLog(lease)
    found = [
        *examine(package, taken=holders(package, owner=submission.owner, submission=submission)),
        *clashes(package, owner=submission.owner, submission=submission),
    ]
    # findings on arrival, such as files left out, cannot be found again in the archive
    on_arrival = [Finding.from_dict(one) for one in revision.findings]
    kept = [one for one in on_arrival if one.severity != "error" or one.check in _PERMANENT_CHECKS]
    result: dict[str, Any] = {"files": [], "environments": []}
    if not _errors([*kept, *found]):
        files = fetch_declared_files(package, submission, say=log.say, stopped=lease.is_lost)
        result["files"] = [one.as_dict() for one in files]
        found += [_fetch_finding(one) for one in files if not one.verified]
        result["environments"], refused = _environments(unpacked(revision), revision, log)
        found += refused
    findings = [one.as_dict() for one in sort_findings([*kept, *found])]
    errors = len(_errors([*kept, *found]))
    reason = f"{errors} {'errors' if errors > 1 else 'error'} found" if errors else ""
    return Outcome(passed=not errors, reason=reason, log=log.text, result=result, findings=findings)


def _errors(found: list[Finding]) -> list[Finding]:
    return [one for one in found if one.severity == "error"]


def _fetch_finding(one: FetchedFile) -> Finding:
    place = one.declared
    remedy = one.remedy or "check the address and the hash"
    return Finding("error", "declared files", place.file, place.line, one.problem, remedy)


def _environments(root: Path, revision: Revision, log: StepLog) -> tuple[list[dict[str, Any]], list[Finding]]:
    made, refused = [], []
    for plugin in revision.plugins:
        path = f"{plugin['kind']}/{plugin['name']}"
        try:
            environment = environment_for(root / path, say=log.say)
        except RequirementsError as error:
            log.say(str(error))
            message = error.message.replace(f"{root}/", "")
            remedy = error.remedy or "change the versions so that they are compatible"
            refused.append(Finding("error", "requirements", f"{path}/requirements.txt", None, message, remedy))
            continue
        for note in environment.notes:
            log.say(f"{path}: {note}".replace(f"{root}/", ""))
        made.append({"plugin": path, "key": environment.key, "installed": environment.installed})
        environment.release()
    return made, refused
