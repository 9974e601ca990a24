"""Scripts and plugins written after the published platform's, on its data and scores, run unmodified."""

import runpy
from pathlib import Path

import pytest

from brainscore_core.supported_data_standards.brainio.fetch import UnverifiedFileWarning
from brainscore_core.supported_data_standards.brainio.stimuli import StimulusSet, StimulusSetLoader

SCRIPTS = Path(__file__).parents[1] / "plugins_of_others" / "scripts"


@pytest.fixture(autouse=True)
def elsewhere(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


@pytest.mark.parametrize("script", ["raw_values", "sample_of_stimuli"])
def test_a_script(script):
    runpy.run_path(str(SCRIPTS / f"{script}.py"))


def test_a_file_that_is_fetched_once(tmp_path, monkeypatch):
    mirror = tmp_path / "mirror"
    stored = mirror / "group-storage.s3.amazonaws.com" / "tests" / "features.nc"
    stored.parent.mkdir(parents=True)
    stored.write_bytes(b"features")
    monkeypatch.setenv("BRAINSCORE_MIRROR", str(mirror))
    monkeypatch.setenv("BRAINIO_HOME", str(tmp_path / "cache"))
    with pytest.warns(UnverifiedFileWarning, match="features.nc has sha1"):
        runpy.run_path(str(SCRIPTS / "precomputed_file.py"))


def test_the_earlier_form_of_the_loader_of_stimuli(tmp_path):
    (tmp_path / "set.csv").write_text("stimulus_id\na\n")
    with pytest.warns(DeprecationWarning, match="pass the class first"):
        stimulus_set = StimulusSetLoader(tmp_path / "set.csv").load()
    assert type(stimulus_set) is StimulusSet
