"""What goes wrong on the way: never anything half-written, never anything counted that is not there."""

import errno
import io
import json
import os
import re
import signal
import socket
import subprocess
import sys
import threading
import time
from datetime import timedelta
from functools import partial
from types import SimpleNamespace

import pytest
from django.core.management import call_command
from django.utils import timezone

from brainscore_core.errors import UserError
from brainscore_web.uploads.checking import inspect_in_sandbox

from .conftest import files_below


def taken(user):
    from brainscore_web.uploads.files import bytes_used

    return bytes_used(user)


def nothing_is_left(root, upload):
    assert files_below(root) == []
    assert not upload.files.exclude(claim="").exists()
    assert not upload.files.exclude(size=None).exists()
    assert taken(upload.owner) == 0


@pytest.mark.parametrize("where", ["write", "fsync", "replace"])
def test_a_full_disk(start, send, root, packages, monkeypatch, where):
    from brainscore_web.uploads.storage import FolderStorage

    upload = start()

    def full(*_):
        raise OSError(errno.ENOSPC, "No space left on device")

    if where == "write":
        scratch = FolderStorage.scratch
        monkeypatch.setattr(FolderStorage, "scratch", lambda self, token: _Full(scratch(self, token)))
    else:
        monkeypatch.setattr(os, where, full)
    answer = send(upload, "zip", packages.zip)
    monkeypatch.undo()
    assert answer.status_code == 507
    assert answer.json()["message"] == "the storage is full"
    nothing_is_left(root, upload)


class _Full:
    """A path whose files take a few bytes and no more."""

    def __init__(self, path):
        self._path = path

    def __getattr__(self, name):
        return getattr(self._path, name)

    def __fspath__(self):
        return str(self._path)

    def open(self, mode):
        stream = self._path.open(mode)

        class Stream:
            def write(self, data):
                stream.write(data[:100])
                raise OSError(errno.ENOSPC, "No space left on device")

            def close(self):
                stream.close()

        return Stream()


def test_a_connection_that_breaks_off(start, client, root):
    upload = start()
    body = b'--x\r\nContent-Disposition: form-data; name="file"; filename="a.csv"\r\n\r\nstimulus_id\na\n'
    for sent in (body, body + b"\r\n--x--\r\n"):
        answer = client.generic(
            "POST",
            f"/uploads/{upload.pk}/csv/",
            sent,
            content_type="multipart/form-data; boundary=x",
            CONTENT_LENGTH=str(len(body) + 1000),
            **{"wsgi.input": io.BytesIO(sent)},
        )
        assert answer.status_code == 400
    nothing_is_left(root, upload)


@pytest.mark.parametrize(
    ("length", "kind", "status"), [("", "multipart/form-data; boundary=x", 411), ("10", "text/csv", 415)]
)
def test_no_form(start, client, root, length, kind, status):
    upload = start()
    answer = client.generic("POST", f"/uploads/{upload.pk}/csv/", b"a,b\n", content_type=kind, CONTENT_LENGTH=length)
    assert answer.status_code == status
    nothing_is_left(root, upload)


def test_what_is_too_large_is_refused_before_it_is_read(start, client, root):
    upload = start()

    class Body(io.BytesIO):
        def read(self, *_):
            raise AssertionError("it was read")

    answer = client.generic(
        "POST",
        f"/uploads/{upload.pk}/zip/",
        b"x",
        content_type="multipart/form-data; boundary=x",
        CONTENT_LENGTH="900000000000",
        **{"wsgi.input": Body()},
    )
    assert answer.status_code == 413
    nothing_is_left(root, upload)


def test_double_upload_at_once(start, send, root, packages):
    """Who comes second waits; who was silent for too long has lost its place."""
    from brainscore_web.uploads import files
    from brainscore_web.uploads.models import UploadedFile

    upload = start()
    first = files.reserve_file(upload, "csv", 1000)
    assert send(upload, "csv", packages.csv).status_code == 409
    UploadedFile.objects.update(touched=timezone.now() - timedelta(minutes=5))
    assert send(upload, "csv", packages.csv).status_code == 200
    with pytest.raises(files.Refused, match="interrupted"):
        files.finish(first, 1000)
    files.release_file(first)
    assert upload.files.get().size == packages.csv.stat().st_size
    assert len(files_below(root)) == 1


