"""``brainscore run``."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from brainscore.cli.run import _repeated
from brainscore_core.scoring import BenchmarkInfo, ModelInfo, Receipt, ResultsStore
from tests.optional import require_package

require_package("distributed", "needs Dask: pip install 'brainscore[cluster]'")

MODELS = """
import os
from pathlib import Path

from brainscore_core.errors import NotApplicable
from brainscore_vision import model_registry


class Able:
    def __init__(self, value):
        self.value = value


class Crashing:
    @property
    def value(self):
        print('right before the crash')
        os.abort()


def _unable():
    raise NotApplicable('it has no IT')


def _broken():
    print('the weights are at hand')
    raise RuntimeError('the weights are torn')


model_registry['lab-able'] = lambda: Able(0.4)
model_registry['lab-better'] = lambda: Able(0.6)
model_registry['lab-unable'] = _unable
model_registry['lab-broken'] = _broken
model_registry['lab-crashing'] = Crashing
"""

BENCHMARKS = """
import os
import time
from pathlib import Path

import numpy as np

from brainscore_core.metrics import Score, declare_no_error
from brainscore_vision import benchmark_registry


class Benchmark:
    parent = None
    bibtex = None
    ceiling = None
    version = 1

    def __init__(self, identifier, factor):
        self.identifier, self.factor = identifier, factor

    def __call__(self, model):
        print('scoring', self.identifier)
        wait = os.environ.get('WAIT')
        if wait and self.identifier == 'Lab2026.slow-x':
            Path(wait).touch()
            time.sleep(600)
        return declare_no_error(Score(model.value * self.factor), 'there is one stimulus')


