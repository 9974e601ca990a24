import functools

import numpy as np
import pytest
from PIL import Image
from scipy.optimize import minimize
from scipy.special import ndtr, ndtri
from sklearn.linear_model import LogisticRegression
from sklearn.preprocessing import StandardScaler

from brainscore_core.errors import NotApplicable, UserError
from brainscore_core.supported_data_standards.brainio.stimuli import StimulusSet
from brainscore_vision import load_benchmark, load_dataset, load_model, load_stimulus_set
from brainscore_vision.benchmark_helpers import RecordedDecisions
from brainscore_vision.benchmarks.malania2007 import experiment
from brainscore_vision.benchmarks.malania2007.benchmark import DATASETS, ThresholdElevation
from brainscore_vision.benchmarks.malania2007.experiment import CONDITIONS, independent_variable, load_thresholds
from brainscore_vision.model_helpers.images import load_grey
from brainscore_vision.model_helpers.static_features import FeatureModel
from brainscore_vision.testing import serve_stand_ins

DEGREES = 2.986667
CEILINGS = {
    "short2-threshold_elevation": 0.78719345,
    "short4-threshold_elevation": 0.49998989,
    "short6-threshold_elevation": 0.50590051,
    "short8-threshold_elevation": 0.4426336,
    "short16-threshold_elevation": 0.8383443,
    "equal2-threshold_elevation": 0.56664015,
    "long2-threshold_elevation": 0.46470421,
    "equal16-threshold_elevation": 0.44087153,
    "long16-threshold_elevation": 0.50996587,
    "vernieracuity-threshold": 0.70168481,
}


def profile(images):
    """Mean grey level of each column, above and below the middle."""
    return np.stack([np.concatenate([im[:32].mean(axis=0), im[32:].mean(axis=0)]) for im in images])


def coarse(images):
    """Mean grey level in each of 16 × 16 parts."""
    return np.stack([np.reshape(im, (16, 4, 16, 4)).mean(axis=(1, 3)).ravel() for im in images])


def model(function, degrees=DEGREES):
    return FeatureModel(
        function.__name__, {"layer": function}, visual_degrees=degrees, load=load_grey, dtype=np.float64
    )


def pixels(stimuli):
    return [np.asarray(Image.open(stimuli.get_stimulus(name)).convert("L")) for name in stimuli["stimulus_id"]]


@functools.cache
def accuracies(function, condition, shown):
    """Share of right answers at each offset, after learning from the fitting stimuli of a condition."""
    fitting, test = load_stimulus_set(f"Malania2007.{condition}_fit"), load_stimulus_set(f"Malania2007.{shown}")
    scaler = StandardScaler()
    # each stimulus is shown twice; two classes have the penalty of a multinomial regression: twice the C
    features = scaler.fit_transform(np.repeat(function(pixels(fitting)), 2, axis=0))
    regression = LogisticRegression(C=2e-3, max_iter=1000, tol=1e-10)
    regression.fit(features, np.repeat(fitting["image_label"].to_numpy(), 2))
    right = regression.predict(scaler.transform(function(pixels(test)))) == test["image_label"].to_numpy()
    offsets = test["vernier_offset_arcsec"].to_numpy()
    return np.unique(offsets), np.array([right[offsets == offset].mean() for offset in np.unique(offsets)])


def threshold(x, y):
    """Offset at which a cumulative Gaussian reaches 75 %; None where the published rules allow none."""
    if y.mean() < 0.6:  # as many stimuli at each offset
        return None
    best = int(y.argmax())
    for cut in range(best + 1, len(y)):
        if all(abs(value - y[best]) >= y.std() for value in y[cut:]):
            x, y = x[:cut], y[:cut]
            break
    else:
        cut = len(y)
    if cut < len(np.unique(x)) / 3:
        return None

    def curve(alpha, beta, lapse):
        return 0.5 + (0.5 - lapse) * ndtr(alpha * (x - beta))

    def loss(*parameters):
        p = np.clip(curve(*parameters), 1e-12, 1 - 1e-12)
        return -(y * np.log(p) + (1 - y) * np.log(1 - p)).sum(axis=-1)

    axes = np.ix_(np.geomspace(1e-3, 1, 40), np.linspace(x[0] - 30, x[-1], 40), np.linspace(0.03, 0.5, 12), [0])
    losses = loss(*axes[:3])
    start = [
        axis.ravel()[place] for axis, place in zip(axes, np.unravel_index(losses.argmin(), losses.shape), strict=False)
    ]
    bounds = [(None, None), (None, None), (0.03, 0.5)]
    options = {"ftol": 1e-14, "gtol": 1e-10}
    fit = minimize(lambda values: loss(*values), start, method="L-BFGS-B", bounds=bounds, options=options)
    alpha, beta, lapse = fit.x
    if 1 - ((y - curve(alpha, beta, lapse)) ** 2).sum() / ((y - y.mean()) ** 2).sum() < 0.4:
        return None
    value = beta + ndtri(0.25 / (0.5 - lapse)) / alpha
    return value if value <= x.max() else None


