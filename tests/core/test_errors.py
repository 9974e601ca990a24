import pickle
from concurrent.futures import ThreadPoolExecutor

import pytest

from brainscore_core import provenance
from brainscore_core.errors import (
    DataUnavailable,
    MissingColumn,
    NotApplicable,
    UnknownIdentifier,
    UserError,
    respelled,
    spelling_hint,
)


def test_message_and_remedy():
    error = UserError("no folder 'x'", remedy="create it")
    assert str(error) == "no folder 'x'\ncreate it"
    assert str(UserError("no folder 'x'")) == "no folder 'x'"


@pytest.mark.parametrize("kind", [UserError, UnknownIdentifier, DataUnavailable, MissingColumn])
def test_errors_survive_pickling(kind):
    error = pickle.loads(pickle.dumps(kind("what", remedy="do")))
    assert type(error) is kind
    assert (error.message, error.remedy) == ("what", "do")


def test_an_unknown_identifier_is_a_key_error_that_reads_well():
    error = UnknownIdentifier("no model 'alexnt'", remedy="did you mean alexnet?")
    assert isinstance(error, KeyError)
    assert str(error) == "no model 'alexnt'\ndid you mean alexnet?"


def test_not_applicable_survives_pickling():
    assert pickle.loads(pickle.dumps(NotApplicable("no logits"))).reason == "no logits"


@pytest.mark.parametrize(
    ("name", "other", "difference"),
    [
        ("0.00", "0", "the format of numbers"),
        ("1", 1, "type"),
        ("007", "7", "the format of numbers"),
        ("Ba\u0308r", "B\u00e4r", "accents or Unicode form"),
        ("images\\im_1.PNG", "im1", "the folder and the file name's ending and spaces or punctuation"),
        ("\ufeffcat", "cat", "spaces or punctuation"),
    ],
)
def test_names_in_another_spelling(name, other, difference):
    assert respelled([name], [other]) == {name: other}
    assert difference in spelling_hint([name], [other])


@pytest.mark.parametrize(
    ("name", "other"), [("1-10", "110"), ("-1", "1"), ("0.5", "0.6"), ("im_1", "im_10"), ("++", "+")]
)
def test_names_that_are_different(name, other):
    assert respelled([name], [other]) == {}


class TestProvenance:
    def test_nested_records_both_hear(self):
        with provenance.recording() as outer:
            provenance.note("data", identifier="a")
            with provenance.recording() as inner:
                provenance.note("data", identifier="b")
        assert [item["identifier"] for item in outer.items] == ["a", "b"]
        assert [item["identifier"] for item in inner.items] == ["b"]

    def test_each_fact_once(self):
        with provenance.recording() as record:
            for _ in range(3):
                provenance.note("file", url="u", sha1="s")
        assert len(record.items) == 1

    def test_outside_nothing_happens(self):
        provenance.note("data", identifier="a")

    def test_another_thread_does_not_hear(self):
        with ThreadPoolExecutor(1) as pool, provenance.recording() as record:
            pool.submit(provenance.note, "data", identifier="a").result()
        assert record.items == []
