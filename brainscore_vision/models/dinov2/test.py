import pytest
import torch
from PIL import Image

from brainscore_vision.models.dinov2 import model


@pytest.fixture
def timm(torchvision):
    return pytest.importorskip("timm")


def test_size_and_shapes(timm):
    with torch.device("meta"):
        network = model.MODEL.build()
    assert sum(parameter.numel() for parameter in network.parameters()) == 86_579_712
    shapes = []
    for layer in model.MODEL.layers:
        network.get_submodule(layer).register_forward_hook(lambda _, __, output: shapes.append(tuple(output.shape[1:])))
    network(torch.zeros(1, 3, 518, 518, device="meta"))
    assert shapes == [(37 * 37 + 1, 768)] * 5


def test_preprocessing(timm, two_stimuli):
    with torch.device("meta"):
        configuration = timm.data.resolve_model_data_config(model.MODEL.build())
    transform = timm.data.create_transform(**configuration, is_training=False)
    path = two_stimuli.get_stimulus("first")
    ours = torch.from_numpy(model.MODEL.preprocessing([path])[0])
    torch.testing.assert_close(ours, transform(Image.open(path)), rtol=0, atol=1e-5)


@pytest.mark.slow
@pytest.mark.parametrize("identifier", ["dinov2", "vit_base_patch14_dinov2-lvd142m"])
def test_published_weights_load(timm, identifier, loads_weights):
    subject = loads_weights(identifier, model, suffix=".bin")
    assert subject.region_layer_map["IT"] == ["blocks.8.attn"]
