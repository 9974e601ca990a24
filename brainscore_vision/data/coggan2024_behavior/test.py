import pytest

from brainscore_vision import load_dataset, load_stimulus_set
from brainscore_vision.testing import serve_stand_ins

FITTING = "Coggan2024_behavior_fitting"


def test_form(s3_server, tmp_path, monkeypatch):
    monkeypatch.setenv("BRAINIO_HOME", str(tmp_path))
    with serve_stand_ins("Coggan2024_behavior", FITTING):
        check(load_dataset("Coggan2024_behavior"), load_stimulus_set(FITTING), visibilities=3)


@pytest.mark.private_access
def test_published():
    assembly, fitting = load_dataset("Coggan2024_behavior"), load_stimulus_set(FITTING)
    check(assembly, fitting, visibilities=6)
    assert len(assembly.stimulus_set) == 22560
    assert len(fitting) == 2048
    assert len(set(assembly["subject"].values)) == 30


def check(assembly, fitting, *, visibilities):
    assert type(assembly).__name__ == "BehavioralAssembly"
    assert assembly.dims == ("presentation",)
    assert len(set(assembly["stimulus_id"].values)) == assembly.size == len(assembly.stimulus_set)
    counts = {
        name: len(set(assembly[name].values))
        for name in ("object_class", "occluder_type", "occluder_color", "visibility")
    }
    expected = {"object_class": 8, "occluder_type": 10, "occluder_color": 3, "visibility": visibilities}
    assert counts == expected
    right = assembly.values == assembly["object_class"].values
    assert (right == assembly["human_accuracy"].values).all()
    assert set(fitting["image_label"]) == set(assembly["object_class"].values)
