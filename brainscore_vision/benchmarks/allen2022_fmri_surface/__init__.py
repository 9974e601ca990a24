"""Predictivity of and similarity to human visual cortex (7T fMRI, surface) on natural scenes (Allen et al. 2022)."""

from brainscore_vision import benchmark_registry
from brainscore_vision.benchmark_helpers.metadata import read_metadata
from brainscore_vision.benchmark_helpers.table_benchmarks import make_benchmark
from brainscore_vision.data.allen2022_fmri_surface import BIBTEX

METADATA = read_metadata(__file__, bibtex=BIBTEX)

benchmark_registry.add_table(__file__, "benchmarks.csv", make_benchmark, bibtex=BIBTEX)
