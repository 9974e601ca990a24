"""What a long call shows of its progress."""

import io
import logging
import pickle
import sys
import threading
import time
import types

import pytest

from brainscore_core import progress
from brainscore_core.progress import stage, track


class Terminal(io.StringIO):
    def isatty(self):
        return True


def in_terminal(monkeypatch, delay=0.01):
    """Make standard error a terminal; not in a fixture, after which pytest replaces standard error."""
    monkeypatch.setattr(sys, "stderr", Terminal())
    monkeypatch.setattr(progress, "DELAY", delay)
    monkeypatch.setattr(progress, "_seconds", lambda one: "0 s")  # also on a loaded machine
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("COLUMNS", "120")
    monkeypatch.delenv("BRAINSCORE_PROGRESS", raising=False)
    return sys.stderr


@pytest.fixture
def notebook(monkeypatch):
    """A module IPython as far as it is used here."""
    shown = []

    class Handle:
        def update(self, html):
            shown.append(html)

    def display(html, display_id):
        shown.append(html)
        return Handle()

    module = types.ModuleType("IPython")
    module.get_ipython = lambda: types.SimpleNamespace(kernel=object())
    module.display = types.ModuleType("IPython.display")
    module.display.HTML = str
    module.display.display = display
    monkeypatch.setitem(sys.modules, "IPython", module)
    monkeypatch.setitem(sys.modules, "IPython.display", module.display)
    monkeypatch.setattr(progress, "DELAY", 0.01)
    monkeypatch.setattr(progress, "_INTERVAL", 0.01)
    monkeypatch.setattr(progress, "_seconds", lambda one: "0 s")
    return shown


def wait_for(text, shown):
    end = time.monotonic() + 5
    while text not in shown():
        assert time.monotonic() < end, repr(shown())
        time.sleep(0.01)


def test_terminal(monkeypatch):
    terminal = in_terminal(monkeypatch)
    with stage("pixels on Some2026-pls"), stage("comparing\x1b[31m", 10, unit="splits") as inner:
        inner.advance(3)
        wait_for("pixels on Some2026-pls · comparing�[31m: 3 of 10 splits · 0 s", terminal.getvalue)
    assert terminal.getvalue().endswith("\x1b[2K")  # the line is gone
    assert "progress" not in {thread.name for thread in threading.enumerate()}


def test_a_second_stage_is_shown_in_the_first_ones_line(monkeypatch):
    terminal = in_terminal(monkeypatch)
    with stage("outer"):
        with stage("first", 5_000_000, unit="bytes") as download:
            download.advance(2_000_000)
            wait_for("outer · first: 2 MB of 5 MB", terminal.getvalue)
        wait_for("outer · 0 s", terminal.getvalue)


@pytest.mark.parametrize(
    ("room", "line"),
    [
        (None, "a-long-name on Some2026-pls · scoring · regression: 3 of 10 splits · 0 s"),
        (80, "a-long-name on Some2026-pls · scoring · regression: 3 of 10 splits · 0 s"),
        (65, "a-long-name on Some2026-pls · regression: 3 of 10 splits · 0 s"),
        (56, "a-long-name on Some2… · regression: 3 of 10 splits · 0 s"),
        (40, "regression: 3 of 10 splits · 0 s"),
        (10, "regression: 3 of 10 splits · 0 s"),
    ],
)
def test_a_narrow_terminal_keeps_count_and_seconds(room, line):
    with stage("a-long-name on Some2026-pls"), stage("scoring"), stage("regression", 10, unit="splits") as inner:
        inner.advance(3)
        assert progress._line(room)[0] == line


def test_shown_within_a_second(monkeypatch):
    terminal = in_terminal(monkeypatch, delay=progress.DELAY)
    start = time.monotonic()
    with stage("scoring"):
        wait_for("scoring", terminal.getvalue)
    assert time.monotonic() - start < 1


def test_short_calls_show_nothing(monkeypatch):
    terminal = in_terminal(monkeypatch, delay=60)
    with stage("scoring"):
        pass
    assert terminal.getvalue() == ""


@pytest.mark.parametrize("switch", ["off", "0", "OFF"])
def test_switch(monkeypatch, switch):
    terminal = in_terminal(monkeypatch)
    monkeypatch.setenv("BRAINSCORE_PROGRESS", switch)
    with stage("scoring"):
        time.sleep(0.05)
    assert terminal.getvalue() == ""


def test_files_and_logs(capsys, monkeypatch, caplog):
    monkeypatch.setattr(progress, "DELAY", 0.0)
    with caplog.at_level(logging.INFO, "brainscore_core.progress"), stage("scoring"):
        time.sleep(0.05)
    assert capsys.readouterr() == ("", "")
    assert caplog.messages == ["scoring"]


def test_notebook(notebook):
    with stage("pixels on <b>"), stage("comparing", 4, unit="splits") as inner:
        inner.advance()
        wait_for('<progress max="4" value="1">', lambda: "".join(notebook))
    assert "pixels on &lt;b&gt; · comparing: 1 of 4 splits" in notebook[0]
    assert notebook[-1] == "<div>pixels on &lt;b&gt;: 0 s</div>"


def test_errors_of_the_display_do_not_end_the_call(monkeypatch):
    def fail(stop):
        raise RuntimeError("no display")

    monkeypatch.setattr(progress, "DELAY", 0.0)
    monkeypatch.setattr(progress, "_destination", lambda: fail)
    with stage("scoring"):
        time.sleep(0.02)


def test_errors_end_stages():
    def broken():
        with stage("outer"):
            for _ in track(range(3), "steps", 3):
                raise ValueError("broken")

    with pytest.raises(ValueError, match="broken"):
        broken()
    assert progress._open == []


def test_abandoned_iterations_end():
    iteration = track("abc", "letters", 3)
    assert next(iteration) == "a"
    assert [one.text for one in progress._open] == ["letters"]
    iteration.close()
    assert progress._open == []


def test_stages_can_be_sent():
    with stage("scoring", 3) as opened:
        assert pickle.loads(pickle.dumps(opened)).total == 3
