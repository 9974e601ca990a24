"""Subjects that have reading times, and neither another task nor units."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any

import numpy as np

from brainscore_core.errors import NotApplicable
from brainscore_core.supported_data_standards.brainio.assemblies import BehavioralAssembly
from brainscore_language.artificial_subject import ArtificialSubject
from brainscore_language.model_helpers.assemblies import part_coords
from brainscore_language.model_helpers.preprocessing import parts_of

__all__ = ["ReadingSubject"]


class ReadingSubject(ArtificialSubject):
    """A subject that reads, and does nothing else.

    Parameters
    ----------
    identifier : str
        Unique name.
    """

    def __init__(self, identifier: str) -> None:
        self._identifier = identifier

    @abstractmethod
    def times_of(self, parts: list[str]) -> Any:
        """Reading times of the parts of a text."""
        raise NotImplementedError

    def identifier(self) -> str:
        """Name of the subject."""
        return self._identifier

    def start_behavioral_task(self, task: str) -> None:
        """Read; there is no other task."""
        if task != ArtificialSubject.Task.reading_times:
            raise NotApplicable(f"{self._identifier} has reading times only, and does no task {task!r}")

    def start_neural_recording(self, recording_target: str, recording_type: str) -> None:
        """Raise an error: there are no units."""
        raise NotApplicable(f"{self._identifier} has reading times only, and no units to record")

    def digest_text(self, text: str | list[str]) -> dict[str, Any]:
        """Reading times of the parts."""
        parts = parts_of(text)
        times = BehavioralAssembly(np.asarray(self.times_of(parts)), coords=part_coords(parts), dims=["presentation"])
        return {"behavior": times, "neural": None}
