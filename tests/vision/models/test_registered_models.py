"""What every registered model says about itself."""

import json
from importlib import import_module

import pytest
import torch

from brainscore_core.catalogue import read_plugin_metadata
from brainscore_vision import model_registry, plugin_index
from brainscore_vision.model_helpers.activations.networks import LayerNames
from brainscore_vision.model_helpers.brain_transformation.layers import load_region_layer_map
from brainscore_vision.model_helpers.metadata import ModelMetadata
from brainscore_vision.models.untrained import TRAINED, reference_model

NO_NETWORKS = {"simulated-truth"} | {
    f"{name}-recorded2019" for name in ("alexnet", "googlenet", "resnet50", "vgg16")
}  # a control, and published answers that are replayed

REFERENCES = {
    "hmax",
    "alexnet",
    "CORnet-S",
    "resnet-50-robust",
    "voneresnet-50-non_stochastic",
    "resnet18-local_aggregation",
    "grcnn_robust_v1",
    "custom_model_cv_18_dagger_408",
    "ViT_L_32_imagenet1k",
    "mobilenet_v2_1.4_224",
    "mobilenet_v2_1_4_224",
    "pixels",
    "alexnet-untrained",
    "resnet-18",
    "resnet-50",
    "vgg-16",
    "convnext",
    "clip",
    "dinov2",
}

PUBLISHED_REGIONS = {  # V1, V2, V4, IT
    "alexnet": ("features.2", "features.7", "features.7", "features.12"),
    "resnet-18": ("layer1.0.relu-t0", "layer3.0.relu-t1", "layer3.0.relu-t0", "layer4.0.relu-t1"),
    "resnet-50": ("layer2.3", "layer3.0", "layer2.3", "layer4.0"),
    "resnet-50-robust": (
        *("layer3.0.downsample.0", "layer4.0.downsample.0"),
        *("layer3.0.downsample.0", "layer4.0.downsample.0"),
    ),
    "vgg-16": ("features.16", "features.16", "features.16", "features.23"),
    "convnext": ("features.4.1", "features.5.1", "features.4.1", "features.6.1"),
    "dinov2": ("blocks.1.attn", "blocks.7.attn", "blocks.3.attn", "blocks.8.attn"),
    "mobilenet_v2_1_4_224": (f"mobilenet_v2.layer.{number}" for number in (3, 6, 6, 12)),
}


def test_reference_models_are_registered():
    assert set(model_registry) >= REFERENCES


@pytest.mark.parametrize("identifier", sorted(set(model_registry) - NO_NETWORKS))
def test_metadata_and_citation(identifier):
    metadata = read_plugin_metadata("models", model_registry.location(identifier), plugin_index).of(identifier)
    assert isinstance(metadata, ModelMetadata)
    assert "title = {" in metadata.bibtex
    assert "year = {" in metadata.bibtex
    assert metadata.source.startswith("https://")
    if identifier.endswith("-untrained"):
        assert metadata.training_data is None
        assert "seed 0" in metadata.notes[0]
    elif metadata.parameters:
        untrained = identifier == "resnet18_random"
        assert metadata.training_data or untrained or any("not published" in note for note in metadata.notes)


def need_library(model):
    if "mobilenet" in model:
        pytest.importorskip("transformers")
    elif model.startswith(("clip", "dinov2", "custom_model", "vit_base", "convnext_tiny:")):
        pytest.importorskip("timm")


def on_no_device(model):
    with torch.device("meta"):
        return model.build()


def check_size(network, model, metadata):
    """Compare what was counted by hand: parameters, megabytes of the weights, pixels of an image."""
    parameters = [(parameter.numel(), parameter.requires_grad) for parameter in network.parameters()]
    total = sum(number for number, _ in parameters)
    # HMAX trains nothing
    assert metadata.parameters == (sum(number for number, trained in parameters if trained) or total)
    assert metadata.total_parameters == total
    weights = network.state_dict().values()
    assert metadata.size_mb == round(sum(value.numel() * value.element_size() for value in weights) / 1e6, 1)
    side = model.preprocessing.crop or model.preprocessing.resize
    assert metadata.image_size in (side if isinstance(side, tuple) else (side,))


@pytest.mark.parametrize("trained", sorted(TRAINED))
def test_size_and_layers(trained, torchvision):
    need_library(trained)
    model = reference_model(trained)
    network = on_no_device(model)
    folder = model_registry.location(trained).folder
    check_size(network, model, import_module(f"brainscore_vision.models.{folder.name}").METADATA[trained])
    layers = list(model.layers)
    names = LayerNames(network)
    assert names.resolve(layers) == layers
    for file in (folder / "region_layer_map").glob("*.json"):
        regions = load_region_layer_map(file)
        assert list(regions) == ["V1", "V2", "V4", "IT"]
        if file.stem == trained:
            used = [layer for one in regions.values() for layer in ([one] if isinstance(one, str) else one)]
            assert set(used) <= set(layers)


@pytest.mark.parametrize(
    ("identifier", "plugin", "name"),
    [
        ("vit_base_patch16_clip_224:openai_ft_in1k", "clip", "FINE_TUNED"),
        ("convnext_tiny:in12k_ft_in1k", "convnext", "IN12K"),
    ],
)
def test_size_of_fine_tuned_models(identifier, plugin, name, torchvision):
    need_library(identifier)
    model = getattr(import_module(f"brainscore_vision.models.{plugin}.model"), name)
    check_size(on_no_device(model), model, import_module(f"brainscore_vision.models.{plugin}").METADATA[identifier])


def test_images_of_models_without_networks():
    from brainscore_vision.models import gabor, pixels, simulated_truth
    from brainscore_vision.models.gabor.model import _SIZE
    from brainscore_vision.simulated_experiment import IMAGE_SIZE

    assert gabor.METADATA["gabor"].image_size == _SIZE
    assert pixels.METADATA["pixels"].image_size == 256
    assert simulated_truth.METADATA["simulated-truth"].image_size == IMAGE_SIZE


@pytest.mark.parametrize("identifier", sorted(PUBLISHED_REGIONS))
def test_layers_of_regions_are_the_published_ones(identifier):
    file = model_registry.location(identifier).folder / "region_layer_map" / f"{identifier}.json"
    assert tuple(json.loads(file.read_text()).values()) == tuple(PUBLISHED_REGIONS[identifier])
