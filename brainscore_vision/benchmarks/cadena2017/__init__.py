"""Predictivity of macaque V1 on natural images and textures (Cadena et al. 2017)."""

import numpy as np

from brainscore_core.benchmarks import Benchmark
from brainscore_core.plugins.tables import read_citation
from brainscore_core.supported_data_standards.brainio.assemblies import DataAssembly
from brainscore_vision import benchmark_registry, load_ceiling, load_dataset, load_metric
from brainscore_vision.benchmark_helpers.measurements import (
    average_repetition,
    of_region,
    presentations,
    single_time_bin,
)
from brainscore_vision.benchmark_helpers.metadata import BenchmarkRow, read_metadata
from brainscore_vision.benchmark_helpers.neural_common import NeuralBenchmark
from brainscore_vision.benchmark_helpers.table_benchmarks import make_benchmark
from brainscore_vision.utils import LazyLoad

BIBTEX = read_citation(__file__)
METADATA = read_metadata(__file__, bibtex=BIBTEX)


def _benchmark(row: BenchmarkRow, bibtex: str) -> Benchmark:
    """Only stimuli that all neuroids were recorded for are compared.

    The ceiling of the PLS regression is that of the repetitions in which all neuroids were recorded; the readout's is
    that of all repetitions, as published.
    """
    masks = row.metric == "mask_regression"
    repetitions = LazyLoad(lambda: load_repetitions(row.data[0], row.region))
    splitting = {"stratification_coord": None} | ({"splits": 4} if masks else {})
    return NeuralBenchmark(
        assembly=LazyLoad(lambda: complete_presentations(average_repetition(repetitions.content))),  # type: ignore[arg-type] # stands for one
        similarity_metric=load_metric(row.metric, crossvalidation_kwargs=splitting),
        ceiling_func=lambda: load_ceiling(row.ceiling)(
            repetitions.content if masks else complete_presentations(repetitions.content)
        ),
        repetitions=repetitions,
        **row.about(bibtex),
    )


def load_repetitions(identifier: str, region: str) -> DataAssembly:
    """Load the recordings; the coordinate ``repetition_id`` becomes ``repetition``, and ``id`` is left out.

    Result: presentation × neuroid; NaN where a neuroid was not recorded.
    """
    assembly = single_time_bin(of_region(load_dataset(identifier), region))
    assembly["repetition"] = "presentation", assembly["repetition_id"].values
    return assembly.drop_vars([name for name in ("repetition_id", "id") if name in assembly.coords])


def complete_presentations(assembly: DataAssembly) -> DataAssembly:
    """Presentations in which all neuroids were recorded; the stimulus set has theirs only."""
    complete = ~np.isnan(assembly.transpose("presentation", "neuroid").values).any(axis=1)
    return presentations(assembly, np.flatnonzero(complete))


benchmark_registry.add_table(
    __file__, "benchmarks.csv", make_benchmark, bibtex=BIBTEX, kinds={"complete presentations": _benchmark}
)
