import numpy as np
import pytest

from brainscore_core.errors import UnknownIdentifier, UserError
from brainscore_core.supported_data_standards.brainio.remote_files import object_request
from brainscore_vision import load_dataset, load_stimulus_set
from brainscore_vision.testing import list_stand_ins, serve_stand_ins, small_models, stand_in
from brainscore_vision.testing.pictures import block_means, expected_responses, picture_features
from brainscore_vision.testing.stand_ins import make_stimulus_set


def test_same_in_every_call():
    first, second = stand_in("MajajHong2015.public"), stand_in("MajajHong2015.public")
    assert first is not second
    np.testing.assert_array_equal(first.values, second.values)
    make_stimulus_set.cache_clear()
    assert stand_in("MajajHong2015.public").stimulus_set.equals(first.stimulus_set)


def test_an_unknown_one():
    with pytest.raises(UnknownIdentifier, match=r"'MajajHong2015.publik'\"?\ndid you mean .*MajajHong2015\.public"):
        stand_in("MajajHong2015.publik")


def test_of_a_stimulus_set():
    assert stand_in("hvm-public").identifier == "hvm-public"
    assert set(stand_in("hvm-private")["variation"]) == {6}


def test_each_assembly_has_its_stimuli():
    known = list_stand_ins()
    assert {"MajajHong2015.public", "FreemanZiemba2013.private", "Coggan2024_fMRI"} <= set(known["assemblies"])
    assert {"hvm", "hvm-public", "hvm-private"} <= set(known["stimulus_sets"])


def test_responses_depend_on_the_pictures():
    stimuli = stand_in("hvm-public")
    features = picture_features(stimuli)
    assert features.shape == (60, 16)
    responses = expected_responses(stimuli, 5, seed=0)
    design = np.column_stack([features, np.ones(60)])
    residual = responses - design @ np.linalg.lstsq(design, responses, rcond=None)[0]
    assert np.abs(residual).max() < 1e-10
    assert responses.std(axis=0).min() > 0.3


def test_block_means():
    np.testing.assert_array_equal(block_means(np.arange(16.0).reshape(4, 4), 2), [[2.5, 4.5], [10.5, 12.5]])
    assert block_means(np.ones((7, 5)), 4).tolist() == np.ones((4, 4)).tolist()


def test_served(s3_server):
    request = object_request
    with serve_stand_ins("MajajHong2015.public"):
        assert load_dataset("MajajHong2015.public").attrs["simulated"] == 1
        assert len(load_stimulus_set("hvm-public")) == 60
        with pytest.raises(UserError):
            load_dataset("MajajHong2015.private")
    assert object_request is request
    with pytest.raises(UserError):
        load_stimulus_set("hvm-private")


def test_served_without_a_server(monkeypatch):
    monkeypatch.delenv("AWS_ENDPOINT_URL", raising=False)
    with pytest.raises(UserError, match="no S3 server"), serve_stand_ins("hvm"):
        pass


def test_small_models():
    stimuli = stand_in("hvm-public")
    recorded = []
    for model in small_models(visual_degrees=5):
        assert model.visual_degrees() == 5
        model.start_recording("V1", [(70, 170)])
        recorded.append(model.look_at(stimuli))
    assert [one.sizes["neuroid"] for one in recorded] == [64, 112]
    assert all(one.values.std(axis=0).min() > 0 for one in recorded)