def closeness(ours, people):
    return [max(1 - abs(one - ours) / one, 0) for one in people]


def human_ceiling(people):
    """Each of some subjects drawn, with replacement, against the others."""
    order, scores = list(people), []
    for seed in range(len(people)):
        drawn = np.random.RandomState(seed).choice(order, replace=False)
        order.remove(drawn)
        scores.append(np.mean(closeness(drawn, order)))
        order.append(drawn)
    return np.mean(scores)


def people(condition):
    """Thresholds without and with flankers, of those who have the latter."""
    baseline, measured = (load_dataset(f"Malania2007.{name}").values for name in ("vernier_only", condition))
    return baseline[~np.isnan(measured)], measured[~np.isnan(measured)]


def test_ceilings_are_complete():
    assert len(DATASETS) == 10
    assert set(DATASETS) == set(CEILINGS)


@pytest.mark.parametrize("name", DATASETS)
def test_metadata(name):
    benchmark = load_benchmark(f"Malania2007.{name}")  # nothing is loaded for that
    identifier = f"Malania2007.{name.removesuffix('-threshold_elevation')}"
    assert (benchmark.identifier, benchmark.version, benchmark.parent) == (identifier, 1, "Malania2007")
    assert "malania2007" in benchmark.bibtex


@pytest.mark.sampled(7)
@pytest.mark.parametrize("condition", sorted(name.partition("-")[0] for name in DATASETS if "elevation" in name))
def test_two_models_score_as_computed_by_hand(stand_ins, condition):
    benchmark, (baseline, measured) = (
        load_benchmark(f"Malania2007.{condition}-threshold_elevation"),
        people(condition),
    )
    elevations, scores = measured / baseline, []
    # beside 16 flankers the answers jump from wrong to right, and steep curves at several places fit alike
    tolerance = 0.03 if condition.endswith("16") else 1e-3
    assert len(elevations) >= 5
    ceiling = human_ceiling(elevations)
    assert float(benchmark.ceiling) == pytest.approx(ceiling)
    for function in (profile, coarse):
        accuracies.cache_clear()
        without, with_flankers = (threshold(*accuracies(function, condition, s)) for s in ("vernier_only", condition))
        score = benchmark(model(function))
        scores.append(float(score))
        if without is None or with_flankers is None:
            assert float(score) == 0
            assert "in condition" in score.attrs["reason"]
            continue
        raw = closeness(with_flankers / without, elevations)
        assert score.attrs["raw"].attrs["threshold"] == pytest.approx(with_flankers / without, rel=tolerance)
        np.testing.assert_allclose(score.attrs["raw"].attrs["raw"].values, raw, atol=tolerance)
        assert score.attrs["unclamped"] == pytest.approx(np.mean(raw) / ceiling, abs=tolerance)
        assert float(score) == min(score.attrs["unclamped"], 1)
        assert score.attrs["independent_variable"] == "vernier_offset_arcsec"
        assert score.attrs["error"] > 0
    assert 0 <= min(scores) <= max(scores) <= 1
    assert min(scores) < max(scores) or max(scores) == 0  # neither model follows a psychometric function


@pytest.mark.slow(reason="nine conditions, each learned by two models")
def test_acuity_of_two_models_as_computed_by_hand(stand_ins):
    benchmark = load_benchmark("Malania2007.vernieracuity-threshold")
    baselines = {condition: people(condition)[0] for condition in CONDITIONS}
    ceiling = np.mean([human_ceiling(one) for one in baselines.values()])
    assert float(benchmark.ceiling) == pytest.approx(ceiling)
    assert benchmark.ceiling.attrs["error"] > 0
    scores = []
    for function in (profile, coarse):
        accuracies.cache_clear()
        ours = {condition: threshold(*accuracies(function, condition, "vernier_only")) for condition in CONDITIONS}
        raw = [
            0.0 if ours[condition] is None else np.mean(closeness(ours[condition], baselines[condition]))
            for condition in CONDITIONS
        ]
        score = benchmark(model(function))
        assert float(score) == pytest.approx(np.mean(np.minimum(np.array(raw) / ceiling, 1)), abs=1e-3)
        assert float(score.attrs["raw"]) == pytest.approx(np.mean(raw), abs=1e-3)
        assert score.attrs["error"] > 0
        assert score.attrs["ci"][0] <= float(score) <= score.attrs["ci"][1]
        assert ("reason" in score.attrs) == (None in ours.values())
        scores.append(float(score))
    assert 0.05 < min(scores) < max(scores) < 1


def test_a_model_at_chance_scores_0_and_says_why(stand_ins):
    blind = FeatureModel("blind", {"layer": lambda images: np.ones((len(images), 2))}, visual_degrees=DEGREES)
    score = load_benchmark("Malania2007.short2-threshold_elevation")(blind)
    assert float(score) == 0
    assert "accuracy is 0.500" in score.attrs["reason"]
    assert np.isnan(score.attrs["error"])
    assert score.attrs["error_reason"] == score.attrs["reason"]


