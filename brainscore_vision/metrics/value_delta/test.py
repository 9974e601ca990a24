import math

import numpy as np
import pytest

from brainscore_core.metric_helpers.alignment import MetricInputError
from brainscore_core.metrics import Score, attach_uncertainty
from brainscore_vision import load_metric


@pytest.mark.parametrize(
    ("source", "target", "scale", "expected"),  # expected: brainscore-vision 2.4.2
    [
        (0.3, 0.5, 1, 0.8187307530779818),
        (0.3, 0.5, 0.75, 0.8607079764250578),
        (2, 0.1, 2, 0.0223707718561656),
        (1, 1, 3, 1),
    ],
)
def test_equals_the_existing_platform(source, target, scale, expected):
    metric = load_metric("value_delta", scale=scale)
    score = metric(source, target)
    assert float(score) == pytest.approx(expected, abs=1e-14)
    assert float(metric(Score(target), np.array([source]))) == pytest.approx(expected, abs=1e-14)
    assert score.attrs["raw"].values.tolist() == [source, target]
    assert np.isnan(score.attrs["error"])
    assert "nothing tells" in score.attrs["error_reason"]


def test_errors_are_carried_over():
    rng = np.random.default_rng(0)
    source = attach_uncertainty(Score(0.3), error=0.03, reason="no interval")
    target = attach_uncertainty(Score(0.6), error=0.04, reason="no interval")
    score = load_metric("value_delta", scale=2)(source, target)
    drawn = np.exp(-2 * np.abs(rng.normal(0.3, 0.03, 200_000) - rng.normal(0.6, 0.04, 200_000)))
    assert score.attrs["error"] == pytest.approx(drawn.std(), rel=0.02)
    assert score.attrs["ci"] == pytest.approx(np.quantile(drawn, [0.025, 0.975]), rel=0.01)
    assert score.attrs["scale"] == "similarity"
    high = load_metric("value_delta")(target, attach_uncertainty(Score(0.6), error=0.04, reason="-")).attrs["ci"][1]
    assert high == 1


def test_nan_gives_nan_and_says_whose():
    score = load_metric("value_delta")(0.5, math.nan)
    assert np.isnan(float(score))
    assert score.attrs["error_reason"] == "the target is NaN"


def test_what_is_no_number_is_refused():
    metric = load_metric("value_delta")
    with pytest.raises(MetricInputError, match=r"the source is not a single number: shape \(2,\)"):
        metric([0.1, 0.2], 1)
    with pytest.raises(MetricInputError, match="the target is not a single number"):
        metric(0.1, "much")
    with pytest.raises(MetricInputError, match="the target is inf"):
        metric(0.1, math.inf)
    with pytest.raises(ValueError, match="scale is -1"):
        load_metric("value_delta", scale=-1)
