import re

import numpy as np
import pytest
from scipy.optimize import minimize
from scipy.special import ndtr
from scipy.stats import norm, sem

from brainscore_core.metric_helpers.alignment import MetricInputError
from brainscore_core.numerics.psychometric import PsychometricFit, before_asymptote, fit_psychometric
from brainscore_core.supported_data_standards.brainio.assemblies import BehavioralAssembly, PropertyAssembly
from brainscore_vision import load_metric

X = np.repeat([5.0, 10, 20, 40, 80, 160], 40)


def _answers(seed=0):
    """Right and wrong answers with thresholds around 55 and 17."""
    rng = np.random.default_rng(seed)
    hard = rng.random(len(X)) < 0.5 + 0.47 * norm.cdf(0.03 * (X - 40))
    easy = rng.random(len(X)) < 0.5 + 0.47 * norm.cdf(0.1 * (X - 15))
    return hard, easy


def _model(correct, x=X, **columns):
    side = np.random.default_rng(0).integers(0, 2, len(x))
    p = np.where((side[:, None] == np.arange(2)) == np.asarray(correct)[:, None], 0.8, 0.2)
    coords = {"image_label": np.array(["left", "right"])[side], "offset": x, **columns}
    return BehavioralAssembly(
        p,
        coords={name: ("presentation", c) for name, c in coords.items()} | {"choice": ["left", "right"]},
        dims=["presentation", "choice"],
    )


def _people(values):
    return PropertyAssembly(values, coords={"subject": [f"p{i}" for i in range(len(values))]}, dims=["subject"])


PEOPLE = _people([50.0, 60.0, 20.0, 200.0])


def test_threshold_equals_the_existing_platform():
    metric = load_metric("threshold", independent_variable="offset", threshold_accuracy=0.75)
    score = metric(_model(_answers()[0]), PEOPLE)
    # brainscore-vision 2.4.2 on the same data
    assert score.attrs["threshold"] == pytest.approx(57.808021998949314, rel=1e-5)
    assert float(score) == pytest.approx(0.5240866758328956, rel=1e-5)
    np.testing.assert_allclose(
        score.attrs["raw"].values, [0.8438395600210137, 0.963467033315822, 0.0, 0.2890401099947465], rtol=1e-5
    )
    assert score.attrs["std"] == pytest.approx(0.3953513429173873, rel=1e-5)
    assert float(metric(57.0, PEOPLE)) == float(metric(57.0, PEOPLE.values.tolist())) == pytest.approx(0.52375)
    assert score.attrs["error"] == pytest.approx(sem(score.attrs["raw"].values))
    assert metric.threshold(_model(_answers()[1])).value == pytest.approx(16.381006445461274, rel=1e-5)


def test_elevation_equals_the_existing_platform():
    hard, easy = _answers()
    metric = load_metric(
        "threshold_elevation",
        independent_variable="offset",
        baseline_condition="base",
        test_condition="test",
        threshold_accuracy=0.75,
    )
    people = {"baseline_assembly": _people([20.0, 25.0, 18.0, 30.0]), "condition_assembly": PEOPLE}
    score = metric({"base": _model(easy), "test": _model(hard)}, people)
    assert float(score) == pytest.approx(0.4118389266718272, rel=1e-5)  # brainscore-vision 2.4.2
    assert score.attrs["std"] == pytest.approx(0.23898983363732823, rel=1e-5)
    assert float(metric(3.0, people)) == pytest.approx(0.5)
    shuffled = people | {"condition_assembly": PEOPLE.isel(subject=[2, 0, 3, 1])}
    assert float(metric(3.0, shuffled)) == pytest.approx(0.5)
    raw = metric.ceiling(people).attrs["raw"]
    each = {"p0": 0.4444444444444444, "p1": 0.44, "p2": 0.3580246913580247, "p3": 0.0}  # brainscore-vision 2.4.2
    np.testing.assert_allclose(raw.values, [each[name] for name in raw["subject"].values])


