"""Every benchmark that is a row of a table scores small models on its stand-in."""

import math
from pathlib import Path

import numpy as np
import pytest

import brainscore_vision
from brainscore_vision import load_benchmark
from brainscore_vision.benchmark_helpers.metadata import rows_of
from brainscore_vision.testing import small_labeller, small_models

FOLDERS = sorted(
    file.parent for file in (Path(brainscore_vision.__file__).parent / "benchmarks").glob("*/benchmarks.csv")
)
ROWS = {row.benchmark: row for folder in FOLDERS for row in rows_of(str(folder / "__init__.py"))}
BEHAVIOUR = {"label", "probabilities", "search", "shape"}


def model_for(row):
    if row.kind in BEHAVIOUR or row.metric == "mask_regression":
        pytest.importorskip("torch")
    if row.kind == "label" or row.kind == "shape":
        return small_labeller()
    if row.metric == "mask_regression":
        return channels()
    return small_models(visual_degrees=row.visual_degrees or 8)[0]


def channels():
    """A network whose layer has channels at positions."""
    import torch

    from brainscore_vision.model_helpers.activations import PytorchWrapper
    from brainscore_vision.model_helpers.activations.pytorch import load_preprocess_images
    from brainscore_vision.model_helpers.brain_transformation import ModelCommitment

    network = torch.nn.Sequential(torch.nn.AvgPool2d(8))
    wrapper = PytorchWrapper(
        network, lambda paths: load_preprocess_images(paths, image_size=32), identifier="small-channels"
    )
    return ModelCommitment("small-channels", wrapper, layers=["0"], region_layer_map={"V1": "0"}, visual_degrees=2)


@pytest.mark.sampled(9)
@pytest.mark.parametrize("key", ROWS)
@pytest.mark.filterwarnings("ignore")
def test_scores_a_model_on_its_stand_in(key, stand_ins):
    row = ROWS[key]
    benchmark = load_benchmark(key)
    assert (benchmark.identifier, benchmark.version, benchmark.parent) == (row.identifier, row.version, row.parent)
    if row.kind == "readout":
        benchmark.n_splits = 5
    score = benchmark(model_for(row))
    ceiling = benchmark.ceiling
    if row.kind == "shape" and math.isnan(float(score)):
        assert "neither" in score.attrs["error_reason"]
        return
    assert 0 <= float(score) <= 1
    assert 0 < float(ceiling) <= 1
    raw = float(score.attrs["raw"])
    assert math.isfinite(raw)
    for one in (score, ceiling):
        assert math.isfinite(one.attrs["error"]) or one.attrs["error_reason"]
        low, high = one.attrs["ci"]
        assert low <= high or one.attrs["ci_reason"]
    assert np.isclose(float(score), np.clip(score.attrs["unclamped"], 0, 1))
