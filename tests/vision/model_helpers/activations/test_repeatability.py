"""Responses that are not a function of the stimulus are reported with the reason, and not stored."""

import itertools
import logging

import numpy as np
import pytest

from brainscore_core.provenance import recording
from brainscore_vision.model_helpers.activations import PytorchWrapper
from brainscore_vision.model_helpers.activations.preprocessing import load_image
from brainscore_vision.model_helpers.activations.repeatability import are_random, known_causes, nearly_equal
from brainscore_vision.model_helpers.static_features import CallableWrapper

torch = pytest.importorskip("torch")

CALLS = itertools.count()
DROPOUT = torch.nn.Dropout()


def cropped(paths):
    left = next(CALLS) % 6
    images = np.stack([np.asarray(load_image(path), np.float32) for path in paths])
    return images[:, :16, left : left + 16].transpose(0, 3, 1, 2)


class Step(torch.nn.Module):
    """Wraps a function; without training mode of its own."""

    def __init__(self, function):
        super().__init__()
        self.function = function

    def forward(self, values):
        return self.function(values)


class Masking(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.config = type("Config", (), {})()
        self.config.mask_ratio = 0.5

    def forward(self, values):
        return values * (torch.rand_like(values) > self.config.mask_ratio)


@pytest.fixture
def reported(stimuli, store, caplog):
    """Extract layers; the remark for the receipt, after the warning and the store were checked."""

    def extract(model, layers=("1",), shown=stimuli, **trials):
        with recording() as record, caplog.at_level(logging.WARNING):
            model(shown, list(layers), **trials)
        remarks = [item["text"] for item in record.items if item["kind"] == "remark"]
        assert all(text in caplog.text for text in remarks)
        assert bool(store.entries()) is not bool(remarks)
        assert not store.leftovers()
        return " ".join(remarks)

    return extract


def network_with(last):
    torch.manual_seed(0)
    return torch.nn.Sequential(torch.nn.Conv2d(3, 4, 3, stride=2), last)


@pytest.mark.parametrize("options", [{}, {"reduction": "projection:20"}, {"reduction": "pca:3"}])
@pytest.mark.parametrize(
    ("last", "words"),
    [
        (Step(lambda x: torch.nn.functional.dropout(x, training=True)), ["from call to call"]),
        (Step(lambda x: DROPOUT(x)), ["from call to call", "Dropout in training mode"]),
        (Masking(), ["from call to call", "set config.mask_ratio = 0.0"]),
        (torch.nn.BatchNorm2d(4, track_running_stats=False), ["other stimuli of the batch", "BatchNorm2d with stat"]),
        (Step(lambda x: x - x.mean(dim=0)), ["other stimuli of the batch"]),
        (Step(lambda x: x * 1e-30), []),
        (Step(lambda x: torch.where(x > 0, x, torch.nan)), []),
        (torch.nn.Dropout(), []),
    ],
)
def test_networks(last, words, options, preprocessing, store, reported):
    if options.get("reduction") == "pca:3" and words == []:
        pytest.skip("covered by the tests of components")
    text = reported(PytorchWrapper(network_with(last), preprocessing, "net", store=store, **options))
    assert ("not a function of the stimulus" in text) is bool(words)
    assert all(word in text for word in words)


@pytest.mark.parametrize("trials", [{}, {"number_of_trials": 2, "require_variance": True}])
@pytest.mark.parametrize("number", [1, 7])
def test_random_preprocessing(number, trials, store, stimuli, reported):
    model = PytorchWrapper(network_with(torch.nn.ReLU()), cropped, "net", store=store)
    model.set_visual_degrees(8)
    assert "preprocessing is random" in reported(model, shown=stimuli[:number], **trials)
    assert not model.keeps_activations()


def test_what_does_not_repeat_is_stored_once_it_does(preprocessing, store, reported):
    network = network_with(Masking())
    model = PytorchWrapper(network, preprocessing, "net", store=store)
    assert "mask_ratio" in reported(model)
    network[1].config.mask_ratio = 0.0
    assert not reported(model)
    assert model.keeps_activations()


def test_functions(store, reported):
    def colour(images):
        return np.stack([image.mean(axis=(0, 1)) for image in map(np.asarray, images)])

    def centred(images):
        return colour(images) - colour(images).mean(axis=0)

    assert "of the batch" in reported(CallableWrapper({"1": centred}, "mine", load=load_image, store=store))
    assert not reported(CallableWrapper({"1": colour}, "mine", load=load_image, store=store))


@pytest.mark.parametrize("options", [{"autocast": True}, {"dtype": "float16"}, {}])
def test_rounding_is_not_reported(options, preprocessing, store, reported):
    layers = [
        torch.nn.Conv2d(3, 8, 3),
        torch.nn.LayerNorm(14),
        *(torch.nn.Conv2d(8, 8, 3, padding=1) for _ in range(6)),
    ]
    network = torch.nn.Sequential(*layers)
    network = network if options else network.bfloat16()
    assert not reported(PytorchWrapper(network, preprocessing, "net", store=store, **options), ["1", "7"])


def test_transforms_of_libraries_are_known_by_their_names(torchvision):
    transforms = torchvision.transforms

    def causes(*steps):
        transform = transforms.Compose([transforms.Resize(8), *steps])
        return [(cause.text, cause.suffices) for cause in known_causes(lambda paths: [*map(transform, paths)], None)]

    assert causes(transforms.RandomHorizontalFlip(0.1)) == [("RandomHorizontalFlip", True)]
    assert causes(transforms.RandomHorizontalFlip(0), transforms.CenterCrop(4)) == []
    assert causes(transforms.ColorJitter(0.1), transforms.RandAugment()) == [
        ("ColorJitter", True),
        ("RandAugment", True),
    ]


def test_a_network_with_augmentations_for_training_is_not_suspected():
    class Augmented(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.augment = type("RandomCrop", (torch.nn.Module,), {"__module__": "torchvision.transforms"})()

    assert [cause.suffices for cause in known_causes(None, Augmented())] == [False]


def test_comparisons():
    assert nearly_equal(np.array([np.nan, 1e-40]), np.array([np.nan, 0]))
    assert not nearly_equal(np.array([1e-20, 2e-20]), np.array([1e-20, 0]))
    assert not nearly_equal(np.array([np.nan, 1.0]), np.array([0, 1.0]))
    assert nearly_equal(np.array([1.0, 0.5]), np.array([1.0, 0.52]), half=True)
    assert are_random([torch.zeros(2), torch.ones(2)])
    assert not are_random([[np.zeros(2)], [np.zeros(2)]])
    assert not are_random([np.random.default_rng(0), 1])  # a generator cannot be compared
