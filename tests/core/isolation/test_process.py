"""Subjects in processes of their own: what they answer, and how they fail."""

import multiprocessing
import os
import signal
import sys
import tempfile
import time
import warnings

import numpy as np
import pytest

from brainscore_core.errors import DataUnavailable, NotApplicable, UserError
from brainscore_core.isolation import (
    CannotTravel,
    SubjectFailed,
    SubjectOutOfMemory,
    process,
    start_model_process,
    values,
)
from brainscore_core.isolation.values import raise_error, take_over
from brainscore_core.isolation.wire import WireError
from brainscore_core.plugins.loading import MissingRequirementError
from brainscore_core.provenance import recording
from brainscore_core.supported_data_standards.brainio.downloads import IncompleteDownload, Offline

pytestmark = pytest.mark.skipif(os.name != "posix", reason="needs POSIX")


def lives(pid):
    try:
        os.kill(pid, 0)
        with open(f"/proc/{pid}/stat") as status:
            return status.read().rpartition(")")[2].split()[0] not in "ZX"
    except (ProcessLookupError, FileNotFoundError):
        return False


def wait_for_the_end(pids, within=20):
    until = time.monotonic() + within
    while time.monotonic() < until:
        if not any(map(lives, pids)):
            return
        time.sleep(0.02)
    pytest.fail(f"still there: {[pid for pid in pids if lives(pid)]}")


class TestAnswers:
    def test_arguments_and_results(self, subject):
        assert subject.call("echo", 1, "a", b=(2, None)) == [1, "a", {"b": (2, None)}]

    def test_attributes_can_be_read(self, subject):
        assert subject.call("identifier") == "mine"
        assert subject.call("options") == {"a": 1}

    def test_large_arrays(self, subject):
        there = np.random.default_rng(1).standard_normal((400, 1000))
        (back, _) = subject.call("echo", there)
        np.testing.assert_array_equal(back, there)
        np.testing.assert_array_equal(subject.call("large", 400, 1), there)
        assert subject.peak_memory > 10_000_000

    def test_it_runs_elsewhere(self, subject):
        pid = subject.call("pid")
        assert pid not in (os.getpid(), subject.pid)
        assert subject.python_version == ".".join(map(str, sys.version_info[:3]))
        assert subject.call("environment", "OMP_NUM_THREADS") == "1"
        assert subject.running

    def test_signature(self, subject):
        found = subject.signature("start_task")
        assert list(found.parameters) == ["task", "fitting_stimuli", "number_of_trials"]
        assert found.parameters["number_of_trials"].kind.name == "KEYWORD_ONLY"
        assert found.parameters["task"].default is found.empty
        assert subject.signature("no_such_method") is None

    def test_notes_and_warnings_come_along(self, subject):
        with (
            recording() as record,
            pytest.warns(RuntimeWarning, match="a region was guessed"),
            pytest.warns(DeprecationWarning, match="a category of its own"),
        ):
            subject.call("remember")
        assert record.items == [
            {"kind": "cache", "hits": 3, "misses": 1},
            {"kind": "weights", "identifier": "mine", "sha256": "00ff"},
        ]

    @pytest.mark.parametrize(
        ("kind", "raised", "message"),
        [
            ("not applicable", NotApplicable, "it has no such region"),
            ("user", UserError, "weights are missing\ndownload them"),
            ("data", DataUnavailable, "no data\nask for them"),
            ("fetched", IncompleteDownload, "half a file\ntry again"),
            ("connection", Offline, "[Errno 111] Connection refused"),
            ("other", SubjectFailed, "the subject 'mine' raised ValueError: shapes do not match"),
        ],
    )
    def test_errors_are_the_callers(self, subject, kind, raised, message):
        with pytest.raises(raised) as caught:
            subject.call("raise_it", kind)
        assert str(caught.value) == message
        assert type(caught.value) is raised
        assert "misbehaving.py" in caught.value.__notes__[0]
        assert subject.call("identifier") == "mine", "it can still be asked"

    def test_what_does_not_travel_harms_nobody(self, subject):
        with pytest.raises(CannotTravel, match="a object cannot be sent"):
            subject.call("echo", object())
        with pytest.raises(UserError, match="a object cannot be sent"):
            subject.call("give_what_does_not_travel")
        assert subject.call("echo", 1) == [1, {}]

    def test_private_and_absent_methods(self, subject):
        with pytest.raises(UserError, match="'_secret' is private"):
            subject.call("_secret")
        with pytest.raises(SubjectFailed, match="AttributeError"):
            subject.call("absent")

    def test_one_life(self, start):
        """A command before the interpreter, what it prints, and its end."""
        heard = []

        def listen(text):
            time.sleep(0 if heard else 0.1)  # the answer is here before all that was printed is heard
            heard.append(text)

        subject = start(prefix=["env", "WANTED=yes"], on_output=listen)
        assert subject.call("environment", "WANTED") == "yes"
        subject.call("print_much", 1)
        assert "".join(heard) == subject.log == "x" * 9999 + "\n"
        subject.call("print_much", 300)
        pids = [subject.pid, *subject.call("children")]
        assert all(map(lives, pids))
        subject.close()
        wait_for_the_end(pids)
        assert "".join(heard).count("x") == 9999 * 301
        assert len(subject.log) < 1_100_000
        assert "bytes are left out here" in subject.log
        subject.close()  # again does nothing
        with pytest.raises(SubjectFailed, match="it was closed"):
            subject.call("identifier")


