"""The check step: examine code, fetch declared files, install requirements; nothing submitted runs."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from brainscore_core.plugins.environments import Environment, RequirementsError, environment_of, plugin_requirements
from brainscore_core.plugins.environments.requirements import Refusals, read_lines
from brainscore_vision.submission import Finding, examine
from brainscore_vision.submission.package import sort_findings
from brainscore_web.submissions.declared_files import FetchedFile, fetch_declared_files, package_of
from brainscore_web.submissions.models import Revision
from brainscore_web.submissions.names import clashes, holders
from brainscore_web.submissions.plugin_folders import unpacked
from brainscore_web.submissions.steps import Claim, Outcome, StepLog

__all__ = ["check", "environment_for"]

_ALLOWED = frozenset({"--no-index", "--pre", "--prefer-binary", "--only-binary", "--require-hashes"})
_REMEDY = "name packages of the Python Package Index, or put a wheel into the plugin's folder"


def environment_for(folder: Path, *, say: Callable[[str], None]) -> Environment:
    """Find or make the environment of a plugin. It is in use until it is released.

    Parameters
    ----------
    folder : pathlib.Path
        The plugin's folder.
    say : callable
        Told in a line each what takes time.

    Raises
    ------
    RequirementsError
        Requirements that cannot be met; or that name addresses, which the site does not ask for anybody.
    """
    files = plugin_requirements(folder)
    _refuse_addresses(files, folder.name)
    return environment_of(files, plugin=folder.name, on_progress=say)


def _refuse_addresses(files: tuple[Path, ...], plugin: str) -> None:
    refusals = Refusals(plugin)
    for line in read_lines(files, refusals):
        if line.option and line.option not in _ALLOWED:
            refusals.add(line, f"{line.option} leads elsewhere", _REMEDY)
        elif "://" in line.text:
            refusals.add(line, "an address leads elsewhere", _REMEDY)
    refusals.raise_any()


_PERMANENT_CHECKS = frozenset({"data in code", "layout", "link", "program", "size"})
"""Checks of what was sent, of which not all was kept: their errors hold for as long as the revision."""


def check(claim: Claim) -> Outcome | None:
    """Do the step.

    Parameters
    ----------
    claim : Claim
        Of the step.
    """
    revision = claim.step.revision
    submission, package, log = revision.submission, package_of(revision), StepLog(claim)
    found = [
        *examine(package, taken=holders(package, owner=submission.owner, submission=submission)),
        *clashes(package, owner=submission.owner, submission=submission),
    ]
    # what was said when it was read, such as what was left out, cannot be found again
    said = [Finding.from_dict(one) for one in revision.findings]
    kept = [one for one in said if one.severity != "error" or one.check in _PERMANENT_CHECKS]
    result: dict[str, Any] = {"files": [], "environments": []}
    if not _errors([*kept, *found]):
        files = fetch_declared_files(package, submission, say=log.say, stopped=claim.lost)
        result["files"] = [one.as_dict() for one in files]
        found += [_fetch_finding(one) for one in files if not one.verified]
        result["environments"], refused = _environments(unpacked(revision), revision, log)
        found += refused
    findings = [one.as_dict() for one in sort_findings([*kept, *found])]
    errors = len(_errors([*kept, *found]))
    reason = f"{errors} {'errors were' if errors > 1 else 'error was'} found" if errors else ""
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
            remedy = error.remedy or "ask for what goes together"
            refused.append(Finding("error", "requirements", f"{path}/requirements.txt", None, message, remedy))
            continue
        for note in environment.notes:
            log.say(f"{path}: {note}".replace(f"{root}/", ""))
        made.append({"plugin": path, "key": environment.key, "installed": environment.installed})
        environment.release()
    return made, refused
