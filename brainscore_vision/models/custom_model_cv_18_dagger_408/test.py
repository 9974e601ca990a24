import pytest
import torch

from brainscore_core.errors import UserError
from brainscore_vision.models.custom_model_cv_18_dagger_408 import METADATA, model

IDENTIFIER = "custom_model_cv_18_dagger_408"


@pytest.fixture
def timm(torchvision):
    return pytest.importorskip("timm")


def test_size_and_layer(timm):
    with torch.device("meta"):
        network = model.MODEL.build()
    assert sum(parameter.numel() for parameter in network.parameters()) == 44_606_560
    assert METADATA[IDENTIFIER].parameters == 44_606_560
    shapes = []
    network.get_submodule(model.MODEL.layers[0]).register_forward_hook(
        lambda module, inputs, output: shapes.append(tuple(output.shape))
    )
    assert network(torch.zeros(2, 3, 224, 224, device="meta")).shape == (2, 1000)
    assert shapes == [(2, 24 * 24 + 1, 448)]


@pytest.mark.slow
def test_published_checkpoint_loads(timm, loads_weights):
    subject = loads_weights(IDENTIFIER, model, content=lambda weights: {"epoch": 5, "state_dict": weights})
    assert subject.visual_degrees() == 8
    assert {tuple(subject.region_layer_map[region]) for region in ("V1", "V2", "V4", "IT")} == {model.MODEL.layers}


def test_without_timm_the_command_is_named(monkeypatch):
    import sys

    monkeypatch.setitem(sys.modules, "timm", None)
    monkeypatch.setitem(sys.modules, "timm.models", None)
    with pytest.raises(UserError, match=r"pip install 'brainscore\[models\]'"):
        model.MODEL.build()
