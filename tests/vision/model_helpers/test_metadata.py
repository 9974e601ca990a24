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
        ({"parameters": -1}, "parameters is -1, not a whole number ≥ 0"),
        ({"source": "github.com/a"}, "is not a URL"),
        ({"bibtex": "A. Author, 2020"}, "is not a BibTeX entry"),
        ({"bibtex": "@misc{a, title = {A}"}, "is not a BibTeX entry"),
        ({"parameters": True}, "parameters is True"),
        ({"total_parameters": 2}, "total_parameters is 2, less than parameters"),
        ({"size_mb": 0.0}, "size_mb is 0.0"),
        ({"size_mb": float("nan")}, "size_mb is nan"),
        ({"image_size": 224.5}, "image_size is 224.5"),
        ({"image_size": 0}, "image_size is 0"),
        ({"family": "ResNet"}, "family is 'ResNet', not one lower-case word"),
        ({"notes": "one text"}, "notes is 'one text', not a tuple"),
        ({"runnable": False}, "notes do not say what is missing"),
        ({"architecture": 3}, "architecture is 3, not a string"),
        ({"trained_on": "ImageNet"}, "trained_on is 'ImageNet', not a tuple"),
        ({"twin_of": "net", "trained_on": ("ImageNet",)}, "twin_of is for untrained models"),
    ],
)
def test_malformed_metadata_are_refused(change, message):
    assert ModelMetadata(**GOOD).parameters == 3
    with pytest.raises(ValueError, match=message):
        ModelMetadata(**GOOD | change)


def plugin_of(identifier):
    folder = model_registry.locations(identifier)[0].folder
    return importlib.import_module(f"brainscore_vision.models.{folder.name}")


def test_what_is_not_known_is_none():
    unknown = dict.fromkeys(GOOD)
    assert ModelMetadata(**unknown).parameters is None
    assert ModelMetadata(**unknown, runnable=False, notes=("No weights are public.",)).runnable is False


def test_metadata_of_all_models():
    for identifier in model_registry:
        described = plugin_of(identifier).METADATA
        metadata = described[identifier]
        assert isinstance(metadata, ModelMetadata), identifier
        assert set(described) <= set(model_registry), identifier
        assert metadata.family, identifier
        assert metadata.architecture, identifier
        assert metadata.size_mb is None or metadata.size_mb >= 4e-6 * metadata.parameters - 0.05


def test_models_without_public_weights_are_not_runnable():
    metadata = {identifier: plugin_of(identifier).METADATA[identifier] for identifier in model_registry}
    lacking = {name for name, about in metadata.items() if not about.runnable}
    assert lacking == {"grcnn_robust_v1", "resnet18-local_aggregation"}
    assert all("No public weights" in metadata[name].notes[0] for name in lacking)
    twins = {name: about.twin_of for name, about in metadata.items() if name.endswith("-untrained")}
    assert all(name == f"{trained}-untrained" and trained in metadata for name, trained in twins.items())
