import time

import numpy as np
import pytest
from PIL import Image

from brainscore_core.errors import DataUnavailable, UserError
from brainscore_vision import load_dataset, load_stimulus_set
from brainscore_vision.data.geirhos2019.data_packaging import STIMULI_VARIABLE as STIMULI_VARIABLE_2019
from brainscore_vision.data.geirhos2021 import data_packaging
from brainscore_vision.data.geirhos2021.data_packaging import STIMULI_VARIABLE
from brainscore_vision.data.geirhos2021.published import PUBLISHED
from brainscore_vision.testing import serve_stand_ins

TESTS = {  # trials, observers, stimuli, conditions
    "colour": (5120, 4, 1280, 2),
    "contrast": (5120, 4, 1280, 8),
    "cue-conflict": (12800, 10, 1280, 1),
    "edge": (1600, 10, 160, 1),
    "eidolonI": (5120, 4, 1280, 8),
    "eidolonII": (5120, 4, 1280, 8),
    "eidolonIII": (5120, 4, 1280, 8),
    "false-colour": (4480, 4, 1120, 2),
    "high-pass": (5120, 4, 1280, 8),
    "low-pass": (5120, 4, 1280, 8),
    "phase-scrambling": (4480, 4, 1120, 7),
    "power-equalisation": (4480, 4, 1120, 2),
    "rotation": (5120, 4, 1280, 4),
    "silhouette": (1600, 10, 160, 1),
    "sketch": (5600, 7, 800, 1),
    "stylized": (4000, 5, 800, 1),
    "uniform-noise": (5120, 4, 1280, 8),
}
WITHOUT_IMAGES = sorted(set(TESTS) - {"cue-conflict", "edge", "silhouette"})


@pytest.fixture(autouse=True)
def _no_folders(monkeypatch):
    monkeypatch.delenv(STIMULI_VARIABLE, raising=False)
    monkeypatch.delenv(STIMULI_VARIABLE_2019, raising=False)


