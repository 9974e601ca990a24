"""Remote workers: which pairs they get, what they may upload, and how their results are verified."""

import errno
import hashlib
import io
import json
import zipfile
from datetime import timedelta

import pytest
from django.conf import settings as django_settings
from django.contrib.auth.models import Permission
from django.core import mail
from django.core.cache import caches
from django.utils import timezone

from brainscore_core.receipts.environment import platform_code
from brainscore_core.receipts.output import LOG_BYTES
from brainscore_core.receipts.receipt import AttachmentInfo
from brainscore_core.scoring import BenchmarkInfo, ErrorInfo, Estimate, ModelInfo, Receipt, ResultsStore
from brainscore_web.accounts.models import ApiToken, User
from brainscore_web.leaderboard.models import Benchmark, Score, VisionModel
from brainscore_web.scoring import remote
from brainscore_web.scoring.claims import claim_job, release_expired_jobs
from brainscore_web.scoring.completion import VERIFICATION, complete_job
from brainscore_web.scoring.models import Job, RemoteFailure, RemoteResult, RemoteWorker
from brainscore_web.scoring.services import cancel_job, plan, retry_job

from .._plugins import model_files
from ._site import SIMULATED, in_tree, publish, submit

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def _many_requests(settings):
    settings.API_RATES = {"anonymous": 100_000, "known": 100_000}
    settings.SUBMISSIONS = {**settings.SUBMISSIONS, "verified_share": 0.0}
    caches["rates"].clear()


@pytest.fixture
def owner():
    user = User.objects.create_user("lab@example.org", "correct horse battery", display_name="Lab")
    user.user_permissions.add(Permission.objects.get(codename="run_jobs"))
    return user


@pytest.fixture
def ask(client, owner):
    """``ask('work', …)`` sends a request of the worker *lab*; returns status and content."""
    token = ApiToken.issue(owner, "worker", ["jobs:run"])[1]

    def send(path, content=None, *, token=token, worker="lab", **values):
        headers = {"Authorization": f"Bearer {token}"}
        if content is None:
            body = json.dumps({"worker": worker, **values})
            answer = client.post(f"/api/v1/{path}", body, content_type="application/json", headers=headers)
        else:
            address = f"/api/v1/{path}?worker={worker}&lease={values['lease']}"
            answer = client.post(address, content, content_type="application/zip", headers=headers)
        return answer.status_code, answer.json()

    send.token = token
    return send


def take(ask, **values):
    status, answer = ask("work", **{"code": platform_code(), "version": "1", "sandbox": True, **values})
    assert status == 200, answer
    return answer["pair"]


@pytest.fixture
def planned():
    models, benchmarks = in_tree(("pixels",), SIMULATED)
    plan([model.pk for model in models], [benchmark.pk for benchmark in benchmarks], why="new model")
    return Job.objects.order_by("pk")


def scored(pair, value=0.5, **changes):
    """A receipt of the pair, and what the worker sends."""
    receipt = Receipt(
        **{
            "model": ModelInfo(identifier=pair["model"]),
            "benchmark": BenchmarkInfo(identifier=pair["benchmark"], version=1),
            "state": "scored",
            "score": Estimate(value=value, error=0.01),
            **changes,
        }
    ).identified()
    return receipt, packed({"receipt.json": receipt.to_json()})


def packed(files, compression=zipfile.ZIP_STORED):
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w", compression) as archive:
        for name, text in files.items():
            archive.writestr(name, text)
    return content.getvalue()


def result(ask, pair, content):
    return ask(f"work/{pair['id']}/result", content, lease=pair["lease"])


