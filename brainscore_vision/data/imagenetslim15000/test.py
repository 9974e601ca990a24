import pytest

from brainscore_vision import load_stimulus_set
from brainscore_vision.testing import serve_stand_ins


def test_stand_in(s3_server, tmp_path, monkeypatch):
    monkeypatch.setenv("BRAINIO_HOME", str(tmp_path))
    with serve_stand_ins("ImageNetSlim15000"):
        stimuli = load_stimulus_set("ImageNetSlim15000")
    assert all(stimuli.get_stimulus(name).is_file() for name in stimuli["stimulus_id"])


@pytest.mark.private_access
def test_published():
    assert len(load_stimulus_set("ImageNetSlim15000")) == 15000
