import itertools

import numpy as np
import pytest
from sklearn.model_selection import KFold, ShuffleSplit, StratifiedKFold, StratifiedShuffleSplit

from brainscore_core.metric_helpers.alignment import MetricInputError, canonical_rows
from brainscore_core.metric_helpers.transformations import CrossValidation, Splits, apply_aggregate
from brainscore_core.metrics import Score
from brainscore_core.supported_data_standards.brainio.assemblies import NeuroidAssembly
from brainscore_vision.benchmark_helpers.measurements import average_repetition


def _assembly(n=40, q=3, *, order=None, **coords):
    order = np.arange(n) if order is None else order
    values = np.arange(n * q, dtype=float).reshape(n, q)[order]
    coords = {name: ("presentation", np.asarray(value)[order]) for name, value in coords.items()}
    ids = np.array([f"stimulus{i:03}" for i in range(n)])
    return NeuroidAssembly(
        values,
        coords={
            "stimulus_id": ("presentation", ids[order]),
            "position": ("presentation", order),
            "neuroid_id": ("neuroid", np.arange(q)),
            **coords,
        },
        dims=["presentation", "neuroid"],
    )


OBJECTS = [f"object{i % 4}" for i in range(40)]
SHUFFLED = np.random.default_rng(0).permutation(40)


@pytest.mark.parametrize(
    ("kwargs", "reference"),
    [
        ({}, StratifiedShuffleSplit(10, train_size=0.9, random_state=1)),
        ({"stratification_coord": None}, ShuffleSplit(10, train_size=0.9, random_state=1)),
        ({"splits": 4, "kfold": True}, StratifiedKFold(4, shuffle=True, random_state=1)),
        (
            {"splits": 4, "kfold": True, "stratification_coord": None, "random_state": 5},
            KFold(4, shuffle=True, random_state=5),
        ),
        ({"test_size": 0.5, "splits": 3}, StratifiedShuffleSplit(3, test_size=0.5, random_state=1)),
        ({"stratification_coord": "half"}, StratifiedShuffleSplit(10, train_size=0.9, random_state=1)),
    ],
)
@pytest.mark.parametrize("published", [False, True])
def test_splits_are_scikit_learns_on_the_sorted_target(kwargs, reference, published):
    """By its coordinates, the first of which is the stimulus; or by the order that was published."""
    half, order = np.arange(40) % 2, np.arange(40)
    columns = {"object_name": OBJECTS, "half": half}
    if published:
        order = np.random.default_rng(1).permutation(40)
        columns["published_order"] = np.argsort(order)
    target = _assembly(order=SHUFFLED, **columns)
    source = _assembly(object_name=OBJECTS, half=half)
    strata = (half if kwargs.get("stratification_coord") == "half" else np.array(OBJECTS))[order]
    expected = list(reference.split(np.zeros(40), strata))
    found = CrossValidation(**kwargs).split_rows(source, target)
    assert len(found) == len(expected)
    for rows, (train, test) in zip(found, expected, strict=True):
        np.testing.assert_array_equal(SHUFFLED[rows.train], order[train])
        np.testing.assert_array_equal(SHUFFLED[rows.test], order[test])


def test_averages_over_repetitions_are_in_the_order_of_the_splits():
    """Published folds are those of averages over repetitions, sorted by their coordinates."""
    rng = np.random.default_rng(0)
    kind = np.tile(rng.permutation(OBJECTS), 3)
    measured = _assembly(120, kind=kind, repetition=np.repeat([0, 1, 2], 40)).drop_vars("position")
    stimulus = np.tile([f"stimulus{i}" for i in rng.permutation(40)], 3)
    measured = measured.assign_coords(stimulus_id=("presentation", stimulus)).isel(presentation=rng.permutation(120))
    averaged = average_repetition(measured)
    np.testing.assert_array_equal(canonical_rows(averaged), np.arange(40))
    shuffled = averaged.isel(presentation=SHUFFLED)
    for rows, expected in zip(*(Splits().split_rows(a, a) for a in (shuffled, averaged)), strict=True):
        np.testing.assert_array_equal(SHUFFLED[rows.train], expected.train)


def test_indices_are_preprocessed_with_the_source_in_their_order():
    def odd(train, test, source):
        return train[source["position"].values[train] % 2 == 1], test

    shuffled = _assembly(order=SHUFFLED)
    for source, target in itertools.product((_assembly(), shuffled), repeat=2):
        for rows in CrossValidation(preprocess_indices=odd).split_rows(source, target):
            assert (target["position"].values[rows.train] % 2 == 1).all()
            assert len(rows.train)


def test_default_stratification_applies_only_where_the_target_has_it():
    target = _assembly()
    expected = ShuffleSplit(10, train_size=0.9, random_state=1).split(np.zeros(40))
    for rows, (train, _) in zip(CrossValidation().split_rows(target, target), expected, strict=True):
        np.testing.assert_array_equal(rows.train, train)


def test_another_missing_stratification_is_warned_about():
    target = _assembly()
    with pytest.warns(UserWarning, match="texture_type"):
        CrossValidation(stratification_coord="texture_type").split_rows(target, target)