def test_a_pair_is_taken_renewed_and_completed_once(ask, planned):
    pair = take(ask)
    assert (pair["model"], pair["benchmark"], pair["sandbox"], pair["files"]) == ("pixels", SIMULATED[1], False, [])
    assert take(ask)["benchmark"] != pair["benchmark"]
    assert take(ask) is None
    assert ask(f"work/{pair['id']}/renew", lease=pair["lease"])[1] == {"held": True, "stop": False}
    assert ask(f"work/{pair['id']}/renew", lease="other")[1] == {"held": False, "stop": False}
    receipt, content = scored(pair)
    assert result(ask, pair, content) == (200, {"result": "stored"})
    assert result(ask, pair, content) == (200, {"result": "known"})  # the first response was lost
    job = Job.objects.get(pk=pair["id"])
    assert (job.state, job.receipt) == ("scored", receipt.id)
    assert Score.objects.get().value == 0.5
    stored = ResultsStore(django_settings.SUBMISSIONS["results"]).listing().receipts
    assert [one.id for one in stored] == [receipt.id]
    assert RemoteResult.objects.get().state == "not verified"


def test_a_released_pair_is_taken_again_and_a_cancelled_one_is_not(ask, planned):
    pair = take(ask, without_benchmarks=[SIMULATED[0]])
    ask(f"work/{pair['id']}/release", lease=pair["lease"])
    again = take(ask, without_benchmarks=[SIMULATED[0]])
    assert (again["id"], Job.objects.get(pk=pair["id"]).attempts) == (pair["id"], 1)
    Job.objects.filter(pk=pair["id"]).update(stop=True)
    assert ask(f"work/{pair['id']}/renew", lease=again["lease"])[1] == {"held": True, "stop": True}
    ask(f"work/{pair['id']}/release", lease=again["lease"])
    assert Job.objects.get(pk=pair["id"]).state == "cancelled"


def test_an_expired_lease_is_lost_and_its_result_is_not_stored(ask, planned):
    pair = take(ask)
    Job.objects.filter(pk=pair["id"]).update(claimed=timezone.now() - timedelta(minutes=5))
    assert take(ask)["id"] != pair["id"]
    assert Job.objects.get(pk=pair["id"]).state == "waiting"
    assert result(ask, pair, scored(pair)[1]) == (200, {"result": "lost"})
    assert not Score.objects.exists()
    assert not ResultsStore(django_settings.SUBMISSIONS["results"]).listing().receipts


def test_a_request_whose_response_was_lost_returns_the_same_pair(ask, planned):
    lease = "0123456789abcdef" * 2
    pair = take(ask, lease=lease)
    Job.objects.filter(pk=pair["id"]).update(claimed=timezone.now() - timedelta(minutes=5))
    assert take(ask, lease=lease) == pair
    assert Job.objects.get(pk=pair["id"]).claimed > timezone.now() - timedelta(minutes=1)
    assert take(ask, lease=lease, worker="second")["id"] != pair["id"]
    result(ask, pair, scored(pair)[1])
    assert take(ask, lease=lease) is None
    assert set(planned.values_list("attempts", flat=True)) == {1}
    assert ask("work", code=platform_code(), lease="short")[0] == 400


def test_a_result_that_is_received_twice_at_once_is_stored(ask, planned, monkeypatch):
    pair = take(ask)
    receipt, content = scored(pair)
    complete_job, second = remote.complete_job, []

    def complete(*arguments, **options):
        if not second:
            second.append(None)
            second.append(result(ask, pair, content))
        return complete_job(*arguments, **options)

    monkeypatch.setattr(remote, "complete_job", complete)
    assert result(ask, pair, content) == (200, {"result": "known"})
    assert second[1] == (200, {"result": "stored"})
    stored = ResultsStore(django_settings.SUBMISSIONS["results"]).listing().receipts
    assert [one.id for one in stored] == [receipt.id] == [RemoteResult.objects.get().receipt]


