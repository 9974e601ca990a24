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


def asked(client, upload, kind, path, **changes):
    data = {"size": str(path.stat().st_size), "name": path.name, **changes}
    return client.post(f"/uploads/{upload.pk}/{kind}/grant/", data, headers={"accept": "application/json"})


def send_directly(client, upload, kind, path):
    grant = asked(client, upload, kind, path).json()
    assert grant["direct"]
    with path.open("rb") as stream:
        sent = requests.post(grant["url"], data=grant["fields"], files={"file": stream}, timeout=30)
    assert sent.status_code in (200, 204), sent.text
    answer = client.post(f"/uploads/{upload.pk}/{kind}/arrived/")
    assert answer.status_code == 303
    return grant


@pytest.fixture
def accepted_directly(bucket, start, client, packages):
    def make(**fields):
        upload = start(**fields)
        for kind, path in packages.all.items():
            send_directly(client, upload, kind, path)
        client.post(f"/uploads/{upload.pk}/check/")
        upload.refresh_from_db()
        assert upload.state == "accepted", upload.findings
        return upload

    return make


@pytest.mark.slow(reason="starts processes")
def test_the_way(accepted_directly, bucket, client, packages, tmp_path):
    """Browsers send to the bucket; the code is that of the tutorials, and works as pasted."""
    upload = accepted_directly()
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
def test_private_data_load_through_the_site(accepted_directly, bucket, client, live_server, tmp_path, owner):
    from brainscore_web.accounts.models import ApiToken

    upload = accepted_directly(visibility="private")
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


def test_without_javascript_the_site_sends(bucket, start, send, client, packages):
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


def test_a_grant_is_for_so_many_bytes(bucket, start, client, packages, settings):
    """The policy that is signed names size and key; a larger grant than the quota is refused."""
    import base64
    import json

    upload = start()
    grant = asked(client, upload, "zip", packages.zip).json()
    policy = json.loads(base64.b64decode(grant["fields"]["policy"]))
    size = packages.zip.stat().st_size
    assert ["content-length-range", size, size] in policy["conditions"]
    assert {"key": grant["fields"]["key"]} in policy["conditions"]
    assert "/incoming/" in grant["fields"]["key"]
    again = asked(client, upload, "zip", packages.zip).json()  # the browser was closed meanwhile
    assert again["fields"]["key"] != grant["fields"]["key"]
    assert asked(client, start(), "zip", packages.zip, size="999999999").status_code == 413
    assert asked(client, start(), "zip", packages.zip, size="-1").status_code == 400
    assert asked(client, start(), "zip", packages.zip, name="x.exe").status_code == 400
    settings.UPLOADS["person"] = size + 10
    assert asked(client, start(), "zip", packages.zip, size="11").status_code == 413  # the grant is counted


def test_a_grant_outlives_the_sweep(bucket, start, client, packages):
    """Nothing is heard of a file while a browser sends it to the bucket."""
    from datetime import timedelta

    from django.core.management import call_command

    from brainscore_web.uploads.models import UploadedFile

    upload = start()
    grant = asked(client, upload, "csv", packages.csv).json()
    UploadedFile.objects.update(touched=UploadedFile.objects.get().touched - timedelta(minutes=50))
    call_command("check_uploads", verbosity=0)
    with packages.csv.open("rb") as stream:
        requests.post(grant["url"], data=grant["fields"], files={"file": stream}, timeout=30)
    assert client.post(f"/uploads/{upload.pk}/csv/arrived/").status_code == 303
    UploadedFile.objects.update(size=None, claim="x", touched=UploadedFile.objects.get().touched - timedelta(hours=2))
    call_command("check_uploads", verbosity=0)
    assert not UploadedFile.objects.exclude(claim="").exists()


def test_what_did_not_arrive_is_not_counted(bucket, start, client, packages):
    upload = start()
    asked(client, upload, "csv", packages.csv)
    assert client.post(f"/uploads/{upload.pk}/csv/arrived/").status_code == 409
    assert not upload.files.exclude(size=None).exists()


