"""Accuracy of a model relative to that of people, on silhouettes and outlines (BMD 2024)."""

from typing import Any, Final

from brainscore_core.benchmarks import BenchmarkBase, bound_score, normalise
from brainscore_core.errors import UserError
from brainscore_core.metrics import Score
from brainscore_core.supported_data_standards.brainio.assemblies import DataAssembly
from brainscore_vision import load_dataset, load_metric
from brainscore_vision.benchmark_helpers.measurements import VisualMeasurements, choices_of
from brainscore_vision.benchmark_helpers.screen import place_on_screen
from brainscore_vision.model_interface import BrainModel
from brainscore_vision.utils import LazyLoad

CONDITIONS: Final = ("texture_1", "texture_2", "dotted_1", "dotted_2")
"""Silhouettes filled with the character 3 or %; outlines of near and of distant dots."""

VISUAL_DEGREES: Final = 8
NUMBER_OF_TRIALS: Final = 1


class BMD2024AccuracyDistance(BenchmarkBase):
    """Whether a model names objects as often rightly as people do.

    The model names each of 100 pictures with one of ten objects (51–54 people did the same). Per person,
    1 − |a_model − a_person| / max(a_person, 1 − a_person) for the accuracies a; the raw score is the mean over
    people. The ceiling is the same number between all pairs of people. The score is raw / ceiling, at most 1.

    `condition`: one of :data:`CONDITIONS`.

    Notes
    -----
    No citation has been published with these data: ``bibtex`` is None.
    """

    def __init__(self, condition: str) -> None:
        if condition not in CONDITIONS:
            raise UserError(f"BMD2024 has no condition {condition!r}", remedy=f"there are {', '.join(CONDITIONS)}")
        self._metric: Any = LazyLoad(lambda: load_metric("accuracy_distance"))
        self._assembly: LazyLoad[DataAssembly] = LazyLoad(lambda: load_dataset(f"BMD2024.{condition}"))
        super().__init__(
            identifier=f"BMD2024.{condition}Behavioral-accuracy_distance",
            version=1,
            ceiling_func=lambda: self._metric.ceiling(self._assembly.content),
            parent="BMD2024",
            bibtex=None,
        )

    def measurements(self) -> VisualMeasurements:
        """Choices of people."""
        return choices_of(self, self._assembly, VISUAL_DEGREES, NUMBER_OF_TRIALS)

    def __call__(self, candidate: BrainModel) -> Score:
        """Let `candidate` name the pictures."""
        assembly = self._assembly.content
        stimuli = assembly.attrs["stimulus_set"]
        candidate.start_task(BrainModel.Task.label, sorted({str(truth) for truth in stimuli["truth"]}))
        on_screen = place_on_screen(
            stimuli, target_visual_degrees=candidate.visual_degrees(), source_visual_degrees=VISUAL_DEGREES
        )
        labels = candidate.look_at(on_screen, number_of_trials=NUMBER_OF_TRIALS)
        return bound_score(normalise(self._metric(labels, assembly), self.ceiling))
