"""Which parts of long calls show their progress."""

import logging

import numpy as np
import pytest
from PIL import Image

from brainscore_core.supported_data_standards.brainio.assemblies import NeuroidAssembly
from brainscore_core.supported_data_standards.brainio.packaging import package_stimulus_set_locally
from brainscore_core.supported_data_standards.brainio.stimuli import StimulusSet
from brainscore_vision import load_metric
from brainscore_vision.model_helpers.images import load_rgb
from brainscore_vision.model_helpers.static_features import FeatureModel


@pytest.fixture
def stages(caplog):
    caplog.set_level(logging.INFO, "brainscore_core.progress")
    return lambda: caplog.messages


@pytest.fixture
def stimuli(tmp_path):
    names = [f"s{number}" for number in range(3)]
    stimuli = StimulusSet({"stimulus_id": names})
    stimuli.identifier = "Some2026"
    stimuli.stimulus_paths = {name: tmp_path / f"{name}.png" for name in names}
    for number, path in enumerate(stimuli.stimulus_paths.values()):
        Image.new("RGB", (8, 8), (number, 0, 0)).save(path)
    return stimuli


def responses(rng):
    return NeuroidAssembly(
        rng.standard_normal((60, 4)),
        coords={
            "stimulus_id": ("presentation", [f"s{number}" for number in range(60)]),
            "object_name": ("presentation", [f"object {number % 6}" for number in range(60)]),
            "neuroid_id": ("neuroid", range(4)),
        },
        dims=["presentation", "neuroid"],
    )


def test_extraction(stimuli, stages):
    model = FeatureModel(
        "mine", {"red": lambda images: np.stack([image[:1, 0, :1] for image in images])}, load=load_rgb
    )
    model.start_recording("V1", time_bins=[(70, 170)])
    model.look_at(stimuli)
    assert stages() == ["activations of mine"]


@pytest.mark.parametrize(("metric", "stage"), [("ridge", "regression"), ("cka_cv", "comparing")])
def test_splits_of_metrics(metric, stage, stages):
    rng = np.random.default_rng(0)
    load_metric(metric)(responses(rng), responses(rng))
    assert stage in stages()


def test_packaging(stimuli, stages, tmp_path):
    package_stimulus_set_locally(stimuli, "Some2026", downloads_path=tmp_path / "packages")
    assert stages() == ["checking stimuli", "packaging stimuli"]
