"""The test step: run the plugins' tests and checks in a sandbox with public data only.

Reports from the sandbox are written by unreviewed code, so they are parsed defensively. Its results are what the plugin
reports: its code runs in the process that tests it.
"""

from __future__ import annotations

import json
import math
import os
import secrets
import stat
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from django.conf import settings

from brainscore_core.errors import UserError
from brainscore_core.files import temporary_folder
from brainscore_core.isolation.sandbox import Ended, Sandbox, require_sandbox, run_in_sandbox
from brainscore_core.plugins.environments import Environment, RequirementsError
from brainscore_web.environment import worker_problem
from brainscore_web.jobs.leases import Lease, Postponed
from brainscore_web.submissions import sandbox_process
from brainscore_web.submissions.declared_files import available_files, fetch_request, package_of
from brainscore_web.submissions.models import Revision, Step
from brainscore_web.submissions.pipeline.checking import environment_for
from brainscore_web.submissions.plugin_folders import folder_shown_to, unpacked
from brainscore_web.submissions.steps import (
    Outcome,
    OutputLines,
    PathFilter,
    StepFailed,
    StepLog,
    failed_lines,
)

_LONGEST = 8_000_000  # bytes of a report of checks
_KEPT = 200
_TEXT = 2000
_DETAILED = 50  # failures that are kept with their lines
_MOST_TESTS = 20_000  # of a plugin
_PRIVATE = "data that are not public"  # as in the messages of our pytest plugin


class Report(NamedTuple):
    """Results of a plugin's tests, as its process reported them."""

    # passed, skipped, private: numbers of tests; `private` are those that were skipped for lack of private data
    passed: int
    skipped: int
    private: int
    failures: list[dict[str, Any]]  # failed tests with their messages and lines
    missing: int  # number of tests that were collected and not reported
    ended: bool  # whether the end of the session was reported


class Tally:
    """Results of all tests and checks; `result` has plain values for the step."""

    def __init__(self) -> None:
        self.result: dict[str, Any] = {"passed": 0, "failed": 0, "skipped": 0, "skipped_private": 0}
        self.result |= {"failures": [], "checks": [], "about": {}}

    def add_tests(self, plugin: str, report: Report, ended: Ended) -> None:
        """Count the tests of a plugin."""
        self.result["passed"] += report.passed
        self.result["skipped"] += report.skipped
        self.result["skipped_private"] += report.private
        self._fail(*report.failures)
        problem = ""
        if ended.cause not in ("", "exit"):
            problem = ended.message
        elif not report.ended:
            problem = "their process ended before the tests did"
        elif report.missing:
            problem = f"{report.missing} collected test{'s were' if report.missing > 1 else ' was'} not reported"
        elif ended.status not in (0, 5) and not report.failures:  # 5: all tests were skipped
            problem = ended.message
        if problem:
            self._fail({"name": f"tests of {plugin}", "message": problem})

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
            if len(self.result["checks"]) < _KEPT:
                shown = {"plugin": plugin, "name": name, "message": check["explanation"]}
                self.result["checks"].append({**shown, "kind": check["kind"], "result": check["result"]})
        if len(self.result["about"]) < _KEPT:
            self.result["about"][plugin] = answer["about"]

    def add_untested(self, plugin: str, seconds: float) -> None:
        """Count a plugin for whose tests no time was left."""
        why = f"the tests of a submission may take {seconds / 60:.0f} minutes in all: divide the submission"
        self._fail({"name": f"tests of {plugin}", "message": why})

    def in_words(self) -> str:
        """Why the step failed; empty if it passed."""
        failed = self.result["failed"]
        return f"{failed} {'tests or checks' if failed > 1 else 'test or check'} failed" if failed else ""

    def _fail(self, *failures: dict[str, Any]) -> None:
        self.result["failed"] += len(failures)
        listed = self.result["failures"]
        for failure in failures[: max(_KEPT - len(listed), 0)]:
            texts = {name: _short_text(failure.get(name, "")) for name in ("name", "message", "file")}
            detail = _storable(failure.get("detail", "")) if len(listed) < _DETAILED else ""
            listed.append({**texts, "line": failure.get("line"), "detail": detail})


