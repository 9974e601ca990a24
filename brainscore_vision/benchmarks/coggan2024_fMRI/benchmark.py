"""Similarity of occluded objects in models and in human V1, V2, V4 and IT (Coggan & Tong 2024)."""

from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from brainscore_core.benchmarks import BenchmarkBase, bound_score, ceil_score
from brainscore_core.errors import NotApplicable, UserError
from brainscore_core.metric_helpers.alignment import as_table, coord_values, finite_values
from brainscore_core.metric_helpers.uncertainty import attach_influence, attach_interval, attach_jackknife
from brainscore_core.metrics import Score, Uncertainty
from brainscore_core.provenance import note
from brainscore_core.supported_data_standards.brainio.assemblies import DataAssembly
from brainscore_vision import load_dataset
from brainscore_vision.benchmark_helpers.measurements import VisualMeasurements, describe, require_coords
from brainscore_vision.benchmark_helpers.neural_common import record
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


class Coggan2024_fMRI_Benchmark(BenchmarkBase):  # noqa: N801 -- the published name
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
        self.region = region
        self.timebins = [TIME_BIN]
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
            region=self.region,
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
        of_model = similarities(_patterns(recordings, [str(one) for one in assembly["stimulus_id"].values]))
        raw = _mean_correlation(of_model, *self._of_subjects())
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
        of_region = np.flatnonzero(assembly["region"].values == self.region)
        if not len(of_region):
            raise UserError(
                f"{describe(assembly)} has no matrix whose coordinate 'region' is {self.region!r}",
                remedy=f"there are {', '.join(sorted(set(map(str, assembly['region'].values))))}",
            )
        matrices = np.moveaxis(assembly.values, assembly.dims.index("neuroid"), 0)[of_region]
        return np.asarray(matrices, dtype=np.float64), [str(one) for one in assembly["subject"].values[of_region]]


def Coggan2024_V1() -> Coggan2024_fMRI_Benchmark:  # noqa: N802 -- the published name
    """``tong.Coggan2024_fMRI.V1-rdm``."""
    return Coggan2024_fMRI_Benchmark("V1")


def Coggan2024_V2() -> Coggan2024_fMRI_Benchmark:  # noqa: N802 -- the published name
    """``tong.Coggan2024_fMRI.V2-rdm``."""
    return Coggan2024_fMRI_Benchmark("V2")


def Coggan2024_V4() -> Coggan2024_fMRI_Benchmark:  # noqa: N802 -- the published name
    """``tong.Coggan2024_fMRI.V4-rdm``."""
    return Coggan2024_fMRI_Benchmark("V4")


def Coggan2024_IT() -> Coggan2024_fMRI_Benchmark:  # noqa: N802 -- the published name
    """``tong.Coggan2024_fMRI.IT-rdm``."""
    return Coggan2024_fMRI_Benchmark("IT")


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
    pairs = _off_diagonal(matrices)
    values = _with_others(pairs)
    score = Score(values.mean())
    score.attrs = {
        Score.RAW_VALUES_KEY: Score(values, coords={"subject": ("subject", subjects)}, dims=["subject"]),
        "scale": "similarity",
        "meaning": "human-human",
    }
    return attach_jackknife(
        score,
        lambda: [_with_others(np.delete(pairs, i, axis=0)).mean() for i in range(len(pairs))],
        subjects=subjects,
        units="subjects for these stimuli",
        estimates="correlation of a subject with the others",
    )


def _with_others(pairs: _Array) -> _Array:
    total = pairs.sum(axis=0)
    return np.array([np.corrcoef(one, (total - one) / (len(pairs) - 1))[0, 1] for one in pairs])


def _mean_correlation(of_model: _Array, matrices: _Array, subjects: list[str]) -> Score:
    from brainscore_core.numerics import bootstrap_interval, mean_influence

    (mine,) = _off_diagonal(of_model[np.newaxis])
    values = np.array([np.corrcoef(mine, one)[0, 1] for one in _off_diagonal(matrices)])
    score = Score(values.mean())
    each = Score(values, coords={"subject": ("subject", subjects)}, dims=["subject"])
    score.attrs.update({Score.RAW_VALUES_KEY: each, "scale": "similarity"})
    attach_influence(score, mean_influence(values), units="subjects", ids=subjects)
    interval = bootstrap_interval(values, "mean", method="t", units="subjects")
    return attach_interval(score, interval, units="subjects for these 24 stimuli", estimates="mean correlation")


def _off_diagonal(matrices: _Array) -> _Array:
    off = ~np.eye(matrices.shape[-1], dtype=bool)
    return np.asarray(matrices[:, off])


def _squared(ratio: Score) -> Score:
    """Square a score, its sign kept, and its uncertainty with it."""

    def squared(value: float) -> float:
        return float(np.copysign(value**2, value))

    result = Score(squared(float(ratio)))
    result.attrs = {key: ratio.attrs[key] for key in ("raw", "ceiling", "scale") if key in ratio.attrs}
    result.attrs["uncertainty"] = Uncertainty.of(ratio).mapped(squared, 2 * abs(float(ratio)))
    return result


def _patterns(recordings: Any, stimulus_ids: list[str]) -> _Array:
    """Responses of the model, in the order of the measurements."""
    table = as_table(recordings, ("presentation", "neuroid"), role="recordings")
    values = np.asarray(finite_values(table, role="recordings"), dtype=np.float64)
    names = [str(one) for one in coord_values(table, "stimulus_id", role="recordings")]
    if sorted(names) != sorted(stimulus_ids):
        raise UserError(
            f"the model's recordings are of {len(names)} presentations of {len(set(names))} stimuli, but "
            f"{len(stimulus_ids)} stimuli were shown, once each",
            remedy="look_at must return one presentation for each stimulus, with its stimulus_id",
        )
    return values[[names.index(one) for one in stimulus_ids]]
