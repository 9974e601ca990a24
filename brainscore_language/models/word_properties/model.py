"""Subjects whose reading times depend on single words."""

import hashlib
from collections.abc import Callable
from typing import Any

import numpy as np

from brainscore_core.errors import NotApplicable
from brainscore_core.supported_data_standards.brainio.assemblies import BehavioralAssembly
from brainscore_language.artificial_subject import ArtificialSubject
from brainscore_language.model_helpers.preprocessing import parts_of


class WordSubject(ArtificialSubject):
    """A subject whose time for a part is the sum of a property of its words.

    Parameters
    ----------
    identifier : str
        Unique name.
    property_of : callable
        Word → number.
    """

    def __init__(self, identifier: str, property_of: Callable[[str], float]) -> None:
        self._identifier = identifier
        self._property_of = property_of

    def identifier(self) -> str:
        """Name of the property."""
        return self._identifier

    def start_behavioral_task(self, task: str) -> None:
        """Read; there is no other task."""
        if task != ArtificialSubject.Task.reading_times:
            raise NotApplicable(f"{self._identifier} has reading times only, not the task {task!r}")

    def start_neural_recording(self, recording_target: str, recording_type: str) -> None:
        """Raise an error: there are no units."""
        raise NotApplicable(f"{self._identifier} has reading times only, no units")

    def digest_text(self, text: str | list[str]) -> dict[str, Any]:
        """Times of the parts, each without the others."""
        parts = parts_of(text)
        times = [float(sum(self._property_of(word) for word in part.split())) for part in parts]
        coords = {
            "stimulus": ("presentation", np.array(parts, dtype=object)),
            "part_number": ("presentation", np.arange(len(parts))),
        }
        return {"behavior": BehavioralAssembly(times, coords=coords, dims=["presentation"]), "neural": None}


def word_length() -> WordSubject:
    """Number of characters."""
    return WordSubject("word-length", len)


def random_words() -> WordSubject:
    """A number in 0 … 1 from the word's hash."""
    return WordSubject("random-words", lambda word: int(hashlib.sha256(word.encode()).hexdigest()[:8], 16) / 2**32)