class EventReader:
    """Collects the events that the pytest plugin of this platform prints, one line for each test.

    What was printed cannot be taken back, so a plugin cannot remove a failure that was reported. But its code runs in
    the same process, and can report what it likes: results are those that the plugin reports.

    These lines begin with `start`. `hide` removes paths of the server from texts.
    """

    def __init__(self, start: str, hide: Callable[[str], str] = str) -> None:
        self.start, self._hide = start, hide
        self._collected: set[str] = set()
        self._reported: dict[str, dict[str, str]] = {}
        self._ended = False

    def take(self, line: str) -> str:
        """Read a line of output; return what of it is not an event."""
        before, marker, event = line.partition(f"{self.start} ")
        if not marker:
            return line
        with suppress(ValueError, TypeError, KeyError, AttributeError, RecursionError):
            self._read(json.loads(event))
        return before

    def report(self) -> Report:
        """Return what was reported so far."""
        passed = skipped = private = 0
        failures = []
        for name, test in self._reported.items():
            if test["outcome"] == "failed":
                file_name, line, detail = failed_lines(self._hide(test["text"]))
                message = self._hide(test["message"] or "failed")
                failures.append({"name": name, "message": message, "file": file_name, "line": line, "detail": detail})
            elif test["outcome"] == "skipped":
                skipped += 1
                private += _PRIVATE in test["message"]
            else:
                passed += 1
        missing = len(self._collected - set(self._reported))
        return Report(passed, skipped, private, failures, missing, self._ended)

    def _read(self, event: Any) -> None:
        if event["event"] == "end":
            self._ended = True
        elif event["event"] == "collected" and len(self._collected) < _MOST_TESTS:
            self._collected.update(_short_text(name) for name in event["tests"])
        elif event["event"] == "test" and len(self._reported) < _MOST_TESTS:
            name = _short_text(event["name"])
            test = {key: _storable(event[key]) for key in ("outcome", "message", "text") if isinstance(event[key], str)}
            if len(test) == 3 and self._reported.get(name, {}).get("outcome") != "failed":  # a failure stays
                self._reported[name] = test


def read_check_report(file: Path, hide: Callable[[str], str] = str) -> dict[str, Any] | None:
    """Read the report of `sandbox_process`; return None if it is malformed. `hide` is applied to texts."""
    content = read_report(file)
    try:
        answer = json.loads(content or b"")
        checks = [
            {name: _short_text(check[name]) for name in ("kind", "subject", "name", "result")}
            | {name: hide(_short_text(check[name])) for name in ("explanation", "remedy")}
            for check in answer["checks"]
        ]
        about = {_short_text(name): dict(entry) for name, entry in answer["about"].items()}
        return {"checks": checks, "about": _storable(about), "error": hide(_short_text(answer["error"]))}
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
        return {_short_text(name): _storable(item, depth - 1) for name, item in list(value.items())[:_KEPT]}
    if isinstance(value, list) and depth:
        return [_storable(item, depth - 1) for item in value[:_KEPT]]
    is_stored = isinstance(value, bool) or (isinstance(value, int | float) and abs(value) < 2**63)  # no NaN, infinities
    return value if is_stored else None


EVENTS = "BRAINSCORE_TEST_EVENTS"
"""The variable that lets the pytest plugin of this platform report each test."""

TEST_FOLDERS = "brainscore-test-"
"""Prefix of the names of temporary folders."""

_NOT_NOW = "the site cannot run tests at the moment"
_PROCESSES = 256
_OUTPUT = 16 << 20  # bytes
_SCRIPT = Path(sandbox_process.__file__)
_ORDER = ("data", "metrics", "models", "benchmarks")


@dataclass(frozen=True)
class SandboxInputs:
    """What the sandbox of a submission contains besides the platform; `hide` removes paths of the server from text."""

    plugins: Path
    mirror: Path
    files: tuple[Path, ...]
    answers: Path
    hide: Callable[[str], str]


@dataclass
class SandboxRun:
    """Work that runs code of a revision in sandboxes."""

    lease: Lease[Any]  # the lease of the work
    log: StepLog
    shown: SandboxInputs  # what the sandboxes contain, from `prepared_inputs`
    seconds: float  # time limit of a process
    end: float = math.inf  # when all processes must have ended, by `time.monotonic`


def run_tests(lease: Lease[Step]) -> Outcome | None:
    """Run the test step."""
    require_sandbox_here()
    revision = lease.row.revision
    with prepared_inputs(revision) as shown:
        limits = settings.SUBMISSIONS
        end = time.monotonic() + limits["tests_seconds"]
        run, tally = SandboxRun(lease, StepLog(lease), shown, limits["test_seconds"], end), Tally()
        for plugin in sorted(revision.plugins, key=lambda plugin: (_ORDER.index(plugin["kind"]), plugin["name"])):
            if time.monotonic() > end:
                tally.add_untested(f"{plugin['kind']}/{plugin['name']}", limits["tests_seconds"])
                continue
            _test_plugin(run, tally, plugin["kind"], plugin["name"])
            if lease.is_lost():
                return None
    reason = tally.in_words()
    return Outcome(passed=not reason, reason=reason, log=run.log.text, result=tally.result)


