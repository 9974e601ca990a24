import numpy as np
import pytest

from brainscore_core.supported_data_standards.brainio.assemblies import NeuroidAssembly
from brainscore_vision import load_dataset, load_stimulus_set
from brainscore_vision.testing import serve_stand_ins, stand_in


def check(assembly, stimulus_set):
    assert assembly.dims == ("presentation", "neuroid")
    assert len(stimulus_set) == 27
    np.testing.assert_array_equal(assembly["stimulus_id"].values, stimulus_set["stimulus_id"])
    for name in ("stimulus_name", "exemplar_number", "image_label", "image_group"):
        np.testing.assert_array_equal(assembly[name].values, stimulus_set[name])
    assert set(assembly["roi"].values) == {0, 1, 2}
    assert {"subject", "voxels"} <= set(assembly.coords)


def test_loads_from_storage(s3_server):
    with serve_stand_ins("Bracci2019"):
        assembly, stimulus_set = load_dataset("Bracci2019"), load_stimulus_set("Bracci2019")
    check(assembly, stimulus_set)
    assert type(assembly) is NeuroidAssembly
    assert "stimulus_set" not in assembly.attrs  # as it is registered
    np.testing.assert_array_equal(assembly.values, stand_in("Bracci2019").values)


@pytest.mark.private_access
def test_published():
    check(load_dataset("Bracci2019"), load_stimulus_set("Bracci2019"))
