import numpy as np
import pytest
import torch

from brainscore_core.errors import UserError
from brainscore_vision import load_model
from brainscore_vision.models.resnet_50_robust import model


@pytest.fixture
def weights(constant_weights):
    with torch.device("meta"):
        return constant_weights(model.MODEL.build())


@pytest.mark.slow
@pytest.mark.parametrize("numpy", [1, 2])
def test_published_checkpoint_loads(weights, place_reference, as_written_by, numpy):
    names = {"module.normalizer.new_mean": torch.zeros(3, 1, 1), "module.normalizer.new_std": torch.ones(3, 1, 1)}
    for name, value in weights.items():
        names[f"module.model.{name}"] = value
        names[f"module.attacker.model.{name}"] = value + 1
    checkpoint = {"model": names, "epoch": 90, "nat_prec1": np.float64(0.5), "optimizer": {"state": {}}}
    place_reference(model, checkpoint, change=as_written_by(numpy))
    subject = load_model("resnet-50-robust")
    assert subject.identifier == "resnet-50-robust"
    loaded = subject.activations_model._model.state_dict()
    assert set(loaded) == set(weights)
    assert all(torch.equal(loaded[name], value) for name, value in weights.items())


def test_layers_are_convolutions():
    with torch.device("meta"):
        network = model.MODEL.build()
    layers = list(model.MODEL.layers)
    assert layers[:2] == ["conv1", "layer1.0.conv3"]
    assert layers[4] == "layer2.0.downsample.0"
    assert layers[-1] == "avgpool"
    assert len(layers) == 18
    assert all(isinstance(network.get_submodule(layer), torch.nn.Conv2d) for layer in layers[:-1])


def test_a_checkpoint_without_the_network_is_refused(weights, tmp_path):
    path = tmp_path / "ImageNet.pt"
    torch.save({"model": {f"module.{name}": value for name, value in weights.items()}}, path)
    with torch.device("meta"):
        network = model.MODEL.build()
    with pytest.raises(UserError, match=r"no weights named 'module\.model\.…'; the first is 'conv1\.weight'"):
        model.load_weights(network, path)
