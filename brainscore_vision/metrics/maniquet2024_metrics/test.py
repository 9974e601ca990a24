import numpy as np
import pytest
from scipy.stats import pearsonr
from sklearn.metrics import confusion_matrix

from brainscore_core.metric_helpers.alignment import MetricInputError
from brainscore_core.supported_data_standards.brainio.assemblies import BehavioralAssembly
from brainscore_vision import load_metric

NAMES = np.array(["a", "b", "c"])
N, SUBJECTS = 60, 4
TRUTH = NAMES[np.arange(N) % 3]
TASK = np.array(["control", "clutter", "scrambling"])[np.arange(N) % 7 % 3]
OFF = ~np.eye(3, dtype=bool)


def _assembly(values, **columns):
    coords = {name: ("presentation", column) for name, column in columns.items()}
    return BehavioralAssembly(values, coords=coords, dims=["presentation"])


def _random(subjects=SUBJECTS, seed=3):
    rng = np.random.default_rng(seed)
    model = NAMES[rng.integers(0, 3, N)]
    people = NAMES[rng.integers(0, 3, N * subjects)]
    source = _assembly(model, image_label=TRUTH, task=TASK)
    target = _assembly(
        people,
        image_label=np.tile(TRUTH, subjects),
        task=np.tile(TASK, subjects),
        subject=np.repeat([f"p{i}" for i in range(subjects)], N),
    )
    return source, target


def _able(subjects, seed=0):
    """People and a model who share what they confuse, and which tasks are hard."""
    rng = np.random.default_rng(seed)
    skill = {"control": 0.9, "clutter": 0.7, "scrambling": 0.5}
    shift = {"a": 1, "b": 1, "c": 2}

    def answer(truth, task):
        usual = NAMES[(NAMES.tolist().index(truth) + shift[truth]) % 3]
        return truth if rng.random() < skill[task] else usual if rng.random() < 0.8 else rng.choice(NAMES)

    def answers(observers):
        tiled = np.tile(TRUTH, observers), np.tile(TASK, observers)
        values = np.array([answer(*pair) for pair in zip(*tiled, strict=True)])
        names = np.repeat([f"p{i:02d}" for i in range(observers)], N)
        return _assembly(values, image_label=tiled[0], task=tiled[1], subject=names)

    return answers(10), answers(subjects)


def test_confusions_equal_the_existing_platform():
    source, target = _random()
    metric = load_metric("confusion_similarity")
    # brainscore-vision 2.4.2 on the same data
    assert float(metric(source, target)) == pytest.approx(-0.07986523020975034, abs=1e-12)
    lacking = (target["subject"].values == "p1") & (np.arange(N * SUBJECTS) % 3 == 0)
    fewer = target.isel(presentation=np.flatnonzero(~lacking))
    assert float(metric(source, fewer)) == pytest.approx(0.5052674441230323, abs=1e-12)


def test_tasks_equal_the_existing_platform():
    score = load_metric("tasks_consistency")(*_random())
    assert float(score) == pytest.approx(-0.7034524581126592, abs=1e-12)  # brainscore-vision 2.4.2


def test_confusions_equal_scikit_learn():
    source, target = _able(5)
    score = load_metric("confusion_similarity")(source, target)
    ours, theirs = (confusion_matrix(side["image_label"].values, side.values) for side in (source, target))
    assert float(score) == pytest.approx(pearsonr(ours[OFF], theirs[OFF]).statistic, abs=1e-12)
    np.testing.assert_array_equal(score.attrs["predictions"].values, ours)
    np.testing.assert_array_equal(score.attrs["targets"].values, theirs)
    for subject, value in zip("01234", score.attrs["raw"].values, strict=True):
        own = target["subject"].values == f"p0{subject}"
        one = confusion_matrix(target["image_label"].values[own], target.values[own])
        assert value == pytest.approx(pearsonr(ours[OFF], one[OFF]).statistic, abs=1e-12)


def test_tasks_equal_scipy():
    source, target = _able(5)
    score = load_metric("tasks_consistency")(source, target)

    def accuracies(side):
        right = side.values == side["image_label"].values
        return [right[side["task"].values == task].mean() for task in np.unique(TASK)]

    assert float(score) == pytest.approx(pearsonr(accuracies(source), accuracies(target)).statistic, abs=1e-12)
    np.testing.assert_allclose(score.attrs["targets"].values, accuracies(target))


