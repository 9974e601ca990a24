"""Verdicts: who, when, and exactly one."""

import threading

import pytest
from django.db import connection
from django.utils.html import escape

from brainscore_web.jobs.models import Email
from brainscore_web.submissions.models import ASPECTS, Review
from brainscore_web.submissions.review.decisions import ReviewCase, VerdictRefused, record_verdict, refusal

from .._html import html_problems
from ._made import FINE, add_revision, benchmark_files, make, unlocked

ALL_FINE = {name: {"fine": True, "note": ""} for name in ASPECTS}
NONE_APPLY = {name: {"fine": None, "note": ""} for name in ASPECTS}
ONE_MISSING = {name: one for name, one in ALL_FINE.items() if name != "ceiling"}
ONE_WRONG = {**ALL_FINE, "science": {"fine": False, "note": "no"}}
WAITS = ReviewCase("review", "waits for review")
RULES = [
    # case, verdict, aspects, text, what is said against it
    (WAITS, "approved", ALL_FINE, "", None),
    (WAITS, "approved", NONE_APPLY, "", None),
    (WAITS, "approved", ONE_MISSING, "good", "not judged: Ceiling implementation"),
    (WAITS, "approved", ONE_WRONG, "good", "not fine: Scientific validity"),
    (WAITS, "approved", {}, "good", "not judged"),
    (ReviewCase("review", unpassed=("tested",)), "approved", ALL_FINE, "", "it was not successfully tested"),
    (ReviewCase("review", unpassed=("tested",)), "changes", {}, "mend", None),
    (WAITS, "changes", {}, "", "the changes are not described"),
    (ReviewCase("review", open=1), "changes", {}, "", None),
    (WAITS, "changes", {}, "mend it", None),
    (WAITS, "rejected", {}, "", "the reason is missing"),
    (ReviewCase("review", open=1), "rejected", {}, "", "the reason is missing"),
    (WAITS, "rejected", {}, "spam", None),
    (ReviewCase("changes", "waits for changes"), "rejected", {}, "spam", None),
    (ReviewCase("queued", "being checked"), "rejected", {}, "spam", None),
    (ReviewCase("done", "done"), "rejected", {}, "spam", "its state is “done”"),
    (ReviewCase("changes", "waits for changes"), "approved", ALL_FINE, "", "its state is “waits for changes”"),
    (
        ReviewCase("scoring", "being scored", by="Rob said “approved”"),
        "changes",
        {},
        "x",
        "Rob said “approved”; its state is “being",
    ),
    (ReviewCase("review", own=True), "approved", ALL_FINE, "", "your own"),
    (ReviewCase("review", own=True), "rejected", {}, "x", "your own"),
    (ReviewCase("review", newer=3), "approved", ALL_FINE, "", "revision 3 has been sent in the meantime"),
    (ReviewCase("review", holder="Rob"), "changes", {}, "x", "Rob is reviewing it"),
]


@pytest.mark.parametrize(("case", "verdict", "aspects", "text", "said"), RULES)
def test_rules(case, verdict, aspects, text, said):
    why = refusal(case, verdict, aspects, text)
    if said is None:
        assert why is None
    else:
        assert why is not None
        assert said in why.message
        assert why.remedy


def post(client, submission, number=1, **sent):
    return client.post(f"/review/{submission.pk}/{number}/judge/", sent)


def test_an_approval_is_published(as_, submission, django_capture_on_commit_callbacks):
    page = as_("rita").get(f"/review/{submission.pk}/1/")
    assert "Approve" in page.content.decode()
    answer = post(as_("rita"), submission, verdict="approved", text="Good.", **FINE)
    assert (answer.status_code, answer["Location"]) == (302, "/review/")
    submission.refresh_from_db()
    revision = submission.latest
    assert submission.state == "publishing"
    assert revision.steps.get(kind="review").state == "passed"
    review = revision.reviews.get()
    assert (review.verdict, review.reviewer.display_name, review.text) == ("approved", "Rita", "Good.")
    assert review.aspects["science"] == {"fine": True, "note": ""}
    assert {item["group"] for item in review.checklist} == {"Data", "Benchmark", "Testing", "Documentation", "Validity"}


