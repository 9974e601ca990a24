"""Compare geometries, the brain's measured in units of its noise."""

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from brainscore_core.metrics import Metric, Score
from brainscore_core.numerics import crossnobis_rdm, mahalanobis_rdm, noise_precision, rdm
from brainscore_core.numerics.dissimilarity import condensed
from brainscore_core.supported_data_standards.brainio.assemblies import DataAssembly
from brainscore_vision.metric_helpers.alignment import MetricInputError, as_table, coord_values, finite_values, listed
from brainscore_vision.metric_helpers.geometry import geometry_score, matched

from .metric import NAMES, Comparison, compare, known_comparison

__all__ = ["NoiseNormalisedRDMMetric", "repetitions"]


class NoiseNormalisedRDMMetric(Metric):
    """Representational similarity with dissimilarities of the target in units of its noise [1]_.

    Noisy and correlated neuroids count less: differences between stimuli are multiplied by the inverse of the noise
    covariance between neuroids, which is estimated from the repetitions with Ledoit and Wolf's shrinkage. The source,
    which has no noise, has squared Euclidean distances.

    Parameters
    ----------
    crossvalidated : bool
        Whether the target's distances are crossnobis distances: differences between stimuli in one repetition times
        those in another one. Noise then does not make them larger. Otherwise squared Mahalanobis distances of the
        repetitions' means.
    comparison : ``'spearman'`` or ``'whitened'``
        Of the two RDMs; the second is the whitened cosine similarity [2]_, for crossnobis distances the "whitened
        unbiased cosine".
    repetition_coord : str
        Coordinate of the target's presentations that tells independent measurements apart.

    Notes
    -----
    ``error`` and ``ci`` (Fisher's z) come from each stimulus's influence, as for ``rdm``; repetitions, neuroids and the
    noise covariance are kept. Another estimate of the noise covariance, above all from other numbers of presentations
    (which shrinks it less or more), can change the score by more than the interval says.
    ``attrs['rdm']`` is the target's RDM (presentation × presentation_other). NaN with a reason where the source does
    not tell any stimuli apart.

    References
    ----------
    .. [1] Walther et al. (2016). NeuroImage 137, 188–200. https://doi.org/10.1016/j.neuroimage.2015.12.012
    .. [2] Diedrichsen et al. (2021). Neurons, Behavior, Data Analysis, and Theory 5(3).
       https://doi.org/10.51628/001c.27664

    Examples
    --------
    >>> from brainscore_core.supported_data_standards.brainio.assemblies import NeuroidAssembly
    >>> rng = np.random.default_rng(0)
    >>> stimuli, neuroids = list("abcdefghij"), list(range(6))
    >>> features = rng.standard_normal((10, 6))
    >>> source = NeuroidAssembly(
    ...     features, coords={"stimulus_id": ("presentation", stimuli), "neuroid_id": ("neuroid", neuroids)},
    ...     dims=["presentation", "neuroid"])
    >>> target = NeuroidAssembly(
    ...     np.tile(features, (4, 1)) + 0.1 * rng.standard_normal((40, 6)),
    ...     coords={"stimulus_id": ("presentation", stimuli * 4), "neuroid_id": ("neuroid", neuroids),
    ...             "repetition": ("presentation", np.repeat(range(4), 10))},
    ...     dims=["presentation", "neuroid"])
    >>> bool(NoiseNormalisedRDMMetric()(source, target) > 0.9)
    True
    """

    scale = "similarity"

    def __init__(
        self,
        *,
        crossvalidated: bool = True,
        comparison: Comparison = "spearman",
        repetition_coord: str = "repetition",
    ) -> None:
        self._crossvalidated = crossvalidated
        self._comparison = known_comparison(comparison)
        self._repetition_coord = repetition_coord

    def __call__(self, source: DataAssembly, target: DataAssembly) -> Score:
        """Compare the geometries of `source` and `target`.

        Parameters
        ----------
        source : NeuroidAssembly, presentation × neuroid
            Each stimulus once.
        target : NeuroidAssembly, presentation × neuroid
            Each stimulus once in each repetition; any order.

        Returns
        -------
        Score
            In [−1, 1]; NaN with a reason where undefined.

        Raises
        ------
        MetricInputError
            If the two hold different stimuli or NaN, or fewer than 3 stimuli or 2 repetitions, or repetitions are
            missing or do not differ.
        """
        from scipy.spatial.distance import squareform

        target = as_table(target, ("presentation", "neuroid"), role="target")
        folds, first_rows = repetitions(target, coord=self._repetition_coord)
        pair = matched(source, target.isel(presentation=first_rows), fewest=3, what="a geometry")
        mean = folds.mean(axis=0)
        residuals = (folds - mean).reshape(-1, folds.shape[-1])
        try:
            precision = noise_precision(residuals, degrees_of_freedom=len(residuals) - len(mean))
        except ValueError as error:
            raise MetricInputError(
                f"the target's noise cannot be estimated: {error}", remedy="use 'rdm_euclidean', which needs no noise"
            ) from error
        ours = crossnobis_rdm(folds, precision) if self._crossvalidated else mahalanobis_rdm(mean, precision)
        in_source_order = np.argsort(pair.order)
        square = squareform(ours)
        similarity = compare(
            rdm(pair.X, dissimilarity="sqeuclidean"),
            condensed(square[np.ix_(in_source_order, in_source_order)]),
            comparison=self._comparison,
        )
        name = "correlation" if self._comparison == "spearman" else "whitened cosine"
        score = geometry_score(
            similarity, pair, estimates=f"{name} of the RDMs with this noise covariance", names=NAMES
        )
        stimuli = pair.target["stimulus_id"].values
        score.attrs["rdm"] = DataAssembly(
            square,
            coords={"stimulus_id": ("presentation", stimuli), "other_stimulus_id": ("presentation_other", stimuli)},
            dims=["presentation", "presentation_other"],
        )
        return score


