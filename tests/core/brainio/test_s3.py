import hashlib
import os
import threading
import time
import zipfile
from concurrent.futures import ThreadPoolExecutor

import pytest

from brainscore_core.errors import UserError
from brainscore_core.supported_data_standards.brainio import downloads
from brainscore_core.supported_data_standards.brainio.assemblies import NeuroidAssembly
from brainscore_core.supported_data_standards.brainio.fetch import (
    AccessDenied,
    FetchError,
    HashMismatch,
    IncompleteDownload,
    NotFound,
    Offline,
    SeveralUnavailable,
    StorageError,
    UnverifiedFileWarning,
    fetch_all,
)
from brainscore_core.supported_data_standards.brainio.netcdf import write_netcdf
from brainscore_core.supported_data_standards.brainio.remote_files import object_request
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
            ("brainio.requested", "a.nc", "https://s3.amazonaws.com/brainio.requested/a.nc"),
        ],
    )
    def test_amazon(self, cache, bucket, key, url):
        assert object_request(bucket, key, sha1=sha1(b""), version_id=None).url == url

    def test_endpoint(self, cache, monkeypatch):
        monkeypatch.setenv("AWS_ENDPOINT_URL", "http://localhost:9000/")
        assert (
            object_request("store/one", "a.nc", sha1=sha1(b""), version_id=None).url
            == "http://localhost:9000/store/one/a.nc"
        )


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

    def test_no_prefix_given_is_the_usual_one(self, bucket):
        assert len(load_stimuli(bucket, filename_prefix=None)) == 2

    def test_both_files_are_private(self, bucket, monkeypatch):
        for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_PROFILE"):
            monkeypatch.delenv(name, raising=False)
        for name in ("AWS_CONFIG_FILE", "AWS_SHARED_CREDENTIALS_FILE"):
            monkeypatch.setenv(name, os.devnull)
        monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
        for extension in ("csv", "zip"):
            path = f"/{BUCKET}/stimulus_MyExperiment2024_all.{extension}"
            bucket.answers[path] = lambda handler: handler.send_error(403)
        with pytest.raises(SeveralUnavailable, match=r"(?s)2 of 2 files.*data are private") as caught:
            load_stimuli(bucket)
        assert [type(error) for error in caught.value.errors] == [AccessDenied] * 2

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

    def test_a_hash_is_needed(self, bucket):
        with pytest.raises(UserError, match=r"no hash is given for http.*assy_MyExperiment2024_all\.nc"):
            load_assembly_from_s3("MyExperiment2024.all", None, None, BUCKET, NeuroidAssembly)
        with pytest.raises(UserError, match=r"no hash is given for http.*stimulus_MyExperiment2024_all\.csv"):
            load_stimulus_set_from_s3("MyExperiment2024.all", BUCKET, None, None)


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

    def test_without_a_hash(self, bucket, cache, tmp_path):
        bucket.files["/store/labels.json"] = b"{}"
        with pytest.warns(UnverifiedFileWarning, match=f"labels.json has sha1 {sha1(b'{}')}"):
            path = load_file_from_s3("store", "labels.json")
        assert path == cache / hashlib.sha256(b"{}").hexdigest() / "labels.json"
        bucket.files["/store/labels.json"] = b"replaced"
        with pytest.warns(UnverifiedFileWarning):
            assert load_file_from_s3("store", "labels.json", tmp_path / "mine").read_bytes() == b"{}"
        assert len(bucket.requested) == 1
        path.unlink()
        with pytest.raises(HashMismatch, match=r"the hash of the first copy is required"):
            load_file_from_s3("store", "labels.json")

    def test_a_broken_record_holds_to_nothing(self, bucket, cache):
        bucket.files["/store/labels.json"] = b"{}"
        with pytest.warns(UnverifiedFileWarning):
            load_file_from_s3("store", "labels.json")
        (record,) = cache.glob("unpinned/*/record.json")
        record.write_text("[")
        bucket.files["/store/labels.json"] = b"other"
        with pytest.warns(UnverifiedFileWarning):
            assert load_file_from_s3("store", "labels.json").read_bytes() == b"other"

    def test_several_ask_at_once_without_a_hash(self, bucket, cache):
        bucket.files["/store/labels.json"] = b"{}"
        start = threading.Barrier(4)

        def load(_):
            start.wait()
            return fetch_all([object_request("store", "labels.json", sha1=None, version_id=None)])[0]

        with ThreadPoolExecutor(4) as pool:
            paths = set(pool.map(load, range(4)))
        assert paths == {cache / hashlib.sha256(b"{}").hexdigest() / "labels.json"}
        assert len(bucket.requested) == 1

    def test_offline_without_a_hash(self, cache, monkeypatch):
        monkeypatch.setenv("AWS_ENDPOINT_URL", "http://127.0.0.1:9")
        monkeypatch.setattr(downloads, "PAUSE", 0.01)
        with pytest.raises(Offline, match="a file of unknown hash"):
            load_file_from_s3("store", "labels.json")

    def test_target_cannot_be_written(self, bucket, tmp_path):
        bucket.files["/store/labels.json"] = b"{}"
        (tmp_path / "occupied").write_text("")
        with pytest.raises(StorageError):
            load_file_from_s3("store", "labels.json", tmp_path / "occupied" / "labels.json", sha1=sha1(b"{}"))


