import numpy as np
import pytest

from brainscore_vision import load_dataset, load_stimulus_set
from brainscore_vision.testing import serve_stand_ins


def check_form(assembly):
    assert assembly.dims == ("decoder", "presentation")
    assert list(assembly["decoder"].values) == ["svm", "logistic"]
    for name in ("stimulus_id", "image_label", "i1"):
        assert assembly[name].dims == ("presentation",)
    assert set(assembly["stimulus_id"].values) == set(assembly.stimulus_set["stimulus_id"])


def test_stand_in(s3_server):
    with serve_stand_ins("Kar2019"):
        assembly, stimuli = load_dataset("Kar2019"), load_stimulus_set("Kar2019")
    check_form(assembly)
    assert assembly.attrs["identifier"] == "dicarlo.Kar2019"
    assert assembly.shape == (2, 72)
    assert len(stimuli) == 70
    # what was never solved has no time; a picture that is there twice has the same in both places
    assert np.isnan(assembly.values).any(axis=0).sum() == 1
    np.testing.assert_array_equal(assembly.values[:, :2], assembly.values[:, -2:])


@pytest.mark.private_access
def test_published():
    assembly = load_dataset("Kar2019")
    check_form(assembly)
    assert assembly.shape == (2, 1320)
    assert len(set(assembly["stimulus_id"].values)) == 1318
    assert len(set(assembly["image_label"].values)) == 10