def test_a_result_keeps_its_mark_if_the_server_is_killed_before_the_job_is_complete(ask, planned, monkeypatch):
    pair = take(ask)
    error = ErrorInfo(type="ValueError", message="no tiles", traceback="")
    receipt, content = scored(pair, state="failed", score=None, reason="no tiles", error=error)
    RemoteWorker.objects.update(trusted=True)  # otherwise its failures are not stored

    def complete(*_, **__):
        raise SystemExit

    with monkeypatch.context() as patch:
        patch.setattr(remote, "complete_job", complete)
        with pytest.raises(SystemExit):
            result(ask, pair, content)
    Job.objects.filter(pk=pair["id"]).update(claimed=timezone.now() - timedelta(minutes=5))
    release_expired_jobs()
    RemoteFailure.objects.all().delete()  # as if the worker had been another user's
    assert take(ask, without_benchmarks=[SIMULATED[0]], worker="second") is None  # the receipt is imported
    job = Job.objects.get(pk=pair["id"])
    assert (job.state, job.receipt) == ("failed", receipt.id)
    assert RemoteResult.objects.get(receipt=receipt.id).state == "not verified"
    assert result(ask, pair, content) == (200, {"result": "known"})
    plan([job.model_id], [job.benchmark_id], why="asked for")
    again = take(ask, without_benchmarks=[SIMULATED[0]])
    status, answer = result(ask, again, content)
    assert (status, "already known" in answer["message"]) == (400, True)


def test_a_result_that_breaks_off_is_sent_again(ask, planned, monkeypatch):
    pair = take(ask)
    _, content = scored(pair)
    received = remote.received
    with monkeypatch.context() as patch:
        patch.setattr(remote, "received", lambda stream, length: received(io.BytesIO(content[:100]), length))
        assert result(ask, pair, content)[0] == 503  # a worker tries again after 503
    assert not RemoteResult.objects.exists()
    assert result(ask, pair, content) == (200, {"result": "stored"})


def test_a_full_disk_of_the_site_loses_no_result(ask, planned, monkeypatch):
    pair = take(ask)
    receipt, content = scored(pair)

    def full(*_):
        raise OSError(errno.ENOSPC, "No space left on device", "/srv/results")

    with monkeypatch.context() as patch:
        patch.setattr("brainscore_core.results.folder.sync_to_disk", full)
        status, answer = result(ask, pair, content)
    assert (status, answer["message"]) == (503, "the site cannot store results at the moment")  # without the path
    assert not RemoteResult.objects.exists()
    assert not ResultsStore(django_settings.SUBMISSIONS["results"]).listing().receipts
    assert ask(f"work/{pair['id']}/renew", lease=pair["lease"])[1]["held"]
    assert result(ask, pair, content) == (200, {"result": "stored"})
    assert Job.objects.get(pk=pair["id"]).receipt == receipt.id


def test_private_pairs_stay_on_the_site(ask, planned, owner):
    VisionModel.objects.create(identifier="hidden", visibility="private", owner=owner)
    Benchmark.objects.filter(identifier=SIMULATED[0]).update(access="private")
    hidden = VisionModel.objects.get(identifier="hidden")
    plan([hidden.pk], [Benchmark.objects.get(identifier=SIMULATED[1]).pk], why="new model", priority=9)
    assert take(ask)["benchmark"] == SIMULATED[1]
    assert take(ask) is None


def test_submitted_models_need_a_sandbox_and_come_with_their_plugins(ask, owner, client):
    in_tree((), SIMULATED[:1])
    publish(submit(owner, model_files(size=8)))
    publish(submit(owner, model_files("other-8")))
    model = VisionModel.objects.get(identifier="tiles-8")
    plan([model.pk], [Benchmark.objects.get().pk], why="new model")
    assert take(ask, sandbox=False) is None
    pair = take(ask)
    assert pair["sandbox"]
    headers = {"Authorization": f"Bearer {ask.token}"}
    address = f"/api/v1/work/{pair['id']}/plugins?worker=lab&lease="
    archive = b"".join(client.get(address + pair["lease"], headers=headers).streaming_content)
    with zipfile.ZipFile(io.BytesIO(archive)) as unpacked:
        assert {name.rpartition("/")[0] for name in unpacked.namelist()} == {"models/tiles_8"}
    assert client.get(address + "other", headers=headers).status_code == 404
    files = f"/api/v1/work/{pair['id']}/files?worker=lab&lease={pair['lease']}&path="
    assert client.get(files + "../site.sqlite3", headers=headers).status_code == 404


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"model": ModelInfo(identifier="gabor")}, "the receipt is not of pixels on"),
        ({"created": "2020-01-01T00:00:00.000000Z"}, "the receipt is dated 2020"),
        ({"created": "2100-01-01T00:00:00.000000Z"}, "the receipt is dated 2100"),
    ],
)
def test_receipts_of_other_pairs_and_times_are_refused(ask, planned, change, message):
    pair = take(ask)
    status, answer = result(ask, pair, scored(pair, **change)[1])
    assert status == 400
    assert message in answer["message"]
    assert Job.objects.get(pk=pair["id"]).state == "running"


