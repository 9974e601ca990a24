import math

import numpy as np
import pytest

from brainscore_core.benchmarks import bound_score, ceil_score, explained_variance, normalise
from brainscore_core.metrics import Score, attach_uncertainty
from brainscore_core.numerics.predictions import PredictivityOfUnits, predictivity, predictivity_interval
from brainscore_core.provenance import recording
from brainscore_core.supported_data_standards.brainio.assemblies import DataAssembly


def with_uncertainty(value, error, **attrs):
    score = attach_uncertainty(
        Score(value), error=error, ci=(value - 2 * error, value + 2 * error), estimates="sampling", method="normal"
    )
    score.attrs.update(attrs)
    return score


def test_published_example():
    result = explained_variance(Score(0.65), Score(0.82))
    assert float(result) == pytest.approx(0.65**2 / 0.82)
    assert float(result.attrs["raw"]) == 0.65
    assert float(result.attrs["ceiling"]) == 0.82


def test_a_negative_correlation_is_not_rewarded():
    assert float(explained_variance(Score(-0.5), Score(0.5))) == pytest.approx(-0.5)


@pytest.mark.parametrize("function", [ceil_score, explained_variance])
@pytest.mark.parametrize("value", [0.6, -0.3, 0.05])
def test_error_and_interval_against_simulation(function, value):
    """Delta method and profile limits agree with drawing both operands from their sampling distributions."""
    score, ceiling = with_uncertainty(value, 0.02), with_uncertainty(0.8, 0.03)
    result = function(score, ceiling)
    rng = np.random.default_rng(0)
    scores, ceilings = rng.normal(value, 0.02, 400_000), rng.normal(0.8, 0.03, 400_000)
    drawn = scores / ceilings if function is ceil_score else np.sign(scores) * scores**2 / ceilings
    assert result.attrs["error"] == pytest.approx(drawn.std(), rel=0.1)
    tail = math.erfc(2 / math.sqrt(2)) / 2
    assert result.attrs["ci"] == pytest.approx(np.quantile(drawn, [tail, 1 - tail]), abs=0.003)


def test_a_constant_ceiling_counts_as_exact():
    result = ceil_score(with_uncertainty(0.4, 0.02), 0.8)
    assert float(result) == pytest.approx(0.5)
    assert result.attrs["error"] == pytest.approx(0.025)
    assert "exact" in result.attrs["ci_estimates"]


def test_limits_of_a_ceiling_near_zero():
    """The interval does not become narrower as the ceiling becomes less certain."""
    score = with_uncertainty(0.3, 0.05)
    certain, uncertain = (ceil_score(score, with_uncertainty(0.1, error)) for error in (0.045, 0.055))
    assert "undetermined" not in certain.attrs
    assert certain.attrs["error"] > 0
    assert uncertain.attrs["ci"] == (pytest.approx(certain.attrs["ci"][0], rel=0.1), math.inf)
    assert float(uncertain) == pytest.approx(3)
    assert uncertain.attrs["undetermined"] == "the interval of the ceiling 0.100, -0.010 to 0.210, includes 0"
    assert math.isnan(uncertain.attrs["error"])
    assert uncertain.attrs["error_reason"].startswith("the limits are unbounded: the interval of the ceiling")
    assert (uncertain * -2).attrs["ci"] == (-math.inf, -2 * uncertain.attrs["ci"][0])
    bounded = bound_score(uncertain)
    assert bounded.attrs["unclamped_ci"][1] == math.inf
    assert bounded.attrs["ci"][1] == 1
    assert bounded.attrs["undetermined"]


def test_a_ceiling_without_interval_is_as_wide_as_its_error():
    ceiling = attach_uncertainty(Score(0.8), error=0.03, reason="only the error was computed")
    score = with_uncertainty(0.4, 0.02)
    low, high = ceil_score(score, ceiling).attrs["ci"]
    assert (low, high) == pytest.approx(ceil_score(score, with_uncertainty(0.8, 0.03)).attrs["ci"], abs=0.003)
    wider = with_uncertainty(0.8, 0.03, ci_level=0.68)
    assert np.ptp(ceil_score(score, wider).attrs["ci"]) > 1.2 * (high - low)


def of_units(values, ids):
    """Mean over units, with interval and influence."""
    values = np.asarray(values)
    error = values.std(ddof=1) / np.sqrt(len(values))
    score = with_uncertainty(values.mean(), error)
    score.attrs["influence"] = DataAssembly(
        values - values.mean(), coords={"subject": ("subject", ids)}, dims=["subject"]
    )
    return score


