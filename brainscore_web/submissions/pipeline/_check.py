"""The first step: look at the code again, fetch what it names, meet its requirements. Nothing of it runs."""

from __future__ import annotations

import threading
import time
from pathlib import Path
from typing import Any

from brainscore_core.plugins.environments import RequirementsError
from brainscore_vision.submission import Finding, Package, examine, read_zip
from brainscore_vision.submission.package import sort_findings
from brainscore_web.submissions.models import Revision
from brainscore_web.submissions.names import clashes, holders
from brainscore_web.submissions.pipeline._claims import Claim
from brainscore_web.submissions.pipeline._declared import Fetched, get_files
from brainscore_web.submissions.pipeline._outcome import Outcome, bounded
from brainscore_web.submissions.pipeline._requirements import environment_for
from brainscore_web.submissions.publishing import unpacked

__all__ = ["Log", "check", "package_of"]

_OF_READING = frozenset({"data in code", "layout", "link", "program", "size"})
"""Checks of what was sent, of which not all was kept: their errors hold for as long as the revision."""
_WRITTEN = 2.0  # seconds between two writings of a log


class Log:
    """Lines that the submitter can read while a step runs."""

    def __init__(self, claim: Claim) -> None:
        self._claim = claim
        self._text = ""
        self._lock = threading.Lock()
        self._written = time.monotonic()

    @property
    def text(self) -> str:
        """All of it; the middle is left out where it is long."""
        return bounded(self._text)

    def say(self, line: str) -> None:
        """Add a line."""
        self.add(f"{line}\n")
        self.flush()

    def add(self, text: str) -> None:
        """Add text as it comes, from any thread."""
        with self._lock:
            self._text = bounded(self._text + text.replace("\0", "").encode(errors="replace").decode())

    def flush(self) -> None:
        """Let others read what there is, now and then."""
        if time.monotonic() - self._written > _WRITTEN:
            self._written = time.monotonic()
            self._claim.note(log=self._text)


def package_of(revision: Revision) -> Package:
    """The files of a revision."""
    return read_zip(bytes(revision.archive))


def check(claim: Claim) -> Outcome | None:
    """Do the step.

    Parameters
    ----------
    claim : Claim
        Of the step.
    """
    revision = claim.step.revision
    submission, package, log = revision.submission, package_of(revision), Log(claim)
    found = [
        *examine(package, taken=holders(package, owner=submission.owner, submission=submission)),
        *clashes(package, owner=submission.owner, submission=submission),
    ]
    # what was said when it was read, such as what was left out, cannot be found again
    said = [Finding.from_dict(one) for one in revision.findings]
    kept = [one for one in said if one.severity != "error" or one.check in _OF_READING]
    result: dict[str, Any] = {"files": [], "environments": []}
    if not _errors([*kept, *found]):
        files = get_files(package, submission, say=log.say, stopped=claim.lost)
        result["files"] = [one.as_dict() for one in files]
        found += [_unfetched(one) for one in files if not one.verified]
        result["environments"], refused = _environments(unpacked(revision), revision, log)
        found += refused
    findings = [one.as_dict() for one in sort_findings([*kept, *found])]
    errors = len(_errors([*kept, *found]))
    reason = f"{errors} {'errors were' if errors > 1 else 'error was'} found" if errors else ""
    return Outcome(passed=not errors, reason=reason, log=log.text, result=result, findings=findings)


def _errors(found: list[Finding]) -> list[Finding]:
    return [one for one in found if one.severity == "error"]


def _unfetched(one: Fetched) -> Finding:
    place = one.declared
    remedy = one.remedy or "check the address and the hash"
    return Finding("error", "declared files", place.file, place.line, one.problem, remedy)


def _environments(root: Path, revision: Revision, log: Log) -> tuple[list[dict[str, Any]], list[Finding]]:
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