def test_inflection_is_the_middle_of_what_is_predicted_for_the_stimuli_shown():
    metric = load_metric("threshold", independent_variable="offset")
    found = [metric.threshold(_model(correct)) for correct in _answers()]
    shares = [correct.reshape(-1, 40).mean(axis=1) for correct in _answers()]
    for threshold, share in zip(found, shares, strict=True):
        fit = fit_psychometric(X[::40], share)
        assert threshold.accuracy == pytest.approx((fit.predict(5.0) + fit.predict(160.0)) / 2)
        assert fit.predict(threshold.value) == pytest.approx(threshold.accuracy)
    metric = load_metric(
        "threshold_elevation", independent_variable="offset", baseline_condition="base", test_condition="test"
    )
    hard, easy = (_model(correct) for correct in _answers())
    score = metric({"base": easy, "test": hard}, [2.0, 3.0])
    fit = fit_psychometric(X[::40], shares[0])  # the baseline's accuracy is that in the context, too
    assert score.attrs["threshold"] == pytest.approx(fit.inverse(found[1].accuracy) / found[1].value)


def test_strengths_count_alike_however_often_they_were_shown():
    x = np.concatenate([X, X[:80]])
    correct = np.concatenate([_answers()[0], _answers()[0][:80]])
    metric = load_metric("threshold", independent_variable="offset", threshold_accuracy=0.75)
    assert metric.threshold(_model(correct, x)).value == pytest.approx(57.808022, rel=1e-5)


@pytest.mark.parametrize("seed", range(4))
def test_fit_has_the_largest_likelihood(seed):
    correct = _answers(seed)[0]
    fit = fit_psychometric(X, correct)

    def loss(parameters):
        slope, location, lapse = parameters
        p = 0.5 + (0.5 - lapse) * norm.cdf(slope * (X - location))
        return -np.sum(np.where(correct, np.log(p), np.log(1 - p)))

    found = loss(fit[:3])
    for start in ([0.03, 40, 0.05], [0.01, 80, 0.1], [0.1, 20, 0.04]):
        other = minimize(
            loss,
            start,
            method="Nelder-Mead",
            bounds=[(None, None), (None, None), (0.03, 0.5)],
            options={"maxiter": 5000, "xatol": 1e-9, "fatol": 1e-12},
        )
        assert found <= other.fun + 1e-7
    assert fit.inverse(0.75) == pytest.approx(fit.location + norm.ppf(0.25 / (0.5 - fit.lapse)) / fit.slope)
    assert float(fit.predict(fit.inverse(0.75))) == pytest.approx(0.75)


def test_fit_finds_the_truth_with_much_data():
    x = np.repeat(np.linspace(0, 100, 11), 20000)
    correct = np.random.default_rng(0).random(len(x)) < 0.5 + 0.4 * norm.cdf(0.05 * (x - 45))
    fit = fit_psychometric(x, correct)
    assert fit[:3] == pytest.approx((0.05, 45, 0.1), rel=0.02)
    assert fit.r2 > 0.999


@pytest.mark.parametrize("scale", [1e-6, 1.0, 1e6])
def test_units_do_not_matter(scale):
    correct = _answers()[0]
    assert fit_psychometric(X * scale, correct).inverse(0.75) / scale == pytest.approx(57.808022, rel=1e-4)


def test_jump_is_in_the_middle():
    """Any place between 20 and 40 is equally likely."""
    jump = fit_psychometric([5, 10, 20, 40, 80, 160], [0.5, 0.5, 0.5, 0.9, 0.9, 0.9])
    assert jump.location == pytest.approx(30)
    assert jump.inverse(0.75) == pytest.approx(30, abs=0.5)
    assert jump.r2 == pytest.approx(1)
    through = fit_psychometric([5, 10, 20, 40, 80, 160], [0.5, 0.5, 0.5, 0.8, 0.9, 0.9])
    assert through.predict(40) == pytest.approx(0.8, abs=1e-5)
    assert 38 < through.location < 40


