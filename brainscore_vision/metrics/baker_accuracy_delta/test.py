import numpy as np
import pytest

from brainscore_core.metric_helpers.alignment import MetricInputError
from brainscore_core.supported_data_standards.brainio.assemblies import BehavioralAssembly
from brainscore_vision import load_metric

N = 60
TYPE, ANIMAL = np.array(["w", "f"])[np.arange(N) % 2], np.array(["a", "b", "c"])[np.arange(N) % 3]


def _assembly(values, **columns):
    coords = {name: ("presentation", column) for name, column in columns.items()}
    return BehavioralAssembly(values, coords=coords, dims=["presentation"])


def _data(subjects=7, seed=0):
    rng = np.random.default_rng(seed)
    right = rng.random(N * subjects) < np.where(np.tile(TYPE, subjects) == "w", 0.85, 0.6)
    model = rng.random(N) < np.where(TYPE == "w", 0.9, 0.75)
    source = _assembly(np.where(model, ANIMAL, "z"), image_type=TYPE, animal=ANIMAL)
    names = np.repeat([f"p{i:02d}" for i in range(subjects)], N)
    return source, _assembly(right.astype(int), image_type=np.tile(TYPE, subjects), subject=names)


def _delta(correct, kind):
    return correct[kind == "w"].mean() - correct[kind == "f"].mean()


def test_is_the_mean_over_halves_of_the_subjects():
    source, target = _data()
    score = load_metric("baker_accuracy_delta", image_types=["w", "f"])(source, target)
    ours = _delta(source.values == ANIMAL, TYPE)
    rng, expected = np.random.default_rng(0), []
    for order in rng.permuted(np.tile(np.arange(7), (100, 1)), axis=1):
        chosen = np.isin(target["subject"].values, [f"p{i:02d}" for i in order[:3]])
        theirs = _delta(target.values[chosen], target["image_type"].values[chosen])
        expected.append(max(1 - abs(theirs - ours) / theirs, 0))
    np.testing.assert_allclose(score.attrs["raw"].values, expected, atol=1e-12)
    assert float(score) == pytest.approx(np.mean(expected))
    assert score.attrs["std"] == pytest.approx(np.std(expected))
    assert score.attrs["delta"] == pytest.approx(ours)
    # pooled over all subjects, as brainscore-vision 2.4.2 has it for the same people
    assert score.attrs["human_delta"] == pytest.approx(0.22857142857142865, abs=1e-12)


def test_published_halves_give_the_published_numbers():
    source, target = _data()
    numbered = np.repeat(np.arange(1, 8), N)
    target = _assembly(target.values, image_type=target["image_type"].values, subject=numbered)
    metric = load_metric("baker_accuracy_delta", image_types=["w", "f"], halves="published")
    score = metric(source, target)
    # brainscore-vision 2.4.2 for the same trials
    assert float(score) == pytest.approx(0.5710087058800156, abs=1e-12)
    assert score.attrs["std"] == pytest.approx(0.12614897874276665, abs=1e-12)
    np.testing.assert_allclose(
        score.attrs["raw"].values[:4],
        [0.5454545454545453, 0.46153846153846134, 0.47999999999999987, 0.6315789473684208],
        atol=1e-12,
    )
    assert float(metric.ceiling(target)) == pytest.approx(0.84472049689441, abs=1e-12)
    with pytest.raises(ValueError, match="halves is 'some'"):
        load_metric("baker_accuracy_delta", image_types=["w", "f"], halves="some")


def test_every_subject_is_drawn():
    source, target = _data(4)
    metric = load_metric("baker_accuracy_delta", image_types=["w", "f"])
    before = metric(source, target).attrs["raw"].values
    for subject in np.unique(target["subject"].values):
        values = np.where(target["subject"].values == subject, target["image_type"].values == "w", target.values)
        changed = _assembly(values, image_type=target["image_type"].values, subject=target["subject"].values)
        assert not np.allclose(metric(source, changed).attrs["raw"].values, before)


def test_loss_is_that_of_each_subject_and_of_kinds_of_object():
    """Not all were asked equally often."""
    source, target = _data()
    kept = np.flatnonzero(np.arange(len(target)) % 7 != 3)
    metric = load_metric("baker_accuracy_delta", image_types=["w", "f"])
    shown = np.flatnonzero(np.arange(N) % 11 != 5)
    score = metric(source.isel(presentation=shown), target.isel(presentation=kept))
    right, kind, who = (target.values[kept], *(target[name].values[kept] for name in ("image_type", "subject")))
    each = [_delta(right[who == name], kind[who == name]) for name in np.unique(who)]
    assert score.attrs["human_delta"] == pytest.approx(np.mean(each))
    correct, animal, kind = (source.values == ANIMAL)[shown], ANIMAL[shown], TYPE[shown]
    accuracy = {name: np.mean([correct[(kind == name) & (animal == a)].mean() for a in "abc"]) for name in ("w", "f")}
    assert score.attrs["delta"] == pytest.approx(accuracy["w"] - accuracy["f"])


