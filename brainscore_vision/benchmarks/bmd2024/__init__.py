"""Whether models name textured silhouettes and dotted outlines as accurately as people (BMD 2024)."""

from functools import partial

from brainscore_vision import benchmark_registry
from brainscore_vision.benchmark_helpers.metadata import read_metadata
from brainscore_vision.benchmarks.bmd2024.benchmark import BMD2024AccuracyDistance

METADATA = read_metadata(__file__)

for _condition in ("texture_1", "texture_2", "dotted_1", "dotted_2"):
    benchmark_registry[f"BMD2024.{_condition}Behavioral-accuracy_distance"] = partial(
        BMD2024AccuracyDistance, _condition
    )
