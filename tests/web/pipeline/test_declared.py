"""Files that submissions name: what is fetched from where, and what is not."""

import hashlib
import http.server
import json
import threading
from datetime import timedelta

import pytest
from django.utils import timezone

from brainscore_core.submission import Package
from brainscore_web.jobs.models import Email
from brainscore_web.submissions import declared_files, pipeline, steps
from brainscore_web.submissions.declared_files import fetch_declared_files
from brainscore_web.submissions.models import Revision, Step
from brainscore_web.submissions.pipeline.runner import run_next_step
from brainscore_web.uploads.models import Upload, UploadedFile
from brainscore_web.uploads.storage import storage
from tests.web._plugins import model_files

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.slow(reason="starts processes that fetch files")]

WEIGHTS = b"weights of a network" * 100
SHA1 = hashlib.sha1(WEIGHTS, usedforsecurity=False).hexdigest()
SHA256 = hashlib.sha256(WEIGHTS).hexdigest()


class _Server(http.server.ThreadingHTTPServer):
    """Answers with weights, or leads elsewhere; notes what it was asked for."""

    def __init__(self):
        self.asked = []
        self.elsewhere = ""
        super().__init__(("127.0.0.1", 0), _Answers)
        threading.Thread(target=self.serve_forever, daemon=True).start()

    @property
    def url(self):
        return f"http://127.0.0.1:{self.server_port}"


class _Answers(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        self.server.asked.append((self.path, dict(self.headers)))
        if "elsewhere" in self.path:
            self.send_response(302)
            self.send_header("Location", self.server.elsewhere)
            self.send_header("Content-Length", "0")
            self.end_headers()
            return
        self.send_response(200)
        self.send_header("Content-Length", str(len(WEIGHTS)))
        self.end_headers()
        self.wfile.write(WEIGHTS)

    def log_message(self, *_):
        pass


@pytest.fixture
def servers(monkeypatch):
    """The site's own S3, which may be asked, and a server inside of its network, which may not."""
    trusted, inside = _Server(), _Server()
    monkeypatch.setenv("AWS_ENDPOINT_URL", trusted.url)
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "of the site")
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "of the site")
    monkeypatch.setenv("BRAINSCORE_TOKEN", "bs_of_the_site")
    yield trusted, inside
    for server in (trusted, inside):
        server.shutdown()
        server.server_close()


def naming(*calls):
    """A package whose model names files."""
    lines = "\n".join(f"    {call}" for call in calls)
    files = model_files()
    files["models/tiles_8/weights.py"] = (
        '"""Weights."""\n\nfrom brainscore_core.supported_data_standards.brainio.fetch import fetch\n'
        "from brainscore_vision.model_helpers.s3 import load_weight_file\n\n\n"
        f"def weights():\n{lines}\n"
    )
    return files


def got(owner, *calls):
    package = Package({path: text.encode() for path, text in naming(*calls).items()})
    said = []
    found = fetch_declared_files(package, Revision(by=owner), say=said.append, stopped=lambda: False)
    return [(one.verified, one.problem) for one in found], said


def test_what_is_public_is_fetched_and_verified(servers, owner):
    """Without credentials, into a cache of its own."""
    trusted, _inside = servers
    found, _ = got(
        owner,
        f'fetch("{trusted.url}/good.bin", sha256="{SHA256}")',
        f'fetch("{trusted.url}/bad.bin", sha1="{"0" * 40}")',
    )
    assert found[0] == (True, "")
    assert not found[1][0]
    assert "0" * 40 in found[1][1]
    assert (declared_files.files_home() / SHA256 / "good.bin").read_bytes() == WEIGHTS
    assert not (declared_files.files_home() / ("0" * 40) / "bad.bin").exists()
    assert "of the site" not in json.dumps(trusted.asked)
    assert "bs_of" not in json.dumps(trusted.asked)


