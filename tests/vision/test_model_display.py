"""What models show of themselves in a terminal and a notebook."""

import numpy as np
import pytest

from brainscore_vision import load_model
from brainscore_vision.model_helpers.brain_transformation import ModelCommitment
from brainscore_vision.model_interface import BrainModel
from brainscore_vision.model_sources.unregistered import load_unregistered_model


def features(images):
    return np.zeros((len(images), 2))


def test_registered_model():
    assert repr(load_model("pixels")).splitlines() == [
        "FeatureModel pixels",
        "  layers          1: pixels",
        *(f"  {region}              pixels" for region in ("V1", "V2", "V4", "IT")),
        "  behavior from   pixels",
        "  visual degrees  8",
    ]


def test_layers_are_not_selected():
    model = ModelCommitment("<b>mine</b>", lambda *_, **__: pytest.fail("ran"), layers=[f"block.{i}" for i in range(9)])
    shown = repr(model)
    assert "layers          9: block.0, block.1, block.2, block.3, block.4, block.5 and 3 more" in shown
    assert "IT              selected when it is recorded" in shown
    html = model._repr_html_()
    assert "&lt;b&gt;mine" in html
    assert "<b>" not in html


def test_unregistered_function():
    model = load_unregistered_model(features, identifier="mine", how={"visual_degrees": 5}).model
    assert "visual degrees  5" in repr(model)
    assert "IT              features" in repr(model)


def test_network():
    torch = pytest.importorskip("torch")
    network = torch.nn.Sequential(torch.nn.Conv2d(3, 2, 3), torch.nn.ReLU())
    model = load_unregistered_model(network, identifier="net", how={"layers": ["0", "1"]}).model
    assert "network         Sequential" in repr(model)


def test_models_of_others():
    class Model(BrainModel):
        identifier = "other"
        start_task = start_recording = look_at = None

        def visual_degrees(self):
            raise RuntimeError("the process has ended")

    assert repr(Model()) == "Model other\n  visual degrees  not known"
