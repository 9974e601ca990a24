"""A site that is backed up, spoiled and brought back."""

import json
import os
import shutil
import sqlite3
import threading
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path

import pytest
from django.core.management import call_command
from django.db import connection
from django.utils import timezone

from brainscore_core.errors import UserError
from brainscore_core.paths import site_home
from brainscore_web.accounts.models import User
from brainscore_web.jobs.models import Heartbeat
from brainscore_web.jobs.workers import record_heartbeat
from brainscore_web.operations import backups as making
from brainscore_web.operations.backups import back_up, read_manifest, restore
from brainscore_web.pages.models import News, Page
from brainscore_web.processes import serving_lock
from brainscore_web.uploads.models import Upload, UploadedFile
from tests.s3_faults import FaultyServer
from tests.web._people import build

pytestmark = pytest.mark.django_db(transaction=True)


@dataclass
class Site:
    people: dict
    upload: Upload


@pytest.fixture
def whole(places):
    """A site with something of everything."""
    made = build()
    _more(made.people["owner"], places)
    return made


@pytest.fixture
def site(places):
    """A small one."""
    owner = User.objects.create_user("owner@example.org", "correct horse battery")
    upload = Upload.objects.create(owner=owner, identifier="g", assembly_identifier="g", state="accepted")
    key = "brainscore-vision/data/user_1/stimulus_g.csv"
    UploadedFile.objects.create(
        upload=upload, kind="csv", size=20, sha256="2" * 64, bucket="brainscore-storage", key=key, version_id="v1"
    )
    place = places / "home" / "uploads" / "brainscore-storage" / key
    place.mkdir(parents=True)
    (place / "v1").write_text("stimulus_id\n")
    _more(owner, places)
    return Site({"owner": owner}, upload)


def _more(owner, places):
    Page.objects.create(slug="about", title="Über uns\t\\N", body="line\nline\r\n\\. \x7f 'quoted' \"too\"")
    News.objects.create(slug="new", title="New", body="x", draft=False)
    upload = Upload.objects.create(owner=owner, identifier="x", assembly_identifier="x", state="checking")
    UploadedFile.objects.create(upload=upload, kind="csv", token="a" * 32, size=3)
    incoming = places / "home" / "uploads" / "incoming"
    incoming.mkdir()
    (incoming / ("a" * 32)).write_bytes(b"a,b")


def spoil(places):
    """Change something of everything."""
    Page.objects.all().delete()
    News.objects.update(title="Newer")
    News.objects.create(slug="other", title="Other", body="x", draft=False)
    Upload.objects.all().delete()
    for path in [*(places / "home").rglob("*.png"), *(places / "home" / "uploads").rglob("v1")]:
        path.write_bytes(b"spoiled")
    (places / "home" / "uploads" / "more").write_bytes(b"more")
    (places / "home" / "secret").write_text("second secret")


def test_what_is_brought_back_is_what_was_there(whole, places, rows, files, pages):
    before = rows(), files(), pages()
    assert len(before[1]) == 3
    manifest = back_up(places / "backup")
    assert (rows(), files(), pages()) == before
    assert manifest.tables["pages_page"] == 1
    assert sum(manifest.tables.values()) == sum(len(of) for of in before[0].values())
    assert {path.name for path in (places / "backup").iterdir()} == {
        *("database", "media", "uploads", "secret", "manifest.json")
    }
    assert (places / "backup").stat().st_mode & 0o077 == 0
    spoil(places)
    assert rows() != before[0]
    said = []
    restore(places / "backup", replace=True, say=said.append)
    after = rows(), files(), pages()
    for table, found in before[0].items():
        assert after[0][table] == found, table
    assert after == before
    assert (places / "home" / "secret").read_text() == "first secret"
    kept = [path for path in (places / "home").iterdir() if "before" in path.name]
    assert {path.name.split(".")[0] for path in kept} == {"media", "uploads", "secret"}
    assert any("uploads.before" in line for line in said)
    Page.objects.create(slug="further", title="Further", body="x")  # numbers go on where they were
    assert Page.objects.get(slug="further").pk > Page.objects.get(slug="about").pk


