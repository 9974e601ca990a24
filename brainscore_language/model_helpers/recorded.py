"""Subjects whose reading times were recorded: they can read the recorded texts only."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from brainscore_core.errors import NotApplicable
from brainscore_core.supported_data_standards.brainio.assemblies import BehavioralAssembly
from brainscore_language.artificial_subject import ArtificialSubject
from brainscore_language.model_helpers.preprocessing import parts_of

__all__ = ["RecordedSubject"]


class RecordedSubject(ArtificialSubject):
    """Reading times of texts, in a table.

    Parameters
    ----------
    identifier : str
        Unique name.
    times : mapping
        Parts of a text → their times, in one unit, such as bits of surprisal.
    texts : str
        The recorded texts, for messages.

    Examples
    --------
    >>> subject = RecordedSubject("table", {("the", "fox"): [1.0, 9.5]}, texts="one sentence")
    >>> subject.start_behavioral_task("reading_times")
    >>> subject.digest_text(["the", "fox"])["behavior"].values
    array([1. , 9.5])
    """

    def __init__(self, identifier: str, times: Mapping[tuple[str, ...], Any], *, texts: str) -> None:
        self._identifier = identifier
        self._times = dict(times)
        self._texts = texts

    def identifier(self) -> str:
        """Name of the table."""
        return self._identifier

    def start_behavioral_task(self, task: str) -> None:
        """Read; there is no other task."""
        if task != ArtificialSubject.Task.reading_times:
            raise NotApplicable(f"{self._identifier} has recorded reading times, not the task {task!r}")

    def start_neural_recording(self, recording_target: str, recording_type: str) -> None:
        """Raise an error: no unit was recorded."""
        raise NotApplicable(f"{self._identifier} has recorded reading times, no units")

    def digest_text(self, text: str | list[str]) -> dict[str, Any]:
        """Recorded times of a text; `NotApplicable` for a text that was not recorded."""
        parts = parts_of(text)
        if tuple(parts) not in self._times:
            raise NotApplicable(f"{self._identifier} has no recorded times for this text: it read {self._texts}")
        coords = {
            "stimulus": ("presentation", np.array(parts, dtype=object)),
            "part_number": ("presentation", np.arange(len(parts))),
        }
        times = BehavioralAssembly(np.asarray(self._times[tuple(parts)]), coords=coords, dims=["presentation"])
        return {"behavior": times, "neural": None}
