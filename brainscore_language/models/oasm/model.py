"""Orthogonal, autocorrelated responses."""

from typing import Any

import numpy as np
from scipy.ndimage import gaussian_filter1d

from brainscore_core.plugins.tables import table_row
from brainscore_language.artificial_subject import ArtificialSubject
from brainscore_language.model_helpers.preprocessing import parts_of
from brainscore_language.model_helpers.reading import part_coords, recorded_units


class OASMSubject(ArtificialSubject):
    """A subject with one unit for each part that it has read, which responds to the neighbours of that part, too.

    Parameters
    ----------
    identifier : str
        Unique name.
    sigma : float
        Standard deviation of the neighbourhood, in parts; 0 for none. Other texts are no neighbours.
    max_features : int
        Number of units: parts that it can read after a recording has been started.
    """

    def __init__(self, identifier: str, sigma: float, max_features: int = 2000) -> None:
        self._identifier = identifier
        self._sigma = sigma
        self._max_features = max_features
        self._recordings: list[tuple[str, str]] = []
        self._offset = 0

    def identifier(self) -> str:
        """Name of the control."""
        return self._identifier

    def start_neural_recording(self, recording_target: str, recording_type: str) -> None:
        """Record from all units, and forget what was read."""
        self._recordings.append((recording_target, recording_type))
        self._offset = 0

    def digest_text(self, text: str | list[str]) -> dict[str, Any]:
        """Read a text; ValueError if there are more parts than units."""
        assert self._recordings, "call start_neural_recording before digest_text"  # as published
        parts = parts_of(text)
        end = self._offset + len(parts)
        if end > self._max_features:
            raise ValueError(f"{end} parts have been read; there are max_features={self._max_features} units")
        block = np.eye(len(parts))
        if self._sigma > 0 and len(parts) > 1:
            block = gaussian_filter1d(block, sigma=self._sigma, axis=1)
        values = np.zeros((len(parts), self._max_features))
        values[:, self._offset : end] = block
        self._offset = end
        responses = {(*recording, f"oasm_sigma{self._sigma}"): values for recording in self._recordings}
        return {
            "behavior": [],
            "neural": recorded_units(responses, part_coords(parts), target="recording_target", numbered=False),
        }


def oasm(identifier: str) -> OASMSubject:
    """The control of a row of ``models.csv``."""
    return OASMSubject(identifier, float(table_row(__file__, "models.csv", identifier)["sigma"]))
