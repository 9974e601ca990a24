"""``brainscore check``."""

import json

import pytest

FILE = """
import numpy as np


def make():
    return lambda images: np.stack([image[::16, ::16].mean(axis=2).ravel() for image in images])


def broken():
    return lambda images: np.full((len(images), 4), np.nan)
"""


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "mine.py"
    path.write_text(FILE)
    return path


MODEL = """
from functools import partial

import numpy as np

from brainscore_vision import model_registry
from brainscore_vision.model_helpers.images import load_grey
from brainscore_vision.model_helpers.metadata import ModelMetadata
from brainscore_vision.model_helpers.static_features import FeatureModel

METADATA = {
    'lab-tiles': ModelMetadata(
        architecture='tiles of an image', family='tiles', parameters=0, total_parameters=0, image_size=4,
        training_data=None, code_licence='MIT', weights_licence=None, source='https://example.org/tiles',
        bibtex='@misc{tiles2026, title = {Tiles}, author = {Author, A.}, year = {2026}}',
    )
}
model_registry['lab-tiles'] = lambda: FeatureModel(
    'lab-tiles', layers={'tiles': np.stack}, load=partial(load_grey, size=4), visual_degrees=8
)
"""


def test_a_registered_model(cli, lab):
    lab("models", "tiles", MODEL)
    result = cli("check", "model", "lab-tiles")
    assert result.exit_code == 0, result.output
    assert "✓ responses repeat" in result.output
    assert "✓ it states its visual angle" in result.output
    assert "– task label\n    'lab-tiles' cannot do the task 'label'" in result.output
    assert "✓ its metadata are there" in result.output
    assert "✓ it states what it was trained on" in result.output
    assert result.output.endswith("lab-tiles: all checks passed\n")


@pytest.mark.parametrize(
    ("stated", "explanation"),
    [("None", "the leaderboard marks scores as unknown"), ("('ImageNet',)", "lacks 'ImageNet' (nearest: 'ImageNet-")],
)
def test_a_model_that_does_not_state_what_it_was_trained_on(cli, lab, stated, explanation):
    lab("models", "tiles", MODEL.replace("parameters=0, total_parameters=0", f"parameters=3, trained_on={stated}"))
    found = json.loads(cli("check", "model", "lab-tiles", "--json").stdout)
    (check,) = (check for check in found if check["name"] == "it states what it was trained on")
    assert check["result"] == "warning"
    assert explanation in check["explanation"]


def test_a_function_of_a_file(cli, file):
    result = cli("check", "model", f"{file}:make", "--json")
    assert result.exit_code == 0, result.output
    checks = {check["name"]: check for check in json.loads(result.stdout)}
    angle = checks.pop("it states its visual angle")
    assert {check["result"] for check in checks.values()} == {"passed", "not applicable"}
    assert angle["result"] == "warning"
    assert "8° is taken by default" in angle["explanation"]
    assert "at 4°, the RDM of IT correlates" in angle["explanation"]


def test_failures_are_explained_and_set_the_exit_code(cli, file):
    result = cli("check", "model", f"{file}:broken")
    assert result.exit_code == 1
    assert "✗ recordings have the right form\n    the recordings of V1 hold NaN or infinity" in result.output


def test_an_unknown_model_is_no_failed_check(cli):
    result = cli("check", "model", "pixles")
    assert result.exit_code == 2
    assert "pixels" in result.stderr


BENCHMARK = """
from brainscore_core.benchmarks import BenchmarkBase
from brainscore_core.metrics import Score, declare_no_error


class Benchmark(BenchmarkBase):
    def __init__(self):
        super().__init__('{name}', lambda: declare_no_error(Score(0.8), 'made up'), 1, parent='IT')

    def __call__(self, candidate):
        score = declare_no_error(Score(0.5), 'made up')
        score.attrs['raw'] = score.copy()
        return score
"""


@pytest.mark.slow(reason="computes a whole benchmark")
def test_a_registered_benchmark_with_the_data_that_it_loads(cli):
    result = cli("check", "benchmark", "Simulated2026.V1-rdm", "--model", "none", "--json")
    checks = json.loads(result.stdout)
    assert {(check["kind"], check["subject"]) for check in checks} == {
        ("benchmark", "Simulated2026.V1-rdm"),
        ("data", "Simulated2026"),
        ("stimulus set", "Simulated2026"),
    }
    found = {check["name"]: check for check in checks if check["kind"] == "benchmark"}
    assert found["its ceiling is a Score above 0 and at most 1"]["result"] == "passed"
    assert found["it scores a model"]["result"] == "not applicable"
    assert found["its parent is known"]["result"] == "passed"
    assert found["its metadata are there"]["result"] == "passed"