def test_changed_receipts_and_hostile_archives_are_refused(ask, planned):
    pair = take(ask)
    text = scored(pair)[0].to_json()
    for content in (
        packed({"receipt.json": text.replace("0.5", "0.9")}),
        packed({"receipt.json": text, "raw": "not in the receipt"}),
        packed({"receipt.json": text, "../raw": ""}),
        packed({"receipt.json": text}, zipfile.ZIP_DEFLATED),
        packed({"raw": ""}),
        packed({"receipt.json": "{}"}),
        packed({"receipt.json": " " * 5_000_001}),
        b"no archive",
    ):
        assert result(ask, pair, content)[0] == 400
    assert not RemoteResult.objects.exists()


@pytest.mark.parametrize(("log", "status"), [(b"x" * (LOG_BYTES + 1), 400), (b"\xff" * LOG_BYTES, 200)])
def test_a_log_is_bounded_at_receipt_and_need_not_be_text(ask, planned, log, status):
    pair = take(ask)
    info = AttachmentInfo(kind="log", name="", sha256=hashlib.sha256(log).hexdigest(), bytes=len(log))
    receipt, _ = scored(pair, attachments=(info,))
    assert result(ask, pair, packed({"receipt.json": receipt.to_json(), "log": log}))[0] == status


def test_only_permitted_and_matching_workers_get_pairs(ask, planned, owner):
    assert ask("work", code="0" * 64)[0] == 409
    assert ask("work", code=platform_code(), worker="a b")[0] == 403
    other = User.objects.create_user("other@example.org", "correct horse battery", display_name="Other")
    token = ApiToken.issue(other, "worker", ["jobs:run"])[1]
    status, answer = ask("work", code=platform_code(), token=token)
    assert (status, answer["message"]) == (403, "the token's owner may not score pairs for this site")
    assert ask("work", code=platform_code(), token=ApiToken.issue(owner, "x", ["read"])[1])[0] == 403
    other.user_permissions.add(Permission.objects.get(codename="run_jobs"))
    take(ask)
    assert "another user has a worker" in ask("work", code=platform_code(), token=token)[1]["message"]
    RemoteWorker.objects.update(suspended=True)
    assert "suspended" in ask("work", code=platform_code())[1]["message"]


@pytest.mark.parametrize(
    ("sent", "repeated", "state", "suspended"),
    [
        ({}, 0.50001, "verified", False),
        ({}, 0.6, "contradicted", True),
        ({"state": "not applicable", "score": None, "reason": "no V1"}, 0.5, "contradicted", True),
    ],
)
def test_a_sample_of_untrusted_results_is_repeated_by_the_site(
    ask, planned, settings, sent, repeated, state, suspended, django_capture_on_commit_callbacks
):
    from brainscore_web.jobs.leases import claim
    from brainscore_web.jobs.outbox import send_due_emails
    from brainscore_web.scoring.claims import JOBS

    User.objects.create_superuser("admin@example.org", "correct horse battery", display_name="Admin")
    settings.SUBMISSIONS = {**settings.SUBMISSIONS, "verified_share": 1.0}
    pair = take(ask)
    result(ask, pair, scored(pair, **sent)[1])
    assert RemoteResult.objects.get().state == "waits for verification"
    Job.objects.filter(state="waiting").exclude(why=VERIFICATION).update(state="cancelled")
    assert take(ask) is None  # not by the worker itself
    (lease,) = claim(JOBS)
    store = ResultsStore(settings.SUBMISSIONS["results"])
    own = store.write(scored(pair, repeated)[0])
    complete_job(lease, store, own)
    found = RemoteResult.objects.get()
    assert (found.state, found.repeated) == (state, own.id)
    assert RemoteWorker.objects.get().suspended is suspended
    send_due_emails()
    assert [message.subject for message in mail.outbox if "lab is suspended" in message.subject] == (
        ["[Brain-Score] administrators: the remote worker lab is suspended"] if suspended else []
    )


