"""Accuracy of a model relative to that of people, on silhouettes and outlines (BMD 2024)."""

from brainscore_core.benchmarks import Benchmark
from brainscore_vision.benchmark_helpers.table_benchmarks import make_benchmark


def BMD2024AccuracyDistance(condition: str) -> Benchmark:  # noqa: N802 -- the published name
    """Whether a model names objects as often rightly as people do: a row of ``benchmarks.csv``.

    `condition`: silhouettes filled with the character 3 or % (``'texture_1'``, ``'texture_2'``), or outlines of near or
    of distant dots (``'dotted_1'``, ``'dotted_2'``).
    """
    return make_benchmark(__file__, f"BMD2024.{condition}Behavioral-accuracy_distance", bibtex=None)
