"""Transitions in the database: who comes second changes nothing, and letters are written once."""

from types import SimpleNamespace

import pytest
from django.db import transaction
from django_tasks_db.models import DBTaskResult

from brainscore_core.errors import UserError
from brainscore_web.jobs.models import Email
from brainscore_web.jobs.workers import sweep
from brainscore_web.scoring.models import Job
from brainscore_web.submissions import pipeline
from brainscore_web.submissions.models import Plugin, Review, Step, Submission
from tests.web._plugins import benchmark_files, model_files
from tests.web.pipeline._claims import claim_next_step

pytestmark = pytest.mark.django_db(transaction=True)


def state_of(revision):
    return Submission.objects.get(pk=revision.submission_id).state


@pytest.fixture
def reviewed(submit, pass_step, staff):
    """A benchmark that waits for review, and what a reviewer says."""
    revision = submit(benchmark_files())
    pass_step(revision, "check", "test")
    return revision, Review.objects.create(revision=revision, reviewer=staff, verdict="changes", text="Cite it.")


def test_it_begins_with_one_task(submit, states):
    """The queue has one task for all due steps, and none before the commit."""
    with transaction.atomic():
        first = submit(model_files("tiles-8"))
        assert not DBTaskResult.objects.exists()
    submit(model_files("tiles-4", size=4))
    assert DBTaskResult.objects.ready().count() == 1
    assert states(first) == "wait wait skip wait wait"
    assert Step.objects.exclude(due=None).count() == 2
    for _ in range(3):
        sweep()
    assert DBTaskResult.objects.ready().count() == 1


def test_errors_run_nothing(submit, states):
    """What has errors is kept, and waits for another revision."""
    files = model_files()
    files["models/tiles_8/__init__.py"] = "def broken(:\n"
    revision = submit(files)
    assert state_of(revision) == "changes"
    assert states(revision) == "fail wait skip wait wait"
    assert not DBTaskResult.objects.exists()
    second = submit(model_files(), submission=revision.submission)
    assert state_of(revision) == "queued"
    assert states(revision) == "fail canc skip canc canc"
    assert states(second) == "wait wait skip wait wait"


def test_a_new_revision_takes_over(submit, states, pass_step):
    """A worker that still works on the revision before ends it no more."""
    from brainscore_web.submissions.pipeline.runner import _record_outcome
    from brainscore_web.submissions.steps import Outcome

    first = submit(model_files())
    lease = claim_next_step(first.steps.get(kind="check").pk)
    second = submit(model_files(size=6), submission=first.submission)
    assert not _record_outcome(lease, Outcome(passed=True))
    lease.renew(log="late")
    assert lease.is_lost()
    assert states(first) == "canc canc skip canc canc"
    pass_step(second, "check", "test")
    assert state_of(first) == "publishing"


def test_a_step_has_one_worker(submit):
    """Two that come at once: one has it."""
    submit()
    claims = [claim_next_step(), claim_next_step()]
    assert claims[0] is not None
    assert claims[1] is None


def test_short_steps_do_not_wait_for_tests(submit, pass_step, member):
    """In both lanes a user has one running step; while it runs, those of another user are next."""
    first, second = submit(model_files()), submit(model_files("tiles-9", size=9))
    pass_step(first, "check")
    pass_step(second, "check")
    third, fourth = submit(model_files("tiles-10", size=10)), submit(model_files("tiles-11", size=11), by=member)
    claims = [claim_next_step(long=long) for long in (True, True, False, False, False)]
    steps = [(lease.row.revision, lease.row.kind) if lease else None for lease in claims]
    assert steps == [(first, "test"), None, (third, "check"), (fourth, "check"), None]
    claims[3].release()
    pass_step(fourth, "check")
    assert claim_next_step(long=True).row.revision == fourth
    claims[0].release()
    assert claim_next_step(long=True).row.revision == second


def test_checks_that_fetch_or_install_are_long(submit, monkeypatch):
    from brainscore_web.submissions.pipeline import checking
    from brainscore_web.submissions.pipeline.runner import run_next_step

    monkeypatch.setattr(checking, "_environments", lambda *_: ([], []))
    files = model_files()
    revision = submit({**files, "models/tiles_8/requirements.txt": "torch"})
    assert run_next_step(long=False)
    step = revision.steps.get(kind="check")
    assert (step.state, step.long, step.attempts) == ("waiting", True, 0)
    assert claim_next_step(long=False) is None
    assert run_next_step(long=True)
    step.refresh_from_db()
    assert step.state == "passed"


def test_approval_publishes_and_comes_once(reviewed, states):
    """The second reviewer gets an error that it is too late."""
    revision, review = reviewed
    pipeline.approve(revision, review)
    assert states(revision) == "pass pass pass wait wait"
    for late in (pipeline.approve, pipeline.request_changes, pipeline.reject):
        with pytest.raises(UserError, match="no longer waits for review"):
            late(revision, review)
    assert state_of(revision) == "publishing"


def test_who_reviews_is_kept(reviewed):
    """What reviewers noted in the step stays there."""
    revision, review = reviewed
    Step.objects.filter(revision=revision, kind="review").update(result={"reviewer": 7})
    pipeline.request_changes(revision, review)
    step = revision.steps.get(kind="review")
    assert step.result == {"reviewer": 7, "review": review.pk}
    assert (step.state, step.reason, state_of(revision)) == ("failed", "Cite it.", "changes")


def test_an_old_revision_is_not_approved(reviewed, submit):
    """What was looked at is what counts."""
    revision, review = reviewed
    submit(benchmark_files(version=2), submission=revision.submission)
    with pytest.raises(UserError, match="no longer waits for review"):
        pipeline.approve(revision, review)


