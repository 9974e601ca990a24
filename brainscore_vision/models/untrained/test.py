import pytest
import torch

from brainscore_vision import load_model, model_registry
from brainscore_vision.models.untrained import METADATA, TRAINED

OF_OUR_OWN = ("CORnet-S", "grcnn_robust_v1", "hmax", "resnet-18", "resnet18-local_aggregation")


def test_every_twin_is_found_without_importing_anything():
    twins = [identifier for identifier in model_registry if identifier.endswith("-untrained")]
    assert set(twins) == {f"{trained}-untrained" for trained in TRAINED}
    assert set(METADATA) == set(twins)


def test_every_trained_one_is_registered():
    assert set(TRAINED) <= set(model_registry)


@pytest.mark.parametrize("trained", OF_OUR_OWN)
def test_same_weights_each_time(trained):
    torch.manual_seed(7)
    before = torch.random.get_rng_state()
    first = load_model(f"{trained}-untrained").activations_model._model.state_dict()
    assert torch.equal(torch.random.get_rng_state(), before)  # drawing them disturbs nobody
    torch.manual_seed(8)
    second = load_model(f"{trained}-untrained").activations_model._model.state_dict()
    assert all(torch.equal(value, second[name]) for name, value in first.items())


def test_layers_of_the_trained_one():
    subject = load_model("resnet-50-robust-untrained")
    assert subject.identifier == subject.activations_model.identifier == "resnet-50-robust-untrained"
    assert subject.region_layer_map["V1"] == ["layer3.0.downsample.0"]
    recurrent = load_model("CORnet-S-untrained")
    assert recurrent.region_layer_map["V2"] == ["V2.output-t0", "V2.output-t1"]