class TestFailures:
    @pytest.mark.parametrize(
        ("method", "args", "cause", "message"),
        [
            ("segmentation_fault", [], "crash", r"ended by signal 11 \(segmentation fault\) \(in segmentation_fault\)"),
            ("be_killed", [], "crash", r"ended by signal 9 \(killed\).*memory ran out"),
            ("noise", ["hello\n"], "protocol", "an answer that cannot be read .*not JSON"),
            ("answer_another_question", [], "protocol", "an answer to another request"),
            ("print_for_ever", [], "output", "printed more than 20.0 MB"),
            ("close_the_connection", [], "protocol", "closed its connection"),
        ],
    )
    def test_what_ends_it_is_said(self, start, light, monkeypatch, method, args, cause, message):
        if method == "close_the_connection":  # it does not end by itself, however long one waits
            monkeypatch.setattr(process, "_GRACE", 0.2)
        subject = start(python=light, max_output=20_000_000)
        with pytest.raises(SubjectFailed, match=f"(?s)the subject 'mine' .*{message}") as caught:
            subject.call(method, *args)
        assert caught.value.cause == cause
        assert isinstance(caught.value, SubjectOutOfMemory) == (method == "be_killed")
        assert not lives(subject.pid)
        with pytest.raises(SubjectFailed, match="no longer answers"):
            subject.call("identifier")

    def test_leaving(self, start):
        with pytest.raises(SubjectFailed, match=r"(?s)ended with exit status 3.*leaving now") as caught:
            start().call("leave", 3)
        assert caught.value.cause == "exit"

    def test_out_of_memory(self, subject):
        with pytest.raises(SubjectOutOfMemory, match="MemoryError"):
            subject.call("run_out_of_memory")

    @pytest.mark.slow(reason="waits for a limit of time")
    def test_hanging(self, start, light):
        subject = start(python=light, timeout=1.5)
        with pytest.raises(SubjectFailed, match=r"no answer within 1.5 s \(in hang\)(?s:.*)  \| hanging") as caught:
            subject.call("hang")
        assert caught.value.cause == "timeout"
        assert not lives(subject.pid)

    @pytest.mark.parametrize(
        ("about", "message"),
        [
            ({"notes": [{"identifier": "a"}]}, "a NoneType instead of a str"),
            ({"notes": [{"kind": "file"}] * 10_001}, "10001 notes"),
            ({"notes": [{"kind": "", "identifier": "a"}]}, "without a kind"),
            ({"warnings": [["text", [], "file.py", 3]] * 101}, "101 warnings"),
            ({"warnings": [["x" * 100_001, [], "file.py", 3]]}, "a warning of 100001 characters"),
            ({"warnings": [["text", [], "file.py"]]}, "an invalid warning"),
            ({"warnings": [["text", [], "file.py", "3"]]}, "a str instead of a int"),
            ({"peak_bytes": "much"}, "a str instead of a int"),
            ({"more": 1}, "an unknown part"),
        ],
    )
    def test_invalid_notes_and_warnings_are_refused(self, about, message):
        with recording() as record, pytest.raises(WireError, match=message):
            take_over({"notes": [], "warnings": [], "peak_bytes": 1, **about})
        assert not [item for item in record.items if item["kind"] != "file"]

    def test_a_warning_shows_no_line_of_a_file_of_this_machine(self, tmp_path):
        secret = tmp_path / "secret"
        secret.write_text("first\npassword = of the site\n")
        with warnings.catch_warnings():
            warnings.simplefilter("always")
            shown = warnings.formatwarning
            said = []
            warnings.showwarning = lambda message, category, file, line, *_: said.append(
                shown(message, category, file, line)
            )
            take_over({"notes": [], "warnings": [["look", ["UserWarning"], str(secret), 2]], "peak_bytes": 1})
        assert "look" in said[0]
        assert "password" not in said[0]

    def test_warnings_that_were_seen_take_bounded_memory(self):
        with warnings.catch_warnings():
            warnings.simplefilter("default")
            warnings.filterwarnings("ignore", message="number")
            for start in range(0, 2000, 100):
                warned = [[f"number {start + place}", ["UserWarning"], "a.py", 1] for place in range(100)]
                take_over({"notes": [], "warnings": warned, "peak_bytes": 1})
            warnings.simplefilter("once")
            with pytest.warns(UserWarning, match="another"):
                take_over({"notes": [], "warnings": [["another", ["UserWarning"], "a.py", 1]], "peak_bytes": 1})
        assert len(values._seen) <= 1002

    @pytest.mark.parametrize(
        "error",
        [
            {},
            {"kind": "worse", "type": "", "message": "", "remedy": None, "traceback": ""},
            {"kind": "other", "type": "", "message": 3, "remedy": None, "traceback": ""},
            "an error",
        ],
    )
    def test_errors_that_are_none(self, error):
        with pytest.raises(WireError):
            raise_error("mine", error)

    def test_loading_fails(self, start):
        with pytest.raises(MissingRequirementError, match="No module named 'no_such_module_at_all'"):
            start("load_badly")
        with pytest.raises(SubjectFailed, match=r"(?s)ended by signal 6.*while it was loaded.*reading the weights"):
            start("load_and_die")

    def test_platform_is_not_installed_there(self, start, tmp_path):
        environment = tmp_path / "bare"
        (environment / "bin").mkdir(parents=True)
        (environment / "pyvenv.cfg").write_text(f"home = {os.path.dirname(os.path.realpath(sys.executable))}\n")
        python = environment / "bin" / "python"
        python.symlink_to(os.path.realpath(sys.executable))
        with pytest.raises(SubjectFailed, match=r"did not start.*No module named 'brainscore_core'") as caught:
            start(python=python, more={"PYTHONPATH": ""})
        assert caught.value.remedy == f"install the missing package: {python} -m pip install brainscore"

    def test_no_such_interpreter(self, start, tmp_path):
        with pytest.raises(SubjectFailed, match=r"did not start: .*python cannot be started: No such file"):
            start(python=tmp_path / "python")

    def test_it_is_never_ready(self, start, tmp_path):
        python = tmp_path / "python"
        python.write_text("#!/bin/sh\nsleep 600\n")
        python.chmod(0o755)
        with pytest.raises(SubjectFailed, match=r"was not ready within 0\.5 s"):
            start(python=python, start_timeout=0.5)

    def test_another_protocol(self, start, tmp_path):
        python = tmp_path / "python"
        hello = b'{"body":{"protocol":0},"payloads":[]}\n'
        code = f"import os, sys, time\nos.write(int(sys.argv[-1]), {hello!r})\ntime.sleep(600)\n"
        python.write_text(f"#!{sys.executable}\n{code}")
        python.chmod(0o755)
        with pytest.raises(SubjectFailed, match="uses another protocol") as caught:
            start(python=python)
        assert "same version of Brain-Score" in caught.value.remedy


