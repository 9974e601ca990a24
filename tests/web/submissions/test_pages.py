"""Pages of submissions: what they say, whose they are, what they cost."""

import io
import json
import re
import zipfile

import pytest
from django.contrib.auth.models import Group
from django.utils import timezone

from brainscore_web.accounts.models import User
from brainscore_web.jobs.models import Email
from brainscore_web.leaderboard.models import Benchmark, VisionModel
from brainscore_web.scoring.models import Job
from brainscore_web.submissions import views
from brainscore_web.submissions.models import Comment, Plugin, PublishedVersion, Revision, Step, Submission
from brainscore_web.submissions.status import Progress
from tests.web._plugins import benchmark_files, model_files

from .conftest import browser_of, confirm

pytestmark = pytest.mark.django_db


@pytest.fixture
def row(submitter, submitted):
    """A submission of a private model."""
    return submitted(submitter, visibility="private", note="Tiles, as in the paper.").submission


@pytest.fixture
def reviewer(db):
    user = confirm(User.objects.create_user("rita@example.org", "correct horse battery", display_name="Rita"))
    Group.objects.get_or_create(name="reviewers")[0].user_set.add(user)
    return user


def text_of(answer):
    assert answer.status_code == 200, answer.status_code
    return re.sub(r"\s+", " ", re.sub(r"<[^>]+>", " ", answer.content.decode()))


def set_steps(row, **states):
    """Let steps of the newest revision stand as the pipeline would leave them."""
    for kind, state in states.items():
        ended = timezone.now() if state in ("passed", "failed", "skipped") else None
        Step.objects.filter(revision=row.latest, kind=kind).update(state=state, started=timezone.now(), ended=ended)


def test_without_submissions(submitter, client):
    text = text_of(client.get("/submissions/"))
    assert "You have not submitted anything yet" in text
    assert "0 of 5 submissions open" in text


def test_a_form_without_files_asks_for_them(submitter, client):
    text = client.post("/submissions/new/", {"visibility": "public"}).content.decode()
    assert "Choose a ZIP file, or give the address of a repository or a pull request." in text
    assert "not both" not in text


def test_e_mail_is_announced_only_if_it_is_sent(row, client, settings):
    page = f"/submissions/{row.pk}/"
    assert "You will get an e-mail with the result." in text_of(client.get(page))
    settings.EMAIL_BACKEND = "django.core.mail.backends.console.EmailBackend"
    assert "e-mail" not in text_of(client.get(page)).split("Steps")[0].split("tiles_8")[-1]


def test_the_list_and_the_profile(row, client):
    Submission.objects.update(state="changes")
    text = text_of(client.get("/submissions/"))
    assert "tiles_8" in text
    assert "waits for changes" in text
    text = text_of(client.get("/accounts/profile/"))
    assert "1 submission , 1 of them open; 1 needs changes from you" in text


def test_one_submission(row, client):
    page = client.get(f"/submissions/{row.pk}/")
    text = text_of(page)
    for words in (
        "It is in the queue to be checked",
        "Queued",
        "Checks waiting",
        "Scoring waiting",
        "Tiles, as in the paper",
        "ZIP file",
    ):
        assert words in text
    content = page.content.decode()
    assert 'hx-trigger="every 2s"' in content
    assert "style=" not in content
    assert "models/tiles_8/model.py" in content


def test_polling_says_what_is_new_and_ends(row, client):
    address = f"/submissions/{row.pk}/progress/"
    first = client.get(address).content.decode()
    seen = re.search(r"seen=(\w+)", first)[1]
    assert client.get(address, {"seen": seen}).status_code == 204  # nothing new: what is open on the page stays open
    set_steps(row, check="running")
    Step.objects.filter(kind="check").update(log="building the environment\n")
    second = client.get(address, {"seen": seen}).content.decode()
    assert "It is being checked right now" in second
    assert "building the environment" in second
    set_steps(row, check="failed")
    Step.objects.filter(kind="check").update(reason="no wheel of nonsense==1")
    Submission.objects.update(state="changes")
    last = client.get(address, {"seen": seen}).content.decode()
    assert "hx-get" not in last
    assert "hx-trigger" not in last
    assert "The checks failed" in last
    assert "no wheel of nonsense==1" in last
    assert "Try again" in last
    assert "Send a new revision" in last