def test_sending_again_replaces(start, send, root, packages, uploader):
    upload = start()
    send(upload, "csv", b"stimulus_id\na\n")
    send(upload, "csv", packages.csv)
    assert taken(uploader) == packages.csv.stat().st_size
    (path,) = files_below(root)
    assert (root / path).read_bytes() == packages.csv.read_bytes()


def test_a_quota_counts_everything(start, send, client, settings, uploader, accepted, packages):
    settings.UPLOADS["person"] = 20_000
    accepted(["csv", "zip"])
    there = taken(uploader)
    assert there == packages.csv.stat().st_size + packages.zip.stat().st_size
    draft = start()
    answer = send(draft, "zip", b"x" * 21_000)
    assert answer.status_code == 413
    assert "kB left" in answer.json()["message"]
    assert send(draft, "zip", b"x" * 17_000).status_code == 200
    assert taken(uploader) == there + 17_000
    assert send(start(), "zip", b"x" * 5_000).status_code == 413
    client.post(f"/uploads/{draft.pk}/withdraw/")
    assert taken(uploader) == there
    assert send(start(), "zip", b"x" * 5_000).status_code == 200


def test_refused_uploads_take_no_room(start, send, client, root, uploader):
    upload = start()
    send(upload, "csv", b"no,ids\n1,2\n")
    client.post(f"/uploads/{upload.pk}/check/")
    upload.refresh_from_db()
    assert upload.state == "refused"
    nothing_is_left(root, upload)


def test_only_so_many_drafts(uploader, client, settings):
    settings.UPLOADS["drafts"] = 2
    data = {"identifier": "A1", "assembly_class": "NeuroidAssembly", "visibility": "public"}
    assert [client.post("/uploads/new/", data).status_code for _ in range(3)] == [302, 302, 400]


def test_nothing_to_check(start, send, client, packages):
    upload = start()
    assert client.post(f"/uploads/{upload.pk}/check/").status_code == 409
    send(upload, "zip", packages.zip)
    answer = client.post(f"/uploads/{upload.pk}/check/")
    assert answer.status_code == 409
    assert "without its CSV" in answer.content.decode()


def test_one_checker_at_a_time(start, send, packages, monkeypatch):
    from brainscore_web.uploads import checking
    from brainscore_web.uploads.inspection import inspect
    from brainscore_web.uploads.models import Upload

    upload = start()
    send(upload, "csv", b"stimulus_id\na\n")
    Upload.objects.update(state="checking")
    inner = []

    def ask(question, *, alive):
        inner.append(checking.check(upload.pk))
        assert alive()
        return inspect(question)

    monkeypatch.setattr(checking, "inspect_in_sandbox", ask)
    assert checking.check(upload.pk)
    assert inner == [False]
    assert not checking.check(upload.pk)  # it is done
    upload.refresh_from_db()
    assert (upload.state, upload.attempts) == ("accepted", 1)


@pytest.mark.parametrize("when", ["before", "while files move", "after files moved"])
def test_a_checker_that_is_killed(start, send, packages, monkeypatch, root, client, when, uploader):
    """The next process repeats the checks; there is one version of each file, and nothing else."""
    from brainscore_web.uploads import checking
    from brainscore_web.uploads.models import Upload
    from brainscore_web.uploads.storage import FolderStorage

    class Killed(BaseException): ...

    upload = start()
    for kind, path in packages.all.items():
        send(upload, kind, path)
    Upload.objects.update(state="checking")

    def die(*_args, **_kwargs):
        raise Killed

    with monkeypatch.context() as patch:
        if when == "before":
            patch.setattr(checking, "inspect_in_sandbox", die)
        elif when == "after files moved":
            patch.setattr(checking, "_end", die)
        else:
            publish, moved = FolderStorage.publish, []

            def one(self, token, place, *, seal):
                moved.append(publish(self, token, place, seal=seal))
                raise Killed

            patch.setattr(FolderStorage, "publish", one)
        with pytest.raises(Killed):
            checking.check(upload.pk)
    Upload.objects.update(claim="dead", worker="another", claimed=timezone.now() - timedelta(minutes=1))
    call_command("check_uploads", verbosity=0)
    upload.refresh_from_db()
    assert upload.state == "checking"  # it may be alive
    Upload.objects.update(claimed=timezone.now() - timedelta(minutes=5))
    call_command("check_uploads", verbosity=0)
    upload.refresh_from_db()
    assert upload.state == "accepted", upload.findings
    assert len(files_below(root)) == 3
    assert taken(uploader) == sum(path.stat().st_size for path in packages.all.values())


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("slow", ["at_hand", "publish"])
def test_a_storage_that_takes_longer_than_the_lease(start, send, packages, monkeypatch, slow):
    """While a file is fetched from a bucket or published the lease is renewed, so that no other process checks it."""
    from brainscore_web.jobs import leases, workers
    from brainscore_web.uploads import checking
    from brainscore_web.uploads.models import Upload
    from brainscore_web.uploads.storage import FolderStorage

    upload = start()
    send(upload, "csv", b"stimulus_id\na\n")
    Upload.objects.update(state="checking")
    real, renewed, others = getattr(FolderStorage, slow), threading.Event(), []
    renew = leases.Lease.renew

    def noted(lease, **values):
        done = renew(lease, **values)
        renewed.set()
        return done

    def takes_long(*args, **kwargs):
        long_ago = timezone.now() - timedelta(minutes=5)
        Upload.objects.update(claimed=long_ago)
        renewed.clear()
        assert renewed.wait(10)
        others.append((workers.resume(checking.CHECKS), checking.check(upload.pk)))
        return real(*args, **kwargs)

    monkeypatch.setattr(workers, "Renewal", partial(leases.Renewal, every=0.05))
    monkeypatch.setattr(leases.Lease, "renew", noted)
    monkeypatch.setattr(FolderStorage, slow, takes_long)
    assert checking.check(upload.pk)
    assert others == [(0, False)]
    upload.refresh_from_db()
    assert (upload.state, upload.attempts) == ("accepted", 1)


