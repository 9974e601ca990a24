"""Object solution times in macaque IT (Kar et al. 2019)."""

from typing import Final

import numpy as np

from brainscore_core.benchmarks import BenchmarkBase, bound_score, ceil_score
from brainscore_core.metric_helpers.alignment import PUBLISHED_ORDER
from brainscore_core.metrics import Score, declare_no_error
from brainscore_core.plugins.tables import read_citation
from brainscore_core.supported_data_standards.brainio.assemblies import DataAssembly
from brainscore_vision import load_dataset, load_metric
from brainscore_vision.benchmark_helpers.aggregation import constant_ceiling
from brainscore_vision.benchmark_helpers.measurements import VisualMeasurements, require_coords
from brainscore_vision.benchmark_helpers.neural_common import temporally_varying
from brainscore_vision.benchmark_helpers.screen import place_on_screen
from brainscore_vision.model_interface import BrainModel
from brainscore_vision.utils import LazyLoad

VISUAL_DEGREES: Final = 8
NUMBER_OF_TRIALS: Final = 44
TIME_BINS: Final = [(start, start + 10) for start in range(70, 250, 10)]
CEILING: Final = 0.79
_NO_ERROR = "the authors computed it offline and published no error"
_STATIC = "its recordings do not change over time, so that every image is solved at the same time"
BIBTEX = read_citation(__file__)


class DicarloKar2019OST(BenchmarkBase):
    """Correlates when an image's object can be read out of a model's IT with when it can be out of macaque IT [1]_.

    The metric is :class:`~brainscore_vision.metrics.ost.OSTCorrelation`; the score is its correlation, divided by the
    published ceiling of 0.79 (computed by the authors, without an error).

    Notes
    -----
    A model whose recordings of the first image do not change over time cannot have solution times: its score is NaN
    with the reason in ``attrs['reason']``, and the pair *undefined*. The other images are then not shown.

    References
    ----------
    .. [1] Kar et al. 2019, https://doi.org/10.1038/s41593-019-0392-5
    """

    def __init__(self) -> None:
        super().__init__(
            identifier="Kar2019-ost",
            version=2,
            ceiling_func=lambda: constant_ceiling(CEILING, meaning="upper bound", reason=_NO_ERROR),
            parent="IT",
            bibtex=BIBTEX,
        )
        self._assembly = LazyLoad(load_assembly)
        self._similarity_metric = load_metric("ost")
        self._time_bins = TIME_BINS

    def measurements(self) -> VisualMeasurements:
        """Times at which objects can be read out."""
        return VisualMeasurements(
            benchmark=self.identifier,
            measured=self._assembly,
            compares="times",
            metric=self._similarity_metric,
            relate=ceil_score,
            region=BrainModel.RecordingTarget.IT,
            time_bins=tuple(self._time_bins),
            number_of_trials=NUMBER_OF_TRIALS,
            visual_degrees=VISUAL_DEGREES,
        )

    def __call__(self, candidate: BrainModel) -> Score:
        """Record from `candidate`'s IT over time.

        Result: a Score in [0, 1], with ``raw``, ``ceiling``, ``error`` and ``ci`` in its attributes; NaN for a model
        without dynamics, or which solves too few images.
        """
        assembly: DataAssembly = self._assembly.content
        candidate.start_recording(BrainModel.RecordingTarget.IT, time_bins=self._time_bins)
        stimulus_set = place_on_screen(
            assembly.stimulus_set,
            target_visual_degrees=candidate.visual_degrees(),
            source_visual_degrees=VISUAL_DEGREES,
        )
        # recordings over time are large: one image tells whether they are of any use
        first = stimulus_set[:1].copy()
        first.identifier = None  # lest a model that goes by names takes these recordings for those of all images
        if not temporally_varying(candidate.look_at(first, number_of_trials=NUMBER_OF_TRIALS)):
            score = ceil_score(declare_no_error(Score(np.nan), _STATIC), self.ceiling)
            score.attrs["reason"] = _STATIC
            return score
        recordings = candidate.look_at(stimulus_set, number_of_trials=NUMBER_OF_TRIALS)
        return bound_score(ceil_score(self._similarity_metric(recordings, assembly), self.ceiling))


def load_assembly() -> DataAssembly:
    """Load the solution times that a support vector machine reads out, each image once, ordered by ``stimulus_id``.

    Result: presentation: times in ms, NaN for images that were never solved; with ``i1`` (the discriminability at which
    an image counts as solved), ``image_label`` and, equal to it, ``truth``. ``published_order`` is the order by
    ``stimulus_id``, in which images are divided into folds. A UserError if the data set lacks a coordinate; names data
    set, file and coordinate.
    """
    assembly = load_dataset("Kar2019")
    require_coords(
        assembly,
        {"stimulus_id": "presentation", "image_label": "presentation", "i1": "presentation", "decoder": "decoder"},
    )
    # two images are there twice
    _, first = np.unique(assembly["stimulus_id"].values, return_index=True)
    assembly = assembly.isel(presentation=first).sel(decoder="svm")
    assembly["truth"] = "presentation", assembly["image_label"].values
    assembly[PUBLISHED_ORDER] = "presentation", np.arange(assembly.sizes["presentation"])
    stimuli = assembly.stimulus_set.drop_duplicates("stimulus_id")
    stimuli["truth"] = stimuli["image_label"]
    assembly.attrs["stimulus_set"] = stimuli
    return assembly
