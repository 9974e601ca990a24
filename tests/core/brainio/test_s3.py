import hashlib
import zipfile

import pytest

from brainscore_core.errors import UserError
from brainscore_core.supported_data_standards.brainio import s3
from brainscore_core.supported_data_standards.brainio.assemblies import NeuroidAssembly
from brainscore_core.supported_data_standards.brainio.fetch import AccessDenied, HashMismatch, StorageError
from brainscore_core.supported_data_standards.brainio.netcdf import write_netcdf
from brainscore_core.supported_data_standards.brainio.s3 import (
    load_assembly_from_s3,
    load_file_from_s3,
    load_stimulus_set_from_s3,
    sha1_hash,
)

BUCKET = "brainscore-storage/brainscore-vision/data"
TABLE = b"stimulus_id,filename,category\na,a.png,cat\nb,b.png,dog\n"


def sha1(body):
    return hashlib.sha1(body).hexdigest()


@pytest.fixture
def bucket(web, tmp_path, monkeypatch):
    """Objects of MyExperiment2024.all, in several versions."""
    monkeypatch.setenv("AWS_ENDPOINT_URL", web.url("/"))
    with zipfile.ZipFile(tmp_path / "a.zip", "w") as store:
        store.writestr("a.png", "cat")
        store.writestr("b.png", "dog")
    assembly = NeuroidAssembly(
        [[1.0], [2.0]],
        coords={
            "stimulus_id": ("presentation", ["b", "a"]),
            "repetition": ("presentation", [0, 0]),
            "neuroid_id": ("neuroid", ["n"]),
            "region": ("neuroid", ["IT"]),
        },
        dims=["presentation", "neuroid"],
    )
    write_netcdf(assembly, tmp_path / "a.nc")
    web.files[f"/{BUCKET}/stimulus_MyExperiment2024_all.csv"] = TABLE
    web.files[f"/{BUCKET}/stimulus_MyExperiment2024_all.zip"] = (tmp_path / "a.zip").read_bytes()
    web.files[f"/{BUCKET}/assy_MyExperiment2024_all.nc"] = (tmp_path / "a.nc").read_bytes()
    return web


def load_stimuli(bucket, **options):
    return load_stimulus_set_from_s3(
        identifier="MyExperiment2024.all",
        bucket=BUCKET,
        csv_sha1=sha1(TABLE),
        zip_sha1=sha1(bucket.files[f"/{BUCKET}/stimulus_MyExperiment2024_all.zip"]),
        **options,
    )


class TestAddress:
    @pytest.mark.parametrize(
        ("bucket", "key", "url"),
        [
            ("brainscore-storage", "a.nc", "https://brainscore-storage.s3.amazonaws.com/a.nc"),
            ("store/one/two/", "/a b.nc", "https://store.s3.amazonaws.com/one/two/a%20b.nc"),
        ],
    )
    def test_amazon(self, cache, bucket, key, url):
        assert s3._object_url(bucket, key) == url

    def test_endpoint(self, cache, monkeypatch):
        monkeypatch.setenv("AWS_ENDPOINT_URL", "http://localhost:9000/")
        assert s3._object_url("store/one", "a.nc") == "http://localhost:9000/store/one/a.nc"


class TestStimulusSet:
    def test_as_registered(self, bucket, cache):
        stimulus_set = load_stimuli(bucket, csv_version_id="v1", zip_version_id="v2", filename_prefix="stimulus_")
        assert stimulus_set.identifier == "MyExperiment2024.all"
        assert stimulus_set.get_stimulus("b").read_text() == "dog"
        assert sorted(bucket.requested) == [
            f"/{BUCKET}/stimulus_MyExperiment2024_all.csv?versionId=v1",
            f"/{BUCKET}/stimulus_MyExperiment2024_all.zip?versionId=v2",
        ]
        zip_sha1 = sha1(bucket.files[f"/{BUCKET}/stimulus_MyExperiment2024_all.zip"])
        assert stimulus_set.get_stimulus("a") == cache / zip_sha1 / "stimulus_MyExperiment2024_all" / "a.png"

    def test_prefix(self, bucket):
        bucket.files = {path.replace("stimulus_", "image_"): body for path, body in bucket.files.items()}
        zip_sha1 = sha1(bucket.files[f"/{BUCKET}/image_MyExperiment2024_all.zip"])
        options = {"csv_sha1": sha1(TABLE), "zip_sha1": zip_sha1, "filename_prefix": "image_"}
        assert len(load_stimulus_set_from_s3("MyExperiment2024.all", BUCKET, **options)) == 2

    def test_latest_version(self, bucket):
        load_stimuli(bucket)
        assert not any("?" in path for path in bucket.requested)

    def test_archive_of_something_else(self, bucket, tmp_path):
        with zipfile.ZipFile(tmp_path / "other.zip", "w") as store:
            store.writestr("a.png", "cat")
            store.writestr("c.png", "cow")
        bucket.files[f"/{BUCKET}/stimulus_MyExperiment2024_all.zip"] = (tmp_path / "other.zip").read_bytes()
        with pytest.raises(UserError, match=r"'b.png'.*'c.png'"):
            load_stimuli(bucket)


