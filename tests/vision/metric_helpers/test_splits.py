"""Groups, test-only and single-assembly cross-validation."""

import numpy as np
import pytest
from sklearn.model_selection import GroupShuffleSplit, ShuffleSplit, StratifiedShuffleSplit

from brainscore_core.metric_helpers.alignment import MetricInputError
from brainscore_core.metric_helpers.transformations import CrossValidation, CrossValidationSingle, Splits
from brainscore_core.metrics import Score
from brainscore_core.supported_data_standards.brainio.assemblies import NeuroidAssembly
from brainscore_vision.metric_helpers import transformations

SHUFFLED = np.random.default_rng(0).permutation(60)
SCENE = np.random.default_rng(1).integers(0, 12, 60)  # groups of unequal size
OBJECT = np.array([f"object{scene % 3}" for scene in SCENE])


def _assembly(n=60, *, order=None, **coords):
    order = np.arange(n) if order is None else order
    values = np.arange(n * 2, dtype=float).reshape(n, 2)[order]
    coords = {"stimulus_id": [f"stimulus{i:03}" for i in range(n)]} | coords
    return NeuroidAssembly(
        values,
        coords={name: ("presentation", np.asarray(value)[order]) for name, value in coords.items()}
        | {"neuroid_id": ("neuroid", [0, 1])},
        dims=["presentation", "neuroid"],
    )


def test_groups_are_split_as_scikit_learn_does():
    target = _assembly(order=SHUFFLED, scene=SCENE)
    splits = Splits(group_coord="scene", splits=7, train_size=0.8).split_rows(_assembly(), target)
    reference = GroupShuffleSplit(7, train_size=0.8, random_state=1).split(np.zeros(60), groups=SCENE)
    for rows, (train, test) in zip(splits, reference, strict=True):
        np.testing.assert_array_equal(SHUFFLED[rows.train], train)
        np.testing.assert_array_equal(SHUFFLED[rows.test], test)


@pytest.mark.parametrize("kfold", [True, False])
@pytest.mark.parametrize("stratified", [True, False])
@pytest.mark.parametrize("unique", [True, False])
def test_a_group_is_never_on_both_sides(kfold, stratified, unique):
    target = _assembly(order=SHUFFLED, scene=SCENE, object_name=OBJECT)
    validation = Splits(
        group_coord="scene",
        kfold=kfold,
        splits=4,
        unique_split_values=unique,
        stratification_coord="object_name" if stratified else None,
        train_size=None if kfold else 0.6,
    )
    splits = validation.split_rows(target, target)
    scene, objects = (target[name].values for name in ("scene", "object_name"))
    for train, test in splits:
        assert not set(scene[train]) & set(scene[test])
        assert sorted([*train, *test]) == list(range(60))
        if stratified:
            assert set(objects[train]) == set(objects[test]) == set(OBJECT)
    if kfold:
        assert sorted(np.concatenate([test for _, test in splits])) == list(range(60))


def test_groups_of_mixed_strata_are_split_without_strata_or_refused():
    mixed = np.array([f"object{i % 2}" for i in range(60)])
    target = _assembly(scene=SCENE, object_name=mixed, texture=mixed)
    plain = Splits(group_coord="scene", stratification_coord=None).split_rows(target, target)
    for one, other in zip(plain, Splits(group_coord="scene").split_rows(target, target), strict=True):
        np.testing.assert_array_equal(one.test, other.test)
    with pytest.raises(MetricInputError, match=r"group of 'scene' holds stimuli of several values of 'texture'"):
        Splits(group_coord="scene", stratification_coord="texture").split_rows(target, target)


@pytest.mark.parametrize(
    ("target", "kwargs", "message"),
    [
        (_assembly(), {}, "target has no coordinate 'scene'"),
        (_assembly(scene=["only"] * 60), {}, "1 values of 'scene' cannot be split"),
        (_assembly(scene=np.arange(60) % 3), {"kfold": True}, "3 values of 'scene' cannot be split"),
        (_assembly(scene=[np.nan, *range(59)]), {}, "'scene' of the target has missing values"),
        (
            _assembly(scene=np.arange(60), stimulus_id=np.repeat(np.arange(30), 2)),
            {"unique_split_values": True},
            "0 of 'stimulus_id' occurs in several groups of 'scene'",
        ),
    ],
)
def test_impossible_groups_are_named(target, kwargs, message):
    with pytest.raises(MetricInputError, match=message) as caught:
        Splits(group_coord="scene", **kwargs).split_rows(target, target)
    assert caught.value.remedy


