"""Subjects in sandboxes: they answer as they do without, and what they try is named."""

import os
import textwrap

import numpy as np
import pytest

from brainscore_core.errors import UserError
from brainscore_core.isolation import SubjectFailed, SubjectOutOfMemory, start_model_process
from brainscore_core.isolation.sandbox import Sandbox, require_sandbox

MODULE = """
import os, socket, subprocess, sys, time
import numpy as np


class Subject:
    def __init__(self, name):
        self.identifier = name

    def echo(self, *args):
        return list(args)

    def user(self):
        return os.getuid(), os.environ.get("SECRET_TOKEN"), os.getcwd()

    def read(self, path):
        with open(path) as file:
            return file.read()

    def listing(self, path):
        return sorted(os.listdir(path))

    def large(self, count):
        return np.arange(count, dtype=float)

    def take_memory(self):
        kept = []
        while True:
            kept.append(np.ones(1_000_000))

    def fork(self):
        while True:
            try:
                subprocess.Popen(["sleep", "60"])
            except OSError:
                time.sleep(0.01)

    def answer_more(self):
        os.write(int(sys.argv[1]), b'{"body":{"id":99,"answer":1},"payloads":[]}\\n')

    def hand_over_what_is_no_file(self):
        import array
        connection = socket.socket(fileno=os.dup(int(sys.argv[1])))
        connection.setblocking(True)
        connection.send(b'{"body":{"id":2},"payloads":[["file",8]]}\\n')
        held = [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", [os.open("/dev/zero", os.O_RDONLY)]))]
        connection.sendmsg([b"F"], held)
        time.sleep(60)
"""


def can_sandbox():
    try:
        require_sandbox()
    except UserError:
        return False
    return True


# where CI is set they fail instead: nobody would notice that they are left out
pytestmark = pytest.mark.skipif(not os.environ.get("CI") and not can_sandbox(), reason="no sandboxes on this machine")


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    made = tmp_path_factory.mktemp("plugin")
    made.chmod(0o755)
    (made / "caged_subject.py").write_text(textwrap.dedent(MODULE))
    return made


@pytest.fixture(scope="module")
def start(folder):
    started = []

    def start(*, timeout=60, max_output=1 << 20, **options):
        limits = {"memory": 600_000_000, "processes": 60, "scratch": 50_000_000, **options}
        sandbox = Sandbox(
            folders=[folder], environment={"PYTHONPATH": str(folder), "OPENBLAS_NUM_THREADS": "1"}, **limits
        )
        subject = start_model_process(
            "caged_subject:Subject", "mine", sandbox=sandbox, timeout=timeout, max_output=max_output
        )
        started.append(subject)
        return subject

    yield start
    for subject in started:
        subject.close()


@pytest.fixture(scope="module")
def subject(start):
    """One that stays well."""
    os.environ["SECRET_TOKEN"] = "abc"
    try:
        return start()
    finally:
        del os.environ["SECRET_TOKEN"]


class TestAnswers:
    def test_values_arrays_and_user(self, subject):
        assert subject.call("echo", 1, "a") == [1, "a"]
        np.testing.assert_array_equal(subject.call("large", 400_000), np.arange(400_000.0))
        assert subject.call("user") == (1000, None, "/tmp/home")

    def test_files_are_shown_while_they_are_lent(self, subject, tmp_path):
        one, other = tmp_path / "one dog.txt", tmp_path / "other.txt"
        one.write_text("one")
        other.write_text("other")
        other.chmod(0o600)  # root's own, for instance
        with pytest.raises(SubjectFailed, match="FileNotFoundError"):
            subject.call("read", str(one))
        lend = subject.sandbox.lend
        with lend([str(one)]) as kept:
            with lend([one, other, tmp_path / "missing", tmp_path]) as inside:
                assert set(inside) == {str(one), str(other)}
                assert {"dog" in str(path) for path in inside.values()} == {False}
                assert [subject.call("read", str(path)) for path in inside.values()] == ["one", "other"]
            assert subject.call("read", str(kept[str(one)])) == "one"
            with pytest.raises(SubjectFailed, match="FileNotFoundError"):
                subject.call("read", str(inside[str(other)]))
        assert subject.call("listing", "/stimuli") == []
        assert one.read_text() == "one"
        assert other.stat().st_mode & 0o777 == 0o600


class TestFailures:
    @pytest.mark.slow(reason="starts models in sandboxes")
    @pytest.mark.parametrize(
        ("method", "options", "kind", "cause", "message"),
        [
            ("take_memory", {}, SubjectOutOfMemory, "crash", r"used more than 600.0 MB of memory \(in take_memory\)"),
            ("fork", {}, SubjectFailed, "crash", r"ran more than 60 processes and threads \(in fork\)"),
            ("answer_more", {}, SubjectFailed, "protocol", "an answer to another request"),
            ("hand_over_what_is_no_file", {}, SubjectFailed, "protocol", "is not a file of 8 bytes"),
        ],
    )
    def test_what_ends_it_is_said(self, start, method, options, kind, cause, message):
        subject = start(**options)
        with pytest.raises(kind, match=message) as caught:
            subject.call(method)
        assert caught.value.cause == cause
        assert not subject.running
