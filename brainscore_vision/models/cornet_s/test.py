import math
from pathlib import Path

import numpy as np
import pytest
import torch

from brainscore_core.errors import UserError
from brainscore_vision import load_model
from brainscore_vision.model_helpers.activations.preprocessing import ImagePreprocessing
from brainscore_vision.model_helpers.activations.pytorch import PytorchWrapper
from brainscore_vision.model_helpers.brain_transformation.layers import load_region_layer_map
from brainscore_vision.models.cornet_s import METADATA, model
from brainscore_vision.models.cornet_s.architecture import Area


@pytest.fixture(scope="module")
def network():
    torch.manual_seed(0)
    return model.MODEL.build().eval()


def test_size_and_names_of_the_published_checkpoint(network):
    assert sum(parameter.numel() for parameter in network.parameters()) == 53_416_616
    assert METADATA["CORnet-S"].parameters == 53_416_616
    names = set(network.state_dict())
    assert {
        "V1.conv1.weight",
        "V1.norm2.running_var",
        "V2.conv_input.weight",
        "V2.norm_skip.bias",
        "V2.skip.weight",
        "V4.norm1_3.weight",
        "V4.conv2.weight",
        "IT.norm3_1.running_mean",
        "decoder.linear.bias",
    } <= names
    assert not [name for name in names if name.startswith(("V2.norm1_2", "IT.norm1_2", "V4.norm1_4"))]


def test_the_file_of_layers_says_what_follows_from_their_names(network):
    file = Path(model.__file__).with_name("region_layer_map") / "CORnet-S.json"
    assert load_region_layer_map(file) == dict(model.MODEL.subject(network, "another name").region_layer_map)


def test_layers_at_each_time_step(network, two_stimuli):
    activations_model = PytorchWrapper(
        identifier="random", model=network, preprocessing=ImagePreprocessing(resize=(64, 64)), store=None
    )
    assert (
        *("V1.output-t0", "V2.output-t0", "V2.output-t1"),
        *(f"V4.output-t{step}" for step in range(4)),
        *("IT.output-t0", "IT.output-t1", "decoder.avgpool-t0"),
    ) == model.MODEL.layers
    activations = activations_model(two_stimuli, layers=list(model.MODEL.layers))
    sizes = {layer: int((activations["layer"] == layer).sum()) for layer in model.MODEL.layers}
    assert sizes == {
        "V1.output-t0": 64 * 16**2,
        **{f"V2.output-t{step}": 128 * 8**2 for step in range(2)},
        **{f"V4.output-t{step}": 256 * 4**2 for step in range(4)},
        **{f"IT.output-t{step}": 512 * 2**2 for step in range(2)},
        "decoder.avgpool-t0": 512,
    }
    values = {layer: activations.values[:, activations["layer"].values == layer] for layer in model.MODEL.layers}
    assert abs(values["V4.output-t3"] - values["V4.output-t2"]).max() > 0.01
    mean = values["IT.output-t1"].reshape(2, 512, 4).mean(axis=2)
    assert mean == pytest.approx(values["decoder.avgpool-t0"], abs=1e-5)


def test_recurrence_by_hand():
    """One channel, one pixel at a time: every convolution is a number."""
    area = Area(1, 1, times=3).eval()
    first, last = [1.5, -0.5, 0.25, 2.0], [0.5, 1.0, -1.0, 0.75]
    with torch.no_grad():
        area.conv_input.weight.fill_(0.8)
        area.skip.weight.fill_(0.6)
        area.conv1.weight.copy_(torch.tensor(first).reshape(4, 1, 1, 1))
        area.conv2.weight.zero_()
        for channel in range(4):
            area.conv2.weight[channel, channel, 1, 1] = 1.25
        area.conv3.weight.copy_(torch.tensor(last).reshape(1, 4, 1, 1))
        for time in range(3):
            area.get_submodule(f"norm1_{time}").bias.fill_(0.1 * time)
            area.get_submodule(f"norm3_{time}").weight.fill_(1 - 0.25 * time)
        image = torch.tensor([[2.0, 0.3], [0.7, 1.1]]).reshape(1, 1, 2, 2)
        steps = []
        area.output.register_forward_hook(lambda module, inputs, output: steps.append(output.item()))
        area(image)

    norm = 1 / math.sqrt(1 + 1e-5)  # batch normalisation of mean 0 and variance 1
    state = 2.0 * 0.8  # a stride of 2 keeps the first pixel
    expected = []
    for time in range(3):
        shortcut = state * 0.6 * norm if time == 0 else state
        middle = [max(0.0, weight * state * norm + 0.1 * time) for weight in first]
        middle = [max(0.0, 1.25 * value * norm) for value in middle]
        total = sum(weight * value for weight, value in zip(last, middle, strict=True))
        state = max(0.0, total * norm * (1 - 0.25 * time) + shortcut)
        expected.append(state)
    assert steps == pytest.approx(expected, rel=1e-5)


@pytest.mark.slow
def test_published_checkpoint_loads_and_the_model_records_in_time(
    two_stimuli, constant_weights, place_reference, as_written_by
):
    with torch.device("meta"):
        weights = constant_weights(model.MODEL.build(), prefix="module.")
    checkpoint = {"flags": {"model": "S", "lr": np.float64(0.1)}, "epoch": 43, "state_dict": weights}
    place_reference(model, checkpoint, change=as_written_by(1))
    subject = load_model("CORnet-S")
    assert subject.identifier == "CORnet-S"
    assert subject.visual_degrees() == 8
    loaded = subject.activations_model._model.state_dict()
    assert all(torch.equal(loaded[name.removeprefix("module.")], value) for name, value in weights.items())
    subject.start_recording("IT", [(70, 170), (170, 270)])
    recordings = subject.look_at(two_stimuli[:1])
    assert recordings.dims == ("presentation", "neuroid", "time_bin")
    assert recordings.shape == (1, 512 * 7 * 7, 2)
    assert set(recordings["region"].values) == {"IT"}
    assert subject.region_layer_map["V4"] == [f"V4.output-t{step}" for step in range(4)]


def test_weights_of_another_network_are_refused(tmp_path):
    path = tmp_path / "other.pth.tar"
    torch.save({"state_dict": {"module.V1.conv1.weight": torch.zeros(64, 3, 3, 3)}}, path)
    with torch.device("meta"):
        network = model.MODEL.build()
    with pytest.raises(UserError, match=r"missing .*V1\.norm1.*V1\.conv1\.weight: \(64, 3, 3, 3\) instead"):
        model.MODEL.load(network, path)