def test_a_storage_that_fails_is_tried_again(start, send, packages, monkeypatch, client):
    from brainscore_web.uploads import checking
    from brainscore_web.uploads.models import Upload
    from brainscore_web.uploads.storage import FolderStorage, StorageFailure

    upload = start()
    send(upload, "csv", b"stimulus_id\na\n")

    def fail(*_args, **_kwargs):
        raise StorageFailure("the storage is away", remedy="wait")

    with monkeypatch.context() as patch:
        patch.setattr(FolderStorage, "publish", fail)
        client.post(f"/uploads/{upload.pk}/check/")
        upload.refresh_from_db()
        assert upload.state == "checking"
        assert not checking.CHECKS.due().exists()  # not at once
        for _ in range(4):
            Upload.objects.update(due=timezone.now())
            assert checking.check(upload.pk)
    upload.refresh_from_db()
    assert upload.state == "refused"
    assert upload.findings[0]["culprit"] == "storage failed"


def test_a_site_that_fails_says_so_in_the_end(start, send, monkeypatch, client):
    from brainscore_web.uploads import checking
    from brainscore_web.uploads.models import Upload

    upload = start()
    send(upload, "csv", b"stimulus_id\na\n")

    def fail(*_args, **_kwargs):
        raise RuntimeError("secret of the machine")

    monkeypatch.setattr(checking, "inspect_in_sandbox", fail)
    client.post(f"/uploads/{upload.pk}/check/")
    for _ in range(9):
        Upload.objects.update(due=timezone.now())
        checking.check(upload.pk)
    upload.refresh_from_db()
    assert (upload.state, upload.attempts) == ("refused", 5)
    assert "secret" not in str(upload.findings)


def test_without_a_sandbox_uploads_wait(start, send, monkeypatch, client):
    from brainscore_core.isolation import sandbox
    from brainscore_web.uploads import checking
    from brainscore_web.uploads.models import Upload

    def missing():
        raise UserError("bubblewrap is not installed", "install it")

    upload = start()
    send(upload, "csv", b"stimulus_id\na\n")
    with monkeypatch.context() as patch:
        patch.setattr(checking, "inspect_in_sandbox", inspect_in_sandbox)
        patch.setattr(sandbox, "bubblewrap", missing)
        client.post(f"/uploads/{upload.pk}/check/")
        for _ in range(9):
            Upload.objects.update(due=timezone.now())
            checking.check(upload.pk)
        upload.refresh_from_db()
        assert (upload.state, upload.attempts, upload.claim) == ("checking", 0, "")
        assert not checking.check(upload.pk)  # not at once
    Upload.objects.update(due=timezone.now())
    assert checking.check(upload.pk)
    upload.refresh_from_db()
    assert upload.state == "accepted"


def test_a_page_that_asks_often_begins_one_check(start, client, transactional_db):
    """However often workers are woken, one task waits."""
    from django_tasks_db.models import DBTaskResult

    upload = start(state="checking")
    for _ in range(5):
        client.get(f"/uploads/{upload.pk}/state/")
    assert DBTaskResult.objects.ready().count() == 1


