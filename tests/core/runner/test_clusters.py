"""Schedulers that run already, and SLURM, whose commands are played by shell scripts."""

import os
import shutil
import signal
import subprocess
import sys
from contextlib import contextmanager
from pathlib import Path
from types import SimpleNamespace

import pytest
from runner_runs import HERE, Runner, until

from brainscore_core.errors import UserError
from brainscore_core.receipts.environment import platform_code
from brainscore_core.runner import ClusterOptions, PairFinished, PairStarted, SlurmProfile, WorkerLost, run_plan
from brainscore_core.runner.cluster import _among, _check_code
from brainscore_core.runner.cluster import resources as cluster_resources
from brainscore_core.runner.plan import make_plan
from brainscore_core.runner.process import scoring_environment
from tests.optional import require_package

require_package("distributed", 'runs need Dask: pip install "brainscore[cluster]"')
psutil = pytest.importorskip("psutil")

CLUSTER = """
import sys, time
from distributed import LocalCluster, Nanny
if __name__ == "__main__":
    cluster = LocalCluster(n_workers=int(sys.argv[1]), threads_per_worker=int(sys.argv[4]), dashboard_address=None,
                           memory_limit=sys.argv[2], resources=eval(sys.argv[3]), silence_logs=50)
    print(cluster.scheduler_address, flush=True)
    sys.stdin.read()
    cluster.close()
"""


