"""Whether models solve an image when macaque IT does (Kar et al. 2019)."""

from brainscore_vision import benchmark_registry
from brainscore_vision.benchmark_helpers.metadata import read_metadata
from brainscore_vision.benchmarks.kar2019.benchmark import DicarloKar2019OST

METADATA = read_metadata(__file__)

__all__ = ["DicarloKar2019OST"]

benchmark_registry["Kar2019-ost"] = DicarloKar2019OST
