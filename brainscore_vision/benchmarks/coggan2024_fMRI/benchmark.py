"""Similarity of occluded objects in models and in human V1, V2, V4 and IT (Coggan & Tong 2024)."""

from typing import Final

import numpy as np
from numpy.typing import NDArray

from brainscore_core.benchmarks import bound_score, ceil_score
from brainscore_core.errors import NotApplicable, UserError
from brainscore_core.metrics import Score, Uncertainty
from brainscore_core.provenance import note
from brainscore_core.supported_data_standards.brainio.assemblies import DataAssembly
from brainscore_vision import load_dataset
from brainscore_vision.benchmark_helpers.aggregation import agreement_of_subjects, mean_over_subjects
from brainscore_vision.benchmark_helpers.measurements import VisualMeasurements, describe, require_coords
from brainscore_vision.benchmark_helpers.neural_common import RecordingBenchmark, patterns, record
from brainscore_vision.data.coggan2024_fMRI import BIBTEX
from brainscore_vision.model_interface import BrainModel
from brainscore_vision.utils import LazyLoad

VISUAL_DEGREES: Final = 9
NUMBER_OF_TRIALS: Final = 1
TIME_BIN: Final = (0, 250)
SQUARED: Final = "as published, the score is the square of raw / ceiling, with the sign of raw"
"""A remark for receipts: the rules of other benchmarks do not square the ceiling."""
LEAST_MEAN: Final = 3.1
"""Units are used whose mean response exceeds this many standard deviations of all units' means."""

_Array = NDArray[np.float64]


class Coggan2024_fMRI_Benchmark(RecordingBenchmark):  # noqa: N801 -- the published name
    """Compares the similarity of 24 stimuli (8 objects, 3 occlusions) in a region of a model and of 9 people.

    The measurements are matrices of similarities (Pearson correlations between response patterns), one a subject and
    region. The model's matrix is made of the units that respond most (:func:`similarities`) and correlated (Pearson,
    off the diagonal) with each subject's; the raw score is the mean. The score is (raw / ceiling)², the ceiling the
    mean correlation of a subject's matrix with the mean of the others': the lower bound of the noise ceiling [2]_.

    `region`: ``'V1'``, ``'V2'``, ``'V4'`` or ``'IT'``.

    Notes
    -----
    A negative correlation keeps its sign when it is squared, so that it is clamped to 0; the published implementation
    rewards it. Stimuli are matched by ``stimulus_id``. The interval of the score is a t interval over subjects,
    together with the jackknife of the ceiling as if the two were independent.

    References
    ----------
    .. [1] Coggan & Tong 2024, Evidence of strong amodal completion in both early and high-level visual cortices.
    .. [2] Nili et al. 2014, https://doi.org/10.1371/journal.pcbi.1003553
    """

    def __init__(self, region: str) -> None:
        self._region = region
        self._assembly: LazyLoad[DataAssembly] = LazyLoad(lambda: load_dataset("Coggan2024_fMRI"))
        super().__init__(
            identifier=f"tong.Coggan2024_fMRI.{region}-rdm",
            version=1,
            ceiling_func=lambda: between_subjects(*self._of_subjects()),
            parent=region,
            bibtex=BIBTEX,
        )

    def measurements(self) -> VisualMeasurements:
        """Matrices of similarities; the comparison with them is the benchmark's own."""
        return VisualMeasurements(
            benchmark=self.identifier,
            measured=self._assembly,
            compares="matrices",
            region=self._region,
            time_bins=(TIME_BIN,),
            number_of_trials=NUMBER_OF_TRIALS,
            visual_degrees=VISUAL_DEGREES,
        )

    def __call__(self, candidate: BrainModel) -> Score:
        """Record from `candidate` and compare with each subject.

        Result: in [0, 1]; ``attrs['raw']`` is the mean correlation, whose own ``attrs['raw']`` has that of each
        subject. A NotApplicable if the candidate has no such region, or fewer than two of its units respond strongly
        enough.
        """
        assembly = self._assembly.content
        (recordings,) = record(candidate, self.measurements(), [assembly.stimulus_set])
        responses = np.asarray(patterns(recordings, assembly["stimulus_id"].values), dtype=np.float64)
        (of_model,) = _off_diagonal(similarities(responses)[np.newaxis])
        matrices, subjects = self._of_subjects()
        values = np.array([_correlation(of_model, of_subject) for of_subject in _off_diagonal(matrices)])
        raw = mean_over_subjects(values, subjects, shown="24 stimuli")
        note("remark", text=SQUARED)
        return bound_score(_squared(ceil_score(raw, self.ceiling)))

    def _of_subjects(self) -> tuple[_Array, list[str]]:
        """Matrices (subject × stimulus × stimulus) of this region, and whose they are."""
        assembly = self._assembly.content
        needed = {"stimulus_id": "presentation", "region": "neuroid", "subject": "neuroid"}
        require_coords(assembly, needed)
        if sorted(map(str, assembly.dims)) != ["neuroid", "presentation", "presentation"]:
            raise UserError(
                f"{describe(assembly)} has the dimensions {' × '.join(map(str, assembly.dims))}",
                remedy="matrices of similarities are presentation × presentation × neuroid, with one neuroid a "
                "subject and region",
            )
        of_region = np.flatnonzero(assembly["region"].values == self._region)
        if not len(of_region):
            raise UserError(
                f"{describe(assembly)} has no matrix whose coordinate 'region' is {self._region!r}",
                remedy=f"there are {', '.join(sorted(set(map(str, assembly['region'].values))))}",
            )
        matrices = np.moveaxis(assembly.values, assembly.dims.index("neuroid"), 0)[of_region]
        return np.asarray(matrices, dtype=np.float64), [str(one) for one in assembly["subject"].values[of_region]]


