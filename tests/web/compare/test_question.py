"""Questions are read from addresses and written back."""

import pytest
from django.http import QueryDict
from hypothesis import given
from hypothesis import strategies as st

from brainscore_core.errors import UserError
from brainscore_web.compare.question import Question
from brainscore_web.leaderboard.state import BoardState

names = st.text(st.characters(codec="utf-8", exclude_categories=["C", "Z"]), max_size=20)
questions = st.builds(
    Question,
    mode=st.sampled_from(["benchmarks", "models", "matrix"]),
    x=names,
    y=names,
    first=names,
    second=names,
    method=st.sampled_from(["pearson", "spearman"]),
    level=st.sampled_from(["means", "benchmarks", "all"]),
    least=st.integers(3, 500),
    colour=st.sampled_from(["architecture", "family", "training", "none"]),
    board=st.builds(
        BoardState,
        region=st.sampled_from([(), ("IT",), ("V1", "V4")]),
        values=st.sampled_from(["ceiled", "raw"]),
        over=st.sampled_from(["all", "scored"]),
        parameters_max=st.sampled_from([None, 25e6]),
    ),
)


@given(questions)
def test_what_is_written_is_read_again(question):
    assert Question.from_query(QueryDict(question.query())) == question


def test_the_usual_is_not_written():
    assert Question().query() == ""
    assert Question.from_query({"mode": ["benchmarks"], "x": [""], "least": ["10"], "q": [" "]}) == Question()


def test_columns_that_are_open_and_the_order_say_nothing_here():
    assert Question.from_query({"open": ["IT"], "sort": ["model"], "page": ["3"]}) == Question()


@pytest.mark.parametrize(
    ("query", "said"),
    [
        ("mode=three", "mode is 'three'"),
        ("method=kendall", "method is 'kendall'"),
        ("level=region", "level is 'region'"),
        ("colour=red", "colour is 'red'"),
        ("least=2", "least is 2"),
        ("least=many", "least is 'many'"),
        ("least=٣", "least is"),
        ("x=a&x=b", "x has 2 values"),
        ("x=" + "a" * 301, "x is 301 characters long"),
        ("first=a%00b", "control character"),
        ("regoin=IT", "unknown parameter 'regoin'"),
        ("values=both", "values is 'both'"),
        ("at=yesterday", "at is 'yesterday'"),
    ],
)
def test_what_cannot_be_read_is_named(query, said):
    with pytest.raises(UserError, match=said) as caught:
        Question.from_query(QueryDict(query))
    assert caught.value.remedy


def test_changes_go_where_they_belong():
    changed = Question().changed(x="IT", region=("V1",))
    assert (changed.x, changed.board.region) == ("IT", ("V1",))