def test_private_networks_are_not_asked(servers, owner):
    """Not by their address, not by a name, not where another server leads there."""
    trusted, inside = servers
    trusted.elsewhere = f"{inside.url}/secret"
    found, _ = got(
        owner,
        f'fetch("{inside.url}/admin", sha1="{SHA1}")',
        f'fetch("http://localhost:{inside.server_port}/admin", sha1="{SHA1}")',
        f'fetch("{trusted.url}/elsewhere", sha1="{SHA1}")',
        f'fetch("http://169.254.169.254/latest/meta-data", sha1="{SHA1}")',
    )
    assert [verified for verified, _problem in found] == [False] * 4
    assert all("is not a public address" in problem for _verified, problem in found)
    assert inside.asked == []


def test_other_addresses_are_refused(servers, owner, tmp_path):
    """Files of the machine are not read."""
    secret = tmp_path / "secret"
    secret.write_bytes(WEIGHTS)
    found, _ = got(owner, f'fetch("{secret.as_uri()}", sha1="{SHA1}")', f'fetch("ftp://example.org/a", sha1="{SHA1}")')
    assert [verified for verified, _problem in found] == [False] * len(found)
    assert not (declared_files.files_home() / SHA1).exists()


def test_the_sites_own_cache_is_not_read(servers, owner, tmp_path, monkeypatch):
    """Hashes of private data are no secret: who names one gets nothing for it."""
    _trusted, inside = servers
    cached = tmp_path / "brainio" / SHA1 / "private.bin"
    cached.parent.mkdir(parents=True)
    cached.write_bytes(WEIGHTS)
    mirror = tmp_path / "mirror" / f"127.0.0.1:{inside.server_port}" / "private.bin"
    mirror.parent.mkdir(parents=True)
    mirror.write_bytes(WEIGHTS)
    monkeypatch.setenv("BRAINSCORE_MIRROR", str(tmp_path / "mirror"))
    found, _ = got(owner, f'fetch("{inside.url}/private.bin", sha1="{SHA1}")')
    assert [verified for verified, _problem in found] == [False]


@pytest.fixture
def uploaded(owner, member):
    """Makes an upload that was accepted; gives the call that loads its file."""

    def make(visibility, by=owner):
        upload = Upload.objects.create(
            owner=by, identifier="Mine2026", assembly_identifier="Mine2026", visibility=visibility, state="accepted"
        )
        version = storage().new_version()
        key = f"brainscore-vision/data/user_{by.pk}/stimulus_Mine2026.csv"
        place = storage().root / storage().bucket / key / version
        place.parent.mkdir(parents=True)
        place.write_bytes(WEIGHTS)
        UploadedFile.objects.create(
            upload=upload, kind="csv", size=len(WEIGHTS), sha1=SHA1, sha256=SHA256, bucket=storage().bucket, key=key,
            version_id=version,
        )  # fmt: skip
        address = f"http://localhost/uploads/files/{storage().bucket}/{key}?versionId={version}"
        return f'fetch("{address}", sha1="{SHA1}")'

    return make


def test_own_uploads_come_from_the_storage(uploaded, owner, servers):
    """A public upload is available without a request to this site itself."""
    found, _ = got(owner, uploaded("public"))
    assert found == [(True, "")]
    assert (declared_files.files_home() / SHA1 / "stimulus_Mine2026.csv").read_bytes() == WEIGHTS
    assert servers[0].asked == servers[1].asked == []


def test_private_uploads_stay_where_they_are(uploaded, owner, member):
    """Their owner's are compared and left alone; others' are as if they did not exist."""
    call = uploaded("private")
    assert got(owner, call)[0] == [(True, "")]
    assert not declared_files.files_home().exists()
    ((verified, problem),) = got(member, call)[0]
    assert not verified
    assert "is not available" in problem
    ((verified, problem),) = got(owner, call.replace(SHA1, "1" * 40))[0]
    assert not verified


