"""Whether models recognise objects by their shape, as people do, or by their texture (Geirhos et al. 2019)."""

from typing import Final, cast

from brainscore_core.benchmarks import BenchmarkBase, bound_score, normalise
from brainscore_core.metrics import Score
from brainscore_core.supported_data_standards.brainio.assemblies import BehavioralAssembly
from brainscore_vision import load_dataset, load_metric, load_stimulus_set
from brainscore_vision.benchmark_helpers.measurements import VisualMeasurements, choices_of
from brainscore_vision.benchmark_helpers.naming_task import label, only_shown, say_coverage
from brainscore_vision.data.geirhos2019 import BIBTEX
from brainscore_vision.model_interface import BrainModel
from brainscore_vision.utils import LazyLoad

VISUAL_DEGREES: Final = 3
NUMBER_OF_TRIALS: Final = 1
_DATA: Final = "Geirhos2019_cue-conflict"


class Geirhos2019ShapeBias(BenchmarkBase):
    """How close a model's shape bias is to people's.

    The model names 1,200 images that have the shape of one object and the texture of another, as ten observers did.
    Its shape bias is the share of shape decisions among its decisions for either cue. The score is
    1 − |shape bias of the model − shape bias of people|, relative to how close one observer is to the others.

    Notes
    -----
    Only every eighth image is pinned for download: without a folder that has all of them, models that look at images
    are scored on those 154, relative to people on the same; ``attrs['stimuli_shown']``,
    ``attrs['stimuli_of_experiment']`` and ``attrs['comment']`` of the score say so. The shape biases themselves are in
    ``attrs['shape_bias']`` and ``attrs['human_shape_bias']``.

    References
    ----------
    .. [1] Geirhos et al. 2019, https://doi.org/10.48550/arXiv.1811.12231
    """

    def __init__(self) -> None:
        self._metric = LazyLoad(lambda: load_metric("shape_bias"))
        self._assembly: LazyLoad[BehavioralAssembly] = LazyLoad(load_assembly)
        super().__init__(
            identifier="Geirhos2019-shape_bias",
            version=1,
            ceiling_func=lambda: self._metric.ceiling(self._assembly.content),
            parent="behavior",
            bibtex=BIBTEX,
        )

    def measurements(self) -> VisualMeasurements:
        """Choices of people."""
        return choices_of(self, self._assembly, VISUAL_DEGREES, NUMBER_OF_TRIALS)

    def __call__(self, candidate: BrainModel) -> Score:
        """Let `candidate` name the images.

        Result: similarity / ceiling, in [0, 1]; ``attrs['raw']`` is the similarity, whose own ``attrs['raw']`` is the
        shape bias of the model with its uncertainty.
        """
        assembly = self._assembly.content
        labels, shown = label(
            candidate,
            assembly,
            load_stimuli=lambda: load_stimulus_set(_DATA),
            visual_degrees=VISUAL_DEGREES,
            number_of_trials=NUMBER_OF_TRIALS,
        )
        people = only_shown(assembly, shown)
        raw = self._metric(labels, people)
        ceiling = self.ceiling if people is assembly else self._metric.ceiling(people)
        score = bound_score(normalise(raw, ceiling))
        for name in ("shape_bias", "human_shape_bias"):
            score.attrs[name] = raw.attrs[name]
        return say_coverage(score, shown, assembly)


def load_assembly() -> BehavioralAssembly:
    """People's trials on the images whose shape and texture are of different categories."""
    assembly = cast("BehavioralAssembly", load_dataset(_DATA))
    stimuli = assembly.attrs["stimulus_set"]
    conflict = assembly[{"presentation": assembly["shape"].values != assembly["texture"].values}]
    of_conflict = stimuli[stimuli["shape"] != stimuli["texture"]].reset_index(drop=True)
    conflict.attrs = {**assembly.attrs, "stimulus_set": of_conflict}
    return conflict
