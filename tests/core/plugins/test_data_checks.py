"""Each check of data fails on data made to fail it, and only then."""

import numpy as np
import pytest
from PIL import Image

from brainscore_core.plugins import ConformanceError, check_data
from brainscore_core.supported_data_standards.brainio.assemblies import NeuroidAssembly
from brainscore_core.supported_data_standards.brainio.stimuli import StimulusSet


@pytest.fixture
def stimuli(tmp_path):
    made = StimulusSet({"stimulus_id": ["a", "b", "c"], "object_name": ["x", "y", "x"]})
    made.stimulus_paths = {name: tmp_path / f"{name}.png" for name in made["stimulus_id"]}
    for path in made.stimulus_paths.values():
        Image.new("L", (4, 4)).save(path)
    made.name = "Mine2024"
    return made


@pytest.fixture
def assembly(stimuli):
    made = NeuroidAssembly(
        np.arange(6.0).reshape(3, 2),
        coords={
            "stimulus_id": ("presentation", ["a", "b", "c"]),
            "object_name": ("presentation", ["x", "y", "x"]),
            "neuroid_id": ("neuroid", ["n0", "n1"]),
            "region": ("neuroid", ["IT", "IT"]),
        },
        dims=["presentation", "neuroid"],
    )
    made.attrs |= {"stimulus_set": stimuli, "identifier": "Mine2024"}
    return made


@pytest.fixture
def folder(tmp_path):
    plugin = tmp_path / "plugin"
    plugin.mkdir()
    (plugin / "__init__.py").write_text("data_registry['Mine2024'] = make\n")
    (plugin / "test.py").write_text("def test_it():\n    assert load_dataset('Mine2024').shape == (3, 2)\n")
    return plugin


def results(data, **options):
    checks = check_data(data, raise_errors=False, **options)
    return {check.name: check for check in checks if check.result not in ("passed", "not applicable")}


def test_sound_data_pass(stimuli, assembly, folder):
    for data in (stimuli, assembly):
        assert {check.result for check in check_data(data, identifier="Mine2024", folder=folder)} == {"passed"}


def test_a_packaged_table_has_the_names_of_its_files(stimuli):
    stimuli["filename"] = ["a.png", "b.png", "c.png"]
    assert results(stimuli) == {}


def test_names(stimuli, assembly):
    assert results(assembly, identifier="my data")["it is named AuthorYear"].result == "failed"
    assert results(assembly, identifier="mine")["it is named AuthorYear"].result == "warning"
    del assembly.attrs["identifier"]
    assert results(assembly)["it is named AuthorYear"].result == "failed"


def test_nan(assembly):
    assembly.values[1, 1] = np.nan
    found = results(assembly)
    assert list(found) == ["its values are there, none is NaN"]
    assert "1 of 6 values are missing" in found["its values are there, none is NaN"].explanation
    assembly.attrs["nan_allowed"] = "the electrode broke"
    assert results(assembly) == {}


def test_coordinates(assembly):
    found = results(assembly.assign_coords(neuroid_id=("neuroid", ["n0", "n0"])))
    assert (
        "the assembly has duplicate ids: 'n0'"
        in found["its dimensions and coordinates are those of its class"].explanation
    )


def test_stimuli_that_nobody_has(assembly, stimuli):
    aligned = "its stimuli are those of its stimulus set"
    assembly.attrs["stimulus_set"] = stimuli[stimuli["stimulus_id"] != "b"]
    assert "1 stimuli are not in the stimulus set: 'b'" in results(assembly)[aligned].explanation
    del assembly.attrs["stimulus_set"]
    assert "attrs['stimulus_set'] is missing" in results(assembly)[aligned].explanation


def test_ids_that_are_not_unique(stimuli):
    twice = StimulusSet({"stimulus_id": ["a", "a"]})
    twice.stimulus_paths, twice.name = stimuli.stimulus_paths, "Mine2024"
    assert "duplicate ids: 'a'" in results(twice)["its stimulus ids are unique"].explanation


def test_files_that_are_not_there(stimuli):
    stimuli.stimulus_paths["b"].unlink()
    found = results(stimuli)
    assert list(found) == ["its files are there and can be read"]
    assert "b.png" in found["its files are there and can be read"].explanation


def test_failures_are_raised(assembly):
    assembly.values[0] = np.inf
    with pytest.raises(ConformanceError, match="'Mine2024' failed"):
        check_data(assembly)