def test_more_than_allowed_is_not_kept(bucket, start, client, packages, settings):
    """A server that does not look at the policy changes nothing: what arrived is counted."""
    settings.UPLOADS["table"] = 1000
    upload = start()
    asked(client, upload, "csv", packages.csv, size="10")
    slot = upload.files.get()
    bucket.put_object(Bucket="store", Key=f"brainscore-vision/data/incoming/{slot.claim}", Body=b"x" * 1001)
    assert client.post(f"/uploads/{upload.pk}/csv/arrived/").status_code == 413
    assert keys(bucket) == []
    assert not upload.files.exclude(claim="").exists()


def test_what_changes_after_the_check_is_not_published(bucket, start, client, packages, monkeypatch):
    from brainscore_web.uploads import checking
    from brainscore_web.uploads.inspection import inspect

    upload = start()
    for kind in ("csv", "zip"):
        send_directly(client, upload, kind, packages.all[kind])
    token = upload.files.get(kind="zip").token

    def ask(question, *, alive):
        report = inspect(question)
        bucket.put_object(Bucket="store", Key=f"brainscore-vision/data/incoming/{token}", Body=b"evil")
        return report

    monkeypatch.setattr(checking, "inspect_in_sandbox", ask)
    client.post(f"/uploads/{upload.pk}/check/")
    upload.refresh_from_db()
    assert upload.state == "accepted", upload.findings
    file = upload.files.get(kind="zip")
    there = bucket.get_object(Bucket="store", Key=file.key, VersionId=file.version_id)
    assert there["Body"].read() == packages.zip.read_bytes()
    assert not any("/incoming/" in key for key in keys(bucket))


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
    monkeypatch.setattr("brainscore_core.supported_data_standards.brainio.downloads.ATTEMPTS", 1)
    upload = start()
    answer = send(upload, "csv", packages.csv)
    assert answer.status_code == 503
    assert "testing" not in answer.content.decode()
    assert not upload.files.exclude(claim="").exists()
    assert buckets.s3_endpoint().endswith(str(port))


def test_the_page_may_send_to_the_bucket_and_nowhere_else(bucket, start, client, s3_server, settings):
    answer = client.get(f"/uploads/{start().pk}/")
    rules = dict(rule.strip().split(" ", 1) for rule in answer["Content-Security-Policy"].split(";"))
    assert rules["connect-src"].split() == ["'self'", s3_server]
    assert s3_server not in client.get("/uploads/")["Content-Security-Policy"]


def test_withdrawing_removes_the_versions(accepted_directly, bucket, client):
    first, second = accepted_directly(), accepted_directly()
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


def test_browsers_send_to_the_bucket(bucket, uploader, browser, live_server, start, packages, s3_server):
    """The site never sees the files, and the page's policy allows what is needed and no more."""
    from django.test import Client

    upload = start()
    client = Client()
    client.force_login(uploader)
    context = browser.new_context(base_url=live_server.url)
    context.add_cookies([{"name": "sessionid", "value": client.session.session_key, "url": live_server.url}])
    page = context.new_page()
    page.set_default_timeout(20_000)
    sent, complaints = [], []
    page.on("request", lambda one: sent.append((one.method, one.url.removeprefix(live_server.url))))
    page.on("console", lambda note: complaints.append(note.text) if note.type == "error" else None)
    try:
        page.goto(f"/uploads/{upload.pk}/")
        page.set_input_files("#all", [str(path) for path in packages.all.values()])
        page.click("text=Upload and check")
        page.wait_for_selector("#code", timeout=60_000)
    finally:
        context.close()
    assert complaints == []
    posts = [url for method, url in sent if method == "POST"]
    assert sum(url.startswith(f"{s3_server}/store") for url in posts) == 3
    assert not any(url.endswith(("/csv/", "/zip/", "/nc/")) for url in posts)
    upload.refresh_from_db()
    assert upload.state == "accepted"
