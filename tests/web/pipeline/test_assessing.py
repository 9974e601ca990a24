"""Audit and recovery of submitted benchmarks on the worker."""

import json
from datetime import timedelta
from types import SimpleNamespace

import pytest
from django.core.management import call_command
from django.utils import timezone

from brainscore_core.errors import DataUnavailable
from brainscore_core.isolation.sandbox import Ended, require_sandbox
from brainscore_core.receipts.assessment import Assessment, Used
from brainscore_core.runner.pair import describe_error
from brainscore_core.supported_data_standards.brainio.downloads import Offline
from brainscore_web.jobs.leases import Postponed
from brainscore_web.jobs.models import Email
from brainscore_web.jobs.workers import sweep
from brainscore_web.leaderboard.ingest.assessments import keep_published
from brainscore_web.leaderboard.models import StoredAssessment, VisionModel
from brainscore_web.submissions import pipeline
from brainscore_web.submissions.models import BenchmarkAssessment, Review
from brainscore_web.submissions.pipeline import assessing
from brainscore_web.submissions.pipeline.assessing import run_next_assessment
from brainscore_web.submissions.pipeline.runner import run_next_step
from tests.web._plugins import benchmark_files, model_files, small_benchmark_files

pytestmark = pytest.mark.django_db(transaction=True)


def receipt(part="audit", benchmark="Author2026-pls", state="assessed", **fields):
    """A receipt, as the process in the sandbox writes it."""
    result = {"clean": True, "overlaps": []} if state == "assessed" else None
    about = Used(kind="benchmark", identifier=benchmark)
    return Assessment(part=part, benchmark=about, state=state, **{"result": result, **fields}).identified()


def ended(cause="", message=""):
    """The end of a process."""
    return Ended(cause=cause, status=-9 if cause else 0, message=message, output="", seconds=1.0)


@pytest.fixture
def reviewed(submit, pass_step):
    """A benchmark whose tests have passed."""
    revision = submit(benchmark_files())
    pass_step(revision, "check", "test")
    return revision


@pytest.fixture
def sandbox(monkeypatch):
    """A sandbox that writes what `written` contains and ends as `ended` says; no code runs."""

    fake = SimpleNamespace(written="", ended=ended(), commands=[])

    def run(run, environment, report, arguments):
        fake.commands.append(arguments[2:4])
        report.write_bytes(fake.written if isinstance(fake.written, bytes) else fake.written.encode())
        return fake.ended

    monkeypatch.setattr(assessing, "run_python", run)
    monkeypatch.setattr(assessing, "require_sandbox_here", lambda: None)
    return fake


def rows(revision):
    return [(row.part, row.state) for row in revision.assessments.all()]


def test_they_are_planned_when_the_tests_have_passed(submit, pass_step):
    revision = submit(benchmark_files())
    pass_step(revision, "check")
    assert rows(revision) == []
    pass_step(revision, "test")
    assert rows(revision) == [("audit", "waiting"), ("recovery", "waiting")]
    assert revision.submission.state == "review"


def test_models_are_not_assessed(submit, pass_step):
    revision = submit(model_files())
    pass_step(revision, "check", "test")
    assert rows(revision) == []
    assert not run_next_assessment()


def test_a_submission_has_a_limit(submit, pass_step):
    revision = submit(benchmark_files())
    revision.plugins[0]["registrations"] = [
        {"registry": "benchmark_registry", "key": f"Author2026.{number}-pls", "line": 1} for number in range(22)
    ]
    assert assessing.plan_assessments(revision) == 44
    assert revision.assessments.filter(state="waiting").count() == 40
    last = revision.assessments.last()
    assert (last.state, last.reason) == ("not possible", "only the first 20 benchmarks of a submission are assessed")


def test_the_receipt_is_kept(reviewed, sandbox):
    sandbox.written = receipt().to_json()
    assert run_next_assessment()
    row = reviewed.assessments.get(part="audit")
    assert (row.state, row.receipt["result"]["clean"], row.claim) == ("finished", True, "")
    assert row.ended is not None
    assert sandbox.commands == [["Author2026-pls", "audit"]]