def test_leftovers_are_swept(start, send, root, packages, uploader, django_capture_on_commit_callbacks):
    from brainscore_web.uploads import files
    from brainscore_web.uploads.models import Upload, UploadedFile
    from brainscore_web.uploads.storage import storage

    upload = start()
    slot = files.reserve_file(upload, "csv", 1000)
    storage().scratch(slot.claim).write_bytes(b"half")
    assert taken(uploader) == 1000
    UploadedFile.objects.update(touched=timezone.now() - timedelta(minutes=5))
    assert taken(uploader) == 0  # before the sweep
    orphan = storage().scratch("orphan")
    orphan.write_bytes(b"nobody's")
    os.utime(orphan, (1, 1))
    fresh = storage().scratch("fresh")
    fresh.write_bytes(b"somebody's")
    old = start(changed=timezone.now() - timedelta(days=20))
    send(old, "csv", packages.csv)
    with django_capture_on_commit_callbacks(execute=True):
        call_command("check_uploads", verbosity=0)
    assert files_below(root / "incoming") == [fresh.name]
    old.refresh_from_db()
    assert old.state == Upload.State.WITHDRAWN
    assert not UploadedFile.objects.exclude(claim="").exists()


def test_the_sender_does_not_wait_for_the_checks(start, send, client, packages, monkeypatch):
    """The page says how it stands, and begins anew where the checker was killed."""
    from brainscore_web.uploads import checking, views

    begun = []
    monkeypatch.setattr(checking, "_check_in_worker", begun.append)
    monkeypatch.setattr(views, "begin_checks", checking.begin_checks)
    upload = start()
    send(upload, "csv", packages.csv)
    send(upload, "zip", packages.zip)
    assert client.post(f"/uploads/{upload.pk}/check/").status_code == 303
    assert begun == [upload.pk]
    page = client.get(f"/uploads/{upload.pk}/").content.decode()
    assert "waiting to be checked" in page
    assert 'http-equiv="refresh"' in page
    assert client.get(f"/uploads/{upload.pk}/state/").json()["state"] == "checking"
    assert len(begun) == 3
    assert send(upload, "csv", packages.csv).status_code == 409
    assert client.post(f"/uploads/{upload.pk}/withdraw/").status_code == 409
    checking.check(upload.pk)
    assert client.get(f"/uploads/{upload.pk}/state/").json()["state"] == "accepted"


@pytest.mark.django_db(transaction=True)
def test_a_worker_checks(start, send, client, monkeypatch):
    from brainscore_web.uploads import checking, views

    monkeypatch.setattr(views, "begin_checks", checking.begin_checks)
    upload = start()
    send(upload, "csv", b"stimulus_id\na\n")
    client.post(f"/uploads/{upload.pk}/check/")
    upload.refresh_from_db()
    assert upload.state == "checking"
    call_command("db_worker", queue_name="*", batch=True, startup_delay=False, interval=0, reload=False, verbosity=0)
    upload.refresh_from_db()
    assert upload.state == "accepted"


@pytest.fixture
def server(tmp_path, django_db_setup, transactional_db):
    """A real server with a database of its own, and ten drafts of one person and one of another."""
    home = tmp_path / "site"
    environment = {name: value for name, value in os.environ.items() if not name.startswith(("DATABASE", "BRAINSCORE"))}
    environment |= {
        "BRAINSCORE_SITE_HOME": str(home),
        "BRAINSCORE_SITE_QUOTA_MB": "5",
        "DATABASE_URL": django_db_setup.write(home),
    }
    people = json.loads(_python(_PREPARE, environment).splitlines()[-1])
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    process = subprocess.Popen(
        [sys.executable, "-m", "gunicorn", "brainscore_web.wsgi", "-b", f"127.0.0.1:{port}", *_THREADS],
        env=environment,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )

    def kill():
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()

    _connect(port).close()
    owners = {}
    for session, *drafts in people:
        page = _get(port, f"/uploads/{drafts[0]}/", session)
        forgery = re.search(r'name="csrfmiddlewaretoken" value="([^"]+)"', page)[1]
        cookie = re.search(r"csrftoken=([^;]+)", page)[1]
        owners |= dict.fromkeys(drafts, (session, forgery, cookie))

    def head(draft, length):
        session, forgery, cookie = owners[draft]
        return (
            f"POST /uploads/{draft}/zip/ HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nContent-Length: {length}\r\n"
            f"Cookie: sessionid={session}; csrftoken={cookie}\r\nX-CSRFToken: {forgery}\r\nConnection: close\r\n"
            "Content-Type: multipart/form-data; boundary=x\r\n\r\n"
        ).encode()

    (_, *drafts), (_, other) = people
    yield SimpleNamespace(
        home=home, environment=environment, drafts=drafts, other=other, port=port, kill=kill, head=head
    )
    if process.poll() is None:
        kill()


