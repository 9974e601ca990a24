"""Loading from and uploading to a server that speaks S3, keeps versions and knows what is private."""

import hashlib
import json
import sys
import threading
import warnings

import numpy as np
import pytest
from PIL import Image

from brainscore_core.errors import UserError
from brainscore_core.supported_data_standards.brainio import buckets, s3
from brainscore_core.supported_data_standards.brainio.assemblies import BehavioralAssembly, NeuroidAssembly
from brainscore_core.supported_data_standards.brainio.fetch import (
    AccessDenied,
    HashMismatch,
    NotFound,
    UnverifiedFileWarning,
)
from brainscore_core.supported_data_standards.brainio.packaging import (
    AlreadyThere,
    NoCredentials,
    PublicAccessWarning,
    UploadError,
    package_data_assembly,
    package_data_assembly_locally,
    package_stimulus_set,
    package_stimulus_set_locally,
    upload_to_s3,
)
from brainscore_core.supported_data_standards.brainio.stimuli import StimulusSet
from brainscore_core.supported_data_standards.brainio.validation import ValidationError, ValidationWarning

BUCKET = "store/brainscore-vision/data/user_1"
NAME = "MyExperiment2024.part"


def sha1(body):
    return hashlib.sha1(body).hexdigest()


@pytest.fixture
def store(cache, s3_server, monkeypatch):
    """A client of the server, which has one bucket with versions."""
    boto3 = pytest.importorskip("boto3")
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
    client = boto3.client("s3", endpoint_url=s3_server)
    client.create_bucket(Bucket="store")
    client.put_bucket_versioning(Bucket="store", VersioningConfiguration={"Status": "Enabled"})
    return client


@pytest.fixture
def nobody(monkeypatch):
    """Calling it takes the credentials away."""

    def leave():
        for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_PROFILE", "AWS_SESSION_TOKEN"):
            monkeypatch.delenv(name, raising=False)

    return leave


def put(client, key, body, *, acl="public-read"):
    return client.put_object(Bucket="store", Key=key, Body=body, ACL=acl).get("VersionId")


def make_stimuli(folder, shade=0):
    folder.mkdir(parents=True, exist_ok=True)
    ids = ["a", "b", "c"]
    for number, one in enumerate(ids):
        Image.new("L", (4, 4), shade + number).save(folder / f"{one}.png")
    stimuli = StimulusSet({"stimulus_id": ids, "shade": [shade, shade + 1, shade + 2]})
    stimuli.stimulus_paths = {one: folder / f"{one}.png" for one in ids}
    stimuli.name = NAME
    return stimuli


def make_assembly(offset=0.0):
    return NeuroidAssembly(
        np.arange(6.0).reshape(3, 2) + offset,
        coords={
            "stimulus_id": ("presentation", ["c", "a", "b"]),
            "repetition": ("presentation", [0, 0, 0]),
            "neuroid_id": ("neuroid", ["n1", "n2"]),
            "region": ("neuroid", ["V4", "IT"]),
        },
        dims=["presentation", "neuroid"],
    )


def load_stimuli(package, **changes):
    return s3.load_stimulus_set_from_s3(**package | changes)


def shades(stimuli):
    return [int(np.asarray(Image.open(stimuli.get_stimulus(one)))[0, 0]) for one in stimuli["stimulus_id"]]


