"""Uploads to a server that speaks S3, keeps versions and knows what is private."""

import os

import pytest
import requests

from brainscore_core.errors import UserError

from .test_way import EXPECTED, load_as_pasted

boto3 = pytest.importorskip("boto3")


@pytest.fixture
def bucket(s3_server, settings, monkeypatch):
    """A bucket with versions, which the site uploads to."""
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
    monkeypatch.delenv("BRAINSCORE_MIRROR", raising=False)
    for name in ("AWS_CONFIG_FILE", "AWS_SHARED_CREDENTIALS_FILE"):
        monkeypatch.setenv(name, os.devnull)
    client = boto3.client("s3", endpoint_url=s3_server)
    client.create_bucket(Bucket="store")
    client.put_bucket_versioning(Bucket="store", VersioningConfiguration={"Status": "Enabled"})
    settings.UPLOADS["address"] = "s3://store/brainscore-vision/data?acl=public-read"
    return client


def keys(bucket):
    return sorted(one["Key"] for one in bucket.list_object_versions(Bucket="store").get("Versions", ()))


@pytest.mark.slow(reason="starts processes")
def test_the_way(accepted, bucket, client, packages, tmp_path):
    """The code is that of the tutorials, and works as pasted."""
    upload = accepted()
    folder = f"brainscore-vision/data/user_{upload.owner_id}"
    assert keys(bucket) == sorted(f"{folder}/{path.name}" for path in packages.all.values())
    page = client.get(f"/uploads/{upload.pk}/").content.decode()
    assert f"store/{folder}" in page
    code = client.get(f"/uploads/{upload.pk}/__init__.py").content.decode()
    for kind, file in {file.kind: file for file in upload.files.all()}.items():
        assert file.sha1 == packages.sha1[kind]
        assert f'"{file.version_id}"' in code
        there = bucket.get_object(Bucket="store", Key=file.key, VersionId=file.version_id)
        assert there["Body"].read() == packages.all[kind].read_bytes()
    assert f'bucket="store/{folder}"' in code
    nobody = {name: value for name, value in os.environ.items() if not name.startswith(("AWS_ACCESS", "AWS_SECRET"))}
    done = load_as_pasted(code, tmp_path, nobody)
    assert (done.code, done.out) == (0, EXPECTED), done.err


@pytest.mark.slow(reason="loads in fresh processes")
@pytest.mark.django_db(transaction=True)
def test_private_data_load_through_the_site(accepted, bucket, client, live_server, tmp_path, owner):
    from brainscore_web.accounts.models import ApiToken

    upload = accepted(visibility="private")
    assert all(key.startswith("brainscore-vision/data/private/user_") for key in keys(bucket))
    for file in upload.files.all():
        url = f"{os.environ['AWS_ENDPOINT_URL']}/store/{file.key}"
        assert requests.get(url, params={"versionId": file.version_id}, timeout=30).status_code == 403
    code = client.get(f"/uploads/{upload.pk}/__init__.py", headers={"host": live_server.url[7:]}).content.decode()
    environment = {name: value for name, value in os.environ.items() if not name.startswith("AWS")}
    environment["BRAINSCORE_SITE"] = live_server.url
    done = load_as_pasted(code, tmp_path / "nobody", {**environment, "BRAINSCORE_TOKEN": ""})
    assert done.code == 1
    assert "403" in done.err
    environment["BRAINSCORE_TOKEN"] = ApiToken.issue(owner, "mine", ["read"])[1]
    done = load_as_pasted(code, tmp_path / "own", environment)
    assert (done.code, done.out) == (0, EXPECTED), done.err


def test_the_site_sends_to_the_bucket(bucket, start, send, client, packages):
    upload = start()
    for kind, path in packages.all.items():
        assert send(upload, kind, path).status_code == 200
    assert all("/incoming/" in key for key in keys(bucket))
    client.post(f"/uploads/{upload.pk}/check/")
    upload.refresh_from_db()
    assert upload.state == "accepted", upload.findings
    assert not any("/incoming/" in key for key in keys(bucket))


def test_a_bucket_that_is_not_open_is_loaded_through_the_site(bucket, settings, accepted, client):
    """Where neither policy nor ACL opens what is public, its code asks the site, which signs."""
    settings.UPLOADS["address"] = "s3://store"
    upload = accepted()
    code = client.get(f"/uploads/{upload.pk}/__init__.py").content.decode()
    assert "from_url" in code
    file = upload.files.get(kind="csv")
    client.logout()
    answer = client.get(f"/uploads/files/store/{file.key}", {"versionId": file.version_id})
    assert answer.status_code == 302
    assert answer["Cache-Control"] == "private, no-store"  # the address is signed for minutes
    assert requests.get(answer["Location"], timeout=30).status_code == 200


def test_a_bucket_without_versions(bucket, settings, start, send, client, packages):
    settings.UPLOADS["address"] = "s3://plain"
    bucket.create_bucket(Bucket="plain")
    upload = start()
    send(upload, "csv", b"stimulus_id\na\n")
    client.post(f"/uploads/{upload.pk}/check/")
    upload.refresh_from_db()
    assert upload.state == "checking"  # retried later: the bucket's owner may fix it


def test_a_storage_that_is_down(bucket, start, send, client, packages, monkeypatch, s3_server):
    import socket

    from brainscore_core.supported_data_standards.brainio import buckets

    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    monkeypatch.setenv("AWS_ENDPOINT_URL", f"http://127.0.0.1:{port}")
    monkeypatch.setattr("brainscore_web.uploads.storage._ATTEMPTS", 1)
    upload = start()
    answer = send(upload, "csv", packages.csv)
    assert answer.status_code == 503
    assert "testing" not in answer.content.decode()
    assert not upload.files.exclude(claim="").exists()
    assert buckets.s3_endpoint().endswith(str(port))


def test_withdrawing_removes_the_versions(accepted, bucket, client):
    first, second = accepted(), accepted()
    assert len(keys(bucket)) == 6
    client.post(f"/uploads/{first.pk}/withdraw/")
    from brainscore_web.uploads.files import _remove

    _remove(list(first.files.all()))  # what happens once the transaction is over
    assert len(keys(bucket)) == 3
    file = second.files.get(kind="csv")
    assert bucket.head_object(Bucket="store", Key=file.key)["VersionId"] == file.version_id


@pytest.mark.parametrize("address", ["s3://", "s3://store?acl=private", "s3://store?x=1", "https://store"])
def test_addresses_that_cannot_be_read(settings, address):
    from brainscore_web.uploads.storage import storage

    settings.UPLOADS["address"] = address
    with pytest.raises(UserError, match="BRAINSCORE_SITE_UPLOADS"):
        storage()
