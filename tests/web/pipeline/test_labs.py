"""Members of a lab who revise each other's submissions act with their own rights."""

import pytest

from brainscore_web.accounts.models import Lab, Membership, User
from brainscore_web.leaderboard.models import VisionModel
from brainscore_web.profile import labs
from brainscore_web.submissions.models import Plugin, Step, Submission
from brainscore_web.submissions.pipeline import testing
from brainscore_web.submissions.pipeline.runner import run_next_step
from brainscore_web.submissions.receiving import use_of
from brainscore_web.submissions.source_code import live_files
from tests.web._plugins import model_files


@pytest.fixture
def lab(owner, member):
    lab = Lab.objects.create(name="Lab", slug="lab")
    for user in (owner, member):
        Membership.objects.create(lab=lab, user=user)
    return lab


@pytest.fixture
def publish(submit, pass_step):
    def published(files, **options):
        revision = submit(files, **options)
        pass_step(revision, "check", "test", result={})
        assert run_next_step(revision.steps.get(kind="publish").pk)
        return revision

    return published


def share(submission, lab):
    labs._set_lab(Submission.objects.get(pk=submission.pk), lab)


@pytest.mark.django_db(transaction=True)
def test_revisions_of_others_do_not_reach_what_is_not_shared(submit, publish, lab, owner, member):
    publish(model_files("tiles-8"), visibility="private")
    shared = submit(model_files("tiles-4", size=4)).submission
    share(shared, lab)
    used = use_of(owner)
    both = {**model_files("tiles-4", size=4), **model_files("tiles-8", size=2)}
    revision = submit(both, by=member, submission=shared)
    assert use_of(owner) == used
    assert use_of(User.objects.get(pk=member.pk)).size == revision.size
    messages = [finding["message"] for finding in revision.findings if finding["severity"] == "error"]
    assert any("a plugin of another member" in message for message in messages)
    assert not live_files(revision)
    harmless = submit(model_files("tiles-4", size=3), by=member, submission=shared)
    Step.objects.filter(revision=harmless, kind="check").update(result={})
    with testing.prepared_inputs(harmless) as shown:
        assert {path.name for path in (shown.plugins / "models").iterdir()} == {"tiles_4"}


@pytest.mark.django_db(transaction=True)
def test_code_of_a_member_does_not_leave_with_another(publish, lab, owner, member):
    share(publish(model_files("tiles-8"), visibility="private").submission, lab)
    theirs = publish(model_files("tiles-8", size=4), by=member)
    assert Plugin.objects.get().owner == owner
    assert Plugin.objects.get().revision == theirs
    labs._set_lab(VisionModel.objects.get(owner=owner), None)
    labs._set_lab(VisionModel.objects.get(owner=owner), Lab.objects.create(name="Other", slug="other"))
    assert Submission.objects.get(pk=theirs.submission_id).lab is None
