"""Source code is highlighted in a process with limits, once for each content."""

import pytest
from django.core.cache import caches

from brainscore_web.submissions import source_code
from brainscore_web.submissions.source_code import highlighted

SLOW = ("a " * 500,) * 50  # minutes for the lexer of Java


@pytest.fixture(autouse=True)
def _patient(monkeypatch):
    """Nothing is cached, and a loaded machine has time enough."""
    caches["highlighting"].clear()
    monkeypatch.setattr(source_code, "_PROCESS_TIMEOUT", 60)


def test_languages_of_plugins_are_highlighted():
    made = highlighted(
        {"a.py": ("x = '<'", "", "# end"), "b.JSON": ('{"a": 1}',), "c.java": ("int a;",), "d.csv": ("<",)}
    )
    assert made["a.py"][1:] == ["", '<span class="c1"># end</span>']
    assert "&lt;" in made["a.py"][0]
    assert "<span" in made["b.JSON"][0]
    assert made["c.java"] == ["int a;"]
    assert made["d.csv"] == ["&lt;"]


@pytest.mark.slow(reason="waits for a limit of time")
def test_what_takes_too_long_stays_plain_and_is_not_tried_again(monkeypatch):
    monkeypatch.setitem(source_code._LANGUAGES, ".java", "java")
    monkeypatch.setattr(source_code, "_HIGHLIGHT_SECONDS", 1)
    files = {"a.py": ("x = 1",), "slow.java": SLOW, "z.py": ("y = 1",)}
    first = highlighted(files)
    assert "<span" in first["a.py"][0]
    assert first["slow.java"] == list(SLOW)
    assert first["z.py"] == ["y = 1"]  # its turn did not come
    assert "<span" in highlighted(files)["z.py"][0]
    monkeypatch.setattr(source_code, "_run_process", lambda *_, **__: pytest.fail("everything is in the cache"))
    assert highlighted(files)["slow.java"] == list(SLOW)


def test_one_process_runs_at_a_time(monkeypatch):
    monkeypatch.setattr(source_code, "_SLOT_SECONDS", 0.01)
    with source_code._slot:
        assert highlighted({"a.py": ("x = 1",)})["a.py"] == ["x = 1"]
    assert "<span" in highlighted({"a.py": ("x = 1",)})["a.py"][0]  # later it is tried again


def test_large_files_stay_plain(monkeypatch):
    monkeypatch.setattr(source_code, "_run_process", lambda *_, **__: pytest.fail("no process is needed"))
    lines = ["x = 1"] * 20_000
    assert highlighted({"a.py": lines})["a.py"] == lines