class TestAssembly:
    def load(self, bucket, **options):
        return load_assembly_from_s3(
            identifier="MyExperiment2024.all",
            version_id="yusgi5",
            sha1=sha1(bucket.files[f"/{BUCKET}/assy_MyExperiment2024_all.nc"]),
            bucket=BUCKET,
            cls=NeuroidAssembly,
            **options,
        )

    def test_as_registered(self, bucket):
        calls = []

        def stimuli():
            calls.append(1)
            return load_stimuli(bucket)

        assembly = self.load(bucket, stimulus_set_loader=stimuli)
        assert calls == [1]
        assert assembly.identifier == "MyExperiment2024.all"
        assert assembly.stimulus_set.identifier == "MyExperiment2024.all"
        assert assembly.stimulus_set_identifier == "MyExperiment2024.all"
        assert list(assembly["category"].values) == ["dog", "cat"]
        assert set(assembly["stimulus_id"].values).issubset(set(assembly.stimulus_set["stimulus_id"].values))
        assert f"/{BUCKET}/assy_MyExperiment2024_all.nc?versionId=yusgi5" in bucket.requested

    def test_without_stimuli(self, bucket):
        assembly = self.load(bucket)
        assert "stimulus_set" not in assembly.attrs

    def test_not_merged(self, bucket):
        assembly = self.load(bucket, stimulus_set_loader=lambda: load_stimuli(bucket), merge_stimulus_set_meta=False)
        assert "category" not in assembly.coords
        assert assembly.stimulus_set_identifier == "MyExperiment2024.all"

    def test_private(self, bucket):
        bucket.answers[f"/{BUCKET}/assy_MyExperiment2024_all.nc"] = lambda handler: handler.send_error(403)
        with pytest.raises(AccessDenied, match=r"data are private.*credentials is not supported yet"):
            self.load(bucket)


class TestFile:
    def test_in_the_cache(self, bucket, cache):
        bucket.files["/store/x/labels.json"] = b"{}"
        path = load_file_from_s3("store/x", "labels.json", sha1=sha1(b"{}"), version_id="1")
        assert path == cache / sha1(b"{}") / "labels.json"
        assert bucket.requested == ["/store/x/labels.json?versionId=1"]

    def test_to_a_path(self, bucket, tmp_path):
        bucket.files["/store/x/labels.json"] = b"{}"
        target = tmp_path / "new" / "labels.json"
        for _ in range(2):
            assert load_file_from_s3("store", "x/labels.json", target, sha1=sha1(b"{}")) == target
        assert target.read_bytes() == b"{}"
        assert len(bucket.requested) == 1

    def test_an_existing_file_is_not_trusted(self, bucket, tmp_path):
        bucket.files["/store/labels.json"] = b"{}"
        target = tmp_path / "labels.json"
        target.write_text("outdated")
        load_file_from_s3("store", "labels.json", target, sha1=sha1(b"{}"))
        assert target.read_bytes() == b"{}"

    def test_a_bad_file_replaces_nothing(self, bucket, tmp_path):
        bucket.files["/store/labels.json"] = b"bad"
        target = tmp_path / "labels.json"
        target.write_text("mine")
        with pytest.raises(HashMismatch):
            load_file_from_s3("store", "labels.json", target, sha1=sha1(b"{}"))
        assert target.read_text() == "mine"

    def test_a_hash_is_needed(self, bucket):
        with pytest.raises(UserError, match="no hash"):
            load_file_from_s3("store", "labels.json")

    def test_target_cannot_be_written(self, bucket, tmp_path):
        bucket.files["/store/labels.json"] = b"{}"
        (tmp_path / "occupied").write_text("")
        with pytest.raises(StorageError):
            load_file_from_s3("store", "labels.json", tmp_path / "occupied" / "labels.json", sha1=sha1(b"{}"))


def test_sha1_hash(tmp_path):
    (tmp_path / "a").write_bytes(b"The quick brown fox jumps over the lazy dog")
    assert sha1_hash(tmp_path / "a") == "2fd4e1c67a2d28fced849ee1bb76e7391b93eb12"
    assert sha1_hash(str(tmp_path / "a")) == sha1_hash(tmp_path / "a")
