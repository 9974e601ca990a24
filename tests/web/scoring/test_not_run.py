"""Pairs that the site could not run: a neutral mark, retried, explained to operators, nothing to fix."""

import errno
import socket
import urllib.request
from datetime import timedelta

import pytest
import requests
from django.urls import reverse
from django.utils import timezone

from brainscore_core.errors import DataUnavailable, UserError
from brainscore_core.isolation.values import raise_error
from brainscore_core.plugins import loading as plugin_errors
from brainscore_core.receipts.receipt import BenchmarkInfo, ErrorInfo, ModelInfo, Receipt
from brainscore_core.runner.pair import describe_error, run_pair, write_failed
from brainscore_core.scoring import ResultsStore
from brainscore_core.supported_data_standards.brainio import downloads
from brainscore_vision.model_helpers.activations.temporal.utils import download_weight_file
from brainscore_vision.model_helpers.libraries import unusable
from brainscore_web.jobs.models import Email
from brainscore_web.leaderboard.models import Score
from brainscore_web.leaderboard.reasons import NOT_RUN_REASONS, not_run_reason
from brainscore_web.scoring import runners
from brainscore_web.scoring.claims import claim_job, retry_pairs_not_run
from brainscore_web.scoring.completion import complete_job
from brainscore_web.scoring.models import Job
from brainscore_web.submissions.models import Plugin
from brainscore_web.submissions.status import progress

from .._plugins import model_files
from ._site import SIMULATED, in_tree, publish, submit

HINT = "set BRAINSCORE_MIRROR to a folder"


def receipt(kind, message="no file x.nc", traceback="", notes=(), state="failed"):
    return Receipt(
        model=ModelInfo(identifier="pixels"), benchmark=BenchmarkInfo(identifier="A2026-pls"), state=state,
        error=ErrorInfo(type=kind, message=message, traceback=traceback), notes=notes,
    )  # fmt: skip


@pytest.mark.parametrize(
    ("error", "missing"),
    [
        (("AccessDenied",), "data"),
        (("Offline",), "network"),
        (("StorageError",), "storage"),
        (("OSError", "[Errno 28] No space left on device"), "storage"),
        (("OSError", "[Errno 2] No such file"), None),
        (("RequirementsUnavailable",), "software"),
        (("ValueError", "NotFound: x"), None),
        (("SubjectFailed", "the subject 'a' raised NotFound: x"), None),
        (("SubjectFailed", "the subject 'a' raised X: the subject 'a' did not start"), None),
        (("SubjectFailed", "the subject 'a' did not start:  python: No module named 'brainscore_core'"), "software"),
    ],
)
def test_errors_of_the_site_and_of_the_model(error, missing):
    assert not_run_reason(receipt(*error)) == NOT_RUN_REASONS.get(missing, "")


def test_the_worker_says_what_pages_say():
    assert runners._in_words(receipt("Offline")) == "not run"
    assert runners._in_words(receipt("ValueError")) == "failed"


def test_pairs_of_submitted_models_have_a_lower_limit(settings):
    settings.SUBMISSIONS = {**settings.SUBMISSIONS, "pair_seconds": 7200}
    for timeout, submitted in ((43_200.0, 7200), (60.0, 60), (None, 7200)):
        assert runners._limit_of_submitted(timeout) == submitted


def test_what_a_sandboxed_model_raises_is_its_own():
    """Its files were there before it was published: it cannot call its failure one of the site."""
    own = "Traceback …\nIn the subject's process:\nDataUnavailable: no file"
    note = "the model ran in a cage: without network, seeing only its own files and the stimuli"
    assert not_run_reason(receipt("DataUnavailable", traceback=own)) == NOT_RUN_REASONS["data"]
    assert not_run_reason(receipt("DataUnavailable", traceback=own, notes=(note,))) == ""
    assert not_run_reason(receipt("DataUnavailable", notes=(note,))) == NOT_RUN_REASONS["data"]


def lacking(package):
    """What a library raises that needs a package which is not installed."""
    try:
        raise ModuleNotFoundError(f"No module named '{package}'", name=f"{package}.nn")
    except ModuleNotFoundError as error:
        raise unusable("torchvision.models", "alexnet", error) from error


@pytest.fixture
def without_torch(monkeypatch):
    monkeypatch.setattr(plugin_errors, "find_spec", lambda name: None if name in ("torch", "absent") else object())


