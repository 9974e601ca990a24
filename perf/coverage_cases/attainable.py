"""Intervals of what a perfect model would reach."""

import numpy as np

from brainscore_core.metrics import Score
from brainscore_core.supported_data_standards.brainio.assemblies import NeuroidAssembly
from brainscore_vision import load_ceiling, load_metric
from brainscore_vision.assessment.attainable import attainable
from brainscore_vision.benchmark_helpers.neural_common import NeuralBenchmark, average_repetition, relate_to_ceiling

from .case import Case, coords

__all__ = ["CASES"]

NEUROIDS, LATENTS, REPETITIONS = 40, 40, 4


def _assembly(values, stimuli, **columns):
    where = coords("presentation", stimulus_id=stimuli, **columns)
    where |= coords("neuroid", neuroid_id=np.arange(values.shape[1]))
    return NeuroidAssembly(values, coords=where, dims=["presentation", "neuroid"])


def _case(name, reliability, simulations=200, **options):
    metric, ceiler = load_metric(name, **options), load_ceiling("internal_consistency")

    def draw(rng, n) -> Score:
        """The estimate less the score of the expected responses of this experiment."""
        latents = rng.standard_normal((n, LATENTS)) / np.sqrt(np.arange(1, LATENTS + 1))
        signal = np.tanh(latents @ rng.standard_normal((LATENTS, NEUROIDS)))
        signal /= signal.std(axis=0)
        size = np.sqrt(REPETITIONS * (1 - reliability) / reliability) * rng.uniform(0.6, 1.4, NEUROIDS)
        values = signal + size * rng.standard_normal((REPETITIONS, n, NEUROIDS))
        names = np.array([f"s{i:04}" for i in range(n)])
        repetition = np.repeat(np.arange(REPETITIONS), n)
        repeated = _assembly(values.reshape(-1, NEUROIDS), np.tile(names, REPETITIONS), repetition=repetition)
        averaged, ceiling = average_repetition(repeated), ceiler(repeated)
        if metric.scale == "similarity":
            ceiling.attrs["meaning"] = "none"

        benchmark = NeuralBenchmark("Simulated.IT", averaged, metric, 8, 1, lambda: ceiling, 1, repetitions=repeated)
        found = attainable(benchmark)
        true = float(relate_to_ceiling(metric(_assembly(signal, names), averaged), ceiling))
        difference = Score(float(found) - true)
        low, high = found.attrs["ci"]
        difference.attrs["ci"] = (low - true, high - true)
        return difference

    return Case(
        [f"{name}, reliability {reliability:g}"],
        f"stimuli, and {NEUROIDS} neuroids",
        "score of the expected responses in the same experiment",
        draw,
        lambda scores, n: 0.0,
        sizes=(50, 100, 200),
        simulations=simulations,
    )


CASES = [
    _case(name, reliability, **options)
    for name, options in (("ridge", {}), ("pls", {}), ("rdm", {}))
    for reliability in (0.3, 0.5, 0.9)
]
