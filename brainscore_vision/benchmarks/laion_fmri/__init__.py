"""Predictivity of and similarity to human visual cortex (7T fMRI) on pictures from the web (Zerbe et al. 2026)."""

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

benchmark_registry.add_table(__file__, "benchmarks.csv", make_benchmark, bibtex=BIBTEX, kinds=_KINDS)