@pytest.mark.parametrize("late", [False, True], ids=["before", "after"])
def test_results_are_on_the_card_of_the_published_benchmark(reviewed, sandbox, client, late):
    """Whether they ended before or after the publication."""
    sandbox.written = receipt().to_json()
    if not late:
        assert run_next_assessment()
    pipeline.approve(reviewed, Review.objects.create(revision=reviewed, verdict="approved"))
    assert run_next_step(reviewed.steps.get(kind="publish").pk)
    if late:
        assert "has not been assessed yet" in client.get("/vision/benchmark/Author2026-pls/").content.decode()
        assert run_next_assessment()
    page = client.get("/vision/benchmark/Author2026-pls/").content.decode()
    assert "has not been assessed yet" not in page
    assert "No finding in what was examined" in page


@pytest.mark.parametrize(
    ("model", "stored"), [("pixels", True), ("theirs", False), ("nobody-knows", False), ("public-one", True)]
)
def test_an_assessment_of_unknown_or_private_models_is_not_stored(db, model, stored):
    VisionModel.objects.create(identifier="theirs", visibility="private")
    VisionModel.objects.create(identifier="public-one", visibility="public")
    used = Used(kind="model", identifier=model)
    keep_published([receipt("recovery", models=(used,), result={"confusions": []}).to_dict(), {"part": "audit"}])
    assert StoredAssessment.objects.exists() is stored
    assert VisionModel.objects.filter(identifier="nobody-knows").exists() is False


def test_findings_do_not_block(reviewed, sandbox):
    """The submission waits for its reviewer as before."""
    sandbox.written = receipt(result={"clean": False}).to_json()
    assert run_next_assessment()
    reviewed.submission.refresh_from_db()
    assert reviewed.submission.state == "review"


@pytest.mark.parametrize(
    "written",
    [
        "",
        "{}",
        "[" * 100_000,
        b"\xff\xfe",
        receipt(benchmark="Other2026-pls").to_json(),
        receipt("recovery").to_json(),
        json.dumps({**receipt().to_dict(), "text": "x" * 500_000}),
    ],
    ids=["empty", "no fields", "deep", "not text", "another benchmark", "another part", "too large"],
)
def test_forged_receipts_are_refused(reviewed, sandbox, written):
    sandbox.written = written
    assert run_next_assessment()
    row = reviewed.assessments.get(part="audit")
    assert (row.state, row.reason, row.receipt) == ("failed", "the process wrote no valid receipt", None)


def test_characters_that_databases_cannot_store(reviewed, sandbox):
    sandbox.written = receipt(text="a\0b").to_json()
    assert run_next_assessment()
    assert "\0" not in reviewed.assessments.get(part="audit").receipt["text"]


def test_limits_are_reported(reviewed, sandbox):
    sandbox.ended = ended("timeout", "was stopped after 1800 s")
    sandbox.written = receipt().to_json()
    assert run_next_assessment()
    row = reviewed.assessments.get(part="audit")
    assert (row.state, row.reason) == ("failed", "the process was stopped after 1800 s")


@pytest.mark.parametrize("kind", [DataUnavailable, Offline])
@pytest.mark.parametrize("private", [False, True])
def test_data_that_are_only_with_the_author(reviewed, sandbox, private, kind):
    error, reason = describe_error(kind("no file", remedy="ask the author"))
    sandbox.written = receipt(state="failed", error=error, reason=reason).to_json()
    if private:
        file = {"url": "a", "sha1": "", "sha256": "", "verified": True, "private": True}
        reviewed.steps.filter(kind="check").update(result={"files": [file]})
    assert run_next_assessment()
    row = reviewed.assessments.get(part="audit")
    assert row.state == "not possible"
    assert row.reason.startswith(assessing._PRIVATE_DATA if private else assessing._NO_DATA)
    assert "ask the author" in row.reason


def test_errors_of_a_benchmark(reviewed, sandbox):
    error, reason = describe_error(ValueError("wrong shape"))
    sandbox.written = receipt(state="failed", error=error, reason=reason).to_json()
    assert run_next_assessment()
    row = reviewed.assessments.get(part="audit")
    assert (row.state, row.reason) == ("failed", "ValueError: wrong shape")