def test_the_check_step_tells(submit, states, servers):
    """What is not available is a finding with its line; the test step is never reached."""
    trusted, _inside = servers
    good = f'fetch("{trusted.url}/good.bin", sha256="{SHA256}")'
    bad = f'fetch("{trusted.url}/bad.bin", sha256="{"0" * 64}")'
    revision = submit(naming(good, bad))
    assert run_next_step()  # it goes on as a long step
    assert run_next_step(), revision.findings
    assert states(revision) == "fail wait skip wait wait"
    step = Step.objects.get(revision=revision, kind="check")
    assert [one["verified"] for one in step.result["files"]] == [True, False]
    assert "good.bin" in step.log
    revision.refresh_from_db()
    (error,) = [one for one in revision.findings if one["severity"] == "error"]
    assert (error["check"], error["file"], error["line"]) == ("declared files", "models/tiles_8/weights.py", 9)
    assert [path.name for path in declared_files.files_of(revision)] == ["good.bin"]


def test_requirements_lead_nowhere(submit, states):
    """Other indexes and addresses are not asked, and what needs building is refused, line by line."""
    files = model_files()
    files["models/tiles_8/requirements.txt"] = (
        "numpy\n--index-url http://10.0.0.1/simple\nnet @ https://10.0.0.1/net-1.0-py3-none-any.whl\n"
    )
    revision = submit(files)
    if states(revision).startswith("wait"):  # nothing was found when it was received
        assert run_next_step()
        assert run_next_step()
    assert states(revision).startswith("fail")
    revision.refresh_from_db()
    text = json.dumps(revision.findings)
    assert "requirements.txt" in text
    assert "10.0.0.1" in text


def test_files_that_nobody_names_any_more_are_forgotten(submit, servers):
    trusted, _inside = servers
    revision = submit(naming(f'fetch("{trusted.url}/good.bin", sha256="{SHA256}")'))
    assert run_next_step()  # it goes on as a long step
    assert run_next_step(), revision.findings
    (needed,) = declared_files.files_of(revision)
    other = declared_files.files_home() / ("1" * 40) / "other.bin"
    other.parent.mkdir(parents=True)
    other.write_bytes(b"x")
    soon = timezone.now() + timedelta(minutes=1)
    assert declared_files.delete_old_files(timezone.now() - timedelta(days=1)) == 0  # both are new
    assert declared_files.delete_old_files(soon, dry=True) == 1
    assert other.exists()
    assert declared_files.delete_old_files(soon) == 1
    assert (needed.exists(), other.exists()) == (True, False)
    pipeline.withdraw(revision.submission, revision.submission.owner)
    assert declared_files.delete_old_files(soon) == 1
    assert not needed.exists()


@pytest.mark.slow(reason="tries to connect several times, with pauses")
def test_a_server_that_cannot_be_reached_is_tried_again(submit, states, servers, staff, monkeypatch):
    """It may be the network of the site: the submitter is asked nothing, administrators hear of it in the end."""
    trusted, _inside = servers
    fetch, answers = declared_files._run_fetch_process, []

    def fetch_once(question, stopped):
        answers.extend([] if answers else fetch(question, stopped))
        return answers  # the same for each attempt of the step

    monkeypatch.setattr(declared_files, "_run_fetch_process", fetch_once)
    address = trusted.url
    trusted.shutdown()
    trusted.server_close()
    revision = submit(naming(f'fetch("{address}/good.bin", sha256="{SHA256}")'))
    assert run_next_step()  # it goes on as a long step
    for attempt in range(1, steps.STEPS.retry.attempts + 1):
        Step.objects.filter(revision=revision, kind="check").update(due=timezone.now())
        assert run_next_step()
        step = Step.objects.get(revision=revision, kind="check")
        assert "the site could not reach 127.0.0.1 (models/tiles_8/weights.py:8)" in step.reason
        assert step.state == ("waiting" if attempt < steps.STEPS.retry.attempts else "failed")
    owner = Email.objects.get(to=revision.submission.owner)
    assert "a problem with the site, not with your submission" in owner.body
    assert "127.0.0.1" not in owner.body.split("http://")[0]
    assert Email.objects.filter(to=staff).count() == 1
