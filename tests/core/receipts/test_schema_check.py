"""The fast check of receipts and the validator that explains a rejection follow the same rules."""

import copy
from pathlib import Path

import jsonschema
import pytest
from hypothesis import given
from hypothesis import strategies as st

from brainscore_core.receipts.schema import RECEIPTS
from brainscore_core.scoring import Receipt, ReceiptError, receipt_schema

VALIDATOR = jsonschema.Draft202012Validator(receipt_schema())
STORED = [
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


def is_accepted(data):
    try:
        RECEIPTS.validate(data)
    except ReceiptError:
        return False
    return True


@st.composite
def damaged(draw):
    """A receipt in which something is replaced, removed, added or moved."""
    data = copy.deepcopy(draw(st.sampled_from(STORED)))
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


@given(damaged())
def test_the_checks_agree_on_damaged_receipts(data):
    assert is_accepted(data) is VALIDATOR.is_valid(data)


@given(JSON)
def test_no_other_value_is_accepted(value):
    assert not is_accepted(value)


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
        (("environment", "packages"), {"\ud800": 2}),
        (("files", 0, "sha1"), "0" * 39),
        (("memory", "peak_bytes"), 1.5),
        (("state",), "undefined"),
        (("error",), {"type": "E", "message": "", "traceback": ""}),
        (("id",), "20260101"),
        (("notes",), [None]),
    ],
)
def test_each_kind_of_rule(path, value):
    data = copy.deepcopy(next(data for data in STORED if data["state"] == "scored"))
    within(data, path[:-1])[path[-1]] = value
    assert not is_accepted(data)
