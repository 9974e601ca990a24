import numpy as np
import pytest

from brainscore_core.supported_data_standards.brainio.assemblies import NeuroidAssembly
from brainscore_vision import load_benchmark, load_stimulus_set
from brainscore_vision.benchmark_helpers import PrecomputedFeatures
from brainscore_vision.benchmarks.igustibagus2024 import keep_backgrounds_apart
from brainscore_vision.testing import small_models

SIMULATED = {
    "Igustibagus2024-ridge": 0.9401,
}
"""Raw scores of a small model on simulated data of the same form: they say nothing about brains."""

OF_ITSELF = {
    "Igustibagus2024-ridge": 1,
}


@pytest.mark.filterwarnings("ignore:Duplicate dimension names")
@pytest.mark.parametrize("identifier", SIMULATED)
def test_simulated_data(stand_ins, identifier):
    benchmark = load_benchmark(identifier)
    score = benchmark(small_models(visual_degrees=8)[0])
    assert float(score.attrs["raw"]) == pytest.approx(SIMULATED[identifier], abs=1e-3)
    assert 0 < float(benchmark.ceiling) <= 1


@pytest.mark.private_access
@pytest.mark.parametrize("identifier", OF_ITSELF)
def test_published_score_of_the_recordings(identifier):
    benchmark = load_benchmark(identifier)
    model = PrecomputedFeatures(benchmark._assembly.content, visual_degrees=benchmark._visual_degrees)
    assert float(benchmark(model).attrs["raw"]) == pytest.approx(OF_ITSELF[identifier], abs=0.005)


@pytest.mark.private_access
def test_published_size():
    recordings = load_benchmark("Igustibagus2024-ridge")._assembly.content
    assert (recordings.sizes["presentation"], recordings.sizes["neuroid"]) == (780, 110)


def test_reliability_is_that_of_all_styles_on_all_stimuli(stand_ins):
    """The first neuroid is unreliable on a style that is not compared; the second animal did not see another one."""
    recordings = load_benchmark("Igustibagus2024-ridge")._assembly.content
    assert set(recordings["animal"].values) == {"Pico"}
    assert 0 not in recordings["neuroid_id"].values
    assert recordings.sizes["neuroid"] == 5
    assert not np.isnan(recordings.values).any()


def random_features(stimuli):
    """300 units that know nothing about the stimuli."""
    return NeuroidAssembly(
        np.random.default_rng(0).standard_normal((len(stimuli), 300)),
        coords={
            "stimulus_id": ("presentation", stimuli["stimulus_id"].to_numpy()),
            "neuroid_id": ("neuroid", np.arange(300)),
        },
        dims=["presentation", "neuroid"],
    )


def test_readout_of_random_features_is_at_chance(stand_ins):
    benchmark = load_benchmark("Igustibagus2024.IT_readout-accuracy")
    benchmark.n_splits = 5
    features = random_features(load_stimulus_set("Igustibagus2024"))
    score = benchmark(PrecomputedFeatures(features, visual_degrees=8))
    assert float(score) == pytest.approx(0.5, abs=0.05)
    assert float(benchmark.ceiling) == 1
    assert len(score.attrs["raw"].attrs["raw"]["domain"]) == 13


@pytest.mark.private_access
@pytest.mark.slow
def test_published_readout_of_random_features():
    features = random_features(load_stimulus_set("Igustibagus2024"))
    score = load_benchmark("Igustibagus2024.IT_readout-accuracy")(PrecomputedFeatures(features, visual_degrees=8))
    assert float(score) == pytest.approx(0.5, abs=0.02)


def test_no_silhouette_of_a_tested_object_is_trained_on():
    source = NeuroidAssembly(
        np.zeros((6, 1)),
        coords={"background_id": ("presentation", [0, 1, 1, 2, 0, 2]), "neuroid_id": ("neuroid", [0])},
        dims=["presentation", "neuroid"],
    )
    train, test = keep_backgrounds_apart(np.array([0, 1, 3]), np.array([2, 4]), source)
    assert (train.tolist(), test.tolist()) == ([0, 3], [2, 4])
