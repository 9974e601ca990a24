import contextlib
import copy
import math
import pickle

import numpy as np
import pytest

from brainscore_core.metrics import Ceiling, Metric, Score, attach_uncertainty, declare_no_error


@pytest.fixture
def score():
    score = Score(0.5)
    score.attrs["raw"] = Score([0.4, 0.6], coords={"split": ("split", [0, 1])}, dims=["split"])
    return attach_uncertainty(score, error=0.1, ci=(0.3, 0.6), estimates="mean over splits", method="t")


@pytest.mark.parametrize(
    ("operate", "value", "error", "ci"),
    [
        (lambda s: s * 2, 1.0, 0.2, (0.6, 1.2)),
        (lambda s: 2 * s, 1.0, 0.2, (0.6, 1.2)),
        (lambda s: s / 2, 0.25, 0.05, (0.15, 0.3)),
        (lambda s: s * -1, -0.5, 0.1, (-0.6, -0.3)),
        (lambda s: -s, -0.5, 0.1, (-0.6, -0.3)),
        (lambda s: +s, 0.5, 0.1, (0.3, 0.6)),
        (lambda s: np.float64(2) * s, 1.0, 0.2, (0.6, 1.2)),
        (lambda s: s * np.array(2), 1.0, 0.2, (0.6, 1.2)),
        (lambda s: np.multiply(s, 2), 1.0, 0.2, (0.6, 1.2)),
        (lambda s: np.divide(s, 2), 0.25, 0.05, (0.15, 0.3)),
        (lambda s: np.negative(s), -0.5, 0.1, (-0.6, -0.3)),
    ],
)
def test_a_constant_factor_scales_the_uncertainty(score, operate, value, error, ci):
    result = operate(score)
    assert isinstance(result, Score)
    assert float(result) == pytest.approx(value)
    assert result.attrs["error"] == pytest.approx(error)
    assert result.attrs["ci"] == pytest.approx(ci)
    assert result.attrs["ci_estimates"] == "mean over splits"
    assert "raw" in result.attrs
    assert score.attrs["error"] == 0.1  # the operand is untouched


def test_a_constant_factor_in_place(score):
    score *= 2
    assert score.attrs["error"] == pytest.approx(0.2)
    score /= 4
    assert score.attrs["ci"] == pytest.approx((0.15, 0.3))
    score += 1
    assert math.isnan(score.attrs["error"])


@pytest.mark.parametrize(
    "operate",
    [
        lambda s: s + s,
        lambda s: s + 1,
        lambda s: 1 - s,
        lambda s: 1 / s,
        lambda s: s * s,
        lambda s: s**2,
        lambda s: s / 0,
        lambda s: np.sqrt(s),
        lambda s: np.add(1, s),
        lambda s: abs(s),
        lambda s: s.mean(),
        lambda s: s.mean(keep_attrs=True),
    ],
)
def test_other_arithmetic_leaves_nan_with_a_reason(score, operate):
    with np.errstate(divide="ignore"):
        result = operate(score)
    assert isinstance(result, Score)
    assert math.isnan(result.attrs["error"])
    assert result.attrs["error_reason"]
    assert all(map(math.isnan, result.attrs["ci"]))
    assert result.attrs["ci_reason"]


def test_comparison_is_plain(score):
    assert score == 0.5
    assert score > 0.4
    assert 0 < score <= 1
    assert score != 0.6
    assert (score == 0.5).attrs == {}


def test_indexing_keeps_attributes():
    scores = Score([0.1, 0.2, 0.3], coords={"split": ("split", [0, 1, 2])}, dims=["split"])
    scores.attrs["error"] = 0.05
    for part in (scores[0], scores.isel(split=[0, 1]), scores.sel(split=2)):
        assert isinstance(part, Score)
        assert part.attrs["error"] == 0.05


def test_aggregation_by_name_forgets():
    scores = Score([[0.1, 0.2], [0.3, 0.6]], coords={"split": ("split", [0, 1])}, dims=["split", "neuroid"])
    scores.attrs["error"] = 0.05
    result = scores.median("neuroid").mean("split")
    assert float(result) == pytest.approx(0.3)
    assert math.isnan(result.attrs["error"])


def test_formatting_as_the_tutorial_prints(score):
    assert f"{score.values:.4f}" == "0.5000"
    assert float(score) == 0.5
    assert score.item() == 0.5
    assert "0.5" in repr(score)


def test_copies_are_independent(score):
    for other in (copy.deepcopy(score), pickle.loads(pickle.dumps(score)), score.copy(deep=True)):
        other.attrs["error"] = 9
        assert score.attrs["error"] == 0.1
        assert float(other) == 0.5
        assert isinstance(other, Score)


def test_a_score_of_a_score_keeps_what_is_known(score):
    assert Score(score).attrs["error"] == 0.1


class TestAttach:
    def test_needs_a_reason_for_what_is_missing(self):
        with pytest.raises(ValueError, match="give the reason"):
            attach_uncertainty(Score(1.0), error=0.1)
        with pytest.raises(ValueError, match="give the reason"):
            attach_uncertainty(Score(1.0), ci=(0, 1), estimates="x", method="t")

    def test_needs_to_know_what_the_interval_estimates(self):
        with pytest.raises(ValueError, match="estimates"):
            attach_uncertainty(Score(1.0), error=0.1, ci=(0, 1))

    def test_wrong_order(self):
        with pytest.raises(ValueError, match="wrong order"):
            attach_uncertainty(Score(1.0), error=0.1, ci=(1, 0), estimates="x", method="t")

    def test_overwrites_what_was_there(self, score):
        declare_no_error(score, "a constant")
        assert math.isnan(score.attrs["error"])
        assert score.attrs["error_reason"] == score.attrs["ci_reason"] == "a constant"
        assert "ci_method" not in score.attrs


