"""Layers of a network that are offered for selection."""

import pytest
import torch
from torch import nn

from brainscore_core.errors import UserError
from brainscore_vision.model_helpers.activations.pytorch import PytorchWrapper
from brainscore_vision.model_helpers.brain_transformation.layers import candidate_layers, logits_width, repeated_layers

IMAGES = torch.zeros(2, 3, 8, 8)


class Tuples(nn.Module):
    def forward(self, images):
        return images.mean((2, 3)), "state"


class Summary(nn.Module):
    def forward(self, images):
        return images.mean()


def test_outputs_that_are_tuples_count_and_those_without_stimuli_do_not():
    network = nn.Sequential(nn.Conv2d(3, 4, 3), Tuples())
    assert candidate_layers(network, IMAGES) == ["0", "1"]
    assert candidate_layers(nn.Sequential(nn.Conv2d(3, 4, 3), Summary()), IMAGES) == ["0"]


def test_layers_that_cannot_be_recorded_are_left_out_with_the_reason():
    network = nn.Sequential(
        nn.Conv2d(3, 4, 3), nn.TransformerEncoder(nn.TransformerEncoderLayer(4, 2, 8), 3), nn.Linear(4, 2), Summary()
    )
    network[1].register_forward_pre_hook(lambda module, inputs: (inputs[0].flatten(2).permute(2, 0, 1),))
    remarks: list[str] = []
    assert "1.layers.1" in candidate_layers(network, IMAGES, remarks=remarks)  # tokens first
    assert remarks == ["layers left out of the search: 3 (returns a single number for all stimuli)"]


def test_only_modules_that_ran_are_blocks():
    class ImagesAndText(nn.Module):
        def __init__(self):
            super().__init__()
            self.text = nn.Sequential(*(nn.Sequential(nn.Linear(64, 64)) for _ in range(4)))
            self.visual = nn.Sequential(*(nn.Sequential(nn.Conv2d(3, 3, 3)) for _ in range(3)))

        def get_image_features(self, images):
            return self.visual(images)

    assert repeated_layers(ImagesAndText(), IMAGES)[0] == ["visual.0", "visual.1", "visual.2"]


def test_the_network_is_left_as_it_was():
    network = nn.Sequential(nn.Conv2d(3, 4, 3), nn.BatchNorm2d(4), nn.Dropout()).train()
    before = network[1].running_mean.clone()
    candidate_layers(network, IMAGES)
    assert network.training
    assert all(module.training for module in network)
    assert torch.equal(network[1].running_mean, before)
    assert not any(module._forward_hooks for module in network.modules())


@pytest.mark.parametrize(("limit", "expected"), [(1, ["9"]), (2, ["0", "9"]), (4, ["0", "3", "6", "9"])])
def test_long_chains_are_thinned_evenly(limit, expected):
    chain = nn.Sequential(*(nn.Conv2d(3, 3, 1) for _ in range(10)))
    assert candidate_layers(chain, IMAGES, limit=limit) == expected


def test_networks_without_candidates_are_refused():
    with pytest.raises(UserError, match="no layer of Sequential returns a tensor"):
        candidate_layers(nn.Sequential(Summary()), IMAGES)
    with pytest.raises(UserError, match=r"Sequential fails on an input of 2 × 3 × 8 × 8: RuntimeError"):
        candidate_layers(nn.Sequential(nn.Linear(5, 2)), IMAGES)
    with pytest.raises(ValueError, match="room for one layer"):
        candidate_layers(nn.Sequential(nn.Conv2d(3, 4, 3)), IMAGES, limit=0)


def test_the_number_of_logits_is_known_unless_a_wrapper_changes_the_output():
    network = nn.Sequential(nn.Flatten(), nn.Linear(192, 10))
    wrapper = PytorchWrapper(network, lambda paths: IMAGES, "small", store=None)
    assert logits_width(wrapper, "1") == 10
    assert logits_width(wrapper, "0") is None  # known only from the output
    assert logits_width(wrapper) == 10

    class Other(nn.Module):
        def __init__(self):
            super().__init__()
            self.classifier, self.features = nn.Linear(8, 1000), nn.Linear(192, 8)

        def forward(self, images):
            return self.classifier(self.features(images.flatten(1)))

    assert logits_width(PytorchWrapper(Other(), lambda paths: IMAGES, "other", store=None)) == 1000

    class WithoutBackground(PytorchWrapper):
        def __call__(self, *arguments, **options):
            return super().__call__(*arguments, **options)[:, 1:]

    assert logits_width(WithoutBackground(network, lambda paths: IMAGES, "small", store=None), "1") is None