def sandbox_problem() -> UserError | None:
    """Return why this machine cannot run submitted code, with a remedy; None if it can."""
    if missing := worker_problem():
        return missing
    try:
        require_sandbox(control_group=not settings.SUBMISSIONS["without_control_group"])
    except UserError as error:
        return error
    return None


def require_sandbox_here() -> None:
    """Postpone the step if the site has no sandbox, or lacks packages such as pytest, rather than skip the tests."""
    if missing := sandbox_problem():
        raise Postponed(_NOT_NOW, str(missing)) from missing


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
        plugins = folder_shown_to(revision)
        site = Path(settings.SUBMISSIONS["folder"]).expanduser().absolute()
        hide = PathFilter([plugins, unpacked(revision)], [place, site])
        yield SandboxInputs(plugins, mirror, tuple(dict.fromkeys(files)), answers, hide)


def _link_into_mirror(mirror: Path, address: str, path: Path) -> None:
    """Link a file at the place in the mirror where the library looks for its address."""
    from urllib.parse import unquote, urlsplit

    url = urlsplit(address)
    host = url.netloc.rpartition("@")[2].lower()
    names = [unquote(name) for name in url.path.split("/") if name]
    if url.query and names:
        names[-1] = f"{names[-1]}?{url.query}"
    # this process is not sandboxed, so no part may lead out of the mirror
    if not names or any(one in ("", ".", "..") or "/" in one or "\0" in one for one in (host, *names)):
        return
    link = mirror.joinpath(host, *names)
    with suppress(FileExistsError, NotADirectoryError, IsADirectoryError):  # one address is a parent of another
        link.parent.mkdir(parents=True, exist_ok=True)
        link.unlink(missing_ok=True)
        link.symlink_to(path)


def _test_plugin(run: SandboxRun, tally: Tally, kind: str, name: str) -> None:
    """Run the tests of one plugin, then its checks."""
    folder = run.shown.plugins / kind / name
    try:
        environment = environment_for(folder, say=run.log.say)
    except RequirementsError as error:  # the check step could still install them
        raise StepFailed(run.shown.hide(error.message), log=run.log.text) from error
    try:
        answer = run.shown.answers / f"{kind}-{name}"
        answer.mkdir(mode=0o755)
        files = sorted(map(str, {*folder.rglob("test.py"), *folder.rglob("test_*.py")}))
        if files:
            run.log.say(f"Tests of {kind}/{name}")
            options = ["--import-mode=importlib", "-p", "brainscore.pytest_plugin", "-p", "no:cacheprovider", "-c"]
            events = EventReader(f"brainscore-test-event-{secrets.token_hex(8)}", run.shown.hide)
            command = ["-m", "pytest", *options, os.devnull, "-ra", "--tb=short"]
            command += [f"--rootdir={run.shown.plugins}", *files]
            ended = run_python(run, environment, None, command, events=events)
            tally.add_tests(f"{kind}/{name}", events.report(), ended)
        else:
            run.log.say(f"{kind}/{name} has no tests")
        run.log.say(f"Checks of {kind}/{name}")
        report = empty_file(answer / "checks.json")
        command = [sandbox_process.__file__, "check", kind, str(folder), str(report)]
        ended = run_python(run, environment, report, command)
        tally.add_checks(f"{kind}/{name}", read_check_report(report, run.shown.hide), ended)
    finally:
        environment.release()


def empty_file(file: Path) -> Path:
    """Create a file that the sandbox may write."""
    file.touch(mode=0o644)
    return file


def run_python(
    run: SandboxRun,
    environment: Environment,
    report: Path | None,
    arguments: list[str],
    *,
    events: EventReader | None = None,
) -> Ended:
    """Run Python in a sandbox with the revision's plugins, their environment and public files, but no network."""
    shown, memory = run.shown, int(settings.UPLOADS["memory"])
    folders = [environment.folder] if environment.folder.is_dir() else []
    sandbox = Sandbox(
        folders=[shown.plugins, shown.mirror, *folders],
        files=[*shown.files, _SCRIPT],
        writable=[] if report is None else [report],
        environment={
            **({} if events is None else {EVENTS: events.start}),
            "BRAINSCORE_PLUGINS": str(shown.plugins),
            "BRAINSCORE_PLUGINS_REPLACE": "0",
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
        with OutputLines(run.log.add, run.shown.hide, None if events is None else events.take) as output:
            ended = run_in_sandbox(
                [str(environment.python or sys.executable), "-P", *arguments],
                sandbox,
                timeout=max(min(run.seconds, run.end - time.monotonic()), 1.0),
                max_output=_OUTPUT,
                on_output=output.add,
                stopped=stopped,
            )
    except UserError as error:
        raise Postponed(_NOT_NOW, str(error)) from error
    if ended.message:
        run.log.say(f"The process {run.shown.hide(ended.message)}")
    return ended
