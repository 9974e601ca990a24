"""Data of this site's storage are found without the network, by whom they are meant for."""

import hashlib
from pathlib import Path

import pytest

from brainscore_core.supported_data_standards.brainio.s3 import load_stimulus_set_from_s3
from brainscore_web.scoring.live_plugins import cache_uploaded_files, current_live_plugins
from brainscore_web.uploads.models import Upload, UploadedFile

from ._site import publish, submit

pytestmark = pytest.mark.django_db
TABLE = b"stimulus_id,shown\na,1\nb,2\n"
CODE = """from brainscore_core.supported_data_standards.brainio.s3 import load_stimulus_set_from_s3
from brainscore_vision import stimulus_set_registry

stimulus_set_registry["Mine2026"] = lambda: load_stimulus_set_from_s3(
    identifier="Mine2026", bucket="{bucket}", csv_sha1="{sha1}", zip_sha1=None, csv_version_id="v1",
    zip_version_id=None, filename_prefix="stimulus_",
)
"""


@pytest.fixture
def stored(owner, settings):
    """A private stimulus set of the owner's, and what names it."""
    upload = Upload.objects.create(owner=owner, identifier="Mine2026", visibility="private", state="accepted")
    key = "brainio/user_1/stimulus_Mine2026.csv"
    sha1 = hashlib.sha1(TABLE).hexdigest()
    file = UploadedFile.objects.create(
        upload=upload, kind="csv", size=len(TABLE), sha1=sha1, sha256=hashlib.sha256(TABLE).hexdigest(),
        bucket="brainscore-storage", key=key, version_id="v1",
    )  # fmt: skip
    place = Path(settings.UPLOADS["address"]) / file.bucket / key
    place.mkdir(parents=True)
    (place / "v1").write_bytes(TABLE)
    return file


def data_of(owner, file):
    publish(submit(owner, {"data/mine/__init__.py": CODE.format(bucket=file.folder, sha1=file.sha1)}))
    return current_live_plugins().folder


def test_loaders_find_the_files_of_a_live_plugin(stored, owner, monkeypatch, tmp_path):
    folder = data_of(owner, stored)
    assert cache_uploaded_files(folder) == 1
    assert cache_uploaded_files(folder) == 0  # it is there
    monkeypatch.setenv("http_proxy", "http://127.0.0.1:9")
    monkeypatch.setenv("https_proxy", "http://127.0.0.1:9")
    found = load_stimulus_set_from_s3(
        identifier="Mine2026", bucket=stored.folder, csv_sha1=stored.sha1, zip_sha1=None, csv_version_id="v1",
        zip_version_id=None, filename_prefix="stimulus_",
    )  # fmt: skip
    assert list(found["shown"]) == [1, 2]


def test_what_is_private_is_not_handed_to_plugins_of_others(stored, member):
    assert cache_uploaded_files(data_of(member, stored)) == 0
    Upload.objects.update(visibility="public")
    assert cache_uploaded_files(data_of(member, stored)) == 1


def test_what_was_withdrawn_is_not_handed_out(stored, owner):
    folder = data_of(owner, stored)
    Upload.objects.update(state="withdrawn")
    assert cache_uploaded_files(folder) == 0


def test_a_file_that_is_damaged_on_its_way_is_replaced(stored, owner, tmp_path):
    folder = data_of(owner, stored)
    cache_uploaded_files(folder)
    copies = list((tmp_path / "brainio").rglob("*.csv"))
    assert len(copies) == 2
    for copy in copies:
        copy.unlink()
        copy.write_bytes(b"half")
    assert cache_uploaded_files(folder) == 1
    assert {copy.read_bytes() for copy in copies} == {TABLE}