class TestNothingIsLeft:
    """After closing: ``TestAnswers.test_one_life``."""

    def test_after_it_was_dropped(self, variables, light):
        subject = start_model_process("misbehaving:load", "mine", python=light, environment=variables, timeout=60)
        pids = [subject.pid, *subject.call("children")]
        assert all(map(lives, pids))
        del subject
        wait_for_the_end(pids)

    @pytest.mark.skipif(sys.platform != "linux", reason="elsewhere, children may stay for half a second")
    def test_after_its_guard_was_killed(self, start, light):
        subject = start(python=light)
        pid = subject.call("pid")
        os.kill(subject.pid, signal.SIGKILL)
        wait_for_the_end([pid])
        with pytest.raises(SubjectFailed):
            subject.call("identifier")

    def test_after_the_scoring_process_was_killed(self, variables, tmp_path):
        context = multiprocessing.get_context("fork")
        ours, theirs = context.Pipe()
        parent = context.Process(target=_score, args=({**variables, "TMPDIR": str(tmp_path)}, theirs), daemon=True)
        parent.start()
        assert ours.poll(60)
        pids = ours.recv()
        assert all(map(lives, pids))
        parent.kill()
        parent.join()
        wait_for_the_end(pids)
        assert list(tmp_path.iterdir()) == []

    def test_interrupted(self, start, light, monkeypatch):
        before = signal.signal(signal.SIGINT, signal.default_int_handler)
        try:
            # it prints once it was asked
            subject = start(python=light, on_output=lambda text: os.kill(os.getpid(), signal.SIGINT))
            pids = [subject.pid, *subject.call("children")]
            monkeypatch.setattr(process, "_GRACE", 0.2)
            with pytest.raises(KeyboardInterrupt):
                subject.call("hang")
        finally:
            signal.signal(signal.SIGINT, before)
        wait_for_the_end(pids)


def _score(variables, connection):
    os.environ.clear()
    os.environ.update(variables)
    tempfile.tempdir = None  # the folder of the variables
    subject = start_model_process("misbehaving:load", "mine", timeout=60)
    array = subject.call("large", 1000, 0)
    connection.send([subject.pid, *subject.call("children")])
    subject.call("hang")
    del array


def test_warnings_can_be_made_errors(subject):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(RuntimeWarning):
            subject.call("remember")
    assert subject.call("identifier") == "mine"
