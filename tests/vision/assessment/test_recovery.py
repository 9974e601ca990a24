"""Whether recovery finds true models as often as an independent simulation does."""

import json

import numpy as np
import pytest
from scipy.spatial.distance import pdist
from scipy.stats import binomtest
from sklearn.linear_model import Ridge, RidgeCV
from sklearn.model_selection import ShuffleSplit

from brainscore_core import parallel
from brainscore_core.errors import UserError
from brainscore_core.metric_helpers.alignment import MetricInputError
from brainscore_core.supported_data_standards.brainio.assemblies import NeuroidAssembly
from brainscore_core.supported_data_standards.brainio.stimuli import StimulusSet
from brainscore_vision import load_ceiling, load_metric, load_model
from brainscore_vision.assessment.recovery import recover
from brainscore_vision.assessment.simulation import Candidate, Experiment, Generator, Mixture
from brainscore_vision.benchmark_helpers.neural_common import (
    NeuralBenchmark,
    RSABenchmark,
    TrainTestNeuralBenchmark,
    average_repetition,
)
from brainscore_vision.benchmark_helpers.precomputed import PrecomputedFeatures
from brainscore_vision.testing import small_models

REPETITIONS = 4
UNITS = ["sampled units"]


def _assembly(values, **columns):
    coords = {name: ("presentation", column) for name, column in columns.items()}
    coords["neuroid_id"] = ("neuroid", np.arange(values.shape[1]))
    coords["region"] = ("neuroid", ["IT"] * values.shape[1])
    return NeuroidAssembly(values, coords=coords, dims=["presentation", "neuroid"])


def _benchmark(metric="ridge", *, stimuli=40, neuroids=10, reliability=0.6, seed=0, identifier="Simulated.IT"):
    """A benchmark on simulated recordings; noise is shared by neighbouring neuroids."""
    rng = np.random.default_rng(seed)
    signal = rng.standard_normal((stimuli, neuroids))
    noise = rng.standard_normal((REPETITIONS, stimuli, neuroids + 1))
    noise = (noise[..., 1:] + noise[..., :-1]) / np.sqrt(2)
    scale = np.linspace(1, 5, neuroids)
    values = scale * (signal + np.sqrt(REPETITIONS * (1 - reliability) / reliability) * noise)
    names = np.array([f"s{number:03}" for number in range(stimuli)])
    repeated = _assembly(
        values.reshape(-1, neuroids),
        stimulus_id=np.tile(names, REPETITIONS),
        repetition=np.repeat(np.arange(REPETITIONS), stimuli),
    )
    repeated.attrs["stimulus_set"] = StimulusSet({"stimulus_id": names})
    ceiler = load_ceiling("internal_consistency")
    return NeuralBenchmark(
        identifier=identifier,
        assembly=average_repetition(repeated),
        similarity_metric=load_metric(metric),
        visual_degrees=8,
        number_of_trials=1,
        ceiling_func=lambda: ceiler(repeated),
        version=1,
        repetitions=repeated,
    )


def _nested(stimuli, *, seed):
    """Features of two candidates that share most of their factors."""
    rng = np.random.default_rng(seed)
    shared = rng.standard_normal((stimuli, 6))
    own = rng.standard_normal((2, stimuli, 4))
    return {
        name: np.column_stack([shared, part]) @ rng.standard_normal((10, 30))
        for name, part in zip(("first", "second"), own, strict=True)
    }


def _independent(candidates, *, neuroids, reliability, experiments, seed):
    """How often the true candidate has the best cross-validated correlation, with NumPy and scikit-learn alone."""
    rng = np.random.default_rng(seed)
    found = 0
    for true in candidates:
        for _ in range(experiments):
            units = candidates[true][:, rng.permutation(candidates[true].shape[1])[:neuroids]]
            units = (units - units.mean(axis=0)) / units.std(axis=0)
            noisy = np.sqrt(reliability) * units + np.sqrt(1 - reliability) * rng.standard_normal(units.shape)
            scores = {}
            for name, features in candidates.items():
                medians = []
                for train, test in ShuffleSplit(10, train_size=0.9, random_state=1).split(features):
                    predicted = Ridge(alpha=1.0).fit(features[train], noisy[train]).predict(features[test])
                    sides = [side - side.mean(axis=0) for side in (predicted, noisy[test])]
                    one, other = (side / np.linalg.norm(side, axis=0) for side in sides)
                    medians.append(np.median((one * other).sum(axis=0)))
                scores[name] = np.mean(medians)
            found += max(scores, key=scores.get) == true
    return found / (experiments * len(candidates))


