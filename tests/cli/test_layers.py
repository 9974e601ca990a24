import json

import pytest

from brainscore_core.errors import UserError

LAB = """
    from brainscore_vision import benchmark_registry, model_registry

    def _model():
        import numpy as np
        from brainscore_vision.model_helpers.images import load_grey
        from brainscore_vision.model_helpers.static_features import FeatureModel
        return FeatureModel("lab-model", layers={
            "mean": lambda images: np.stack([[image.mean(), 1.0] for image in images]),
            "pixels": lambda images: np.stack([image[::16, ::16] for image in images]),
        }, load=load_grey)

    model_registry['lab-model'] = _model
"""
BENCHMARK = """
    from brainscore_vision import benchmark_registry

    def _benchmark():
        from brainscore_core.benchmarks import BenchmarkBase
        from brainscore_core.metrics import Score
        from brainscore_core.supported_data_standards.brainio.stimuli import StimulusSet
        from PIL import Image
        import tempfile

        path = tempfile.mkdtemp() + "/grey.png"
        Image.new("L", (128, 128), 128).save(path)
        stimuli = StimulusSet({"stimulus_id": ["grey"]})
        stimuli.stimulus_paths = {"grey": path}

        class Width(BenchmarkBase):
            def __call__(self, candidate):
                candidate.start_recording("V1", [(70, 170)])
                score = Score(candidate.look_at(stimuli).sizes["neuroid"] / 100)
                score.attrs.update(error=0.05, ci=(0.1, 0.9))
                return score

        return Width("Width2026", lambda: 1.0, version=1)

    benchmark_registry['Width2026'] = _benchmark
"""


@pytest.fixture
def plugins(lab):
    lab("models", "lab_model", LAB)
    lab("benchmarks", "width", BENCHMARK)


def test_layers(cli, plugins, tmp_path):
    plot = tmp_path / "new" / "layers.svg"
    result = cli("layers", "lab-model", "Width2026", "--json", "--plot", str(plot), catch_exceptions=False)
    assert result.exit_code == 0
    profile = json.loads(result.stdout)
    assert profile["best"] == "pixels"
    assert [(score["layer"], score["score"]) for score in profile["scores"]] == [("mean", 0.02), ("pixels", 0.64)]
    assert profile["held_out"] is None
    assert profile["plot"] == str(plot)
    assert plot.read_text().startswith("<?xml")
    again = cli("layers", "lab-model", "Width2026", "--plot", str(tmp_path / "again.svg"), catch_exceptions=False)
    assert (tmp_path / "again.svg").read_bytes() == plot.read_bytes()
    assert again.stdout == "pixels\nmean\n"
    one = cli("layers", "lab-model", "Width2026", "--layer", "m*", catch_exceptions=False)
    assert one.stdout == "mean\n"


def test_a_network_in_a_file(cli, plugins, tmp_path):
    pytest.importorskip("torch")
    file = tmp_path / "networks.py"
    file.write_text(
        "import torch\n\n"
        "class Small(torch.nn.Sequential):\n"
        "    def __init__(self):\n"
        "        super().__init__(torch.nn.Conv2d(3, 1, 64, stride=64), torch.nn.Flatten(), torch.nn.Linear(9, 2))\n"
    )
    result = cli(
        "layers", f"{file}:Small", "Width2026", "--layer", "0", "--layer", "2", "--json", catch_exceptions=False
    )
    profile = json.loads(result.stdout)
    assert profile["model"] == "Small"
    assert [(score["layer"], score["features"]) for score in profile["scores"]] == [("0", 9), ("2", 2)]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["lab-model", "Width2026", "--plot", "x.xyz"], "cannot plot"),
        (["lab-model", "Width2026", "--layer", "meen"], "no layer meen"),
        (["alexnet-recorded2019", "Width2026"], "without layers to choose among"),
        (["lab-model", "Nonesuch2026"], "Nonesuch2026"),
    ],
)
def test_what_is_refused(cli, plugins, arguments, message, monkeypatch):
    if arguments[0].startswith("alexnet"):
        monkeypatch.setattr("brainscore_vision.scoring.layers.load_model", lambda identifier: object())
    result = cli("layers", *arguments)
    assert isinstance(result.exception, (UserError, SystemExit))
    assert message in str(result.exception) + result.output
