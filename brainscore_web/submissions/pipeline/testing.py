"""The test step: run the plugins' tests and checks in a sandbox with public data only.

Reports from the sandbox are written by unreviewed code, so they are parsed defensively.
"""

from __future__ import annotations

import importlib.util
import json
import os
import stat
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple
from xml.etree import ElementTree

from django.conf import settings

from brainscore_core.errors import UserError
from brainscore_core.files import temporary_folder
from brainscore_core.isolation.sandbox import Ended, Sandbox, require_sandbox, run_in_sandbox
from brainscore_core.plugins.environments import Environment, RequirementsError
from brainscore_web.jobs.leases import Lease
from brainscore_web.submissions import assess_process, check_process
from brainscore_web.submissions.declared_files import available_files, fetch_request, package_of
from brainscore_web.submissions.models import Revision, Step
from brainscore_web.submissions.pipeline.checking import environment_for
from brainscore_web.submissions.plugin_folders import folder_shown_to
from brainscore_web.submissions.steps import Outcome, StepFailed, StepLog, StepPostponed

__all__ = [
    "TEST_FOLDERS",
    "Report",
    "SandboxRun",
    "empty_file",
    "prepared_inputs",
    "read_report",
    "read_test_report",
    "require_sandbox_here",
    "run_python",
    "run_tests",
    "sandbox_problem",
]

_LONGEST = 8_000_000  # bytes; in memory it takes thirty times as much
_KEPT = 200
_TEXT = 2000
_PRIVATE = "data that are not public"  # as in the messages of our pytest plugin


class Report(NamedTuple):
    """Results of a plugin's tests."""

    passed: int
    skipped: int
    private: int
    failures: list[dict[str, str]]


@dataclass
class Tally:
    """Results of all tests and checks."""

    passed: int = 0
    failed: int = 0
    skipped: int = 0
    private: int = 0
    failures: list[dict[str, str]] = field(default_factory=list)
    checks: list[dict[str, str]] = field(default_factory=list)
    about: dict[str, dict[str, Any]] = field(default_factory=dict)

    def add_tests(self, plugin: str, report: Report | None, ended: Ended) -> None:
        """Count the tests of a plugin."""
        if report is not None:
            self.passed += report.passed
            self.skipped += report.skipped
            self.private += report.private
            self._fail(*report.failures)
        if ended.cause not in ("", "exit") or report is None:
            self._fail({"name": f"tests of {plugin}", "message": ended.message or "the tests wrote no report"})
        elif ended.status not in (0, 5) and not report.failures:  # 5: all tests were skipped
            self._fail({"name": f"tests of {plugin}", "message": ended.message})

    def add_checks(self, plugin: str, answer: dict[str, Any] | None, ended: Ended) -> None:
        """Count the checks of a plugin, and keep its metadata."""
        if answer is None or ended.cause:
            self._fail({"name": f"checks of {plugin}", "message": ended.message or "the checks wrote no report"})
            return
        if answer["error"]:
            self._fail({"name": f"checks of {plugin}", "message": answer["error"]})
        for check in answer["checks"]:
            name = f"{check['subject']}: {check['name']}"
            if check["result"] == "failed":
                self._fail({"name": name, "message": f"{check['explanation']} {check['remedy']}".strip()})
            if len(self.checks) < _KEPT:
                self.checks.append(
                    {
                        "plugin": plugin,
                        "kind": check["kind"],
                        "name": name,
                        "result": check["result"],
                        "message": check["explanation"],
                    }
                )
        if len(self.about) < _KEPT:
            self.about[plugin] = answer["about"]

    def problems(self) -> int:
        """The number of failed tests and checks."""
        return self.failed

    def in_words(self) -> str:
        """Why the step failed; empty if it passed."""
        if not self.failed:
            return ""
        return f"{self.failed} {'tests or checks' if self.failed > 1 else 'test or check'} failed"

    def as_dict(self) -> dict[str, Any]:
        """Return plain values for the step's result."""
        return {
            "passed": self.passed,
            "failed": self.failed,
            "skipped": self.skipped,
            "skipped_private": self.private,
            "failures": self.failures,
            "checks": self.checks,
            "about": self.about,
        }

    def _fail(self, *failures: dict[str, str]) -> None:
        self.failed += len(failures)
        room = max(_KEPT - len(self.failures), 0)
        self.failures += [{name: _short_text(text) for name, text in failure.items()} for failure in failures[:room]]


def read_test_report(file: Path) -> Report | None:
    """Read the report of pytest; return None if it is missing or not readable."""
    content = read_report(file)
    if content is None:
        return None
    try:
        text = content.decode()  # parsed as text, so that no declaration can change its encoding
        if "\0" in text or "<!DOCTYPE" in text or "<!ENTITY" in text:
            return None
        root = ElementTree.fromstring(text)  # noqa: S314 - without definitions there are no entities to expand
    except (ElementTree.ParseError, ValueError):
        return None
    passed = skipped = private = 0
    failures = []
    for case in root.iter("testcase"):
        name = f"{case.get('classname', '')}::{case.get('name', '')}".removeprefix("::")
        problems = [one for one in case if one.tag in ("failure", "error")]
        skip = next((one for one in case if one.tag == "skipped"), None)
        if problems:
            failures.append({"name": name, "message": problems[0].get("message") or "failed"})
        elif skip is not None and skip.get("type") != "pytest.xfail":
            skipped += 1
            private += _PRIVATE in (skip.get("message") or "")
        else:
            passed += 1
    return Report(passed, skipped, private, failures)