def test_results_of_trusted_workers_are_not_repeated(ask, planned, settings):
    settings.SUBMISSIONS = {**settings.SUBMISSIONS, "verified_share": 1.0}
    pair = take(ask)
    RemoteWorker.objects.update(trusted=True)
    result(ask, pair, scored(pair)[1])
    assert RemoteResult.objects.get().state == "trusted"
    assert not Job.objects.filter(why=VERIFICATION).exists()


def failed(pair, kind="ValueError"):
    error = ErrorInfo(type=kind, message="no tiles", traceback="")
    return scored(pair, state="failed", score=None, reason="no tiles", error=error)[1]


def complete_here(value=0.5, **changes):
    """Let the site score the next pair."""
    store, lease = ResultsStore(django_settings.SUBMISSIONS["results"]), claim_job("here")
    pair = {"model": lease.row.model.identifier, "benchmark": lease.row.benchmark.identifier}
    assert complete_job(lease, store, store.write(scored(pair, value, **changes)[0]))
    return lease.row.pk


@pytest.fixture
def rival():
    """The token of another user who may score pairs, and whose worker is *rival*."""
    user = User.objects.create_user("rival@example.org", "correct horse battery", display_name="Rival")
    user.user_permissions.add(Permission.objects.get(codename="run_jobs"))
    return {"worker": "rival", "token": ApiToken.issue(user, "worker", ["jobs:run"])[1]}


def test_a_worker_belongs_to_its_token(ask, planned, owner):
    """Another token of the same user cannot send results in its name, which would be its own if they are wrong."""
    pair = take(ask)
    first, other = ApiToken.objects.get(), ApiToken.issue(owner, "other", ["jobs:run"])[1]
    for path, values in (("work", {"code": platform_code()}), (f"work/{pair['id']}/renew", {"lease": pair["lease"]})):
        status, answer = ask(path, token=other, **values)
        assert (status, answer["message"]) == (403, "the worker lab belongs to another token")
    assert ask(f"work/{pair['id']}/result", scored(pair)[1], token=other, lease=pair["lease"])[0] == 403
    ApiToken.objects.filter(pk=first.pk).update(revoked=True)
    assert ask(f"work/{pair['id']}/renew", token=other, lease=pair["lease"])[1]["held"]  # the user has a new token


def test_only_the_site_repeats_results(ask, planned, rival, settings):
    """The owner of a model may let a repetition be done again, but no remote worker gets it, or settles it."""
    settings.SUBMISSIONS = {**settings.SUBMISSIONS, "verified_share": 1.0}
    pair = take(ask)
    result(ask, pair, scored(pair)[1])
    Job.objects.filter(state="waiting").exclude(why=VERIFICATION).update(state="cancelled")
    repetition = Job.objects.get(why=VERIFICATION)
    cancel_job(repetition, None)
    repetition.refresh_from_db()
    retry_job(repetition, None)
    assert take(ask, **rival) is None
    Job.objects.filter(pk=repetition.pk).update(worker="rival (remote)", state="running", claim="x")  # claimed before
    pair = {"id": repetition.pk, "lease": "x", "model": pair["model"], "benchmark": pair["benchmark"]}
    status, answer = ask(f"work/{pair['id']}/result", scored(pair, 0.9)[1], lease="x", **rival)
    assert (status, answer) == (200, {"result": "stored"})
    assert not RemoteWorker.objects.filter(suspended=True).exists()
    waiting = RemoteResult.objects.filter(state="waits for verification").values_list("verification", flat=True)
    assert {Job.objects.get(pk=job).state for job in waiting} == {"waiting"}


