"""Predictivity of recordings in V1 and V2, on held-out stimuli (Freeman, Ziemba et al. 2013)."""

from typing import Final

import numpy as np

from brainscore_core.errors import UserError
from brainscore_core.supported_data_standards.brainio.assemblies import DataAssembly
from brainscore_vision import load_ceiling, load_dataset, load_metric
from brainscore_vision.benchmark_helpers.measurements import describe, of_region, require_coords
from brainscore_vision.benchmark_helpers.neural_common import (
    NeuralBenchmark,
    average_repetition,
    benchmark_of_repetitions,
)
from brainscore_vision.data.freemanziemba2013 import BIBTEX

VISUAL_DEGREES: Final = 4
NUMBER_OF_TRIALS: Final = 20
TIME_WINDOW: Final = (50, 200)
"""Milliseconds after onset."""


def pls_benchmark(region: str, access: str) -> NeuralBenchmark:
    """Predict mean rates 50–200 ms after onset by PLS regression; the ceiling is their reliability.

    `region`: ``'V1'`` or ``'V2'``. `access`: ``'private'``, or ``'public'`` for the data on which models can be tried
    without being submitted.
    """
    public = access == "public"
    return benchmark_of_repetitions(
        lambda: load_assembly(average_repetitions=False, region=region, access=access),
        load_metric("pls", crossvalidation_kwargs={"stratification_coord": "texture_type"}),
        load_ceiling("internal_consistency"),
        identifier=f"FreemanZiemba2013.{region}{'.public' if public else ''}-pls",
        version=1 if public else 3,
        visual_degrees=VISUAL_DEGREES,
        number_of_trials=NUMBER_OF_TRIALS,
        parent=None if public else region,
        bibtex=BIBTEX,
    )


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