class TestSigned:
    """Requests without a signature are denied; those with one are answered by `answer`."""

    @pytest.fixture
    def private(self, bucket, monkeypatch):
        pytest.importorskip("boto3")
        monkeypatch.setenv("AWS_ACCESS_KEY_ID", "testing")
        monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "testing")
        monkeypatch.setenv("AWS_DEFAULT_REGION", "us-east-1")
        signed = []

        def serve(path, answer):
            def handle(handler):
                if "Authorization" not in handler.headers:
                    handler.send_error(403)
                else:
                    signed.append(handler.path)
                    answer(handler)

            bucket.answers[path] = handle
            return signed

        return serve

    def refuse(self, bucket, status, code):
        body = f"<Error><Code>{code}</Code><Message>No.</Message></Error>".encode()
        return lambda handler: bucket.send(handler, body, status=status, headers=[("Content-Type", "application/xml")])

    def test_version_and_hash(self, bucket, private, cache):
        signed = private("/store/a.bin", lambda handler: bucket.send(handler, b"body"))
        path = load_file_from_s3("store", "a.bin", sha1=sha1(b"body"), version_id="v1")
        assert path == cache / sha1(b"body") / "a.bin"
        assert ["versionId=v1" in one for one in signed] == [True]
        assert load_file_from_s3("store", "a.bin", sha1=sha1(b"body"), version_id="v1") == path
        assert len(signed) == 1

    def test_cut_connections_are_tried_again(self, bucket, private):
        body = b"0123456789" * 1000

        def cut(handler):
            if len(signed) < 3:
                bucket.send(handler, body[:5000], length=len(body))
                handler.close_connection = True
            else:
                bucket.send(handler, body)

        signed = private("/store/a.bin", cut)
        assert load_file_from_s3("store", "a.bin", sha1=sha1(body)).read_bytes() == body
        assert len(signed) == 3

    def test_always_cut(self, bucket, private, cache):
        def cut(handler):
            bucket.send(handler, b"half", length=8)
            handler.close_connection = True

        signed = private("/store/a.bin", cut)
        with pytest.raises(IncompleteDownload, match="was interrupted"):
            load_file_from_s3("store", "a.bin", sha1=sha1(b"halfhalf"))
        assert len(signed) == downloads.ATTEMPTS
        assert [path for path in cache.rglob("*") if path.is_file()] == []

    def test_busy_server(self, bucket, private):
        def busy(handler):
            if len(signed) < 2:
                self.refuse(bucket, 503, "SlowDown")(handler)
            else:
                bucket.send(handler, b"body")

        signed = private("/store/a.bin", busy)
        assert load_file_from_s3("store", "a.bin", sha1=sha1(b"body")).read_bytes() == b"body"

    @pytest.mark.parametrize(
        ("status", "code", "error", "message"),
        [
            (403, "AccessDenied", AccessDenied, "the AWS credentials of this machine have no access"),
            (403, "InvalidAccessKeyId", AccessDenied, "does not accept the AWS credentials"),
            (400, "ExpiredToken", AccessDenied, "(?s)does not accept the AWS credentials.*Renew"),
            (403, "RequestTimeTooSkewed", AccessDenied, "(?s)does not accept the AWS credentials.*clock"),
            (404, "NoSuchKey", NotFound, "404 NoSuchKey"),
            (400, "InvalidArgument", FetchError, "400 InvalidArgument"),
        ],
    )
    def test_refused(self, bucket, private, cache, status, code, error, message):
        signed = private("/store/a.bin", self.refuse(bucket, status, code))
        with pytest.raises(error, match=message) as caught:
            load_file_from_s3("store", "a.bin", sha1=sha1(b"body"))
        assert type(caught.value) is error
        assert bucket.url("/store/a.bin") in str(caught.value)
        assert len(signed) == 1
        assert [path for path in cache.rglob("*") if path.is_file()] == []

    @pytest.mark.slow(reason="starts processes")
    def test_another_process_waits(self, bucket, private, cache, fork):
        """Two processes want the same private object: it is asked for once with a signature."""

        def slowly(handler):
            started.set()
            time.sleep(0.5)
            bucket.send(handler, b"body")

        started = threading.Event()
        signed = private("/store/a.bin", slowly)

        def load():
            path = load_file_from_s3("store", "a.bin", sha1=sha1(b"body"))
            assert path == cache / sha1(b"body") / "a.bin"

        first = fork(load)
        assert started.wait(60)
        assert load_file_from_s3("store", "a.bin", sha1=sha1(b"body")).read_bytes() == b"body"
        first.join(60)
        assert first.exitcode == 0
        assert len(signed) == 1