def test_covariance_of_the_same_units():
    rng = np.random.default_rng(0)
    shared = rng.normal(size=30)
    scores, ceilings = 0.4 + 0.1 * shared, 0.8 + 0.2 * shared
    ids = np.array([f"s{i}" for i in range(30)])
    score, ceiling = of_units(scores, ids), of_units(ceilings, ids)
    order = rng.permutation(30)
    for other in (ceiling, of_units(ceilings[order], ids[order])):
        both = ceil_score(score, other)
        assert both.attrs["error"] == pytest.approx(0, abs=1e-9)  # a constant ratio
        assert np.ptp(both.attrs["ci"]) < 1e-6
        assert "varies with the score's" in both.attrs["ci_estimates"]
    elsewhere = ceil_score(score, of_units(ceilings, np.array([f"t{i}" for i in range(30)])))
    expected = math.hypot(score.attrs["error"] / 0.8, 0.4 * ceiling.attrs["error"] / 0.8**2)
    assert elsewhere.attrs["error"] == pytest.approx(expected, rel=0.1)
    without = of_units(ceilings, ids)
    without.attrs["error"] = math.nan  # the influences alone tell how much it varies
    assert np.ptp(ceil_score(score, without).attrs["ci"]) < 1e-6
    score.attrs["influence"].attrs["paired"] = 0  # units of the model alone
    assert ceil_score(score, ceiling).attrs["ci"] == pytest.approx(elsewhere.attrs["ci"])


@pytest.mark.parametrize("crossed", [False, True])
def test_covariance_over_two_kinds_of_units(crossed):
    rng = np.random.default_rng(1)
    subjects, images = rng.normal(size=12), rng.normal(size=30)
    subjects, images = 0.1 * (subjects - subjects.mean()), 0.2 * (images - images.mean())
    of_subjects, of_images = (part.var(ddof=1) / len(part) for part in (subjects, images))

    def of_both(value, first_image=0):
        score = with_uncertainty(value, value * math.sqrt(of_subjects + of_images))
        names = {"subject": ("subject", np.arange(12))}
        image_ids = {"stimulus_id": ("presentation", first_image + np.arange(30))}
        if crossed:
            cells = value * (subjects[:, None] + images)
            score.attrs["influence"] = DataAssembly(cells, coords=names | image_ids, dims=["subject", "presentation"])
        else:
            score.attrs["influence"] = DataAssembly(value * subjects, coords=names, dims=["subject"])
            further = DataAssembly(value * images, coords=image_ids, dims=["presentation"])
            score.attrs["further_influence"] = further
        return score

    assert ceil_score(of_both(0.4), of_both(0.8)).attrs["error"] == pytest.approx(0, abs=1e-9)  # a constant ratio
    other_images = ceil_score(of_both(0.4), of_both(0.8, first_image=100))
    assert other_images.attrs["error"] == pytest.approx(0.5 * math.sqrt(2 * of_images))


def test_covariance_of_predictions_and_their_reliability():
    rng = np.random.default_rng(2)
    measured = rng.normal(size=(40, 20))
    found = predictivity(measured + rng.normal(size=(40, 20)), measured)
    interval = predictivity_interval(found)
    score, ceiling = (with_uncertainty(found.value, interval.error) for _ in range(2))
    for one in (score, ceiling):
        one.attrs["predictivity"] = PredictivityOfUnits(found, np.arange(40), np.arange(20))
    assert ceil_score(score, ceiling).attrs["error"] < 0.5 * interval.error
    del ceiling.attrs["predictivity"]
    assert ceil_score(score, ceiling).attrs["error"] == pytest.approx(math.sqrt(2) * interval.error / found.value)


def test_covariance_against_simulation():
    """Half of the units' variation is shared; the delta method's error is the spread of the ratio of means."""
    rng = np.random.default_rng(0)
    ids = np.arange(50)
    ratios, errors = [], []
    for _ in range(300):
        shared, own = rng.normal(size=(2, 50))
        score = of_units(0.4 + 0.1 * shared, ids)
        ceiling = of_units(0.8 + 0.1 * (shared + own), ids)
        ceiled = explained_variance(score, ceiling)
        ratios.append(float(ceiled))
        errors.append(ceiled.attrs["error"])
    assert np.mean(errors) == pytest.approx(np.std(ratios), rel=0.1)


def test_without_error_the_reason_is_handed_on():
    score = Score(0.4)
    result = ceil_score(score, 0.8)
    assert math.isnan(result.attrs["error"])
    assert result.attrs["error_reason"]


def test_nan_stays_nan():
    assert math.isnan(float(ceil_score(Score(math.nan), Score(0.5))))
    assert math.isnan(float(ceil_score(Score(0.5), Score(math.nan))))


@pytest.mark.parametrize("ceiling", [0.0, -0.2])
def test_ceiling_must_be_positive(ceiling):
    with pytest.raises(ValueError, match="do not agree with themselves"):
        ceil_score(Score(0.5), Score(ceiling))


