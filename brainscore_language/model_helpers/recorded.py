"""Subjects whose reading times or responses were recorded: they can read the recorded texts only."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from brainscore_core.errors import NotApplicable
from brainscore_language.model_helpers.preprocessing import parts_of
from brainscore_language.model_helpers.reading import ReadingSubject, part_coords, recorded_units


class RecordedSubject(ReadingSubject):
    """Reading times or responses of texts, in a table.

    Parameters
    ----------
    identifier : str
        Unique name.
    times : mapping
        Parts of a text → their times, in one unit, such as bits of surprisal.
    texts : str
        The recorded texts, for messages.
    responses : mapping, optional
        Parts of a text → parts × units; recorded whatever the target.
    layer : str
        Name of the units' layer.

    Examples
    --------
    >>> subject = RecordedSubject("table", {("the", "fox"): [1.0, 9.5]}, texts="one sentence")
    >>> subject.start_behavioral_task("reading_times")
    >>> subject.digest_text(["the", "fox"])["behavior"].values
    array([1. , 9.5])
    """

    def __init__(
        self,
        identifier: str,
        times: Mapping[tuple[str, ...], Any],
        *,
        texts: str,
        responses: Mapping[tuple[str, ...], Any] | None = None,
        layer: str = "recorded",
    ) -> None:
        super().__init__(identifier)
        self._times = dict(times)
        self._texts = texts
        self._responses = dict(responses or {})
        self._layer = layer
        self._task: str | None = None
        self._recordings: list[tuple[str, str]] = []

    def start_behavioral_task(self, task: str) -> None:
        """Read, if times were recorded; there is no other task."""
        super().start_behavioral_task(task if self._times else f"{task} (no times were recorded)")
        self._task = task

    def start_neural_recording(self, recording_target: str, recording_type: str) -> None:
        """Return all units, if units were recorded."""
        if not self._responses:
            super().start_neural_recording(recording_target, recording_type)
        self._recordings.append((recording_target, recording_type))

    def times_of(self, parts: list[str]) -> Any:
        """Recorded times of a text; `NotApplicable` for a text that was not recorded."""
        return self._found(self._times, parts)

    def digest_text(self, text: str | list[str]) -> dict[str, Any]:
        """What was recorded of a text; `NotApplicable` for a text that was not recorded."""
        answer: dict[str, Any] = {"behavior": None, "neural": None}
        if self._task is not None:
            answer = super().digest_text(text)
        if self._recordings:
            parts = parts_of(text)
            values = np.asarray(self._found(self._responses, parts))
            responses = {(*recording, self._layer): values for recording in self._recordings}
            answer["neural"] = recorded_units(responses, part_coords(parts), target="region", numbered=True)
        return answer

    def _found(self, table: Mapping[tuple[str, ...], Any], parts: list[str]) -> Any:
        if tuple(parts) not in table:
            raise NotApplicable(f"{self._identifier} has not read this text: it read {self._texts}")
        return table[tuple(parts)]
