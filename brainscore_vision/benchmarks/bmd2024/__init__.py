"""Whether models name textured silhouettes and dotted outlines as accurately as people (BMD 2024)."""

from functools import partial

from brainscore_core.plugins.tables import table_keys
from brainscore_vision import benchmark_registry
from brainscore_vision.benchmark_helpers.metadata import read_metadata
from brainscore_vision.benchmark_helpers.table_benchmarks import make_benchmark

METADATA = read_metadata(__file__)

for _key in table_keys(__file__, "benchmarks.csv"):
    benchmark_registry[_key] = partial(make_benchmark, __file__, _key, bibtex=None)
