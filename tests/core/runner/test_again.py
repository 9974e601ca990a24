"""Tasks that are not finished: when they start, and what is scored again after a store or memory failed."""

import pickle
from types import SimpleNamespace

import pytest

from brainscore_core.errors import UserError
from brainscore_core.runner import ClusterOptions
from brainscore_core.runner.child import Scored
from brainscore_core.runner.plan import make_plan
from brainscore_core.runner.run import _MAX_LOSSES, Work, _Run
from brainscore_core.runner.worker import TaskSpec, _Task, run_task
from brainscore_core.scoring import BenchmarkInfo, ErrorInfo, ModelInfo, Receipt, ResultsStore, RunInfo, StoreError
from tests.optional import require_package

require_package("distributed", 'runs need Dask: pip install "brainscore[cluster]"')


@pytest.fixture
def run(tmp_path):
    """A run that has not begun, and its only task."""
    address = str(tmp_path / "results")
    plan = make_plan(["m"], ["A", "B"], ResultsStore(address))
    fields = {"store": address, "scorer": "runner_toys:score", "isolated": False, "options": {}, "code": ""}
    run = _Run(plan, ClusterOptions(memory=1_000_000_000), fields, on_event=lambda event: None)
    return run, run.works[0]


def failed(error):
    return SimpleNamespace(status="error", exception=lambda: error)


def finished(benchmark):
    told = {"receipt": "i", "state": "scored", "score": 1.0, "seconds": 1.0, "reason": None}
    return {"what": "finished", "model": "m", "benchmark": benchmark, **told}


def test_long_pairs_start_first_if_their_benchmarks_are_loaded(run):
    run, _ = run
    works = [Work(model, ("B",), None, 0) for model in ("short", "unknown", "long")]

    def begin(model, benchmark):
        run._record({"what": "started", "model": model, "benchmark": benchmark, "attempt": 1, "worker": "w"})

    for model, seconds in (("short", 1.0), ("long", 9.0)):
        begin(model, "A")
        run._record(finished("A") | {"model": model, "seconds": seconds, "seconds_again": 0.5})
    # both have no loaded benchmark left, and would wait for one
    assert [work.model for work in sorted(works, key=run._place_of)] == ["unknown", "long", "short"]
    begin("other", "B")
    assert [work.model for work in sorted(works, key=run._place_of)] == ["long", "unknown", "short"]


@pytest.mark.parametrize(
    "error", [pickle.loads(pickle.dumps(StoreError("no server", remedy="wait"))), OSError("stale file handle")]
)
def test_a_task_goes_on_later_where_the_results_could_not_be_reached(run, error):
    run, work = run
    run._record({"what": "started", "model": "m", "benchmark": "A", "attempt": 1, "worker": "w"})
    for loss in range(1, _MAX_LOSSES + 1):
        run._task_done(failed(error), work)
        work = run.waiting.pop()
        assert (work.benchmarks, work.losses) == (("A", "B"), loss)
        assert work.due > 0
    assert (run.attempts["m", "A"], run.workers) == (0, {})  # it was no fault of the pair
    (retried,) = run.retried
    assert retried.reason == f"the results store could not be reached: {error}"
    with pytest.raises(type(error), match=str(error).splitlines()[0]):
        run._task_done(failed(error), work)


@pytest.mark.parametrize("name", ["KilledWorker", "StoreError"])
def test_losses_count_anew_when_a_task_got_on(run, name):
    run, work = run
    error = type("KilledWorker", (Exception,), {})() if name == "KilledWorker" else StoreError("no server")
    for _ in range(_MAX_LOSSES):
        run._task_done(failed(error), work)
        work = run.waiting.pop()
    run._record(finished("A"))
    run._task_done(failed(error), work)
    work = run.waiting.pop()
    assert (work.benchmarks, work.losses) == (("B",), 0)
    run._record(finished("B"))
    run._task_done(failed(error), work)
    assert not run.waiting