def test_tests_come_first(reviewed, submit, sandbox, pass_step):
    pass_step(submit(model_files()), "check")
    assert not run_next_assessment()
    assert sandbox.commands == []


def test_a_killed_worker(reviewed, sandbox):
    """Its assessment is due again; the receipt of the other part stays."""
    sandbox.written = receipt().to_json()
    assert run_next_assessment()
    old = timezone.now() - timedelta(hours=1)
    reviewed.assessments.filter(part="recovery").update(state="running", claim="gone", claimed=old, attempts=1)
    sweep()
    row = reviewed.assessments.get(part="recovery")
    assert (row.state, row.claim) == ("waiting", "")
    sandbox.written = receipt("recovery", result={"confusions": []}).to_json()
    assert run_next_assessment()
    assert rows(reviewed) == [("audit", "finished"), ("recovery", "finished")]
    assert reviewed.assessments.get(part="recovery").attempts == 2


def test_errors_of_the_site(reviewed, monkeypatch, staff):
    """It is tried three times, then given up, and administrators are notified."""

    def fails(lease):
        raise RuntimeError("broken")

    monkeypatch.setattr(assessing, "_assess", fails)
    key = reviewed.assessments.get(part="audit").pk
    for attempt in (1, 2, 3):
        BenchmarkAssessment.objects.filter(pk=key).update(due=timezone.now())
        assert run_next_assessment(key)
        assert reviewed.assessments.get(pk=key).state == ("failed" if attempt == 3 else "waiting")
    row = reviewed.assessments.get(pk=key)
    assert row.reason == assessing._GAVE_UP
    assert "broken" in row.internal
    assert Email.objects.filter(subject__contains="administrators").count() == 1


def test_without_a_sandbox_it_waits(reviewed, monkeypatch):
    def missing():
        raise Postponed("not now", "no bubblewrap")

    monkeypatch.setattr(assessing, "require_sandbox_here", missing)
    assert run_next_assessment()
    row = reviewed.assessments.get(part="audit")
    assert (row.state, row.attempts, row.reason) == ("waiting", 0, "not now")
    assert row.due > timezone.now()


@pytest.mark.parametrize("how", ["withdrawn", "new revision"])
def test_what_is_no_longer_wanted_is_cancelled(reviewed, submit, owner, sandbox, monkeypatch, how):
    """Also while it runs: nothing is written any more."""

    def run(run, environment, report, arguments):
        if how == "withdrawn":
            pipeline.withdraw(reviewed.submission, owner)
        else:
            submit(benchmark_files(version=2), submission=reviewed.submission)
        report.write_text(receipt().to_json())
        return sandbox.ended

    monkeypatch.setattr(assessing, "run_python", run)
    assert run_next_assessment()
    assert rows(reviewed) == [("audit", "cancelled"), ("recovery", "cancelled")]
    assert reviewed.assessments.get(part="audit").receipt is None


@pytest.mark.slow(reason="assesses a benchmark in the sandbox")
def test_by_a_worker(submit, states):
    """From the ZIP file: checked and tested, then audit and recovery in the sandbox, all by the worker of tasks."""
    require_sandbox()
    revision = submit(small_benchmark_files())
    call_command("db_worker", queue_name="*", batch=True, startup_delay=False, interval=0, reload=False, verbosity=0)
    step = revision.steps.get(kind="test")
    assert states(revision) == "pass pass wait wait wait", (step.reason, step.result, step.log[-3000:])
    for row in revision.assessments.all():
        assert row.state == "finished", (row.part, row.state, row.reason, row.internal, row.log[-2000:])
        assert row.receipt["benchmark"]["identifier"] == "Author2026-pls"
    audit, recovery = (revision.assessments.get(part=part).receipt["result"] for part in ("audit", "recovery"))
    assert audit["stimuli"] == 40
    assert recovery["candidates"] == ["pixels", "gabor"]
    assert recovery["confusions"]
