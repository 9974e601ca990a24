"""Scores on halves of a benchmark's stimuli: a layer is chosen on one half and scored on the other."""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from brainscore_core.benchmarks import Benchmark
from brainscore_core.supported_data_standards.brainio.assemblies import NeuroidAssembly

__all__ = ["half_scores", "halves_of", "part_scorer"]

Part = NDArray[np.bool_]
PartScorer = Callable[[NeuroidAssembly, NDArray[Any]], float]


def part_scorer(benchmark: Benchmark) -> tuple[NDArray[Any], PartScorer] | None:
    """Stimuli of a benchmark, and what scores recordings on some of them; None where it cannot be scored in parts.

    The score is the metric's, before the ceiling.
    """
    from brainscore_vision.benchmark_helpers.neural_common import NeuralBenchmark
    from brainscore_vision.benchmarks.kriegeskorte2008 import benchmark as kriegeskorte2008

    if isinstance(benchmark, NeuralBenchmark):
        return _of_responses(benchmark)
    if isinstance(benchmark, kriegeskorte2008.Kriegeskorte2008HumanRDM | kriegeskorte2008.Kriegeskorte2008MonkeyRDM):
        return _of_dissimilarities(benchmark)
    return None


def halves_of(number: int, times: int, seed: int) -> list[tuple[Part, Part]]:
    """`times` random divisions of so many stimuli into two."""
    random = np.random.RandomState(seed)  # a stream that is frozen for ever
    halves = []
    for _ in range(times):
        first = np.zeros(number, dtype=bool)
        first[random.permutation(number)[: number // 2]] = True
        halves.append((first, ~first))
    return halves


def half_scores(
    stimuli: NDArray[Any], score: PartScorer, recordings: NeuroidAssembly, halves: list[tuple[Part, Part]]
) -> list[list[float]]:
    """Score of one layer on both halves of each division."""
    return [[score(recordings, stimuli[part]) for part in pair] for pair in halves]


def _of_responses(benchmark: Any) -> tuple[NDArray[Any], PartScorer]:
    measured = benchmark._assembly
    if "time_bin" in measured.dims and measured.sizes["time_bin"] == 1:
        measured = measured.isel(time_bin=0, drop=True)
    shown = measured["stimulus_id"].values

    def score(recordings: NeuroidAssembly, stimuli: NDArray[Any]) -> float:
        theirs = recordings.isel(presentation=np.flatnonzero(np.isin(recordings["stimulus_id"].values, stimuli)))
        ours = measured.isel(presentation=np.flatnonzero(np.isin(shown, stimuli)))
        return float(benchmark._similarity_metric(theirs, ours))

    return np.array(list(dict.fromkeys(shown)), dtype=object), score


def _of_dissimilarities(benchmark: Any) -> tuple[NDArray[Any], PartScorer]:
    from brainscore_core.numerics import compare_rdms, rdm
    from brainscore_core.numerics.dissimilarity import condensed, expanded
    from brainscore_vision.benchmarks.kriegeskorte2008.benchmark import subject_rdms

    assembly = benchmark._assembly.content
    shown = assembly.attrs["stimulus_set"]["stimulus_id"].to_numpy()
    measured = subject_rdms(assembly)[1] if "subject" in assembly.coords else assembly.values[:1]
    squares = [expanded(one) for one in measured]

    def score(recordings: NeuroidAssembly, stimuli: NDArray[Any]) -> float:
        rows = {name: row for row, name in enumerate(recordings["stimulus_id"].values)}
        here = np.flatnonzero(np.isin(shown, stimuli))
        patterns = recordings.transpose("presentation", "neuroid").values[[rows[name] for name in shown[here]]]
        dissimilarities = rdm(np.asarray(patterns, dtype=np.float64))
        parts = [condensed(one[np.ix_(here, here)]) for one in squares]
        return float(np.mean([compare_rdms(dissimilarities, part).value for part in parts]))

    return shown, score