class Spy(FeatureModel):
    """Keeps what it is asked and shown."""

    calls: list

    def start_task(self, task, fitting_stimuli=None, **options):
        self.calls = [(str(task), fitting_stimuli.identifier, len(fitting_stimuli), options)]
        super().start_task(task, fitting_stimuli, **options)

    def look_at(self, stimuli, number_of_trials=1, require_variance=False):
        self.calls.append((stimuli.identifier, number_of_trials, require_variance))
        self.answers = super().look_at(stimuli, number_of_trials, require_variance)
        return self.answers


def test_the_experiment(s3_server):
    spy = Spy(
        "spy",
        {"layer": lambda images: coarse([im[32:-32, 32:-32] for im in images])},
        visual_degrees=2 * DEGREES,
        load=load_grey,
    )
    with serve_stand_ins(*(f"Malania2007.{name}" for name in ("short2", "short2_fit", "vernier_only"))):
        load_benchmark("Malania2007.short2-threshold_elevation")(spy)
    task, fitting, number, options = spy.calls[0]
    assert (task, number, options) == ("probabilities", 72, {"number_of_trials": 2, "require_variance": True})
    assert fitting == "Malania2007_short-2_fit--target5.97--source2.99"
    assert [name.partition("--")[0] for name, *_ in spy.calls[1:]] == [
        "Malania2007_vernier-only",
        "Malania2007_short-2",
    ]
    assert {tuple(rest) for _, *rest in spy.calls[1:]} == {(10, True)}
    assert spy.answers.sizes["presentation"] == 72 * 10


def test_a_model_that_takes_no_options_is_asked_without_them(stand_ins):
    class Plain(FeatureModel):
        def start_task(self, task, fitting_stimuli=None):
            super().start_task(task, fitting_stimuli)

    plain = Plain("plain", {"layer": coarse}, visual_degrees=DEGREES, load=load_grey, dtype=np.float64)
    assert float(load_benchmark("Malania2007.short2-threshold_elevation")(plain)) > 0


def test_subjects_are_those_of_both_conditions(stand_ins):
    both = load_thresholds("long2")
    assert len(load_dataset("Malania2007.vernier_only")) == len(load_dataset("Malania2007.long2")) == 6
    assert list(both["baseline_assembly"]["subject"].values) == [f"subject{number}" for number in range(5)]
    assert list(both["condition_assembly"]["subject"].values) == list(both["baseline_assembly"]["subject"].values)
    assert not np.isnan(both["condition_assembly"].values).any()


def test_nobody_took_part_in_both(stand_ins, monkeypatch):
    data = {name: load_dataset(f"Malania2007.{name}") for name in ("long2", "vernier_only")}
    data["long2"] = data["long2"].isel(subject=[5])
    monkeypatch.setattr(experiment, "load_dataset", lambda name: data[name.removeprefix("Malania2007.")])
    with pytest.raises(UserError, match="no subject"):
        load_thresholds("long2")


@pytest.mark.parametrize(
    ("labels", "expected"),
    [
        (["left", "right", "left"], "vernier_offset_arcsec"),
        ([0, 1, 0], "vernier_offset_arcsec"),
        ([10.0, 20.0, 30.0], "image_label"),
        (["10", "20", "30"], "image_label"),
    ],
)
def test_independent_variable(labels, expected):
    stimuli = StimulusSet({"image_label": labels, "vernier_offset_arcsec": [5.0, 10.0, 15.0]})
    assert independent_variable(stimuli) == expected


def test_signs_of_offsets_are_sides(monkeypatch):
    stimuli = StimulusSet({"image_label": ["left", "right"], "vernier_offset_arcsec": [-5.0, 5.0]})
    monkeypatch.setattr(experiment, "load_stimulus_set", lambda name: stimuli)
    assert experiment.load_test_stimuli("short2")["vernier_offset_arcsec"].tolist() == [5.0, 5.0]


def test_unknown_condition():
    with pytest.raises(UserError, match="short2"):
        ThresholdElevation("tiny3")


def test_a_model_without_probabilities_is_not_applicable(stand_ins):
    with pytest.raises(NotApplicable):
        load_benchmark("Malania2007.short2-threshold_elevation")(RecordedDecisions("labels", {}, visual_degrees=3))


@pytest.mark.private_access
@pytest.mark.parametrize("name", DATASETS)
def test_published_ceiling(name):
    assert float(load_benchmark(f"Malania2007.{name}").ceiling) == pytest.approx(CEILINGS[name], abs=0.001)


@pytest.mark.private_access
def test_published_mean_ceiling():
    ceilings = [float(load_benchmark(f"Malania2007.{name}").ceiling) for name in DATASETS]
    assert np.mean(ceilings) == pytest.approx(0.5757928329186803, abs=0.001)


@pytest.mark.private_access
@pytest.mark.parametrize("name", DATASETS)
def test_published_score(name):
    assert float(load_benchmark(f"Malania2007.{name}")(load_model("alexnet"))) == pytest.approx(0.0, abs=0.001)
