"""Commands for models of language beside those of vision."""

import json
import os
from pathlib import Path

import pytest
from click.testing import CliRunner

from brainscore.cli import app
from brainscore_core.runner.score_command import main

SUBJECT = """
import numpy as np

from brainscore_core.supported_data_standards.brainio.assemblies import BehavioralAssembly
from brainscore_language import ArtificialSubject


class Letters(ArtificialSubject):
    def identifier(self):
        return "letters"

    def start_behavioral_task(self, task):
        pass

    def digest_text(self, text):
        coordinates = {name: ("presentation", list(text)) for name in ("stimulus", "context")}
        coordinates["part_number"] = ("presentation", range(len(text)))
        values = np.array([float(len(part)) for part in text])
        return {"behavior": BehavioralAssembly(values, coords=coordinates, dims=["presentation"]), "neural": None}
"""


@pytest.fixture
def run(tmp_path, monkeypatch):
    monkeypatch.setenv("BRAINSCORE_RESULTS", str(tmp_path / "results"))

    def run(*arguments):
        return CliRunner().invoke(app, list(arguments))

    return run


def test_lists_and_descriptions_of_language(run):
    names = run("list", "benchmarks", "--domain", "language").stdout.split()
    assert "NaturalStories2021-added" in names
    assert not {"MajajHong2015.IT-pls"} & set(names)
    assert run("list", "stimulus-sets", "--domain", "language").exception is not None
    (entry,) = json.loads(run("info", "NaturalStories2021-added", "--json").stdout)
    assert (entry["domain"], entry["version"]) == ("language", 1)
    metrics = json.loads(run("info", "cka", "--json").stdout)
    assert [entry["domain"] for entry in metrics] == ["vision", "language"]
    assert [entry["domain"] for entry in json.loads(run("info", "language:cka", "--json").stdout)] == ["language"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["pixels", "NaturalStories2021-added"], "'pixels' is of vision, the benchmark"),
        (["vision:pixels", "NaturalStories2021-added"], "is of vision, the benchmark"),
        (["word-length", "NaturalStories2021-aded"], "Nearest: NaturalStories2021-added"),
        (["word-length", "NaturalStories2021-added", "--visual-degrees", "8"], "omit visual_degrees"),
    ],
)
def test_names_that_do_not_fit_are_refused(run, arguments, message):
    assert message in run("score", *arguments).output


@pytest.mark.parametrize(
    ("arguments", "features"),
    [
        (["fit", "word-length", "SimulatedText2026-ridge"], "encoders"),
        (["layers", "word-length", "SimulatedText2026-ridge"], "layer profiles"),
        (["compare", "word-length", "SimulatedText2026-ridge", "--with-untrained"], "untrained twins"),
    ],
)
def test_commands_for_models_of_vision_refuse_others(run, arguments, features):
    assert f"{features} are for models of vision, not of language" in run(*arguments).output


def test_checks_of_subjects(run, tmp_path):
    checks = json.loads(run("check", "model", "word-length", "--json").stdout)
    assert {check["result"] for check in checks} == {"passed", "not applicable"}
    assert checks[2] == {**checks[2], "kind": "model", "subject": "word-length", "result": "passed"}
    (tmp_path / "mine.py").write_text(SUBJECT.replace("range(len(text))", "[0] * len(text)"))
    failing = run("check", "model", f"{tmp_path}/mine.py:Letters", "--domain", "language")
    assert failing.exit_code == 1
    assert "part_number must count the parts from 0" in failing.output


def test_checks_of_a_benchmark_with_its_texts(run):
    checks = json.loads(run("check", "benchmark", "SimulatedText2026-ridge", "--model", "none", "--json").stdout)
    found = {check["name"]: check for check in checks if check["kind"] == "benchmark"}
    assert found["its texts are independent units"]["explanation"] == "192 texts, 24 story"
    assert "neighbourhood 0.000" in found["scores without language stand beside its scores"]["explanation"]
    assert found["its splits keep similar stimuli together"]["result"] == "passed"


def test_a_run_is_of_one_domain(run):
    plan = run(
        "run", "--models", "word-*", "random-words", "--benchmarks", "NaturalStories2021-*", "--dry-run", "--json"
    )
    assert {pair["model"] for pair in json.loads(plan.stdout)["pending"]} >= {"word-length", "random-words"}
    mixed = run("run", "--models", "vision:pixels", "--benchmarks", "language:NaturalStories2021-added", "--dry-run")
    assert "of several domains: vision, language" in mixed.output


@pytest.mark.skipif(not os.environ.get("BRAINSCORE_MIRROR"), reason="needs real data: set BRAINSCORE_MIRROR")
def test_from_a_file_to_the_report(run, tmp_path, capsys):
    Path(tmp_path / "mine.py").write_text(SUBJECT)
    scored = run("score", f"{tmp_path}/mine.py:Letters", "NaturalStories2021-pearsonr", "--json")
    receipt = json.loads(scored.stdout)
    assert (receipt["domain"], receipt["model"]["identifier"], receipt["state"]) == ("language", "letters", "scored")
    names = ("--model_identifier=word-length", "--benchmark_identifier=NaturalStories2021-pearsonr")
    assert main("language", ["score", *names]) == 0
    assert "<xarray.Score ()>" in capsys.readouterr().out
    (tree,) = [
        entry for entry in json.loads(run("results", "tree", "--json").stdout)["models"] if entry["model"] == "letters"
    ]
    assert tree["model"] == "letters"
    assert run("report", "--output", str(tmp_path / "report.html")).exit_code == 0
    text = (tmp_path / "report.html").read_text()
    assert "NaturalStories2021-pearsonr" in text
    assert "Allen2022" not in text
    (file,) = (tmp_path / "results").glob("*/word-length/*.json")
    assert json.loads(run("verify", file.stem, "--json").stdout)["verdict"] == "same"
