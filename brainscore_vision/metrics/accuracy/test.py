from statistics import NormalDist

import numpy as np
import pytest

from brainscore_core.metric_helpers.alignment import MetricInputError
from brainscore_core.supported_data_standards.brainio.assemblies import BehavioralAssembly
from brainscore_vision import load_metric


def _choices(values, stimuli=None):
    stimuli = [f"s{i}" for i in range(len(values))] if stimuli is None else stimuli
    return BehavioralAssembly(values, coords={"stimulus_id": ("presentation", stimuli)}, dims=["presentation"])


def test_share_of_right_choices_in_any_order():
    chosen, right = ["a", "b", "b", "a"], ["a", "b", "a", "a"]
    score = load_metric("accuracy")(_choices(chosen), _choices(right))
    assert float(score) == 0.75
    assert score.attrs["raw"].values.tolist() == [True, True, False, True]
    assert score.attrs["std"] == pytest.approx(np.std([1, 1, 0, 1]))
    assert score.attrs["error"] == pytest.approx(np.std([1, 1, 0, 1]) / 2)
    assert score.attrs["scale"] == "accuracy"
    shuffled = _choices(right).isel(presentation=[2, 0, 3, 1])
    assert float(load_metric("accuracy")(_choices(chosen), shuffled)) == 0.75
    assert float(load_metric("accuracy")(_choices(chosen), right)) == 0.75


@pytest.mark.parametrize("right", [0, 7, 20])
def test_interval_is_wilsons(right):
    n, z = 20, NormalDist().inv_cdf(0.975)
    low, high = load_metric("accuracy")(_choices(["a"] * n), ["a"] * right + ["b"] * (n - right)).attrs["ci"]
    p = right / n
    center = (p + z**2 / (2 * n)) / (1 + z**2 / n)
    half = z / (1 + z**2 / n) * np.sqrt(p * (1 - p) / n + z**2 / (4 * n**2))
    assert (low, high) == pytest.approx((max(0, center - half), min(1, center + half)), abs=1e-12)


def test_trials_of_one_stimulus_belong_together():
    stimuli = np.repeat([f"s{i}" for i in range(40)], 25)
    target = np.repeat(np.where(np.arange(40) % 2, "a", "b"), 25)
    score = load_metric("accuracy")(_choices(["a"] * 40), _choices(target, stimuli))
    assert float(score) == 0.5
    assert score.attrs["error"] == pytest.approx(0.5 / np.sqrt(40), rel=0.1)  # 40 stimuli, not 1,000 trials
    assert score.attrs["ci_method"] == "bootstrap"


def test_groups_of_images_are_left_out_as_a_whole():
    rng = np.random.default_rng(0)
    group = np.repeat(np.arange(12), rng.integers(3, 9, 12))
    right = rng.random(len(group)) < rng.random(12)[group]
    target = _choices(["a"] * len(group)).assign_coords(object_name=("presentation", [f"o{i:02}" for i in group]))
    score = load_metric("accuracy")(_choices(np.where(right, "a", "b")), target)
    without = np.array([right[group != i].mean() for i in range(12)])
    assert score.attrs["error"] == pytest.approx(np.sqrt(11 / 12 * np.sum((without - without.mean()) ** 2)))
    assert score.attrs["ci_estimates"].startswith("new groups of images (object_name); 12 groups of 62 images; ")
    assert score.attrs["influence"]["object_name"].values.tolist() == [f"o{i:02}" for i in range(12)]
    single = load_metric("accuracy", stimulus_groups=None)(_choices(np.where(right, "a", "b")), target)
    assert single.attrs["ci_method"] == "wilson"
    assert single.attrs["error"] < score.attrs["error"]


def test_missing_choice_counts_as_wrong():
    assert float(load_metric("accuracy")(_choices(np.array(["a", np.nan], dtype=object)), ["a", "a"])) == 0.5


def test_ceiling_is_1():
    ceiling = load_metric("accuracy").ceiling()
    assert float(ceiling) == 1
    assert ceiling.attrs["meaning"] == "upper bound"


def test_what_does_not_match_is_refused():
    metric = load_metric("accuracy")
    with pytest.raises(MetricInputError, match=r"1 only in the target \('s2'\)"):
        metric(_choices(["a", "b"]), _choices(["a", "b", "b"]))
    with pytest.raises(MetricInputError, match="2 choices, but 3 right ones"):
        metric(_choices(["a", "b"]), ["a", "b", "b"])
    with pytest.raises(MetricInputError, match="several choices for 'x'"):
        metric(_choices(["a", "b"], ["x", "x"]), _choices(["a"], ["x"]))
    with pytest.raises(MetricInputError, match="0 choices"):
        metric(_choices(np.array([], dtype=str)), [])


def test_sequences_are_compared_by_position():
    score = load_metric("accuracy")(np.array([5, 3, 6, 7, 1, 8]), [5, 2, 1, 7, 1, 9])
    assert float(score) == 0.5
    with pytest.raises(MetricInputError, match="2 choices, but 3 right ones"):
        load_metric("accuracy")(["a", "b"], ["a", "b", "c"])
    with pytest.raises(MetricInputError, match=r"shape \(2, 2\) are not one label a trial"):
        load_metric("accuracy")(np.eye(2), np.eye(2))