def test_workers_that_die_again_and_again_end_the_run(run):
    run, work = run
    work.losses = _MAX_LOSSES
    with pytest.raises(UserError, match="workers die repeatedly while they score 'm'"):
        run._task_done(failed(type("KilledWorker", (Exception,), {})()), work)


def test_other_errors_end_the_run(run):
    with pytest.raises(UserError, match="cannot import"):
        run[0]._task_done(failed(UserError("cannot import it")), run[1])


def test_a_pair_that_wants_a_bigger_worker_gets_it_where_its_task_fails_afterwards(run):
    run, work = run
    run.running["k"] = (None, work)
    message = {"what": "memory", "model": "m", "benchmark": "A", "reason": "held much", "limit": 10}
    run._record(message)
    run._record(message, work)  # in the task's result, once more
    assert run.too_large == {("m", "A"): (work, 10)}
    assert len(run.retried) == 1
    run._task_done(failed(StoreError("no server")), work)
    assert run.waiting.pop().benchmarks == ("B",)


def spec(address, **changes):
    settings = {
        "run": "r", "key": "k", "model": "m", "benchmarks": ("A",), "store": address, "scorer": "a:b",
        "isolated": True, "options": {}, "since": {"A": ""}, "threads": 1, "memory": None, "limit": 1000,
        "largest": 2000, "timeout": None,
    }  # fmt: skip
    return TaskSpec(**settings | changes)


class Model:
    """A scoring process whose isolated model always runs out of memory."""

    template = None  # it was started

    def __init__(self, store, run="r"):
        self.store, self.run, self.scored = store, RunInfo(id=run, isolated=True, environment=None, packages={}), 0

    def score(self, model, benchmark, **how):
        self.scored += 1
        receipt = self.store.write(
            Receipt(
                model=ModelInfo(identifier=model),
                benchmark=BenchmarkInfo(identifier=benchmark),
                state="failed",
                reason="no memory",
                error=ErrorInfo(type="SubjectOutOfMemory", message="no memory", traceback=""),
                run=self.run,
            )
        )
        return Scored(benchmark=benchmark, receipt=receipt.id, state="failed", reason="no memory", seconds=1.0)


@pytest.mark.parametrize(
    ("changes", "begun", "what"),
    [
        ({}, 0, "memory"),
        ({}, 1, "finished"),  # it was begun before
        ({"largest": 1000}, 0, "finished"),  # there is no bigger worker
        ({"isolated": False}, 0, "finished"),
    ],
)
def test_an_isolated_model_that_ran_out_of_memory_gets_a_bigger_worker(tmp_path, changes, begun, what):
    worker = SimpleNamespace(
        get_current_task=lambda: "k",
        log_event=lambda topics, message: None,
        address="w",
        state=SimpleNamespace(tasks={}),
    )
    task = _Task(spec(str(tmp_path), **changes), worker)
    task.process = process = Model(task.store)
    task.attempts["A"] = begun
    outcome = task._pair("A")
    assert (outcome["what"], process.scored) == (what, 1)
    if what == "memory":
        assert outcome["limit"] == 1000
        bigger = _Task(spec(str(tmp_path), limit=2000), worker)
        bigger.process = again = Model(bigger.store)
        bigger.attempts["A"] = 1
        assert bigger._pair("A")["what"] == "finished"
        assert again.scored == 1  # the receipt of the first attempt is not the pair's last word


def test_a_worker_of_other_code_refuses_the_task(tmp_path, monkeypatch):
    import dataclasses

    import distributed

    monkeypatch.setattr(distributed, "get_worker", lambda: SimpleNamespace(address="tcp://w:1"))
    plain = dataclasses.asdict(spec(str(tmp_path), code="0" * 64))
    with pytest.raises(UserError, match=r"^the code of brainscore at tcp://w:1 differs"):
        run_task(plain)
