import numpy as np
import pytest

from brainscore_core.supported_data_standards.brainio.assemblies import NeuronRecordingAssembly
from brainscore_vision import load_dataset, load_stimulus_set
from brainscore_vision.testing import serve_stand_ins, stand_in

STIMULI = {
    "MajajHong2015": "hvm",
    "MajajHong2015.public": "hvm-public",
    "MajajHong2015.private": "hvm-private",
    "MajajHong2015.temporal": "hvm",
    "MajajHong2015.temporal.public": "hvm-public",
    "MajajHong2015.temporal.private": "hvm-private",
    "MajajHong2015.temporal-10ms": "hvm",
}


@pytest.mark.parametrize("identifier", STIMULI)
def test_loads_from_storage(s3_server, identifier):
    with serve_stand_ins(identifier):
        assembly = load_dataset(identifier)
        assert assembly.stimulus_set.equals(load_stimulus_set(STIMULI[identifier]))
    expected = stand_in(identifier)
    assert type(assembly) is NeuronRecordingAssembly
    assert assembly.dims == expected.dims
    np.testing.assert_array_equal(assembly.values, expected.values)
    assert assembly.attrs["stimulus_set_identifier"] == STIMULI[identifier]
    assert set(expected.coords) <= set(assembly.coords)
    path = assembly.stimulus_set.get_stimulus(assembly["stimulus_id"].values[0])
    assert path.is_file()


@pytest.mark.network
def test_published_public():
    assembly = load_dataset("MajajHong2015.public")
    assert set(assembly["region"].values) == {"V4", "IT"}
    assert len(assembly.stimulus_set) == 3200


@pytest.mark.private_access
@pytest.mark.parametrize(("region", "neuroids"), [("V4", 88), ("IT", 168)])
def test_published_private(region, neuroids):
    from brainscore_vision.benchmarks.majajhong2015.benchmark import load_assembly

    assembly = load_assembly(average_repetitions=True, region=region)
    assert dict(assembly.sizes) == {"presentation": 2560, "neuroid": neuroids}
    assert assembly.attrs["stimulus_set_identifier"] == "hvm-private"