class TestRoundTrip:
    def test_stimuli_and_measurements_come_back_equal(self, store, tmp_path):
        stimuli, assembly = make_stimuli(tmp_path / "stimuli", 10), make_assembly()
        packaged = package_stimulus_set(
            catalog_name=None, proto_stimulus_set=stimuli, stimulus_set_identifier=stimuli.name, bucket_name=BUCKET
        )
        measured = package_data_assembly(
            proto_data_assembly=assembly,
            assembly_identifier=NAME,
            stimulus_set_identifier=stimuli.name,
            assembly_class_name="NeuroidAssembly",
            bucket_name=BUCKET,
            catalog_identifier=None,
        )
        loaded = s3.load_assembly_from_s3(
            **measured, stimulus_set_loader=lambda: s3.load_stimulus_set_from_s3(**packaged)
        )
        np.testing.assert_array_equal(loaded.values, assembly.values)
        for coordinate in ("stimulus_id", "repetition", "neuroid_id", "region"):
            assert list(loaded[coordinate].values) == list(assembly[coordinate].values)
        assert list(loaded["shade"].values) == [12, 10, 11]
        assert shades(loaded.stimulus_set) == [10, 11, 12]
        assert loaded.stimulus_set.drop(columns="filename").equals(stimuli)

    def test_what_a_registration_needs(self, store, tmp_path):
        stimuli = make_stimuli(tmp_path / "stimuli")
        here = package_stimulus_set_locally(stimuli, NAME, downloads_path=tmp_path / "here")
        there = package_stimulus_set(None, stimuli, NAME, f"{BUCKET}/")
        versions = {
            kind: store.head_object(
                Bucket="store", Key=f"brainscore-vision/data/user_1/stimulus_MyExperiment2024_part.{kind}"
            )["VersionId"]
            for kind in ("csv", "zip")
        }
        assert there == {
            "identifier": NAME,
            "bucket": BUCKET,
            "csv_sha1": here["csv_sha1"],
            "zip_sha1": here["zip_sha1"],
            "csv_version_id": versions["csv"],
            "zip_version_id": versions["zip"],
        }
        local = package_data_assembly_locally(make_assembly(), NAME, NAME, "NeuroidAssembly", tmp_path / "here")
        uploaded = package_data_assembly(None, make_assembly(), NAME, NAME, "NeuroidAssembly", BUCKET)
        key = "brainscore-vision/data/user_1/assy_MyExperiment2024_part.nc"
        assert uploaded == {
            "identifier": NAME,
            "version_id": store.head_object(Bucket="store", Key=key)["VersionId"],
            "sha1": local["sha1"],
            "bucket": BUCKET,
            "cls": "NeuroidAssembly",
        }

    def test_stimuli_without_files(self, store):
        words = StimulusSet({"stimulus_id": ["w1", "w2"], "word": ["cat", "dog"]})
        with pytest.warns(UserWarning, match="stimulus_paths"):
            package = package_stimulus_set(
                proto_stimulus_set=words, stimulus_set_identifier="Words2024", bucket_name="store"
            )
        assert (package["zip_sha1"], package["zip_version_id"]) == (None, None)
        assert list(load_stimuli(package)["word"]) == ["cat", "dog"]

    def test_a_forgotten_archive_is_noticed(self, store, tmp_path):
        package = package_stimulus_set(None, make_stimuli(tmp_path / "stimuli"), NAME, BUCKET)
        with pytest.raises(UserError, match="lists files, but zip_sha1 is None"):
            load_stimuli(package, zip_sha1=None)

    def test_extras_and_reasons_for_missing_values(self, store):
        assembly = make_assembly()
        assembly.values[0, 0] = np.nan
        with pytest.raises(ValidationError, match="NaN"):
            package_data_assembly(None, assembly, NAME, None, "NeuroidAssembly", "store")
        package = package_data_assembly(
            None, assembly, NAME, None, "NeuroidAssembly", "store", {"noise": make_assembly(1.0)}, allow_nan="lost"
        )
        loaded = s3.load_assembly_from_s3(NAME, package["version_id"], package["sha1"], "store", NeuroidAssembly)
        assert np.isnan(loaded.values[0, 0])
        assert loaded.attrs["nan_allowed"] == "lost"

    def test_default_class(self, store):
        package = package_data_assembly(
            proto_data_assembly=make_assembly(),
            assembly_identifier=NAME,
            stimulus_set_identifier=None,
            bucket_name="store",
        )
        assert package["cls"] == "NeuroidAssembly"

    def test_choices_as_in_older_scripts(self, store):
        assembly = BehavioralAssembly(
            ["dog", "cat"],
            coords={
                "stimulus_id": ("presentation", ["image1", "image2"]),
                "sample_object": ("presentation", ["dog", "cat"]),
            },
            dims=["presentation"],
        )
        with pytest.warns(ValidationWarning, match="does not have the form AuthorYear"):
            package = package_data_assembly(
                proto_data_assembly=assembly,
                assembly_identifier="lab.Doe2024",
                stimulus_set_identifier="lab.Doe2024",
                assembly_class_name="BehavioralAssembly",
                bucket_name="store",
                catalog_identifier=None,
            )
        loaded = s3.load_assembly_from_s3(
            "lab.Doe2024", package["version_id"], package["sha1"], package["bucket"], BehavioralAssembly
        )
        assert list(loaded.values) == ["dog", "cat"]