@pytest.mark.parametrize(("contract", "arguments"), [(Metric, (1, 2)), (Ceiling, (1,))])
def test_contracts_say_what_is_missing(contract, arguments):
    class Unfinished(contract):
        pass

    with pytest.raises(NotImplementedError, match="Unfinished"):
        Unfinished()(*arguments)


def split_score(values=(1.0, 2.0, 4.0), first=0):
    places = np.arange(first, first + len(values))
    score = Score(list(values), coords={"split": places}, dims=["split"])
    coords = {"split": places, "neuroid_id": ("neuroid", ["a", "b"])}
    score.attrs["raw"] = Score(np.outer(values, [1.0, 3.0]), coords=coords, dims=["split", "neuroid"])
    return score


@pytest.mark.parametrize("method", ["mean", "sum", "std", "min"])
def test_raw_values_follow_where_asked(method):
    score = split_score()
    untouched = getattr(score, method)("split")
    assert untouched.raw.dims == ("split", "neuroid")
    followed = getattr(score, method)("split", _apply_raw=True)
    expected = getattr(np, method)([1.0, 2.0, 4.0])
    assert float(followed) == pytest.approx(expected)
    np.testing.assert_allclose(followed.raw.values, expected * np.array([1.0, 3.0]))


def test_raw_values_of_other_dimensions_stay():
    score = split_score()
    score.attrs["raw"] = score.raw.rename(split="repetition")
    assert score.mean("split", _apply_raw=True).raw.dims == ("repetition", "neuroid")


def test_merged_scores_have_merged_raw_values():
    merged = Score.merge(split_score(), split_score(values=(8.0,), first=3))
    assert merged.values.tolist() == [1.0, 2.0, 4.0, 8.0]
    assert merged.raw.sel(split=3).values.tolist() == [8.0, 24.0]
    assert set(merged.attrs) == {"raw"}


def test_coordinates_that_are_set_are_merged_with_raw_values():
    scores = [split_score(values=(1.0, 2.0)), split_score(values=(3.0, 4.0))]
    for subject, score in enumerate(scores):
        score["subject"] = "split", [subject] * 2
        score["unit"] = "split", [subject] * 2
    assert "subject" in scores[0].raw.coords
    merged = Score.merge(*scores, ignore_exceptions=True)
    assert merged.raw["subject"].values.tolist() == merged["subject"].values.tolist() == [0, 0, 1, 1]


def test_coordinates_that_do_not_fit_raw_values_or_are_for_the_score_alone():
    score = split_score()
    score.attrs["raw"] = score.raw.isel(split=slice(2))
    score["subject"] = "split", [0, 1, 2]
    score.__setitem__("neuroids", ("split", [7, 8, 9]), _apply_raw=False)
    assert score["subject"].values.tolist() == [0, 1, 2]
    assert not {"subject", "neuroids"} & set(score.raw.coords)


@pytest.mark.parametrize("handling", ["ignore", "warn", "raise"])
def test_raw_values_that_cannot_be_merged(handling):
    one, other = split_score(), split_score(first=3)
    other.attrs["raw"] = object()
    with contextlib.ExitStack() as stack:
        if handling == "raise":
            stack.enter_context(pytest.raises((KeyError, ValueError, TypeError)))
        elif handling == "warn":
            stack.enter_context(pytest.warns(UserWarning, match="'raw' of the scores could not be merged"))
        merged = Score.merge(one, other, exception_handling=handling)
        assert "raw" not in merged.attrs


def test_what_cannot_be_merged():
    with pytest.raises(ValueError, match="at least one"):
        Score.merge()
    with pytest.raises(ValueError, match="'ignore', 'warn' or 'raise', got 'skip'"):
        Score.merge(split_score(), exception_handling="skip")


def test_the_influence_of_units_is_scaled_with_its_bias(score):
    score.attrs["influence"] = np.array([0.1, -0.1])
    np.testing.assert_allclose((score / 2).attrs["influence"], [0.05, -0.05])
    score.attrs["influence"] = Score([0.1, -0.1], dims=["stimulus"])
    score.attrs["influence"].attrs.update(bias=0.02, unit="stimulus")
    influence = (3 * score).attrs["influence"]
    np.testing.assert_allclose(influence.values, [0.3, -0.3])
    assert influence.attrs["bias"] == pytest.approx(0.06)
    assert influence.attrs["unit"] == "stimulus"


def test_dimensions_of_length_one_come_and_go_with_those_of_the_raw_values():
    score = Score([0.5], dims=["layer"])
    score.attrs["raw"] = Score([[0.4, 0.6]], dims=["layer", "split"])
    squeezed = score.squeeze("layer")
    assert (squeezed.dims, squeezed.attrs["raw"].dims) == ((), ("split",))
    expanded = squeezed.expand_dims("layer")
    assert (expanded.dims, set(expanded.attrs["raw"].dims)) == (("layer",), {"layer", "split"})


def test_scores_do_not_combine_with_what_is_no_number(score):
    with pytest.raises(TypeError):
        score + object()
