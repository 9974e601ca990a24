"""The Python of docs/api.md, run against a site."""

import re
from pathlib import Path

import pytest

from brainscore_core.scoring import BenchmarkInfo, Estimate, ModelInfo, Receipt, ResultsStore

PAGE = Path(__file__).parents[3] / "docs" / "api.md"


@pytest.fixture
def documented(live_server, board, owner, token_of, tmp_path, monkeypatch):
    """``documented()`` runs the page's blocks in order, in a folder with some results, and returns their names."""
    from django.contrib.auth.models import Permission

    owner.user_permissions.add(Permission.objects.get(codename="add_score"))
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("BRAINSCORE_SITE", live_server.url)
    monkeypatch.setenv("BRAINSCORE_TOKEN", token_of(owner, "read", "receipts:write"))
    receipt = Receipt(
        model=ModelInfo(identifier="mine"),
        benchmark=BenchmarkInfo(identifier="Some2026-pls", version=1),
        state="scored",
        score=Estimate(value=0.5),
    )
    ResultsStore("results").write(receipt)

    def run():
        names = {}
        for block in re.findall(r"^```python\n(.*?)^```", PAGE.read_text(), re.DOTALL | re.MULTILINE):
            exec(compile(block, str(PAGE), "exec"), names)
        return names

    return run


def test_python_of_the_page(documented, board, tmp_path, capsys):
    names = documented()
    assert [node.identifier for node in names["board"].nodes if node.depth == 2] == ["V4", "IT"]
    assert len(names["history"]) == 2
    assert {path.name for path in tmp_path.iterdir()} == {
        "results", "leaderboard.parquet", "references.bib", "scores.csv",
    }  # fmt: skip
    assert names["posted"].added == 1
    assert capsys.readouterr().out == "1 of 1\n"


def test_the_page_names_every_operation_and_method():
    from brainscore.client import Client
    from brainscore_web.api.urls import api

    text = PAGE.read_text()
    for path, methods in api.get_openapi_schema()["paths"].items():
        name = path.removeprefix("/api/v1/").split("/{")[0].split(".{")[0]
        for method in methods:
            assert f"`{method.upper()} {name}" in text, path
    methods = {name for name in vars(Client) if not name.startswith("_")} - {"close"}
    assert all(f"`{name}(" in text for name in methods)
