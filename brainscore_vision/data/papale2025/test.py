import numpy as np
import pytest

from brainscore_vision import load_dataset, load_stimulus_set
from brainscore_vision.benchmark_helpers.neural_common import filter_reliable_neuroids
from brainscore_vision.testing import serve_stand_ins

COORDINATES = {
    "presentation": {"stimulus_id", "stimulus_label", "object_name", "stimulus_label_idx", "repetition"},
    "neuroid": {"region", "subject", "neuroid_id", "SNR", "SNR_max", "reliability", "oracle"},
    "time_bin": {"time_bin_start", "time_bin_end"},
}
RELIABLE = {
    "monkeyF": {"V1": 332, "V4": 117, "IT": 157},
    "monkeyN": {"V1": 410, "V4": 198, "IT": 141},
}


def check_form(assembly):
    assert assembly.dims == ("presentation", "neuroid", "time_bin")
    for dim, names in COORDINATES.items():
        assert all(assembly[name].dims == (dim,) for name in names)
    assert set(assembly["subject"].values) == set(RELIABLE)
    assert set(assembly["region"].values) == {"V1", "V4", "IT"}
    assert (assembly["time_bin_start"].values[0], assembly["time_bin_end"].values[0]) == (70, 170)


@pytest.mark.parametrize(("split", "stimuli", "repetitions"), [("train", 60, 1), ("test", 20, 4)])
def test_stand_in(s3_server, split, stimuli, repetitions):
    with serve_stand_ins(f"Papale2025_{split}"):
        assembly = load_dataset(f"Papale2025_{split}")
        table = load_stimulus_set(f"Papale2025_stim_{split}")
    check_form(assembly)
    assert assembly.shape == (stimuli * repetitions, 27, 1)
    np.testing.assert_array_equal(np.repeat(table["stimulus_id"], repetitions), assembly["stimulus_id"].values)
    assert {"label", "label_idx", "object_name"} <= set(table.columns)
    assert assembly.attrs["stimulus_set_identifier"] == table.identifier == f"THINGS_TVSD_{split}_Stimuli"
    assert all(table.get_stimulus(name).is_file() for name in table["stimulus_id"])


@pytest.mark.private_access
@pytest.mark.parametrize(
    ("split", "categories", "examples", "repetitions"), [("train", 1854, 12, 1), ("test", 100, 1, 30)]
)
def test_published(split, categories, examples, repetitions):
    assembly, table = load_dataset(f"Papale2025_{split}"), load_stimulus_set(f"Papale2025_stim_{split}")
    check_form(assembly)
    assert assembly.shape == (categories * examples * repetitions, 2048, 1)
    assert table["label"].nunique() == categories
    np.testing.assert_array_equal(np.repeat(table["stimulus_id"], repetitions), assembly["stimulus_id"].values)
    reliable = filter_reliable_neuroids(assembly, 0.3, "reliability")
    for subject, regions in RELIABLE.items():
        for region, count in regions.items():
            assert reliable.sel(subject=subject, region=region).sizes["neuroid"] == count