def test_numbers_that_were_used_are_not_used_again(site, places):
    gone = Page.objects.create(slug="gone", title="Gone", body="x")
    number = gone.pk
    gone.delete()
    back_up(places / "backup")
    restore(places / "backup", replace=True)
    assert Page.objects.create(slug="next", title="Next", body="x").pk > number


def test_a_site_in_use_is_not_replaced_unasked(site, places, rows):
    back_up(places / "backup")
    spoil(places)
    before = rows()
    with pytest.raises(UserError, match="in use"):
        restore(places / "backup")
    assert rows() == before
    assert (places / "home" / "uploads" / "more").exists()


def test_a_running_site_is_not_replaced(site, places, rows):
    back_up(places / "backup")
    before = rows()
    with serving_lock(site_home()), pytest.raises(UserError, match="the server is running"):
        restore(places / "backup", replace=True)
    record_heartbeat()
    with pytest.raises(UserError, match=rf"a worker is running, or ended less than a minute ago: .*:{os.getpid()}"):
        restore(places / "backup", replace=True)
    Heartbeat.objects.update(name="elsewhere 1 2 -")
    with pytest.raises(UserError, match="elsewhere:2"):
        restore(places / "backup", replace=True)
    Heartbeat.objects.update(seen=timezone.now() - timedelta(minutes=2))
    restore(places / "backup", replace=True)
    assert {name: table for name, table in rows().items() if name != "jobs_heartbeat"} == {
        name: table for name, table in before.items() if name != "jobs_heartbeat"
    }


def test_an_empty_site_takes_a_backup(site, places, rows, files):
    before = rows(), files()
    back_up(places / "backup")
    call_command("flush", interactive=False, verbosity=0)
    with pytest.raises(UserError, match="there are files"):
        restore(places / "backup")
    (places / "home" / "uploads").rename(places / "uploads")
    restore(places / "backup")
    assert (rows(), files()) == before


def _damage(backup, how):
    manifest = backup / "manifest.json"
    read = json.loads(manifest.read_text())
    table = next(path for path in sorted((backup / "database").iterdir()) if path.stat().st_size > 100)
    if how == "changed":
        content = bytearray(table.read_bytes())
        content[50] ^= 1
        table.write_bytes(content)
    elif how == "missing":
        table.unlink()
    elif how == "more":
        (backup / "uploads" / "more").write_text("x")
    elif how == "unfinished":
        manifest.unlink()
    elif how == "format":
        manifest.write_text(json.dumps({**read, "format": 99}))
    else:
        read["files"][0]["path"] = "../outside"
        manifest.write_text(json.dumps(read))


def test_damaged_backups_change_nothing(site, places, rows):
    back_up(places / "whole")
    before = rows()
    for how in ("changed", "missing", "more", "unfinished", "format", "outside"):
        backup = places / how
        shutil.copytree(places / "whole", backup)
        _damage(backup, how)
        with pytest.raises(UserError):
            restore(backup, replace=True)
        with pytest.raises(UserError):
            restore(backup, check_only=True)
        assert rows() == before, how


def test_backups_of_other_sites_are_refused(site, places):
    backup = places / "backup"
    back_up(backup)
    manifest = backup / "manifest.json"
    read = json.loads(manifest.read_text())
    for changed, said in (
        ({"engine": "oracle"}, "is of a site on oracle"),
        ({"migrations": [*read["migrations"], ["pages", "9999_later"]]}, "later version"),
        ({"uploads": "bucket"}, "in a bucket"),
    ):
        manifest.write_text(json.dumps({**read, **changed}))
        with pytest.raises(UserError, match=said):
            restore(backup, replace=True)


@pytest.mark.slow(reason="restores a site and migrates it")
def test_an_older_backup_is_brought_up_to_date(site, places, rows):
    call_command("migrate", "operations", "zero", verbosity=0)
    before = rows()
    try:
        back_up(places / "backup")
    finally:
        call_command("migrate", verbosity=0)
    assert "jobs_heartbeat" not in before
    spoil(places)
    restore(places / "backup", replace=True)
    after = rows()
    assert after["jobs_heartbeat"] == []
    for table in set(before) - {"django_migrations", "auth_permission", "django_content_type"}:
        assert after[table] == before[table], table
    call_command("migrate", "--check", verbosity=0)


