"""Shared by what returns a model's responses: coordinates of stimuli, and time bins."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from brainscore_core.supported_data_standards.brainio.assemblies import NeuroidAssembly, walk_coords
from brainscore_core.supported_data_standards.brainio.stimuli import StimulusSet

__all__ = ["presentation_coords", "repeat_over_time"]


def presentation_coords(stimuli: StimulusSet) -> dict[str, tuple[str, NDArray[Any]]]:
    """Every column of a stimulus set as a coordinate of ``presentation``."""
    return {str(column): ("presentation", stimuli[column].to_numpy()) for column in stimuli.columns}


def repeat_over_time(assembly: NeuroidAssembly, time_bins: Sequence[tuple[int, int]] | None) -> NeuroidAssembly:
    """Give a response without time course in each of several time bins, as a read-only view.

    One time bin is squeezed: the response comes back as it is.
    """
    if time_bins is None or len(time_bins) < 2:
        return assembly
    values = assembly.values
    repeated = np.broadcast_to(values[..., np.newaxis], (*values.shape, len(time_bins)))
    coords: dict[str, Any] = {name: (dims, column) for name, dims, column in walk_coords(assembly)}
    coords["time_bin_start"] = ("time_bin", [start for start, _ in time_bins])
    coords["time_bin_end"] = ("time_bin", [end for _, end in time_bins])
    return NeuroidAssembly(repeated, coords=coords, dims=[*assembly.dims, "time_bin"], attrs=assembly.attrs)