@pytest.mark.parametrize(
    ("state", "words", "buttons"),
    [
        ("queued", "in the queue to be checked", {"Send a new revision", "Stop", "Withdraw"}),
        ("review", "waiting for a reviewer", {"Send a new revision", "Withdraw"}),
        ("publishing", "being published", {"Withdraw"}),
        ("scoring", "being scored", {"Stop"}),
        ("done", "It is done", set()),
        ("rejected", "It was rejected", set()),
        ("withdrawn", "You have withdrawn it", set()),
    ],
)
def test_what_can_be_done(row, client, state, words, buttons):
    Submission.objects.update(state=state)
    content = client.get(f"/submissions/{row.pk}/").content.decode()
    assert words in content
    polled = f'hx-get="/submissions/{row.pk}/progress/' in content
    assert polled == (state in ("queued", "review", "publishing", "scoring"))
    block = content[content.index('<div class="actions">') : content.index('id="steps"')]
    assert {one for one in ("Send a new revision", "Stop", "Withdraw", "Try again") if f">{one}<" in block} == buttons


@pytest.mark.parametrize(
    ("kind", "state", "result", "of_submission", "words"),
    [
        ("score", "passed", {"scored": 0, "failed": 20, "not_run": 257}, "done", "– Scoring ended"),
        ("score", "passed", {"scored": 0, "not_applicable": 3}, "done", "– Scoring ended"),
        ("score", "passed", {"scored": 4, "failed": 1}, "done", "– Scoring ended"),
        ("score", "passed", {"scored": 4, "not_run": 1}, "done", "– Scoring ended"),
        ("score", "passed", {"scored": 4, "cancelled": 1}, "done", "– Scoring ended"),
        ("score", "passed", {}, "done", "– Scoring ended"),
        ("score", "passed", {"scored": 4, "undefined": 1}, "done", "✓ Scoring done"),
        ("score", "cancelled", {}, "done", "⊘ Scoring cancelled"),
        ("review", "failed", {}, "changes", "– Review changes requested"),
        ("review", "failed", {}, "rejected", "✗ Review rejected"),
        ("review", "passed", {}, "publishing", "✓ Review approved"),
        ("check", "failed", {}, "changes", "✗ Checks failed"),
        ("publish", "passed", {}, "scoring", "✓ Publication done"),
    ],
)
def test_words_of_steps(row, client, monkeypatch, kind, state, result, of_submission, words):
    Submission.objects.update(state=of_submission)
    set_steps(row, **{kind: state})
    monkeypatch.setattr(views, "progress_of", lambda rows, reader: {row.pk: Progress(**result)})
    text = text_of(client.get(f"/submissions/{row.pk}/"))
    assert words in text
    complete = result.get("scored") and not {"failed", "not_run"} & result.keys()
    assert ("scores are below and on the leaderboard" in text) is bool(complete and state == "passed")


def test_stopping_trying_again_and_withdrawing(row, client):
    here = f"/submissions/{row.pk}/"
    assert client.post(f"{here}cancel/").status_code == 302
    assert "Try again" in text_of(client.get(here))
    assert client.post(f"{here}retry/check/").status_code == 302
    row.refresh_from_db()
    assert row.state == "queued"
    answer = client.post(f"{here}retry/check/")
    assert answer.status_code == 409
    assert 'role="alert"' in answer.content.decode()
    assert client.post(f"{here}withdraw/").status_code == 302
    row.refresh_from_db()
    assert row.state == "withdrawn"
    assert client.post(f"{here}withdraw/").status_code == 409


def test_revisions_and_what_changed(row, client, send):
    files = model_files(size=16)
    files["models/tiles_8/notes.py"] = "WHY = 'coarser <b>tiles</b>'\n"
    assert send(files, to=f"/submissions/{row.pk}/revise/").status_code == 302
    assert [one.number for one in row.revisions.order_by("number")] == [1, 2]
    page = client.get(f"/submissions/{row.pk}/2/changes/").content.decode()
    text = re.sub(r"<[^>]+>", "", page)
    assert "SIZE = 8" in text
    assert "SIZE = 16" in text
    assert "1 line added, 0 removed" in text
    assert "&lt;b&gt;tiles" in page
    assert "test.py" not in text  # it is the same
    old = client.get(f"/submissions/{row.pk}/?revision=1").content.decode()
    assert "This is revision 1" in old
    assert "hx-get" not in old
    assert client.get(f"/submissions/{row.pk}/1/changes/").status_code == 404
    assert client.get(f"/submissions/{row.pk}/3/code/").status_code == 404
    assert client.get(f"/submissions/{row.pk}/?revision=99").status_code == 404