def test_parts_correspond_whatever_the_order():
    seen = []

    def apply(source_train, target_train, source_test, target_test):
        for one, other in ((source_train, target_train), (source_test, target_test)):
            np.testing.assert_array_equal(one["stimulus_id"].values, other["stimulus_id"].values)
            np.testing.assert_array_equal(one.values, other.values)
        assert not set(source_train["stimulus_id"].values) & set(source_test["stimulus_id"].values)
        seen.append(target_test.sizes["presentation"])
        return Score([1.0, 2.0], coords={"neuroid_id": ("neuroid", [0, 1])}, dims=["neuroid"])

    score = CrossValidation()(
        _assembly(order=SHUFFLED, object_name=OBJECTS),
        _assembly(object_name=OBJECTS),
        apply=apply,
        aggregate=lambda values: values.median("neuroid"),
    )
    assert seen == [4] * 10
    assert float(score) == 1.5
    assert score.attrs["raw"].dims == ("split", "neuroid")
    assert score.attrs["split_error"] == 0


def test_the_spread_over_splits_is_not_called_an_error():
    values = iter(np.linspace(0, 1, 10))
    score = CrossValidation()(_assembly(), _assembly(), apply=lambda *_: Score(next(values)))
    assert float(score) == pytest.approx(0.5)
    assert score.attrs["split_error"] == pytest.approx(np.std(np.linspace(0, 1, 10)) / np.sqrt(10))
    assert np.isnan(score.attrs["error"])
    assert "spread over splits" in score.attrs["error_reason"]


def test_equal_values_stay_on_one_side():
    scene = np.repeat(np.arange(10), 4)
    target = _assembly(scene=scene)
    validation = CrossValidation(split_coord="scene", unique_split_values=True, splits=5)
    for train, test in validation.split_rows(target, target):
        assert not set(scene[train]) & set(scene[test])
        assert len(train) + len(test) == 40
    validation(target, _assembly(scene=scene, order=SHUFFLED), apply=lambda *_: Score(1.0))


def test_preprocess_indices_is_a_hook():
    validation = CrossValidation(preprocess_indices=lambda train, test, source: (train[:7], test))
    assert all(len(rows.train) == 7 for rows in validation.split_rows(_assembly(), _assembly()))


@pytest.mark.parametrize(
    ("source", "target", "message"),
    [
        (_assembly(39), _assembly(40), r"1 only in the target \('stimulus039'\)"),
        (_assembly(40), _assembly(39), r"1 only in the source \('stimulus039'\)"),
        (_assembly(40).drop_vars("stimulus_id"), _assembly(40), "source has no coordinate 'stimulus_id'"),
        (_assembly(40), _assembly(40).drop_vars("stimulus_id"), "target has no coordinate 'stimulus_id'"),
        (
            _assembly(40).isel(presentation=[0, 0, 1]),
            _assembly(40).isel(presentation=[0, 0, 1]),
            "'stimulus000' of 'stimulus_id' occurs more than once",
        ),
        (_assembly(object_name=["x"] * 40), _assembly(object_name=OBJECTS), "different values of 'object_name'"),
    ],
)
def test_what_does_not_match_is_named(source, target, message):
    with pytest.raises(MetricInputError, match=message) as caught:
        CrossValidation()(source, target, apply=lambda *_: Score(1.0))
    assert caught.value.remedy


@pytest.mark.parametrize("names", [[f"object{i}" for i in range(40)], ["rare", *["common"] * 39]])
def test_too_small_strata_say_what_to_do(names):
    target = _assembly(object_name=names)
    with pytest.raises(MetricInputError, match="stratification_coord=None"):
        CrossValidation().split_rows(target, target)


def test_too_few_stimuli_are_refused():
    with pytest.raises(MetricInputError, match="1 values of 'stimulus_id'"):
        CrossValidation().split_rows(_assembly(1), _assembly(1))


def test_missing_strata_are_refused():
    target = _assembly(object_name=[np.nan] + [1.0] * 39)
    with pytest.raises(MetricInputError, match="missing values"):
        CrossValidation().split_rows(target, target)


def test_sizes_have_no_meaning_with_kfold():
    with pytest.raises(ValueError, match="kfold"):
        CrossValidation(kfold=True, train_size=0.5)


def test_aggregate_keeps_raw_values():
    values = Score([1.0, 3.0], dims=["neuroid"])
    score = apply_aggregate(lambda scores: scores.mean("neuroid"), values)
    assert float(score) == 2
    assert score.attrs["raw"] is values


def test_splits_without_a_value_are_left_out():
    values = iter([np.nan, *np.linspace(0, 1, 9)])
    score = CrossValidation()(_assembly(), _assembly(), apply=lambda *_: Score(next(values)))
    assert float(score) == pytest.approx(0.5)
    assert score.attrs["split_error"] == pytest.approx(np.std(np.linspace(0, 1, 9)) / 3)
    nothing = CrossValidation()(_assembly(), _assembly(), apply=lambda *_: Score(np.nan))
    assert np.isnan(float(nothing))
    assert nothing.attrs["error_reason"] == "undefined in every split"
