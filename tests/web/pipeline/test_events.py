"""Results of tests as a plugin's process reports them: what counts, and what a plugin cannot do."""

import json
import math
import os
import subprocess
import sys
import time

import pytest

from brainscore_core.isolation.sandbox import Ended
from brainscore_web.submissions.pipeline import testing
from brainscore_web.submissions.pipeline.testing import EventReader, Tally

FINE = Ended(cause="", status=0, message="", output="", seconds=1.0)
TESTS = """
import pytest


def test_passes():
    print("printed")


def test_fails():
    assert 1 + 1 == 3


@pytest.mark.skip(reason="it needs data that are not public")
def test_is_skipped():
    pass


@pytest.mark.xfail
def test_is_expected_to_fail():
    assert False


@pytest.fixture
def broken():
    raise ValueError("no fixture")


def test_with_a_broken_fixture(broken):
    pass
"""


@pytest.fixture
def run(tmp_path):
    """``run(text, …)`` runs tests in a process of its own; returns the tally, the events and what else was printed."""

    def run(text, *more):
        (tmp_path / "test.py").write_text(text)
        events = EventReader("event-3f2a")
        command = [sys.executable, "-m", "pytest", "-p", "brainscore.pytest_plugin", "-p", "no:cacheprovider"]
        command += ["-q", "--tb=short", "-c", os.devnull, f"--rootdir={tmp_path}", str(tmp_path / "test.py"), *more]
        environment = {**os.environ, "BRAINSCORE_TEST_EVENTS": events.start, "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
        done = subprocess.run(command, capture_output=True, text=True, env=environment, cwd=tmp_path, timeout=120)
        printed = "".join(map(events.take, done.stdout.splitlines(keepends=True)))
        tally = Tally()
        cause = "" if done.returncode == 0 else "exit"
        tally.add_tests("models/mine", events.report(), Ended(
            cause=cause, status=done.returncode, message="ended", output="", seconds=1.0))  # fmt: skip
        return tally, events.report(), printed

    return run


def test_each_test_is_reported_once(run):
    tally, report, printed = run(TESTS)
    assert [tally.result[name] for name in ("passed", "skipped", "skipped_private", "failed")] == [2, 1, 1, 2]
    assert (report.missing, report.ended) == (0, True)
    failed, broken = report.failures
    assert failed["name"] == "test.py::test_fails"
    assert "assert (1 + 1) == 3" in failed["message"]
    assert "no fixture" in broken["message"]
    assert "event-3f2a" not in printed
    assert "short test summary" in printed


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("import os\ndef test_it(): os._exit(0)\n", "their process ended before the tests did"),
        ("import os\nos._exit(0)\n", "their process ended before the tests did"),
        ("raise ValueError('not importable')\n", "cannot be collected"),
    ],
)
def test_a_process_that_ends_early_has_not_passed(run, text, message):
    tally, _, _ = run(text)
    assert tally.result["failed"]
    assert message in [failure["message"] for failure in tally.result["failures"]]


def test_a_report_of_the_plugins_own_counts_for_nothing(run, tmp_path):
    forged = f"from pathlib import Path\nPath({str(tmp_path / 'tests.xml')!r}).write_text('<testsuite/>')\n"
    tally, _, _ = run(forged + "def test_it(): assert False\n", f"--junitxml={tmp_path / 'tests.xml'}")
    assert (tally.result["passed"], tally.result["failed"]) == (0, 1)


def _tally(*events):
    found = EventReader("x")
    for event in events:
        found.take(f"x {event if isinstance(event, str) else json.dumps(event)}\n")
    tally = Tally()
    tally.add_tests("models/mine", found.report(), FINE)
    return tally.result


COLLECTED = {"event": "collected", "tests": ["a", "b"]}
END = {"event": "end", "status": 0}


def test_tests_that_are_not_reported_fail():
    passed = {"event": "test", "name": "a", "outcome": "passed", "message": "", "text": ""}
    assert _tally(COLLECTED, passed, END)["failures"][0]["message"] == "1 collected test was not reported"
    assert not _tally(COLLECTED, passed, {**passed, "name": "b"}, END)["failed"]


def test_a_failure_that_was_reported_stays():
    failed = {"event": "test", "name": "a", "outcome": "failed", "message": "no", "text": ""}
    passed = {**failed, "outcome": "passed"}
    assert _tally(COLLECTED, failed, passed, {**passed, "name": "b"}, END)["failed"] == 1


@pytest.mark.parametrize(
    "nonsense", ["", "{", "[]", "null", '{"event": "test"}', '{"event": "collected", "tests": 3}', "[" * 10_000]
)
def test_nonsense_is_ignored(nonsense):
    assert not _tally(nonsense, END)["failed"]


def test_the_sandbox_sees_the_plugins_and_their_environment_only(monkeypatch, tmp_path, settings):
    """Neither projects that are installed in place nor the folders of PYTHONPATH; a process has what time is left."""
    shown, times = [], []

    def run_in_sandbox(command, sandbox, *, timeout, **_):
        shown.append(sandbox)
        times.append(timeout)
        return FINE

    monkeypatch.setattr(testing, "run_in_sandbox", run_in_sandbox)
    own = tmp_path / "environment"
    own.mkdir()

    class Environment:
        folder, mounts, python = own, (tmp_path / "project",), None

    class Run:
        shown = testing.SandboxInputs(tmp_path / "plugins", tmp_path / "mirror", (), tmp_path, str)
        seconds, end = 60.0, math.inf

        class log:
            add = say = flush = staticmethod(lambda *_: None)

    testing.run_python(Run, Environment, None, ["-m", "pytest"])
    assert list(shown[0].folders) == [tmp_path / "plugins", tmp_path / "mirror", own]
    for Run.end in (time.monotonic() + 30, time.monotonic() - 30):
        testing.run_python(Run, Environment, None, ["-m", "pytest"])
    assert (times[0], 25 < times[1] <= 30, times[2]) == (60, True, 1)
