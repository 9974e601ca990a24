"""Names that published plugin folders import: each resolves, or the documentation says what replaces it."""

import csv
import importlib
import os
import re
from pathlib import Path

import pytest

PAGE = Path(__file__).parents[2] / "docs" / "coming_from_2.md"
_IN_A_PLUGIN = re.compile(r"brainscore_vision\.(benchmarks|data|metrics|models)\.")


def _resolves(module, name):
    try:
        found = importlib.import_module(module)
        if name and not hasattr(found, name):
            importlib.import_module(f"{module}.{name}")
    except ImportError:
        return False
    return True


def _replaced(module, name):
    """Whether a row of the page's tables names what it is and something in its place."""
    rows = [line.split("|") for line in PAGE.read_text(encoding="utf-8").splitlines() if line.startswith("|")]
    shown = (f"`{module}.{name}`",), (f"`{module}`", f"`{name}`")
    return any(any(all(part in row[1] for part in parts) for parts in shown) and row[2].strip() for row in rows)


def test_every_name_outside_plugin_folders_resolves_or_has_a_replacement():
    folder = os.environ.get("BRAINSCORE_FACTS")
    if not folder:
        pytest.skip("needs the tables of what is published: set BRAINSCORE_FACTS to their folder")
    pytest.importorskip("torch")
    with (Path(folder) / "api_surface.csv").open(newline="", encoding="utf-8") as file:
        rows = [(row["module"], row["name"]) for row in csv.DictReader(file)]
    outside = [(module, name) for module, name in rows if not _IN_A_PLUGIN.match(module)]
    assert len(outside) > 100
    unknown = [pair for pair in outside if not _resolves(*pair) and not _replaced(*pair)]
    assert unknown == []


def test_modules_that_are_not_offered_stand_on_the_page():
    text = PAGE.read_text(encoding="utf-8")
    for name in ("plugin_management", "submission", "score_benchmark", "cache_key", "generic_plugin_tests"):
        assert re.search(rf"^\|[^|]*\b{name}\b[^|]*\|[^|]*\w[^|]*\|$", text, re.MULTILINE), name