@pytest.mark.parametrize(
    ("reliability", "repetitions", "lowest", "highest"),
    [
        pytest.param(0.1, 40, 0.5, 0.85, marks=pytest.mark.slow(reason="160 experiments, half of them fitted twice")),
        pytest.param(0.35, 60, 0.85, 0.99, marks=pytest.mark.slow(reason="240 experiments, half of them fitted twice")),
    ],
)
def test_agrees_with_an_independent_simulation(reliability, repetitions, lowest, highest):
    """Takes seconds: 80 experiments of each implementation, with ten splits."""
    candidates = _nested(30, seed=3)
    recovery = recover(
        _benchmark(stimuli=30, neuroids=8),
        candidates,
        repetitions=repetitions,
        generators=UNITS,
        reliability=reliability,
        mixtures=[],
    )
    other = _independent(candidates, neuroids=8, reliability=reliability, experiments=repetitions, seed=5)
    overall = recovery.confusions[0].overall
    assert lowest < overall.share < highest
    # both have the binomial variance of twice as many experiments as repetitions
    assert abs(overall.share - other) < 3 * np.sqrt(2 * other * (1 - other) / (2 * repetitions))
    assert recovery.reliability_source == "stated"


def test_expected_responses_are_predictions_of_a_ridge_regression():
    benchmark = _benchmark()
    experiment = Experiment.of(benchmark, 1.0)
    features = np.random.default_rng(1).standard_normal((40, 25)) * np.linspace(1, 30, 25)
    simulated = Generator(experiment, "fitted readout", Candidate("one", features)).simulate(np.random.default_rng(0))
    recorded = benchmark._assembly.values
    penalties = np.sum((features - features.mean(axis=0)) ** 2) * np.logspace(-8, 2, 21)
    for column in range(recorded.shape[1]):
        predicted = RidgeCV(alphas=penalties).fit(features, recorded[:, column]).predict(features)
        expected = (predicted - predicted.mean()) / predicted.std()
        np.testing.assert_allclose(
            (simulated[:, column] - recorded[:, column].mean()) / recorded[:, column].std(), expected, atol=1e-6
        )


@pytest.mark.parametrize("generator", ["fitted readout", "sampled units", "random projections"])
def test_simulated_responses_have_the_measured_reliability_and_noise(generator):
    benchmark = _benchmark(stimuli=60, neuroids=6, reliability=0.5)
    experiment = Experiment.of(benchmark, None)
    assert np.median(experiment.reliability) == pytest.approx(0.5, abs=0.15)
    features = np.random.default_rng(1).standard_normal((60, 6)) * [1, 2, 4, 8, 16, 32]
    simulator = Generator(experiment, generator, Candidate("one", features))
    drawn = np.stack([simulator.simulate(np.random.default_rng([7, number])) for number in range(400)])
    if generator == "fitted readout":
        expected = drawn.mean(axis=0)
        signal = expected.var(axis=0) - drawn.var(axis=0).mean(axis=0) / 400
        noise = (drawn - expected).reshape(-1, 6)
        np.testing.assert_allclose(signal / (signal + noise.var(axis=0)), experiment.reliability, atol=0.02)
        np.testing.assert_allclose(np.corrcoef(noise.T), experiment.noise @ experiment.noise.T, atol=0.03)
        assert np.corrcoef(noise.T)[0, 1] == pytest.approx(0.5, abs=0.15)  # neighbours share noise, see _benchmark
    else:
        # units are drawn anew: their variance, and that of signal and noise together, are those of the features
        total = drawn.var(axis=1).mean()
        assert total == pytest.approx(np.mean(features.var(axis=0)), rel=0.15)