def test_reliability_above_one_names_the_usual_cause():
    with pytest.raises(ValueError, match="repetitions"):
        explained_variance(Score(0.5), Score(1.2))


def test_arrays_are_refused():
    with pytest.raises(ValueError, match="shape"):
        ceil_score(Score([0.5, 0.6], dims=["split"]), Score(1.0))


def test_ceiling_of_a_wrong_type():
    with pytest.raises(TypeError, match="ceiling"):
        ceil_score(Score(0.5), "0.8")


@pytest.mark.parametrize(
    ("scale", "meaning", "expected"),
    [
        ("correlation", "reliability", 0.5**2 / 0.8),
        ("variance", "reliability", 0.5 / 0.8),
        ("correlation", "upper bound", 0.5 / 0.8),
        ("similarity", "upper bound", 0.5 / 0.8),
        ("similarity", "human-human", 0.5 / 0.8),
        ("accuracy", "human-human", 0.5 / 0.8),
        ("similarity", "none", 0.5),
    ],
)
def test_dispatch(scale, meaning, expected):
    score, ceiling = with_uncertainty(0.5, 0.01, scale=scale), with_uncertainty(0.8, 0.01, meaning=meaning)
    result = normalise(score, ceiling)
    assert float(result) == pytest.approx(expected)
    assert result.attrs["scale"] == ("unceiled" if meaning == "none" else "ceiled")
    assert result.attrs["error"] > 0


@pytest.mark.parametrize(
    ("scale", "meaning", "message"),
    [
        ("similarity", "reliability", "cannot be related"),
        ("accuracy", "reliability", "cannot be related"),
        ("correlation", None, "meaning"),
        (None, "reliability", "scale"),
        ("ceiled", "reliability", "scale"),
        ("correlation", "best guess", "unknown ceiling meaning"),
    ],
)
def test_nonsense_is_refused(scale, meaning, message):
    score, ceiling = Score(0.5), Score(0.8)
    if scale:
        score.attrs["scale"] = scale
    if meaning:
        ceiling.attrs["meaning"] = meaning
    with pytest.raises(ValueError, match=message):
        normalise(score, ceiling)


@pytest.mark.parametrize(("value", "bounded"), [(-0.1, 0.0), (0.4, 0.4), (1.1, 1.0)])
def test_bound_score_in_place(value, bounded):
    score = with_uncertainty(value, 0.1)
    assert bound_score(score) is score
    assert float(score) == bounded
    assert score.attrs["unclamped"] == pytest.approx(value)
    assert score.attrs["error"] == 0.1
    assert score.attrs["unclamped_ci"] == pytest.approx((value - 0.2, value + 0.2))
    assert score.attrs["ci"] == pytest.approx(np.clip((value - 0.2, value + 0.2), 0, 1))
    bound_score(score)
    assert score.attrs["unclamped_ci"] == pytest.approx((value - 0.2, value + 0.2))
    assert score.attrs["unclamped"] == pytest.approx(value)  # the first value, also when bounded twice


@pytest.mark.parametrize(
    ("value", "bounded", "reason", "notes"),
    [
        (1.3, 1.0, "above the ceiling: 1.300 (1.100–1.500) before it was limited to 1; does it predict noise?", 1),
        (-0.3, 0.0, "below 0: −0.300 (−0.500 to −0.100) before it was limited to 0", 0),
    ],
)
def test_an_interval_outside_of_the_limits_does_not_become_a_point(value, bounded, reason, notes):
    with recording() as record:
        score = bound_score(with_uncertainty(value, 0.1))
    assert float(score) == bounded
    assert score.attrs["ci_reason"] == reason
    assert np.isnan(score.attrs["ci"]).all()
    assert [item["text"] for item in record.items] == [reason] * notes
    assert bound_score(score).attrs["unclamped_ci"] == pytest.approx((value - 0.2, value + 0.2))


@pytest.mark.parametrize(
    ("value", "ci", "kept"),
    [
        (1.2, (1.0, 1.4), False),
        (-0.2, (-0.4, 0.0), False),
        (0.95, (0.9, 1.1), True),
        (1.0, (1.0, 1.0), True),  # nothing varies
        (0.0, (0.0, 0.0), True),
    ],
)
def test_an_interval_is_a_point_only_where_nothing_varies(value, ci, kept):
    score = Score(value)
    score.attrs["ci"] = ci
    low, high = bound_score(score).attrs["ci"]
    assert (not math.isnan(low)) == kept
    assert (low == high) == (kept and ci[0] == ci[1])


def test_bound_score_keeps_nan():
    assert math.isnan(float(bound_score(Score(math.nan))))
