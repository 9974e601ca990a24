"""Subjects that read, or were recorded while they read, and the assemblies that subjects return, one entry a part."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any

import numpy as np
from xarray import Coordinates

from brainscore_core.errors import NotApplicable
from brainscore_core.supported_data_standards.brainio.assemblies import (
    BehavioralAssembly,
    NeuroidAssembly,
    merge_data_arrays,
)
from brainscore_language.artificial_subject import ArtificialSubject
from brainscore_language.model_helpers.preprocessing import parts_of


def part_coords(parts: Sequence[str], contexts: Sequence[str] | None = None) -> dict[str, Any]:
    """Coordinates of the presentations of a text."""
    coords: dict[str, Any] = {
        "stimulus": ("presentation", np.array(parts, dtype=object)),
        "part_number": ("presentation", np.arange(len(parts))),
    }
    if contexts is not None:
        coords["context"] = ("presentation", np.array(contexts, dtype=object))
    return coords


def behaviour(answers: Any, coords: Mapping[str, Any]) -> BehavioralAssembly:
    """Answers, one a part; numbers in float32, or in float64 if one is NaN."""
    values = np.asarray(answers)
    if values.dtype == np.float64 and not np.isnan(values).any():
        values = values.astype(np.float32)
    return BehavioralAssembly(values, coords=coords, dims=["presentation"])


def recorded_units(
    responses: Mapping[tuple[str, str, str], np.ndarray], coords: Mapping[str, Any], *, target: str, numbered: bool
) -> NeuroidAssembly:
    """Responses of layers, one after the other.

    Parameters
    ----------
    responses : mapping
        (recording target, recording type, layer) → presentations × units.
    coords : mapping
        Coordinates of the presentations.
    target : str
        Name of the coordinate that holds the recording target.
    numbered : bool
        Whether the target is followed by the number of the layer among those of the target.
    """
    assemblies = []
    numbers: dict[str, int] = {}
    dims = ["presentation", "neuroid"]
    size = len(next(iter(responses.values())))
    presentations = NeuroidAssembly(np.empty((size, 0)), coords=coords, dims=dims).coords
    for (recorded, recording_type, layer), values in responses.items():
        number = numbers[recorded] = numbers.get(recorded, -1) + 1
        label = f"{recorded}.{number}" if numbered else recorded
        units = _coords_of_units(layer, values.shape[-1], target, label, recording_type)
        assemblies.append(NeuroidAssembly(values, coords=presentations.merge(units).coords, dims=dims))
    return assemblies[0] if len(assemblies) == 1 else merge_data_arrays(assemblies)


@lru_cache(maxsize=256)
def _coords_of_units(layer: str, number: int, target: str, label: str, recording_type: str) -> Coordinates:
    """Coordinates of the units of a layer, which are the same for all texts."""
    constant = {"layer": layer, target: label, "recording_type": recording_type}
    coords: dict[str, Any] = {
        name: ("neuroid", np.full(number, value, dtype=object)) for name, value in constant.items()
    }
    coords["neuron_number_in_layer"] = ("neuroid", np.arange(number))
    coords["neuroid_id"] = ("neuroid", np.array([f"{layer}--{unit}" for unit in range(number)], dtype=object))
    return NeuroidAssembly(np.empty((0, number)), coords=coords, dims=["presentation", "neuroid"]).coords


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
        return self._entry(self._times, parts)

    def digest_text(self, text: str | list[str]) -> dict[str, Any]:
        """What was recorded of a text; `NotApplicable` for a text that was not recorded."""
        answer: dict[str, Any] = {"behavior": None, "neural": None}
        if self._task is not None:
            answer = super().digest_text(text)
        if self._recordings:
            parts = parts_of(text)
            values = np.asarray(self._entry(self._responses, parts))
            responses = {(*recording, self._layer): values for recording in self._recordings}
            answer["neural"] = recorded_units(responses, part_coords(parts), target="region", numbered=True)
        return answer

    def _entry(self, table: Mapping[tuple[str, ...], Any], parts: list[str]) -> Any:
        if tuple(parts) not in table:
            raise NotApplicable(f"{self._identifier} has not read this text: it read {self._texts}")
        return table[tuple(parts)]