benchmark_registry['Lab2026.one-x'] = lambda: Benchmark('Lab2026.one-x', 1)
benchmark_registry['Lab2026.half-x'] = lambda: Benchmark('Lab2026.half-x', 0.5)
benchmark_registry['Lab2026.slow-x'] = lambda: Benchmark('Lab2026.slow-x', 0.25)
benchmark_registry['Lab2026.none-x'] = lambda: Benchmark('Lab2026.none-x', np.nan)
"""


@pytest.fixture(autouse=True)
def _plugins(lab):
    lab("models", "run_lab", MODELS)
    lab("benchmarks", "run_lab", BENCHMARKS)


@pytest.fixture
def folder(tmp_path):
    return tmp_path / "results"


@pytest.fixture
def start(tmp_path, folder):
    """``start('--models', …)`` starts ``brainscore run`` in a process of its own."""
    started = []

    def begin(*arguments, **variables):
        environment = {**os.environ, "BRAINSCORE_HOME": str(tmp_path / "home"), **variables}
        process = subprocess.Popen(
            [sys.executable, "-m", "brainscore", "run", *arguments, "--results", str(folder)],
            env=environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )
        started.append(process)
        return process

    yield begin
    for process in started:
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)
        process.communicate()


@pytest.fixture
def run(start):
    """``run('--models', …)`` waits for it, too, and gives code, output and errors."""

    def finish(*arguments, **variables):
        process = start(*arguments, **variables)
        output, errors = process.communicate(timeout=300)
        return process.returncode, output, errors

    return finish


def receipts(folder):
    return ResultsStore(folder).listing().receipts


def states(folder):
    return {(one.model.identifier, one.benchmark.identifier.split(".")[1]): one.state for one in receipts(folder)}


def test_several_values_follow_an_option():
    arguments = ["--models", "A", "B", "res*", "--dry-run", "--benchmarks=X", "Y", "--workers", "2", "--models", "C"]
    assert _repeated(arguments) == [
        *("--models", "A", "--models", "B", "--models", "res*", "--dry-run", "--benchmarks=X", "--benchmarks", "Y"),
        *("--workers", "2", "--models", "C"),
    ]
    assert _repeated(["--models", "--json"]) == ["--json"]


def test_a_dry_run_shows_the_plan_and_writes_nothing(cli, folder):
    arguments = ("run", "--models", "lab-able", "lab-b*", "--benchmarks", "Lab2026.*", "--results", str(folder))
    result = cli(*arguments, "--dry-run", "--workers", "2")
    assert result.exit_code == 0, result.output
    rows = {line.split()[0]: line.split()[1:3] for line in result.output.splitlines() if line.startswith("lab-")}
    assert rows == {"lab-able": ["4", "0"], "lab-better": ["4", "0"], "lab-broken": ["4", "0"]}
    assert "12 pairs to score, 0 done." in result.output
    assert "no earlier receipts" in result.output
    assert not folder.exists()
    plan = json.loads(cli(*arguments, "--dry-run", "--json").stdout)
    assert len(plan["pending"]) == 12
    assert plan["pending"][0] == {
        "model": "lab-able", "benchmark": "Lab2026.half-x", "why": "missing", "detail": None,
        "seconds": None, "memory": None,
    }  # fmt: skip
    assert plan["pairs_of_unknown_time"] == 12
    assert [task["model"] for task in plan["tasks"]] == ["lab-able", "lab-better", "lab-broken"]


@pytest.mark.slow(reason="starts a cluster of processes")
def test_every_pair_gets_a_receipt_and_a_failure_its_log(run, cli, tmp_path, folder):
    """Of a run in a file, with a model in a file."""
    (tmp_path / "mine.py").write_text(
        "class Subject:\n    value = 0.8\n    def look_at(self, stimuli): ...\n\n\ndef make():\n    return Subject()\n"
    )
    (tmp_path / "run.yaml").write_text(
        "models: [lab-able, lab-unable, lab-broken, 'own=mine.py:make']\n"
        "benchmarks:\n  - Lab2026.one-x\n  - Lab2026.none-x\nresults: somewhere\nworkers: 1\n"
    )
    code, output, errors = run("--file", str(tmp_path / "run.yaml"))
    assert code == 1, errors
    assert not (tmp_path / "somewhere").exists()  # what the command line says counts
    assert states(folder) == {
        ("lab-able", "one-x"): "scored",
        ("lab-able", "none-x"): "undefined",
        ("lab-unable", "one-x"): "not applicable",
        ("lab-unable", "none-x"): "not applicable",
        ("lab-broken", "one-x"): "failed",
        ("lab-broken", "none-x"): "failed",
        ("own", "one-x"): "scored",
        ("own", "none-x"): "undefined",
    }
    lines = sorted(line.split("  ", 1)[1] for line in errors.splitlines())
    assert len(lines) == 8
    assert lines[1].startswith("lab-able  Lab2026.one-x  0.4000 (")
    assert lines[2].startswith("lab-broken  Lab2026.none-x  failed: RuntimeError: the weights are torn (")
    assert lines[7].startswith("own  Lab2026.one-x  0.8000 (")
    assert "8 pairs: 2 scored, 2 not applicable, 2 undefined, 2 failed;" in output
    assert "not applicable: it has no IT\n  lab-unable on Lab2026.one-x\n  lab-unable on Lab2026.none-x" in output
    logs = [Path(line.rpartition("log ")[2]) for line in output.splitlines() if ", log " in line]
    assert [log.read_text() for log in logs] == ["the weights are at hand\n"] * 2
    assert output.splitlines()[-1].startswith("Next: brainscore results tree --results ")
    by_model = {one.model.identifier: one for one in receipts(folder)}
    assert "_broken" in by_model["lab-broken"].error.traceback
    assert by_model["own"].model.plugin.name == "mine"
    assert len({one.run.id for one in receipts(folder)}) == 1

    # a second call runs only what failed, or nothing at all
    arguments = ("run", "--file", str(tmp_path / "run.yaml"), "--results", str(folder))
    done = cli(*arguments, "--again", "none")
    assert (done.exit_code, done.stderr) == (0, "")
    assert "6 pairs: 6 done before" in done.stdout
    assert len(receipts(folder)) == 8
    plan = cli(*arguments, "--dry-run").stdout
    assert "2 pairs to score, 6 done." in plan
    assert "2 failed" in plan
    assert "receipts of the model and of the benchmark" in plan


@pytest.mark.slow(reason="starts a cluster of processes")
def test_a_model_that_takes_its_process_along_leaves_a_log(run, folder):
    code, output, errors = run("--models", "lab-crashing", "--benchmarks", "Lab2026.one-x", "--workers", "1")
    assert code == 1, errors
    (receipt,) = receipts(folder)
    assert receipt.state == "failed"
    assert "SIGABRT" in receipt.reason
    log = ResultsStore(folder).read_log(receipt)
    assert log.splitlines()[:2] == ["scoring Lab2026.one-x", "right before the crash"]
    assert "Fatal Python error: Aborted" in log
    assert "again: lab-crashing on Lab2026.one-x" in errors
    assert output.count("lab-crashing on Lab2026.one-x, receipt ") == 1


def _until_the_second_pair(process, waiting, folder):
    """Wait until the first pair has a receipt, which is written while the second pair is scored."""
    _until(lambda: waiting.exists() and receipts(folder), process)


def _until(condition, process, seconds=300):
    end = time.monotonic() + seconds
    while not condition():
        assert process.poll() is None, process.communicate()
        assert time.monotonic() < end
        time.sleep(0.05)


PAIRS = ("--models", "lab-able", "lab-better", "--benchmarks", "Lab2026.one-x", "Lab2026.slow-x", "Lab2026.half-x")


@pytest.mark.slow(reason="starts a cluster of processes")
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_ctrl_c_leaves_nothing_half_written_and_no_claim(start, cli, tmp_path, folder, number):
    process = start(*PAIRS, "--workers", "1", WAIT=str(tmp_path / "waiting"))
    _until_the_second_pair(process, tmp_path / "waiting", folder)
    if number == signal.SIGINT:
        os.killpg(process.pid, number)  # a terminal sends it to all of them
    else:
        process.send_signal(number)
    output, errors = process.communicate(timeout=300)
    assert process.returncode == 130, errors
    assert "The same command continues the run." in errors
    assert "Traceback" not in errors
    assert "1 scored" in output
    store = ResultsStore(folder)
    assert store.claims() == ()
    assert len(receipts(folder)) == 1
    assert "5 pairs to score, 1 done." in cli("run", *PAIRS, "--results", str(folder), "--dry-run").output
    assert not [path for path in folder.rglob(".*") if path.is_file() and path.suffix in {".json", ".nc", ".log"}]


@pytest.mark.slow(reason="starts a cluster of processes, twice")
def test_after_a_kill_no_pair_is_computed_twice(start, run, cli, tmp_path, folder):
    process = start(*PAIRS, "--workers", "1", WAIT=str(tmp_path / "waiting"))
    _until_the_second_pair(process, tmp_path / "waiting", folder)
    os.killpg(process.pid, signal.SIGKILL)
    process.communicate(timeout=300)
    before = receipts(folder)
    assert len(before) == 1
    code, output, errors = run(*PAIRS, "--workers", "2", "--json")
    assert code == 0, errors
    found = json.loads(output)["finished"]
    assert {one["state"] for one in found} == {"scored"}
    assert len(found) == 5
    after = receipts(folder)
    assert len(after) == len(states(folder)) == 6
    assert before[0] in after
    assert set(states(folder).values()) == {"scored"}
    values = {(one.model.identifier, one.benchmark.identifier): one.score.value for one in after}
    assert values["lab-able", "Lab2026.slow-x"] == 0.1
    done = cli("run", *PAIRS, "--results", str(folder))
    assert (done.exit_code, done.stderr) == (0, "")
    assert "6 pairs: 6 done before" in done.stdout
    assert receipts(folder) == after


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--benchmarks", "Lab2026.one-x"], "No models: pass --models, or a run file with --file."),
        (["--models", "lab-able"], "No benchmarks"),
        (["--models", "lab-abel", "--benchmarks", "all"], "Nearest: lab-able"),
        (["--models", "lab-able", "--benchmarks", "all:nerual"], "nearest: neural"),
        (["--models", "lab-able", "--benchmarks", "Lab2026.one-x", "--max-memory", "much"], "is not a size"),
        (["--models", "lab-able", "--benchmarks", "Lab2026.one-x", "--again", "maybe"], "Invalid value for '--again'"),
        (
            ["--models", "lab-able", "--benchmarks", "Lab2026.one-x", "--scheduler", "here"],
            "not an address of a scheduler",
        ),
        (["--dry-run", "lab-able"], "unexpected extra argument"),
    ],
)
def test_mistakes_are_explained_before_anything_is_done(cli, folder, arguments, message):
    result = cli("run", *arguments, "--results", str(folder))
    assert result.exit_code == 2
    assert message in result.stderr
    assert not folder.exists()


def test_the_function_hands_on_what_it_is_told(folder, monkeypatch):
    import brainscore
    from brainscore_core import runner

    calls = []
    monkeypatch.setattr(runner, "run_plan", lambda plan, **how: calls.append((plan, how)) or "report")
    options = {"results": folder, "workers": 2, "max_memory": "6GB", "timeout": 60, "gpus": 1, "isolated": True}
    assert brainscore.run("lab-able", ["Lab2026.[oh]*"], **options) == "report"
    ((plan, how),) = calls
    assert [(task.model, task.benchmarks, task.gpu) for task in plan.tasks] == [
        ("lab-able", ("Lab2026.half-x", "Lab2026.one-x"), 1)
    ]
    assert (how["store_address"], how["isolated"], how["scorer_options"]) == (str(folder), True, {"domain": "vision"})
    cluster = how["cluster"]
    assert (cluster.workers, cluster.memory, cluster.timeout, cluster.gpus) == (2, 3_000_000_000, 60, 1)
    assert cluster.threads_per_worker == max(1, len(os.sched_getaffinity(0)) // 2)


def test_with_gpus_of_this_machine_there_are_no_more_workers_than_these(monkeypatch):
    from brainscore.runs import cluster_options

    monkeypatch.setattr(os, "sched_getaffinity", lambda process: set(range(8)), raising=False)
    options = {"max_memory": "32GB"}
    assert cluster_options(**options).workers == 8
    shared = cluster_options(gpus=2, **options)
    assert (shared.workers, shared.threads_per_worker, shared.memory) == (2, 4, 16_000_000_000)
    assert cluster_options(gpus=2, workers=3, **options).workers == 3
    assert cluster_options(gpus=2, scheduler="tcp://10.0.0.1:8786", **options).workers == 8
    assert cluster_options(gpus=2, slurm="cluster.yaml", **options).workers == 8


@pytest.mark.slow(reason="starts a cluster of processes")
def test_the_function(folder):
    code = (
        "import brainscore, sys\n"
        "if __name__ == '__main__':\n"
        "    seen = []\n"
        "    report = brainscore.run('lab-able', ['Lab2026.one-x', 'Lab2026.half-x'], results=sys.argv[1],\n"
        "                            workers=1, on_event=seen.append)\n"
        "    print(report.states, sorted(event.score for event in report.finished))\n"
        "    print(brainscore.run(['lab-able'], 'Lab2026.[oh]*', results=sys.argv[1], workers=1).states)\n"
    )
    done = subprocess.run([sys.executable, "-c", code, str(folder)], capture_output=True, text=True, check=False)
    assert done.stdout.splitlines() == ["{'scored': 2} [0.2, 0.4]", "{}"], done.stderr


def test_with_nothing_to_score_nothing_heavy_is_imported(tmp_path):
    store = ResultsStore(tmp_path / "results")
    model, benchmark = ModelInfo(identifier="lab-able"), BenchmarkInfo(identifier="Lab2026.one-x")
    store.write(Receipt(model=model, benchmark=benchmark, state="not applicable", reason="it has no IT"))
    code = (
        "import sys\n"
        "import brainscore\n"
        "report = brainscore.run('lab-able', 'Lab2026.one-x', results=sys.argv[1], again='none')\n"
        "heavy = {'dask', 'distributed', 'pandas', 'scipy', 'sklearn', 'torch', 'xarray'}.intersection(sys.modules)\n"
        "print(report.states, sorted(heavy))\n"
    )
    done = subprocess.run([sys.executable, "-c", code, store.address], capture_output=True, text=True, check=False)
    assert done.stdout == "{} []\n", done.stderr