def repetitions(target: DataAssembly, *, coord: str) -> tuple[NDArray[np.float64], NDArray[np.intp]]:
    """Responses as repetitions × stimuli × neuroids, and the row in which each stimulus occurs first.

    Raises
    ------
    MetricInputError
        If coordinates are missing, there are fewer than two repetitions, or a stimulus is missing in a repetition or
        occurs there twice.
    """
    stimuli = coord_values(target, "stimulus_id", role="target")
    labels = coord_values(target, coord, role="target")
    stimulus, names = pd.factorize(pd.Series(stimuli))
    repetition, numbers = pd.factorize(pd.Series(labels), sort=True)
    if len(numbers) < 2:
        raise MetricInputError(
            f"the target has {len(numbers)} value of {coord!r}; noise shows only between repetitions",
            remedy="pass all repetitions, before they are averaged",
        )
    if (stimulus < 0).any() or (repetition < 0).any():
        raise MetricInputError(
            f"'stimulus_id' or {coord!r} of the target has missing values", remedy="leave those presentations out"
        )
    counts = np.zeros((len(numbers), len(names)), dtype=np.intp)
    np.add.at(counts, (repetition, stimulus), 1)
    wrong = np.argwhere(counts != 1)
    if len(wrong):
        row, column = wrong[0]
        found = "is missing" if counts[row, column] == 0 else f"occurs {counts[row, column]} times"
        raise MetricInputError(
            f"stimulus {listed([names[column]])} {found} in {coord} {listed([numbers[row]])} of the target; each "
            "stimulus is needed once in each repetition",
            remedy="select the stimuli and repetitions that are complete",
        )
    rows = np.empty_like(counts)
    rows[repetition, stimulus] = np.arange(len(stimulus))
    values = finite_values(target, role="target")
    return np.asarray(values, dtype=np.float64)[rows], rows.min(axis=0)
