import numpy as np
import pytest
from scipy.stats import binomtest
from sklearn.metrics import accuracy_score

from brainscore_core.metric_helpers.alignment import MetricInputError
from brainscore_core.metrics import Score, attach_uncertainty
from brainscore_core.supported_data_standards.brainio.assemblies import BehavioralAssembly
from brainscore_vision import load_metric


def _data(n=200, seed=0):
    rng = np.random.default_rng(seed)
    triplets = np.stack([rng.permutation(30)[:3] for _ in range(n)])
    names = np.array([f"im{i:02d}" for i in range(30)])[triplets]
    choices = np.where(rng.random(n) < 0.4, 2, rng.integers(0, 2, n))
    target = BehavioralAssembly(
        names[:, 2],
        coords={f"image_{k + 1}": ("presentation", names[:, k]) for k in range(3)},
        dims=["presentation"],
    )
    coords = {f"stimulus_id_{k}": ("presentation", names[:, k]) for k in range(3)}
    return BehavioralAssembly(choices, coords=coords, dims=["presentation"]), target, names


def test_share_of_matching_choices():
    source, target, names = _data()
    metric = load_metric("odd_one_out")
    score = metric(source, target)
    ids = names[np.arange(200), source.values]
    assert float(score) == accuracy_score(names[:, 2], ids)
    named = BehavioralAssembly(ids, coords={"stimulus_id": ("presentation", ids)}, dims=["presentation"])
    assert float(metric(named, target)) == float(score)
    expected = binomtest(int((source.values == 2).sum()), 200).proportion_ci(method="wilson")
    assert score.attrs["ci"] == pytest.approx((expected.low, expected.high))
    assert score.attrs["scale"] == "accuracy"
    np.testing.assert_array_equal(score.attrs["raw"].values, source.values == 2)


def test_ceiled_score_is_0_at_chance_and_1_at_the_ceiling():
    source, target, _ = _data()
    metric = load_metric("odd_one_out")
    score = metric(source, target)
    ceiled = metric.ceil_score(score, 0.6767)
    assert float(ceiled) == pytest.approx((float(score) - 1 / 3) / (0.6767 - 1 / 3))
    assert ceiled.attrs["error"] == pytest.approx(score.attrs["error"] / (0.6767 - 1 / 3))
    assert ceiled.attrs["ci"][0] < float(ceiled) < ceiled.attrs["ci"][1]
    assert float(metric.ceil_score(score, float(score))) == pytest.approx(1)
    with pytest.raises(MetricInputError, match=r"ceiling 0\.3000 is not above chance 0\.3333"):
        metric.ceil_score(score, 0.3)


def test_the_ceilings_uncertainty_counts():
    source, target, _ = _data()
    metric = load_metric("odd_one_out")
    score = metric(source, target)
    exact = metric.ceil_score(score, 0.7)
    about = {"estimates": "new people", "method": "t"}
    ceiled = metric.ceil_score(score, attach_uncertainty(Score(0.7), error=0.05, ci=(0.6, 0.8), **about))
    assert float(ceiled) == float(exact)
    relative = [error / value for error, value in ((score.attrs["error"], float(score) - 1 / 3), (0.05, 0.7 - 1 / 3))]
    assert ceiled.attrs["error"] == pytest.approx(float(ceiled) * np.hypot(*relative))
    assert np.ptp(ceiled.attrs["ci"]) > np.ptp(exact.attrs["ci"])
    np.testing.assert_allclose(ceiled.attrs["influence"], exact.attrs["influence"])
    unsure = metric.ceil_score(score, attach_uncertainty(Score(0.4), error=0.05, ci=(0.3, 0.5), **about))
    expected = "the interval of the ceiling 0.400, 0.300 to 0.500, includes chance, 0.333"
    assert unsure.attrs["undetermined"] == expected
    assert unsure.attrs["error_reason"] == f"the limits are unbounded: {expected}"
    assert unsure.attrs["ci"][1] == np.inf


def test_what_does_not_fit_is_refused():
    source, target, names = _data()
    metric = load_metric("odd_one_out")
    with pytest.raises(MetricInputError, match="199 choices, but 200 triplets"):
        metric(source.isel(presentation=slice(1, None)), target)
    with pytest.raises(MetricInputError, match=r"different triplets, such as 'im\d\d', .* in the source"):
        metric(_data(seed=1)[0], target)
    bare = source.drop_vars([f"stimulus_id_{k}" for k in range(3)])
    assert float(metric(bare, target)) == float(metric(source, target))
    with pytest.raises(MetricInputError, match="200 choices are not in their triplet, the first at 0: 5"):
        metric(bare * 0 + 5, target)
    ids = names[:, 0].astype(object)
    ids[3] = "elsewhere"
    with pytest.raises(MetricInputError, match="1 choices are not in their triplet, the first at 3: 'elsewhere'"):
        metric(BehavioralAssembly(ids, dims=["presentation"]), target)
    with pytest.raises(MetricInputError, match="no coordinate 'image_3'"):
        metric(source, target.drop_vars("image_3"))
    with pytest.raises(MetricInputError, match="0 choices, but 0 triplets"):
        metric(source.isel(presentation=[]), target.isel(presentation=[]))
