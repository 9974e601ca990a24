"""What ``brainscore run`` shows while it runs."""

import io
import sys

import pytest

from brainscore.cli._run_output import Progress, readable_seconds
from brainscore_core.runner import ClusterReady, PairFinished, PairRetried, PairSkipped, PairStarted, WorkerLost


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


def test_outside_a_terminal_a_line_a_pair(capsys):
    with Progress(6) as progress:
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


def test_a_terminal_shows_what_runs_and_keeps_failures(monkeypatch):
    class Terminal(io.StringIO):
        def isatty(self):
            return True

    terminal = Terminal()
    monkeypatch.setattr(sys, "stderr", terminal)
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("COLUMNS", "120")
    with Progress(6) as progress:
        progress._display.refresh()
        assert "0 of 6" in terminal.getvalue()
        assert "starting workers" in terminal.getvalue()
        for event in EVENTS:
            progress(event)
        progress._display.refresh()
    shown = terminal.getvalue()
    assert "3 of 6, 1 failed" in shown
    assert "m  C2026-x" in shown
    assert "n on A2026-x: failed: ValueError: no" in shown
    assert "m  A2026-x  0.25" not in shown


@pytest.mark.parametrize(
    ("seconds", "words"),
    [(0, "0.0 s"), (9.94, "9.9 s"), (59.4, "59 s"), (59.8, "1.0 min"), (3599, "1.0 h"), (86400 * 2, "2.0 days")],
)
def test_durations(seconds, words):
    assert readable_seconds(seconds) == words