def test_the_files(row, client):
    archive = client.get(f"/submissions/{row.pk}/1/archive.zip")
    assert archive["Content-Type"] == "application/zip"
    with zipfile.ZipFile(io.BytesIO(archive.content)) as found:
        assert found.read("models/tiles_8/test.py").decode() == model_files()["models/tiles_8/test.py"]
    text = text_of(client.get(f"/submissions/{row.pk}/1/code/"))
    assert "as small as 8 x 8" in text
    only = client.get(f"/submissions/{row.pk}/1/code/", {"path": "models/tiles_8/test.py"})
    assert "def test_it_loads" in re.sub(r"<[^>]+>", "", only.content.decode())
    assert client.get(f"/submissions/{row.pk}/1/code/", {"path": "/etc/passwd"}).status_code == 404


def test_comments_beside_the_code(row, client, reviewer):
    Comment.objects.create(
        revision=row.latest, author=reviewer, path="models/tiles_8/model.py", line=3, text="Why <i>partial</i>?"
    )
    assert "with 1 open comment" in text_of(client.get(f"/submissions/{row.pk}/"))
    page = client.get(f"/submissions/{row.pk}/1/code/").content.decode()
    assert "Why &lt;i&gt;partial&lt;/i&gt;?" in page
    assert "Rita" in page
    answer = {
        "path": "models/tiles_8/model.py",
        "line": "3",
        "text": "It is short.",
        "back": f"/submissions/{row.pk}/1/code/",
    }
    assert client.post(f"/review/{row.pk}/1/comment/", answer).status_code == 302
    assert "It is short." in client.get(f"/submissions/{row.pk}/1/code/").content.decode()


def test_visibility_until_it_is_published(row, client):
    address = f"/submissions/{row.pk}/visibility/"
    assert client.post(address, {"visibility": "public"}).status_code == 302
    row.refresh_from_db()
    assert row.visibility == "public"
    assert client.post(address, {"visibility": "secret"}).status_code == 400
    Submission.objects.update(state="scoring")
    answer = client.post(address, {"visibility": "private"})
    assert answer.status_code == 409
    assert "in your profile" in answer.content.decode()


ADDRESSES = (*("", "progress/", "revise/", "withdraw/", "1/code/", "1/archive.zip"),)


@pytest.mark.parametrize("address", ADDRESSES)
def test_reviewers_see_what_needs_review(submitter, submitted, other, reviewer, address):
    """Also models that came with it, and earlier and later revisions of models alone."""
    made = submitted(submitter, {**model_files(), **benchmark_files()}, visibility="private").submission
    submitted(submitter, model_files(size=4), submission=made, visibility="private")
    assert browser_of(other).get(f"/submissions/{made.pk}/{address}").status_code == 404
    expected = 404 if address in ("revise/", "withdraw/") else 200
    assert browser_of(reviewer).get(f"/submissions/{made.pk}/{address}").status_code == expected


def test_reviewers_change_nothing_of_others(submitter, submitted, reviewer):
    row = submitted(submitter, benchmark_files()).submission
    answer = browser_of(reviewer).get(f"/submissions/{row.pk}/")
    assert answer.status_code == 200
    page = answer.content.decode()
    for button in ("Withdraw", "Send a new revision", "Stop", "Make them"):
        assert f">{button}<" not in page
    for address in ("cancel/", "withdraw/", "revise/", "visibility/", "retry/check/"):
        assert browser_of(reviewer).post(f"/submissions/{row.pk}/{address}").status_code == 404


def test_code_is_never_markup(submitter, client, send):
    files = model_files()
    files["models/tiles_8/model.py"] += "# <script>alert(1)</script>\nimport os\nos.system('<img src=x>')\n"
    assert send(files, name="<b>.zip", note="<script>alert(2)</script>").status_code == 302
    row = Submission.objects.get()
    for address in ("", "1/code/", "progress/"):
        page = client.get(f"/submissions/{row.pk}/{address}").content.decode()
        assert "<script>alert" not in page
        assert "<img src=x" not in page


