"""Predictivity of macaque V4 and IT on three sets of images (Sanghavi et al. 2020)."""

from functools import partial

from brainscore_core.plugins.tables import citations_by_key, table_keys
from brainscore_vision import benchmark_registry
from brainscore_vision.benchmark_helpers.metadata import read_metadata
from brainscore_vision.benchmark_helpers.table_benchmarks import make_benchmark
from brainscore_vision.data.sanghavi2020 import BIBTEX as ENTRIES

BIBTEX = citations_by_key(ENTRIES)
METADATA = read_metadata(__file__, bibtex={f"{study}.*": entry for study, entry in BIBTEX.items()})

for _key in table_keys(__file__, "benchmarks.csv"):
    benchmark_registry[_key] = partial(make_benchmark, __file__, _key, bibtex=BIBTEX[_key.partition(".")[0]])
