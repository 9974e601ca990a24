"""Runs on a real cluster of this machine, with all that can happen to it."""

import os
import signal
import sys
import time

import pytest
from runner_runs import Runner, until

from brainscore_core.errors import UserError
from brainscore_core.runner import (
    ClusterReady,
    PairFinished,
    PairRetried,
    PairSkipped,
    PairStarted,
    run_plan,
)
from brainscore_core.runner.plan import Plan, make_plan
from brainscore_core.scoring import BenchmarkInfo, ModelInfo, Receipt
from tests.optional import require_package

require_package("distributed", 'runs need Dask: pip install "brainscore[cluster]"')
psutil = pytest.importorskip("psutil")


def test_settings_reach_the_process_that_scores_and_what_others_do_is_left_to_them(runner):
    ports = []

    def look(event):
        if isinstance(event, ClusterReady):
            here = psutil.Process()
            for process in (here, *here.children(recursive=True)):
                ports.extend(one.laddr.ip for one in process.net_connections() if one.status == psutil.CONN_LISTEN)

    plan = make_plan(["a"], ["plain-1", "plain-2", "plain-3", "plain-4"], runner.store)
    model, benchmark = ModelInfo(identifier="a"), BenchmarkInfo(identifier="plain-1")
    others = Receipt(model=model, benchmark=benchmark, state="not applicable", reason="no such region")
    others = runner.store.write(others)
    before = dict(os.environ)
    with runner.store.claim("a", "plain-2", owner="somebody"):
        report = runner.run(plan, on_event=look, threads_per_worker=2)
    receipts = [receipt for receipt in runner.store.listing().receipts if receipt != others]
    assert [receipt.seeds["threads"] for receipt in receipts] == ["2", "2"]
    assert [receipt.seeds["memory"] for receipt in receipts] == ["900000000", "900000000"]
    assert {receipt.run.id for receipt in receipts} == {report.id}
    assert len({one.pid for one in runner.begun()}) == 1  # a model stays in one process
    assert set(ports) <= {"127.0.0.1"}
    assert dict(os.environ) == before

    assert [event.benchmark for event in report.finished] == ["plain-3", "plain-4"]
    reasons = {event.benchmark: event.reason for event in report.skipped}
    assert reasons["plain-1"].startswith("scored meanwhile by another run: ")
    assert reasons["plain-2"] == "another process is scoring it (somebody)"
    kinds = [type(event) for event in runner.events]
    assert kinds == [ClusterReady, PairSkipped, *[PairStarted, PairFinished] * 2, PairSkipped]


@pytest.mark.slow(reason="starts clusters of processes")
class TestDeaths:
    """One run, in which all sorts of things go wrong; memory of a worker is 400 MB, of a bigger one 800 MB."""

    BENCHMARKS = (
        "plain-1",
        "crash-once",
        "crash-abort",
        "crash-segfault",
        "eat-600",
        "eat-3000",
        "exit-3",
        "raise-something",
        "plain-2",
    )

    @pytest.fixture(scope="class")
    @classmethod
    def ran(cls, tmp_path_factory):
        runner = Runner(tmp_path_factory.mktemp("deaths"))
        report = runner(["a"], cls.BENCHMARKS, workers=2, memory=400_000_000)
        receipts = {one.benchmark.identifier: one for one in runner.store.listing().newest_of_each()}
        return runner, report, receipts

    def test_every_pair_has_one_receipt(self, ran):
        runner, report, receipts = ran
        assert set(receipts) == set(self.BENCHMARKS)
        assert len(runner.store.listing().receipts) == len(self.BENCHMARKS)
        assert sorted(event.benchmark for event in report.finished) == sorted(self.BENCHMARKS)
        states = {benchmark: receipt.state for benchmark, receipt in receipts.items()}
        scored = {"plain-1", "plain-2", "crash-once", "eat-600"}
        assert {benchmark for benchmark, state in states.items() if state == "scored"} == scored
        assert {receipt.run.id for receipt in receipts.values()} == {report.id}
        assert len(report.failed) == len(self.BENCHMARKS) - len(scored)

    def test_what_died_is_begun_twice_and_nothing_else(self, ran):
        runner, report, _ = ran
        twice = {"crash-once", "crash-abort", "crash-segfault", "eat-600", "eat-3000"}
        assert {pair[1] for pair, count in runner.counts().items() if count == 2} == twice
        assert max(runner.counts().values()) == 2
        assert sorted(event.benchmark for event in report.retried) == sorted(twice)

    def test_a_crash_says_how_it_died_and_what_it_said(self, ran):
        _, _, receipts = ran
        receipt = receipts["crash-abort"]
        assert receipt.reason == "the scoring process died with signal 6 (SIGABRT)"
        assert receipt.error.type == "ProcessDied"
        assert "last words" in receipt.error.traceback
        assert "in _crash" in receipt.error.traceback
        assert receipts["crash-segfault"].reason == "the scoring process died with signal 11 (SIGSEGV)"

    def test_what_needs_more_memory_gets_a_bigger_worker(self, ran):
        _, _, receipts = ran
        assert receipts["eat-600"].seeds["memory"] == "720000000"

    def test_what_never_fits_says_so(self, ran):
        _, _, receipts = ran
        receipt = receipts["eat-3000"]
        assert receipt.reason.startswith("the scoring process was killed for using more than 800.0 MB (it held ")
        assert receipt.reason.endswith("; no worker has more memory")
        assert receipt.error.type == "OutOfMemory"

    def test_a_scorer_that_raises_or_leaves_is_a_failed_pair(self, ran):
        _, _, receipts = ran
        assert receipts["raise-something"].reason == "ValueError: something"
        assert "runner_toys.py" in receipts["raise-something"].error.traceback
        assert receipts["exit-3"].reason == "SystemExit: 3"

    def test_nothing_is_left(self, ran):
        runner, _, _ = ran
        assert runner.store.claims() == ()
        assert not [one for one in runner.begun() if psutil.pid_exists(one.pid)]


