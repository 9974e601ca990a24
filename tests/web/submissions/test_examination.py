"""Submissions are examined by a process with limits; the server's own process does nothing that takes long."""

import base64
import io
import json
import os
import resource
import signal
import threading
import time
import zipfile

import pytest

from brainscore_web.profile.personal_data import revisions_of
from brainscore_web.submissions import examining, receiving
from brainscore_web.submissions.examining import Refused, Source
from brainscore_web.submissions.models import Revision
from brainscore_web.submissions.pipeline.runner import run_next_step
from tests.web._plugins import benchmark_files, model_files, zipped

_TUPLE = "x = (" + "1," * 480_000 + ")\n"  # 1 MB
_LITERALS = "\n".join(f"x{number} = '/home/{number}'" for number in range(9_900)) + "\n"


def stored(files):
    """An archive without compression: much of the same text would be refused as a bomb."""
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as archive:
        for path, text in files.items():
            archive.writestr(path, text)
    return stream.getvalue()


def worst():
    """As much code as is accepted; each line has a finding. It takes 5 s."""
    parts = {f"models/tiles_8/part_{number}.py": _LITERALS for number in range(5)}
    return stored({**model_files(size=9), **parts})


def large():
    """As many bytes as are accepted."""
    return stored({**model_files(), **{f"models/tiles_8/text_{number}.txt": "a" * 4_900_000 for number in range(4)}})


def bomb():
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("models/m/__init__.py", b"#" * 4_900_000)
    return stream.getvalue()


@pytest.fixture(autouse=True)
def _examined_in_this_process(_small_site, settings):
    """Replaces the fixture of that name: here the process is the subject. Requests wait until it has ended."""
    settings.SUBMISSIONS = {**settings.SUBMISSIONS, "size": 20_000_000, "person": 100_000_000, "waiting": 60.0}


def own_seconds():
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime


def test_a_model_is_examined(submitter, send):
    began = time.monotonic()
    assert send(model_files()).status_code == 302
    assert time.monotonic() - began < 10  # 0.4 s on a machine that does nothing else
    revision = Revision.objects.get()
    assert not [one for one in revision.findings if one["severity"] == "error"]
    assert [one["name"] for one in revision.plugins] == ["tiles_8"]
    assert bytes(revision.archive) == zipped_as_stored(model_files())


def zipped_as_stored(files):
    from brainscore_core.submission import read_zip

    return read_zip(zipped(files)).to_zip()


@pytest.mark.parametrize(
    ("content", "status"),
    [
        (stored({**model_files(), "models/tiles_8/data.py": _TUPLE}), 302),
        pytest.param(worst(), 302, marks=pytest.mark.slow(reason="examines for seconds what takes longest")),
        (bomb(), 400),
    ],
    ids=["tuple", "worst", "bomb"],
)
def test_the_server_itself_does_little(submitter, send, content, status):
    send(model_files("warm-up", size=3))
    before = own_seconds()
    assert send(content, name="tiles_8.zip").status_code == status
    assert own_seconds() - before < 0.8  # 0.1 s; in the process, up to 5 s
    if status == 302:
        revision = Revision.objects.order_by("created").last()
        assert {"models/tiles_8/data.py", "models/tiles_8/part_0.py"} & {one["file"] for one in revision.findings}
        assert len(revision.findings) <= 1_001


@pytest.mark.parametrize(
    ("content", "limit", "text"),
    [
        pytest.param(
            worst(),
            {"seconds": 1},
            "could not be examined within 1 s",
            marks=pytest.mark.slow(reason="waits for the limit"),
        ),
        (large(), {"memory": 60_000_000}, "could not be examined within 60 MB of memory"),
    ],
    ids=["time", "memory"],
)
def test_what_exceeds_a_limit_is_refused(submitter, send, ask, token_of, settings, content, limit, text):
    settings.SUBMISSIONS = {**settings.SUBMISSIONS, **limit}
    answer = send(content)
    assert answer.status_code == 400
    assert text in answer.content.decode()
    archive = io.BytesIO(content)
    archive.name = "x.zip"
    told = ask("POST", "submissions", token=token_of(submitter, "submit"), data={"archive": archive})
    assert told.status_code == 400
    assert text in told.json()["message"]
    assert told.json()["remedy"] == "divide it into several submissions, with smaller files"
    assert not Revision.objects.exists()


def children():
    """Processes of examinations below this one."""
    found = []
    for name in os.listdir("/proc"):
        try:
            with open(f"/proc/{name}/cmdline", "rb") as stream:
                words = stream.read().split(b"\0")
        except OSError:
            continue
        if b"brainscore_web.submissions.examination_process" in words and words[1] == b"-P":
            with open(f"/proc/{name}/environ", "rb") as stream:
                found.append((int(name), stream.read()))
    return found


def test_a_process_that_is_killed(submitter, send, monkeypatch, caplog):
    monkeypatch.setenv("BRAINSCORE_SITE_SECRET_KEY", "only-for-the-server")
    seen = []

    def kill():
        end = time.monotonic() + 20
        while not seen and time.monotonic() < end:
            for pid, environment in children():
                seen.append(environment)
                os.kill(pid, signal.SIGKILL)
            time.sleep(0.01)

    killer = threading.Thread(target=kill)
    killer.start()
    answer = send(worst())
    killer.join()
    assert seen
    assert not [text for text in seen if b"only-for-the-server" in text or b"DATABASE_URL" in text]
    assert answer.status_code == 503
    assert answer["Retry-After"] == "60"
    assert "ended unexpectedly" in answer.content.decode()
    assert "signal 9" in caplog.text
    assert not receiving._waiting
    assert send(model_files()).status_code == 302


