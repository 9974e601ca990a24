"""Whether flankers elevate models' thresholds for vernier offsets as they do people's (Malania et al. 2007)."""

from functools import partial

from brainscore_vision import benchmark_registry
from brainscore_vision.benchmark_helpers.metadata import read_metadata
from brainscore_vision.benchmarks.malania2007.acuity import VernierAcuity
from brainscore_vision.benchmarks.malania2007.benchmark import ThresholdElevation
from brainscore_vision.data.malania2007 import BIBTEX

METADATA = read_metadata(__file__, bibtex=BIBTEX)

for _condition in ("short2", "short4", "short6", "short8", "short16", "equal2", "long2", "equal16", "long16"):
    benchmark_registry[f"Malania2007.{_condition}-threshold_elevation"] = partial(ThresholdElevation, _condition)
benchmark_registry["Malania2007.vernieracuity-threshold"] = VernierAcuity