@pytest.fixture
def scheduler(tmp_path):
    """``scheduler(workers, memory, resources, threads)`` starts a cluster in another process and gives its address."""
    started = []

    def start(workers, memory="1GB", resources=None, threads=1):
        script = tmp_path / "cluster.py"
        script.write_text(CLUSTER)
        process = subprocess.Popen(
            [sys.executable, script, str(workers), memory, repr(resources or {}), str(threads)],
            env={**os.environ, "PYTHONPATH": str(HERE)},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        started.append(process)
        return process.stdout.readline().strip(), process

    yield start
    for process in started:
        process.stdin.close()
        process.wait(timeout=60)
        process.stdout.close()


MODELS, BENCHMARKS = ["a", "b"], ["plain-1", "stuck-a", "plain-2"]

SEQUENTIAL = """
import sys
from brainscore_core.scoring import ResultsStore, RunInfo
import runner_toys
store, run = ResultsStore(sys.argv[1]), RunInfo(id="sequential", isolated=False, environment=None, packages={})
for model in sys.argv[3].split(","):
    for benchmark in sys.argv[4].split(","):
        runner_toys.score(model, benchmark, store=store, run=run, isolated=False, folder=sys.argv[2])
"""


def sequential(folder, models, benchmarks):
    """Scores of a plain loop over all pairs, with one thread."""
    folder.mkdir()
    (folder / "a stuck-a").touch()  # as if it had been killed there
    runner = Runner(folder)
    subprocess.run(
        [sys.executable, "-c", SEQUENTIAL, runner.address, folder, ",".join(models), ",".join(benchmarks)],
        env={**scoring_environment(1, None), "PYTHONPATH": str(HERE)},
        check=True,
    )
    return runner.scores()


@pytest.mark.slow(reason="starts clusters of processes")
def test_threads_of_a_worker_score_at_the_same_time(runner, scheduler):
    address, _ = scheduler(1, threads=2)
    report = runner(["a", "b"], ["meet-2"], scheduler=address, memory=None)
    assert report.states == {"scored": 2}


@pytest.mark.slow(reason="starts clusters of processes")
def test_a_killed_worker_costs_nothing_but_time(runner, scheduler, tmp_path):
    address, _ = scheduler(2)
    killed = []

    def kill(event):
        if isinstance(event, PairStarted) and (event.model, event.benchmark) == ("a", "stuck-a") and not killed:
            until((runner.folder / "a stuck-a").exists)
            killed.extend(one for one in runner.begun() if one.pair == ("a", "stuck-a"))
            os.kill(killed[0].worker, signal.SIGKILL)

    report = runner(MODELS, BENCHMARKS, on_event=kill, scheduler=address, memory=None)
    assert {(event.model, event.benchmark) for event in report.finished} == {(m, b) for m in MODELS for b in BENCHMARKS}
    assert len(report.finished) == 6
    assert report.states == {"scored": 6}
    assert runner.scores() == sequential(tmp_path / "sequential", MODELS, BENCHMARKS)
    # none was begun twice but the one that its worker took along
    assert {pair: count for pair, count in runner.counts().items() if count > 1} == {killed[0].pair: 2}
    assert report.lost[0].pairs == (killed[0].pair,)
    assert any(isinstance(event, WorkerLost) for event in runner.events)
    assert [event.reason for event in report.retried] == ["its worker was lost"]
    assert runner.store.claims() == ()
    until(lambda: not psutil.pid_exists(killed[0].pid))


@pytest.mark.slow(reason="starts clusters of processes")
def test_models_that_need_a_gpu_go_where_one_is_on_a_scheduler_that_runs_already(runner, scheduler):
    address, process = scheduler(1)
    with another_worker(runner, address, "memory=1000,GPU=1"):
        plan = make_plan(["a", "b", "c"], ["plain-1"], runner.store, gpu={"a": 1, "b": 1, "c": 0})
        places = {}
        report = run_plan(
            plan,
            store_address=runner.address,
            scorer="runner_toys:score",
            cluster=ClusterOptions(scheduler=address),
            on_event=lambda event: places.update({event.model: event.worker}) if isinstance(event, PairStarted) else 0,
            scorer_options={"folder": str(runner.folder)},
        )
    assert places["a"] == places["b"] != places["c"]
    assert report.states == {"scored": 3}
    assert {receipt.seeds["memory"] for receipt in runner.store.listing().receipts} == {"900000000"}
    assert len({one.worker for one in runner.begun()}) == 2
    assert process.poll() is None  # it is not ours to close


@contextmanager
def another_worker(runner, address, resources):
    """Start a worker of 1 GB for a scheduler."""
    command = ["--nthreads", "1", "--memory-limit", "1GB", "--resources", resources, "--no-dashboard"]
    process = subprocess.Popen(
        [sys.executable, "-m", "distributed.cli.dask_worker", address, *command],
        env={**os.environ, "PYTHONPATH": str(HERE)},
        cwd=runner.folder,
        stderr=subprocess.DEVNULL,
    )
    try:
        from distributed import Client

        with Client(address, set_as_default=False) as client:
            client.wait_for_workers(2, timeout=120)
        yield
    finally:
        process.terminate()
        process.wait(timeout=60)


@pytest.mark.slow(reason="starts clusters of processes")
def test_a_pair_that_needs_more_goes_to_a_larger_worker_of_the_scheduler(runner, scheduler):
    address, _ = scheduler(1, "400MB", {"memory": 400})
    with another_worker(runner, address, "memory=1000"):
        # pairs of a model go to one worker, so two models occupy both
        report = runner(["a", "b"], ["eat-600", "eat-3000"], scheduler=address, memory=None)
    states = {(event.benchmark, event.state) for event in report.finished}
    assert states == {("eat-600", "scored"), ("eat-3000", "failed")}
    assert max(runner.counts().values()) == 2
    assert all("more than 1.0 GB" in event.reason for event in report.failed)


@pytest.mark.slow(reason="starts clusters of processes")
def test_ctrl_c_stops_workers_that_are_not_ours(runner, scheduler):
    address, _ = scheduler(1)

    def interrupt(event):
        if runner.begun():
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        runner(["a"], ["plain-1", "slow-60"], on_event=interrupt, scheduler=address, memory=None)
    assert runner.store.claims() == ()
    until(lambda: not any(psutil.pid_exists(one.pid) for one in runner.begun()), seconds=30)


@pytest.mark.slow(reason="starts clusters of processes")
def test_a_scheduler_that_goes_away(runner, scheduler):
    address, process = scheduler(1)

    def kill(event):
        if isinstance(event, PairStarted) and event.benchmark == "slow-300":
            process.kill()

    with pytest.raises(UserError, match=f"the scheduler at {address} has ended") as caught:
        runner(["a"], ["plain-1", "slow-300"], on_event=kill, scheduler=address, memory=None)
    assert caught.value.remedy == "start the same run again; it omits finished pairs"
    assert set(runner.scores()) == {("a", "plain-1")}


@pytest.mark.slow(reason="starts clusters of processes")
def test_workers_stop_when_the_run_they_work_for_is_killed(runner, scheduler):
    address, _ = scheduler(1)
    process = runner.popen(1, "a", "plain-1,slow-300", address)
    begun = until(lambda: [one for one in runner.begun() if one.pair[1] == "slow-300"])[0]
    process.kill()
    process.communicate(timeout=60)
    until(lambda: not psutil.pid_exists(begun.pid))
    until(lambda: runner.store.claims() == (), seconds=30)


def test_a_scheduler_that_is_not_there(runner):
    with pytest.raises(UserError, match=r"no scheduler answers at tcp://127.0.0.1:1: .*") as caught:
        runner(["a"], ["plain-1"], scheduler="tcp://127.0.0.1:1", start_timeout=0.5)
    assert "dask scheduler" in caught.value.remedy


@pytest.mark.slow(reason="starts clusters of processes")
def test_a_scheduler_without_workers(runner, scheduler):
    address, _ = scheduler(0)
    with pytest.raises(UserError, match=r"no worker after 3 seconds"):
        runner(["a"], ["plain-1"], scheduler=address, memory=None, start_timeout=3.0)


def test_other_code_is_refused():
    def client(**codes):
        return SimpleNamespace(run=lambda function, on_error: codes if function is platform_code else None)

    _check_code(client(w=platform_code()))
    _check_code(client(w=ImportError("no such module")))
    with pytest.raises(UserError, match=r"^the code of brainscore at v differs") as caught:
        _check_code(client(w=platform_code(), v="0" * 64))
    assert "install the same version on both sides" in caught.value.remedy


def test_tasks_are_bound_to_workers_only_where_some_are_too_small():
    def among(*limits):
        workers = {f"w{i}": {"nthreads": 1, "memory_limit": limit} for i, limit in enumerate(limits)}
        client = SimpleNamespace(scheduler_info=lambda n_workers: {"workers": workers})
        return _among(client, 500, 0, None)

    assert among(1000, 1000) == {}
    assert among(1000, 0) == {}  # no limit
    assert among(1000, 400) == {"workers": ["w0"]}
    assert among(300, 400) == {"workers": ["w1"]}  # the largest that there is


PROFILE = """
queue: short
account: vision
cores: 4
memory: 1GB
retry_memory: 2GB
walltime: "02:00:00"
gpus: 1
interface: lo
env: {LAB: "a b"}
prologue: ["module load cuda"]
job_extra_directives: ["--nice=10"]
log_directory: %(folder)s/logs
local_directory: %(folder)s/scratch
shared_directory: %(folder)s
"""

SBATCH = """#!/bin/sh
# a job: the script, in a session of its own; its number is its process
cp "$1" "%(folder)s/job.sh"
setsid sh "%(folder)s/job.sh" > "%(folder)s/job.log" 2>&1 < /dev/null &
echo $! >> "%(folder)s/jobs"
echo "Submitted batch job $!"
"""

SCANCEL = """#!/bin/sh
echo "$1" >> "%(folder)s/cancelled"
kill -TERM -"$1" 2> /dev/null || true
"""


@pytest.fixture
def slurm(runner, monkeypatch):
    """Path of a profile; sbatch and scancel are scripts."""
    pytest.importorskip("dask_jobqueue")
    folder = runner.folder
    for name in ("bin", "scratch", "logs"):
        (folder / name).mkdir()
    for name, text in (("sbatch", SBATCH), ("scancel", SCANCEL)):
        (folder / "bin" / name).write_text(text % {"folder": folder})
        (folder / "bin" / name).chmod(0o755)
    monkeypatch.setenv("PATH", f"{folder / 'bin'}{os.pathsep}{os.environ['PATH']}")
    monkeypatch.setenv("PYTHONPATH", str(HERE))
    path = folder / "profile.yaml"
    path.write_text(PROFILE % {"folder": folder})
    yield path
    for job in (folder / "jobs").read_text().split() if (folder / "jobs").exists() else []:
        subprocess.run([folder / "bin" / "scancel", job], check=False)


def test_the_job_script_asks_for_what_the_profile_says(slurm):
    from dask_jobqueue.slurm import SLURMJob

    profile = SlurmProfile.read(slurm)
    arguments = profile.cluster_arguments(profile.memory)
    arguments.pop("shared_temp_directory")
    script = SLURMJob("tls://10.0.0.1:8786", name="worker", **arguments).job_script()
    for line in (
        "#SBATCH -p short",
        "#SBATCH -A vision",
        "#SBATCH --cpus-per-task=4",
        "#SBATCH --mem=954M",
        "#SBATCH -t 02:00:00",
        "#SBATCH --gres=gpu:1",
        "#SBATCH --nice=10",
        "export LAB='a b'",
        "module load cuda",
    ):
        assert line in script.splitlines()
    assert "--resources memory=1000.0,GPU=1" in script
    assert "--nthreads 1 " in script
    assert f"{sys.executable} -m distributed.cli.dask_worker" in script


def test_a_task_that_asks_for_all_of_a_job_fits():
    profile = SlurmProfile.from_dict({"cores": 1, "memory": "1.5GiB"})
    _, resources, *_ = profile.cluster_arguments(profile.memory)["worker_extra_args"]
    assert float(resources.removeprefix("memory=")) >= cluster_resources(profile.memory, 0)["resources"]["memory"]


@pytest.mark.slow(reason="starts clusters of processes")
def test_a_run_on_slurm(runner, slurm):
    if shutil.which("setsid") is None:
        pytest.skip("needs the program setsid")
    text = slurm.read_text().replace('prologue: ["module load cuda"]\n', "")
    slurm.write_text(text.replace("memory: 1GB", "memory: 400MB", 1).replace("2GB", "1GB"))
    report = runner(["a"], ["plain-1", "eat-600"], slurm=slurm, memory=None)
    assert report.states == {"scored": 2}
    receipts = {one.benchmark.identifier: one for one in runner.store.listing().receipts}
    assert receipts["plain-1"].seeds == {"threads": "4", "memory": "360000000"}
    assert receipts["eat-600"].seeds == {"threads": "4", "memory": "900000000"}
    jobs = (runner.folder / "jobs").read_text().split()
    assert len(jobs) == 2
    assert set(jobs) <= set((runner.folder / "cancelled").read_text().split())
    assert [type(event) for event in runner.events].count(PairFinished) == 2


def test_what_slurm_has_against_a_job_is_said(runner, slurm):
    (runner.folder / "bin" / "sbatch").write_text("#!/bin/sh\necho 'invalid partition: short' >&2\nexit 1\n")
    with pytest.raises(UserError, match=r"(?s)SLURM accepts no job: .*invalid partition: short"):
        runner(["a"], ["plain-1"], slurm=slurm, memory=None)
    (runner.folder / "bin" / "sbatch").unlink()
    with pytest.raises(UserError, match=r"SLURM accepts no job: .*sbatch"):
        runner(["a"], ["plain-1"], slurm=slurm, memory=None)
    assert runner.counts() == {}


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"walltimes": "1"}, "unknown keys: walltimes"),
        ({"memory": None}, "missing keys: memory"),
        ({"memory": "many"}, "'many' is not a size"),
        ({"cores": 0}, "cores is 0"),
        ({"cores": "4"}, "cores is '4'"),
        ({"gpus": True}, "gpus is True"),
        ({"walltime": 7200}, "walltime is 7200"),
        ({"env": ["A=1"]}, "env is"),
        ({"env": {"A B": 1}}, "env is"),
        ({"prologue": "module load cuda"}, "prologue is"),
        ({"tls": "yes"}, "tls is 'yes'"),
        ({"retry_memory": "1GB"}, "retry_memory is not larger than memory"),
    ],
)
def test_a_profile_is_checked(change, message):
    with pytest.raises(UserError, match=message):
        SlurmProfile.from_dict({"cores": 4, "memory": "1GB", **change})


def test_a_profile_that_cannot_be_read_is_named(tmp_path):
    pytest.importorskip("yaml")
    with pytest.raises(UserError, match=r"profile .*nothing\.yaml cannot be read: No such file"):
        SlurmProfile.read(tmp_path / "nothing.yaml")
    for name, text, message in (
        ("a", "- 1", "is not a mapping"),
        ("b", "{", "is not YAML"),
        ("c", "cores: 4", "missing"),
    ):
        path = Path(tmp_path / f"{name}.yaml")
        path.write_text(text)
        with pytest.raises(UserError, match=f"{name}.yaml.*{message}"):
            SlurmProfile.read(path)
