"""Packaging with a catalog, in the signatures of the first tutorial, and loading by name."""

import numpy as np
import pytest
from PIL import Image

import brainio
from brainio.assemblies import BehavioralAssembly
from brainio.packaging import package_data_assembly, package_stimulus_set
from brainio.stimuli import StimulusSet
from brainscore_core.errors import UserError

NAME = "Pets2024"
BUCKET = "brainio-contrib"


@pytest.fixture
def store(s3_server, monkeypatch, tmp_path):
    """A versioned bucket, and the catalog that the packages are added to."""
    boto3 = pytest.importorskip("boto3")
    client = boto3.client("s3", endpoint_url=s3_server)
    client.create_bucket(Bucket=BUCKET)
    client.put_bucket_versioning(Bucket=BUCKET, VersioningConfiguration={"Status": "Enabled"})
    monkeypatch.setenv("BRAINIO_HOME", str(tmp_path / "cache"))
    monkeypatch.setenv("BRAINIO_CATALOGS", str(tmp_path / "lab" / "lookup.csv"))
    return tmp_path / "lab" / "lookup.csv"


@pytest.fixture
def stimuli(tmp_path):
    made = StimulusSet([{"stimulus_id": one, "animal": one[:3]} for one in ("cat1", "dog1")])
    for number, one in enumerate(made["stimulus_id"]):
        made.stimulus_paths[one] = tmp_path / f"{one}.png"
        Image.new("RGB", (5, 5), (number, 0, 0)).save(made.stimulus_paths[one])
    made.name = NAME
    return made


def choices(*values):
    return BehavioralAssembly(
        list(values), coords={"stimulus_id": ("presentation", ["dog1", "cat1"])}, dims=["presentation"]
    )


def test_what_is_packaged_is_listed_and_loads(store, stimuli):
    package_stimulus_set(store, stimuli, NAME, bucket_name=BUCKET)
    package_data_assembly(store, choices("dog", "dog"), f"{NAME}.adults", NAME, "BehavioralAssembly", BUCKET)
    assert {NAME} <= set(brainio.list_stimulus_sets())
    assert {f"{NAME}.adults"} <= set(brainio.list_assemblies())
    assembly = brainio.get_assembly(f"{NAME}.adults")
    np.testing.assert_array_equal(assembly["animal"], ["dog", "cat"])
    assert assembly.attrs["stimulus_set"].get_stimulus("cat1").read_bytes() == stimuli.get_stimulus("cat1").read_bytes()


def test_again(store, stimuli):
    for _ in range(2):
        package_stimulus_set(str(store), stimuli, NAME, bucket_name=BUCKET)
    assert len(brainio.lookup.combined_catalog()) == 2


def test_another_of_the_same_name(store, stimuli):
    package_data_assembly(store, choices("dog", "dog"), NAME, NAME, "BehavioralAssembly", BUCKET)
    before = store.read_bytes()
    other = choices("cat", "cat")
    with pytest.raises(UserError, match=f"already has the assembly '{NAME}'"):
        package_data_assembly(store, other, NAME, NAME, "BehavioralAssembly", BUCKET)
    assert store.read_bytes() == before
    package_data_assembly(store, other, NAME, NAME, "BehavioralAssembly", BUCKET, overwrite=True)
    package_stimulus_set(store, stimuli, NAME, bucket_name=BUCKET)
    assert brainio.get_assembly(NAME).values.tolist() == ["cat", "cat"]


def test_an_unknown_catalog(store, stimuli):
    package_stimulus_set(store, stimuli, NAME, bucket_name=BUCKET)
    stimuli.name = "Pets2025"
    with pytest.raises(UserError, match="unknown catalog 'laboratory'"):
        package_stimulus_set("laboratory", stimuli, "Pets2025", bucket_name=BUCKET)