@pytest.mark.parametrize("kind", ["ValueError", "DataUnavailable"])
def test_failures_of_a_worker_are_its_own(ask, planned, rival, kind, owner):
    """The pair waits for another worker at once, is not shown as failed, and comes no more to workers of this user."""
    pair = take(ask)
    assert result(ask, pair, failed(pair, kind)) == (200, {"result": "repeated"})
    job = Job.objects.get(pk=pair["id"])
    assert (job.state, job.attempts, job.pauses, job.due <= timezone.now()) == ("waiting", 0, 0, True)
    assert not Score.objects.exists()
    others = {"without_benchmarks": [SIMULATED[0]]}
    assert take(ask, **others) is None
    assert take(ask, worker="second", **others) is None
    assert take(ask, **others, **rival)["id"] == pair["id"]


def test_lost_leases_are_no_attempts_at_a_pair(ask, planned):
    (job, *others) = planned
    Job.objects.filter(pk__in=[other.pk for other in others]).delete()
    for _ in range(5):
        pair = take(ask)
        Job.objects.filter(pk=pair["id"]).update(claimed=timezone.now() - timedelta(minutes=3))
        assert release_expired_jobs() == 1
        assert take(ask) is None  # for an hour
        RemoteFailure.objects.update(until=timezone.now())
    job.refresh_from_db()
    assert (job.state, job.attempts) == ("waiting", 0)


def test_a_pair_that_is_given_back_waits_for_this_worker_only(ask, planned, rival):
    others = {"without_benchmarks": [SIMULATED[0]]}
    pair = take(ask, **others)
    ask(f"work/{pair['id']}/release", lease=pair["lease"], wait=86_400)
    assert take(ask, **others) is None
    assert Job.objects.get(pk=pair["id"]).due <= timezone.now()
    assert take(ask, worker="second", **others)["id"] == pair["id"]


@pytest.fixture
def many():
    models, benchmarks = in_tree(("pixels",), [f"Simulated2026.X{number}" for number in range(14)])
    plan([models[0].pk], [benchmark.pk for benchmark in benchmarks], why="new model")


def test_the_workers_of_a_user_hold_few_pairs(ask, many, rival, settings):
    settings.SUBMISSIONS = {**settings.SUBMISSIONS, "remote_pairs": 3}
    pairs = [take(ask, worker=name) for name in ("one", "one", "two")]
    status, answer = ask("work", worker="three", code=platform_code())
    assert (status, answer) == (200, {"pair": None, "reason": "your workers hold 3 pairs"})
    assert take(ask, **rival)
    ask(f"work/{pairs[0]['id']}/release", worker="one", lease=pairs[0]["lease"])
    assert take(ask, worker="three")


def test_a_lease_ends_although_it_is_renewed(ask, planned):
    pair = take(ask)
    Job.objects.filter(pk=pair["id"]).update(taken=timezone.now() - timedelta(hours=13))
    assert ask(f"work/{pair['id']}/renew", lease=pair["lease"])[1] == {"held": False, "stop": False}
    assert Job.objects.get(pk=pair["id"]).state == "waiting"


def test_a_worker_that_fails_often_gets_no_pairs_until_the_site_fails_as_well(ask, many, rival):
    pairs = [take(ask)]
    while result(ask, pairs[-1], failed(pairs[-1])) and (pair := take(ask)):
        pairs.append(pair)
    assert len(pairs) == 10
    assert "10 pairs failed or were lost" in ask("work", code=platform_code())[1]["reason"]
    assert take(ask, **rival)  # others do
    assert not RemoteWorker.objects.filter(suspended=True).exists()
    error = ErrorInfo(type="ValueError", message="no tiles", traceback="")
    while complete_here(state="failed", score=None, reason="no tiles", error=error) not in {
        pair["id"] for pair in pairs
    }:
        continue
    assert take(ask)


def test_names_of_workers_are_limited(ask, planned, monkeypatch):
    monkeypatch.setattr(remote, "_MOST_WORKERS", 2)
    assert [ask("work", worker=name, code=platform_code())[0] for name in ("a", "b", "c", "a")] == [200, 200, 403, 200]
