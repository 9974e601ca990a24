import numpy as np
import pytest

from brainscore_core.errors import NotApplicable, UserError
from brainscore_core.numerics import compare_rdms, rdm
from brainscore_core.statistics.comparison import compare_scores
from brainscore_core.supported_data_standards.brainio.assemblies import NeuroidAssembly
from brainscore_vision import load_benchmark, load_dataset, load_model
from brainscore_vision.benchmarks.simulated2026.benchmark import simulated2026
from brainscore_vision.model_helpers.images import load_grey
from brainscore_vision.model_helpers.static_features import FeatureModel
from brainscore_vision.simulated_experiment import SplitHalfRDM

SLOW = pytest.mark.slow(reason="a model on 800 stimuli, with an interval of its score")
IDENTIFIERS = [f"Simulated2026.{region}-{metric}" for region in ("V1", "IT") for metric in ("pls", "rdm")]


@pytest.fixture(scope="module")
def benchmarks():
    return {identifier: load_benchmark(identifier) for identifier in IDENTIFIERS}


@pytest.mark.parametrize("identifier", IDENTIFIERS)
def test_is_labelled_a_control(identifier, benchmarks):
    benchmark = benchmarks[identifier]
    assert benchmark.identifier == identifier
    assert benchmark.control is True
    assert benchmark.parent == "control"
    assert benchmark.region in identifier


@SLOW
@pytest.mark.parametrize("identifier", IDENTIFIERS)
def test_the_truth_reaches_the_ceiling_and_pixels_do_not(identifier, benchmarks):
    truth, pixels = (benchmarks[identifier](load_model(name)) for name in ("simulated-truth", "pixels"))
    low, high = truth.attrs["unclamped_ci"]
    assert low < 1 < high
    assert high - low < 0.7  # eight objects; an interval that holds everything would say nothing
    assert truth.attrs["unclamped"] > 0.95
    assert 0.5 < float(truth.attrs["raw"]) < 1
    assert float(truth.attrs["ceiling"]) < 1
    assert pixels.attrs["ci"][1] < 0.1
    found = compare_scores(truth, pixels)
    assert found.p < 0.01
    assert 0.6 < found.ci[0] < found.difference < found.ci[1]  # over eight objects


@SLOW
@pytest.mark.parametrize("identifier", ["Simulated2026.V1-rdm", "Simulated2026.V1-pls"])
def test_gabor_is_in_between(identifier, benchmarks):
    score = benchmarks[identifier](load_model("gabor"))
    low, high = score.attrs["ci"]
    assert 0.1 < low < float(score) < high <= 1  # pixels stay below 0.1, see above


@pytest.mark.parametrize("region", ["V1", "IT"])
def test_estimated_reliability_is_the_true_one(region, benchmarks):
    """True reliabilities are known in closed form; see `reliability_of`."""
    true = load_dataset("Simulated2026").sel(region=region)["reliability"].values
    ceiling = benchmarks[f"Simulated2026.{region}-pls"].ceiling
    low, high = ceiling.attrs["ci"]
    assert low < np.median(true) < high
    assert float(ceiling) == pytest.approx(np.median(true), abs=0.01)
    per_neuroid = ceiling.attrs["raw"]
    per_neuroid = per_neuroid.mean("split") if "split" in per_neuroid.dims else per_neuroid
    np.testing.assert_allclose(per_neuroid.values, true, atol=0.05)
    assert np.mean(per_neuroid.values - true) == pytest.approx(0, abs=0.005)


def expected_responses(region):
    model = load_model("simulated-truth")
    model.start_recording(region, [(70, 170)])
    return model.look_at(load_dataset("Simulated2026").stimulus_set)


@SLOW
@pytest.mark.parametrize("region", ["V1", "IT"])
def test_rdm_ceiling_is_what_the_truth_reaches_in_repeated_experiments(region, benchmarks):
    """Draw the noise anew, again and again: mean correlation of the true RDM with the measured ones."""
    expected = expected_responses(region).values.astype(float)
    noise_sd = load_dataset("Simulated2026").sel(region=region)["noise_sd"].values / np.sqrt(12)
    rng = np.random.default_rng(11)
    true = rdm(expected)
    reached = [
        compare_rdms(true, rdm(expected + noise_sd * rng.standard_normal(expected.shape))).value for _ in range(5)
    ]
    ceiling = benchmarks[f"Simulated2026.{region}-rdm"].ceiling
    low, high = ceiling.attrs["ci"]
    assert low < np.mean(reached) < high
    assert float(ceiling) == pytest.approx(np.mean(reached), abs=0.005)


def measured(values, repetitions):
    stimuli = values.shape[0] // repetitions
    return NeuroidAssembly(
        values,
        coords={
            "stimulus_id": ("presentation", np.tile([f"s{i:03d}" for i in range(stimuli)], repetitions)),
            "repetition": ("presentation", np.repeat(np.arange(repetitions), stimuli)),
            "neuroid_id": ("neuroid", np.arange(values.shape[1])),
            "region": ("neuroid", ["IT"] * values.shape[1]),
        },
        dims=["presentation", "neuroid"],
    )


def test_rdm_ceiling_covers_the_known_value():
    """Known expected responses, new stimuli and noise each time: the interval must hold the mean that truth reaches."""
    rng = np.random.default_rng(4)
    holds = []
    for _ in range(40):
        expected = rng.standard_normal((40, 6)) @ rng.standard_normal((6, 50)) + 8 * rng.standard_normal(50)
        noise = 2.0 * rng.standard_normal((4, 40, 50))
        ceiling = SplitHalfRDM(splits=3)(measured((expected + noise).reshape(-1, 50), 4))
        again = expected + 2.0 * rng.standard_normal((20, 4, 40, 50)).mean(axis=1)
        reached = np.mean([compare_rdms(rdm(expected), rdm(one)).value for one in again])
        low, high = ceiling.attrs["ci"]
        holds.append(low < reached < high)
    assert np.mean(holds) >= 0.85


def test_rdm_ceiling_without_noise_is_one():
    responses = np.random.default_rng(0).standard_normal((10, 20))
    ceiling = SplitHalfRDM(splits=2)(measured(np.tile(responses, (4, 1)), 4))
    assert float(ceiling) == pytest.approx(1)
    assert ceiling.attrs["meaning"] == "upper bound"


def test_rdm_ceiling_says_what_is_wrong():
    with pytest.raises(UserError, match="at least two"):
        SplitHalfRDM()(measured(np.random.default_rng(0).standard_normal((10, 20)), 1))
    rng = np.random.default_rng(2)
    noise_only = measured(rng.standard_normal((4 * 30, 20)), 4)
    with pytest.raises(UserError, match="noise only"):
        SplitHalfRDM(splits=20)(noise_only)


def test_what_there_is_not():
    with pytest.raises(UserError, match="'V4'"):
        simulated2026("V4", "pls")


def test_a_model_without_the_region_is_not_applicable(benchmarks):
    model = FeatureModel("blind", layers={"grey": np.stack}, region_layer_map={"V1": "grey"}, load=load_grey)
    with pytest.raises(NotApplicable, match="no region 'IT'"):
        benchmarks["Simulated2026.IT-rdm"](model)