class TestVersions:
    def test_overwritten_data_still_load_by_their_versions(self, store, tmp_path):
        first = package_stimulus_set(None, make_stimuli(tmp_path / "one", 10), NAME, BUCKET)
        second = package_stimulus_set(None, make_stimuli(tmp_path / "two", 50), NAME, BUCKET, overwrite=True)
        assert shades(load_stimuli(first)) == [10, 11, 12]
        assert shades(load_stimuli(second)) == [50, 51, 52]

        old = package_data_assembly(None, make_assembly(), NAME, NAME, "NeuroidAssembly", BUCKET)
        new = package_data_assembly(None, make_assembly(5.0), NAME, NAME, "NeuroidAssembly", BUCKET, overwrite=True)
        assert old["version_id"] != new["version_id"]
        for package, offset in ((old, 0.0), (new, 5.0)):
            loaded = s3.load_assembly_from_s3(NAME, package["version_id"], package["sha1"], BUCKET, NeuroidAssembly)
            np.testing.assert_array_equal(loaded.values, make_assembly(offset).values)

    def test_the_latest_version_of_an_overwritten_key_is_another_file(self, store, cache):
        put(store, "a.bin", b"old")
        put(store, "a.bin", b"new")
        with pytest.raises(HashMismatch) as caught:
            s3.load_file_from_s3("store", "a.bin", sha1=sha1(b"old"))
        assert (caught.value.expected, caught.value.found) == (f"sha1:{sha1(b'old')}", f"sha1:{sha1(b'new')}")
        assert [path for path in cache.rglob("*") if path.is_file()] == []

    def test_deleted_keys_still_load_by_their_version(self, store):
        version = put(store, "a.bin", b"body")
        store.delete_object(Bucket="store", Key="a.bin")
        with pytest.raises(NotFound):
            s3.load_file_from_s3("store", "a.bin", sha1=sha1(b"body"))
        assert s3.load_file_from_s3("store", "a.bin", sha1=sha1(b"body"), version_id=version).read_bytes() == b"body"


