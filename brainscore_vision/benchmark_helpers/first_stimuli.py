"""The stimuli that a benchmark presents first."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NoReturn

from brainscore_core.benchmarks.measurements import Measurements, measurements_or_none
from brainscore_core.errors import UserError
from brainscore_vision.model_interface import BrainModel
from brainscore_vision.registries import load_benchmark

if TYPE_CHECKING:
    from brainscore_core.supported_data_standards.brainio.stimuli import StimulusSet


def first_stimuli(identifier: str) -> StimulusSet:
    """Return the first stimuli that a benchmark presents; this loads its data."""
    try:
        benchmark = load_benchmark(identifier)
        benchmark(_StimulusRecorder(measurements_or_none(benchmark)))
    except _StimuliShown as shown:
        return shown.stimuli
    except UserError:
        raise
    except Exception as error:  # plugins can raise any error
        raise UserError(f"the stimuli of {identifier!r} are not available: {type(error).__name__}: {error}") from error
    raise UserError(f"benchmark {identifier!r} presents no stimuli")


class _StimuliShown(BaseException):
    """Carries the stimuli that a benchmark presents; not an Exception, so that the benchmark does not catch it."""

    def __init__(self, stimuli: StimulusSet) -> None:
        super().__init__()
        self.stimuli = stimuli


class _StimulusRecorder(BrainModel):
    """A subject that stops the benchmark at its first stimuli.

    `measurements`: on a screen as wide as its stimuli, these need not be placed on another one. Samples are of the
    original files, so that they are the same for any other angle.
    """

    def __init__(self, measurements: Measurements | None) -> None:
        self._degrees = getattr(measurements, "screen_degrees", 8.0)

    @property
    def identifier(self) -> str:
        return "onlooker"

    def visual_degrees(self) -> float:
        return self._degrees

    def start_task(self, task: Any, fitting_stimuli: Any = None) -> None:
        """Do nothing, since it never answers."""

    def start_recording(self, recording_target: Any, time_bins: Any, **kwargs: Any) -> None:
        """Do nothing, since it never records."""

    def look_at(self, stimuli: StimulusSet, number_of_trials: int = 1, require_variance: bool = False) -> NoReturn:
        raise _StimuliShown(stimuli)
