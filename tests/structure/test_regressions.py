"""What perf/regressions.py says of measured figures."""

import importlib.util
import json
import sys
from pathlib import Path

import pytest

SCRIPT = Path(__file__).resolve().parents[2] / "perf" / "regressions.py"
BEFORE = {"ratio": 2.0, "fastest": 1.9, "seconds": 1.0, "reference_seconds": 0.5, "peak_mb": 100}


@pytest.fixture
def regressions(monkeypatch, tmp_path):
    monkeypatch.setattr(sys, "path", list(sys.path))
    spec = importlib.util.spec_from_file_location("perf_regressions", SCRIPT)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    monkeypatch.setattr(module, "FIGURES", tmp_path / "figures.json")
    return module


@pytest.mark.parametrize(
    ("figure", "expected"),
    [
        ({}, []),
        ({"ratio": 9.0, "fastest": 2.29}, []),  # one fast run: the others were disturbed
        ({"ratio": 2.4, "fastest": 2.31}, ["slower"]),
        ({"peak_mb": 116}, ["larger"]),
        ({"ratio": 2.4, "fastest": 2.31, "peak_mb": 116}, ["slower", "larger"]),
        ({"ratio": 1.6, "fastest": 1.5}, ["faster"]),
    ],
)
def test_changes(regressions, figure, expected):
    assert regressions.changes(BEFORE | figure, BEFORE) == expected


def test_what_became_slower_is_named(regressions, monkeypatch, tmp_path, capsys):
    figures = {"import": BEFORE, "score_gabor": BEFORE}
    monkeypatch.setattr(regressions, "measure", lambda name, runs: figures[name])
    monkeypatch.setattr(sys, "argv", ["regressions.py", "--write", "import", "score_gabor"])
    regressions.main()
    figures["import"] = BEFORE | {"ratio": 4.0, "fastest": 3.9}
    monkeypatch.setattr(sys, "argv", ["regressions.py", "--json", str(tmp_path / "now.json"), "import", "score_gabor"])
    with pytest.raises(SystemExit, match=r"import is slower$"):
        regressions.main()
    assert json.loads((tmp_path / "now.json").read_text())["cases"] == figures
    assert "| import | 1.000 | 4.000 | 2.000 | 100 | 100 | slower |" in capsys.readouterr().out


def test_the_committed_figures_are_of_all_cases(regressions):
    committed = json.loads((SCRIPT.parent / "figures.json").read_text())
    assert set(committed["cases"]) == set(regressions.CASES)
