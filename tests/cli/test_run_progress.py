"""What ``brainscore run`` shows while it runs."""

import io
import sys

import pytest

from brainscore.cli._run_output import Progress, readable_seconds
from brainscore_core.runner import ClusterReady, PairFinished, PairRetried, PairSkipped, PairStarted, WorkerLost
from brainscore_core.runner.plan import make_plan
from brainscore_core.scoring import BenchmarkInfo, Listing, ModelInfo, Receipt, Timings

BENCHMARKS = ("A2026-x", "B2026-x", "C2026-x")


@pytest.fixture
def plan():
    """Six pairs: those of A and B took 100 s before, C is new."""
    receipts = [
        Receipt(
            model=ModelInfo(identifier=model),
            benchmark=BenchmarkInfo(identifier=benchmark),
            state="scored",
            timings=Timings(total=100.0),
        )
        for model in ("m", "n")
        for benchmark in BENCHMARKS[:2]
    ]
    return make_plan(["m", "n"], BENCHMARKS, Listing(tuple(receipts)), again="all")


def finished(model, benchmark, *, state="scored", seconds=100.0, reason=None):
    score = 0.25 if state == "scored" else None
    return PairFinished(
        model=model, benchmark=benchmark, receipt_id="r", state=state, score=score, seconds=seconds, reason=reason
    )


def started(model, benchmark):
    return PairStarted(model=model, benchmark=benchmark, worker="tcp://w")


EVENTS = (
    ClusterReady(workers=2, memory=None),
    started("m", "A2026-x"),
    started("n", "A2026-x"),
    finished("m", "A2026-x"),
    PairRetried(model="n", benchmark="A2026-x", reason="the scoring process died"),
    WorkerLost(worker="tcp://w", pairs=(("n", "A2026-x"),)),
    finished("n", "A2026-x", state="failed", reason="ValueError: no"),
    PairSkipped(model="m", benchmark="B2026-x", reason="another process is scoring it"),
    started("m", "C2026-x"),
)


def test_outside_a_terminal_a_line_a_pair(plan, capsys):
    with Progress(plan, 1) as progress:
        for event in EVENTS:
            progress(event)
    assert capsys.readouterr().err.splitlines() == [
        "1/6  m  A2026-x  0.2500 (1.7 min)",
        "again: n on A2026-x: the scoring process died",
        "lost a worker: tcp://w",
        "2/6  n  A2026-x  failed: ValueError: no (1.7 min)",
        "3/6  m  B2026-x  left out: another process is scoring it",
    ]
    assert [event.state for event in progress.finished] == ["scored", "failed"]
    assert len(progress.skipped) == 1


def test_a_terminal_shows_what_runs_and_keeps_failures(plan, monkeypatch):
    class Terminal(io.StringIO):
        def isatty(self):
            return True

    terminal = Terminal()
    monkeypatch.setattr(sys, "stderr", terminal)
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("COLUMNS", "120")
    with Progress(plan, 1) as progress:
        progress._live.refresh()
        assert "0 of 6" in terminal.getvalue()
        assert "starting workers" in terminal.getvalue()
        for event in EVENTS:
            progress(event)
        progress._live.refresh()
    shown = terminal.getvalue()
    assert "3 of 6, 1 failed" in shown
    assert " left" in shown
    assert "m  C2026-x" in shown
    assert "n on A2026-x: failed: ValueError: no" in shown
    assert "m  A2026-x  0.25" not in shown


def test_what_is_left_is_predicted_and_corrected(plan):
    progress = Progress(plan, 1)
    # four pairs of 100 s; the two new ones have no prediction of their own but one from their model
    before = progress.seconds_left()
    assert before == pytest.approx(600, rel=0.02)
    progress(finished("m", "A2026-x", seconds=400.0))
    after = progress.seconds_left()
    assert after == pytest.approx(500 * (400 + 60) / (100 + 60), rel=0.02)
    progress(ClusterReady(workers=2, memory=None))
    assert progress.seconds_left() == pytest.approx(after / 2)
    unknown = Progress(make_plan(["m"], BENCHMARKS, Listing()), 1)
    assert unknown.seconds_left() is None
    unknown(finished("m", "A2026-x", seconds=30.0))
    assert unknown.seconds_left() == pytest.approx(60)


@pytest.mark.parametrize(
    ("seconds", "words"),
    [(0, "0.0 s"), (9.94, "9.9 s"), (59.4, "59 s"), (59.8, "1.0 min"), (3599, "1.0 h"), (86400 * 2, "2.0 days")],
)
def test_durations(seconds, words):
    assert readable_seconds(seconds) == words