class TestPrivate:
    def test_without_credentials(self, store, nobody, cache):
        put(store, "a.bin", b"body", acl="private")
        nobody()
        with pytest.raises(AccessDenied, match="data are private") as caught:
            s3.load_file_from_s3("store", "a.bin", sha1=sha1(b"body"))
        assert "no AWS credentials were found" in caught.value.message
        assert "aws configure" in caught.value.remedy
        assert "BRAINSCORE_MIRROR" in caught.value.remedy
        assert [path for path in cache.rglob("*") if path.is_file()] == []

    def test_with_credentials(self, store, cache):
        version = put(store, "a.bin", b"old", acl="private")
        put(store, "a.bin", b"new", acl="private")
        path = s3.load_file_from_s3("store", "a.bin", sha1=sha1(b"old"), version_id=version)
        assert path.read_bytes() == b"old"
        assert path == cache / sha1(b"old") / "a.bin"

    def test_with_credentials_and_another_hash(self, store, cache):
        put(store, "a.bin", b"body", acl="private")
        with pytest.raises(HashMismatch):
            s3.load_file_from_s3("store", "a.bin", sha1=sha1(b"other"))
        assert [path for path in cache.rglob("*") if path.is_file()] == []

    def test_without_boto3(self, store, monkeypatch):
        put(store, "a.bin", b"body", acl="private")
        put(store, "b.bin", b"public")
        monkeypatch.setitem(sys.modules, "boto3", None)
        assert s3.load_file_from_s3("store", "b.bin", sha1=sha1(b"public")).read_bytes() == b"public"
        with pytest.raises(AccessDenied, match=r"pip install 'brainscore\[s3\]'"):
            s3.load_file_from_s3("store", "a.bin", sha1=sha1(b"body"))

    def test_unusable_credentials(self, store, nobody, monkeypatch):
        put(store, "a.bin", b"body", acl="private")
        nobody()
        monkeypatch.setenv("AWS_PROFILE", "nonexistent")
        with pytest.raises(AccessDenied, match="nonexistent"):
            s3.load_file_from_s3("store", "a.bin", sha1=sha1(b"body"))

    def test_public_data_need_no_credentials(self, store, nobody):
        put(store, "a.bin", b"body")
        nobody()
        assert s3.load_file_from_s3("store", "a.bin", sha1=sha1(b"body")).read_bytes() == b"body"

    def test_several_clients_at_once(self, store, cache):
        body = bytes(range(256)) * 4096
        put(store, "a.bin", body, acl="private")
        found, start = [], threading.Barrier(4)

        def load():
            start.wait()
            found.append(s3.load_file_from_s3("store", "a.bin", sha1=sha1(body)))

        threads = [threading.Thread(target=load) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert found == [cache / sha1(body) / "a.bin"] * 4
        assert found[0].read_bytes() == body
        assert [path for path in cache.rglob("*") if path.is_file()] == [found[0]]


class TestFolder:
    @pytest.fixture
    def files(self, store):
        bodies = {"a.bin": b"a", "deep/b c+d.bin": b"b", "deep/deeper/ü.bin": b"c"}
        for name, body in bodies.items():
            put(store, f"models/x/{name}", body)
        put(store, "models/xy.bin", b"not in the folder")
        store.put_object(Bucket="store", Key="models/x/empty/", Body=b"")
        return bodies

    def test_with_names(self, store, files, tmp_path):
        version = put(store, "models/x/a.bin", b"a2")
        put(store, "models/x/a.bin", b"a3")
        wanted = [("a.bin", version, sha1(b"a2")), ("deep/b c+d.bin", None, sha1(b"b"))]
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            folder = s3.load_folder_from_s3("store", "models/x", wanted, tmp_path / "new")
        assert folder == tmp_path / "new"
        assert (folder / "a.bin").read_bytes() == b"a2"
        assert (folder / "deep" / "b c+d.bin").read_bytes() == b"b"

    def test_all_or_nothing(self, store, files, tmp_path):
        wanted = [("a.bin", None, sha1(b"a")), ("deep/b c+d.bin", None, sha1(b"another"))]
        with pytest.raises(HashMismatch):
            s3.load_folder_from_s3("store", "models/x", wanted, tmp_path / "new")
        assert not (tmp_path / "new").exists()

    @pytest.mark.parametrize("name", ["../a.bin", "/etc/a.bin", "deep/../../a.bin", ""])
    def test_names_outside(self, store, tmp_path, name):
        with pytest.raises(UserError, match="is not a path below a folder"):
            s3.load_folder_from_s3("store", "models", [(name, None, sha1(b""))], tmp_path)


class TestWeights:
    @pytest.fixture
    def home(self, monkeypatch, tmp_path):
        monkeypatch.setenv("BRAINSCORE_HOME", str(tmp_path / "home"))
        monkeypatch.delenv("BRAINSCORE_S3_WEIGHT_FOLDER", raising=False)
        return tmp_path / "home"

    def test_where_they_go(self, store, home, cache):
        version = put(store, "brainscore-vision/models/net/net.pth", b"weights")
        arguments = {"bucket": "store", "folder_name": "brainscore-vision/models", "relative_path": "net/net.pth"}
        for _ in range(2):
            path = s3.load_weight_file(**arguments, version_id=version, sha1=sha1(b"weights"))
            assert path == home / "brainscore-vision" / "models" / "net" / "net.pth"
            assert path.read_bytes() == b"weights"
            store.delete_object(Bucket="store", Key="brainscore-vision/models/net/net.pth", VersionId=version)

    def test_default_folder(self, store, home, monkeypatch):
        put(store, "models/net.pth", b"weights")
        put(store, "others/net.pth", b"others")
        assert s3.load_weight_file("store", "net.pth", None, sha1(b"weights")) == home / "models" / "net.pth"
        monkeypatch.setenv("BRAINSCORE_S3_WEIGHT_FOLDER", "others")
        assert s3.load_weight_file("store", "net.pth", sha1=sha1(b"others")) == home / "others" / "net.pth"

    def test_what_lies_there_is_not_trusted(self, store, home):
        put(store, "models/net.pth", b"weights")
        target = home / "models" / "net.pth"
        target.parent.mkdir(parents=True)
        target.write_bytes(b"outdated")
        assert s3.load_weight_file("store", "net.pth", sha1=sha1(b"weights")).read_bytes() == b"weights"
        target.unlink()
        target.write_bytes(b"another")
        with pytest.warns(UnverifiedFileWarning):
            assert s3.load_file("store", "net.pth").read_bytes() == b"weights"

    def test_what_another_program_put_there_is_used(self, cache, home, monkeypatch):
        monkeypatch.setenv("AWS_ENDPOINT_URL", "http://127.0.0.1:9")  # nobody answers
        target = home / "models" / "net.pth"
        target.parent.mkdir(parents=True)
        target.write_bytes(b"weights")
        assert s3.load_weight_file("store", "net.pth", sha1=sha1(b"weights")) == target

    def test_in_a_mirror_they_are_used_in_place(self, cache, home, monkeypatch, tmp_path):
        monkeypatch.setenv("BRAINSCORE_MIRROR", str(tmp_path / "mirror"))
        source = tmp_path / "mirror" / "store.s3.amazonaws.com" / "models" / "net.pth"
        source.parent.mkdir(parents=True)
        source.write_bytes(b"weights")
        assert s3.load_weight_file("store", "net.pth", "v1", sha1(b"weights")) == source
        assert not home.exists()

    def test_without_hash_the_first_copy_counts(self, store, home, cache):
        put(store, "models/net.pth", b"weights")
        with pytest.warns(UnverifiedFileWarning, match=f"no sha1 is registered.*{sha1(b'weights')}"):
            path = s3.load_file(bucket="store", relative_path="net.pth", version_id=None)
        put(store, "models/net.pth", b"replaced")
        with pytest.warns(UnverifiedFileWarning):
            assert s3.load_file("store", "net.pth").read_bytes() == b"weights"
        path.unlink()
        for copy in cache.rglob("net.pth"):
            copy.unlink()
        with pytest.raises(HashMismatch, match="the hash of the first copy is required"):
            s3.load_file("store", "net.pth")

    def test_without_hash_each_version_is_held_to_its_own_copy(self, store, home):
        versions = [put(store, "models/net.pth", body) for body in (b"one", b"two")]
        for version, body in zip(versions * 2, (b"one", b"two") * 2, strict=True):
            with pytest.warns(UnverifiedFileWarning):
                assert s3.load_file("store", "net.pth", version).read_bytes() == body

    def test_where_links_are_not_possible(self, store, home, monkeypatch):
        put(store, "models/net.pth", b"weights")

        def refuse(*_):
            raise OSError("no links here")

        monkeypatch.setattr("pathlib.Path.symlink_to", refuse)
        path = s3.load_weight_file("store", "net.pth", sha1=sha1(b"weights"))
        assert path.read_bytes() == b"weights"
        assert not path.is_symlink()
        assert [one.name for one in path.parent.iterdir()] == ["net.pth"]

    def test_outside_of_the_folder(self, home):
        with pytest.raises(UserError, match="is not a path below a folder"):
            s3.load_weight_file("store", "../net.pth", sha1=sha1(b""))


class TestUpload:
    @pytest.fixture
    def file(self, tmp_path):
        path = tmp_path / "a.bin"
        path.write_bytes(b"body")
        return path

    def test_what_is_said_of_it(self, store, file):
        properties = upload_to_s3(file, "store/folder", "a.bin")
        head = store.head_object(Bucket="store", Key="folder/a.bin")
        assert properties["VersionId"] == head["VersionId"]
        assert properties["ContentLength"] == 4
        assert properties["public"] is False
        assert head["Metadata"] == {"sha1": sha1(b"body")}

    def test_same_content_is_left_as_it_is(self, store, file):
        versions = {upload_to_s3(file, "store", "a.bin")["VersionId"] for _ in range(2)}
        elsewhere = put(store, "b.bin", b"body", acl="private")  # uploaded otherwise, without its sha1
        assert upload_to_s3(file, "store", "b.bin")["VersionId"] == elsewhere
        assert len(versions) == 1

    def test_other_content_is_not_replaced(self, store, file):
        first = upload_to_s3(file, "store", "a.bin")
        file.write_bytes(b"else")
        with pytest.raises(AlreadyThere, match=r"(?s)s3://store/a.bin already holds a different file.*overwrite=True"):
            upload_to_s3(file, "store", "a.bin")
        second = upload_to_s3(file, "store", "a.bin", overwrite=True)
        for properties, body in ((first, b"body"), (second, b"else")):
            answer = store.get_object(Bucket="store", Key="a.bin", VersionId=properties["VersionId"])
            assert answer["Body"].read() == body

    def test_nothing_is_uploaded_where_one_of_two_would_be_replaced(self, store, tmp_path):
        put(store, "stimulus_MyExperiment2024_part.csv", b"mine", acl="private")
        with pytest.raises(AlreadyThere):
            package_stimulus_set(None, make_stimuli(tmp_path / "stimuli"), NAME, "store")
        assert [item["Key"] for item in store.list_objects_v2(Bucket="store")["Contents"]] == [
            "stimulus_MyExperiment2024_part.csv"
        ]

    @pytest.mark.filterwarnings("ignore:.*is public because")  # moto knows no access rights of what came in parts
    def test_large_files_go_in_parts(self, store, tmp_path, monkeypatch):
        monkeypatch.setattr(buckets, "_ONE_PART", 6 * 1024**2)
        body = bytes(range(256)) * (10 * 4096)
        path = tmp_path / "large.bin"
        path.write_bytes(body)
        versions = {upload_to_s3(path, "store", "large.bin")["VersionId"] for _ in range(2)}
        assert len(versions) == 1  # known again by its sha1
        answer = store.get_object(Bucket="store", Key="large.bin")
        assert answer["Body"].read() == body
        assert answer["ETag"].endswith('-2"')
        path.write_bytes(body[:-1] + b"x")
        with pytest.raises(AlreadyThere):
            upload_to_s3(path, "store", "large.bin")

    def test_two_uploads_at_once(self, store, file, monkeypatch):
        look = buckets._head

        def look_and_be_late(client, place, version=None):
            found = look(client, place, version)
            if found is None:
                put(store, "a.bin", b"quicker", acl="private")
            return found

        monkeypatch.setattr(buckets, "_head", look_and_be_late)
        with pytest.raises(AlreadyThere, match="has just uploaded"):
            upload_to_s3(file, "store", "a.bin")
        assert store.get_object(Bucket="store", Key="a.bin")["Body"].read() == b"quicker"

    def test_public_where_asked_for(self, store, file, nobody):
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            assert upload_to_s3(file, "store", "a.bin", public=True)["public"] is True
        nobody()
        assert s3.load_file_from_s3("store", "a.bin", sha1=sha1(b"body")).read_bytes() == b"body"

    def test_public_by_the_policy_of_the_bucket(self, store, file):
        statement = {"Effect": "Allow", "Principal": "*", "Action": "s3:GetObject", "Resource": "arn:aws:s3:::store/*"}
        store.put_bucket_policy(Bucket="store", Policy=json.dumps({"Version": "2012-10-17", "Statement": [statement]}))
        with pytest.warns(PublicAccessWarning, match=r"s3://store/a.bin is public"):
            assert upload_to_s3(file, "store", "a.bin")["public"] is True

    def test_private_though_public_is_wanted(self, store, file):
        put(store, "a.bin", b"body", acl="private")
        with pytest.warns(PublicAccessWarning, match="cannot be read without credentials"):
            assert upload_to_s3(file, "store", "a.bin", public=True)["public"] is False

    def test_bucket_without_versions(self, store, file):
        store.create_bucket(Bucket="plain")
        with pytest.warns(UserWarning, match="has no versioning"):
            assert upload_to_s3(file, "plain", "a.bin")["VersionId"] is None

    def test_no_such_bucket(self, store, file):
        with pytest.raises(UploadError, match="whether the bucket 'nowhere' exists"):
            upload_to_s3(file, "nowhere", "a.bin")

    def test_no_such_file(self, store, tmp_path):
        with pytest.raises(UserError, match="does not exist"):
            upload_to_s3(tmp_path / "nothing", "store", "a.bin")

    def test_no_credentials(self, store, file, nobody):
        nobody()
        with pytest.raises(NoCredentials, match="aws configure"):
            upload_to_s3(file, "store", "a.bin")

    def test_no_boto3(self, store, file, monkeypatch):
        monkeypatch.setitem(sys.modules, "boto3", None)
        with pytest.raises(NoCredentials, match=r"pip install 'brainscore\[s3\]'"):
            upload_to_s3(file, "store", "a.bin")

    def test_faulty_data_are_not_uploaded(self, store, tmp_path):
        stimuli = make_stimuli(tmp_path / "stimuli")
        stimuli.stimulus_paths["b"] = tmp_path / "missing.png"
        with pytest.raises(ValidationError, match=r"missing\.png"):
            package_stimulus_set(None, stimuli, NAME, "store")
        assert "Contents" not in store.list_objects_v2(Bucket="store")

    def test_package_is_kept_where_asked_for(self, store, tmp_path):
        package_stimulus_set(None, make_stimuli(tmp_path / "s"), NAME, "store", downloads_path=tmp_path / "kept")
        assert sorted(path.suffix for path in (tmp_path / "kept").iterdir()) == [".csv", ".zip"]

    def test_arguments(self, store, tmp_path):
        stimuli = make_stimuli(tmp_path / "stimuli")
        with pytest.raises(UserError, match="bucket_name is missing"):
            package_stimulus_set(None, stimuli, NAME)
        with pytest.raises(UserError, match="pass the data as proto_stimulus_set="):
            package_stimulus_set(stimuli, NAME, "store")
        with pytest.raises(UserError, match="pass the data as proto_data_assembly="):
            package_data_assembly(make_assembly(), NAME, NAME)
        with pytest.raises(UserError, match="assembly_identifier is missing"):
            package_data_assembly(None, make_assembly(), bucket_name="store")
        with pytest.raises(UserError, match="unknown catalog 'brainio_brainscore'"):
            package_stimulus_set("brainio_brainscore", stimuli, NAME, "store")