def test_changes_and_rejection(as_, people):
    one, other = make(people["sam"]), make(people["sam"])
    assert post(as_("rita"), one, verdict="changes", text="Please cite.").status_code == 302
    assert post(as_("rob"), other, verdict="rejected", text="No benchmark.").status_code == 302
    one.refresh_from_db()
    other.refresh_from_db()
    assert (one.state, other.state) == ("changes", "rejected")
    assert one.latest.steps.get(kind="review").reason == "Please cite."
    shown = as_("stranger").get(f"/review/{one.pk}/1/")
    assert shown.status_code == 404


@pytest.mark.parametrize(
    ("verdict", "text", "step"),
    [
        ("changes", "Please <b>cite</b>.", "Please <b>cite</b>."),
        ("changes", "", "The changes are described by 2 comments next to the code."),
        ("rejected", "No <i>benchmark</i>.", "No <i>benchmark</i>."),
    ],
)
def test_reasons_are_where_the_decision_is_announced(as_, submission, verdict, text, step):
    """At the top of the submission's page, at the step, and in the e-mail; not in the section of reviews."""
    comment = f"/review/{submission.pk}/1/comment/"
    path = "benchmarks/author2026/benchmark.py"
    as_("rita").post(comment, {"text": f"Why <u>3</u>? {'x' * 2000}", "path": path, "line": "4"})
    as_("sam").post(comment, {"text": "Because.", "path": path, "line": "4"})
    as_("rita").post(comment, {"text": "Nice."})
    first = submission.latest.comments.order_by("pk").first()
    answer = post(
        as_("rita"), submission, verdict=verdict, text=text, **{"note-data": "Cite it.", "aspect-data": "not"}
    )
    assert answer.status_code == 302
    page = as_("sam").get(f"/submissions/{submission.pk}/").content.decode()
    assert not html_problems(page)
    announced, _, rest = page.partition('<h2 id="steps">')
    assert escape(text) in announced
    assert not text or text not in page
    assert 'Data integrity: not fine – <span dir="auto">Cite it.</span>' in announced
    assert f'/1/code/#c{first.pk}"><code>{path}:4</code>' in announced
    assert "Why &lt;u&gt;3&lt;/u&gt;?" in announced
    assert "x" * 1001 not in announced
    assert "1 reply" in announced
    assert "Nice." in announced
    assert escape(step) in rest
    assert 'id="reviews"' not in page
    body = Email.objects.get(subject__contains={"changes": "Changes requested", "rejected": "Rejected"}[verdict]).body
    for part in (text, "Why <u>3</u>?", "Nice.", "Data integrity (not fine): Cite it."):
        assert part in body
    add_revision(submission, benchmark_files(), number=2, state="review")
    page = as_("sam").get(f"/submissions/{submission.pk}/").content.decode()
    assert 'id="decision"' not in page  # of an earlier revision
    assert escape(text) in page.partition('id="reviews"')[2]


@pytest.mark.parametrize("verdict", ["approved", "changes", "rejected"])
@pytest.mark.parametrize("who", ["rita", "admin"])
def test_nobody_reviews_their_own(as_, people, who, verdict):
    own = make(people[who])
    page = as_(who).get(f"/review/{own.pk}/1/").content.decode()
    assert "your own submission" in page
    assert 'name="verdict"' not in page
    answer = post(as_(who), own, verdict=verdict, text="x", **FINE)
    assert answer.status_code == 403
    assert "your own submission" in answer.content.decode()
    assert as_(who).post(f"/review/{own.pk}/claim/").status_code == 403
    own.refresh_from_db()
    assert (own.state, own.latest.reviews.count()) == ("review", 0)


def test_who_sent_a_revision_does_not_review_it(as_, people, submission):
    add_revision(submission, benchmark_files(version=2), number=2, by=people["rita"])
    assert post(as_("rita"), submission, 2, verdict="approved", **FINE).status_code == 403


def test_only_the_newest_is_judged(as_, submission):
    add_revision(submission, benchmark_files(version=2), number=2)
    answer = post(as_("rita"), submission, 1, verdict="approved", **FINE)
    assert answer.status_code == 409
    assert "revision 2 has been sent in the meantime" in answer.content.decode().lower()
    submission.refresh_from_db()
    assert submission.state == "review"


