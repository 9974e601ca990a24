import pytest
import torch

from brainscore_vision.models.vgg_16 import model


def test_size_and_shapes(torchvision):
    with torch.device("meta"):
        network = model.MODEL.build()
    assert sum(parameter.numel() for parameter in network.parameters()) == 138_357_544
    shapes = []
    for layer in model.MODEL.layers:
        network.get_submodule(layer).register_forward_hook(lambda _, __, output: shapes.append(tuple(output.shape[1:])))
    assert network.eval()(torch.zeros(1, 3, 224, 224, device="meta")).shape == (1, 1000)
    poolings = [(64, 112, 112), (128, 56, 56), (256, 28, 28), (512, 14, 14), (512, 7, 7)]
    assert shapes == [*poolings, (4096,), (4096,)]


@pytest.mark.slow
def test_published_weights_load(torchvision, loads_weights):
    loads_weights("vgg-16", model)
