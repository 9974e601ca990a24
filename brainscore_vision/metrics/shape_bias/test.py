import numpy as np
import pytest

from brainscore_core.errors import UserError
from brainscore_core.supported_data_standards.brainio.assemblies import BehavioralAssembly
from brainscore_vision import load_metric
from brainscore_vision.metrics.shape_bias.metric import CueCounts, bootstrap_similarity, shape_bias

CATEGORIES = np.array(["bear", "cat", "clock", "oven"])


def _decisions(p_shape, *, n_stimuli=200, observers=("s1",), seed=0, other=0.2):
    """Decisions that follow the shape with probability `p_shape`, neither cue with probability `other`."""
    generator = np.random.default_rng(seed)
    shapes = np.resize(CATEGORIES, n_stimuli)
    textures = np.resize(np.roll(CATEGORIES, 1), n_stimuli)
    values, coords = [], {"stimulus_id": [], "shape": [], "texture": [], "subject": []}
    for observer in observers:
        followed = np.where(generator.random(n_stimuli) < p_shape, shapes, textures)
        values += list(np.where(generator.random(n_stimuli) < other, "na", followed))
        coords["stimulus_id"] += [f"stimulus{number:04}" for number in range(n_stimuli)]
        coords["shape"] += list(shapes)
        coords["texture"] += list(textures)
        coords["subject"] += [observer] * n_stimuli
    return BehavioralAssembly(
        values, coords={name: ("presentation", column) for name, column in coords.items()}, dims=["presentation"]
    )


PEOPLE = _decisions(0.9, observers=[f"s{number}" for number in range(8)], seed=1)


@pytest.mark.parametrize(
    ("shape", "texture", "expected"), [(3, 1, 0.75), (0, 4, 0.0), (5, 0, 1.0), (9236, 398, 0.958688)]
)
def test_shape_bias(shape, texture, expected):
    assert shape_bias(shape, texture) == pytest.approx(expected, abs=1e-6)


def test_shape_bias_without_any_decision_is_undefined():
    assert np.isnan(shape_bias(0, 0))


def test_score_is_one_minus_the_difference():
    model = _decisions(0.3, seed=2)
    score = load_metric("shape_bias")(model, PEOPLE)

    def direct(assembly):
        shape = (assembly.values == assembly["shape"].values).sum()
        return shape / (shape + (assembly.values == assembly["texture"].values).sum())

    assert score.attrs["shape_bias"] == pytest.approx(direct(model))
    assert score.attrs["human_shape_bias"] == pytest.approx(direct(PEOPLE))
    assert float(score) == pytest.approx(1 - abs(direct(model) - direct(PEOPLE)))
    assert float(score.attrs["raw"]) == pytest.approx(direct(model))
    assert score.attrs["scale"] == "similarity"


def test_decisions_are_kept_one_by_one():
    model = _decisions(0.3, seed=2)
    score = load_metric("shape_bias")(model, PEOPLE)
    for name, bias in (("predictions", "shape_bias"), ("targets", "human_shape_bias")):
        assert np.nanmean(score.attrs[name].values) == pytest.approx(score.attrs[bias])
    np.testing.assert_array_equal(np.isnan(score.attrs["predictions"].values), model.values == "na")
    assert set(score.attrs["targets"]["subject"].values) == set(PEOPLE["subject"].values)


def test_order_of_the_model_does_not_matter_and_one_choice_may_be_a_dimension():
    model = _decisions(0.3, seed=2)
    order = np.random.default_rng(0).permutation(model.sizes["presentation"])
    shuffled = model.isel(presentation=order)
    column = BehavioralAssembly(
        shuffled.values[:, np.newaxis],
        coords={"stimulus_id": ("presentation", shuffled["stimulus_id"].values), "choice": ("choice", ["label"])},
        dims=["presentation", "choice"],
    )
    metric = load_metric("shape_bias")
    assert float(metric(column, PEOPLE)) == float(metric(model, PEOPLE))


def test_images_without_conflict_do_not_count():
    agreeing = BehavioralAssembly(
        ["cat", "cat", "dog"],
        coords={
            "stimulus_id": ("presentation", ["a", "b", "c"]),
            "shape": ("presentation", ["cat", "cat", "cat"]),
            "texture": ("presentation", ["cat", "dog", "dog"]),
            "subject": ("presentation", ["s1"] * 3),
        },
        dims=["presentation"],
    )
    assert load_metric("shape_bias")(agreeing, agreeing).attrs["shape_bias"] == 0.5


