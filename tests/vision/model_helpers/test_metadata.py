import pytest

from brainscore_core.catalogue import read_plugin_metadata
from brainscore_vision import model_registry, plugin_index
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
        ({"architecture": " "}, "architecture is '.?', not a non-empty string"),
        ({"weights_licence": ""}, "weights_licence is '.?', not a non-empty string"),
        ({"parameters": -1}, "parameters is -1, not a whole number ≥ 0"),
        ({"source": "github.com/a"}, "not a URL"),
        ({"bibtex": "A. Author, 2020"}, "not a BibTeX entry"),
        ({"bibtex": "@misc{a, title = {A}"}, "not a BibTeX entry"),
        ({"parameters": True}, "parameters is True"),
        ({"total_parameters": 2}, "total_parameters is 2, less than parameters"),
        ({"size_mb": 0.0}, "size_mb is 0.0"),
        ({"size_mb": float("nan")}, "size_mb is nan"),
        ({"image_size": 224.5}, "image_size is 224.5"),
        ({"image_size": 0}, "image_size is 0"),
        ({"family": "ResNet"}, "family is 'ResNet', not one lower-case word"),
        ({"notes": "one text"}, "notes is 'one text', not a tuple"),
        ({"runnable": False}, "notes do not say what is missing"),
        ({"architecture": 3}, "architecture is 3, not a non-empty string"),
        ({"trained_on": "ImageNet"}, "trained_on is 'ImageNet', not a tuple"),
        ({"twin_of": "net", "trained_on": ("ImageNet",)}, "twin_of is for untrained models"),
    ],
)
def test_malformed_metadata_are_refused(change, message):
    assert ModelMetadata(**GOOD).parameters == 3
    with pytest.raises(ValueError, match=message):
        ModelMetadata(**GOOD | change)


def described():
    """Metadata of all models, and the names that each plugin describes."""
    places = {
        model_registry.location(identifier).folder: model_registry.location(identifier) for identifier in model_registry
    }
    found = [read_plugin_metadata("models", place, plugin_index) for place in places.values()]
    assert [problem for plugin in found for problem in plugin.problems] == []
    return {identifier: metadata for plugin in found for identifier, metadata in plugin.table.items()}


def test_what_is_not_known_is_none():
    unknown = dict.fromkeys(GOOD)
    assert ModelMetadata(**unknown).parameters is None
    assert ModelMetadata(**unknown, runnable=False, notes=("No weights are public.",)).runnable is False


def test_metadata_of_all_models():
    known = described()
    assert set(known) == set(model_registry)
    for identifier, metadata in known.items():
        assert isinstance(metadata, ModelMetadata), identifier
        assert metadata.family, identifier
        assert metadata.architecture, identifier
        assert metadata.size_mb is None or metadata.size_mb >= 4e-6 * metadata.parameters - 0.05


def test_models_without_public_weights_are_not_runnable():
    metadata = described()
    lacking = {name for name, about in metadata.items() if not about.runnable}
    assert lacking == {"grcnn_robust_v1", "resnet18-local_aggregation"}
    assert all("No public weights" in metadata[name].notes[0] for name in lacking)
    twins = {name: about.twin_of for name, about in metadata.items() if name.endswith("-untrained")}
    assert all(name == f"{trained}-untrained" and trained in metadata for name, trained in twins.items())
