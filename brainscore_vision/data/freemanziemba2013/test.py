import numpy as np
import pytest

from brainscore_core.supported_data_standards.brainio.assemblies import NeuronRecordingAssembly
from brainscore_vision import load_dataset, load_stimulus_set
from brainscore_vision.testing import serve_stand_ins, stand_in

STIMULI = {
    "FreemanZiemba2013": "FreemanZiemba2013.aperture",
    "FreemanZiemba2013.public": "FreemanZiemba2013.aperture-public",
    "FreemanZiemba2013.private": "FreemanZiemba2013.aperture-private",
    "FreemanZiemba2013.noaperture": "FreemanZiemba2013",
    "FreemanZiemba2013.noaperture.public": "FreemanZiemba2013.public",
    "FreemanZiemba2013.noaperture.private": "FreemanZiemba2013.private",
}
ACCESS = [
    pytest.param("FreemanZiemba2013.public", marks=pytest.mark.network),
    pytest.param("FreemanZiemba2013.private", marks=pytest.mark.private_access),
]


@pytest.mark.parametrize("identifier", STIMULI)
def test_loads_from_storage(s3_server, identifier):
    with serve_stand_ins(identifier):
        assembly = load_dataset(identifier)
        assert assembly.stimulus_set.equals(load_stimulus_set(STIMULI[identifier]))
    expected = stand_in(identifier)
    assert type(assembly) is NeuronRecordingAssembly
    np.testing.assert_array_equal(assembly.values, expected.values)
    assert assembly.attrs["stimulus_set_identifier"] == STIMULI[identifier]
    assert set(assembly["texture_type"].values) == {"noise", "texture"}
    # both regions saw the same
    assert set(assembly["region"].values) == {"V1", "V2"}


@pytest.mark.parametrize("identifier", ACCESS)
def test_published_neurons(identifier):
    assembly = load_dataset(identifier)
    regions = list(assembly["region"].values)
    assert (regions.count("V1"), regions.count("V2")) == (102, 103)
    assert np.count_nonzero(assembly.values) > 0


@pytest.mark.private_access
@pytest.mark.parametrize(("region", "neuroids"), [("V1", 102), ("V2", 103)])
def test_published_private(region, neuroids):
    from brainscore_vision.benchmarks.freemanziemba2013.benchmarks.benchmark import load_assembly

    assembly = load_assembly(average_repetitions=True, region=region)
    assert dict(assembly.sizes) == {"presentation": 315, "neuroid": neuroids}
    assert assembly.attrs["stimulus_set_identifier"] == "FreemanZiemba2013.aperture-private"


@pytest.mark.parametrize(
    ("identifier", "stimulus_id", "gray"),
    [
        pytest.param(
            "FreemanZiemba2013.aperture-public",
            "21041db1f26c142812a66277c2957fb3e2070916",
            31756,
            marks=pytest.mark.network,
        ),
        pytest.param(
            "FreemanZiemba2013.aperture-private",
            "bfd26c127f8ba028cc95cdc95f00c45c8884b365",
            31585,
            marks=pytest.mark.private_access,
        ),
    ],
)
def test_published_aperture(identifier, stimulus_id, gray):
    from PIL import Image

    image = np.asarray(Image.open(load_stimulus_set(identifier).get_stimulus(stimulus_id)).convert("RGB"))
    assert (image == 128).all(axis=2).sum() == gray
