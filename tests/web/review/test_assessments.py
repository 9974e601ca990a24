"""Assessments of a submitted benchmark in the checklist, and on the pages of reviewers and submitters."""

import pytest

from brainscore_web.submissions.models import BenchmarkAssessment
from brainscore_web.submissions.pipeline.assessing import assessments_of
from brainscore_web.submissions.review.checklist import checklist_of

from .._assessments import audit, make_assessment, recovery
from ._made import make, model_files

BENCHMARK = "Author2026-pls"
EVIL = "<script>alert(1)</script>"
AUDIT, RECOVERY = "Audit finds nothing that makes scores too high", "Recovery finds the true model in simulations"


def add(submission, part, result=None, *, state="finished", reason=""):
    receipt = None if result is None else {**make_assessment(part, {}, benchmark=BENCHMARK).to_dict(), "result": result}
    return BenchmarkAssessment.objects.create(
        revision=submission.latest, plugin="author2026", benchmark=BENCHMARK, part=part, state=state, reason=reason,
        receipt=receipt,
    )  # fmt: skip


def item_of(submission, reader, text):
    return next(item for item in checklist_of(submission.latest, reader) if item.text == text)


def test_without_a_finding(submission, people):
    add(submission, "audit", audit(clean=True))
    add(submission, "recovery", recovery())
    for text in (AUDIT, RECOVERY):
        item = item_of(submission, people["rita"], text)
        assert (item.group, item.state) == ("Validity", "passed")
    assert not any(shown.needs_decision for shown in assessments_of(submission.latest))


def test_findings_need_a_decision(submission, people):
    """With their severity; they fail no item."""
    add(submission, "audit", audit())
    item = item_of(submission, people["rita"], AUDIT)
    (evidence,) = item.evidence
    assert item.state == "judge"
    assert evidence.text.startswith(f"{BENCHMARK} needs a reviewer's decision: there are findings; Near-duplicates: 14")
    assert "unrelated features falls by 0.329 (0.315–0.343), from 0.329 to 0.000" in evidence.text


def test_an_unrecovered_candidate_needs_a_decision(submission, people):
    add(submission, "recovery", recovery(missed=True))
    item = item_of(submission, people["rita"], RECOVERY)
    assert item.state == "judge"
    assert "Not every candidate scored best" in item.evidence[0].text


@pytest.mark.parametrize(
    ("state", "reason", "expected"),
    [
        ("waiting", "", f"{BENCHMARK}: waiting"),
        ("running", "", f"{BENCHMARK}: running"),
        ("not possible", "no data", f"{BENCHMARK}: not possible, no data"),
        ("failed", "ValueError: no", f"{BENCHMARK} needs a reviewer's decision: failed: ValueError: no"),
    ],
)
def test_without_a_result(submission, people, state, reason, expected):
    add(submission, "audit", state=state, reason=reason)
    item = item_of(submission, people["rita"], AUDIT)
    assert (item.state, item.evidence[0].text) == ("judge", expected)


def test_pages(submission, people, as_):
    """Reviewer and submitter see the same; others nothing."""
    add(submission, "audit", audit())
    add(submission, "recovery", recovery())
    for who, address in (("rita", f"/review/{submission.pk}/1/"), ("sam", f"/submissions/{submission.pk}/")):
        page = as_(who).get(address).content.decode()
        assert "Needs a reviewer’s decision." in page
        assert "Near-duplicates: 14 stimuli in 7 groups" in page
        assert "tiger-11 and tiger-12" in page
        assert '<th scope="row">gabor</th><td>0</td><td>12</td>' in page
        assert 'href="/tutorials/validity/worth/"' in page
    assert as_("stranger").get(f"/submissions/{submission.pk}/").status_code == 404


def test_changes_are_polled(submission, as_):
    """A page that shows an assessment as waiting is updated when it has ended."""
    row = add(submission, "audit", state="waiting")
    client, address = as_("sam"), f"/submissions/{submission.pk}/progress/"
    seen = client.get(address).context["seen"]
    assert client.get(address, {"seen": seen}).status_code == 204
    BenchmarkAssessment.objects.filter(pk=row.pk).update(state="failed", reason="it took too long")
    assert "it took too long" in client.get(address, {"seen": seen}).content.decode()


def test_models_have_no_validity(people, as_):
    submission = make(people["sam"], model_files(), title="models/tiles_8")
    assert "Validity" not in as_("sam").get(f"/submissions/{submission.pk}/").content.decode()


@pytest.mark.parametrize("part", ["audit", "recovery"])
@pytest.mark.parametrize("value", [EVIL, [EVIL], {"a": EVIL}, [{"kind": EVIL}], 10**400, -1.5, None, True])
def test_receipts_are_written_by_strangers(submission, as_, part, value):
    """Whatever a field contains, pages show it as text, or not at all."""
    known = {"audit": audit(), "recovery": recovery()}[part]
    nested = {
        name: [{**row, **dict.fromkeys(row, value)} for row in rows]
        for name, rows in known.items()
        if isinstance(rows, list) and rows and isinstance(rows[0], dict)
    }
    for result in (dict.fromkeys(known, value), {**known, **nested}):
        BenchmarkAssessment.objects.all().delete()
        add(submission, part, result)
        for who, address in (("rita", f"/review/{submission.pk}/1/"), ("sam", f"/submissions/{submission.pk}/")):
            response = as_(who).get(address)
            assert response.status_code == 200
            assert EVIL not in response.content.decode()