def test_costs_do_not_grow(submitter, client, submitted, django_assert_max_num_queries, settings, ask, token_of):
    settings.SUBMISSIONS = {**settings.SUBMISSIONS, "open": 100, "day": 100, "person": 10**8}
    settings.DATA_UPLOAD_MAX_MEMORY_SIZE = 10**7
    token = token_of(submitter, "read")
    first = submitted(submitter).submission
    for number in range(9, 19):
        submitted(submitter, model_files(f"tiles-{number}", size=number))
        submitted(submitter, model_files(size=number), submission=first)
    Submission.objects.filter(pk=first.pk).update(state="done")
    benchmarks = [Benchmark.objects.create(identifier=f"B{n}", version="1") for n in range(20)]
    model = VisionModel.objects.create(identifier="tiles-8", owner=submitter)
    for benchmark in benchmarks:
        Job.objects.create(model=model, benchmark=benchmark, state="scored").submissions.add(first)
    for address, most in (("/submissions/", 12), (f"/submissions/{first.pk}/", 32), ("/accounts/profile/", 25)):
        with django_assert_max_num_queries(most):
            assert client.get(address).status_code == 200
    with django_assert_max_num_queries(12):
        assert len(ask("GET", "submissions", token=token).json()["items"]) == 11
    with django_assert_max_num_queries(12):
        assert len(ask("GET", f"submissions/{first.pk}", token=token).json()["revisions"]) == 11


def test_own_data(row, client, submitter, reviewer):
    Comment.objects.create(revision=row.latest, author=submitter, text="mine")
    Comment.objects.create(revision=row.latest, author=reviewer, text="theirs")
    Email.objects.create(to=submitter, submission=row, subject="hello", body="you")
    found = json.loads(client.get("/accounts/data/").content)
    assert [one["title"] for one in found["submissions"]] == ["tiles_8"]
    assert found["revisions"][0]["note"] == "Tiles, as in the paper."
    assert len(found["revisions"][0]["steps"]) == 5
    assert found["revisions"][0]["archive"].startswith("UEsDB")
    assert [one["text"] for one in found["comments"]] == ["mine"]
    assert [one["subject"] for one in found["letters"]] == ["hello"]


def publish(revision, name, user, **model):
    Plugin.objects.create(kind="models", name=name, owner=user, revision=revision, identifiers=[model["identifier"]])
    PublishedVersion.objects.create(kind="models", name=name, code="a" * 64, revision=revision)
    VisionModel.objects.create(owner=user, plugin=name, runnable=True, **model)
    Submission.objects.filter(pk=revision.submission_id).update(state="done")


@pytest.mark.parametrize("leftover", ["keep", "publish", "erase"])
def test_leaving(submitter, submitted, client, leftover):
    public, private = submitted(submitter), submitted(submitter, model_files("tiles-9", size=9), visibility="private")
    publish(public, "tiles_8", submitter, identifier="tiles-8")
    publish(public, "beside", submitter, identifier="beside", visibility="private")
    publish(private, "tiles_9", submitter, identifier="tiles-9", visibility="private")
    draft = submitted(submitter, benchmark_files()).submission
    over = submitted(submitter, model_files("tiles-10", size=10)).submission
    Submission.objects.filter(pk=over.pk).update(state="rejected")
    answer = client.post("/accounts/delete/", {"password": "correct horse battery", "leftover": leftover})
    assert "Your account has been deleted" in answer.content.decode()
    left = {one.pk for one in Submission.objects.all()}
    assert draft.pk not in left
    assert over.pk not in left
    assert public.submission_id in left
    assert (private.submission_id in left) == (leftover != "erase")
    assert Revision.objects.count() == (1 if leftover == "erase" else 2)
    live = ["tiles_8"] if leftover == "erase" else ["beside", "tiles_8", "tiles_9"]
    assert [row.name for row in Plugin.objects.all()] == live
    assert sorted(row.name for row in PublishedVersion.objects.all()) == live
    assert not Submission.objects.exclude(owner=None).exists()
    assert VisionModel.objects.get(identifier="tiles-9").visibility == (
        "public" if leftover == "publish" else "private"
    )
