"""Predictivity of and similarity to neurons of several macaques (Li et al. 2026)."""

from brainscore_core.benchmarks import Benchmark
from brainscore_core.supported_data_standards.brainio.assemblies import DataAssembly
from brainscore_vision.benchmark_helpers.metadata import BenchmarkRow
from brainscore_vision.benchmark_helpers.table_benchmarks import make_benchmark, prepare_recordings
from brainscore_vision.benchmarks import li2026
from brainscore_vision.data.li2026 import BIBTEX


def make(benchmark: str) -> Benchmark:
    """Make a benchmark of the table."""
    return make_benchmark(li2026.__file__, benchmark, bibtex=BIBTEX, prepare=prepare)


def prepare(assembly: DataAssembly, row: BenchmarkRow) -> DataAssembly:
    """Select the row's reliable neurons; each animal is a subject.

    `assembly`: recordings with ``animal`` on ``neuroid``. `row`: region, reliability and threshold. Result: a
    NeuroidAssembly (presentation × neuroid) with ``subject`` on ``neuroid``.
    """
    selected = prepare_recordings(assembly, row)
    selected["subject"] = "neuroid", selected["animal"].values
    return selected
