import sys

import pytest
import torch

from brainscore_core.errors import UserError
from brainscore_vision import load_model
from brainscore_vision.models.mobilenet_v2_1_4_224 import METADATA, model

BOTH = ("mobilenet_v2_1_4_224", "mobilenet_v2_1.4_224")


@pytest.fixture
def transformers(torchvision):
    return pytest.importorskip("transformers")


@pytest.fixture
def published(transformers):
    """As it is published: 1,001 classes, the first of which is the background."""
    torch.manual_seed(0)
    configuration = transformers.MobileNetV2Config(depth_multiplier=1.4, image_size=224, num_labels=1001)
    return transformers.MobileNetV2ForImageClassification(configuration).eval()


def test_size(transformers):
    timm = pytest.importorskip("timm")
    with torch.device("meta"):
        ours, theirs = model.MODEL.build(), timm.create_model("mobilenetv2_140", pretrained=False)
    sizes = [sum(parameter.numel() for parameter in network.parameters()) for network in (ours, theirs)]
    assert sizes == [METADATA[BOTH[0]].parameters] * 2


def test_one_model_under_both_names(published, place_reference):
    place_reference(model, published.state_dict(), suffix=".bin")
    subjects = [load_model(identifier) for identifier in BOTH]
    assert tuple(subject.identifier for subject in subjects) == BOTH
    first, second = (subject.activations_model._model.state_dict() for subject in subjects)
    assert all(torch.equal(value, second[name]) for name, value in first.items())
    assert torch.equal(first["classifier.weight"], published.classifier.weight[1:])
    assert {tuple(subject.region_layer_map["V2"]) for subject in subjects} == {("mobilenet_v2.layer.6",)}


@pytest.mark.slow(reason="builds a whole network twice")
def test_published_weights_give_the_logits_but_the_first(published, place_reference, two_stimuli):
    place_reference(model, published.state_dict(), suffix=".safetensors")
    subject = load_model("mobilenet_v2_1.4_224")
    assert subject.region_layer_map["IT"] == ["mobilenet_v2.layer.12"]
    logits = subject.activations(two_stimuli, "logits").values
    paths = [two_stimuli.get_stimulus(name) for name in two_stimuli["stimulus_id"]]
    with torch.no_grad():
        expected = published(torch.from_numpy(model.MODEL.preprocessing(paths))).logits[:, 1:].numpy()
    assert logits == pytest.approx(expected, rel=1e-4, abs=1e-5)
    subject.start_task("label", "imagenet")
    assert subject.look_at(two_stimuli)["logit"].values.tolist() == expected.argmax(axis=1).tolist()


def test_without_transformers_the_command_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "transformers", None)
    with pytest.raises(UserError, match=r"pip install 'brainscore\[models\]'"):
        model.MODEL.build()
