"""Assessments in a store of results."""

import json
from dataclasses import replace

import pytest

from brainscore_core.receipts.assessment import Assessment, Used
from brainscore_core.receipts.schema import ReceiptError
from brainscore_core.results.assessments import AssessmentStore
from brainscore_core.results.store import ResultsStore

AUDIT = Assessment(
    part="audit",
    benchmark=Used(kind="benchmark", identifier="Some2026.V1-pls", version=2),
    state="assessed",
    result={"findings": [], "share": 0.5},
    text="No finding.",
    seconds=1.5,
)


@pytest.fixture
def store(tmp_path):
    return AssessmentStore(tmp_path)


def test_the_newest_of_the_same_models_is_found(store):
    store.write(AUDIT)
    with_model = replace(AUDIT, models=(Used(kind="model", identifier="pixels", sha256="0" * 64),))
    store.write(with_model)
    newer = store.write(replace(AUDIT, text="One finding."))
    assert store.latest("Some2026.V1-pls", "audit", ()) == newer
    assert store.latest("Some2026.V1-pls", "audit", ("pixels",)).models == with_model.models
    assert store.latest("Some2026.V1-pls", "audit", ("gabor",)) is None
    assert store.latest("Some2026.V1-pls", "controls", ()) is None
    found, problems = store.newest()
    assert (sorted(each.text for each in found), problems) == (["No finding.", "One finding."], [])


def test_it_does_not_disturb_receipts_of_scores(store, tmp_path):
    store.write(AUDIT)
    listing = ResultsStore(tmp_path).listing()
    assert (listing.receipts, listing.problems) == ((), ())


def test_a_damaged_file_is_reported_and_not_used(store):
    kept = store.write(AUDIT)
    other = store.write(AUDIT)
    with open(store.address_of(other), "w") as file:
        file.write('{"schema_version": 1')
    found, problems = store.newest("Some2026.V1-pls")
    assert found == [kept]
    assert [problem.path for problem in problems] == [store.address_of(other)]
    assert store.latest("Some2026.V1-pls", "audit", ()) == kept


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"state": "failed"}, "reason"),
        ({"result": None}, "result"),
        ({"part": "horoscope"}, "part"),
        ({"schema_version": 9}, "newer Brain-Score"),
    ],
)
def test_invalid_content_is_refused(change, message):
    data = json.loads(AUDIT.identified().to_json()) | change
    with pytest.raises(ReceiptError, match=message):
        Assessment.from_json(json.dumps(data))


def test_a_claim_keeps_others_out(store):
    with store.claim("Some2026.V1-pls", "audit") as claim:
        assert claim is not None
        assert store.claim("Some2026.V1-pls", "audit") is None
        assert store.claim("Some2026.V1-pls", "controls") is not None
        assert store.claim("Some2026.V1-pls", "audit", ["pixels"]) is not None  # is another one
