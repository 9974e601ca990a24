"""Image-level confusions of objects (Rajalingham et al. 2018)."""

from typing import Final, Literal, cast

from brainscore_core.benchmarks import bound_score
from brainscore_core.metrics import Score
from brainscore_core.plugins.tables import read_citation
from brainscore_core.supported_data_standards.brainio.assemblies import BehavioralAssembly
from brainscore_vision import load_dataset, load_metric
from brainscore_vision.benchmark_helpers.choices import ChoiceExperiment
from brainscore_vision.model_interface import BrainModel

BIBTEX = read_citation(__file__)

VISUAL_DEGREES: Final = 8
NUMBER_OF_TRIALS: Final = 2

Access = Literal["public", "private"]


class Rajalingham2018I2n(ChoiceExperiment):
    """Correlation of image-level confusions, d′ of each image and distractor less the mean of its object's images.

    People saw an image, then chose between its object and one of 23 others. The model learns the 24 objects from the
    public images (2,160) and gives the probability of each for the test images.

    `access`: ``'private'`` or ``'public'``; trials on the 240 private images, or on the public ones. On the latter,
    models are tested on the images that they learned from, and each image has few trials: d′ that only one half of the
    trials has are left out of the ceiling.

    Notes
    -----
    Both answer to the identifier ``Rajalingham2018-i2n``, as published; registered are ``Rajalingham2018-i2n`` and
    ``Rajalingham2018public-i2n``. The score is i2n / √ceiling, half by half of the trials, averaged over two halvings.

    References
    ----------
    .. [1] Rajalingham et al. 2018, https://doi.org/10.1523/JNEUROSCI.0388-18.2018
    """

    def __init__(self, access: Access = "private") -> None:
        super().__init__(
            "Rajalingham2018-i2n",
            load=lambda: load_assembly(access),
            metric=load_metric("i2n"),
            visual_degrees=VISUAL_DEGREES,
            number_of_trials=NUMBER_OF_TRIALS,
            version=2,
            ceiling_func=lambda: self._metric.ceiling(self._assembly.content, skipna=access == "public"),
            parent="behavior",
            bibtex=BIBTEX,
            fitting_stimuli="objectome.public",
        )

    def __call__(self, candidate: BrainModel) -> Score:
        """Let `candidate` learn the objects, and name those of the test images.

        Result: i2n / √ceiling, in [0, 1]; ``attrs['raw']`` is i2n. A NotApplicable if `candidate` cannot do the task.
        """
        self._learn(candidate)
        assembly = self._assembly.content
        probabilities = self._look(candidate, assembly.stimulus_set)
        return bound_score(self._metric.ceil_score(self._metric(probabilities, assembly), self.ceiling))


def load_assembly(access: Access = "private") -> BehavioralAssembly:
    """People's choices, one a trial.

    `access`: ``'private'`` or ``'public'``. Result: presentation, with the levels stimulus_id, sample_obj (the object
    shown), dist_obj (the other one on offer) and ``correct``: whether the object shown was chosen.
    """
    assembly = cast("BehavioralAssembly", load_dataset(f"Rajalingham2018.{access}"))
    return assembly.assign_coords(correct=("presentation", assembly.values == assembly["sample_obj"].values))