def test_repetitions_stay_together_within_groups():
    stimulus = np.repeat(np.arange(20), 3)
    target = _assembly(stimulus_id=stimulus, subject=stimulus // 4, order=SHUFFLED)
    splits = Splits(group_coord="subject", unique_split_values=True, kfold=True, splits=5).split_rows(target, target)
    for train, test in splits:
        assert not set(target["subject"].values[train]) & set(target["subject"].values[test])
        assert len(test) == 12


def test_hook_sees_stimuli_of_the_groups():
    target = _assembly(scene=SCENE)
    dropped = Splits(group_coord="scene", preprocess_indices=lambda train, test, _: (train[1:], test))
    plain = Splits(group_coord="scene").split_rows(target, target)
    for rows, expected in zip(dropped.split_rows(target, target), plain, strict=True):
        np.testing.assert_array_equal(rows.train, expected.train[1:])


@pytest.mark.parametrize("options", [{"splits": 7, "train_size": 0.8}, {"kfold": True, "splits": 4}])
def test_splits_by_groups(options):
    target = _assembly(order=SHUFFLED, scene=SCENE, object_name=SCENE)
    grouped = Splits(**options).by_groups("scene", groups=12, stimuli=60).split_rows(target, target)
    expected = Splits(group_coord="scene", stratification_coord=None, **options).split_rows(target, target)
    for rows, others in zip(grouped, expected, strict=True):
        np.testing.assert_array_equal(rows.train, others.train)
        np.testing.assert_array_equal(rows.test, others.test)


def test_splits_by_groups_have_at_most_as_many_folds():
    target = _assembly(half=np.arange(60) % 2)
    own = Splits(kfold=True, splits=5)
    splits = own.by_groups("half", groups=2, stimuli=60).split_rows(target, target)
    assert [len(rows.test) for rows in splits] == [30, 30]
    assert len(own.split_rows(target, target)) == 5  # unchanged


def test_metrics_take_groups():
    target = _assembly(scene=SCENE)
    seen = []

    def apply(source_train, target_train, source_test, target_test):
        assert not set(target_train["scene"].values) & set(target_test["scene"].values)
        np.testing.assert_array_equal(source_train["stimulus_id"].values, target_train["stimulus_id"].values)
        seen.extend(target_test["stimulus_id"].values)
        return Score(1.0)

    validation = CrossValidation(group_coord="scene", kfold=True, splits=3)
    validation(_assembly(order=SHUFFLED), target, apply=apply)  # the source needs no groups
    assert sorted(seen) == target["stimulus_id"].values.tolist()


def test_test_only_applies_to_the_test_part():
    source, target = _assembly(order=SHUFFLED), _assembly(object_name=OBJECT)
    reference = StratifiedShuffleSplit(10, test_size=0.9, random_state=1).split(np.zeros(60), OBJECT)
    values = []

    def apply(one, other):
        np.testing.assert_array_equal(one["stimulus_id"].values, other["stimulus_id"].values)
        np.testing.assert_array_equal(one.values, other.values)
        np.testing.assert_array_equal(one.values[:, 0] / 2, next(reference)[1])
        values.append(float(one.values.mean()))
        return Score(values[-1])

    score = transformations.TestOnlyCrossValidation(test_size=0.9)(source, target, apply=apply)
    assert len(values) == 10
    assert float(score) == pytest.approx(np.mean(values))
    assert score.attrs["split_error"] == pytest.approx(np.std(values) / np.sqrt(10))
    np.testing.assert_array_equal(score.attrs["raw"].values, values)
    with pytest.raises(MetricInputError, match="only in the target"):
        transformations.TestOnlyCrossValidation()(_assembly(50), target, apply=apply)


def test_single_assembly():
    assembly = _assembly()
    reference = list(ShuffleSplit(10, train_size=0.5, random_state=1).split(np.zeros(60)))
    halves = CrossValidationSingle(train_size=0.5)
    score = halves(assembly, apply=lambda one, other: Score((one.mean() - other.mean()).item()))
    expected = [assembly.values[train].mean() - assembly.values[test].mean() for train, test in reference]
    np.testing.assert_allclose(score.attrs["raw"].values, expected)
    tested = transformations.TestOnlyCrossValidationSingle(train_size=0.5)
    score = tested(
        assembly,
        apply=lambda part: Score(part.values.mean(axis=0), dims=["neuroid"]),
        aggregate=lambda scores: scores.mean("neuroid"),
    )
    np.testing.assert_allclose(score.attrs["raw"].values, [assembly.values[test].mean(axis=0) for _, test in reference])
    assert float(score) == pytest.approx(np.mean([assembly.values[test].mean() for _, test in reference]))
