"""Predictivity of electroencephalography on pictures of things (Gifford et al. 2022)."""

from functools import partial
from typing import Any, Final

import numpy as np

from brainscore_core.benchmarks import Benchmark
from brainscore_core.errors import UserError
from brainscore_core.plugins.tables import table_keys
from brainscore_core.supported_data_standards.brainio.assemblies import DataAssembly
from brainscore_vision import benchmark_registry
from brainscore_vision.benchmark_helpers.measurements import describe, flatten_timebins_into_neuroids, single_time_bin
from brainscore_vision.benchmark_helpers.metadata import BenchmarkRow, read_metadata
from brainscore_vision.benchmark_helpers.table_benchmarks import make_benchmark
from brainscore_vision.data.gifford2022 import BIBTEX

METADATA = read_metadata(__file__, bibtex=BIBTEX)

WINDOW: Final = (0, 600)
"""Recorded time in milliseconds; the data set states it in seconds."""

TIME_BINS: Final = 60
ALPHAS: Final = (
    *(0.01, 0.1, 0.5, 1.0, 10, 50, 100, 500, 1000, 5000, 1e4, 3.25e4, 5.5e4, 7.75e4),
    *(1e5, 3.25e5, 5.5e5, 7.75e5, 1e6, 3.25e6, 5.5e6, 7.75e6, 1e7),
)
"""Penalties among which the cross-validated regression chooses."""


def make(benchmark: str) -> Benchmark:
    """Make a benchmark of the table."""
    options: dict[str, Any] = {"alphas": list(ALPHAS)} if benchmark.endswith("cv") else {}
    return make_benchmark(__file__, benchmark, bibtex=BIBTEX, prepare=prepare, timebins=[WINDOW], **options)


def prepare(assembly: DataAssembly, row: BenchmarkRow) -> DataAssembly:
    """Make each electrode at each of 60 times a neuroid of the row's region.

    `assembly`: presentation × neuroid × time_bin; with bins of 10 ms; starts are in seconds. `row`: its region: the
    electrodes are outside of the brain, and models record from a region. Result: presentation × neuroid. A UserError if
    there are not 60 bins from 0 to 0.6 s.
    """
    starts = np.asarray(assembly["time_bin_start"].values, dtype=float)
    within = np.flatnonzero((starts > WINDOW[0] / 1000 - 1e-6) & (starts < WINDOW[1] / 1000 - 1e-6))
    if len(within) != TIME_BINS:
        raise UserError(
            f"{describe(assembly)} has {len(within)} time bins that start from 0 to 0.6 s, not {TIME_BINS}",
            remedy="check 'time_bin_start', which is in seconds",
        )
    flat = flatten_timebins_into_neuroids(
        assembly.transpose("presentation", "neuroid", "time_bin").isel(time_bin=within)
    )
    flat["region"] = "neuroid", [row.region] * flat.sizes["neuroid"]
    flat["neuroid_id"] = "neuroid", np.arange(flat.sizes["neuroid"])  # an electrode is one at each time
    return single_time_bin(flat)


for _key in table_keys(__file__, "benchmarks.csv"):
    benchmark_registry[_key] = partial(make, _key)