@pytest.mark.slow(reason="starts clusters of processes")
def test_a_hang_is_ended_and_told_in_order(runner):
    report = runner(["a"], ["crash-once", "hang", "plain-1"], timeout=5.0)
    assert {event.benchmark: event.state for event in report.finished} == {
        "crash-once": "scored",
        "hang": "failed",
        "plain-1": "scored",
    }
    receipt = runner.store.latest("a", "hang")
    assert receipt.reason == "the scoring process took longer than 5 seconds"
    assert receipt.timings.total >= 5
    assert runner.counts()["a", "hang"] == 1
    kinds = [type(event) for event in runner.events]
    once = [PairStarted, PairFinished]
    assert kinds == [ClusterReady, PairStarted, PairRetried, *once, *once, *once]
    assert [event.attempt for event in runner.events if isinstance(event, PairStarted)] == [1, 2, 1, 1]


@pytest.mark.slow(reason="starts clusters of processes")
def test_where_there_is_no_bigger_worker_a_pair_is_not_repeated(runner, monkeypatch):
    monkeypatch.setenv("BRAINSCORE_MAX_MEMORY", "400MB")
    report = runner(["a"], ["eat-600"], memory=None)
    assert [event.state for event in report.finished] == ["failed"]
    assert "more than 400.0 MB" in report.finished[0].reason
    assert report.finished[0].reason.endswith("no worker has more memory")
    assert list(runner.counts().values()) == [1]


@pytest.mark.slow(reason="starts clusters of processes")
def test_what_is_expected_to_need_more_starts_on_a_bigger_worker(runner):
    plan = make_plan(["a", "b"], ["eat-600"], runner.store)
    from dataclasses import replace

    plan = replace(plan, tasks=tuple(replace(task, memory=600_000_000) for task in plan.tasks))
    report = runner.run(plan, workers=2, memory=400_000_000)
    assert report.states == {"scored": 2}
    assert set(runner.counts().values()) == {1}


class TestCtrlC:
    @pytest.mark.slow(reason="starts clusters of processes")
    def test_it_leaves_nothing_and_the_next_run_goes_on(self, runner):
        process = runner.popen(2, "a,b,c", "plain-1,slow-2,plain-2")
        until(lambda: any(one.pair[1] == "slow-2" for one in runner.begun()))
        os.killpg(process.pid, signal.SIGINT)  # as a terminal does: to all that run in it
        _, errors = process.communicate(timeout=60)
        assert process.returncode == -signal.SIGINT
        assert errors.startswith("Traceback")  # no line of Dask's before it
        assert errors.count("Traceback") == 1
        assert errors.strip().endswith("KeyboardInterrupt")
        until(lambda: not runner.processes(), seconds=20)
        assert runner.store.claims() == ()
        before = runner.counts()
        done = set(runner.scores())
        assert done
        report = runner(["a", "b", "c"], ["plain-1", "slow-2", "plain-2"], workers=2)
        assert len(report.finished) == 9 - len(done)
        again = {pair for pair, count in runner.counts().items() if count > 1}
        assert again <= set(before).difference(done)

    def test_pairs_that_have_ended_by_then_are_reported(self, runner):
        def interrupt(event):
            if isinstance(event, PairStarted):
                until(runner.scores)
                time.sleep(0.3)  # in which the worker reports the pair
                raise KeyboardInterrupt

        with pytest.raises(KeyboardInterrupt):
            runner(["a"], ["plain-1"], on_event=interrupt)
        assert [event.benchmark for event in runner.events if isinstance(event, PairFinished)] == ["plain-1"]

    @pytest.mark.slow(reason="starts clusters of processes")
    def test_a_run_that_is_killed_leaves_no_process(self, runner):
        process = runner.popen(1, "a", "plain-1,slow-30")
        until(lambda: any(one.pair[1] == "slow-30" for one in runner.begun()))
        process.kill()
        process.communicate(timeout=60)
        until(lambda: not runner.processes(), seconds=20)
        assert runner.store.claim("a", "slow-30", owner="test") is not None  # its owner is dead
        assert set(runner.scores()) == {("a", "plain-1")}