def test_a_benchmark_in_a_file(cli, tmp_path):
    (tmp_path / "mine.py").write_text(BENCHMARK.format(name="mine"))
    result = cli("check", "benchmark", f"{tmp_path}/mine.py:Benchmark")
    assert result.exit_code == 1
    assert "✗ its identifier is AuthorYear-metric\n    'mine' is not written as" in result.output
    assert "✗ its citation is complete\n    bibtex is missing\n    → pass bibtex=" in result.output
    assert "✓ it scores a model\n– its tests load it\n    the plugin's folder is not given" in result.output
    assert result.output.endswith("mine.py:Benchmark (benchmark): 2 of 16 checks failed\n")


def test_a_folder(cli, lab, monkeypatch):
    folder = lab("benchmarks", "mine", "from brainscore_vision import benchmark_registry\nfrom .benchmark import *\n"
                 "benchmark_registry['Mine2026-accuracy'] = Benchmark\n",
                 **{"benchmark.py": BENCHMARK.format(name="Mine2026-accuracy")})  # fmt: skip
    monkeypatch.delenv("BRAINSCORE_PLUGINS")
    monkeypatch.setenv("BRAINSCORE_PLUGINS", "")
    result = cli("check", "benchmark", str(folder), "--json")
    found = {check["name"]: check for check in json.loads(result.stdout)}
    assert found["its identifier is AuthorYear-metric"]["result"] == "passed"
    assert "there are no tests in" in found["its tests load it"]["explanation"]
    assert found["its metadata are there"]["result"] == "warning"
    assert "nothing says who was measured" in found["its metadata are there"]["explanation"]
    assert found["its metadata are there"]["remedy"] == (
        "write METADATA = {'Mine2026-accuracy': BenchmarkMetadata(…)} into metadata.py of the plugin, with title, "
        "description, stimuli, data, metric, bibtex, discussion, notes"
    )
    (folder / "metadata.py").write_text("METADATA = {'Mine2026-accuracy': 'people'}\n")
    found = json.loads(cli("check", "benchmark", str(folder), "--json").stdout)
    (metadata,) = (check for check in found if check["name"] == "its metadata are there")
    assert (metadata["result"], metadata["remedy"]) == ("warning", "fix METADATA or metadata.yml")
    assert "is a str, not a BenchmarkMetadata" in metadata["explanation"]
    assert "registers no metric" in cli("check", "metric", str(folder)).output


def test_data(cli):
    result = cli("check", "data", "Simulated2026")
    assert result.exit_code == 0, result.output
    assert "Simulated2026 (data): all checks passed" in result.output
    assert "Simulated2026 (stimulus set): all checks passed" in result.output


def test_a_metric(cli):
    result = cli("check", "metric", "accuracy")
    assert result.exit_code == 0, result.output
    assert result.output.endswith("accuracy (metric): all checks passed\n")


def test_a_metric_that_needs_arguments(cli):
    result = cli("check", "metric", "threshold")
    assert result.exit_code == 0, result.output
    assert "– it can be made without arguments" in result.output


@pytest.mark.parametrize(
    ("kind", "identifier", "near"),
    [
        ("benchmark", "Simulated2026.V1-psl", "Simulated2026.V1-pls"),
        ("data", "Simulated2025", "Simulated2026"),
        ("metric", "acuracy", "accuracy"),
    ],
)
def test_an_unknown_identifier(cli, kind, identifier, near):
    assert near in cli("check", kind, identifier).output


def test_data_that_cannot_be_reached_are_no_fault(cli, tmp_path):
    (tmp_path / "mine.py").write_text(
        "from brainscore_core.errors import DataUnavailable\n"
        "def make():\n    raise DataUnavailable('the bucket is private', 'ask for access')\n"
    )
    for kind in ("data", "benchmark"):
        result = cli("check", kind, f"{tmp_path}/mine.py:make")
        assert result.exit_code == 0, result.output
        assert (
            "– it can be loaded\n    the check needs data that are not available: the bucket is private"
            in result.output
        )
        assert "    → ask for access" in result.output