def test_probabilities_and_predictions_are_read():
    source, target = _able(5)
    p = np.full((len(source), 3), 0.1)
    p[np.arange(len(source)), np.searchsorted(NAMES, source.values)] = 0.8
    coords = {name: ("presentation", source[name].values) for name in ("image_label", "task")}
    probabilities = BehavioralAssembly(p, coords=coords | {"choice": NAMES}, dims=["presentation", "choice"])
    columns = {name: target[name].values for name in ("image_label", "task")}
    predicted = _assembly(
        np.zeros(len(target)), prediction=target.values, subject_id=target["subject"].values, **columns
    )
    for name in ("confusion_similarity", "tasks_consistency"):
        metric = load_metric(name)
        expected = metric(source, target)
        found = metric(probabilities, predicted)
        assert float(found) == float(expected)
        assert found.attrs["ci"] == expected.attrs["ci"]


@pytest.mark.parametrize("name", ["confusion_similarity", "tasks_consistency"])
@pytest.mark.slow(reason="estimates an error from many simulations")
def test_error_is_that_of_other_subjects(name):
    source, _ = _able(5)
    metric = load_metric(name)
    scores = [metric(source, _able(100, seed)[1]) for seed in range(30)]
    spread = np.std([float(score) for score in scores])
    assert np.median([score.attrs["error"] for score in scores]) == pytest.approx(spread, rel=0.35)
    low, high = scores[0].attrs["ci"]
    assert low < float(scores[0]) < high
    without = metric(source, scores and _able(5)[1].drop_vars("subject"))
    assert np.isnan(without.attrs["error"])
    assert "no coordinate 'subject'" in without.attrs["error_reason"]


@pytest.mark.parametrize("name", ["confusion_similarity", "tasks_consistency"])
def test_ceiling_is_each_subject_with_the_others(name):
    _, target = _able(6)
    ceiling = load_metric(name).ceiling(target)
    expected = []
    for subject in np.unique(target["subject"].values):
        own = target["subject"].values == subject
        sides = []
        for part in (own, ~own):
            truth, chosen, task = (
                v[part] for v in (target["image_label"].values, target.values, target["task"].values)
            )
            accuracies = np.array([(truth == chosen)[task == t].mean() for t in np.unique(TASK)])
            sides.append(confusion_matrix(truth, chosen)[OFF] if name == "confusion_similarity" else accuracies)
        expected.append(pearsonr(*sides).statistic)
    np.testing.assert_allclose(ceiling.attrs["raw"].values, expected, atol=1e-12)
    assert float(ceiling) == pytest.approx(np.mean(expected))
    assert ceiling.attrs["meaning"] == "human-human"
    assert ceiling.attrs["error"] > 0


def test_a_missing_answer_is_no_confusion_but_is_not_right():
    source, target = _able(5)
    values = target.values.astype(object)
    values[7] = None
    gone = _assembly(values, **{name: target[name].values for name in ("image_label", "task", "subject")})
    kept = target.isel(presentation=np.delete(np.arange(len(target)), 7))
    metric = load_metric("confusion_similarity")
    assert float(metric(source, gone)) == pytest.approx(float(metric(source, kept)), abs=1e-12)
    accuracies = load_metric("tasks_consistency")(source, gone).attrs["targets"]
    wrong = load_metric("tasks_consistency")(source, target).attrs["targets"]
    assert (accuracies <= wrong).all()


def test_a_model_without_errors_has_no_score():
    _, target = _able(5)
    perfect = _assembly(TRUTH, image_label=TRUTH, task=TASK)
    for name, reason in (("confusion_similarity", "does not vary"), ("tasks_consistency", "does not vary")):
        score = load_metric(name)(perfect, target)
        assert np.isnan(float(score))
        assert reason in score.attrs["error_reason"]


def test_what_does_not_fit_is_refused():
    source, target = _able(5)
    confusions, tasks = load_metric("confusion_similarity"), load_metric("tasks_consistency")
    with pytest.raises(MetricInputError, match=r"different categories: 1 only in the target \('a'\)"):
        confusions(source.isel(presentation=np.flatnonzero(source["image_label"].values != "a")), target)
    with pytest.raises(MetricInputError, match=r"different tasks: 1 only in the target \('control'\)"):
        tasks(source.isel(presentation=np.flatnonzero(source["task"].values != "control")), target)
    two = [side.isel(presentation=np.flatnonzero(side["task"].values != "control")) for side in (source, target)]
    with pytest.raises(MetricInputError, match="2 tasks: a correlation of so few"):
        tasks(*two)
    with pytest.raises(MetricInputError, match="no coordinate 'image_label'"):
        confusions(source.drop_vars("image_label"), target)
    with pytest.raises(MetricInputError, match="the source has no trials"):
        confusions(source.isel(presentation=[]), target)
    with pytest.raises(MetricInputError, match="1 subject"):
        confusions.ceiling(target.isel(presentation=slice(0, N)))
    with pytest.raises(MetricInputError, match="no coordinate 'subject' or 'subject_id'"):
        tasks.ceiling(target.drop_vars("subject"))
