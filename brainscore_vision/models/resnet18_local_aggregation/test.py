import pytest
import torch

from brainscore_core.errors import DataUnavailable, UserError
from brainscore_vision import load_model
from brainscore_vision.models.resnet18_local_aggregation import METADATA, model


@pytest.fixture(scope="module")
def network():
    return model.MODEL.build().eval()


def test_size_and_layers(network):
    assert sum(parameter.numel() for parameter in network.parameters()) == 11_689_512 - 513_000 + 512 * 128 + 128
    assert METADATA["resnet18-local_aggregation"].parameters == 11_242_176
    assert set(model.MODEL.layers) <= {name for name, _ in network.named_modules()}


def test_weights_come_from_the_user(monkeypatch):
    monkeypatch.delenv("BRAINSCORE_WEIGHTS", raising=False)
    with pytest.raises(DataUnavailable, match=r"no public source[\s\S]*set BRAINSCORE_WEIGHTS to a folder"):
        load_model("resnet18-local_aggregation")


@pytest.mark.parametrize("embedding", [128, 64])
def test_model_with_a_file_of_the_user(embedding, constant_weights, place_reference, two_stimuli):
    with torch.device("meta"):
        weights = constant_weights(model.resnet18(outputs=embedding), prefix="module.")
    place_reference(model, {"epoch": 200, "state_dict": weights})
    subject = load_model("resnet18-local_aggregation")
    assert subject.identifier == "resnet18-local_aggregation"
    assert subject.visual_degrees() == 8
    activations = subject.activations(two_stimuli[:1], ["layer1.0", "avgpool", "fc"])
    assert activations.shape == (1, 64 * 56**2 + 512 + embedding)


def test_another_network_is_refused(tmp_path):
    path = tmp_path / "other.pth"
    torch.save({"fc.weight": torch.zeros(10, 2048), "fc.bias": torch.zeros(10)}, path)
    with pytest.raises(UserError, match=r"fc\.weight: \(10, 2048\) instead of \(10, 512\)"):
        model.read_network(path)