@pytest.mark.slow(reason="starts clusters of processes")
def test_what_a_killed_run_called_finished_has_a_receipt(runner):
    process = runner.popen(1, "a", "plain-1,plain-2,slow-30")
    until(lambda: any(one.pair[1] == "slow-30" for one in runner.begun()))
    process.kill()
    output, _ = process.communicate(timeout=60)
    until(lambda: not runner.processes(), seconds=20)
    told = {tuple(line.split()[1:]) for line in output.splitlines() if line.startswith("PairFinished")}
    assert {("a", "plain-1")} <= told <= set(runner.scores())
    report = runner(["a"], ["plain-1", "plain-2"])
    assert {(event.model, event.benchmark) for event in report.finished}.isdisjoint(told)
    assert len(runner.store.listing().receipts) == 2


@pytest.mark.slow(reason="starts clusters of processes")
def test_an_idle_worker_takes_pairs_of_the_last_model(runner):
    benchmarks = [f"late-b-0.{number}" for number in (31, 32, 33, 34, 35)]
    report = runner(["a", "b"], benchmarks, workers=2)
    assert report.states == {"scored": 10}
    assert set(runner.counts().values()) == {1}
    assert len({event.worker for event in runner.events if isinstance(event, PairStarted) and event.model == "b"}) == 2
    assert len(runner.store.listing().receipts) == 10
    assert runner.store.claims() == ()


@pytest.mark.slow(reason="starts clusters of processes")
@pytest.mark.skipif(sys.platform != "linux", reason="templates need Linux")
def test_models_begin_with_what_is_loaded(runner):
    runner(["a", "b"], ["plain-1", "rare-1", "plain-2"], scorer="runner_kept_toys:score")
    pairs = [one.pair for one in runner.begun()]
    assert set(pairs[:2]) == {("a", "plain-1"), ("b", "plain-1")}


@pytest.mark.slow(reason="starts clusters of processes")
def test_two_runs_at_once_share_the_work(runner):
    models, benchmarks = "a,b,c", "plain-1,slow-0.4,plain-2,slow-0.5"
    both = [runner.popen(1, models, benchmarks) for _ in range(2)]
    outputs = [process.communicate(timeout=240) for process in both]
    assert [process.returncode for process in both] == [0, 0], outputs
    assert [errors for _, errors in outputs] == ["", ""]
    assert len(runner.counts()) == 12
    assert set(runner.counts().values()) == {1}
    lines = [output.splitlines()[-1].split() for output, _ in outputs]
    assert sum(int(line[1]) for line in lines) == 12
    assert len(runner.store.listing().receipts) == 12


@pytest.mark.slow(reason="starts clusters of processes")
def test_results_in_a_bucket(s3_server, tmp_path):
    import boto3

    boto3.client("s3", endpoint_url=s3_server).create_bucket(Bucket="results")
    runner = Runner(tmp_path, "s3://results/run")
    report = runner(["a"], ["plain-1", "crash-abort"])
    assert report.states == {"scored": 1, "failed": 1}
    assert runner.store.latest("a", "plain-1").score.value == pytest.approx(runner.scores()["a", "plain-1"])
    assert runner.store.claims() == ()


def test_nothing_to_do_starts_nothing(runner):
    report = run_plan(Plan(), store_address=runner.address, scorer="runner_toys:score", on_event=runner.events.append)
    assert report.finished == report.skipped == ()
    assert runner.events == []


@pytest.mark.slow(reason="starts clusters of processes")
def test_a_scorer_that_cannot_be_imported_is_said(runner):
    with pytest.raises(UserError, match="cannot import 'runner_toys:missing'"):
        runner(["a"], ["plain-1"], scorer="runner_toys:missing")
    assert runner.store.claims() == ()


def test_impossible_arguments_are_refused_before_anything_starts(runner):
    plan = make_plan(["a"], ["plain-1"], runner.store)
    with pytest.raises(UserError, match="is not the name of a function"):
        run_plan(plan, store_address=runner.address, scorer="runner_toys")
    with pytest.raises(UserError, match="cannot be sent to"):
        run_plan(plan, store_address=runner.address, scorer="runner_toys:score", scorer_options={"model": object()})


@pytest.mark.slow(reason="starts clusters of processes")
def test_a_listener_that_fails_ends_the_run_in_order(runner):
    def fail(event):
        if isinstance(event, PairStarted):
            raise RuntimeError("the terminal is gone")

    with pytest.raises(RuntimeError, match="the terminal is gone"):
        runner(["a"], ["slow-20"], on_event=fail)
    assert runner.store.claims() == ()
    until(lambda: not [one for one in runner.begun() if psutil.pid_exists(one.pid)], seconds=15)
