"""Scores of recordings on random halves of a benchmark's stimuli."""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from brainscore_core.benchmarks import Benchmark
from brainscore_core.supported_data_standards.brainio.assemblies import NeuroidAssembly
from brainscore_vision.model_helpers.brain_transformation.temporal import in_time_bins

Mask = NDArray[np.bool_]
"""Which stimuli belong to a part."""

PartScorer = Callable[[NeuroidAssembly, NDArray[Any]], float]
"""Function of recordings and the stimulus ids of a part; returns the raw score."""


def part_scorer(benchmark: Benchmark) -> tuple[NDArray[Any], PartScorer] | None:
    """Stimulus ids of a benchmark, and a function that scores recordings on a part of them; None if not supported.

    Supported are benchmarks that compare recordings of one set of stimuli, or matrices of all pairs, by a metric. The
    function returns the raw score, before division by the ceiling.
    """
    from brainscore_core.benchmarks.measurements import measurements_or_none
    from brainscore_vision.benchmark_helpers.measurements import VisualMeasurements

    measurements = measurements_or_none(benchmark)
    if not isinstance(measurements, VisualMeasurements) or measurements.compares not in {"recordings", "matrices"}:
        return None
    metric = measurements.metric
    if metric is None or measurements.training is not None:
        return None
    measured = measurements.target()
    if measured.sizes.get("time_bin") == 1:
        measured = measured.isel(time_bin=0, drop=True)
    of_stimuli = [dim for dim in measured.dims if str(dim).startswith("presentation")]  # both, of matrices
    shown = measured["stimulus_id"].values

    def score(recordings: NeuroidAssembly, stimuli: NDArray[Any]) -> float:
        recordings = in_time_bins(recordings, measurements.recorded_time_bins)
        recorded_part = recordings.isel(presentation=np.flatnonzero(np.isin(recordings["stimulus_id"].values, stimuli)))
        measured_part = measured.isel(dict.fromkeys(of_stimuli, np.flatnonzero(np.isin(shown, stimuli))))
        return float(metric(recorded_part, measured_part))

    return np.array(list(dict.fromkeys(shown)), dtype=object), score


def random_halves(number: int, times: int, seed: int) -> list[tuple[Mask, Mask]]:
    """Divide `number` stimuli into two random halves, `times` times."""
    random = np.random.RandomState(seed)  # gives the same numbers in all versions of NumPy
    halves = []
    for _ in range(times):
        first = np.zeros(number, dtype=bool)
        first[random.permutation(number)[: number // 2]] = True
        halves.append((first, ~first))
    return halves


def half_scores(
    stimuli: NDArray[Any], score: PartScorer, recordings: NeuroidAssembly, halves: list[tuple[Mask, Mask]]
) -> list[list[float]]:
    """Score the recordings of one layer on both halves of each division."""
    return [[score(recordings, stimuli[half]) for half in pair] for pair in halves]
