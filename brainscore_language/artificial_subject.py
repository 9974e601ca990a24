"""The interface of models of language: subjects that read text, do a task, and are recorded from."""

from abc import ABC, abstractmethod
from typing import Any


class ArtificialSubject(ABC):
    """A subject that reads text.

    Benchmarks start a task, a recording, or both, and then call :meth:`digest_text`. A subject may support only some
    tasks and recordings; it raises `NotImplementedError` for the others.
    """

    class Task:
        """Tasks of a subject."""

        next_word = "next_word"
        """Say the word that follows."""
        reading_times = "reading_times"
        """Read; the answer is the time of each part, in any unit that is proportional to it, such as surprisal."""

    class RecordingTarget:
        """What is recorded from."""

        language_system = "language_system"
        language_system_left_hemisphere = "language_system_left_hemisphere"
        language_system_right_hemisphere = "language_system_right_hemisphere"

    class RecordingType:
        """How it is recorded."""

        fMRI = "fMRI"
        ECoG = "ECoG"

    @abstractmethod
    def identifier(self) -> str:
        """Unique name of the subject."""
        raise NotImplementedError

    def start_behavioral_task(self, task: str) -> None:
        """Do a task from now on; it replaces an earlier one.

        Parameters
        ----------
        task : str
            One of :class:`ArtificialSubject.Task`.
        """
        raise NotImplementedError(f"{type(self).__name__} does no task such as {task!r}")

    def start_neural_recording(self, recording_target: str, recording_type: str) -> None:
        """Record from now on, in addition to earlier recordings.

        Parameters
        ----------
        recording_target : str
            One of :class:`ArtificialSubject.RecordingTarget`.
        recording_type : str
            One of :class:`ArtificialSubject.RecordingType`.
        """
        raise NotImplementedError(f"{type(self).__name__} has no recordings such as {recording_target!r}")

    def digest_text(self, text: str | list[str]) -> dict[str, Any]:
        """Read a text.

        Parameters
        ----------
        text : str or list of str
            Parts that are read one after the other: each part is read in the context of the earlier parts of the same
            call. Calls share nothing.

        Returns
        -------
        dict
            ``'behavior'``: an assembly with the dimension presentation, one entry a part; ``'neural'``: presentation ×
            neuroid. None, or an empty list, for what was not started. Presentations have the coordinates ``stimulus``
            (the part), ``context`` (the text up to and including it) and ``part_number`` (from 0).
        """
        raise NotImplementedError