def test_error_is_that_of_a_binomial_share():
    # each decision is independent here, so the standard error of a share is known
    score = load_metric("shape_bias")(
        _decisions(0.3, n_stimuli=1000, seed=3, other=0.0), _decisions(0.9, n_stimuli=1000)
    )
    bias = score.attrs["raw"]
    assert bias.attrs["error"] == pytest.approx(np.sqrt(0.3 * 0.7 / 1000), rel=0.15)
    low, high = bias.attrs["ci"]
    assert low < float(bias) < high
    assert high - low == pytest.approx(2 * 1.96 * bias.attrs["error"], rel=0.15)


def test_bootstrap_resamples_observers_too():
    rng = np.random.default_rng(0)
    n = 400
    apart = np.stack([np.ones(n, int), np.zeros(n, int)])  # one observer always shape, one always texture
    people = CueCounts(apart, 1 - apart)
    model = CueCounts(rng.integers(0, 2, (1, n)), np.zeros((1, n), int))
    similarities, _ = bootstrap_similarity(model, people, bootstraps=500, seed=0)
    assert set(np.round(similarities, 6)) == {0.0, 0.5, 1.0}


def test_same_seed_same_interval():
    metric, other = load_metric("shape_bias"), load_metric("shape_bias", seed=1)
    model = _decisions(0.3, seed=2)
    assert metric(model, PEOPLE).attrs["ci"] == metric(model, PEOPLE).attrs["ci"]
    assert metric(model, PEOPLE).attrs["ci"] != other(model, PEOPLE).attrs["ci"]


def test_model_that_never_follows_a_cue_has_no_score():
    model = _decisions(0.5, other=1.1)
    score = load_metric("shape_bias")(model, PEOPLE)
    assert np.isnan(float(score))
    assert np.isnan(score.attrs["error"])
    assert "ever chosen" in score.attrs["error_reason"]


def test_ceiling_leaves_each_observer_out():
    ceiling = load_metric("shape_bias").ceiling(PEOPLE)
    expected = []
    for observer in np.unique(PEOPLE["subject"].values):
        own = PEOPLE["subject"].values == observer

        def bias(mask):
            values, shape, texture = (
                array[mask] for array in (PEOPLE.values, PEOPLE["shape"].values, PEOPLE["texture"].values)
            )
            return (values == shape).sum() / ((values == shape).sum() + (values == texture).sum())

        expected.append(1 - abs(bias(own) - bias(~own)))
    np.testing.assert_allclose(ceiling.attrs["raw"].values, expected)
    assert float(ceiling) == pytest.approx(np.mean(expected))
    assert ceiling.attrs["error"] == pytest.approx(np.std(expected, ddof=1) / np.sqrt(8))
    assert ceiling.attrs["meaning"] == "human-human"


def test_ceiling_of_one_observer_is_refused():
    with pytest.raises(UserError, match="at least two observers"):
        load_metric("shape_bias").ceiling(_decisions(0.9))


@pytest.mark.parametrize(("keep", "message"), [(slice(0, 150), "only in the target"), (None, "only in the source")])
def test_different_stimuli_are_refused(keep, message):
    model = _decisions(0.3) if keep is not None else _decisions(0.3, n_stimuli=201)
    model = model.isel(presentation=keep) if keep is not None else model
    with pytest.raises(UserError, match=message):
        load_metric("shape_bias")(model, PEOPLE)


def test_textures_that_are_shapes_in_another_spelling_are_refused():
    people = PEOPLE.assign_coords(texture=("presentation", np.char.upper(PEOPLE["texture"].values.astype(str))))
    with pytest.raises(UserError, match=r"4 textures .*\n'OVEN' and 'oven' differ in capitals"):
        load_metric("shape_bias")(_decisions(0.3), people)


def test_missing_level_is_named():
    no_texture = BehavioralAssembly(
        PEOPLE.values,
        coords={name: ("presentation", PEOPLE[name].values) for name in ("stimulus_id", "shape", "subject")},
        dims=["presentation"],
    )
    with pytest.raises(UserError, match="'texture'"):
        load_metric("shape_bias")(_decisions(0.3), no_texture)


def test_probabilities_are_refused():
    probabilities = BehavioralAssembly(
        np.full((2, 2), 0.5),
        coords={"stimulus_id": ("presentation", ["a", "b"]), "choice": ("choice", ["cat", "dog"])},
        dims=["presentation", "choice"],
    )
    target = BehavioralAssembly(
        ["cat", "dog"],
        coords={
            "stimulus_id": ("presentation", ["a", "b"]),
            "shape": ("presentation", ["cat", "dog"]),
            "texture": ("presentation", ["dog", "cat"]),
            "subject": ("presentation", ["s1", "s1"]),
        },
        dims=["presentation"],
    )
    with pytest.raises(UserError, match="choice"):
        load_metric("shape_bias")(probabilities, target)
