import numpy as np
import pytest
from scipy.stats import sem, t

from brainscore_core.metric_helpers.alignment import MetricInputError
from brainscore_core.supported_data_standards.brainio.assemblies import BehavioralAssembly
from brainscore_vision import load_metric

N, SUBJECTS = 60, 4


def _assembly(values, **columns):
    coords = {name: ("presentation", column) for name, column in columns.items()}
    return BehavioralAssembly(values, coords=coords, dims=["presentation"])


def _data(subjects=SUBJECTS):
    rng = np.random.default_rng(0)
    ids = [f"s{i:02d}" for i in range(N)]
    truth, condition, variable = np.array(["a", "b", "c"])[np.arange(N) % 3], np.arange(N) % 2, (np.arange(N) // 7) % 2
    right = rng.random(N * subjects) < np.repeat(np.resize([0.5, 0.7, 0.8, 0.9], subjects), N)
    repeated = np.tile(truth, subjects)
    target = _assembly(
        np.where(right, repeated, np.where(repeated == "a", "b", "a")),
        stimulus_id=np.tile(ids, subjects),
        truth=repeated,
        subject=np.repeat([f"p{i:02d}" for i in range(subjects)], N),
        condition=np.tile(condition, subjects),
        var=np.tile(np.array(["u", "v"])[variable], subjects),
    )
    source = _assembly(np.where(rng.random(N) < 0.65, truth, "z"), stimulus_id=ids)
    return source, target


def test_equals_the_existing_platform():
    source, target = _data()
    metric = load_metric("accuracy_distance")
    score = metric(source, target)
    # brainscore-vision 2.4.2 on the same assemblies
    expected = [0.9062499999999999, 0.9393939393939394, 0.7560975609756098, 0.5849056603773586]
    np.testing.assert_allclose(score.attrs["raw"].values, expected, atol=1e-12)
    assert float(score) == pytest.approx(0.7966617901867269, abs=1e-12)
    assert score.attrs["std"] == pytest.approx(0.14041737548352237, abs=1e-12)
    for variables, value, std in (
        (("condition",), 0.760412352740139, 0.10803819904440953),
        (("condition", "var"), 0.7093554882617383, 0.05715530353549817),
    ):
        score = metric(source, target, variables=variables)
        assert float(score) == pytest.approx(value, abs=1e-12)
        assert score.attrs["std"] == pytest.approx(std, abs=1e-12)
    ceiling = metric.ceiling(target)
    assert float(ceiling) == pytest.approx(0.7101363380700701, abs=1e-12)
    assert ceiling.attrs["std"] == pytest.approx(0.11075610810117449, abs=1e-12)


def test_equals_a_loop_where_subjects_saw_different_stimuli():
    source, target = _data()
    rng = np.random.default_rng(1)
    target = target.isel(presentation=rng.permutation(N * SUBJECTS)[:150])
    chosen = dict(zip(source["stimulus_id"].values, source.values, strict=True))
    expected = []
    for subject in np.unique(target["subject"].values):
        each = []
        for condition in (0, 1):
            rows = np.flatnonzero((target["subject"].values == subject) & (target["condition"].values == condition))
            theirs = np.mean([target.values[i] == target["truth"].values[i] for i in rows])
            ours = np.mean([chosen[target["stimulus_id"].values[i]] == target["truth"].values[i] for i in rows])
            each.append(1 - abs(ours - theirs) / max(theirs, 1 - theirs))
        expected.append(np.mean(each))
    score = load_metric("accuracy_distance")(source, target, variables=["condition"])
    np.testing.assert_allclose(score.attrs["raw"].mean("condition").values, expected, atol=1e-12)
    assert score.attrs["raw"]["condition"].dims == ("condition",)
    assert score.attrs["predictions"].dims == score.attrs["targets"].dims == ("presentation",)


def test_interval_is_students_over_few_subjects():
    source, target = _data()
    score = load_metric("accuracy_distance")(source, target)
    raw = score.attrs["raw"].values
    assert score.attrs["error"] == pytest.approx(sem(raw))
    low, high = t.interval(0.95, 3, raw.mean(), sem(raw))
    assert score.attrs["ci"] == pytest.approx((max(low, 0), min(high, 1)))
    assert load_metric("accuracy_distance")(*_data(30)).attrs["ci_method"] == "bootstrap"


def test_a_condition_that_a_subject_lacks_is_left_out():
    source, target = _data()
    lacking = (target["subject"].values == "p00") & (target["condition"].values == 0)
    target = target.isel(presentation=np.flatnonzero(~lacking))
    score = load_metric("accuracy_distance")(source, target, variables=("condition",))
    assert float(score) == pytest.approx(0.7793752010373527, abs=1e-12)  # brainscore-vision 2.4.2
    assert np.isnan(score.attrs["raw"].values[0, 0])


@pytest.mark.parametrize(
    ("ours", "theirs", "expected"), [(1, 1, 1), (0, 1, 0), (1, 0, 0), (0.5, 0.75, 2 / 3), (1, 0.5, 0)]
)
def test_closeness(ours, theirs, expected):
    from brainscore_vision.metrics.accuracy_distance.metric import closeness

    assert float(closeness(np.float64(ours), np.float64(theirs))) == pytest.approx(expected)


def test_what_does_not_fit_is_refused():
    source, target = _data()
    metric = load_metric("accuracy_distance")
    with pytest.raises(MetricInputError, match="no choice for 50 stimuli of the target, such as 's10'"):
        metric(source.isel(presentation=slice(0, 10)), target)
    with pytest.raises(MetricInputError, match="no coordinate 'colour'"):
        metric(source, target, variables=("colour",))
    with pytest.raises(MetricInputError, match="variables is the text 'condition'"):
        metric(source, target, variables="condition")
    with pytest.raises(MetricInputError, match="the target has no trials"):
        metric(source, target.isel(presentation=[]))
    with pytest.raises(MetricInputError, match="1 subject"):
        metric.ceiling(target.isel(presentation=slice(0, N)))
    two = metric.ceiling(target.isel(presentation=slice(0, 2 * N)))
    assert np.isnan(two.attrs["error"])
    assert "at least 3" in two.attrs["error_reason"]
