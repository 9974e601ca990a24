"""Choices of observers, and what is refused with the remedy."""

import numpy as np
import pytest

from brainscore_core import provenance
from brainscore_core.metric_helpers.alignment import MetricInputError
from brainscore_core.supported_data_standards.brainio.assemblies import BehavioralAssembly
from brainscore_vision.metric_helpers.behaviour import check_labels, choices_of, matched_choices, right_choices


def choices(values, stimuli, **coords):
    coords = {"stimulus_id": stimuli, **coords}
    return BehavioralAssembly(
        np.array(values, dtype=object),
        coords={name: ("presentation", values) for name, values in coords.items()},
        dims=["presentation"],
    )


def test_choices_with_the_coordinates_asked_for():
    target = choices(["dog", "cat", "dog"], ["a", "b", "c"], truth=["dog"] * 3)
    read = choices_of(target, "truth", role="target")
    codes, names = read.codes("truth")
    assert (codes.tolist(), names.tolist()) == ([0, 0, 0], ["dog"])


def test_choices_without_trials_or_with_missing_values_are_refused():
    target = choices(["dog", "cat"], ["a", "b"], truth=np.array(["dog", None], dtype=object))
    with pytest.raises(MetricInputError, match="'truth' of the target has missing values"):
        choices_of(target, "truth", role="target")
    with pytest.raises(MetricInputError, match="the target has no trials"):
        choices_of(target.isel(presentation=slice(0)), "truth", role="target")


def test_each_trial_gets_the_choice_of_the_source_for_its_stimulus():
    source = choices(["dog", "cat"], ["a", "b"])
    assert matched_choices(source, np.array(["b", "a", "b"])).tolist() == ["cat", "dog", "cat"]
    with pytest.raises(MetricInputError, match="no choice for 1 stimuli of the target, such as 'z'"):
        matched_choices(source, np.array(["a", "z"]))
    with pytest.raises(MetricInputError, match="several choices for 'a'"):
        matched_choices(choices(["dog", "cat"], ["a", "a"]), np.array(["a"]))


NAMES = ["bear", "cat", "dog", "sewing machine"]


@pytest.mark.parametrize(
    "spell",
    [
        str.upper,
        "{}\n".format,
        "{}s".format,
        "img/{}.png".format,
        NAMES.index,
        str.encode,
    ],
)
@pytest.mark.parametrize("repeats", [1, 20])
def test_labels_in_another_spelling_are_refused(spell, repeats):
    names = NAMES[-1:] if repeats == 1 else NAMES
    with pytest.raises(MetricInputError, match="no answer of the model is among the labels"):
        right_choices([spell(name) for name in names] * repeats, names * repeats, role="model")


def test_other_labels_are_refused_if_there_are_many_or_all_choices_are_known():
    with pytest.raises(MetricInputError, match=r"answers are 'Bär', 'Katze', 'Hund', the labels are 'bear', 'cat'"):
        check_labels(["Bär", "Katze", "Hund"] * 4, NAMES)
    with pytest.raises(MetricInputError, match="name the labels alike on both sides"):
        check_labels(["links"], ["left", "right"], offered=["links", "rechts"])


@pytest.mark.parametrize(
    ("answers", "labels", "others"),
    [
        (["cat"] * 20, NAMES, ()),  # always the same
        ([None, "na", np.nan, "cat"], NAMES, ()),
        (["fox", "owl", "elk"] * 9, NAMES, ["fox", "owl", "elk"]),  # wrong throughout, as people
        (["cat"] * 10 + list("abcdefgh"), NAMES, ()),  # a larger set of labels
        ([1, 2], np.array([1.0, 2.0]), ()),
    ],
)
def test_labels_of_the_same_set(answers, labels, others, recwarn):
    assert check_labels(answers, labels, others=others) == ""
    assert not recwarn


@pytest.mark.parametrize(
    ("answers", "remark"),
    [
        (["owl", "fox"], "no answer of the source is among the labels"),
        ([None, "na"], "the source has no answer"),
        (["cat"] * 9 + ["Dog"], "1 of 10 answers of the source count as wrong.*'Dog' and 'dog' differ in capitals"),
        (["cat"] * 4 + ["owl"] * 6, "6 of 10 answers of the source are not among the labels, such as 'owl'"),
    ],
)
def test_doubtful_labels_are_remarked(answers, remark):
    with provenance.recording() as record, pytest.warns(UserWarning, match=remark):
        text = check_labels(answers, NAMES)
    assert record.items == [{"kind": "remark", "text": text}]


def test_choices_that_are_all_wrong_are_remarked(recwarn):
    assert not right_choices([1, 2, 0], [0, 1, 2]).remark
    assert not recwarn
    with pytest.warns(UserWarning, match="no answer of the source is right, such as 1 where 0 is right; check"):
        assert not right_choices([1, 2, 0] * 8, [0, 1, 2] * 8).correct.any()


def test_right_answers_that_are_missing_or_several_are_reported():
    with pytest.raises(MetricInputError, match="right answer is missing in 1 trials, first in trial 2"):
        right_choices(["cat"] * 3, ["cat", "dog", None])
    with pytest.warns(UserWarning, match="1 stimuli of the target have several right answers, such as 'a'"):
        right_choices(["cat"] * 3, ["cat", "dog", "cat"], role="target", stimuli=["a", "a", "b"])
