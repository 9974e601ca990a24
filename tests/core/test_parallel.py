"""Evaluations in several processes give the results of one, in order, and pass on errors."""

import os
import signal

import pytest

from brainscore_core import parallel
from brainscore_core.errors import UserError
from brainscore_core.parallel import evaluate

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="processes are copied")


@pytest.fixture
def two(monkeypatch):
    monkeypatch.setattr(parallel, "_processes", lambda: 2)
    monkeypatch.setattr(parallel, "WORTHWHILE", 0)


def test_several_processes_evaluate_in_order(two):
    local = {number: number**2 for number in range(20)}  # what is not transferred is there nevertheless
    found = list(evaluate(lambda number: (local[number], os.getpid()), range(20), together=3))
    assert [value for value, _ in found] == list(local.values())
    processes = [process for _, process in found]
    assert processes[0] == os.getpid()  # to learn how long it takes
    assert os.getpid() not in processes[1:]
    assert len(set(processes[1:])) <= 2
    assert all(len(set(processes[1 + start : 4 + start])) == 1 for start in range(0, 18, 3))


def test_short_work_stays_in_this_process(two, monkeypatch):
    monkeypatch.setattr(parallel, "WORTHWHILE", 100)
    assert set(evaluate(lambda number: os.getpid(), range(20))) == {os.getpid()}


def test_an_error_is_raised_here(two):
    def fail_late(number):
        if number == 5:
            raise KeyError("no such number")
        return number

    found = []
    with pytest.raises(KeyError, match="no such number"):
        found.extend(evaluate(fail_late, range(10)))


def test_a_process_that_is_killed_is_reported(two):
    own = os.getpid()

    def end(number):
        if os.getpid() != own:
            os.kill(os.getpid(), signal.SIGKILL)
        return number

    with pytest.raises(UserError, match="memory"):
        list(evaluate(end, range(10)))
