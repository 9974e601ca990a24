"""How identifiers are written, and which look alike."""

import pytest

from brainscore_core.identifiers import MAX_LENGTH, confusable_form, identifier_problem, states_of_models


@pytest.mark.parametrize("identifier", ["pixels", "ViT_L_32", "timm:lab/net.v2@main", "Kar2019-ost", "net+1", "7T"])
def test_new_ones(identifier):
    assert identifier_problem(identifier) is None


@pytest.mark.parametrize(
    ("identifier", "said"),
    [
        ("", "it is empty"),
        ("x" * (MAX_LENGTH + 1), "201 characters"),
        ("pix\u0435ls", "U+0435 CYRILLIC SMALL LETTER IE"),
        ("\uff50ixels", "U+FF50 FULLWIDTH LATIN SMALL LETTER P"),
        ("pixels\u2010two", "U+2010 HYPHEN"),
        ("pixe\u0301ls", "U+0301 COMBINING ACUTE ACCENT"),
        ("pixels\U0001f600", "U+1F600 GRINNING FACE"),
        ("=cmd|calc", "U+003D EQUALS SIGN"),
        ("<script>", "U+003C LESS-THAN SIGN"),
        ("a b", "U+0020 SPACE"),
        ("pixels\n", "U+000A"),
        ("-pixels", "begins with '-'"),
        ("../etc", "begins with '.'"),
        ("a/../b", "empty or has only dots"),
        ("a//b", "empty or has only dots"),
        ("a/", "empty or has only dots"),
    ],
)
def test_others_are_described(identifier, said):
    assert said in identifier_problem(identifier)


@pytest.mark.parametrize(
    "other",
    [
        *("Pixels", "PIXELS", "pixe1s", "pixeIs", "\uff50\uff49xels", "p\u00edxels"),
        *(
            "pix\u0435ls",
            "\u0440\u0456\u0445\u0435l\u0455",
            "p\u03b9xels",
            "\u03c1ixels",
            "\u03a1IXELS",
        ),  # Cyrillic, Greek
    ],
)
def test_what_looks_alike(other):
    assert confusable_form(other) == confusable_form("pixels")
    assert confusable_form(f"{other}\u20102") == confusable_form("pixels-2")


def test_what_does_not():
    names = ["pixels", "pixels-2", "pixel", "resnet-18", "resnet_18", "resnet-50", "vit_b", "vit_l", "alexnet"]
    assert len({confusable_form(name) for name in names}) == len(names)


@pytest.mark.parametrize(
    ("states", "listed"),
    [
        (["net@epoch9", "net@epoch10", "net@epoch0"], "net@epoch10"),  # by number, not by text
        (["net@epoch10", "net"], "net"),  # the finished model
        (["net@seed2", "net@seed1@epoch3", "net@seed1@epoch5"], "net@seed1@epoch5"),
        (["net@seed10", "net@seed9"], "net@seed9"),
        (["net@seed1", "net@epoch2"], "net@epoch2"),
        (["net@epoch1@seed1"], "net@epoch1@seed1"),  # not of this form
    ],
)
def test_the_state_by_which_a_model_is_listed(states, listed):
    for order in (states, states[::-1]):
        ((found, every),) = states_of_models([*order, *order]).items()
        assert found == listed
        assert sorted(every) == sorted(states)
