"""Dissimilarities of animals, lookalikes and objects in models and in human ventral cortex (Bracci et al. 2019)."""

from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from brainscore_core.benchmarks import bound_score, ceil_score
from brainscore_core.errors import UserError
from brainscore_core.metrics import Score
from brainscore_core.supported_data_standards.brainio.assemblies import DataAssembly, NeuroidAssembly, coords_for_dim
from brainscore_vision import load_dataset, load_metric, load_stimulus_set
from brainscore_vision.benchmark_helpers.aggregation import agreement_of_subjects
from brainscore_vision.benchmark_helpers.measurements import VisualMeasurements, describe, require_coords
from brainscore_vision.benchmark_helpers.neural_common import RecordingBenchmark, record
from brainscore_vision.data.bracci2019 import BIBTEX
from brainscore_vision.model_interface import BrainModel
from brainscore_vision.utils import LazyLoad

VISUAL_DEGREES: Final = 8
NUMBER_OF_TRIALS: Final = 1
TIME_BIN: Final = (70, 170)

_DATA: Final = "Bracci2019"
_Array = NDArray[np.float64]


class _Region(NamedTuple):
    roi: int
    """Number of the region in the data."""
    of_model: str


_REGIONS: Final = {"V1": _Region(0, "V1"), "posteriorVTC": _Region(1, "IT"), "anteriorVTC": _Region(2, "IT")}


class Bracci2019RSA(RecordingBenchmark):
    """Spearman correlation between the dissimilarities of 27 stimuli in a model's region and in people's.

    Each voxel is centred over stimuli, voxels of the same number are averaged over subjects, and the dissimilarities
    (1 − Pearson correlation) of the average are compared with the model's. The score is that correlation divided by
    the ceiling: how well one subject's dissimilarities correlate with the mean of the others', the lower bound of the
    noise ceiling [2]_.

    `region`: ``'anteriorVTC'``, which is published; ``'posteriorVTC'`` and ``'V1'`` are in the data, too. Models are
    recorded from in IT, in V1 for the last.

    Notes
    -----
    The published implementation's ``ceiling`` is the constant 1, and what the score is divided by is computed apart
    from it; here ``ceiling`` is what the score is divided by. The average over subjects is less noisy than one
    subject, so that a score can exceed the ceiling; it is then clamped to 1.

    The interval of the raw score is over stimuli, that of the ceiling over subjects (jackknife).

    References
    ----------
    .. [1] Bracci et al. 2019, https://doi.org/10.1523/JNEUROSCI.1714-18.2019
    .. [2] Nili et al. 2014, https://doi.org/10.1371/journal.pcbi.1003553
    """

    def __init__(self, region: str) -> None:
        if region not in _REGIONS:
            raise UserError(f"Bracci2019 has no region {region!r}", remedy=f"there are {', '.join(_REGIONS)}")
        self._roi, self._region = _REGIONS[region]
        self._metric = LazyLoad(lambda: load_metric("rdm"))
        self._assembly: LazyLoad[DataAssembly] = LazyLoad(lambda: _centred(load_dataset(_DATA), self._roi))
        super().__init__(
            identifier=f"Bracci2019.{region}-rdm",
            version=1,
            ceiling_func=lambda: between_subjects(self._assembly.content),
            parent="Bracci2019",
            bibtex=BIBTEX,
        )

    def measurements(self) -> VisualMeasurements:
        """Voxels of all subjects; the comparison with their average is the benchmark's own."""
        return VisualMeasurements(
            benchmark=self.identifier,
            measured=self._assembly,
            compares="averages of subjects",
            relate=ceil_score,
            region=self._region,
            time_bins=(TIME_BIN,),
            number_of_trials=NUMBER_OF_TRIALS,
            visual_degrees=VISUAL_DEGREES,
        )

    def __call__(self, candidate: BrainModel) -> Score:
        """Record from `candidate` and compare."""
        (recordings,) = record(candidate, self.measurements(), [load_stimulus_set(_DATA)])
        raw = self._metric(recordings, _average_subject(self._assembly.content))
        return bound_score(ceil_score(raw, self.ceiling))


def between_subjects(assembly: DataAssembly) -> Score:
    """Mean Spearman correlation of each subject's dissimilarities with the mean of the others'.

    `assembly`: presentation × neuroid, with ``subject`` on ``neuroid``. Result: a Score with ``raw`` (subject);
    ``error`` and ``ci`` from the jackknife over subjects.
    """
    from brainscore_core.numerics import compare_rdms, rdm

    of_neuroids = np.asarray(assembly["subject"].values)
    subjects = np.unique(of_neuroids)
    if len(subjects) < 2:
        raise UserError(
            f"{describe(assembly)} has {len(subjects)} subject, coordinate 'subject'",
            remedy="a ceiling between subjects needs at least two",
        )
    values = np.asarray(assembly.transpose("presentation", "neuroid").values, dtype=np.float64)
    rdms = np.stack([rdm(values[:, of_neuroids == subject]) for subject in subjects])
    return agreement_of_subjects(rdms, lambda own, others: compare_rdms(own, others).value, subjects)


def _centred(assembly: DataAssembly, roi: int) -> DataAssembly:
    """Voxels of one region, the mean over stimuli subtracted from each."""
    require_coords(
        assembly, {"stimulus_id": "presentation", "roi": "neuroid", "subject": "neuroid", "voxels": "neuroid"}
    )
    of_roi = np.flatnonzero(assembly["roi"].values == roi)
    if not len(of_roi):
        raise UserError(
            f"{describe(assembly)} has no voxel whose coordinate 'roi' is {roi}",
            remedy=f"there are {', '.join(map(str, np.unique(assembly['roi'].values)))}",
        )
    selected = assembly.isel(neuroid=of_roi).transpose("presentation", "neuroid")
    centred = selected - selected.mean(dim="presentation")
    centred.attrs = dict(assembly.attrs)
    return centred


def _average_subject(assembly: DataAssembly) -> NeuroidAssembly:
    """Mean over subjects of voxels of the same number."""
    numbers, voxel_of = np.unique(assembly["voxels"].values, return_inverse=True)
    values = np.asarray(assembly.values, dtype=np.float64)
    averaged = np.stack([values[:, voxel_of == voxel].mean(axis=1) for voxel in range(len(numbers))], axis=1)
    of_stimuli = coords_for_dim(assembly, "presentation")
    coords = {str(name): ("presentation", coord.values) for name, coord in of_stimuli.items()}
    return NeuroidAssembly(
        averaged,
        coords={**coords, "voxels": ("neuroid", numbers)},
        dims=["presentation", "neuroid"],
        attrs=assembly.attrs,
    )
