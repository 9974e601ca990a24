import pytest

from brainscore_vision import load_dataset, load_stimulus_set
from brainscore_vision.testing import serve_stand_ins, stand_in


@pytest.mark.parametrize("access", ["public", "private"])
def test_form(s3_server, tmp_path, monkeypatch, access):
    monkeypatch.setenv("BRAINIO_HOME", str(tmp_path))
    with serve_stand_ins(f"Rajalingham2018.{access}"):
        assembly = load_dataset(f"Rajalingham2018.{access}")
    assert type(assembly).__name__ == "BehavioralAssembly"
    assert assembly.dims == ("presentation",)
    assert (assembly.values == stand_in(f"Rajalingham2018.{access}").values).all()
    assert assembly.attrs["stimulus_set_identifier"] == f"objectome.{access}"
    assert assembly["published_order"].values.tolist() == list(range(len(assembly)))
    # columns of the stimulus set are joined
    assert (assembly["image_label"].values == assembly["sample_obj"].values).all()
    offered = (assembly.values == assembly["sample_obj"].values) | (assembly.values == assembly["dist_obj"].values)
    assert offered.all()
    assert set(assembly["stimulus_id"].values) == set(assembly.stimulus_set["stimulus_id"])


@pytest.mark.parametrize(
    ("access", "images"),
    [
        pytest.param("public", 2160, marks=pytest.mark.network),
        pytest.param("private", 240, marks=pytest.mark.private_access),
    ],
)
def test_published(access, images):
    stimuli = load_stimulus_set(f"objectome.{access}")
    assert len(stimuli) == images
    assert stimuli["image_label"].nunique() == 24
    assembly = load_dataset(f"Rajalingham2018.{access}")
    assert set(assembly["stimulus_id"].values) <= set(stimuli["stimulus_id"])
    assert {"sample_obj", "dist_obj"} <= set(assembly.coords)
