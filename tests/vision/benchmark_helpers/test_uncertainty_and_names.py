import numpy as np
import pytest

from brainscore_core.metrics import Score, declare_no_error
from brainscore_vision.benchmark_helpers.cache_contract import assert_stimulus_identifier_is_cacheable
from brainscore_vision.benchmark_helpers.screen import place_on_screen
from brainscore_vision.benchmark_helpers.validate_error import assert_valid_uncertainty


def score_with(value=0.5, **attrs):
    score = Score(value)
    score.attrs.update(attrs)
    return score


GOOD = {"error": 0.1, "raw": Score(0.4), "ci_estimates": "neuroids vary"}


@pytest.mark.parametrize(
    ("attrs", "problem"),
    [
        ({}, "no attrs\\['error'\\]"),
        (GOOD | {"error": "small"}, "not a number"),
        (GOOD | {"error": np.nan}, "NaN without a reason"),
        (GOOD | {"error": -0.2}, "negative"),
        (GOOD | {"error": np.inf}, "inf"),
        ({"error": 0.1}, "no attrs\\['raw'\\]"),
    ],
)
def test_what_cannot_be_used(attrs, problem):
    with pytest.raises(AssertionError, match=problem):
        assert_valid_uncertainty(score_with(**{"ci_estimates": "neuroids vary"} | attrs))


def test_what_can_be_used():
    assert_valid_uncertainty(score_with(**GOOD))
    assert_valid_uncertainty(score_with(error=0.1, raw=Score(0.4), error_over=["subject"]))
    assert_valid_uncertainty(score_with(error=0.1, ci_estimates="neuroids"), require_raw=False)


def test_nan_with_a_reason():
    score = declare_no_error(score_with(raw=Score(0.4)), "one subject")
    assert_valid_uncertainty(score)
    with pytest.raises(AssertionError, match="NaN"):
        assert_valid_uncertainty(score, allow_nan_with_reason=False)


def test_doubts_are_warnings():
    with pytest.warns(UserWarning, match="same scale"):
        assert_valid_uncertainty(score_with(**GOOD | {"error": 3.0}))
    with pytest.warns(UserWarning, match="the source of variation is missing"):
        assert_valid_uncertainty(score_with(error=0.1, raw=Score(0.4)))


def test_names_of_derived_stimuli(tmp_path, experiment):
    stimuli = experiment.stimulus_set(tmp_path, ["a", "b"], "Simulated2026")
    assert_stimulus_identifier_is_cacheable(stimuli.identifier)
    placed = place_on_screen(stimuli, target_visual_degrees=4, source_visual_degrees=8)
    assert placed.identifier != stimuli.identifier
    assert_stimulus_identifier_is_cacheable(placed.identifier)
    assert_stimulus_identifier_is_cacheable("Geirhos2021_edge--easy--target8.00--source3.00")
    with pytest.raises(AssertionError, match="'Simulated2026_first_half'"):
        assert_stimulus_identifier_is_cacheable("Simulated2026_first_half")
    with pytest.raises(AssertionError, match=r"'merged'.*'<registered identifier>--<what was done>'"):
        assert_stimulus_identifier_is_cacheable("merged--test")
