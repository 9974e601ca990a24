"""Predictivity of and similarity to human visual cortex (7T fMRI) on pictures from the web (Zerbe et al. 2026)."""

from functools import partial

from brainscore_core.plugins.tables import table_keys
from brainscore_vision import benchmark_registry
from brainscore_vision.benchmark_helpers.metadata import read_metadata
from brainscore_vision.benchmarks.laion_fmri.benchmark import make
from brainscore_vision.data.laion_fmri import BIBTEX

METADATA = read_metadata(__file__, bibtex=BIBTEX)

for _key in table_keys(__file__, "benchmarks.csv"):
    benchmark_registry[_key] = partial(make, _key)
