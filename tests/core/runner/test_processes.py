"""The process that scores, watched: its end, and the memory of what it forks."""

import os
import sys
import time

import pytest

from brainscore_core.runner import process as process_module
from brainscore_core.runner.child import Scored
from brainscore_core.runner.process import Death, ScoringProcess
from brainscore_core.runner.process_tree import end_all, memory_of, proportional_memory_of

psutil = pytest.importorskip("psutil")
pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")

SCORER = """
import os, time
from types import SimpleNamespace

def score(model, benchmark, *, folder, **others):
    if benchmark == "leave":
        child = os.fork()
        if child == 0:
            if model == "alone":
                os.setsid()
            time.sleep(60)
            os._exit(0)
        with open(os.path.join(folder, "child"), "w") as file:
            file.write(str(child))
        os.kill(os.getpid(), 9)
    kept = bytearray(150_000_000)
    kept[::4096] = b"x" * len(kept[::4096])
    for _ in range(3):
        if os.fork() == 0:
            if model == "copies":
                kept[::4096] = b"y" * len(kept[::4096])
            time.sleep(60)
            os._exit(0)
    time.sleep(30 if model == "copies" else 1.5)
    raise LookupError("it lived")
"""


@pytest.fixture
def started(tmp_path, monkeypatch):
    """``started(limit)`` is a process that scores by the functions above."""
    (tmp_path / "forking_scorer.py").write_text(SCORER)
    monkeypatch.setattr(sys, "path", [*sys.path, str(tmp_path)])
    processes = []

    def start(limit=None):
        settings = {
            "scorer": "forking_scorer:score",
            "store": str(tmp_path / "results"),
            "run": "r",
            "isolated": False,
            "options": {"folder": str(tmp_path)},
        }
        processes.append(ScoringProcess(settings, environment=dict(os.environ), limit=limit))
        return processes[-1]

    yield start
    for process in processes:
        process.close()
    if (child := tmp_path / "child").exists():
        end_all([int(child.read_text())])


@pytest.mark.parametrize("model", ["together", "alone"])
def test_a_process_that_dies_is_noticed_while_what_it_forked_holds_its_pipe(started, model):
    death = started().score(model, "leave", timeout=30, stopped=lambda: False)
    assert isinstance(death, Death)
    assert (death.kind, death.message) == ("crash", "died with signal 9 (SIGKILL)")


@pytest.mark.skipif(not os.path.exists("/proc/self/smaps_rollup"), reason="needs smaps_rollup of Linux")
class TestForked:
    def test_what_forked_processes_have_in_common_counts_once(self, started):
        found = started(500_000_000).score("shares", "fork", timeout=30, stopped=lambda: False)
        assert isinstance(found, Scored)
        assert found.error["message"] == "it lived"

    def test_what_each_has_of_its_own_counts(self, started):
        found = started(500_000_000).score("copies", "fork", timeout=30, stopped=lambda: False)
        assert isinstance(found, Death)
        assert (found.kind, "more than 500.0 MB" in found.message) == ("memory", True)


def test_where_the_system_does_not_tell_the_sum_counts(monkeypatch):
    from brainscore_core.runner import process_tree

    one = [os.getpid()]
    monkeypatch.setattr(process_tree, "_PROPORTIONAL", ("Pss_Anon:", "Pss_Shmem:", "No_such_field:"))
    assert proportional_memory_of(one) == pytest.approx(memory_of(one), rel=0.05)
    assert proportional_memory_of([2**22 + 1]) == 0  # no such process


def test_the_closer_look_is_not_taken_again_and_again(started, monkeypatch):
    looks = []
    monkeypatch.setattr(process_module, "memory_of", lambda pids: 1000)
    monkeypatch.setattr(process_module, "proportional_memory_of", lambda pids: looks.append(time.monotonic()) or 400)
    process = started(500)
    assert [process._excess_memory() for _ in range(20)] == [None] * 20
    assert len(looks) == 2
    monkeypatch.setattr(process_module, "memory_of", lambda pids: 1200)
    monkeypatch.setattr(process_module, "proportional_memory_of", lambda pids: 600)
    assert process._excess_memory() == 600
