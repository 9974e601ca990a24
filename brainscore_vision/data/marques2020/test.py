import numpy as np
import pytest

from brainscore_core.supported_data_standards.brainio.assemblies import PropertyAssembly
from brainscore_vision import load_dataset, load_stimulus_set
from brainscore_vision.testing import serve_stand_ins

# identifier: (published number of neurons, stimuli, properties)
ASSEMBLIES = {
    "Cavanaugh2002a": (190, "Marques2020_size", [
        "grating_summation_field", "strongly_suppressed", "surround_diameter",
        "surround_grating_summation_field_ratio", "surround_suppression_index",
    ]),
    "DeValois1982a": (385, "Marques2020_orientation", ["preferred_orientation"]),
    "DeValois1982b": (363, "Marques2020_spatial_frequency", ["peak_spatial_frequency"]),
    "FreemanZiemba2013_V1_properties": (102, "FreemanZiemba2013_properties", [
        "absolute_texture_modulation_index", "family_variance", "max_noise", "max_texture", "noise_selectivity",
        "noise_sparseness", "sample_variance", "texture_modulation_index", "texture_selectivity",
        "texture_sparseness", "variance_ratio",
    ]),
    "Ringach2002": (304, "Marques2020_orientation", [
        "bandwidth", "baseline", "circular_variance", "circular_variance_bandwidth_ratio", "max_ac", "max_dc",
        "min_dc", "modulation_ratio", "orientation_selective", "orthogonal_preferred_ratio",
        "orthogonal_preferred_ratio_bandwidth_ratio", "orthogonal_preferred_ratio_circular_variance_difference",
    ]),
    "Schiller1976c": (87, "Marques2020_spatial_frequency", [
        "spatial_frequency_bandwidth", "spatial_frequency_selective",
    ]),
}  # fmt: skip
STIMULUS_SETS = {
    "Marques2020_blank": 1,
    "Marques2020_receptive_field": 3528,
    "Marques2020_orientation": 1152,
    "Marques2020_spatial_frequency": 2112,
    "Marques2020_size": 2304,
    "FreemanZiemba2013_properties": 450,
}
GRATING = ["position_y", "position_x", "contrast", "radius", "spatial_frequency", "orientation", "phase"]
TEXTURE = ["position_y", "position_x", "family", "sample", "type"]


def _check(identifier):
    _, stimuli, properties = ASSEMBLIES[identifier]
    assembly = load_dataset(identifier)
    assert type(assembly) is PropertyAssembly
    assert assembly.dims == ("neuroid", "neuronal_property")
    assert sorted(assembly["neuronal_property"].values) == properties
    assert set(assembly["region"].values) == {"V1"}
    assert assembly.stimulus_set.identifier == stimuli
    assert int(assembly.attrs["number_of_trials"]) == 20
    for name in properties:
        edges = np.asarray(assembly.attrs[f"{name}_bins"])
        assert (np.diff(edges) > 0).all()
    return assembly


def _check_stimuli(identifier):
    stimuli = load_stimulus_set(identifier)
    columns = [] if identifier == "Marques2020_blank" else TEXTURE if "Freeman" in identifier else GRATING
    assert {"stimulus_id", "degrees", *columns} <= set(stimuli.columns)
    assert stimuli[["degrees", *columns]].notna().all(axis=None)
    return stimuli


def test_stand_ins_load_from_s3(s3_server):
    with serve_stand_ins(*ASSEMBLIES, *STIMULUS_SETS):
        for identifier in ASSEMBLIES:
            assert _check(identifier).attrs["simulated"] == 1
        for identifier in STIMULUS_SETS:
            assert _check_stimuli(identifier).get_stimulus("0").is_file()


@pytest.mark.private_access
@pytest.mark.parametrize("identifier", ASSEMBLIES)
def test_published_assembly(identifier):
    assert _check(identifier).sizes["neuroid"] == ASSEMBLIES[identifier][0]


@pytest.mark.private_access
@pytest.mark.parametrize("identifier", STIMULUS_SETS)
def test_published_stimuli(identifier):
    assert len(_check_stimuli(identifier)) == STIMULUS_SETS[identifier]
