"""Choices of observers, and what is refused with the remedy."""

import numpy as np
import pytest

from brainscore_core.supported_data_standards.brainio.assemblies import BehavioralAssembly
from brainscore_vision.metric_helpers.alignment import MetricInputError
from brainscore_vision.metric_helpers.behaviour import choices_of, matched_choices


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
    assert read.correct.tolist() == [True, False, True]
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