def test_ceiling_is_that_of_halves():
    _, target = _data()
    ceiling = load_metric("baker_accuracy_delta", image_types=["w", "f"], samples=50).ceiling(target)
    each = np.array([_delta(target.values[i * N : (i + 1) * N], TYPE) for i in range(7)])
    orders = np.random.default_rng(0).permuted(np.tile(np.arange(7), (50, 1)), axis=1)
    first, second = each[orders[:, :3]].mean(axis=1), each[orders[:, 3:]].mean(axis=1)
    plain = np.maximum(1 - np.abs(second - first) / second, 0)
    np.testing.assert_allclose(ceiling.attrs["uncorrected"].values, plain)
    np.testing.assert_allclose(ceiling.attrs["raw"].values, 2 * plain / (1 + plain))
    assert float(ceiling) == pytest.approx(np.median(2 * plain / (1 + plain)))
    assert ceiling.attrs["meaning"] == "reliability"
    assert "not independent" in ceiling.attrs["error_reason"]
    flat = _assembly(np.ones(N * 7), **{name: target[name].values for name in ("image_type", "subject")})
    none = load_metric("baker_accuracy_delta", image_types=["w", "f"]).ceiling(flat)
    assert np.isnan(float(none))
    assert none.attrs["undefined"] == 100
    assert "people lose no accuracy" in none.attrs["error_reason"]


def test_choices_and_a_row_of_choices_are_read():
    source, target = _data()
    chosen = np.where(target.values == 1, np.tile(ANIMAL, 7), "z")
    choices = _assembly(
        chosen, image_type=target["image_type"].values, subject=target["subject"].values, animal=np.tile(ANIMAL, 7)
    )
    metric = load_metric("baker_accuracy_delta", image_types=["w", "f"])
    assert float(metric(source, choices)) == float(metric(source, target))
    row = source.expand_dims("choice")
    assert float(metric(row, target)) == float(metric(source, target))


def test_error_is_that_of_other_subjects():
    source, _ = _data()
    metric = load_metric("baker_accuracy_delta", image_types=["w", "f"])
    scores = [metric(source, _data(40, seed)[1]) for seed in range(1, 40)]
    pooled = [1 - abs(s.attrs["human_delta"] - s.attrs["delta"]) / s.attrs["human_delta"] for s in scores]
    assert np.median([s.attrs["error"] for s in scores]) == pytest.approx(np.std(pooled), rel=0.35)
    low, high = scores[0].attrs["ci"]
    assert low < pooled[0] < high


def test_people_without_a_loss_give_nan_and_a_reason():
    source, target = _data()
    flat = _assembly(np.ones(N * 7), image_type=target["image_type"].values, subject=target["subject"].values)
    score = load_metric("baker_accuracy_delta", image_types=["w", "f"])(source, flat)
    assert np.isnan(float(score))
    assert score.attrs["undefined"] == 100
    assert "people lose no accuracy" in score.attrs["error_reason"]


def test_what_does_not_fit_is_refused():
    source, target = _data()
    with pytest.raises(MetricInputError, match="no trials of image_type 'o'; it has 'f', 'w'"):
        load_metric("baker_accuracy_delta", image_types=["w", "o"])(source, target)
    metric = load_metric("baker_accuracy_delta", image_types=["w", "f"])
    with pytest.raises(MetricInputError, match="no coordinate 'animal'"):
        metric(source.drop_vars("animal"), target)
    with pytest.raises(MetricInputError, match=r"numbers other than 0 and 1, such as 2\.0"):
        metric(source, target * 2)
    others = np.flatnonzero((target["subject"].values != "p02") | (target["image_type"].values == "w"))
    with pytest.raises(MetricInputError, match="subject 'p02' has no trials of image_type 'f'"):
        metric.ceiling(target.isel(presentation=others))
    with pytest.raises(MetricInputError, match="1 subject in the target"):
        metric(source, target.isel(presentation=slice(0, N)))
    with pytest.raises(ValueError, match="two are needed"):
        load_metric("baker_accuracy_delta", image_types=["w"])
