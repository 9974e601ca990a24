"""What a perfect model would reach."""

import numpy as np
import pytest

from brainscore_core.errors import UserError
from brainscore_core.supported_data_standards.brainio.assemblies import NeuroidAssembly
from brainscore_vision import load_benchmark, load_ceiling, load_metric
from brainscore_vision.assessment.attainable import attach_attainable, attainable
from brainscore_vision.benchmark_helpers.neural_common import NeuralBenchmark, average_repetition

STIMULI, NEUROIDS, REPETITIONS = 60, 20, 4


def _benchmark(reliability, *, seed=0, metric="ridge", keep_repetitions=True):
    """A benchmark on simulated recordings, and its score of the expected responses."""
    rng = np.random.default_rng(seed)
    signal = rng.standard_normal((STIMULI, 30)) / np.sqrt(np.arange(1, 31)) @ rng.standard_normal((30, NEUROIDS))
    signal /= signal.std(axis=0)
    noise = np.sqrt(REPETITIONS * (1 - reliability) / reliability)
    values = signal + noise * rng.standard_normal((REPETITIONS, STIMULI, NEUROIDS))
    names = np.array([f"s{i:02}" for i in range(STIMULI)])

    def assembly(values, **columns):
        coords = {name: ("presentation", column) for name, column in columns.items()}
        coords["neuroid_id"] = ("neuroid", np.arange(NEUROIDS))
        coords["region"] = ("neuroid", ["IT"] * NEUROIDS)
        return NeuroidAssembly(values, coords=coords, dims=["presentation", "neuroid"])

    repeated = assembly(
        values.reshape(-1, NEUROIDS),
        stimulus_id=np.tile(names, REPETITIONS),
        repetition=np.repeat(np.arange(REPETITIONS), STIMULI),
    )
    compare, ceiling = load_metric(metric), load_ceiling("internal_consistency")(repeated)
    shuffled = average_repetition(repeated).isel(presentation=rng.permutation(STIMULI))
    benchmark = NeuralBenchmark(
        identifier="Simulated.IT-ridge",
        assembly=shuffled,
        similarity_metric=compare,
        visual_degrees=8,
        number_of_trials=1,
        ceiling_func=lambda: ceiling,
        version=1,
        repetitions=repeated if keep_repetitions else None,
    )
    raw = float(compare(assembly(signal, stimulus_id=names), shuffled))
    return benchmark, raw**2 / float(ceiling)


@pytest.mark.parametrize(("reliability", "width"), [(0.35, 1.4), (0.5, 1.2), (0.9, 0.2)])
def test_holds_the_score_of_the_true_expected_responses(reliability, width):
    benchmark, true = _benchmark(reliability, seed=1)
    score = attainable(benchmark, simulations=6)
    low, high = score.attrs["ci"]
    assert low < true < high
    assert high - low < width
    assert score.attrs["reliability"] == pytest.approx(reliability, abs=0.12)
    assert score.attrs["ci_estimates"] == "score of a perfect model on these recordings; 6 simulated experiments"
    assert score.attrs["raw"].shape == (6,)


def test_recordings_that_are_noise_have_no_estimate():
    benchmark, _ = _benchmark(0.1)
    score = attainable(benchmark, simulations=3)
    assert np.isnan(float(score))
    assert score.attrs["ci_reason"].endswith("is below 0.3")


def test_is_kept_with_the_ceiling_and_divides_nothing():
    benchmark, _ = _benchmark(0.9)
    before = float(benchmark.ceiling)
    ceiling = attach_attainable(benchmark, simulations=3)
    assert ceiling is benchmark.ceiling
    assert attach_attainable(benchmark, simulations=4).attrs["attainable"] is ceiling.attrs["attainable"]
    assert ceiling.attrs["attainable"].attrs["raw"].size == 3
    assert float(benchmark.ceiling) == before
    assert float(attainable(benchmark, simulations=3)) == float(ceiling.attrs["attainable"])  # seeded


def test_few_simulations_do_not_tell_how_much_they_vary():
    with pytest.raises(ValueError, match="simulations is 2; at least 3"):
        attainable(_benchmark(0.9)[0], simulations=2)


def test_what_cannot_be_simulated_is_an_error():
    with pytest.raises(UserError, match=r"on .Simulated2026\.V1:rdm_crossnobis. cannot be simulated"):
        attainable(load_benchmark("Simulated2026.V1:rdm_crossnobis"))
    with pytest.raises(UserError, match=r"single repetitions of the recordings of .Simulated\.IT-ridge. are not known"):
        attainable(_benchmark(0.9, keep_repetitions=False)[0])
    benchmark, _ = _benchmark(0.9)
    benchmark._assembly = benchmark._assembly.isel(neuroid=slice(1, None))
    with pytest.raises(UserError, match="of different neuroids"):
        attainable(benchmark)


@pytest.mark.slow(reason="twenty PLS regressions with ten splits")
def test_holds_the_score_of_the_model_that_generated_the_recordings():
    from brainscore_vision import load_model

    benchmark = load_benchmark("Simulated2026.V1-pls")
    low, high = attainable(benchmark).attrs["ci"]
    assert low < benchmark(load_model("simulated-truth")).attrs["unclamped"] < high
