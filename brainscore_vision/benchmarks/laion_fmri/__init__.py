"""Predictivity of and similarity to human visual cortex (7T fMRI) on pictures from the web (Zerbe et al. 2026)."""

from functools import partial

from brainscore_core.plugins.tables import table_keys
from brainscore_vision import benchmark_registry
from brainscore_vision.benchmark_helpers.metadata import read_metadata
from brainscore_vision.benchmark_helpers.table_benchmarks import make_benchmark
from brainscore_vision.benchmarks.laion_fmri.benchmark import Alignment, subjects_compared, subjects_predicted
from brainscore_vision.data.laion_fmri import BIBTEX

METADATA = read_metadata(__file__, bibtex=BIBTEX)

_KINDS = {
    "subjects predicted": subjects_predicted,
    "subjects compared": subjects_compared,
    "subjects aligned": Alignment,
}

for _key in table_keys(__file__, "benchmarks.csv"):
    benchmark_registry[_key] = partial(make_benchmark, __file__, _key, bibtex=BIBTEX, kinds=_KINDS)
