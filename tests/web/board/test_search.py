import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from brainscore_web.leaderboard.search import FIELDS, LONGEST, SearchError, parse

MODELS = {
    "resnet50": {"architecture": "CNN", "family": "resnet", "training_data": "ImageNet"},
    "resnet50-places": {"architecture": "CNN", "family": "resnet", "training_data": "Places 365"},
    "vit_b_16": {
        "architecture": "transformer",
        "family": "ViT",
        "training_data": "ImageNet",
        "title": "ViT, base and large",
    },
    "cornet_s": {"architecture": "recurrent network", "family": "CORnet", "training_data": "ImageNet"},
    "AND-net": {},
}


def found(text):
    search = parse(text)
    return [name for name, texts in MODELS.items() if search.matches({"identifier": name, **texts})]


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("", list(MODELS)),
        ("   ", list(MODELS)),
        ("resnet", ["resnet50", "resnet50-places"]),
        ("RESNET", ["resnet50", "resnet50-places"]),
        ("resnet places", ["resnet50-places"]),
        ("resnet AND places", ["resnet50-places"]),
        ("resnet OR vit", ["resnet50", "resnet50-places", "vit_b_16"]),
        ("NOT resnet", ["vit_b_16", "cornet_s", "AND-net"]),
        ("resnet NOT places", ["resnet50"]),
        ("NOT NOT places", ["resnet50-places"]),
        ("vit OR resnet places", ["resnet50-places", "vit_b_16"]),
        ("(vit OR resnet) places", ["resnet50-places"]),
        ("(vit OR resnet)places", ["resnet50-places"]),
        ("NOT(vit OR resnet)", ["cornet_s", "AND-net"]),
        ("NOT vit imagenet", ["resnet50", "cornet_s"]),
        ('"recurrent network"', ["cornet_s"]),
        ('"network recurrent"', []),
        ("network recurrent", ["cornet_s"]),
        ('"AND"', ["vit_b_16", "AND-net"]),
        ("base and large", ["vit_b_16"]),
        ("family:resnet", ["resnet50", "resnet50-places"]),
        ("Family:VIT", ["vit_b_16"]),
        ("title:base", ["vit_b_16"]),
        ("identifier:base", []),
        ("model:base OR model:cornet", ["vit_b_16", "cornet_s"]),
        ('training:"places 365"', ["resnet50-places"]),
        ("training:imagenet NOT architecture:cnn", ["vit_b_16", "cornet_s"]),
        ("resnet*", ["resnet50", "resnet50-places"]),
        ("*net_s", ["cornet_s"]),
        ("identifier:resnet*places", ["resnet50-places"]),
        ("identifier:res*50", ["resnet50"]),
        ("identifier:net*", []),
        ("title:*", list(MODELS)),
        ('"res*"', []),
        ("no-such", []),
    ],
)
def test_what_is_found(text, names):
    assert found(text) == names


@pytest.mark.parametrize(
    ("text", "position", "message"),
    [
        ("(vit OR resnet", 0, "not closed"),
        ("vit (a (b)", 4, "not closed"),
        ("vit) OR resnet", 3, "not opened"),
        ("vit OR", 6, "a word is missing"),
        ("OR vit", 0, "a word is missing"),
        ("vit AND OR resnet", 8, "a word is missing"),
        ("NOT", 3, "a word is missing"),
        ("()", 1, "a word is missing"),
        ('vit "recurrent', 4, "not closed"),
        ('vit ""', 4, "a word is missing"),
        ("vit family:", 4, "a word is missing"),
        ("vit famly:resnet", 4, "no field 'famly'"),
        (":resnet", 0, "no field ''"),
        ('timm:"x"', 0, "no field 'timm'"),
        ("(" * 21 + "a" + ")" * 21, 20, "too many parentheses"),
        ("a " * 101, 200, "too many words"),
        ("a" * (LONGEST + 1), LONGEST, "characters long"),
    ],
)
def test_errors_say_where(text, position, message):
    with pytest.raises(SearchError, match=re.escape(message)) as caught:
        parse(text)
    assert caught.value.position == position
    assert caught.value.remedy


def test_the_limits_themselves_are_allowed():
    assert parse("a " * 100).matches({"identifier": "a"})
    assert parse("(" * 20 + "a" + ")" * 20).matches({"identifier": "a"})
    assert parse("NOT " * 100 + "a").matches({"identifier": "a"})


def test_wildcards_are_quick_whatever_they_meet():
    pattern = "*".join("a" * 200)
    assert not parse(pattern).matches({"identifier": "a" * 199 + "b"})


LETTERS = "abcd"
formulas = st.recursive(
    st.sampled_from(LETTERS).map(lambda letter: (letter, letter)),
    lambda below: (
        st.tuples(below, below, st.sampled_from(["{0} AND {1}", "{0} {1}"])).map(
            lambda t: ("(" + t[2].format(t[0][0], t[1][0]) + ")", f"({t[0][1]} and {t[1][1]})")
        )
        | st.tuples(below, below).map(lambda t: (f"({t[0][0]} OR {t[1][0]})", f"({t[0][1]} or {t[1][1]})"))
        | below.map(lambda one: (f"NOT {one[0]}", f"(not {one[1]})"))
    ),
    max_leaves=12,
)


@given(formula=formulas, letters=st.sets(st.sampled_from(LETTERS)))
def test_formulas_mean_what_they_mean_in_python(formula, letters):
    text, expression = formula
    names = {letter: letter in letters for letter in LETTERS}
    texts = {"identifier": "-".join(sorted(letters))}
    assert parse(text).matches(texts) is eval(expression, {}, names)


@given(
    parts=st.lists(st.sampled_from([*LETTERS, "NOT a", "NOT b"]), min_size=1, max_size=8),
    operators=st.lists(st.sampled_from([" AND ", " OR ", " "]), min_size=7, max_size=7),
    letters=st.sets(st.sampled_from(LETTERS)),
)
def test_precedence_is_that_of_python(parts, operators, letters):
    text, expression = parts[0], parts[0].lower()
    for part, operator in zip(parts[1:], operators, strict=False):
        text += operator + part
        expression += {" OR ": " or "}.get(operator, " and ") + part.lower()
    names = {letter: letter in letters for letter in LETTERS}
    assert parse(text).matches({"identifier": "-".join(sorted(letters))}) is eval(expression, {}, names)


@given(st.text(alphabet='ab():"* ANDORT', max_size=40) | st.text(max_size=40))
def test_whatever_is_typed_is_read_or_refused_with_a_place(text):
    try:
        search = parse(text)
    except SearchError as error:
        place = error.position
    else:
        place = 0
        assert search.matches({name: "ab" for names in FIELDS.values() for name in names}) in (True, False)
    assert 0 <= place <= len(text)
