"""Predictivity of and similarity to macaque V1, V2, V4 and IT on natural scenes (Li et al. 2026)."""

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


benchmark_registry.add_table(__file__, "benchmarks.csv", make_benchmark, bibtex=BIBTEX, prepare=prepare)
