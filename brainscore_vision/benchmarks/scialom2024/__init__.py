"""Whether models name fragmented objects as people do (Scialom et al. 2024)."""

from functools import partial

from brainscore_core.plugins.tables import read_citation, table_keys
from brainscore_vision import benchmark_registry
from brainscore_vision.benchmark_helpers.metadata import read_metadata
from brainscore_vision.benchmark_helpers.table_benchmarks import make_benchmark

BIBTEX = read_citation(__file__)
METADATA = read_metadata(__file__, bibtex=BIBTEX)

for _key in table_keys(__file__, "benchmarks.csv"):
    benchmark_registry[_key] = partial(make_benchmark, __file__, _key, bibtex=BIBTEX)