@pytest.mark.parametrize("true", [0.2, 0.6])
def test_reliabilities_are_those_of_the_neuroids_without_their_sampling_noise(true):
    estimates = np.stack(
        [Experiment.of(_benchmark(neuroids=30, reliability=true, seed=seed), None).reliability for seed in range(12)]
    )
    # signal is drawn, too: noise of the mean over 12 × 30 neuroids is about .02
    assert estimates.mean() == pytest.approx(true, abs=0.06)
    unshrunk = (1 - true) * np.sqrt(2 / 39 + 2 / 120)
    assert estimates.std() < 0.7 * unshrunk


def test_recovery_depends_on_features_being_scaled_alike():
    """Many small units follow one factor, few large ones another: raw and standardised features have other geometries.

    Responses of standardised units of `first` are closer to the raw features of `second`, so rdm finds that one.
    """
    rng = np.random.default_rng(0)
    often, seldom = rng.standard_normal((2, 40, 5))
    first = np.column_stack([often @ rng.standard_normal((5, 60)), 50 * seldom @ rng.standard_normal((5, 6))])
    second = (often + 0.7 * rng.standard_normal(often.shape)) @ rng.standard_normal((5, 60))
    raw = {"first": first, "second": second}
    standardised = {name: (part - part.mean(axis=0)) / part.std(axis=0) for name, part in raw.items()}
    options = {"repetitions": 12, "generators": UNITS, "mixtures": [], "reliability": 0.8}
    benchmark = _benchmark("rdm", neuroids=30)
    alike = recover(benchmark, standardised, **options).confusions[0]
    assert alike.counts == [[12, 0], [0, 12]]
    differing = recover(benchmark, raw, generated_from=standardised, **options)
    assert differing.confusions[0].counts == [[0, 12], [0, 12]]
    assert "first, second are simulated from other features" in differing.text()
    # a regression that is fitted to each neuroid does not depend on geometry
    fitted = recover(_benchmark("linear_predictivity", neuroids=30), raw, generated_from=standardised, **options)
    assert fitted.confusions[0].counts == [[12, 0], [0, 12]]


@pytest.mark.slow(reason="110 experiments, each scored twice")
def test_power_grows_with_the_share_of_the_other_candidate():
    candidates = _nested(40, seed=1)
    recovery = recover(
        _benchmark(),
        candidates,
        repetitions=10,
        mixtures=[("second", "first")],
        weights=[1.0, 0.02, 0.5],
        reliability=0.8,
    )
    assert [power.generator for power in recovery.mixtures] == ["fitted readout", "sampled units"]
    power = recovery.mixtures[1]
    assert (power.first, power.second, power.weights) == ("second", "first", [1.0, 0.02, 0.5])
    full, little, half = (share.share for share in power.found)
    assert little <= half <= full
    assert full == 1
    assert power.smallest == min(w for w, share in zip(power.weights, power.found, strict=True) if share.share >= 0.8)
    noise = recover(
        _benchmark(), candidates, repetitions=10, generators=UNITS, reliability=0.01, weights=[0.02], seed=2
    )
    assert noise.mixtures[0].smallest is None
    assert noise.mixtures[0].reason == "no weight up to 0.02 is found in 80 %"


def test_mixtures_are_sums_of_units_with_equal_spread():
    rng = np.random.default_rng(0)
    first, second = rng.standard_normal((50, 7)), 100 * rng.standard_normal((50, 3)) + 4
    models = [Candidate("first", first), Candidate("second", second)]
    mixture = Mixture(*models, 0.25, np.random.default_rng(1))
    columns = mixture.columns(np.arange(mixture.units))
    scaled = second * models[0].spread / models[1].spread
    pairs = 0.75 * first[:, :, None] + 0.25 * scaled[:, None, :]
    distances = np.abs(columns[:, None, None, :] - pairs[..., None]).max(axis=0)  # first × second × unit
    partners = [np.unravel_index(distances[..., unit].argmin(), (7, 3)) for unit in range(7)]
    assert distances.min(axis=(0, 1)).max() < 1e-12
    assert sorted(int(one) for one, _ in partners) == list(range(7))
    assert {int(other) for _, other in partners} == {0, 1, 2}