def test_nothing_is_left_of_a_backup_that_fails(site, places, monkeypatch):
    def full(*_args):
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(making, "hash_of", full)
        with pytest.raises(UserError, match="No space left"):
            back_up(places / "backup")
    assert {path.name for path in places.iterdir()} == {"home"}
    back_up(places / "backup")
    with pytest.raises(UserError, match="already exists"):
        back_up(places / "backup")


def test_a_restore_that_fails_changes_nothing(site, places, rows, files, monkeypatch):
    from brainscore_web.operations import backups as restoring

    back_up(places / "backup")
    spoil(places)
    before = rows(), files()

    def full(*_args, **_kwargs):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(restoring.shutil, "copytree", full)
    with pytest.raises(UserError, match="No space left"):
        restore(places / "backup", replace=True)
    assert (rows(), files()) == before


def test_uploads_that_come_and_go_meanwhile(site, places, monkeypatch):
    """What arrives after the files were copied is copied; what is withdrawn then is in neither."""
    folder = places / "home" / "uploads" / "brainscore-storage" / "brainscore-vision" / "data" / "user_1"
    taken = making.snapshot
    happened = []

    def meanwhile(target):
        if not happened:
            happened.append(True)
            new = Upload.objects.create(
                owner=site.people["owner"], identifier="n", assembly_identifier="n", state="accepted"
            )
            (folder / "new.csv").mkdir()
            (folder / "new.csv" / "v9").write_text("new")
            UploadedFile.objects.create(
                upload=new, kind="csv", size=3, bucket="brainscore-storage",
                key="brainscore-vision/data/user_1/new.csv", version_id="v9",
            )  # fmt: skip
            Upload.objects.filter(pk=site.upload.pk).update(state="withdrawn")
            next(folder.glob("stimulus_*/v1")).unlink()
        return taken(target)

    monkeypatch.setattr(making, "snapshot", meanwhile)
    manifest = back_up(places / "backup")
    named = {one.path.rpartition("user_1/")[2] for one in manifest.files if "user_1" in one.path}
    assert named == {"new.csv/v9"}


def test_files_that_are_gone_are_named(site, places):
    next((places / "home" / "uploads").rglob("v1")).unlink()
    with pytest.raises(UserError, match="the first is uploads/brainscore-storage"):
        back_up(places / "backup")
    manifest = back_up(places / "backup", incomplete=True)
    assert len(manifest.missing) == 1
    restore(places / "backup", replace=True)


def test_objects_of_a_bucket_are_listed(site, places, settings, rows):
    settings.UPLOADS = {**settings.UPLOADS, "address": "s3://somewhere/x"}
    manifest = back_up(places / "backup")
    (listed,) = manifest.objects
    assert (listed["version_id"], listed["size"], listed["sha256"]) == ("v1", 20, "2" * 64)
    assert "bucket" in manifest.elsewhere["uploads"]
    assert not (places / "backup" / "uploads").exists()
    before = rows()
    spoil(places)
    said = []
    restore(places / "backup", replace=True, incomplete=True, say=said.append)
    assert rows() == before
    assert "1 uploaded objects are in their bucket, which was not checked." in said


@pytest.fixture
def stored(site, places, settings, s3_server, monkeypatch):
    """A backup of a site whose uploads are in a bucket, behind a server that can fail."""
    boto3 = pytest.importorskip("boto3")
    client = boto3.client("s3", endpoint_url=s3_server)
    client.create_bucket(Bucket="brainscore-storage")
    client.put_bucket_versioning(Bucket="brainscore-storage", VersioningConfiguration={"Status": "Enabled"})
    row = UploadedFile.objects.get(version_id="v1")
    for number in range(20):
        key = f"{row.key}{number or ''}"
        version = client.put_object(Bucket="brainscore-storage", Key=key, Body=b"x" * 20)["VersionId"]
        if number:
            row.pk = None
        row.kind, row.key, row.version_id = f"c{number}", key, version
        row.save()
    settings.UPLOADS = {**settings.UPLOADS, "address": "s3://brainscore-storage/brainscore-vision"}
    back_up(places / "backup")
    server = FaultyServer(s3_server)
    monkeypatch.setenv("AWS_ENDPOINT_URL", server.url)
    monkeypatch.setattr("brainscore_core.supported_data_standards.brainio.downloads.ATTEMPTS", 1)
    yield server, client
    server.shutdown()
    server.server_close()


