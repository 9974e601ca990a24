"""Figures of a stored score, and encoders."""

import json

import numpy as np
import pytest
from PIL import Image

LAB = """
    from brainscore_vision import benchmark_registry, model_registry

    def _model():
        import numpy as np
        from brainscore_vision.model_helpers.images import load_grey
        from brainscore_vision.model_helpers.static_features import FeatureModel
        return FeatureModel("lab-model", layers={
            "coarse": lambda images: np.stack([image[::16, ::16] for image in images]),
        }, load=load_grey)

    def _benchmark():
        import numpy as np
        from pathlib import Path
        from brainscore_core.metrics import Score
        from brainscore_core.supported_data_standards.brainio.assemblies import NeuroidAssembly
        from brainscore_core.supported_data_standards.brainio.stimuli import StimulusSet
        from brainscore_vision import load_metric
        from brainscore_vision.benchmark_helpers.neural_common import NeuralBenchmark

        paths = sorted(Path(FOLDER).glob("*.png"))
        stimuli = StimulusSet({"stimulus_id": [path.name for path in paths]})
        stimuli.stimulus_paths = {path.name: path for path in paths}
        stimuli.identifier = "lab-stimuli"
        neuroids = {"neuroid_id": ("neuroid", list("abcd"))}
        values = np.random.default_rng(0).standard_normal((len(paths), 4))
        assembly = NeuroidAssembly(
            values, dims=["presentation", "neuroid"],
            coords={"stimulus_id": ("presentation", [path.name for path in paths]), "region": ("neuroid", ["IT"] * 4)}
            | neuroids,
        )
        assembly.attrs["stimulus_set"] = stimuli

        def ceiling():
            score = Score(0.9)
            each = Score([0.6, 0.7, 0.8, 0.9], coords=neuroids, dims=["neuroid"])
            score.attrs.update(meaning="reliability", raw=each)
            return score

        return NeuralBenchmark(
            "Lab2026.IT-ridge", assembly=assembly, similarity_metric=load_metric("ridge"), visual_degrees=8,
            number_of_trials=1, ceiling_func=ceiling, version=1,
        )

    model_registry["lab-model"] = _model
    benchmark_registry["Lab2026.IT-ridge"] = _benchmark
"""


@pytest.mark.slow(reason="draws every figure")
def test_figures_and_encoder(cli, lab, tmp_path, monkeypatch):
    pictures = tmp_path / "pictures"
    pictures.mkdir()
    rng = np.random.default_rng(0)
    for number in range(60):
        Image.fromarray(rng.integers(0, 256, (64, 64), dtype=np.uint8)).save(pictures / f"{number:02}.png")
    lab("models", "lab_model", LAB.replace("FOLDER", repr(str(pictures))))
    monkeypatch.setenv("BRAINSCORE_RESULTS", str(tmp_path / "results"))
    pair = ("lab-model", "Lab2026.IT-ridge")

    early = cli("figures", *pair)
    assert "score it first: brainscore score lab-model Lab2026.IT-ridge" in str(early.exception) + early.output
    assert cli("score", *pair, catch_exceptions=False).exit_code == 0
    drawn = cli("figures", *pair, "--output", str(tmp_path / "figures"), "--width", "114", "--json")
    assert drawn.exit_code == 0, drawn.output
    found = json.loads(drawn.stdout)
    assert "its layers are not scored" in found["left_out"]["layers"]
    assert {file.name for file in (tmp_path / "figures").iterdir()} == {
        f"{name}.{ending}" for name in ("neuroids", "stimuli") for ending in ("csv", "svg", "pdf", "png")
    }
    assert 'width="114mm"' in (tmp_path / "figures" / "neuroids.svg").read_text(encoding="utf-8")

    fitted = cli("fit", *pair, "--output", str(tmp_path / "encoder"), "--json", catch_exceptions=False)
    assert json.loads(fitted.stdout)["layers"] == ["coarse"]
    table = tmp_path / "predictions.csv"
    made = cli("predict", str(tmp_path / "encoder"), str(pictures), "--output", str(table), catch_exceptions=False)
    assert "60 pictures × 4 neuroids" in made.stdout
    header, first, *_ = table.read_text(encoding="utf-8").splitlines()
    assert header == "stimulus_id,a,b,c,d"
    assert first.startswith("00.png,")
    refused = cli("predict", str(tmp_path / "encoder"), str(pictures), "--output", "predictions.xlsx")
    assert "end its name in .csv or .nc" in str(refused.exception) + refused.output