def similarities(patterns: _Array) -> _Array:
    """Correlations between response patterns, over the units that respond most.

    Units that do not vary are left out; of the others those are kept whose mean over stimuli, in magnitude, exceeds
    3.1 standard deviations of the units' means; each is then standardised over stimuli.

    Parameters
    ----------
    patterns : array, stimuli × units
        Responses.

    Returns
    -------
    array, stimuli × stimuli
        Pearson correlations.

    Raises
    ------
    NotApplicable
        If fewer than two units are left.

    Examples
    --------
    >>> patterns = np.array([[9.0, 1.0, 5.0], [8.0, 3.0, 4.0], [7.0, 2.0, 5.0]]) + 10
    >>> similarities(patterns).round(2)
    array([[ 1.  , -0.72, -0.35],
           [-0.72,  1.  , -0.4 ],
           [-0.35, -0.4 ,  1.  ]])
    """
    varying = patterns[:, patterns.std(axis=0) > 0]
    means = varying.mean(axis=0)
    strong = varying[:, np.abs(means) > LEAST_MEAN * means.std()] if means.size else varying
    if strong.shape[1] < 2:
        raise NotApplicable(
            f"{strong.shape[1]} of {patterns.shape[1]} units have a mean response above {LEAST_MEAN} standard "
            "deviations of the units' means; patterns need at least two"
        )
    return np.asarray(np.corrcoef((strong - strong.mean(axis=0)) / strong.std(axis=0)))


def between_subjects(matrices: _Array, subjects: list[str]) -> Score:
    """Mean correlation of each subject's similarities with the mean of the others'.

    `matrices`: similarities. `subjects`: their names. Result: with ``raw`` (subject); ``error`` and ``ci`` from the
    jackknife over subjects.
    """
    return agreement_of_subjects(_off_diagonal(matrices), _correlation, subjects)


def _correlation(first: _Array, second: _Array) -> float:
    return float(np.corrcoef(first, second)[0, 1])


def _off_diagonal(matrices: _Array) -> _Array:
    off = ~np.eye(matrices.shape[-1], dtype=bool)
    return np.asarray(matrices[:, off])


def _squared(ratio: Score) -> Score:
    """Square a score, its sign kept, and its uncertainty with it."""

    def squared(value: float) -> float:
        return float(np.copysign(value**2, value))

    result = Score(squared(float(ratio)), attrs={key: ratio.attrs[key] for key in ("raw", "ceiling", "scale")})
    result.attrs["uncertainty"] = Uncertainty.of(ratio).mapped(squared, 2 * abs(float(ratio)))
    return result
