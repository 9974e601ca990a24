from datetime import date

import pytest
from django.http import QueryDict
from hypothesis import given
from hypothesis import strategies as st

from brainscore_core.errors import UserError
from brainscore_web.leaderboard.state import BoardState


def read(text, **options):
    return BoardState.from_query(QueryDict(text), **options)


@pytest.mark.parametrize(
    ("text", "canonical"),
    [
        ("", ""),
        ("q=&region=&parameters_min=&at=", ""),
        ("q=+resnet+OR+vit+", "q=resnet%20OR%20vit"),
        ("region=V4&region=IT&region=V4", "region=IT&region=V4"),
        ("sort=rank&values=ceiled&over=all&page=1", ""),
        ("over=scored&values=raw", "values=raw&over=scored"),
        ("parameters_max=25M", "parameters_max=25000000"),
        ("parameters_max=25e6", "parameters_max=25000000"),
        ("size_min=97.8", "size_min=97.8"),
        ("ceiling_min=.5", "ceiling_min=0.5"),
        ("runnable=1", "runnable=1"),
        ("runnable=0", ""),
        ("at=2026-03-31", "at=2026-03-31"),
        ("sort=-V1", "sort=-V1"),
        ("open=", "open="),
        ("open=&open=V1", "open=V1"),
        ("open=V2&open=V1&errors=1&page=3", "open=V1&open=V2&errors=1&page=3"),
        ("access=public&exclude=a%26b%3Dc", "exclude=a%26b%3Dc&access=public"),
        ("family=a%C2%A0b", "family=a%C2%A0b"),
        ("family=r%C3%A9sum%C3%A9", "family=r%C3%A9sum%C3%A9"),
    ],
)
def test_canonical_query(text, canonical):
    state = read(text)
    assert state.query() == canonical
    assert read(state.query()) == state
    assert hash(read(state.query())) == hash(state)


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("famly=x", ("famly", "family")),
        ("nonsense=x", ("nonsense", "known parameters")),
        ("values=cooked", ("values", "ceiled, raw")),
        ("over=none", ("over", "all, scored")),
        ("access=private", ("access", "public")),
        ("values=raw&values=ceiled", ("values", "one value")),
        ("parameters_min=-5", ("parameters_min", "number")),
        ("parameters_min=nan", ("parameters_min", "number")),
        ("parameters_min=1e16", ("parameters_min", "smaller")),
        ("parameters_min=1e999", ("parameters_min", "number")),
        ("size_min=many", ("size_min", "many")),
        ("size_min=5&size_max=4", ("size_min", "size_max")),
        ("ceiling_min=inf", ("ceiling_min", "number")),
        ("at=yesterday", ("at", "2026-03-31")),
        ("at=2026-02-30", ("at", "2026-02-30")),
        ("at=20260301", ("at", "2026-03-31")),
        ("page=0", ("page", "from 1")),
        ("page=-1", ("page", "from 1")),
        ("page=٣", ("page", "from 1")),
        ("runnable=yes", ("runnable", "1")),
        ("q=(vit", ("search", "not closed")),
        ("q=" + "a" * 501, ("q", "500")),
        ("include=" + "a" * 301, ("include", "300")),
        ("family=a%00b", ("family", "control")),
        ("q=a%0Ab", ("q", "control")),
        ("&".join(f"include={n}" for n in range(501)), ("include", "500")),
    ],
)
def test_what_is_wrong_is_named(text, names):
    with pytest.raises(UserError) as caught:
        read(text)
    assert all(name in str(caught.value) for name in names)


def test_what_the_caller_reads_himself_is_left_to_him():
    assert read("form=long&over=scored", ignoring=("form",)).over == "scored"


def test_a_plain_dict_is_a_query_too():
    state = BoardState.from_query({"region": ["IT"], "over": "scored"})
    assert (state.region, state.over) == (("IT",), "scored")


def test_a_change_leads_to_the_first_page():
    state = read("page=4&over=scored")
    assert state.changed(values="raw") == read("over=scored&values=raw")
    assert state.changed(page=5).page == 5
    with pytest.raises(UserError, match="over"):
        state.changed(over="none")


def test_the_content_is_what_numbers_depend_on():
    state = read("page=4&over=scored&open=V1&errors=1&sort=V1")
    assert state.content == read("over=scored&sort=V1")


texts = st.text(st.characters(codec="utf-8", exclude_categories=("C", "Z")), min_size=1, max_size=20)


@given(
    many=st.dictionaries(st.sampled_from(["family", "include", "metric"]), st.lists(texts, max_size=4)),
    number=st.none() | st.floats(0, 1e15),
    at=st.none() | st.dates(),
    opened=st.none() | st.lists(texts, max_size=3),
)
def test_every_state_survives_its_query(many, number, at, opened):
    state = BoardState(
        **{name: tuple(values) for name, values in many.items()},
        parameters_min=number,
        at=at,
        open=None if opened is None else tuple(opened),
    )
    assert read(state.query()) == state


def test_dates_at_the_ends_of_the_calendar():
    assert read("at=0001-01-01").at == date.min
    assert read("at=9999-12-31").at == date.max