@pytest.mark.parametrize(
    "fault",
    [pytest.param(fault, marks=pytest.mark.slow(reason="restores twice")) for fault in ("reset", "error")] + ["denied"],
)
def test_a_bucket_that_fails_during_a_restore_leaves_the_site_as_before(stored, places, rows, files, pages, fault):
    server, _ = stored
    wanted = rows()
    Page.objects.update(title="Changed since")
    before = rows(), files(), pages()
    server.fail(fault, after=7)
    with pytest.raises(UserError, match="nothing was restored, since uploaded objects cannot be checked") as caught:
        restore(places / "backup", replace=True)
    assert "--incomplete" in caught.value.remedy
    assert server.failed
    assert (rows(), files(), pages()) == before
    assert not [path for path in (places / "home").iterdir() if "restored" in path.name or "before" in path.name]
    server.heal()
    said = []
    restore(places / "backup", replace=True, say=said.append)
    assert rows() == wanted
    assert "20 uploaded objects are in their bucket." in said


@pytest.mark.slow(reason="restores a site")
def test_missing_objects_are_named_before_anything_is_changed(stored, places, rows):
    _, client = stored
    last = UploadedFile.objects.get(kind="c19")
    client.delete_object(Bucket="brainscore-storage", Key=last.key, VersionId=last.version_id)
    Page.objects.update(title="Changed since")
    before = rows()
    with pytest.raises(UserError, match=f"1 of 20 uploaded objects are missing .* {last.key}"):
        restore(places / "backup", replace=True)
    assert rows() == before
    restore(places / "backup", replace=True, incomplete=True)
    assert rows() != before


@pytest.mark.skipif(connection.vendor != "postgresql", reason="SQLite's copy is of one moment by itself")
def test_all_tables_are_of_one_moment(site, places, monkeypatch):
    from brainscore_web.operations import backups as database

    described = connection.introspection.get_table_description
    done = []

    def meanwhile(cursor, name):
        if name == "pages_news" and not done:
            done.append(True)
            other = threading.Thread(target=_write)
            other.start()
            other.join()
        return described(cursor, name)

    monkeypatch.setattr(connection.introspection, "get_table_description", meanwhile)
    manifest = back_up(places / "backup")
    assert done
    assert manifest.tables["pages_news"] == 1
    assert News.objects.count() == 2
    assert database.engine() == "postgresql"


def _write():
    News.objects.create(slug="meanwhile", title="Meanwhile", body="x")
    connection.close()


@pytest.mark.skipif(connection.vendor != "sqlite", reason="of SQLite")
def test_the_copy_is_one_file_that_opens(site, places):
    back_up(places / "backup")
    path = places / "backup" / "database" / "site.sqlite3"
    assert [one.name for one in path.parent.iterdir()] == ["site.sqlite3"]
    copy = sqlite3.connect(path)
    assert copy.execute("SELECT title FROM pages_news").fetchall() == [("New",)]
    copy.close()


def test_the_commands(site, places, rows, capsys):
    before = rows()
    call_command("backup", str(places / "backup"))
    told = capsys.readouterr().out
    assert "Not included: receipts" in told
    assert str(Path(places / "home" / "results")) in told
    call_command("restore", str(places / "backup"), "--check")
    assert "is complete" in capsys.readouterr().out
    spoil(places)
    call_command("restore", str(places / "backup"), "--replace")
    assert "The site has been restored" in capsys.readouterr().out
    assert rows() == before
    assert read_manifest(places / "backup").engine == connection.vendor
