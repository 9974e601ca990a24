"""Top-1 accuracy on ImageNet (Deng et al. 2009)."""

from typing import Final

from brainscore_core.benchmarks import BenchmarkBase, bound_score, normalise
from brainscore_core.metrics import Score
from brainscore_core.supported_data_standards.brainio.assemblies import BehavioralAssembly
from brainscore_core.supported_data_standards.brainio.stimuli import StimulusSet
from brainscore_core.supported_data_standards.brainio.stimulus_groups import ATTRIBUTE
from brainscore_vision import load_metric
from brainscore_vision.benchmark_helpers.measurements import VisualMeasurements, choices_of
from brainscore_vision.benchmarks.imagenet.images import load_images, read_table
from brainscore_vision.data.imagenetslim15000 import BIBTEX
from brainscore_vision.model_interface import BrainModel
from brainscore_vision.stimuli.labels import imagenet_synsets
from brainscore_vision.utils import LazyLoad

NUMBER_OF_TRIALS: Final = 10


class Imagenet2012(BenchmarkBase):
    """Share of the 50,000 validation images that a model names with their class, one of 1,000.

    An engineering benchmark: it measures no people or animals. The images are shown as they are, not at a visual angle.

    Notes
    -----
    The model chooses among ImageNet's classes, which it has learned before. It receives names and files of the images,
    not their classes. :data:`~brainscore_vision.benchmarks.imagenet.images.IMAGES_VARIABLE` names the folder of the
    images.

    References
    ----------
    .. [1] Deng et al. 2009, https://doi.org/10.1109/CVPR.2009.5206848
    """

    def __init__(self) -> None:
        self._metric = load_metric("accuracy")
        self._stimulus_set: LazyLoad[StimulusSet] = LazyLoad(lambda: load_images(read_table()))
        super().__init__(
            identifier="ImageNet-top1",
            version=1,
            ceiling_func=self._metric.ceiling,
            parent="ImageNet",
            bibtex=BIBTEX,
        )

    def measurements(self) -> VisualMeasurements:
        """The right names of the images, which have no visual angle."""
        return choices_of(self, self._stimulus_set, None, NUMBER_OF_TRIALS)

    def __call__(self, candidate: BrainModel) -> Score:
        """Let `candidate` name the images.

        A DataUnavailable if images are not at hand; the message says where to obtain them.
        """
        candidate.start_task(BrainModel.Task.label, "imagenet")
        stimuli = self._stimulus_set.content
        classes = BehavioralAssembly(
            stimuli["synset"].to_numpy(dtype=object),
            coords={"stimulus_id": ("presentation", stimuli["stimulus_id"].to_numpy(dtype=object))},
            dims=["presentation"],
            attrs={ATTRIBUTE: "truth", "choices": imagenet_synsets()},
        )
        shown = stimuli.drop(columns="synset")
        shown.stimulus_paths, shown.identifier = stimuli.stimulus_paths, stimuli.identifier
        choices = candidate.look_at(shown, number_of_trials=NUMBER_OF_TRIALS)
        return bound_score(normalise(self._metric(choices, classes), self.ceiling))