def test_a_process_that_takes_too_long(tmp_path, monkeypatch):
    request = {"origin": "zip", "name": "x", "limits": {}, "seconds": 10, "memory": 1_000_000_000}
    (tmp_path / "request.json").write_text(json.dumps(request))
    (tmp_path / "upload").write_bytes(worst())
    assert examining.run_examination(tmp_path, timeout=0.5) is None
    assert not [pid for pid, environment in children() if str(tmp_path).encode() in environment]


def test_what_takes_long_is_pending_until_the_check_step(submitter, send, ask, token_of, client, settings):
    settings.SUBMISSIONS = {**settings.SUBMISSIONS, "waiting": 0.0}
    files = zipped({**model_files(), **benchmark_files(), "models/tiles_8/data.py": _TUPLE})
    assert send(files).status_code == 302
    revision = Revision.objects.get()
    assert (revision.submission.state, revision.submission.title) == ("queued", "mine.zip")
    address = f"/submissions/{revision.submission_id}/"
    page = client.get(address).content.decode()
    assert "Pending: the files are being examined" in page
    assert "&unexamined=1" in page
    assert client.get(f"{address}1/archive.zip").status_code == 404
    assert client.get(f"{address}1/code/").status_code == 200
    assert "HX-Refresh" not in client.get(f"{address}progress/?unexamined=1")
    token = token_of(submitter, "submit", "read")
    card = ask("GET", f"submissions/{revision.submission_id}", token=token).json()
    assert [(one["plugins"], one["findings"]) for one in card["revisions"]] == [([], [])]
    assert ask("GET", f"submissions/{revision.submission_id}/archive", token=token).status_code == 404
    assert base64.b64encode(files).decode() == revisions_of(submitter)[0]["archive"]
    assert send(files).status_code == 409  # the same form again
    settings.SUBMISSIONS = {**settings.SUBMISSIONS, "waiting": 60.0}
    assert send(files).status_code == 409  # although it is examined at once now

    assert run_next_step()
    revision = Revision.objects.get()
    assert revision.is_examined
    assert (revision.submission.state, revision.submission.title) == ("changes", "author2026, tiles_8")
    assert {one["name"] for one in revision.plugins} == {"author2026", "tiles_8"}
    assert {one["file"] for one in revision.findings if one["severity"] == "error"} == {"models/tiles_8/data.py"}
    assert revision.steps.get(kind="review").state == "waiting"
    assert client.get(f"{address}progress/?unexamined=1")["HX-Refresh"] == "true"
    assert client.get(f"{address}1/archive.zip").status_code == 200


def test_the_same_files_are_noticed_when_they_are_examined(submitter, send, settings):
    send(model_files())
    settings.SUBMISSIONS = {**settings.SUBMISSIONS, "waiting": 0.0}
    send(model_files())
    first, second = Revision.objects.order_by("created")
    first.steps.update(state="cancelled")
    assert run_next_step()
    second.refresh_from_db()
    assert [one["message"] for one in second.findings] == ["you have already sent exactly these files: tiles_8"]


@pytest.mark.parametrize(("answer", "state"), [({"error": "x", "remedy": "y"}, "changes"), (None, "queued")])
def test_the_check_step_refuses_or_tries_again(submitter, send, settings, monkeypatch, answer, state):
    settings.SUBMISSIONS = {**settings.SUBMISSIONS, "waiting": 0.0}
    send(model_files())
    monkeypatch.setattr(examining, "run_examination", lambda folder, *, timeout: answer)
    assert run_next_step()
    revision = Revision.objects.get()
    assert (revision.submission.state, revision.is_examined) == (state, False)
    assert [(one["message"], one["remedy"]) for one in revision.findings] == ([("x", "y")] if answer else [])


def test_a_repository_that_answers_slowly_is_pending(submitter, ask, token_of, settings, monkeypatch):
    settings.SUBMISSIONS = {**settings.SUBMISSIONS, "waiting": 0.0}
    told = ask("POST", "submissions", token=token_of(submitter, "submit"), data={"url": "https://example.org/a"})
    assert (told.status_code, told.json()["title"]) == (201, "https://example.org/a")
    seen = []
    monkeypatch.setattr(
        examining,
        "run_examination",
        lambda folder, *, timeout: seen.append(json.loads((folder / "request.json").read_text())),
    )
    assert run_next_step()
    assert [(one["origin"], one["name"]) for one in seen] == [("git", "https://example.org/a")]


def test_at_most_two_requests_wait_at_a_time(submitter, send, monkeypatch):
    started, go = threading.Semaphore(0), threading.Event()

    def wait(folder, *, timeout):
        started.release()
        assert go.wait(20)
        return {"error": "x", "remedy": "y"}

    monkeypatch.setattr(examining, "run_examination", wait)
    refused = []

    def examine():
        try:
            receiving._examined_while_waiting(Source("zip", "", b"PK"))
        except Refused as error:
            refused.append(error.status)

    threads = [threading.Thread(target=examine) for _ in range(2)]
    for thread in threads:
        thread.start()
    for _ in threads:
        assert started.acquire(timeout=20)
    assert send(model_files()).status_code == 302  # pending at once
    assert not Revision.objects.get().is_examined
    go.set()
    for thread in threads:
        thread.join()
    assert refused == [400, 400]
    assert not receiving._waiting
