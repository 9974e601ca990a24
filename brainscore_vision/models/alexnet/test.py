import numpy as np
import pytest
import torch

from brainscore_core.errors import DataUnavailable
from brainscore_core.plugins import check_model
from brainscore_core.supported_data_standards.brainio.fetch import HashMismatch
from brainscore_vision import load_model
from brainscore_vision.model_helpers.activations.preprocessing import ImagePreprocessing
from brainscore_vision.models.alexnet import model
from brainscore_vision.stimuli.labels import imagenet_synsets


@pytest.fixture
def untrained(torchvision):
    return load_model("alexnet-untrained")


def test_size_and_shapes(torchvision):
    with torch.device("meta"):
        network = model.MODEL.build()
    assert sum(parameter.numel() for parameter in network.parameters()) == 61_100_840
    shapes = []
    for layer in model.MODEL.layers:
        network.get_submodule(layer).register_forward_hook(lambda _, __, output: shapes.append(tuple(output.shape[1:])))
    assert network.eval()(torch.zeros(1, 3, 224, 224, device="meta")).shape == (1, 1000)
    assert shapes == [(64, 27, 27), (192, 13, 13), (384, 13, 13), (256, 13, 13), (256, 6, 6), (4096,), (4096,)]


def test_published_weights_load(torchvision, loads_weights, two_stimuli):
    subject = loads_weights("alexnet", model)
    assert subject.visual_degrees() == 8
    subject.start_recording("IT", [(70, 170)])
    recordings = subject.look_at(two_stimuli)
    assert recordings.shape == (2, 256 * 6 * 6)
    assert recordings.attrs["layers_from"] == "alexnet/region_layer_map/alexnet.json"


def test_another_file_under_that_name_is_refused(torchvision, tmp_path, monkeypatch):
    (tmp_path / "alexnet-owt-7be5be79.pth").write_bytes(b"something else")
    monkeypatch.setenv("BRAINSCORE_WEIGHTS", str(tmp_path))
    with pytest.raises(HashMismatch, match="does not begin with 7be5be79"):
        load_model("alexnet")


def test_missing_weights_are_named_with_their_source(torchvision, tmp_path, monkeypatch):
    def offline(*arguments, **keywords):
        raise OSError("no network")

    monkeypatch.setenv("BRAINSCORE_WEIGHTS", str(tmp_path))
    monkeypatch.setattr("pooch.retrieve", offline)
    with pytest.raises(DataUnavailable) as error:
        load_model("alexnet")
    assert "https://download.pytorch.org/models/alexnet-owt-7be5be79.pth" in str(error.value)
    assert str(tmp_path / "alexnet-owt-7be5be79.pth") in str(error.value)
    assert "sha256 that begins with 7be5be79" in str(error.value)


@pytest.mark.slow(reason="every check of a large network")
def test_untrained_twin_conforms(untrained):
    assert untrained.identifier == "alexnet-untrained"
    check_model(untrained)


def test_label_is_the_largest_logit(untrained, two_stimuli):
    untrained.start_task("label", "imagenet")
    answers = untrained.look_at(two_stimuli)
    paths = [two_stimuli.get_stimulus(name) for name in two_stimuli["stimulus_id"]]
    images = torch.from_numpy(ImagePreprocessing(resize=(224, 224))(paths))
    with torch.no_grad():
        logits = untrained.activations_model._model(images).numpy()
    assert answers["logit"].values.tolist() == logits.argmax(axis=1).tolist()
    assert answers.values[:, 0].tolist() == list(np.array(imagenet_synsets())[logits.argmax(axis=1)])