def test_what_was_written_is_kept_when_it_is_refused(as_, submission):
    answer = post(
        as_("rita"), submission, verdict="approved", text="So <b>good</b>", **{**FINE, "aspect-science": "not"}
    )
    page = answer.content.decode()
    assert answer.status_code == 400
    assert "Not fine: Scientific validity" in page
    assert "So &lt;b&gt;good&lt;/b&gt;" in page
    assert 'value="not" id="id_aspect-science_1" checked' in page.replace(' class=""', "")


def test_nonsense_is_refused(as_, submission):
    assert post(as_("rita"), submission, verdict="maybe").status_code == 400
    assert post(as_("rita"), submission, verdict="changes", text="x" * 10_001).status_code == 400
    assert post(as_("rita"), submission, 7, verdict="changes", text="x").status_code == 404
    submission.refresh_from_db()
    assert submission.state == "review"


def test_what_a_failed_test_says_cannot_be_approved(as_, submission):
    submission.latest.steps.filter(kind="test").update(state="failed")
    answer = post(as_("rita"), submission, verdict="approved", **FINE)
    assert answer.status_code == 400
    assert "not successfully tested" in answer.content.decode()


def test_who_took_it_on_is_asked_first(as_, submission):
    assert as_("rob").post(f"/review/{submission.pk}/claim/").status_code == 302
    assert as_("rita").post(f"/review/{submission.pk}/claim/").status_code == 409
    answer = post(as_("rita"), submission, verdict="approved", **FINE)
    assert answer.status_code == 409
    assert "Rob is reviewing it" in answer.content.decode()
    assert as_("rita").post(f"/review/{submission.pk}/claim/", {"what": "over"}).status_code == 302
    assert post(as_("rita"), submission, verdict="approved", **FINE).status_code == 302


def test_taking_on_and_giving_up(as_, submission):
    as_("rob").post(f"/review/{submission.pk}/claim/")
    assert "reviewed by Rob" in as_("rita").get("/review/").content.decode()
    as_("rita").post(f"/review/{submission.pk}/claim/", {"what": "give up"})  # not hers
    assert "reviewed by Rob" in as_("rita").get("/review/").content.decode()
    as_("rob").post(f"/review/{submission.pk}/claim/", {"what": "give up"})
    assert "not assigned yet" in as_("rita").get("/review/").content.decode()


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("verdicts", [("approved", "approved"), ("approved", "rejected"), ("changes", "approved")])
def test_two_at_once(transactional_db, people, verdicts):
    submission = make(people["sam"])
    begin, outcomes = threading.Barrier(2), []

    def run(name, verdict):
        try:
            revision = submission.latest
            begin.wait()
            unlocked(lambda: record_verdict(revision, people[name], verdict, aspects=ALL_FINE, text=f"by {name}"))
            outcomes.append(verdict)
        except VerdictRefused as error:
            outcomes.append(error)
        finally:
            connection.close()

    threads = [threading.Thread(target=run, args=one) for one in zip(("rita", "admin"), verdicts, strict=True)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(30)
    late = [one for one in outcomes if isinstance(one, VerdictRefused)]
    assert len(outcomes) == 2
    assert len(late) == 1
    assert late[0].late
    review = submission.latest.reviews.get()
    assert review.reviewer.display_name in late[0].message
    submission.refresh_from_db()
    assert submission.state == {"approved": "publishing", "rejected": "rejected", "changes": "changes"}[review.verdict]
    assert submission.emails.count() == 1


def test_notes_stay_through_revisions(people, client):
    """The submitter's page and the reviewer's form keep what was written on earlier revisions."""
    submission = make(people["sam"], note="Measures choices of sixty people.")
    Review.objects.create(
        revision=submission.latest, reviewer=people["rita"], verdict="changes", text="Please cite the paper.",
        aspects={"documentation": {"fine": False, "note": "the citation lacks its year"}},
    )  # fmt: skip
    add_revision(submission, benchmark_files(), number=2, note="Cited.")
    client.force_login(people["sam"])
    text = client.get(f"/submissions/{submission.pk}/").content.decode()
    for kept in ("Measures choices of sixty people.", "Cited.", "Please cite the paper.", "lacks its year"):
        assert kept in text
    client.force_login(people["rita"])
    text = client.get(f"/review/{submission.pk}/2/").content.decode()
    assert "Measures choices of sixty people." in text
    assert 'name="note-documentation" value="the citation lacks its year"' in text
