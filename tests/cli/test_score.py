"""``brainscore score`` and ``python -m brainscore_vision score``."""

import json

import pytest

from brainscore_core.runner.score_command import main
from brainscore_core.scoring import Receipt

MODELS = """
from brainscore_core.errors import NotApplicable
from brainscore_vision import model_registry


class Able:
    value = 0.4


def unable():
    raise NotApplicable('it has no IT')


def broken():
    raise RuntimeError('the weights are torn')


model_registry['lab-able'] = Able
model_registry['lab-unable'] = unable
model_registry['lab-broken'] = broken
"""

BENCHMARKS = """
import numpy as np

from brainscore_core.metrics import Score, attach_uncertainty, declare_no_error
from brainscore_vision import benchmark_registry


class Benchmark:
    version = 2
    parent = 'IT'
    bibtex = None

    def __init__(self, identifier, make):
        self.identifier, self.make = identifier, make
        self.ceiling = attach_uncertainty(
            Score(0.8), error=0.01, ci=(0.78, 0.82), estimates='the reliability', method='t'
        )
        self.ceiling.attrs['meaning'] = 'reliability'

    def __call__(self, model):
        score = self.make(model)
        score.attrs['raw'] = Score(model.value)
        score.attrs['ceiling'] = self.ceiling
        return score


def full(model):
    return attach_uncertainty(
        Score(0.5), error=0.02, ci=(0.46, 0.54), estimates='the mean over stimuli', method='bootstrap'
    )


def uncertain(model):
    return declare_no_error(Score(0.5), 'there is one subject')


def undefined(model):
    return declare_no_error(Score(np.nan), 'no neuroid is reliable')


benchmark_registry['Lab2026.IT-full'] = lambda: Benchmark('Lab2026.IT-full', full)
benchmark_registry['Lab2026.IT-uncertain'] = lambda: Benchmark('Lab2026.IT-uncertain', uncertain)
benchmark_registry['Lab2026.IT-undefined'] = lambda: Benchmark('Lab2026.IT-undefined', undefined)
benchmark_registry['lab-other-name'] = lambda: Benchmark('Lab2026.IT-other', full)
"""


@pytest.fixture(autouse=True)
def _plugins(lab):
    lab("models", "mine", MODELS)
    lab("benchmarks", "mine", BENCHMARKS)


def fields(output):
    lines = dict(line.split(None, 1) for line in output.splitlines() if not line.startswith(" "))
    assert len(lines) == len(output.splitlines())
    return lines


def test_everything_is_printed(cli, tmp_path):
    result = cli("score", "lab-able", "Lab2026.IT-full", "--results", str(tmp_path / "out"))
    assert result.exit_code == 0, result.output
    lines = fields(result.output)
    stored = lines.pop("receipt")
    assert lines == {
        "model": "lab-able",
        "benchmark": "Lab2026.IT-full (version 2)",
        "state": "scored",
        "score": "0.500 (95 %: 0.460–0.540)",
        "interval": "the mean over stimuli (bootstrap)",
        "holds": "for  unknown subjects and groups: not recorded",
        "raw": lines["raw"],
        "ceiling": "0.800 (95 %: 0.780–0.820) (reliability)",
    }
    assert lines["raw"].startswith("0.400")
    with open(stored) as file:
        receipt = Receipt.from_json(file.read())
    assert receipt.score.value == 0.5
    assert receipt.model.plugin.name == "mine"
    assert stored.startswith(str(tmp_path / "out"))


def test_json_is_the_receipt(cli, tmp_path):
    result = cli("score", "lab-able", "Lab2026.IT-uncertain", "--results", str(tmp_path), "--json")
    receipt = Receipt.from_json(result.stdout)
    assert receipt.score.value == 0.5
    assert receipt.score.error is None
    assert json.loads(result.stdout)["score"]["error_reason"] == "there is one subject"


def test_what_is_undefined_says_why(cli, tmp_path):
    output = cli("score", "lab-able", "Lab2026.IT-uncertain", "--results", str(tmp_path)).output
    lines = fields(output)
    assert (lines["score"], lines["interval"]) == ("0.500", "none: there is one subject")
    lines = fields(cli("score", "lab-able", "Lab2026.IT-undefined", "--results", str(tmp_path)).output)
    assert lines["state"] == "undefined: no neuroid is reliable"
    assert "score" not in lines
    assert "nan" not in str(lines).lower()


def test_a_model_that_cannot(cli, tmp_path):
    result = cli("score", "lab-unable", "Lab2026.IT-full", "--results", str(tmp_path))
    assert result.exit_code == 0
    lines = fields(result.output)
    assert lines["state"] == "not applicable: it has no IT"
    assert lines["receipt"].startswith(str(tmp_path))


