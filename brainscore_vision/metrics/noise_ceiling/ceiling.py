"""How much of the averaged responses is signal, and how well subjects predict each other."""

from dataclasses import KW_ONLY, dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from brainscore_core.metric_helpers.alignment import (
    MetricInputError,
    as_table,
    coord_values,
    finite_values,
    listed,
    match_rows,
)
from brainscore_core.metric_helpers.uncertainty import attach_jackknife, attach_neuroid_interval, note_undefined
from brainscore_core.metrics import Ceiling, Score
from brainscore_core.numerics import pearson
from brainscore_core.numerics.noise import noise_ceiling_fraction, signal_to_noise
from brainscore_core.numerics.resampling import mean, median
from brainscore_core.supported_data_standards.brainio.assemblies import DataAssembly, coords_for_dim
from brainscore_core.supported_data_standards.brainio.stimulus_groups import grouping_of
from brainscore_vision.metric_helpers.repetitions import find_drift, require_own_responses

_FLAT = 1e-20
"""Variance, as a share of the largest one of a subject, below which a correlation is 0/0."""


@dataclass(eq=False)
class NoiseCeilingSNR(Ceiling):
    """Noise ceiling from the signal-to-noise ratio of single presentations (ncsnr) [1]_.

    The value is the median over neuroids of ncsnr² / (ncsnr² + 1/n): the share of variance that is signal in responses
    averaged over n presentations. Times 100 it is the published noise ceiling in percent.

    `repetitions`: n. By default what the assembly has; where stimuli differ, 1/n is averaged over stimuli, as
    published. `stimulus_coord`: coordinate that names the stimulus of a presentation.

    Notes
    -----
    Noise is the variance over a stimulus' presentations (ddof 1), averaged over stimuli; signal is the variance of all
    presentations minus noise, 0 where that is negative. The published responses were z-scored in each session before;
    do so where sessions differ in offset or gain, else this counts as noise. NaN counts as not measured; a neuroid
    that does not vary, or without a stimulus that was measured twice, is NaN.

    ``attrs``: ``raw`` (neuroid, shares), ``ncsnr`` (neuroid), ``rectified`` (how many neuroids have no signal),
    ``error`` and ``ci`` from a bootstrap over neuroids (no error was published), ``meaning``: ``'reliability'``,
    ``drift``: as of ``internal_consistency``, where there is a coordinate ``repetition``.

    References
    ----------
    .. [1] Allen et al. (2022). Nature Neuroscience 25, 116–126. https://doi.org/10.1038/s41593-021-00962-x

    Examples
    --------
    >>> from brainscore_core.supported_data_standards.brainio.assemblies import NeuroidAssembly
    >>> rng = np.random.default_rng(0)
    >>> stimuli = np.tile(np.arange(300), 3)
    >>> assembly = NeuroidAssembly(
    ...     rng.standard_normal((300, 40))[stimuli] + 2 * rng.standard_normal((900, 40)),
    ...     coords={"stimulus_id": ("presentation", stimuli), "neuroid_id": ("neuroid", np.arange(40))},
    ...     dims=["presentation", "neuroid"])
    >>> ceiling = NoiseCeilingSNR()(assembly)
    >>> float(ceiling.round(1)), float(ceiling.attrs["ncsnr"].median().round(1))  # 1 / (1 + 4 / 3) = 0.43
    (0.4, 0.5)
    """

    meaning = "reliability"

    repetitions: int | None = None
    _: KW_ONLY
    stimulus_coord: str = "stimulus_id"

    def __post_init__(self) -> None:
        if self.repetitions is not None and self.repetitions < 1:
            raise MetricInputError(
                f"repetitions is {self.repetitions}",
                remedy="pass the number of presentations that are averaged, 1 or more",
            )

    def __call__(self, assembly: DataAssembly) -> Score:
        """Estimate the share of signal in `assembly`.

        `assembly`: presentation × neuroid. Result: a Score between 0 and 1. A MetricInputError if no stimulus was
        presented twice, or repetitions are copies.
        """
        assembly = as_table(assembly, ("presentation", "neuroid"), role="assembly")
        stimuli = coord_values(assembly, self.stimulus_coord, role="assembly")
        values = np.asarray(assembly.values)
        if values.dtype.kind not in "fiub":
            raise MetricInputError(f"the assembly holds values of type {values.dtype}", remedy="pass recordings")
        if not values.shape[1]:
            raise MetricInputError("the assembly has no neuroids", remedy="check the selection before it")
        codes = pd.factorize(stimuli, use_na_sentinel=False)[0]
        if not len(codes) or np.bincount(codes).max() < 2:
            raise MetricInputError(
                f"no stimulus of {self.stimulus_coord!r} was presented twice, so there is no estimate of noise",
                remedy="pass the recordings before repetitions were averaged "
                "(for example load_assembly(average_repetitions=False))",
            )
        require_own_responses(values, codes)
        drift = "unknown"
        if "repetition" in assembly.coords:
            repetitions = pd.factorize(assembly["repetition"].values)[0]
            groups = grouping_of(assembly.isel(presentation=np.unique(codes, return_index=True)[1])).values
            drift = find_drift(assembly, values, codes, repetitions, groups=groups)
        estimate = signal_to_noise(values, codes)
        inverse = estimate.inverse_repetitions if self.repetitions is None else 1 / self.repetitions
        coords = coords_for_dim(assembly, "neuroid")
        raw = Score(noise_ceiling_fraction(estimate.ncsnr, inverse), coords=coords, dims=["neuroid"])
        score = Score(float(median(raw.values, 0)))
        score.attrs = {
            Score.RAW_VALUES_KEY: raw,
            "ncsnr": Score(estimate.ncsnr, coords=coords, dims=["neuroid"]),
            "rectified": int((estimate.unrectified < 0).sum()),
            "meaning": self.meaning,
            "drift": drift,
        }
        return note_undefined(attach_neuroid_interval(score, raw), raw.values, what="the signal-to-noise ratio")


