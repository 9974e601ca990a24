import json

import pytest
from click.testing import CliRunner

from brainscore.cli.results import command
from brainscore_core.errors import UserError
from brainscore_core.scoring import BenchmarkInfo, ErrorInfo, Estimate, ModelInfo, Receipt, ResultsStore


@pytest.fixture
def store(tmp_path):
    store = ResultsStore(tmp_path / "results")
    for model, value in (("a", 0.1), ("a", 0.2), ("b", 0.3)):
        store.write(
            Receipt(
                model=ModelInfo(identifier=model),
                benchmark=BenchmarkInfo(identifier="A2026-pls", version=1),
                state="scored",
                score=Estimate(value=value, error=0.01, ci=(value - 0.02, value + 0.02)),
            )
        )
    store.write(
        Receipt(
            model=ModelInfo(identifier="c"),
            benchmark=BenchmarkInfo(identifier="A2026-pls"),
            state="failed",
            reason="ValueError: boom",
            error=ErrorInfo(type="ValueError", message="boom", traceback="Traceback …"),
        )
    )
    return store


def run(*arguments):
    return CliRunner().invoke(command, [str(argument) for argument in arguments], catch_exceptions=False)


def test_ls(store):
    listed = json.loads(run("ls", "--results", store.folder, "--json").stdout)
    assert [(entry["model"], entry["score"]) for entry in listed] == [("a", 0.1), ("a", 0.2), ("b", 0.3), ("c", None)]
    newest = json.loads(run("ls", "--results", store.folder, "--newest", "--model", "a", "--json").stdout)
    assert [entry["score"] for entry in newest] == [0.2]
    lines = run("ls", "--results", store.folder).stdout.split()
    assert lines == [entry["id"] for entry in listed]


def test_ls_of_nothing(tmp_path):
    result = run("ls", "--results", tmp_path / "none")
    assert (result.exit_code, result.stdout) == (0, "")
    assert json.loads(run("ls", "--results", tmp_path / "none", "--json").stdout) == []


def test_ls_names_what_cannot_be_read(store):
    (store.folder_of("a", "A2026-pls") / "broken.json").write_text("{")
    result = run("ls", "--results", store.folder, "--json")
    assert len(json.loads(result.stdout)) == 4
    assert "broken.json" in result.stderr


def test_show(store):
    receipt = store.latest("b", "A2026-pls")
    assert json.loads(run("show", receipt.id, "--results", store.folder, "--json").stdout) == receipt.to_dict()
    text = run("show", receipt.id[:-3], "--results", store.folder).stdout
    assert "0.300 ± 0.010" in text
    assert str(store.path_of(receipt)) in text
    text = run("show", store.latest("c", "A2026-pls").id, "--results", store.folder).stdout
    assert "ValueError: boom" in text
    assert "Traceback" in text


def test_show_of_an_unknown_receipt(store):
    with pytest.raises(UserError, match="no receipt"):
        run("show", "20200101T000000000000Z-000000000000", "--results", store.folder)