@pytest.mark.parametrize("index", range(3))
def test_no_other_fit_is_likelier(index):
    """Against many starts without gradients, as the published implementation fits."""
    x, y = [
        ([4.53, 4.88, 5.39, 28.58, 38.34, 40.85], [0.51, 0.429, 0.603, 0.706, 0.907, 0.837]),
        ([28.68, 60.31, 71.61, 77.75, 86.04, 91.54, 91.82], [0.528, 0.685, 0.818, 0.721, 0.875, 0.733, 0.804]),
        ([9.41, 11.37, 15.97, 23.68, 43.31, 47.91, 58.22], [0.5, 0.476, 0.579, 0.875, 0.543, 0.745, 0.807]),
    ][index]
    x, y = np.array(x), np.array(y)

    def loss(parameters):
        slope, location, lapse = parameters
        p = 0.5 + (0.5 - lapse) * ndtr(slope * (x - location))
        return -np.sum(y * np.log(p) + (1 - y) * np.log(1 - p))

    found = loss(fit_psychometric(x, y)[:3])
    bounds = [(None, None), (None, None), (0.03, 0.5)]
    others = [
        minimize(loss, [slope, location, 1 - y.max()], bounds=bounds, method="SLSQP").fun
        for slope in (0.01, 0.1, 1)
        for location in x[1::2]
    ]
    assert found <= min(others) + 1e-8


def test_shares_are_checked():
    with pytest.raises(ValueError, match=r"outside \[0, 1\]"):
        fit_psychometric([1, 2, 3], [0.5, 1.2, 0.3])
    with pytest.raises(ValueError, match="2 different values"):
        fit_psychometric([1, 2, 2], [0.5, 0.2, 0.3])


def test_inverse_of_what_is_never_reached_is_nan():
    fit = PsychometricFit(1.0, 0.0, 0.1, 0.5, 1.0)
    assert np.isnan([fit.inverse(0.95), fit.inverse(0.5), PsychometricFit(1.0, 0.0, 0.5, 0.5, 1.0).inverse(0.75)]).all()


@pytest.mark.parametrize(
    ("accuracy", "kept"),  # as brainscore-vision 2.4.2 keeps them
    [
        ([0.5, 0.5, 0.6, 0.7, 0.8, 0.9, 1, 0.9, 0.8, 0.7], 8),
        ([0.5, 0.6, 0.9, 1, 1, 1, 1, 1, 1, 0.5], 9),
        ([0.5, 0.9, 0.8, 1, 0.6, 0.6, 0.5, 0.5, 0.5, 0.5], 4),
        ([1, 0.5, 0.5, 0.5, 0.5, 0.6, 0.6, 0.6, 0.6, 0.6], 1),
        ([0.5, 0.6, 0.7, 0.8, 0.9, 0.9, 0.6, 0.6, 0.9, 0.9], 10),
        ([0.5, 0.5, 0.5, 0.5, 0.5, 1, 0.5, 0.5, 0.5, 0.83], 10),
        ([0.5, 0.5, 0.5, 0.5, 0.5, 1, 0.5, 0.5, 0.5, 0.82], 6),
        ([0.7] * 10, 10),
    ],
)
def test_a_decline_is_dropped(accuracy, kept):
    assert before_asymptote(np.arange(10.0), accuracy) == kept


def test_decline_does_not_reach_the_fit():
    x = np.concatenate([X, np.repeat([320.0, 640.0], 40)])
    correct = np.concatenate([_answers()[0], np.arange(80) % 2 == 0])
    metric = load_metric("threshold", independent_variable="offset", threshold_accuracy=0.75)
    assert metric.threshold(_model(correct, x)).value == pytest.approx(57.808022, rel=1e-5)


