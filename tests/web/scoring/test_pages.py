"""Pages of scoring."""

import pytest
from django.test import Client

from brainscore_core.errors import UserError
from brainscore_web.leaderboard.models import Benchmark, VisionModel
from brainscore_web.scoring.models import Job
from brainscore_web.scoring.services import cancel_job, retry_job
from brainscore_web.submissions.models import Submission
from brainscore_web.submissions.status import progress

from .._plugins import model_files
from ._site import in_tree, submit

pytestmark = pytest.mark.django_db


@pytest.fixture
def pairs(owner):
    """A public and a private pair of the owner's submission; the benchmark of the second is withheld."""
    _, (shown, withheld) = in_tree()
    Benchmark.objects.filter(pk=withheld.pk).update(access="private")
    private = VisionModel.objects.create(identifier="tiles-8", visibility="private", owner=owner)
    submission = submit(owner, model_files(), visibility="private")
    rows = [
        (private, shown, "failed"),
        (private, withheld, "failed"),
        (VisionModel.objects.get(identifier="pixels"), shown, "waiting"),
    ]
    made = []
    for model, benchmark, state in rows:
        job = Job.objects.create(
            model=model, benchmark=benchmark, why="new model", state=state, reason="why", log="printed"
        )
        job.submissions.add(submission)
        made.append(job)
    return made


def browser(user=None):
    client = Client()
    if user is not None:
        client.force_login(user)
    return client


def test_what_was_printed_about_withheld_stimuli_is_for_administrators(pairs, owner, staff, member):
    for who, logs in ((owner, (True, False)), (staff, (True, True))):
        for pair, shown in zip(pairs, logs, strict=False):
            assert ("printed" in browser(who).get(f"/scoring/{pair.pk}/").content.decode()) == shown
    VisionModel.objects.update(visibility="public")
    assert "printed" not in browser(member).get(f"/scoring/{pairs[0].pk}/").content.decode()


def test_why_a_pair_failed_is_in_our_own_words_where_data_are_withheld(pairs, owner, staff):
    said = "SubjectFailed: the subject 'tiles-8' ended by signal 11 (segmentation fault)\nIt printed at last: fossa"
    Job.objects.filter(pk__in=[pair.pk for pair in pairs[:2]]).update(reason=said)
    addresses = (f"/scoring/{pairs[1].pk}/", "/scoring/?x", f"/scoring/of/{Submission.objects.get().pk}/")
    for address in (f"/scoring/{pairs[1].pk}/", addresses[2]):
        page = browser(owner).get(address).content.decode()
        assert "process ended by a signal" in page.replace("&#x27;", "'")
        assert ("fossa" in page) == (address == addresses[2])  # of the other pair, whose data are public
    assert "fossa" in browser(staff).get(addresses[0]).content.decode()
    from brainscore_web.profile.personal_data import exported_jobs

    assert sorted("fossa" in row["reason"] for row in exported_jobs(owner)) == [False, False, True]


def test_owners_retry_and_cancel(pairs, owner, member):
    failed, _, waiting = pairs
    mine, other = browser(owner), browser(member)
    assert other.post(f"/scoring/{waiting.pk}/cancel/").status_code == 404
    answer = mine.post(f"/scoring/{waiting.pk}/cancel/", {"back": "//elsewhere.example/"})
    assert answer["Location"] == f"/scoring/{waiting.pk}/"
    answer = mine.post(f"/scoring/{failed.pk}/retry/", {"back": "/scoring/?x=1"})
    assert answer["Location"] == "/scoring/?x=1#pairs"
    waiting.refresh_from_db()
    failed.refresh_from_db()
    assert (waiting.state, waiting.reason) == ("cancelled", "cancelled by Olga Owner")
    assert (failed.state, failed.why, failed.asked_by, failed.log) == ("waiting", "asked for", owner, "")
    with pytest.raises(UserError, match="already waiting"):
        retry_job(failed, owner)


def test_a_pair_that_waits_elsewhere_is_not_retried(pairs, owner):
    failed = pairs[0]
    Job.objects.create(model=failed.model, benchmark=failed.benchmark, why="new version")
    with pytest.raises(UserError, match="already waiting"):
        retry_job(failed, owner)


def test_what_runs_is_asked_to_stop(pairs, owner):
    job = pairs[2]
    Job.objects.filter(pk=job.pk).update(state="running", claim="x")
    cancel_job(job, owner)
    job.refresh_from_db()
    assert (job.state, job.stop) == ("running", True)


def test_the_part_of_a_submissions_page(pairs, owner, member, django_assert_max_num_queries):
    submission = Submission.objects.get()
    mine = browser(owner)
    address = f"/scoring/of/{submission.pk}/"
    with django_assert_max_num_queries(14):
        page = mine.get(address).content.decode()
    assert "2 of 3 ended: 2 failed, 1 waiting." in page
    assert 'hx-trigger="every 3s"' in page
    only = mine.get(address, {"pairs": "failed"}).content.decode()
    assert "pixels" not in only
    assert only.count("Retry") == 2
    assert browser(member).get(address).status_code == 404
    reader = browser(member)
    Submission.objects.update(owner=member)  # whose model it is not
    page = reader.get(address).content.decode()
    assert "0 of 1 ended" in page
    assert "tiles-8" not in page
    reader.post(f"{address}cancel/")
    assert progress(submission).cancelled == 1
    assert "hx-trigger" not in reader.get(address).content.decode()


def test_own_data_name_pairs(pairs, owner, member):
    assert len(browser(owner).get("/accounts/own-data/").content) > 0
    from brainscore_web.profile.personal_data import exported_jobs

    assert {row["model"] for row in exported_jobs(owner)} == {"tiles-8", "pixels"}
    assert exported_jobs(member) == []


def test_the_administration_retries(pairs, staff):
    client = browser(staff)
    assert client.get("/admin/scoring/job/").status_code == 200
    assert client.get(f"/admin/scoring/job/{pairs[0].pk}/change/").status_code == 200
    client.post("/admin/scoring/job/", {"action": "retry", "_selected_action": [pairs[0].pk]})
    assert Job.objects.get(pk=pairs[0].pk).state == "waiting"
