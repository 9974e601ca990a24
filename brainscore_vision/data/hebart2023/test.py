import numpy as np
import pytest

from brainscore_vision import load_dataset, load_stimulus_set
from brainscore_vision.testing import serve_stand_ins

COLUMNS = {
    "unique_id",
    "stimulus_id",
    "filename",
    "WordNet_ID",
    "Wordnet_ID2",
    "Wordnet_ID3",
    "Wordnet_ID4",
    "WordNet_synonyms",
    "freq_1",
    "freq_2",
    "top_down_1",
    "top_down_2",
    "bottom_up",
    "word_freq",
    "word_freq_online",
    "example_image",
    "dispersion",
    "dominant_part",
    "rank",
}


def test_form(s3_server, tmp_path, monkeypatch):
    monkeypatch.setenv("BRAINIO_HOME", str(tmp_path))
    with serve_stand_ins("Hebart2023"):
        check(load_dataset("Hebart2023"), load_stimulus_set("Hebart2023"))


@pytest.mark.private_access
def test_published():
    assembly, stimuli = load_dataset("Hebart2023"), load_stimulus_set("Hebart2023")
    check(assembly, stimuli)
    assert len(stimuli) == 1854
    assert assembly.sizes["presentation"] == 453642


def check(assembly, stimuli):
    assert set(stimuli.columns) == COLUMNS
    names = set(stimuli["stimulus_id"])
    images = np.stack([assembly[f"image_{place}"].values for place in (1, 2, 3)], axis=1)
    assert {str(image) for image in images.ravel()} == names
    assert set(assembly["stimulus_id"].values) <= names
    assert (images[:, 2].astype(str) == assembly["stimulus_id"].values).all()
    assert len(set(assembly["triplet_id"].values)) == len(images)
    assert ((images[:, 0] != images[:, 1]) & (images[:, 1] != images[:, 2]) & (images[:, 0] != images[:, 2])).all()