@pytest.mark.parametrize("ending", ["withdrawn", "rejected"])
def test_what_ended_never_becomes_live(reviewed, ending, submit):
    """Not by a retry, not by a review, not by another revision."""
    revision, review = reviewed
    if ending == "withdrawn":
        pipeline.withdraw(revision.submission, revision.submission.owner)
    else:
        pipeline.reject(revision, review)
    assert state_of(revision) == ending
    for step in revision.steps.all():
        with pytest.raises(UserError):
            pipeline.retry(step, revision.submission.owner)
    with pytest.raises(UserError):
        pipeline.approve(revision, review)
    with pytest.raises(UserError), transaction.atomic():
        pipeline.start(revision, has_errors=False)
    assert state_of(revision) == ending
    assert not Plugin.objects.exists()


def test_withdrawing_during_publishing(submit, pass_step):
    """The worker that was about to publish finds its step gone."""
    from brainscore_web.submissions.pipeline.publishing import publish

    revision = submit()
    pass_step(revision, "check", "test")
    lease = claim_next_step()
    pipeline.withdraw(revision.submission, revision.submission.owner)
    assert publish(lease) is None
    assert not Plugin.objects.exists()
    assert state_of(revision) == "withdrawn"


def test_cancelled_steps_are_done_again(submit, states, pass_step):
    """The submission waits for its submitter, who tries again."""
    revision = submit()
    pass_step(revision, "check")
    pipeline.cancel(revision.submission, revision.submission.owner)
    assert states(revision) == "pass canc skip wait wait"
    assert state_of(revision) == "changes"
    with pytest.raises(UserError, match="no step is in progress"):
        pipeline.cancel(revision.submission, revision.submission.owner)
    pipeline.retry(revision.steps.get(kind="test"), revision.submission.owner)
    assert states(revision) == "pass wait skip wait wait"
    pass_step(revision, "test")
    assert state_of(revision) == "publishing"


@pytest.mark.parametrize("shown", ["public", "private"])
def test_it_is_done_when_no_pair_is_open(submit, pass_step, board, settings, shown):
    """One failed pair hides no other; one letter says so, however often the end is announced."""
    from brainscore_web.submissions.pipeline.runner import run_next_step

    settings.SUBMISSIONS = {**settings.SUBMISSIONS, "benchmarks": ["Simulated2026.V1-*"]}
    from brainscore_web.leaderboard.models import Benchmark

    for name, access in (("Simulated2026.V1-pls", shown), ("Simulated2026.V1-rdm", "public")):
        Benchmark.objects.update_or_create(identifier=name, defaults={"access": access})
    revision = submit()
    pass_step(revision, "check", "test")
    assert run_next_step()
    assert state_of(revision) == "scoring"
    jobs = list(Job.objects.filter(submissions=revision.submission).order_by("benchmark__identifier"))
    assert len(jobs) == 2
    Job.objects.filter(pk=jobs[0].pk).update(state="failed", reason="NaN in layer 3\nTraceback")
    pipeline.scoring_ended(revision.submission_id)
    assert state_of(revision) == "scoring"
    Job.objects.filter(pk=jobs[1].pk).update(state="scored")
    for _ in range(3):
        pipeline.scoring_ended(revision.submission_id)
        sweep()
    assert state_of(revision) == "done"
    step = revision.steps.get(kind="score")
    assert (step.state, step.reason) == ("passed", "")
    letter = Email.objects.get(submission=revision.submission, subject__contains="done")
    assert "1 scored, 1 failed" in letter.body
    assert (f"{jobs[0]}: NaN in layer 3" in letter.body) == (shown == "public")
    assert (f"{jobs[0]}: It raised an error; its text is withheld" in letter.body) == (shown == "private")
    assert "Traceback" not in letter.body


def test_who_leaves_publishes_nothing_more(submit, states):
    """What is on its way when its submitter leaves is withdrawn."""
    revision = submit()
    Submission.objects.filter(pk=revision.submission_id).update(owner=None)
    sweep()
    assert state_of(revision) == "withdrawn"
    assert states(revision) == "canc canc skip canc canc"


def test_a_submission_that_goes_while_it_is_worked_on(submit):
    """The process that works on it writes nothing, and no process fails."""
    from brainscore_web.submissions.pipeline.runner import _record_outcome
    from brainscore_web.submissions.steps import Outcome

    revision = submit()
    lease = claim_next_step(Step.objects.get(revision=revision, kind="check").pk)
    revision.submission.delete()
    assert _record_outcome(lease, Outcome(passed=True)) is False
    assert not Step.objects.exists()


def test_all_tests_of_a_submission_have_one_limit(submit, pass_step, settings, monkeypatch):
    from brainscore_web.submissions.pipeline import testing

    settings.SUBMISSIONS = {**settings.SUBMISSIONS, "tests_seconds": 120}
    clock = iter((0, 10, 130))
    monkeypatch.setattr(testing, "require_sandbox_here", lambda: None)
    monkeypatch.setattr(testing, "time", SimpleNamespace(monotonic=lambda: next(clock)))
    monkeypatch.setattr(testing, "_test_plugin", lambda run, tally, kind, name: None)
    monkeypatch.setattr(testing, "StepLog", lambda lease: SimpleNamespace(text=""))
    revision = submit({**model_files(), **model_files("tiles-9", size=9)})
    pass_step(revision, "check")
    outcome = testing.run_tests(SimpleNamespace(row=revision.steps.get(kind="test"), is_lost=lambda: False))
    (failure,) = outcome.result["failures"]
    assert failure["name"] == "tests of models/tiles_9"
    assert failure["message"] == "the tests of a submission may take 2 minutes in all: divide the submission"
