"""Interface between benchmarks and models: a model takes part in an experiment like a subject."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from enum import StrEnum
from typing import TYPE_CHECKING, Any

from brainscore_core.formatting import as_html, as_text

if TYPE_CHECKING:
    from brainscore_core.supported_data_standards.brainio.assemblies import BehavioralAssembly, NeuroidAssembly
    from brainscore_core.supported_data_standards.brainio.stimuli import StimulusSet

__all__ = ["BehavioralAssembly", "BrainModel"]

DEFAULT_VISUAL_DEGREES = 8
"""Visual angle of the input of models that do not state one, in degrees."""


class BrainModel(ABC):
    """A model as an experimental subject.

    A benchmark first sets a task (:meth:`start_task`) or a region to record (:meth:`start_recording`), then shows
    stimuli (:meth:`look_at`). The last of these two calls determines what :meth:`look_at` returns.

    A model that cannot do a task or does not have a region raises
    :class:`~brainscore_core.errors.NotApplicable` with the reason: the pair is then *not applicable*.
    """

    class Task(StrEnum):
        """Tasks that a benchmark can set."""

        passive = "passive"
        """Look at the stimuli without responding."""

        label = "label"
        """Name each stimulus. ``fitting_stimuli``: list of the labels to choose from, or ``'imagenet'``.
        Returns a `BehavioralAssembly` (presentation × choice, one choice) of labels."""

        probabilities = "probabilities"
        """Give each label's probability. ``fitting_stimuli``: a `StimulusSet` with ``image_label`` to learn from.
        Returns a `BehavioralAssembly` (presentation × choice) whose rows sum to 1."""

        odd_one_out = "odd_one_out"
        """Pick the odd stimulus of each triplet. The stimuli come in rows of three; ``fitting_stimuli`` is unused.
        Returns a `BehavioralAssembly` of indices 0–2, one a triplet."""

    class RecordingTarget(StrEnum):
        """Regions that a benchmark can record."""

        V1 = "V1"
        V2 = "V2"
        V4 = "V4"
        IT = "IT"

    def __repr__(self) -> str:
        return as_text(f"{type(self).__name__} {self.identifier}", self._display_rows())

    def _repr_html_(self) -> str:
        return as_html(f"{type(self).__name__} {self.identifier}", self._display_rows())

    def _display_rows(self) -> list[tuple[str, str]]:
        """Names and texts of what a terminal or a notebook shows besides the identifier."""
        try:
            default = "" if self.states_visual_degrees else " (default: the model does not state it)"
            return [("visual degrees", f"{self.visual_degrees():g}{default}")]
        except Exception:  # noqa: BLE001 - code of others, such as a process that has ended
            return [("visual degrees", "not known")]

    @property
    @abstractmethod
    def identifier(self) -> str:
        """Unique name of the model."""

    @abstractmethod
    def visual_degrees(self) -> float:
        """Visual angle that the model's input spans, in degrees."""

    @property
    def states_visual_degrees(self) -> bool:
        """Whether the model states its visual angle; False for :data:`DEFAULT_VISUAL_DEGREES` taken in its place."""
        return True

    @abstractmethod
    def start_task(self, task: Task | str, fitting_stimuli: StimulusSet | Sequence[str] | str | None = None) -> None:
        """Instruct the model to do `task` with the stimuli it is shown next.

        Parameters
        ----------
        task : BrainModel.Task or str
            What to do.
        fitting_stimuli
            Labels or stimuli that define the task; see :class:`BrainModel.Task`.

        Raises
        ------
        NotApplicable
            If the model cannot do the task.
        """

    @abstractmethod
    def start_recording(
        self, recording_target: RecordingTarget | str, time_bins: Sequence[tuple[int, int]], **kwargs: Any
    ) -> None:
        """Record from a region while the model looks at the stimuli it is shown next.

        Parameters
        ----------
        recording_target : BrainModel.RecordingTarget or str
            Region to record from.
        time_bins : sequence of (int, int)
            Start and end of each time bin, in milliseconds after stimulus onset.

        Raises
        ------
        NotApplicable
            If the model does not have the region.
        """

    @abstractmethod
    def look_at(
        self, stimuli: StimulusSet, number_of_trials: int = 1, require_variance: bool = False
    ) -> BehavioralAssembly | NeuroidAssembly:
        """Show stimuli.

        Parameters
        ----------
        stimuli : StimulusSet
            What to show, already placed on a screen of :meth:`visual_degrees`.
        number_of_trials : int
            How often each stimulus is shown; a deterministic model may answer once.
        require_variance : bool
            Whether each trial must have its own response.

        Returns
        -------
        BehavioralAssembly or NeuroidAssembly
            Responses to the task, or recordings (presentation × neuroid[ × time_bin]).
        """


def __getattr__(name: str) -> Any:
    if name in ("BehavioralAssembly", "NeuroidAssembly", "StimulusSet"):  # imported late
        from brainscore_core.supported_data_standards.brainio import assemblies, stimuli

        return getattr(stimuli if name == "StimulusSet" else assemblies, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
