import importlib

import pytest

from brainscore_vision import model_registry
from brainscore_vision.model_helpers.metadata import ModelMetadata

GOOD = {
    "architecture": "network",
    "parameters": 3,
    "training_data": "ImageNet",
    "code_licence": "MIT",
    "weights_licence": None,
    "source": "https://example.org",
    "bibtex": "@misc{a, title = {A}}",
}


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"architecture": " "}, "architecture is empty"),
        ({"weights_licence": ""}, "weights_licence is empty"),
        ({"parameters": -1}, "parameters is -1"),
        ({"source": "github.com/a"}, "is no URL"),
        ({"bibtex": "A. Author, 2020"}, "is no entry"),
        ({"bibtex": "@misc{a, title = {A}"}, "is no entry"),
    ],
)
def test_malformed_metadata_are_refused(change, message):
    assert ModelMetadata(**GOOD).parameters == 3
    with pytest.raises(ValueError, match=message):
        ModelMetadata(**GOOD | change)


def plugin_of(identifier):
    folder = model_registry.locations(identifier)[0].folder
    return importlib.import_module(f"brainscore_vision.models.{folder.name}")


def test_metadata_of_all_models():
    described = set()
    for identifier in model_registry:
        metadata = getattr(plugin_of(identifier), "METADATA", None)
        if metadata is not None:
            assert isinstance(metadata[identifier], ModelMetadata), identifier
            assert set(metadata) <= set(model_registry), identifier
            described.add(identifier)
    assert {
        *("CORnet-S", "ViT_L_32_imagenet1k", "custom_model_cv_18_dagger_408", "grcnn_robust_v1", "hmax"),
        *("resnet18-local_aggregation", "voneresnet-50-non_stochastic"),
    } <= described