@pytest.mark.parametrize(
    ("load", "missing"),
    [
        (lambda: lacking("torch"), True),
        (lambda: (_ for _ in ()).throw(ImportError("AutoModel requires the PyTorch library")), True),
        (lambda: (_ for _ in ()).throw(ImportError("cannot import name 'x' from 'timm'")), False),
        (lambda: (_ for _ in ()).throw(DataUnavailable("no file of torch")), False),
    ],
)
def test_a_machine_without_torch_does_not_run_a_pair(load, missing, without_torch):
    made = run_pair(
        "alexnet", "A2026-pls", load_model=lambda model: load(), load_benchmark=lambda benchmark: None,
        raise_errors=False,
    ).receipt  # fmt: skip
    assert (not_run_reason(made) == NOT_RUN_REASONS["software"]) == missing
    assert made.error.message.startswith("torch is not installed: ") == missing


@pytest.mark.parametrize(("package", "own"), [("torch", False), ("timm", True), ("absent", True)])
def test_what_a_sandboxed_model_lacks_is_checked_outside(without_torch, package, own):
    """Libraries of the platform that are missing on this machine; for others, the model has to name requirements."""
    answer = {"kind": "user", "type": "MissingRequirementError", "remedy": None, "traceback": "Traceback …"}
    with pytest.raises(UserError) as raised:
        raise_error("tiles-8", {**answer, "message": f"{package} is not installed: No module named 'x'"})
    note = "the model ran in a cage: without network, seeing only its own files and the stimuli"
    error, _ = describe_error(raised.value)
    made = receipt(error.type, error.message, error.traceback, (note,))
    assert not_run_reason(made) == ("" if own else NOT_RUN_REASONS["software"])


@pytest.fixture
def no_network(monkeypatch, tmp_path):
    def refuse(*arguments, **options):
        raise socket.gaierror(socket.EAI_AGAIN, "Temporary failure in name resolution")

    monkeypatch.setattr(socket, "getaddrinfo", refuse)
    monkeypatch.setattr(downloads, "PAUSE", 0)
    monkeypatch.setenv("BRAINIO_HOME", str(tmp_path))
    for name in ("BRAINSCORE_MIRROR", "HTTPS_PROXY", "https_proxy"):
        monkeypatch.delenv(name, raising=False)


ADDRESS = "http://data.example.org/x.nc"


def wrapped():
    try:
        requests.get(ADDRESS, timeout=1)
    except requests.RequestException as error:
        raise UserError("no stimuli", remedy="try again") from error


@pytest.mark.parametrize(
    ("load", "missing"),
    [
        (lambda: urllib.request.urlopen(ADDRESS), "network"),
        (lambda: requests.get(ADDRESS, timeout=1), "network"),
        (lambda: download_weight_file(ADDRESS), "data"),
        (wrapped, "network"),
        (lambda: (_ for _ in ()).throw(TimeoutError("the network has not converged")), None),
        (lambda: (_ for _ in ()).throw(BrokenPipeError(errno.EPIPE, "Broken pipe")), None),
    ],
)
def test_errors_of_any_library_without_network(load, missing, no_network):
    made = run_pair(
        "a", "A2026-pls", load_model=None, load_benchmark=lambda benchmark: load(), raise_errors=False
    ).receipt
    assert not_run_reason(made) == NOT_RUN_REASONS.get(missing, ""), made.error


@pytest.fixture
def ended(folders):
    """Let the next job end with an error; return the job."""
    store = ResultsStore(str(folders / "results"))

    def end(kind, message):
        lease = claim_job("w")
        job = lease.row
        pair = (job.model.identifier, job.benchmark.identifier)
        traceback = f"{kind}: {message}\n{HINT}"
        assert complete_job(lease, store, write_failed(store, *pair, kind=kind, message=message, traceback=traceback))
        job.refresh_from_db()
        return job

    return end


@pytest.fixture
def submission(owner):
    """A published model with a job for each of two benchmarks."""
    _, benchmarks = in_tree()
    made = publish(submit(owner, model_files()))
    from brainscore_web.leaderboard.models import VisionModel

    model = VisionModel.objects.get(identifier="tiles-8")
    for benchmark in benchmarks:
        Job.objects.create(model=model, benchmark=benchmark, why="new model").submissions.add(made)
    return made


