"""Shared by what returns a model's responses: coordinates of stimuli."""

from typing import Any

from numpy.typing import NDArray

from brainscore_core.supported_data_standards.brainio.stimuli import StimulusSet

__all__ = ["presentation_coords"]


def presentation_coords(stimuli: StimulusSet) -> dict[str, tuple[str, NDArray[Any]]]:
    """Every column of a stimulus set as a coordinate of ``presentation``."""
    return {str(column): ("presentation", stimuli[column].to_numpy()) for column in stimuli.columns}
