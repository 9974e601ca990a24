import numpy as np
import pytest

from brainscore_core.supported_data_standards.brainio.assemblies import NeuroidAssembly
from brainscore_vision import load_dataset, load_stimulus_set
from brainscore_vision.testing import serve_stand_ins, stand_in


def check(assembly, stimulus_set):
    assert assembly.dims == ("presentation", "presentation", "neuroid")
    assert assembly.shape == (24, 24, 36)  # 9 subjects × 4 regions
    assert len(set(assembly["stimulus_id"].values)) == len(assembly.stimulus_set) == len(stimulus_set) == 24
    assert len(set(stimulus_set["object_name"])) == 8
    assert len(set(stimulus_set["occlusion_condition"])) == 3
    assert set(assembly["region"].values) == {"V1", "V2", "V4", "IT"}
    assert len(set(assembly["subject"].values)) == 9


@pytest.mark.filterwarnings("error:Duplicate dimension names")
def test_loads_from_storage(s3_server):
    with serve_stand_ins("Coggan2024_fMRI"):
        assembly, stimulus_set = load_dataset("Coggan2024_fMRI"), load_stimulus_set("Coggan2024_fMRI")
    check(assembly, stimulus_set)
    assert type(assembly) is NeuroidAssembly
    np.testing.assert_array_equal(assembly.values, stand_in("Coggan2024_fMRI").values)
    assert assembly.attrs["stimulus_set_identifier"] == "tong.Coggan2024_fMRI"


@pytest.mark.network
def test_published():
    check(load_dataset("Coggan2024_fMRI"), load_stimulus_set("Coggan2024_fMRI"))