def test_rotated_features_have_the_same_scores():
    rng = np.random.default_rng(0)
    values = np.maximum(rng.standard_normal((40, 6)) @ rng.standard_normal((6, 9000)) + 1, 0)  # several blocks
    rotated = Candidate("wide", values).rotated
    assert rotated.shape[1] <= 41
    np.testing.assert_allclose(rotated @ rotated.T, values @ values.T, rtol=1e-9)
    np.testing.assert_allclose(pdist(rotated, "correlation"), pdist(values, "correlation"), atol=1e-9)
    np.testing.assert_allclose(rotated.sum(axis=1) / np.sqrt(rotated.shape[1]), values.sum(axis=1) / np.sqrt(9000))
    for metric, rotates in [("ridge", True), ("pls", True), ("rdm", True), ("cka", True), ("neuron_to_neuron", False)]:
        benchmark = _benchmark(metric)
        experiment = Experiment.of(benchmark, 0.5)
        experiment.simplify([Candidate("narrow", values[:, :5]), Candidate("wide", values)], 0)
        assert experiment.rotates is rotates
    names = benchmark._assembly["stimulus_id"].values
    ridge = _benchmark("ridge")
    found = recover(ridge, {"wide": values, "narrow": values[:, :5]}, repetitions=1, mixtures=[])
    direct = ridge._similarity_metric(_assembly(values, stimulus_id=names), ridge._assembly)
    assert found.scores[0] == pytest.approx(float(direct), abs=1e-6)


@pytest.mark.parametrize(
    "metric", ["pls", "ridge", "ridgecv", "linear_predictivity", "neuron_to_neuron", "rdm", "rdm_cosine", "cka"]
)
def test_scores_without_intervals_are_those_of_the_metric(metric):
    benchmark = _benchmark(metric)
    experiment = Experiment.of(benchmark, 0.5)
    features = np.random.default_rng(3).standard_normal((40, 39)) + benchmark._assembly.values[:, :1]
    source = _assembly(features, stimulus_id=benchmark._assembly["stimulus_id"].values)
    found = experiment.score(Candidate("one", features), experiment.target)
    assert found == pytest.approx(float(benchmark._similarity_metric(source, benchmark._assembly)), abs=1e-12)


@pytest.mark.parametrize(("coord", "leaves_out"), [("object_name", True), ("kind", False)])
def test_coordinates_that_determine_splits_are_kept(coord, leaves_out):
    benchmark = _benchmark()
    kinds = np.repeat(["a", "b", "c", "d"], 10)[np.random.default_rng(0).permutation(40)]
    order = np.random.default_rng(1).permutation(40)  # splits follow the first coordinate
    recorded = benchmark._assembly
    coords = {"session": order, coord: kinds, "stimulus_id": recorded["stimulus_id"].values}
    benchmark._assembly = _assembly(recorded.values, **coords)
    benchmark._similarity_metric = load_metric("ridge", crossvalidation_kwargs={"stratification_coord": coord})
    model = Candidate("one", np.random.default_rng(2).standard_normal((40, 20)) + recorded.values[:, :1])
    experiment = Experiment.of(benchmark, 0.5)
    experiment.simplify([model], 0)
    assert ("session" not in experiment.target.coords) is leaves_out
    source = _assembly(model.all, stimulus_id=recorded["stimulus_id"].values)
    assert experiment.score(model, experiment.target) == float(
        benchmark._similarity_metric(source, benchmark._assembly)
    )


