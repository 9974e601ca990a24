"""How well the best model's RDM can correlate with several subjects' RDMs."""

from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from brainscore_core.metric_helpers.alignment import MetricInputError, as_table, finite_values, listed, match_rows
from brainscore_core.metric_helpers.uncertainty import attach_jackknife
from brainscore_core.metrics import Ceiling, Score
from brainscore_core.numerics import noise_ceiling, rdm
from brainscore_core.supported_data_standards.brainio.assemblies import DataAssembly


class RSACeiling(Ceiling):
    """Noise ceiling of representational similarity over subjects [1]_.

    The value is the upper bound: the mean over subjects of the Spearman correlation of a subject's RDM with the mean
    (of the ranked RDMs) of all subjects, itself included. ``attrs['lower_bound_loo']`` is the lower bound: with the
    mean of the others. The best model's correlation lies between the two.

    `subject_coord`: coordinate that tells subjects apart: of ``neuroid`` (voxels of several subjects) or of
    ``presentation`` (each subject's presentations). `rank`: whether each RDM is ranked before RDMs are averaged, as
    Nili et al. do for Spearman correlations, so that the bound is one. The existing platform averages them as they are
    (``rank=False``).

    Notes
    -----
    ``attrs``: ``raw`` (subject), ``lower_bound_loo``, ``lower_bound_raw`` (subject), ``error`` and ``ci`` of the upper
    bound from the jackknife over subjects (Student's t), ``meaning`` ``'upper bound'``. NaN with a reason where a
    subject has a stimulus to which all its neuroids respond alike.

    References
    ----------
    .. [1] Nili et al. (2014). PLOS Computational Biology 10, e1003553. https://doi.org/10.1371/journal.pcbi.1003553

    Examples
    --------
    >>> from brainscore_core.supported_data_standards.brainio.assemblies import NeuroidAssembly
    >>> pattern = np.random.default_rng(0).standard_normal((10, 6))
    >>> assembly = NeuroidAssembly(
    ...     np.hstack([pattern, 2 * pattern, pattern + 1]),
    ...     coords={"stimulus_id": ("presentation", list("abcdefghij")),
    ...             "subject": ("neuroid", np.repeat([1, 2, 3], 6)), "neuroid_id": ("neuroid", np.arange(18))},
    ...     dims=["presentation", "neuroid"])
    >>> ceiling = RSACeiling()(assembly)
    >>> round(float(ceiling), 3), round(ceiling.attrs["lower_bound_loo"], 3)
    (1.0, 1.0)
    """

    meaning = "upper bound"
    matrices = "dissimilarities"

    def __init__(self, subject_coord: str = "subject", *, rank: bool = True) -> None:
        self._subject_coord = subject_coord
        self._rank = rank

    def __call__(self, assembly: DataAssembly) -> Score:
        """Estimate the bounds.

        `assembly`: presentation × neuroid; all subjects' recordings of the same stimuli. A MetricInputError if there
        are fewer than two subjects, or they saw different stimuli, or values are missing.
        """
        assembly = as_table(assembly, ("presentation", "neuroid"), role="assembly")
        coord = self._subject_coord
        if coord not in assembly.coords:
            raise MetricInputError(
                f"the assembly has no coordinate {coord!r}",
                remedy=f"add it along 'neuroid' or 'presentation', such as coords={{{coord!r}: ('neuroid', subjects)}}",
            )
        (dim,) = assembly[coord].dims
        labels = np.asarray(assembly[coord].values)
        subjects = pd.factorize(labels, sort=True)[1]
        if len(subjects) < 2:
            raise MetricInputError(
                f"the assembly has {len(subjects)} subject; a noise ceiling compares at least two",
                remedy="pass the recordings of all subjects, before they are averaged",
            )
        of_subjects = [assembly.isel({dim: np.flatnonzero(labels == subject)}) for subject in subjects]
        if dim == "presentation":
            names = [f"subject {listed([subject])}" for subject in subjects]
            of_subjects = [
                recordings.isel(presentation=match_rows(recordings, of_subjects[0], roles=(name, names[0])))
                for recordings, name in zip(of_subjects, names, strict=True)
            ]
        if of_subjects[0].sizes["presentation"] < 3:
            raise MetricInputError("fewer than 3 stimuli have no geometry", remedy="use at least 3 stimuli")
        rdms = [
            rdm(finite_values(recordings, role=f"recordings of subject {listed([subject])}"))
            for recordings, subject in zip(of_subjects, subjects, strict=True)
        ]
        return ceiling_of_rdms(np.stack(rdms), subjects=np.asarray(subjects), rank=self._rank)


def ceiling_of_rdms(rdms: NDArray[np.float64], *, subjects: NDArray[Any] | None = None, rank: bool = True) -> Score:
    """Noise ceiling of subjects' RDMs, as :class:`RSACeiling` returns it.

    `rdms` are subjects × pairs, upper triangles; `rank`: each RDM is ranked before RDMs are averaged.
    """
    bounds = noise_ceiling(rdms, rank=rank)
    score = Score(bounds.upper)
    coords = {"subject": ("subject", np.arange(len(rdms)) if subjects is None else subjects)}
    score.attrs = {
        Score.RAW_VALUES_KEY: Score(bounds.upper_values, coords=coords, dims=["subject"]),
        "lower_bound_loo": bounds.lower,
        "lower_bound_raw": Score(bounds.lower_values, coords=coords, dims=["subject"]),
        "scale": "similarity",
        "meaning": "upper bound",
    }
    return attach_jackknife(
        score,
        lambda: _without_one(rdms, rank=rank).tolist(),
        subjects=coords["subject"][1],
        units="subjects",
        estimates="upper bound of the noise ceiling",
        undefined="a subject's RDM does not vary, or has a stimulus without a pattern",
    )


def _without_one(rdms: NDArray[np.float64], *, rank: bool) -> NDArray[np.float64]:
    """Upper bound without each subject in turn, in a few matrix products; NaN where an RDM is NaN or does not vary."""
    from scipy.stats import rankdata

    rank_rdms = rankdata(rdms, axis=1, nan_policy="propagate")
    averaged = rank_rdms if rank else rdms
    means = rankdata(averaged.sum(axis=0) - averaged, axis=1, nan_policy="propagate")
    with np.errstate(invalid="ignore"):
        units = [side - side.mean(axis=1, keepdims=True) for side in (rank_rdms, means)]
        units = [side / np.linalg.norm(side, axis=1, keepdims=True) for side in units]
        correlations = units[0] @ units[1].T  # subject × who is left out
    return np.asarray((correlations.sum(axis=0) - np.diag(correlations)) / (len(rdms) - 1))