def read_check_report(file: Path) -> dict[str, Any] | None:
    """Read the report of `check_process`; return None if it is malformed."""
    content = read_report(file)
    try:
        answer = json.loads(content or b"")
        checks = [
            {name: _short_text(check[name]) for name in ("kind", "subject", "name", "result", "explanation", "remedy")}
            for check in answer["checks"]
        ]
        about = {_short_text(name): dict(entry) for name, entry in answer["about"].items()}
        return {"checks": checks, "about": _storable(about), "error": _short_text(answer["error"])}
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
        return None


def read_report(file: Path) -> bytes | None:
    """Return the content of a regular file that is not too large; links are not followed."""
    try:
        descriptor = os.open(file, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
    except OSError:
        return None
    with os.fdopen(descriptor, "rb") as stream:
        status = os.fstat(stream.fileno())
        if not stat.S_ISREG(status.st_mode) or status.st_size > _LONGEST:
            return None
        return stream.read(_LONGEST)


def _short_text(text: Any) -> str:
    if not isinstance(text, str):
        raise TypeError(type(text).__name__)
    plain = text.replace("\0", "").encode(errors="replace").decode()
    return plain if len(plain) <= _TEXT else f"{plain[:_TEXT]}…"


def _storable(value: Any, depth: int = 6) -> Any:
    """Return values that every database can store; what is too deep, long or large is left out."""
    if isinstance(value, str):
        return value.replace("\0", "").encode(errors="replace").decode()[:20_000]
    if isinstance(value, dict) and depth:
        return {_short_text(name): _storable(one, depth - 1) for name, one in list(value.items())[:_KEPT]}
    if isinstance(value, list) and depth:
        return [_storable(one, depth - 1) for one in value[:_KEPT]]
    if isinstance(value, bool) or value is None:
        return value
    if isinstance(value, int):
        return value if abs(value) < 2**63 else None
    if isinstance(value, float):
        return value if value == value and abs(value) != float("inf") else None
    return None


TEST_FOLDERS = "brainscore-test-"
"""Prefix of the names of temporary folders."""

_NOT_NOW = "the site cannot run tests at the moment"
_SECONDS = 3600.0  # of a plugin's tests, and of its checks
_PROCESSES = 256
_OUTPUT = 16 << 20  # bytes
_SCRIPTS = (Path(check_process.__file__), Path(assess_process.__file__))
_ORDER = ("data", "metrics", "models", "benchmarks")


@dataclass(frozen=True)
class SandboxInputs:
    """What the sandbox of a submission contains besides the platform."""

    plugins: Path
    mirror: Path
    files: tuple[Path, ...]
    answers: Path


@dataclass
class SandboxRun:
    """Work that runs code of a revision in sandboxes.

    Attributes
    ----------
    lease : Lease
        The lease of the work.
    log : StepLog
        Its log.
    shown : SandboxInputs
        What the sandboxes contain, from `prepared_inputs`.
    seconds : float
        Time limit of a process.
    """

    lease: Lease[Any]
    log: StepLog
    shown: SandboxInputs
    seconds: float = _SECONDS


def run_tests(lease: Lease[Step]) -> Outcome | None:
    """Run the test step.

    Parameters
    ----------
    lease : Lease
        The lease of the step.
    """
    require_sandbox_here()
    revision = lease.row.revision
    with prepared_inputs(revision) as shown:
        run, tally = SandboxRun(lease, StepLog(lease), shown), Tally()
        for plugin in sorted(revision.plugins, key=lambda plugin: (_ORDER.index(plugin["kind"]), plugin["name"])):
            _test_plugin(run, tally, plugin["kind"], plugin["name"])
            if lease.is_lost():
                return None
    return Outcome(passed=not tally.problems(), reason=tally.in_words(), log=run.log.text, result=tally.as_dict())


def sandbox_problem() -> UserError | None:
    """Return why this machine cannot run sandboxes, with a remedy; None if it can."""
    try:
        require_sandbox(control_group=not settings.SUBMISSIONS["without_control_group"])
    except UserError as error:
        return error
    return None


def require_sandbox_here() -> None:
    """Postpone the work if the site has no sandbox or no pytest, rather than skip the tests."""
    if missing := sandbox_problem():
        raise StepPostponed(_NOT_NOW, internal=str(missing)) from missing
    if importlib.util.find_spec("pytest") is None:
        raise StepPostponed(_NOT_NOW, internal="pytest is not installed: pip install 'brainscore[test]'")


@contextmanager
def prepared_inputs(revision: Revision) -> Iterator[SandboxInputs]:
    """Prepare the folders and files for the sandbox; of the declared files, only the public ones."""
    result = Step.objects.get(revision=revision, kind=Step.Kind.CHECK).result
    public = {
        (one["url"], one["sha1"], one["sha256"])
        for one in result.get("files", ())
        if one["verified"] and not one["private"]
    }
    with temporary_folder(TEST_FOLDERS) as place:
        mirror, answers = place / "mirror", place / "answers"
        for folder in (place, mirror, answers):
            folder.mkdir(exist_ok=True)
            folder.chmod(0o755)  # the sandbox runs as another user
        files = []
        for declared, path in available_files(package_of(revision)):
            if (declared.url, declared.sha1 or "", declared.sha256 or "") in public:
                _link_into_mirror(mirror, fetch_request(declared).address, path)
                files.append(path)
        yield SandboxInputs(folder_shown_to(revision), mirror, tuple(dict.fromkeys(files)), answers)


def _link_into_mirror(mirror: Path, address: str, path: Path) -> None:
    """Link a file at the place in the mirror where the library looks for its address."""
    from urllib.parse import unquote, urlsplit

    parts = urlsplit(address)
    host = parts.netloc.rpartition("@")[2].lower()
    names = [unquote(name) for name in parts.path.split("/") if name]
    if parts.query and names:
        names[-1] = f"{names[-1]}?{parts.query}"
    # this process is not sandboxed, so no part may lead out of the mirror
    if not names or any(one in ("", ".", "..") or "/" in one or "\0" in one for one in (host, *names)):
        return
    place = mirror.joinpath(host, *names)
    with suppress(FileExistsError, NotADirectoryError, IsADirectoryError):  # one address is a parent of another
        place.parent.mkdir(parents=True, exist_ok=True)
        place.unlink(missing_ok=True)
        place.symlink_to(path)


def _test_plugin(run: SandboxRun, tally: Tally, kind: str, name: str) -> None:
    """Run the tests of one plugin, then its checks."""
    folder = run.shown.plugins / kind / name
    try:
        environment = environment_for(folder, say=run.log.say)
    except RequirementsError as error:  # the check step could still install them
        raise StepFailed(error.message, log=run.log.text) from error
    try:
        answer = run.shown.answers / f"{kind}-{name}"
        answer.mkdir(mode=0o755)
        files = sorted(map(str, {*folder.rglob("test.py"), *folder.rglob("test_*.py")}))
        if files:
            run.log.say(f"Tests of {kind}/{name}")
            options = ["--import-mode=importlib", "-p", "brainscore.pytest_plugin", "-p", "no:cacheprovider", "-c"]
            report = empty_file(answer / "tests.xml")
            command = ["-m", "pytest", *options, os.devnull, "-ra", "--tb=short", f"--junitxml={report}", *files]
            ended = run_python(run, environment, report, command)
            tally.add_tests(f"{kind}/{name}", read_test_report(report), ended)
        else:
            run.log.say(f"{kind}/{name} has no tests")
        run.log.say(f"Checks of {kind}/{name}")
        report = empty_file(answer / "checks.json")
        command = [check_process.__file__, kind, str(folder), str(report)]
        ended = run_python(run, environment, report, command)
        tally.add_checks(f"{kind}/{name}", read_check_report(report), ended)
    finally:
        environment.release()


def empty_file(file: Path) -> Path:
    """Create a file that the sandbox may write."""
    file.touch(mode=0o644)
    return file


def run_python(run: SandboxRun, environment: Environment, report: Path, arguments: list[str]) -> Ended:
    """Run Python in a sandbox with the revision's plugins, their environment and public files, but no network.

    Parameters
    ----------
    run : SandboxRun
        The work; its output becomes the log, and it ends when the lease is lost.
    environment : Environment
        Environment of the plugin.
    report : pathlib.Path
        The only file outside of its temporary folder that it may write; its content is not to be trusted.
    arguments : list of str
        Of the interpreter. A script must be among the files of the sandbox.

    Raises
    ------
    StepPostponed
        If sandboxes are not possible now.
    """
    shown, memory = run.shown, int(settings.UPLOADS["memory"])
    own = [environment.folder, *environment.mounts] if environment.folder.is_dir() else [*environment.mounts]
    sandbox = Sandbox(
        folders=[shown.plugins, shown.mirror, *(path for path in own if path.is_dir())],
        files=[*shown.files, *_SCRIPTS],
        writable=[report],
        environment={
            "BRAINSCORE_PLUGINS": str(shown.plugins),
            "BRAINSCORE_MIRROR": str(shown.mirror),
            "BRAINSCORE_MAX_MEMORY": str(memory // 2),
        },
        memory=memory,
        processes=_PROCESSES,
        scratch=memory // 2,
    )

    def stopped() -> bool:
        run.log.flush()
        return run.lease.is_lost()

    try:
        ended = run_in_sandbox(
            [str(environment.python or sys.executable), "-P", *arguments],
            sandbox,
            timeout=run.seconds,
            max_output=_OUTPUT,
            on_output=run.log.add,
            stopped=stopped,
        )
    except UserError as error:
        raise StepPostponed(_NOT_NOW, internal=str(error)) from error
    if ended.message:
        run.log.say(f"The process {ended.message}")
    return ended