class InterSubjectConsistency(Ceiling):
    """How well a subject's responses correlate with the mean of the other subjects' (leave one subject out) [1]_.

    The value is the mean over subjects of the median over neuroids of the Pearson correlation over stimuli.

    `subject_coord`: coordinate of ``presentation`` that tells subjects apart. `stimulus_coord`: coordinate by which
    subjects' stimuli are matched.

    Notes
    -----
    Neuroids must mean the same in all subjects: parcels, electrodes of a cap, voxels in a common space, or the columns
    of a behavioural measure. It is a lower bound on what the best model reaches in a subject, since the others' mean is
    noisy; a model of the group can exceed it.

    A neuroid that does not vary in a subject, or in the others' mean, is NaN there, is left out by the median and
    counted in ``attrs['undefined']``; NaN in the input is an error.

    ``attrs``: ``raw`` (subject × neuroid); ``error`` and ``ci`` from the jackknife over subjects (Student's t), in
    which the others' mean is formed anew; ``meaning``: ``'human-human'``.

    References
    ----------
    .. [1] Nili et al. (2014). PLOS Computational Biology 10, e1003553. https://doi.org/10.1371/journal.pcbi.1003553

    Examples
    --------
    >>> from brainscore_core.supported_data_standards.brainio.assemblies import NeuroidAssembly
    >>> rng = np.random.default_rng(0)
    >>> stimuli, subjects = np.tile(np.arange(200), 5), np.repeat(list("abcde"), 200)
    >>> assembly = NeuroidAssembly(
    ...     rng.standard_normal((200, 30))[stimuli] + rng.standard_normal((1000, 30)),
    ...     coords={"stimulus_id": ("presentation", stimuli), "subject": ("presentation", subjects),
    ...             "neuroid_id": ("neuroid", np.arange(30))},
    ...     dims=["presentation", "neuroid"])
    >>> float(InterSubjectConsistency()(assembly).round(1))  # 1 / sqrt((1 + 1) * (1 + 1 / 4)) = 0.63
    0.6
    """

    meaning = "human-human"
    scales = ("correlation",)

    def __init__(self, subject_coord: str = "subject", *, stimulus_coord: str = "stimulus_id") -> None:
        self.subject_coord = subject_coord
        self.stimulus_coord = stimulus_coord

    def __call__(self, assembly: DataAssembly) -> Score:
        """Correlate each subject of `assembly` with the others.

        `assembly`: presentation × neuroid; each subject's responses to the same stimuli, repetitions averaged. A
        MetricInputError if there are fewer than two subjects, they saw different stimuli, values are missing, or
        subjects' responses are copies.
        """
        assembly = as_table(assembly, ("presentation", "neuroid"), role="assembly")
        responses, subjects = self._cube(assembly)
        values = _leave_one_out(responses)
        coords: dict[str, Any] = {"subject": ("subject", subjects)} | coords_for_dim(assembly, "neuroid")
        score = Score(_center(values))
        score.attrs = {
            Score.RAW_VALUES_KEY: Score(values, coords=coords, dims=["subject", "neuroid"]),
            "meaning": self.meaning,
        }
        score.attrs["undefined"] = int(np.isnan(values).sum())
        return attach_jackknife(
            score,
            lambda: _without_one(responses),
            subjects=subjects,
            units="subjects for these stimuli",
            estimates="mean over subjects of the median over neuroids",
            undefined="the correlation of subjects is undefined: their responses do not vary",
        )

    def _cube(self, assembly: DataAssembly) -> tuple[NDArray[np.float64], NDArray[Any]]:
        """Responses, subjects × stimuli × neuroids, and the subjects."""
        coord = self.subject_coord
        if coord in assembly.coords and assembly[coord].dims == ("neuroid",):
            raise MetricInputError(
                f"{coord!r} is a coordinate of the neuroids, so that no neuroid is measured in two subjects",
                remedy="map the subjects to common neuroids and stack them along 'presentation', or compare their "
                "geometry with the ceiling 'rsa_ceiling'",
            )
        labels = coord_values(assembly, coord, role="assembly")
        if pd.isna(labels).any():
            raise MetricInputError(f"coordinate {coord!r} has missing values", remedy="name the subject of each row")
        subjects = pd.factorize(labels, sort=True)[1]
        if len(subjects) < 2:
            raise MetricInputError(
                f"the assembly has {len(subjects)} subject; at least two are compared",
                remedy="pass the responses of all subjects, before they are averaged",
            )
        names = [f"responses of subject {listed([subject])}" for subject in subjects]
        of_subjects = [assembly.isel(presentation=np.flatnonzero(labels == subject)) for subject in subjects]
        rows = []
        for responses, name in zip(of_subjects, names, strict=True):
            order = match_rows(responses, of_subjects[0], self.stimulus_coord, roles=(name, names[0]))
            rows.append(finite_values(responses, role=name)[order].astype(np.float64))
        shown = np.tile(np.arange(len(rows[0])), len(rows))
        require_own_responses(np.concatenate(rows), shown, of="responses of subjects")
        return np.stack(rows), np.asarray(subjects)