def test_sha1_hash(tmp_path):
    (tmp_path / "a").write_bytes(b"The quick brown fox jumps over the lazy dog")
    assert sha1_hash(tmp_path / "a") == "2fd4e1c67a2d28fced849ee1bb76e7391b93eb12"
    assert sha1_hash(str(tmp_path / "a")) == sha1_hash(tmp_path / "a")


class TestHashes:
    """Loaders take a sha1, a sha256, or both."""

    def stimuli(self, **hashes):
        return load_stimulus_set_from_s3(identifier="MyExperiment2024.all", bucket=BUCKET, **hashes)

    def assembly(self, **more):
        return load_assembly_from_s3(
            identifier="MyExperiment2024.all", bucket=BUCKET, cls=NeuroidAssembly, stimulus_set_loader=None, **more
        )

    def test_sha256(self, bucket):
        held = {kind: bucket.files[f"/{BUCKET}/stimulus_MyExperiment2024_all.{kind}"] for kind in ("csv", "zip")}
        sha256 = {f"{kind}_sha256": hashlib.sha256(body).hexdigest() for kind, body in held.items()}
        assert self.stimuli(**sha256)["stimulus_id"].tolist() == ["a", "b"]
        assert self.stimuli(**sha256, csv_sha1=sha1(TABLE))["stimulus_id"].tolist() == ["a", "b"]
        with pytest.raises(HashMismatch, match="expected sha256:0000"):
            self.stimuli(**{**sha256, "csv_sha256": "0" * 64})
        with pytest.raises(UserError, match="pass csv_sha1 or csv_sha256"):
            self.stimuli(zip_sha256=sha256["zip_sha256"])
        body = bucket.files[f"/{BUCKET}/assy_MyExperiment2024_all.nc"]
        assert self.assembly(sha256=hashlib.sha256(body).hexdigest()).shape == (2, 1)
        path = load_file_from_s3(BUCKET, "assy_MyExperiment2024_all.nc", sha256=hashlib.sha256(body).hexdigest())
        assert path.read_bytes() == body

    @pytest.mark.parametrize(
        ("arguments", "message"),
        [
            ({}, "pass sha1 or sha256"),
            ({"sha256": "0" * 40}, "a sha256 has 64 hexadecimal digits"),
        ],
    )
    def test_wrong_arguments_are_named(self, arguments, message):
        with pytest.raises(UserError, match=message):
            self.assembly(**arguments)

    def test_missing_arguments_are_named(self):
        with pytest.raises(UserError, match="lacks bucket"):
            load_assembly_from_s3("MyExperiment2024.all", sha1="0" * 40)