_THREADS = ("-k", "gthread", "--workers", "2", "--threads", "4")
_BEFORE = b'--x\r\nContent-Disposition: form-data; name="file"; filename="a.zip"\r\n\r\n'
_BEHIND = b"\r\n--x--\r\n"


@pytest.mark.slow(reason="starts a server")
def test_a_server_in_a_race_for_the_quota_and_killed(server):
    """Of eight requests at once to its two processes two have room; killed, it leaves nothing that counts."""
    body = _BEFORE + b"x" * 2_000_000 + _BEHIND
    together = threading.Barrier(8)
    answers = []

    def send(draft):
        with _connect(server.port) as link:
            together.wait(120)
            link.sendall(server.head(draft, len(body)))
            try:
                link.sendall(body)
                answers.append(link.recv(12))
            except ConnectionError:  # it was refused before it was read
                answers.append(b"refused")

    threads = [threading.Thread(target=send, args=(draft,)) for draft in server.drafts[:8]]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(300)
    assert len(answers) == 8
    assert answers.count(b"HTTP/1.1 303") == 2
    assert [path.stat().st_size for path in server.home.rglob("incoming/*")] == [2_000_000] * 2

    before = set(server.home.rglob("incoming/*"))
    with _connect(server.port) as link:
        link.sendall(server.head(server.other, 4_000_000) + _BEFORE + b"x" * 2_000_000)
        _until(lambda: any(path.stat().st_size for path in set(server.home.rglob("incoming/*.part")) - before))
        server.kill()
    assert [path.suffix for path in set(server.home.rglob("incoming/*")) - before] == [".part"]
    after = _python(_AFTER, server.environment)
    assert after.splitlines() == ["0", "0 uploads checked, 1 leftovers removed", "0 None"]
    assert set(server.home.rglob("incoming/*")) == before


_SET_UP = """
import os
os.environ["DJANGO_SETTINGS_MODULE"] = "brainscore_web.settings"
import django
django.setup()
from datetime import timedelta
from functools import partial
from django.utils import timezone
from django.core.management import call_command
from brainscore_web.accounts.models import User
from brainscore_web.uploads.models import Upload, UploadedFile
from brainscore_web.uploads.files import bytes_used
"""
_PREPARE = (
    _SET_UP
    + """
call_command("collectstatic", interactive=False, verbosity=0)
import json
from django.test import Client
made = []
for name, count in (("a", 10), ("b", 1)):
    user = User.objects.create_superuser(f"{name}@example.org", "correct horse battery")
    drafts = [Upload.objects.create(owner=user, identifier="A1", assembly_identifier="A1") for _ in range(count)]
    browser = Client()
    browser.force_login(user)
    made.append([browser.session.session_key, *[str(draft.pk) for draft in drafts]])
print(json.dumps(made))
"""
)
_AFTER = (
    _SET_UP
    + """
file = UploadedFile.objects.get(upload__owner__email="b@example.org")
UploadedFile.objects.filter(pk=file.pk).update(touched=timezone.now() - timedelta(minutes=3))
print(bytes_used(file.upload.owner))
call_command("check_uploads")
file.refresh_from_db()
print(file.reserved, file.size)
"""
)


def _python(code, environment):
    done = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    return done.stdout


def _until(condition, seconds=120):
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.05)


def _connect(port):
    end = time.monotonic() + 120
    while True:
        try:
            return socket.create_connection(("127.0.0.1", port), timeout=180)
        except ConnectionRefusedError:
            assert time.monotonic() < end
            time.sleep(0.1)


def _get(port, path, session):
    with _connect(port) as link:
        head = f"GET {path} HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nCookie: sessionid={session}\r\nConnection: close\r\n"
        link.sendall(head.encode() + b"Accept-Encoding: identity\r\n\r\n")
        return b"".join(iter(lambda: link.recv(1 << 16), b"")).decode()