def _leave_one_out(responses: NDArray[np.float64]) -> NDArray[np.float64]:
    """Correlation over stimuli of each subject with the mean of the others: subjects × neuroids."""
    mean_of_others = (responses.sum(axis=0) - responses) / (len(responses) - 1)
    return np.asarray(pearson(responses, mean_of_others, axis=1))


def _without_one(responses: NDArray[np.float64]) -> list[float]:
    """The value without each subject in turn, from the inner products of the subjects' responses."""
    centred = responses - responses.mean(axis=1, keepdims=True)
    scale = np.sqrt(np.square(centred).sum(axis=1).max(axis=0))
    centred /= np.where(scale > 0, scale, 1.0)
    total = centred.sum(axis=0)
    variance = np.square(centred).sum(axis=1)  # subjects × neuroids, and so below
    with_all = np.einsum("msn,sn->mn", centred, total)
    of_all = np.square(total).sum(axis=0)
    result = []
    for i in range(len(responses)):
        shared = np.einsum("msn,sn->mn", centred, centred[i])
        covariance = with_all - variance - shared
        variance_of_others = of_all - 2 * (with_all + with_all[i] - shared) + variance + variance[i]
        varies = (variance > _FLAT) & (variance_of_others > _FLAT)
        values = np.where(varies, covariance / np.sqrt(np.where(varies, variance * variance_of_others, 1.0)), np.nan)
        result.append(_center(np.delete(values, i, axis=0)))
    return result


def _center(values: NDArray[np.float64]) -> float:
    return float(mean(median(values, 1), 0))