@pytest.mark.parametrize(
    ("probability", "reason"),
    [
        (lambda x: np.full(len(x), 0.5), "the model's accuracy is"),
        (lambda x: 0.97 - 0.4 * norm.cdf(0.05 * (x - 60)), "remain for a fit|does not fit|does not reach"),
        (lambda x: 0.5 + 0.4 * norm.cdf(0.01 * (x - 250)), "accuracy is|does not reach"),
    ],
)
def test_no_threshold_scores_0_and_says_why(probability, reason):
    correct = np.random.default_rng(1).random(len(X)) < probability(X)
    metric = load_metric("threshold", independent_variable="offset", threshold_accuracy=0.75)
    score = metric(_model(correct), PEOPLE)
    assert float(score) == 0
    assert np.isnan(score.attrs["threshold"])
    assert np.isnan(score.attrs["error"])
    assert re.search(reason, score.attrs["reason"])
    assert score.attrs["reason"] == score.attrs["error_reason"]


def test_subjects_without_a_threshold_are_left_out():
    metric = load_metric("threshold", independent_variable="offset")
    score = metric(57.0, _people([50.0, np.nan, 20.0, 200.0]))
    assert float(score) == pytest.approx(np.mean([0.86, 0, 0.285]))
    assert score.attrs["undefined"] == 1
    assert np.isnan(score.attrs["raw"].values[1])


def test_ceiling_draws_subjects_as_published():
    values = np.array([50.0, 60.0, 55.0, 60.0])
    ceiling = load_metric("threshold", independent_variable="offset").ceiling(_people(values))
    left, drawn, scores = list(values), [], []
    for seed in range(4):
        drawn.append(np.random.RandomState(seed).choice(left, replace=False))
        left.remove(drawn[-1])
        scores.append(np.mean([max(1 - abs(t - drawn[-1]) / t, 0) for t in left]))
        left.append(drawn[-1])
    np.testing.assert_allclose(ceiling.attrs["raw"].values, scores)
    names = ceiling.attrs["raw"]["subject"].values
    np.testing.assert_array_equal(values[[int(name[1:]) for name in names]], drawn)
    assert float(ceiling) == pytest.approx(np.mean(scores))
    assert ceiling.attrs["std"] == pytest.approx(np.std(scores))


def test_ceiling_knows_each_subject_against_the_others():
    values = np.array([50.0, 60.0, 55.0])
    ceiling = load_metric("threshold", independent_variable="offset").ceiling(_people(values))
    expected = [
        np.mean([max(1 - abs(t - s) / t, 0) for j, t in enumerate(values) if j != i]) for i, s in enumerate(values)
    ]
    assert ceiling.attrs["each_once"] == pytest.approx(np.mean(expected))
    low, high = ceiling.attrs["ci"]
    assert low < np.mean(expected) < high
    assert ceiling.attrs["meaning"] == "human-human"
    assert ceiling.attrs["error"] > 0


def test_what_does_not_fit_is_refused():
    metric = load_metric("threshold", independent_variable="offset", threshold_accuracy=0.75)
    model = _model(_answers()[0])
    with pytest.raises(MetricInputError, match="'image_label' is not a finite number in 240 trials"):
        load_metric("threshold", independent_variable="image_label")(model, PEOPLE)
    with pytest.raises(MetricInputError, match="no coordinate 'size'"):
        load_metric("threshold", independent_variable="size")(model, PEOPLE)
    with pytest.raises(MetricInputError, match="must be positive"):
        metric(model, [50.0, -1.0])
    with pytest.raises(MetricInputError, match="1 subject"):
        metric.ceiling([50.0])
    with pytest.raises(ValueError, match=r"threshold_accuracy is 1\.5"):
        load_metric("threshold", independent_variable="offset", threshold_accuracy=1.5)
    elevation = load_metric(
        "threshold_elevation", independent_variable="offset", baseline_condition="base", test_condition="test"
    )
    with pytest.raises(MetricInputError, match="no condition 'test'"):
        elevation({"base": model}, [2.0, 3.0])
    with pytest.raises(MetricInputError, match="the target lacks 'condition_assembly'"):
        elevation(2.0, {"baseline_assembly": PEOPLE})
    with pytest.raises(MetricInputError, match="not hold the same subjects"):
        elevation(2.0, {"baseline_assembly": PEOPLE, "condition_assembly": PEOPLE.isel(subject=[0, 1])})
