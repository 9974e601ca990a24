"""Receipts that version 1 wrote are read by this one."""

import json
from pathlib import Path

import jsonschema
import pytest

from brainscore_core.receipts.schema import STEPS, migrated
from brainscore_core.results.aggregates import results_of
from brainscore_core.scoring import SCHEMA_VERSION, Receipt, ReceiptError, ResultsStore, receipt_schema

STORED = Path(__file__).parent / "receipts_of_version_1"
STATES = {
    "scored": ("scored", None),
    "nan": ("undefined", "the benchmark returned NaN"),
    "nan_with_raw": ("undefined", "the ceiling is 0"),
    "not_applicable": ("not applicable", "records no IT"),
    "failed": ("failed", "KeyError: 'no such layer'"),
}


def stored(name):
    return json.loads((STORED / f"{name}.json").read_text(encoding="utf-8"))


def test_there_is_a_step_for_every_earlier_version():
    assert sorted(STEPS) == list(range(1, SCHEMA_VERSION))
    assert sorted(path.stem for path in STORED.iterdir()) == sorted(STATES)


@pytest.mark.parametrize("name", STATES)
def test_what_was_stored_follows_the_schema_of_its_version(name):
    published = Path(__file__).parents[3] / "docs" / "schemas" / "receipt-1.json"
    jsonschema.validate(stored(name), json.loads(published.read_text(encoding="utf-8")))


@pytest.mark.parametrize("name", STATES)
def test_what_was_stored_is_read(name):
    before = stored(name)
    receipt = Receipt.from_json((STORED / f"{name}.json").read_bytes())
    assert (receipt.state, receipt.reason) == STATES[name]
    assert receipt.id == before["id"]
    assert (receipt.weights, receipt.run, receipt.timings.extraction, receipt.features) == ((), None, None, ())
    assert receipt.model.visual_angle is None
    after = receipt.to_dict()
    assert after["schema_version"] == SCHEMA_VERSION
    assert Receipt.from_dict(after) == receipt
    changed = {key for key in before if before[key] != after[key]}
    assert changed == {"schema_version", "timings", "environment", "model"} | (
        {"state"} if receipt.state == "undefined" else set()
    )
    assert set(after) - set(before) == {"domain", "weights", "run", "features"}
    (result,) = results_of([receipt])
    assert result.state == STATES[name][0]


def test_reading_changes_nothing_in_place(tmp_path):
    data = stored("nan")
    folder = tmp_path / "Fake2026.IT-pls" / "lab%2Fmodel"
    folder.mkdir(parents=True)
    path = folder / f"{data['id']}.json"
    path.write_bytes((STORED / "nan.json").read_bytes())
    store = ResultsStore(tmp_path)
    assert store.latest("lab/model", "Fake2026.IT-pls").state == "undefined"
    assert store.listing().problems == ()
    assert path.read_bytes() == (STORED / "nan.json").read_bytes()
    before = json.dumps(data)
    migrated(data)
    assert json.dumps(data) == before


def test_a_receipt_of_this_version_is_left_alone():
    data = Receipt.from_dict(stored("scored")).to_dict()
    assert migrated(data) is data


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"timings": None}, "of version 1: .*timings"),
        ({"timings": {"total": "long"}}, "of version 1: .*timings"),
        ({"benchmark": "Fake2026"}, "of version 1: .*benchmark"),
        ({"state": "undefined"}, "of version 1: .*reason"),
        ({"state": []}, "of version 1: .*state"),
        ({"score": {"value": 0.5}}, "of version 1: .*score"),
        ({"attachments": {}, "raw": 3}, "of version 1: .*raw"),
    ],
)
def test_a_damaged_one_is_refused(change, message):
    with pytest.raises(ReceiptError, match=message):
        Receipt.from_dict(stored("scored") | change)


@pytest.mark.parametrize("field", sorted(receipt_schema()["required"]))
def test_one_that_lacks_a_field_is_refused(field):
    data = stored("scored")
    if field not in data:
        pytest.skip("of a later version")
    del data[field]
    with pytest.raises(ReceiptError, match=rf"not a valid receipt.*{field}"):
        Receipt.from_dict(data)
