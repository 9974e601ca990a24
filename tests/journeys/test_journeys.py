"""Journeys of users, run from the built wheel outside the checkout (perf/journeys.py says how)."""

import os
import runpy
from pathlib import Path

import pytest

from tests.optional import require_package

require_package("hatchling", "building the wheel needs hatchling: pip install 'brainscore[test]'")

ROOT = Path(__file__).parents[2]
_runner = runpy.run_path(str(ROOT / "perf" / "journeys.py"))
JOURNEYS = {journey.path.stem: journey for journey in _runner["journeys"]()}
pytestmark = pytest.mark.slow(reason="builds and installs the wheel, and scores models in processes of their own")


@pytest.fixture(scope="module")
def installed(tmp_path_factory):
    """Interpreter of an environment in which the wheel is installed."""
    return _runner["install_wheel"](tmp_path_factory.mktemp("wheel"))


def test_the_wheel_is_what_is_imported(installed, tmp_path):
    code = "import brainio, brainscore, brainscore_core, brainscore_vision; print(brainscore.__file__)"
    outcome = _runner["run"]([str(installed), "-c", code], tmp_path)
    assert outcome.code == 0, outcome.errors
    assert Path(outcome.last_line).is_relative_to(installed.parents[1])
    command = _runner["run"]([str(installed.with_name("brainscore")), "list", "metrics"], tmp_path / "command")
    assert command.code == 0, command.errors
    assert "pls" in command.output


@pytest.mark.parametrize("name", JOURNEYS)
def test_journey(name, installed, tmp_path):
    journey = JOURNEYS[name]
    if missing := journey.missing_packages():
        pytest.skip(f"needs {', '.join(missing)}")
    path = _runner["search_path"](journey, installed)
    drawn = (Path(os.environ["BRAINSCORE_HOME"]) / "simulated2026").resolve()
    stimuli = drawn if drawn.is_dir() and name != "install_from_wheel" else None  # the wheel draws them, once
    outcome = _runner["run"]([str(installed), str(journey.path)], tmp_path, path=path, stimuli=stimuli)
    assert outcome.code == 0, outcome.output + outcome.errors
    assert _runner["has_number"](outcome.last_line), f"the last line shows no score: {outcome.output!r}"
    assert "nan" not in outcome.last_line
    assert "Traceback" not in outcome.errors


def test_the_readme_shows_the_first_journey():
    script = JOURNEYS["install_from_wheel"].path.read_text(encoding="utf-8")
    assert script.partition("\n\n")[2].strip() in (ROOT / "README.md").read_text(encoding="utf-8")


def test_the_table_lists_all_journeys():
    page = (ROOT / "docs" / "performance.md").read_text(encoding="utf-8")
    table = page.partition("<!-- begin: journeys -->")[2].partition("<!-- end: journeys -->")[0]
    for name, journey in JOURNEYS.items():
        assert f"| `{name}.py` | {journey.lines} |" in table, f"{name}: python perf/journeys.py --write"


def test_lines_written(tmp_path):
    script = tmp_path / "script.py"
    script.write_text('"""A title.\n\nMore.\n"""\nimport os\n\n# a comment\nprint(\n    os.name\n)\n')
    assert (_runner["_read"](script).title, _runner["_read"](script).lines) == ("A title", 4)
    script.write_text('"""A title."""\nimport os\n# written by the user\nprint(os.name)\n')
    assert _runner["_read"](script).lines == 1