@pytest.mark.slow(reason="a share per size needs 24 experiments, each scored twice")
def test_more_stimuli_and_neuroids_find_the_true_candidate_more_often():
    recovery = recover(
        _benchmark(),
        _nested(40, seed=1),
        repetitions=12,
        reliability=0.2,
        mixtures=[],
        stimuli=[12, 80],
        neuroids=[2, 60],
    )
    sizes = {(size.generator, size.stimuli, size.neuroids): size for size in recovery.sizes}
    assert len(sizes) == 8
    few, many = (sizes["sampled units", 40, number].overall.share for number in (2, 60))
    assert few + 0.1 < many
    assert sizes["sampled units", 12, 10].overall.share < recovery.confusions[1].overall.share
    assert sizes["fitted readout", 40, 60].overall is None
    assert sizes["fitted readout", 40, 60].reason == "readouts are fitted to the 10 recorded neuroids"
    for generator in recovery.generators:
        assert sizes[generator, 80, 10].reason == "features of only 40 stimuli are known"
    assert "80 stimuli, 10 neuroids: not simulated: features of only 40 stimuli are known" in recovery.text()


def test_equal_candidates_are_confused_at_random():
    features = _nested(40, seed=1)["first"]
    recovery = recover(
        _benchmark("cka"), {"one": features, "twin": features.copy()}, repetitions=30, generators=UNITS, mixtures=[]
    )
    (confusion,) = recovery.confusions
    assert [sum(row) for row in confusion.counts] == [30, 30]
    assert 10 <= confusion.counts[0][1] <= 20
    assert 10 <= confusion.counts[1][0] <= 20
    limits = binomtest(confusion.overall.found, 60).proportion_ci(0.95, method="exact")
    assert (confusion.overall.low, confusion.overall.high) == pytest.approx((limits.low, limits.high))


def test_a_result_names_its_candidates_and_is_repeatable():
    benchmark, candidates = _benchmark(), _nested(40, seed=1)
    states = []
    first = recover(benchmark, candidates, repetitions=2, seed=4, on_progress=states.append)
    again = recover(benchmark, candidates, repetitions=2, seed=4)
    assert first == again
    assert json.loads(json.dumps(first.to_dict()))["holds_for"] == (
        "These shares hold for these 2 candidates (first, second), for responses simulated by fitted readout and "
        "sampled units, and for the benchmark's own stimuli."
    )
    text = first.text()
    assert text.endswith(first.holds_for)
    assert "40 stimuli, 10 neuroids" in text
    assert "by chance 50 %" in text
    assert first.reliability_source == "measured"
    best = max(zip(first.scores, first.candidates, strict=True))[1]
    assert {power.first for power in first.mixtures} == {best}
    assert [state.done for state in states] == list(range(states[0].total))
    assert [state.step for state in states[:2]] == ["recordings of the benchmark", "features of first"]
    assert states[-1].step == "sampled units: second with 1 first is true, experiment 2"
    assert "first" in first.figure("fitted readout")
    with pytest.raises(UserError, match="no confusion matrix of 'random projections'"):
        first.figure("random projections")


def test_processes_give_the_same_result(monkeypatch):
    benchmark, candidates = _benchmark(), _nested(40, seed=1)
    options = {"repetitions": 3, "stimuli": [20], "weights": [0.5]}
    alone = recover(benchmark, candidates, **options)
    monkeypatch.setattr(parallel, "_processes", lambda: 2)
    monkeypatch.setattr(parallel, "WORTHWHILE", 0)
    states = []
    assert recover(benchmark, candidates, **options, on_progress=states.append) == alone
    assert [state.done for state in states] == list(range(states[0].total))


def test_candidates_are_models_assemblies_or_arrays():
    benchmark = _benchmark()
    features = _nested(40, seed=1)["first"]
    names = benchmark._assembly["stimulus_id"].values
    shuffled = np.random.default_rng(0).permutation(40)
    assembly = _assembly(features[shuffled], stimulus_id=names[shuffled])
    model = PrecomputedFeatures(assembly, visual_degrees=8, identifier="replayed")
    recovery = recover(
        benchmark, {"array": features, "assembly": assembly, "model": model}, repetitions=1, generators=UNITS
    )
    assert len(set(recovery.scores)) == 1
    assert recover(
        benchmark, [model, PrecomputedFeatures(assembly, 8)], repetitions=1, generators=UNITS
    ).candidates == [
        "replayed",
        "precomputed-features",
    ]


