import re

import numpy as np
import pytest

from brainscore_vision import load_dataset, load_stimulus_set
from brainscore_vision.testing import serve_stand_ins

SUBJECTS = {
    "short2": 6,
    "short4": 5,
    "short6": 5,
    "short8": 5,
    "short16": 6,
    "equal2": 5,
    "long2": 5,
    "equal16": 5,
    "long16": 5,
    "vernier_only": 6,
}
TEST = list(SUBJECTS)
FITTING = [f"{name}_fit" for name in TEST if name != "vernier_only"]
COLUMNS = {
    "image_size_x_pix",
    "image_size_y_pix",
    "image_size_c",
    "image_size_degrees",
    "vernier_height_arcsec",
    "vernier_offset_arcsec",
    "image_label",
    "flanker_height_arcsec",
    "flanker_spacing_arcsec",
    "line_width_arcsec",
    "flanker_distance_arcsec",
    "num_flankers",
    "vernier_position_x_pix",
    "vernier_position_y_pix",
    "stimulus_id",
}


def subjects(name):
    assembly = load_dataset(f"Malania2007.{name}")
    assert type(assembly).__name__ == "PropertyAssembly"
    assert assembly.dims == ("subject",)
    assert "stimulus_set" not in assembly.attrs
    return len(set(assembly["subject"].values[~np.isnan(assembly.values)]))


def stored_name(name):
    stimuli = load_stimulus_set(f"Malania2007.{name}")
    assert set(stimuli.columns) >= COLUMNS
    return stimuli.identifier


@pytest.mark.sampled(4)
@pytest.mark.parametrize("name", TEST)
def test_form(s3_server, tmp_path, monkeypatch, name):
    monkeypatch.setenv("BRAINIO_HOME", str(tmp_path))
    fitting = f"{name}_fit"
    with serve_stand_ins(*(f"Malania2007.{one}" for one in (name, fitting) if one in TEST + FITTING)):
        assert subjects(name) == SUBJECTS[name]
        stored = "Malania2007_" + re.sub(r"_|(?<=[a-z])(?=\d)", "-", name)  # such as short-2
        assert stored_name(name) == stored
        if fitting in FITTING:
            assert stored_name(fitting) == f"{stored}_fit"


@pytest.mark.private_access
@pytest.mark.parametrize("name", TEST)
def test_published_subjects(name):
    assert subjects(name) == SUBJECTS[name]


@pytest.mark.private_access
@pytest.mark.parametrize("name", TEST + FITTING)
def test_published_stimuli(name):
    stored_name(name)
    assert load_stimulus_set(f"Malania2007.{name}")["stimulus_id"].nunique() == (500 if name in FITTING else 50)