@pytest.fixture
def _no_network(monkeypatch):
    for name in ("HTTPS_PROXY", "https_proxy", "ALL_PROXY", "all_proxy"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")
    monkeypatch.setattr(time, "sleep", lambda seconds: None)  # between attempts


@pytest.fixture
def _no_copies(tmp_path, monkeypatch):
    """Neither mirror nor cache."""
    monkeypatch.delenv("BRAINSCORE_MIRROR", raising=False)
    monkeypatch.setenv("BRAINIO_HOME", str(tmp_path / "brainio"))


@pytest.mark.sampled(4)
@pytest.mark.parametrize("test", TESTS)
def test_trials(mirror, test):
    trials, observers, stimuli, conditions = TESTS[test]
    assembly = load_dataset(f"Geirhos2021_{test}")
    assert assembly.dims == ("presentation",)
    assert assembly.shape == (trials,)
    assert len(set(assembly["subject"].values)) == observers
    assert all(str(subject).startswith("subject-") for subject in set(assembly["subject"].values))
    assert len(set(assembly["stimulus_id"].values)) == len(assembly.stimulus_set) == stimuli
    assert len(set(assembly["condition"].values)) == conditions
    assert len(set(assembly["truth"].values)) == 16
    assert set(assembly.values) <= set(assembly["truth"].values) | {"na"}
    assert assembly.attrs["stimulus_set_identifier"] == assembly.stimulus_set.identifier == f"Geirhos2021_{test}"
    # each observer saw each image once, so that images join observers
    seen = set(zip(assembly["subject"].values, assembly["stimulus_id"].values, strict=True))
    assert len(seen) == trials == observers * stimuli
    np.testing.assert_array_equal(np.isfinite(assembly["response_time"].values), assembly.values != "na")


@pytest.mark.parametrize(("test", "images"), [("cue-conflict", 160), ("edge", 160), ("silhouette", 160)])
def test_published_stimuli(mirror, test, images):
    stimuli = load_stimulus_set(f"Geirhos2021_{test}")
    assert stimuli.identifier == f"Geirhos2021_{test}"
    assert len(stimuli) == images
    assert set(stimuli["stimulus_id"]) <= set(load_dataset(f"Geirhos2021_{test}")["stimulus_id"].values)
    assert all(stimuli.get_stimulus(name).is_file() for name in stimuli["stimulus_id"])


@pytest.mark.usefixtures("_no_network")
@pytest.mark.parametrize("test", WITHOUT_IMAGES)
def test_other_stimuli_say_where_to_obtain_them(test):
    with pytest.raises(DataUnavailable) as caught:
        load_stimulus_set(f"Geirhos2021_{test}")
    assert f"{test}.tar.gz" in str(caught.value)
    assert "github.com/bethgelab/model-vs-human/releases" in str(caught.value)
    assert STIMULI_VARIABLE in str(caught.value)
    assert f"brainscore-storage.s3.amazonaws.com/brainio-brainscore/stimulus_Geirhos2021_{test}." in str(caught.value)


def _published_names(test):
    """The images of a test as model-vs-human publishes them: dnn/session-1/<trial>_<test>_dnn_<condition>_…"""
    names = []
    for number, stimulus in enumerate(load_dataset(f"Geirhos2021_{test}").stimulus_set["stimulus_id"], start=1):
        prefix, _, rest = stimulus.partition("_")
        names.append(f"{number:04}_{prefix}_dnn_{rest}")
    return names


def _write(folder, names):
    for number, name in enumerate(names):
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        Image.new("RGB", (1, 1), (number % 256, number // 256, 0)).save(path)


@pytest.mark.usefixtures("_no_network")
def test_stimuli_of_a_folder(mirror, tmp_path, monkeypatch):
    names = _published_names("colour")
    _write(tmp_path / "colour" / "dnn" / "session-1", names)
    monkeypatch.setenv(STIMULI_VARIABLE, str(tmp_path))
    stimuli = load_stimulus_set("Geirhos2021_colour")
    assert len(stimuli) == 1280
    name = stimuli["stimulus_id"].iloc[41]
    assert stimuli.get_stimulus(name).name == names[41]
    # other tests stay as they are
    assert len(load_stimulus_set("Geirhos2021_edge")) == 160
    with pytest.raises(DataUnavailable, match="has no folder sketch"):
        load_stimulus_set("Geirhos2021_sketch")


def test_folder_with_gaps_or_doubts(mirror, tmp_path, monkeypatch):
    names = _published_names("edge")
    folder = tmp_path / "edge"
    _write(folder, names)
    monkeypatch.setenv(STIMULI_VARIABLE, str(tmp_path))
    assert len(load_stimulus_set("Geirhos2021_edge")) == 160
    plain = names[3].split("_")[-1]  # as edges, silhouettes and cue conflict are published
    (folder / "airplane").mkdir()
    (folder / "airplane" / plain).write_bytes((folder / names[3]).read_bytes())
    assert len(load_stimulus_set("Geirhos2021_edge")) == 160
    (folder / "airplane" / plain).write_bytes((folder / names[4]).read_bytes())
    with pytest.raises(UserError, match="differ"):
        load_stimulus_set("Geirhos2021_edge")
    (folder / "airplane" / plain).unlink()
    (folder / names[3]).unlink()
    (folder / names[4]).unlink()
    with pytest.raises(DataUnavailable, match="2 of 160"):
        load_stimulus_set("Geirhos2021_edge")


@pytest.mark.usefixtures("_no_network", "_no_copies")
def test_one_clear_error_without_network():
    with pytest.raises(DataUnavailable) as caught:
        load_dataset("Geirhos2021_edge")
    message = str(caught.value)
    assert "raw.githubusercontent.com/bethgelab/model-vs-human" in message
    assert "BRAINSCORE_MIRROR" in message
    assert "10 of 10 files" in message
    assert len(message.splitlines()) == 2  # what is missing, and what to do


PUBLISHED_COLUMNS = {"stimulus_id", "truth", "condition"}
PUBLISHED_LEVELS = {"image_id_long", "choice", "category", "response_time", "trial", "subject", "session"}


def _check_published_form(test):
    """What the platform's data and their stand-ins have in common."""
    assembly, stimuli = load_dataset(f"Geirhos2021_{test}"), load_stimulus_set(f"Geirhos2021_{test}")
    assert assembly.dims == ("presentation",)
    assert set(assembly.coords) >= PUBLISHED_COLUMNS | PUBLISHED_LEVELS
    assert set(stimuli.columns) >= PUBLISHED_COLUMNS
    assert assembly.attrs["stimulus_set_identifier"] == stimuli.identifier == f"Geirhos2021_{test}"
    assert set(assembly["stimulus_id"].values) == set(stimuli["stimulus_id"])
    assert len(set(stimuli["truth"])) == 16
    if test in WITHOUT_IMAGES:
        assert list(stimuli["image_id_long"].str.split("_").str[2].unique()) == ["dnn"]
    assert all(stimuli.get_stimulus(name).is_file() for name in stimuli["stimulus_id"])
    return assembly, stimuli


def test_published_objects_are_registered():
    assert set(PUBLISHED) == set(TESTS)
    assert len({sha1 for published in PUBLISHED.values() for sha1 in published}) == 3 * 17 - 1  # two tables are alike
    assert PUBLISHED["edge"].csv == PUBLISHED["silhouette"].csv


@pytest.mark.sampled(3)
@pytest.mark.usefixtures("_no_copies")
@pytest.mark.parametrize("test", ["colour", "cue-conflict", "edge", "false-colour"])
def test_without_the_authors_files_it_is_what_the_platform_published(s3_server, test):
    with serve_stand_ins(f"Geirhos2021_{test}"):
        assembly, stimuli = _check_published_form(test)
    assert assembly.attrs["simulated"] == 1
    assert len(assembly) == 3 * len(stimuli)


def test_the_platforms_images_under_the_authors_names(mirror, s3_server, monkeypatch):
    """Trials are at hand, images are not: those that the platform has are the authors'."""
    test, identifier = "power-equalisation", "Geirhos2021_power-equalisation"
    monkeypatch.delenv("BRAINSCORE_MIRROR")
    with serve_stand_ins(identifier):
        monkeypatch.setenv("BRAINSCORE_MIRROR", str(mirror))
        published = data_packaging.load_published_stimuli(test)
        published["image_id_long"] = [name.removesuffix(".png") for name in _published_names(test)[: len(published)]]
        monkeypatch.setattr(data_packaging, "load_published_stimuli", lambda test: published)
        stimuli = load_stimulus_set(identifier)
    names = load_dataset(identifier).stimulus_set["stimulus_id"]
    assert stimuli.identifier == identifier
    assert list(stimuli["stimulus_id"]) == list(names[: len(published)])
    first = stimuli["stimulus_id"].iloc[0]
    assert stimuli.get_stimulus(first) == published.get_stimulus(published["stimulus_id"].iloc[0])


@pytest.mark.private_access
@pytest.mark.usefixtures("_no_copies")
@pytest.mark.parametrize("test", TESTS)
def test_published(test):
    trials, observers, images, _ = TESTS[test]
    assembly, stimuli = _check_published_form(test)
    assert assembly.attrs["identifier"] == f"brendel.Geirhos2021_{test}"
    assert len(assembly) == trials
    assert len(np.unique(assembly["subject"].values)) == observers
    assert len(stimuli) == images
