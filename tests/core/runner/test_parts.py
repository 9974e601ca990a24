"""Options, memory of processes, names of scorers."""

import subprocess
import sys

import pytest

from brainscore_core.errors import UserError
from brainscore_core.runner import ClusterOptions
from brainscore_core.runner.pair import split_scorer
from brainscore_core.runner.process import _ended
from brainscore_core.runner.process_tree import descendants, end_all, memory_of


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"workers": 0}, "workers is 0"),
        ({"workers": True}, "workers is True"),
        ({"workers": 1.5}, "workers is 1.5"),
        ({"threads_per_worker": 0}, "threads_per_worker is 0"),
        ({"gpus": -1}, "gpus is -1"),
        ({"memory": 0}, "memory is 0"),
        ({"timeout": float("nan")}, "timeout is nan"),
        ({"scheduler": "10.0.0.1"}, "'10.0.0.1' is not an address"),
        ({"scheduler": "tcp://10.0.0.1:8786", "slurm": "a.yaml"}, "cannot be used together"),
    ],
)
def test_impossible_options_are_refused(options, message):
    with pytest.raises(UserError, match=message):
        ClusterOptions(**options)


def test_memory_is_shared_out(monkeypatch):
    monkeypatch.setenv("BRAINSCORE_MAX_MEMORY", "8GB")
    assert ClusterOptions(workers=4).worker_memory == 2_000_000_000
    assert ClusterOptions(workers=4).bigger_memory == 8_000_000_000
    assert ClusterOptions(workers=4, memory=1_000_000_000).bigger_memory == 4_000_000_000
    assert ClusterOptions(workers=4, memory=3_000_000_000).bigger_memory == 8_000_000_000
    assert ClusterOptions(workers=1, memory=3_000_000_000).bigger_memory == 3_000_000_000
    assert ClusterOptions(workers=1).bigger_memory == 8_000_000_000
    assert ClusterOptions(workers=2, memory=9_000_000_000).bigger_memory == 9_000_000_000


def test_memory_of_a_process_and_what_it_started():
    pytest.importorskip("psutil")
    inner = "kept = bytearray(b'x' * 100_000_000); print('there', flush=True); input()"
    outer = f"import subprocess, sys; subprocess.run([sys.executable, '-c', {inner!r}])"
    process = subprocess.Popen(
        [sys.executable, "-c", outer], stdin=subprocess.PIPE, stdout=subprocess.PIPE, start_new_session=True
    )
    try:
        assert process.stdout.readline() == b"there\n"
        others = descendants(process.pid)
        assert len(others) == 1
        assert memory_of([process.pid]) < 100_000_000 < memory_of([process.pid, *others]) < 200_000_000
    finally:
        end_all([process.pid])
        process.communicate(timeout=10)
    assert memory_of([process.pid, *others]) < 100_000_000


@pytest.mark.parametrize("name", ["module", "module.function", "a b:c", "module:", ":function", "module:a.b"])
def test_what_names_no_function_is_refused(name):
    with pytest.raises(UserError, match="is not the name of a function"):
        split_scorer(name)


def test_ends_of_processes_in_words():
    assert _ended(3) == "ended with exit status 3"
    assert _ended(-11) == "died with signal 11 (SIGSEGV)"
    assert _ended(-250) == "died with signal 250"


def test_without_dask_it_is_said_what_to_install(monkeypatch, tmp_path):
    from brainscore_core.runner import run_plan
    from brainscore_core.runner.plan import Listing, make_plan

    monkeypatch.setitem(sys.modules, "distributed", None)
    plan = make_plan(["a"], ["b"], Listing())
    with pytest.raises(UserError, match="runs require Dask") as caught:
        run_plan(plan, store_address=str(tmp_path), scorer="runner_toys:score")
    assert caught.value.remedy == 'pip install "brainscore[cluster]"'
