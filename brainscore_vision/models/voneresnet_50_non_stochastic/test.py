import argparse
import json
import math
from pathlib import Path

import numpy as np
import pytest
import torch

from brainscore_core.errors import UserError
from brainscore_vision import load_model
from brainscore_vision.models.voneresnet_50_non_stochastic import METADATA, model
from brainscore_vision.models.voneresnet_50_non_stochastic.architecture import VOneBlock, gabor_kernels
from brainscore_vision.stimuli.gabor_bank import GaborFilters

IDENTIFIER = "voneresnet-50-non_stochastic"
FLAGS = {"arch": "resnet50", "stride": 4, "k_exc": 25, "simple_channels": 256, "complex_channels": 256}


@pytest.fixture(scope="module")
def network():
    torch.manual_seed(0)
    return model.build().eval()


@pytest.fixture
def checkpoint(network, constant_weights):
    """As published: names of DataParallel, the two filter banks under other names than here."""
    renamed = {"vone_block.q0.weight": "vone_block.bank_0.weight", "vone_block.q1.weight": "vone_block.bank_1.weight"}
    weights = constant_weights(network)
    return {
        "flags": {**FLAGS, "noise_mode": "none"},
        "epoch": 70,
        "state_dict": {f"module.{renamed.get(name, name)}": value for name, value in weights.items()},
    }


def test_published_counts(network):
    trained = sum(parameter.numel() for parameter in network.parameters() if parameter.requires_grad)
    assert trained == METADATA["voneresnet-50-non_stochastic"].parameters == 25_580_264
    assert sum(parameter.numel() for parameter in network.parameters()) == 27_500_264


def test_shapes_of_the_published_layers():
    network = model.build().to("meta")
    published = json.loads((Path(model.__file__).parent / "region_layer_map" / f"{IDENTIFIER}.json").read_text())
    assert set(published.values()) <= set(model.MODEL.layers)
    assert len(model.MODEL.layers) == 18
    shapes = {}
    for name in ("vone_block", "bottleneck", "model.layer1.0", "model.layer4.0", "model.avgpool"):
        network.get_submodule(name).register_forward_hook(
            lambda module, inputs, output, name=name: shapes.update({name: tuple(output.shape[1:])})
        )
    assert network(torch.zeros(1, 3, 224, 224, device="meta")).shape == (1, 1000)
    assert shapes == {
        "vone_block": (512, 56, 56),
        "bottleneck": (64, 56, 56),
        "model.layer1.0": (256, 56, 56),
        "model.layer4.0": (2048, 7, 7),
        "model.avgpool": (2048, 1, 1),
    }


def test_gabor_kernels_by_hand():
    filters = GaborFilters(np.array([30.0]), np.array([2.0]), np.array([0.2]), np.array([0.3]))
    kernel = gabor_kernels(filters, np.array([0.4]), size=9, pixels_per_degree=10)[0]
    for row, column in ((4, 4), (0, 0), (2, 7), (8, 3)):
        right, up = (column - 4) / 10, (4 - row) / 10
        along = right * math.cos(math.radians(30)) + up * math.sin(math.radians(30))
        across = right * math.sin(math.radians(30)) - up * math.cos(math.radians(30))
        value = math.exp(-(across**2) / (2 * 0.2**2) - along**2 / (2 * 0.3**2))
        value *= math.cos(2 * math.pi * 2.0 * across + 0.4) / (2 * math.pi * 0.2 * 0.3 * 10**2)
        assert kernel[row, column] == pytest.approx(value, rel=1e-5)


def test_simple_and_complex_cells_by_hand():
    random = torch.Generator().manual_seed(1)
    block = VOneBlock(2, 3, kernel_size=5, stride=4, k_exc=10.0)
    for convolution in (block.q0, block.q1):
        convolution.weight.copy_(torch.randn(convolution.weight.shape, generator=random))
    images = torch.randn(1, 3, 16, 16, generator=random)
    responses = block(images)[0]
    assert responses.shape == (5, 4, 4)
    patch = images[0, :, 2:7, 6:11]  # 5 × 5 pixels around row 4, column 8
    first, second = ((patch * convolution.weight).sum((1, 2, 3)) for convolution in (block.q0, block.q1))
    expected = [10 * max(0.0, value) for value in first[:2].tolist()]
    expected += [
        10 * math.sqrt((a**2 + b**2) / 2) for a, b in zip(first[2:].tolist(), second[2:].tolist(), strict=True)
    ]
    assert responses[:, 1, 2].tolist() == pytest.approx(expected, rel=1e-4)


def test_complex_cells_do_not_see_phase_simple_cells_do():
    block = VOneBlock(1, 1, stride=8)
    one = np.ones(2)
    block.set_filters(GaborFilters(0 * one, 3 * one, 0.15 * one, 0.15 * one), np.zeros(2))
    degrees = torch.arange(64) / 28
    responses = []
    for phase in torch.linspace(0, 2 * math.pi, 9)[:-1]:
        grating = torch.cos(2 * math.pi * 3 * degrees + phase)[None, None, :, None].expand(1, 3, 64, 64)
        responses.append(block(grating)[0, :, 4, 4])
    simple, complex_cell = torch.stack(responses).T
    assert (complex_cell.std() / complex_cell.mean()).item() < 0.1
    assert simple.min() == 0
    assert simple.max() > 0.5 * complex_cell.mean()


def test_published_checkpoint_loads(checkpoint, place_reference):
    place_reference(model, checkpoint)
    subject = load_model(IDENTIFIER)
    assert subject.identifier == IDENTIFIER
    assert subject.activations_model.identifier == "voneresnet50_ns"
    loaded = subject.activations_model._model.state_dict()
    assert torch.equal(loaded["vone_block.q0.weight"], checkpoint["state_dict"]["module.vone_block.bank_0.weight"])
    assert torch.equal(loaded["vone_block.q1.weight"], checkpoint["state_dict"]["module.vone_block.bank_1.weight"])
    assert torch.equal(loaded["model.fc.weight"], checkpoint["state_dict"]["module.model.fc.weight"])
    assert subject.visual_degrees() == 8
    assert subject.region_layer_map["V1"] == ["vone_block"]


def test_flags_make_the_network(checkpoint, tmp_path):
    path = tmp_path / "flags.pth.tar"
    checkpoint["flags"] = argparse.Namespace(
        **(FLAGS | {"k_exc": 12.5, "simple_channels": 384, "complex_channels": 128, "noise_mode": None})
    )
    torch.save(checkpoint, path)
    block = model.read_network(path).vone_block
    assert (block.k_exc, block.simple_channels) == (12.5, 384)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"flags": FLAGS | {"noise_mode": "neuronal"}}, "has noise"),
        ({"flags": FLAGS | {"arch": "alexnet"}}, "back end .* is 'alexnet'"),
        ({"state_dict": {"module.bottleneck.weight": torch.zeros(64, 512, 1, 1)}}, "0 tensors of the front end"),
    ],
)
def test_other_checkpoints_are_refused(change, message, tmp_path):
    path = tmp_path / "other.pth.tar"
    torch.save({"flags": FLAGS, "state_dict": {}} | change, path)
    with pytest.raises(UserError, match=message):
        model.read_network(path)
