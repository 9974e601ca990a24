"""How much flankers elevate the threshold for vernier offsets (Malania et al. 2007)."""

from typing import Any, Final

from brainscore_core.benchmarks import BenchmarkBase, bound_score, ceil_score
from brainscore_core.errors import UserError
from brainscore_core.metrics import Score
from brainscore_core.supported_data_standards.brainio.assemblies import DataAssembly
from brainscore_vision import load_metric
from brainscore_vision.benchmarks.malania2007.experiment import (
    BASELINE_CONDITION,
    CONDITIONS,
    THRESHOLD_ACCURACY,
    independent_variable,
    load_test_stimuli,
    load_thresholds,
    look,
    start,
)
from brainscore_vision.data.malania2007 import BIBTEX
from brainscore_vision.model_interface import BrainModel
from brainscore_vision.utils import LazyLoad

DATASETS: Final = [*(f"{condition}-threshold_elevation" for condition in CONDITIONS), "vernieracuity-threshold"]
"""What follows ``Malania2007.`` in the names of the ten benchmarks."""


class ThresholdElevation(BenchmarkBase):
    """Closeness of a model's threshold elevation to people's: threshold with flankers / threshold without.

    Five or six people told whether the lower line of a vernier was offset to the left or to the right. The model
    learns this from other stimuli with the same flankers; a psychometric function of the offset gives its thresholds
    (75 % right).

    `condition`: length and number of the flankers, such as ``'short2'``.

    Notes
    -----
    A model that is right in fewer than 60 % of the trials, or whose answers no psychometric function follows, scores 0
    and ``attrs['reason']`` says why. ``attrs['independent_variable']`` is what was taken for the strength of stimuli;
    see :func:`~brainscore_vision.benchmarks.malania2007.experiment.independent_variable`.

    References
    ----------
    .. [1] Malania et al. 2007, https://doi.org/10.1167/7.2.1
    """

    def __init__(self, condition: str) -> None:
        if condition not in CONDITIONS:
            raise UserError(f"Malania2007 has no condition {condition!r}", remedy=f"known: {', '.join(CONDITIONS)}")
        self.condition = condition
        self._assemblies: LazyLoad[dict[str, DataAssembly]] = LazyLoad(lambda: load_thresholds(condition))
        super().__init__(
            identifier=f"Malania2007.{condition}",
            version=1,
            ceiling_func=lambda: self._metric().ceiling(self._assemblies.content),
            parent="Malania2007",
            bibtex=BIBTEX,
        )

    def __call__(self, candidate: BrainModel) -> Score:
        """Measure `candidate`'s thresholds with and without flankers.

        Result: a Score in [0, 1]: closeness / ceiling; ``attrs['raw']`` is the closeness.
        """
        start(candidate, self.condition)
        stimuli = {name: load_test_stimuli(name) for name in (BASELINE_CONDITION, self.condition)}
        variable = independent_variable(stimuli[self.condition])
        responses = {name: look(candidate, shown) for name, shown in stimuli.items()}
        raw = self._metric(variable)(responses, self._assemblies.content)
        score = bound_score(ceil_score(raw, self.ceiling))
        score.attrs["independent_variable"] = variable
        if "reason" in raw.attrs:
            score.attrs["reason"] = raw.attrs["reason"]
        return score

    def _metric(self, variable: str = "image_label") -> Any:
        return load_metric(
            "threshold_elevation",
            independent_variable=variable,
            baseline_condition=BASELINE_CONDITION,
            test_condition=self.condition,
            threshold_accuracy=THRESHOLD_ACCURACY,
        )
