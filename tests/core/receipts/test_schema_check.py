"""The quick check never accepts what the validator refuses."""

import copy
import json
from pathlib import Path

import jsonschema
import pytest
from hypothesis import given
from hypothesis import strategies as st

from brainscore_core.receipts.schema import quick_check
from brainscore_core.scoring import Receipt, receipt_schema

VALIDATOR = jsonschema.Draft202012Validator(receipt_schema())
CHECK = quick_check(receipt_schema())
RECEIPTS = [
    Receipt.from_json(path.read_bytes()).to_dict()
    for path in sorted((Path(__file__).parent / "receipts_of_version_1").iterdir())
]
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=5,
)


def places(value, above=()):
    """All places in a nested value, as keys and indices from the top on."""
    yield above
    inside = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, entry in inside:
        yield from places(entry, (*above, key))


def within(value, place):
    for key in place:
        value = value[key]
    return value


@st.composite
def damaged(draw):
    """A receipt in which something is replaced, removed, added or moved."""
    data = copy.deepcopy(draw(st.sampled_from(RECEIPTS)))
    for _ in range(draw(st.integers(1, 3))):
        place = draw(st.sampled_from([place for place in places(data) if place]))
        holder, key = within(data, place[:-1]), place[-1]
        change = draw(st.sampled_from(["replace", "remove", "add", "move"]))
        if change == "replace":
            holder[key] = draw(JSON)
        elif change == "remove":
            del holder[key]
        elif change == "add" and isinstance(holder, dict):
            holder[draw(st.text(max_size=5))] = draw(JSON)
        else:
            holder[key] = copy.deepcopy(within(data, draw(st.sampled_from(list(places(data))))))
    return data


def test_it_accepts_every_receipt():
    assert all(CHECK(data) for data in RECEIPTS)


@given(damaged())
def test_it_accepts_nothing_that_the_validator_refuses(data):
    assert not CHECK(data) or VALIDATOR.is_valid(data)


@given(JSON)
def test_it_accepts_no_other_value(value):
    assert not CHECK(value)


@pytest.mark.parametrize(
    ("path", "value"),
    [
        (("schema_version",), True),
        (("schema_version",), 1),
        (("score", "error"), -0.1),
        (("score", "ci"), [0.1]),
        (("score", "ci"), [0.1, 0.2, 0.3]),
        (("score", "ci_level"), 1),
        (("score", "ci_level"), 0),
        (("score", "value"), None),
        (("score", "value"), True),
        (("model", "identifier"), ""),
        (("environment", "cpu_count"), 0),
        (("environment", "cpu_count"), False),
        (("environment", "packages"), {"numpy": 2}),
        (("files", 0, "sha1"), "0" * 39),
        (("memory", "peak_bytes"), 1.5),
        (("state",), "undefined"),
        (("error",), {"type": "E", "message": "", "traceback": ""}),
        (("id",), "20260101"),
        (("notes",), [None]),
    ],
)
def test_each_kind_of_rule(path, value):
    data = copy.deepcopy(next(data for data in RECEIPTS if data["state"] == "scored"))
    within(data, path[:-1])[path[-1]] = value
    assert not CHECK(data)
    assert not VALIDATOR.is_valid(data)


def test_a_rule_that_it_does_not_know_is_no_rule_that_it_skips():
    for schema in ({"type": "string", "format": "date"}, {"properties": {"a": {"maxLength": 3}}}, {"not": {}}):
        with pytest.raises(NotImplementedError, match="cannot be checked"):
            quick_check(schema)
    with pytest.raises(NotImplementedError, match="does not point"):
        quick_check({"$ref": "https://example.org/schema"})


def test_it_agrees_on_what_json_holds():
    text = json.dumps(RECEIPTS[0])
    assert CHECK(json.loads(text))
