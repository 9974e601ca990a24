"""Predictivity of recordings in V1 and V2, on held-out stimuli (Freeman, Ziemba et al. 2013)."""

from typing import Final

import numpy as np

from brainscore_core.errors import UserError
from brainscore_core.supported_data_standards.brainio.assemblies import DataAssembly
from brainscore_vision import load_ceiling, load_dataset, load_metric
from brainscore_vision.benchmark_helpers.measurements import describe, of_region, require_coords
from brainscore_vision.benchmark_helpers.neural_common import NeuralBenchmark, average_repetition
from brainscore_vision.data.freemanziemba2013 import BIBTEX
from brainscore_vision.utils import LazyLoad

__all__ = [
    "BIBTEX",
    "NUMBER_OF_TRIALS",
    "TIME_WINDOW",
    "VISUAL_DEGREES",
    "MovshonFreemanZiemba2013V1PLS",
    "MovshonFreemanZiemba2013V2PLS",
    "load_assembly",
    "pls_benchmark",
    "private_benchmark",
]

VISUAL_DEGREES: Final = 4
NUMBER_OF_TRIALS: Final = 20
TIME_WINDOW: Final = (50, 200)
"""Milliseconds after onset."""


def private_benchmark(region: str) -> NeuralBenchmark:
    """``FreemanZiemba2013.<region>-pls``, region V1 or V2."""
    return pls_benchmark(
        region, access="private", identifier=f"FreemanZiemba2013.{region}-pls", version=3, parent=region
    )


def pls_benchmark(region: str, *, access: str, identifier: str, version: int, parent: str | None) -> NeuralBenchmark:
    """Predict mean rates 50–200 ms after onset by PLS regression; the ceiling is their reliability.

    `region`: ``'V1'`` or ``'V2'``. `access`: ``'public'`` or ``'private'``.
    """
    repetitions = LazyLoad(lambda: load_assembly(average_repetitions=False, region=region, access=access))
    return NeuralBenchmark(
        identifier=identifier,
        version=version,
        assembly=LazyLoad(lambda: average_repetition(repetitions.content)),  # type: ignore[arg-type] # stands for it
        similarity_metric=load_metric("pls", crossvalidation_kwargs={"stratification_coord": "texture_type"}),
        visual_degrees=VISUAL_DEGREES,
        number_of_trials=NUMBER_OF_TRIALS,
        ceiling_func=lambda: load_ceiling("internal_consistency")(repetitions.content),
        repetitions=repetitions,
        parent=parent,
        bibtex=BIBTEX,
    )


def MovshonFreemanZiemba2013V1PLS() -> NeuralBenchmark:  # noqa: N802 -- the published name
    """``FreemanZiemba2013.V1-pls``."""
    return private_benchmark("V1")


def MovshonFreemanZiemba2013V2PLS() -> NeuralBenchmark:  # noqa: N802 -- the published name
    """``FreemanZiemba2013.V2-pls``."""
    return private_benchmark("V2")


def load_assembly(average_repetitions: bool, region: str, access: str = "private") -> DataAssembly:
    """Mean responses of one region, 50–200 ms after stimulus onset.

    `average_repetitions`: whether to average over the repetitions of each stimulus. `region`: ``'V1'`` or ``'V2'``.
    `access`: ``'public'`` or ``'private'``. Result: presentation × neuroid; spikes in a millisecond. A UserError if the
    data are not as they should be; names data set, file and coordinate.
    """
    assembly = load_dataset(f"FreemanZiemba2013.{access}")
    needed = {"stimulus_id": "presentation", "texture_type": "presentation", "repetition": "presentation"}
    require_coords(assembly, needed)
    assembly = _in_window(of_region(assembly, region))
    return average_repetition(assembly) if average_repetitions else assembly


def _in_window(assembly: DataAssembly) -> DataAssembly:
    start, end = TIME_WINDOW
    require_coords(assembly, {"time_bin_start": "time_bin", "time_bin_end": "time_bin"})
    starts, ends = (np.asarray(assembly[f"time_bin_{edge}"].values) for edge in ("start", "end"))
    inside = np.flatnonzero((starts >= start) & (ends <= end))
    order = inside[np.argsort(starts[inside])]
    if not np.array_equal(starts[order], np.arange(start, end)) or not (ends[order] - starts[order] == 1).all():
        raise UserError(
            f"{describe(assembly)} has {len(order)} time bins within {start}–{end} ms, coordinate 'time_bin_start' "
            f"from {starts.min()} to {starts.max()}",
            remedy=f"give it all bins of 1 ms from {start} to {end} ms, each once",
        )
    mean = assembly.isel(time_bin=order).mean(dim="time_bin")
    mean.attrs = dict(assembly.attrs)
    return mean.assign_coords(time_bin_start=start, time_bin_end=end)
