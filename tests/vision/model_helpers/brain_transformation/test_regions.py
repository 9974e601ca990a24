"""Layers of brain regions: as given, as the only layer, or selected when they are needed."""

import pytest

from brainscore_core.errors import NotApplicable, UserError
from brainscore_vision.model_helpers.brain_transformation.layers import RegionLayerMap, layers_of_regions

KNOWN = ["conv1", "conv2", "fc"]


def test_given_layers_are_a_mapping_of_regions():
    given = RegionLayerMap("net", KNOWN, known=KNOWN, given={"V1": "conv1", "IT": ["conv2", "fc"]})
    assert dict(given) == {"V1": ["conv1"], "IT": ["conv2", "fc"]}
    assert (len(given), given.regions) == (2, ["V1", "IT"])
    assert repr(given) == "RegionLayerMap({'V1': ['conv1'], 'IT': ['conv2', 'fc']})"
    assert given.source_of("V1") == "region_layer_map"
    assert given.known_layers(["IT", "V1", "IT"]) == ["conv2", "fc", "conv1"]
    with pytest.raises(KeyError):
        given["V4"]


def test_the_only_layer_is_that_of_all_regions():
    single = RegionLayerMap("net", ["fc"])
    assert single["V1"] == single["IT"] == ["fc"]
    assert single.source_of("V1") == "the only layer"


def test_layers_are_selected_for_the_stimuli_shown():
    asked = []

    def select(region, stimuli):
        asked.append((region, stimuli))
        return ["conv2"], "measurements"

    selected = RegionLayerMap("net", KNOWN, select=select)
    assert (len(selected), selected.source_of("IT"), asked) == (0, None, [])
    assert selected.layers_for("IT", "stimuli") == ["conv2"]
    assert (list(selected), selected.source_of("IT"), asked) == (["IT"], "measurements", [("IT", "stimuli")])
    with pytest.raises(NotApplicable, match="layers of 'net' for the region 'IT' are not known"):
        RegionLayerMap("net", KNOWN).layers_for("IT", None)


def test_layers_of_all_regions_are_listed_once():
    assert layers_of_regions("net", {"V1": "conv1", "V4": ["conv2", "conv1"]}) == ["conv1", "conv2"]
    assert layers_of_regions("alexnet")  # from the file of its plugin
    with pytest.raises(UserError, match="the layers of 'no-such-net' are not named"):
        layers_of_regions("no-such-net")