def test_few_units_are_replaced_by_projections():
    few = {name: part[:, :5] for name, part in _nested(40, seed=1).items()}
    recovery = recover(_benchmark(), few, repetitions=2, reliability=0.9, mixtures=[])
    assert recovery.notes == [
        f"{name} has 5 units that vary, fewer than the 10 neuroids: instead of units, random projections of them are "
        "drawn."
        for name in few
    ]
    assert recovery.confusions[1].counts == [[2, 0], [0, 2]]


@pytest.mark.slow(reason="makes several benchmarks")
def test_what_cannot_be_simulated_is_an_error():
    benchmark, candidates = _benchmark(), _nested(40, seed=1)
    with pytest.raises(UserError, match=r"recovery on .Simulated2026\.V1:rdm_crossnobis. cannot be simulated"):
        recover("Simulated2026.V1:rdm_crossnobis", ["pixels", "gabor"])
    unrepeated = _benchmark()
    unrepeated._repetitions = None
    with pytest.raises(UserError, match="single repetitions") as error:
        recover(unrepeated, candidates)
    assert error.value.remedy.endswith("; or state reliability=…")
    assert recover(unrepeated, candidates, reliability=0.5, repetitions=1, mixtures=[]).reliability == 0.5
    with pytest.raises(UserError, match="there are 1 candidates"):
        recover(benchmark, {"first": candidates["first"]})
    with pytest.raises(UserError, match=r"features of 'bad' are an array of shape \(39, 30\)"):
        recover(benchmark, {"bad": candidates["first"][1:], "other": candidates["second"]})
    with pytest.raises(UserError, match="features of 'bad' contain NaN or infinity: 40 values"):
        recover(benchmark, {"bad": np.where(np.arange(30) == 3, np.nan, candidates["first"]), "other": np.eye(40)})
    with pytest.raises(UserError, match="features of 'bad' are the same for all stimuli"):
        recover(benchmark, {"bad": np.ones((40, 3)), "other": np.eye(40)})
    with pytest.raises(MetricInputError, match="candidate 'few': PLS with 25 components requires"):
        recover(_benchmark("pls"), {"few": np.eye(40)[:, :5], "other": np.eye(40)})
    with pytest.raises(UserError, match="'pixel' is not a generator"):
        recover(benchmark, candidates, generators=["pixel"])
    with pytest.raises(UserError, match="'frist' is not a candidate") as error:
        recover(benchmark, candidates, mixtures=[("frist", "second")])
    assert error.value.remedy == "use first"
    with pytest.raises(UserError, match="several candidates are called 'pixels'"):
        recover(benchmark, ["pixels", "pixels"])
    with pytest.raises(UserError, match="candidates in a sequence are identifiers"):
        recover(benchmark, [np.eye(40), np.eye(40)])
    with pytest.raises(ValueError, match=r"a weight is 1\.5"):
        recover(benchmark, candidates, weights=[1.5])
    with pytest.raises(ValueError, match="reliability is 0"):
        recover(benchmark, candidates, reliability=0)
    with pytest.raises(ValueError, match="stimuli or neuroids is 0"):
        recover(benchmark, candidates, neuroids=[0])


@pytest.mark.slow(reason="two models on 800 stimuli")
def test_the_model_that_generated_the_recordings_is_found():
    """Named or not, with features of the images; the number of units differs."""
    models = [small_models()[0], load_model("simulated-truth")]
    recovery = recover("Simulated2026.IT-rdm", models, repetitions=3, generators=UNITS, mixtures=[])
    assert recovery.scores[1] > 0.5 > recovery.scores[0]
    assert recovery.confusions[0].counts == [[3, 0], [0, 3]]


