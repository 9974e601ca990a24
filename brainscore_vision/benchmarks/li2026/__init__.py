"""Predictivity of and similarity to macaque V1, V2, V4 and IT on natural scenes (Li et al. 2026)."""

from functools import partial

from brainscore_core.plugins.tables import table_keys
from brainscore_core.supported_data_standards.brainio.assemblies import DataAssembly
from brainscore_vision import benchmark_registry
from brainscore_vision.benchmark_helpers.metadata import BenchmarkRow, read_metadata
from brainscore_vision.benchmark_helpers.table_benchmarks import make_benchmark, prepare_recordings
from brainscore_vision.data.li2026 import BIBTEX

METADATA = read_metadata(__file__, bibtex=BIBTEX)


def prepare(assembly: DataAssembly, row: BenchmarkRow) -> DataAssembly:
    """Select the row's reliable neurons; each animal is a subject.

    `assembly`: recordings with ``animal`` on ``neuroid``. `row`: region, reliability and threshold. Result: a
    NeuroidAssembly (presentation × neuroid) with ``subject`` on ``neuroid``.
    """
    selected = prepare_recordings(assembly, row)
    selected["subject"] = "neuroid", selected["animal"].values
    return selected


for _key in table_keys(__file__, "benchmarks.csv"):
    benchmark_registry[_key] = partial(make_benchmark, __file__, _key, bibtex=BIBTEX, prepare=prepare)