@pytest.mark.django_db(transaction=True)
def test_pairs_that_were_not_run(submission, ended, owner, staff, client):
    """The submission ends, its e-mail asks for nothing, and pages show a neutral mark; operators see the hint."""
    job = ended("DataUnavailable", f"no file x.nc; {HINT}")
    assert (job.state, job.reason, job.pauses) == ("not run", NOT_RUN_REASONS["data"], 1)
    assert HINT in job.internal
    assert ended("ValueError", "wrong size").state == "failed"
    submission.refresh_from_db()
    assert submission.state == "done"
    body = Email.objects.get(to=owner, submission=submission).body
    assert "1 failed, 1 not run yet" in body
    asked, told = body.split("Not run yet:")
    assert "wrong size" in asked
    assert NOT_RUN_REASONS["data"] not in asked
    assert f"tiles-8 on {job.benchmark.identifier}: {NOT_RUN_REASONS['data']}" in told
    assert "need not do anything" in told
    assert HINT not in body
    score = Score.objects.get(receipt=job.receipt)
    assert (score.state, score.reason) == ("not run", NOT_RUN_REASONS["data"])
    page, receipt_page = reverse("scoring:job", args=[job.pk]), reverse("cards:receipt", args=["vision", job.receipt])
    card, board = reverse("cards:model", args=["vision", "tiles-8"]), reverse("leaderboard:board", args=["vision"])
    for reader, sees in ((owner, False), (staff, True)):
        client.force_login(reader)
        for address in (page, receipt_page):
            text = client.get(address).content.decode()
            assert NOT_RUN_REASONS["data"] in text
            assert (HINT in text) == sees, (reader, address)
        assert '<td class="none not-run">' in client.get(board, {"unscored": "1"}).content.decode()
        text = client.get(card).content.decode()
        assert NOT_RUN_REASONS["data"] in text
        assert HINT not in text


@pytest.mark.django_db(transaction=True)
def test_equal_reasons_are_told_once(submission, ended, owner):
    """Of all pairs with the same reason the e-mail has one line."""
    ended("ValueError", "wrong size")
    ended("ValueError", "wrong size")
    body = Email.objects.get(to=owner, submission=submission).body
    first, second = sorted(SIMULATED)
    assert f"- tiles-8 on 2 benchmarks ({first}, {second}): wrong size" in body
    assert body.count("wrong size") == 1


@pytest.mark.django_db(transaction=True)
def test_the_site_tries_again_by_itself(submission, ended, folders, owner):
    """After growing pauses, or as soon as something arrived; then the submission's numbers follow."""
    job = ended("Offline", "cannot fetch https://example.org/x.nc")
    ended("ValueError", "wrong size")
    assert timedelta(minutes=9) < job.due - timezone.now() < timedelta(minutes=11)
    assert retry_pairs_not_run() == 0
    Job.objects.filter(pk=job.pk).update(due=timezone.now())
    assert retry_pairs_not_run() == 1
    assert retry_pairs_not_run() == 0
    again = ended("Offline", "cannot fetch https://example.org/x.nc")
    assert (again.pk, again.pauses) == (job.pk, 2)
    assert again.due - timezone.now() > timedelta(minutes=30)
    Plugin.objects.update(published=timezone.now())
    assert retry_pairs_not_run() == 1
    emails = Email.objects.filter(to=owner).count()
    assert ended("ValueError", "wrong size").pauses == 0
    assert progress(submission, owner).failed == 2
    assert Email.objects.filter(to=owner).count() == emails


@pytest.mark.django_db(transaction=True)
def test_newer_jobs_of_the_pair_are_enough(submission, ended):
    """While another job of the pair is planned, or a later one has ended, the earlier one is left."""
    job = ended("Offline", "no connection")
    Job.objects.update(due=timezone.now())
    newer = Job.objects.create(model=job.model, benchmark=job.benchmark, why="asked for")
    assert retry_pairs_not_run() == 0
    Job.objects.filter(pk=newer.pk).update(state="scored")
    assert retry_pairs_not_run() == 0


@pytest.mark.django_db(transaction=True)
def test_any_result_counts_before_a_pair_that_was_not_run(board):
    """A score stays on the leaderboard although the site could not run its pair again."""
    from django.contrib.auth.models import AnonymousUser

    from brainscore_web.leaderboard import revision
    from brainscore_web.leaderboard.snapshot import STATES, snapshot_for

    public = snapshot_for(AnonymousUser())
    row, column = next(zip(*(public.state == STATES.index("scored")).nonzero(), strict=True))
    known = Score.objects.select_related("model", "benchmark").get(pk=public.score[row, column])
    Score.objects.create(
        receipt="20990101T000000000000Z-000000000001", model=known.model, benchmark=known.benchmark, version="",
        state="not run", reason=NOT_RUN_REASONS["data"], created=timezone.now(),
    )  # fmt: skip
    revision.bump()
    snapshot = snapshot_for(AnonymousUser())
    place = snapshot.model_index[known.model.identifier], snapshot.benchmark_index[known.benchmark.identifier]
    assert STATES[snapshot.state[place]] == "scored"
    assert snapshot.score[place] == known.pk
    Score.objects.filter(model=known.model, benchmark=known.benchmark, state="scored").delete()
    revision.bump()
    assert STATES[snapshot_for(AnonymousUser()).state[place]] == "not run"