def _train_test(*, overlap=0, alpha_coord=None):
    """A benchmark whose first 40 stimuli are for training, and whose last 20 are for testing, with repetitions."""
    rng = np.random.default_rng(5)
    names = np.array([f"s{number:03}" for number in range(60)])
    signal = rng.standard_normal((60, 8))
    repeated = signal + rng.standard_normal((REPETITIONS, 60, 8))

    def assembly(values, **columns):
        made = _assembly(values, **columns)
        made = made.assign_coords(subject=("neuroid", ["a"] * 5 + ["b"] * 3))
        made.attrs["stimulus_set"] = StimulusSet({"stimulus_id": np.unique(columns["stimulus_id"])})
        return made

    tested = assembly(
        repeated[:, 40:].reshape(-1, 8),
        stimulus_id=np.tile(names[40:], REPETITIONS),
        repetition=np.repeat(np.arange(REPETITIONS), 20),
    )
    ceiler = load_ceiling("internal_consistency")
    metric = "ridge_split"
    return TrainTestNeuralBenchmark(
        identifier="Simulated.IT-ridge_split",
        ceiling_func=lambda: ceiler(tested),
        version=1,
        repetitions=tested,
        train_assembly=assembly(repeated[0, : 40 + overlap], stimulus_id=names[: 40 + overlap]),
        test_assembly=average_repetition(tested),
        similarity_metric=load_metric(metric),
        visual_degrees=8,
        number_of_trials=1,
        alpha_coord=alpha_coord,
    )


@pytest.mark.parametrize(
    "alpha_coord", ["subject", pytest.param(None, marks=pytest.mark.slow(reason="fits many experiments"))]
)
def test_fixed_training_and_test_stimuli(alpha_coord):
    benchmark, candidates = _train_test(alpha_coord=alpha_coord), _nested(60, seed=1)
    shuffled = np.random.default_rng(0).permutation(60)
    names = np.concatenate([part["stimulus_id"].values for part in (benchmark.train_assembly, benchmark.test_assembly)])
    features = dict(zip(names, candidates["first"], strict=True))
    candidates["first"] = _assembly(np.stack([features[name] for name in names[shuffled]]), stimulus_id=names[shuffled])
    model = PrecomputedFeatures(candidates["first"], visual_degrees=8, identifier="replayed")
    sizes = [30] if alpha_coord is None else []
    recovery = recover(benchmark, candidates | {"model": model}, repetitions=4, stimuli=sizes, mixtures=[])
    direct = benchmark(model).attrs["raw"]
    assert recovery.scores[0] == recovery.scores[2] == pytest.approx(float(direct), abs=1e-9)
    assert (recovery.stimuli, recovery.neuroids, recovery.reliability_source) == (60, 8, "measured")
    assert 0.5 < recovery.reliability < 0.95  # true: 0.8, with four repetitions
    for confusion in recovery.confusions:
        first, second, _ = np.array(confusion.counts)
        assert first[[0, 2]].sum() >= 3  # the model is the first candidate
        assert second[1] >= 3
    assert [size.overall.experiments for size in recovery.sizes] == [12, 12][: 2 * len(sizes)]


def test_drawn_stimuli_are_for_training_and_testing():
    experiment = Experiment.of(_train_test(), None)
    rows = experiment.draw_stimuli(30, np.random.default_rng(0))
    assert experiment.training[rows].sum() == 20


def test_why_benchmarks_of_other_kinds_are_not_simulated():
    candidates = _nested(60, seed=1)
    with pytest.raises(UserError, match="2 stimuli are both for training and for testing"):
        recover(_train_test(overlap=2), candidates)
    recordings = _benchmark()._assembly.assign_coords(subject=("neuroid", ["a"] * 10))
    benchmark = RSABenchmark("Simulated.IT-rdm", 1, recordings, "IT", visual_degrees=8, number_of_trials=1)
    with pytest.raises(UserError, match="compares with each subject, whose reliability") as caught:
        recover(benchmark, candidates)
    assert "NeuralBenchmark" in caught.value.remedy