def test_a_failure_keeps_its_traceback_and_leaves_a_receipt(cli, tmp_path):
    result = cli("score", "lab-broken", "Lab2026.IT-full", "--results", str(tmp_path))
    assert isinstance(result.exception, RuntimeError)
    (file,) = tmp_path.rglob("Lab2026.IT-full/lab-broken/*.json")
    assert json.loads(file.read_text())["state"] == "failed"


@pytest.mark.parametrize(
    ("model", "benchmark", "message"),
    [
        ("lab-abel", "Lab2026.IT-full", "There is no model 'lab-abel'. Nearest: lab-able"),
        ("lab-able", "Lab2026.IT-ful", "There is no benchmark 'Lab2026.IT-ful'. Nearest: Lab2026.IT-full"),
    ],
)
def test_a_wrong_name_gets_suggestions_and_no_receipt(cli, tmp_path, model, benchmark, message):
    result = cli("score", model, benchmark, "--results", str(tmp_path / "out"))
    assert result.exit_code == 2
    assert message in result.stderr
    assert result.stdout == ""
    assert not (tmp_path / "out").exists()


def test_a_benchmark_by_its_own_identifier(cli, tmp_path):
    lines = fields(cli("score", "lab-able", "Lab2026.IT-other", "--results", str(tmp_path)).output)
    assert lines["benchmark"] == "lab-other-name (version 2)"


@pytest.mark.slow(reason="runs a command")
def test_the_older_command(shell, tmp_path):
    run = shell(
        "score",
        "--model_identifier=lab-able",
        "--benchmark_identifier=Lab2026.IT-full",
        module="brainscore_vision",
        BRAINSCORE_RESULTS=str(tmp_path / "out"),
    )
    assert run.returncode == 0, run.stderr
    assert fields(run.stdout)["score"] == "0.500 (95 %: 0.460–0.540)"


def test_errors_of_the_older_command(capsys, tmp_path):
    def score(model):
        names = ("--model-identifier", model, "--benchmark-identifier", "Lab2026.IT-full")
        return main("vision", ["score", *names, "--results", str(tmp_path)])

    assert score("lab-abel") == 2
    assert "Error: There is no model 'lab-abel'. Nearest: lab-able" in capsys.readouterr().err
    with pytest.raises(RuntimeError):
        score("lab-broken")


def test_a_function_of_a_file_is_scored_without_registration(cli, tmp_path):
    file = tmp_path / "mine.py"
    file.write_text(
        "class Subject:\n    value = 0.4\n    def look_at(self, stimuli): ...\n\n\ndef make():\n    return Subject()\n"
    )
    result = cli(
        "score", f"{file}:make", "Lab2026.IT-full", "--identifier", "my-own", "--results", str(tmp_path), "--json"
    )
    assert result.exit_code == 0, result.output
    receipt = Receipt.from_json(result.stdout)
    assert (receipt.model.identifier, receipt.model.plugin.name) == ("my-own", "mine")
    assert receipt.model.plugin.sha256


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["absent.py:make"], "there is no file"),
        (["lab-able", "--layer", "conv1"], "omit layers"),
        (["lab-able", "--max-memory", "much"], "is not a size in bytes"),
    ],
)
def test_mistakes_in_naming_a_model_are_explained(cli, arguments, message):
    result = cli("score", *arguments[:1], "Lab2026.IT-full", *arguments[1:])
    assert result.exit_code == 2
    assert message in result.stderr


def test_methods_are_printed_for_scores_and_for_other_states(cli, tmp_path):
    output = cli("score", "lab-able", "Lab2026.IT-full", "--results", str(tmp_path), "--methods").output
    assert output.startswith("model ")
    paragraph = output.split("\n\n", 1)[1]
    assert "benchmark Lab2026.IT-full (version 2)." in paragraph
    assert "The score was 0.500 (95 % interval 0.460–0.540)." in paragraph
    assert "The score is the score before the ceiling divided by the ceiling." in paragraph  # 0.4 / 0.8
    (receipt,) = tmp_path.rglob("*.json")
    shown = cli("results", "show", receipt.stem, "--results", str(tmp_path), "--methods").output
    assert shown == paragraph
    output = cli("score", "lab-unable", "Lab2026.IT-full", "--results", str(tmp_path), "--methods").output
    assert "It has no score; not applicable: it has no IT." in output
    result = cli("score", "lab-able", "Lab2026.IT-full", "--methods", "--json")
    assert (result.exit_code, "leave out --json" in result.output) == (2, True)
