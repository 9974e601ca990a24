import numpy as np
import pytest
from PIL import Image

from brainscore_core.errors import DataUnavailable, UserError
from brainscore_vision import load_dataset, load_stimulus_set
from brainscore_vision.data.geirhos2019.data_packaging import STIMULI_VARIABLE
from brainscore_vision.data.geirhos2019.trials import read_trials, stimulus_id, with_shape_and_texture

TESTS = ("cue-conflict", "edge", "silhouette")
HEADER = "subj,session,trial,rt,object_response,category,condition,imagename\n"


@pytest.fixture(autouse=True)
def _no_folder(monkeypatch):
    monkeypatch.delenv(STIMULI_VARIABLE, raising=False)


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("0001_cl_s01_cr_oven_40_n04111531_14126.png", "cl_cr_oven_40_n04111531_14126.png"),
        ("0001_s5n_s01_0_bird_00_bird3-bird2.png", "s5n_0_bird_00_bird3-bird2.png"),
        ("1280_s5n_dnn_0_bird_00_bird3-bird2.png", "s5n_0_bird_00_bird3-bird2.png"),
        ("0640_nse_s10_0.03_elephant_10_n02504458_7209.png", "nse_0.03_elephant_10_n02504458_7209.png"),
        ("airplane4.png", "airplane4.png"),
    ],
)
def test_stimulus_id(name, expected):
    assert stimulus_id(name) == expected


def test_trials_are_read_as_published(tmp_path):
    path = tmp_path / "edge_subject-01_session_1.csv"
    path.write_text(
        HEADER.replace("session", "Session")
        + "subject-01,1,1,0.5,na,oven,0.00,0001_edg_s01_0_oven_00_oven10.png\n"
        + "subject-01,1,2,NaN,oven,oven,0.60,0002_edg_s01_0_oven_00_oven1.png\n"
    )
    trials = read_trials([path])
    assert list(trials["choice"]) == ["na", "oven"]
    assert list(trials["condition"]) == ["0.00", "0.60"]
    assert trials["response_time"].isna().tolist() == [False, True]
    assert list(trials["stimulus_id"]) == ["edg_0_oven_00_oven10.png", "edg_0_oven_00_oven1.png"]


def test_cues_need_the_name_of_a_cue_conflict_image():
    import pandas as pd

    with pytest.raises(UserError, match="airplane4"):
        with_shape_and_texture(pd.DataFrame({"stimulus_id": ["edg_0_airplane_00_airplane4.png"]}))


@pytest.mark.parametrize(("test", "images"), [("cue-conflict", 1280), ("edge", 160), ("silhouette", 160)])
def test_observers(mirror, test, images):
    assembly = load_dataset(f"Geirhos2019_{test}")
    assert assembly.sizes == {"presentation": images * 10}
    assert len(np.unique(assembly["subject"].values)) == 10
    assert len(assembly.stimulus_set) == len(np.unique(assembly["stimulus_id"].values)) == images
    assert len(set(assembly["truth"].values)) == 16
    assert set(assembly.values) <= set(assembly["truth"].values) | {"na"}
    # a time was recorded for every answer that was given, up to the limit of 1.5 s
    times, answered = assembly["response_time"].values, assembly.values != "na"
    np.testing.assert_array_equal(np.isfinite(times), answered)
    assert times[answered].min() > 0.2
    assert times[answered].max() < 1.51


@pytest.mark.parametrize(("test", "expected"), [("edge", 0.871), ("silhouette", 0.753)])
def test_accuracy_of_people(mirror, test, expected):
    assembly = load_dataset(f"Geirhos2019_{test}")
    assert (assembly.values == assembly["truth"].values).mean() == pytest.approx(expected, abs=5e-4)


@pytest.mark.parametrize(("test", "expected"), [("edge", 0.400), ("silhouette", 0.444)])
def test_accuracy_of_alexnet(mirror, test, expected):
    networks = load_dataset("Geirhos2019_networks")
    own = (networks["subject"].values == "alexnet") & (networks["test"].values == test)
    accuracy = (networks.values[own] == networks["truth"].values[own]).mean()
    assert accuracy == pytest.approx(expected, abs=5e-4)


def test_networks(mirror):
    networks = load_dataset("Geirhos2019_networks")
    each = set(zip(networks["experiment"].values, networks["subject"].values, strict=True))
    assert len(each) == 22
    # two networks are called alexnet: the published folders tell them apart
    assert len({experiment for experiment, network in each if network == "alexnet"}) == 4
    assert networks.sizes["presentation"] == 6 * 160 + 16 * 1280
    assert set(networks.values) <= set(networks["truth"].values)


def test_observers_are_those_of_geirhos2021(mirror):
    for test in TESTS:
        first, second = load_dataset(f"Geirhos2019_{test}"), load_dataset(f"Geirhos2021_{test}")
        np.testing.assert_array_equal(first.values, second.values)
        np.testing.assert_array_equal(first["stimulus_id"].values, second["stimulus_id"].values)


@pytest.mark.parametrize(("test", "images"), [("cue-conflict", 160), ("edge", 160), ("silhouette", 160)])
def test_stimuli(mirror, test, images):
    stimuli = load_stimulus_set(f"Geirhos2019_{test}")
    assert stimuli.identifier == f"Geirhos2019_{test}"
    assert len(stimuli) == images
    for name in stimuli["stimulus_id"]:
        path = stimuli.get_stimulus(name)
        assert name.endswith(f"_{path.name}")
        with Image.open(path) as image:
            assert image.size == (224, 224)
    assert set(stimuli["stimulus_id"]) <= set(load_dataset(f"Geirhos2019_{test}")["stimulus_id"].values)


def test_shape_and_texture(mirror):
    stimuli = load_dataset("Geirhos2019_cue-conflict").stimulus_set
    assert (stimuli["shape"] == stimuli["truth"]).all()
    assert (stimuli["shape"] != stimuli["texture"]).sum() == 1200


def _write_images(folder, names):
    for name in names:
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        Image.new("RGB", (2, 2), (len(name) % 256, 0, 0)).save(path)


def test_stimuli_of_a_folder(mirror, tmp_path, monkeypatch):
    ids = load_dataset("Geirhos2019_cue-conflict").stimulus_set["stimulus_id"]
    names = [f"style-transfer-preprocessed-512/{name.split('_')[2]}/{name.split('_')[-1]}" for name in ids]
    _write_images(tmp_path, names)
    monkeypatch.setenv(STIMULI_VARIABLE, str(tmp_path))
    stimuli = load_stimulus_set("Geirhos2019_cue-conflict")
    assert len(stimuli) == 1280
    assert stimuli.get_stimulus(ids[7]).name == ids[7].split("_")[-1]
    (tmp_path / names[7]).unlink()
    with pytest.raises(DataUnavailable, match="1 of 1280"):
        load_stimulus_set("Geirhos2019_cue-conflict")


def test_folder_that_does_not_exist(mirror, tmp_path, monkeypatch):
    monkeypatch.setenv(STIMULI_VARIABLE, str(tmp_path / "nowhere"))
    with pytest.raises(DataUnavailable, match="nowhere"):
        load_stimulus_set("Geirhos2019_edge")
