"""Compare geometries, the brain's measured in units of its noise."""

import math
from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from brainscore_core.metric_helpers.alignment import MetricInputError, as_table, coord_values, finite_values, listed
from brainscore_core.metric_helpers.geometry import Array, geometry_score, matched, numbered, stimuli_that_vary
from brainscore_core.metric_helpers.rdm import NAMES, Comparison, compare, known_comparison
from brainscore_core.metric_helpers.uncertainty import units_of_stimuli
from brainscore_core.metrics import Metric, Score
from brainscore_core.numerics import (
    Interval,
    crossnobis_rdm,
    influence_interval,
    mahalanobis_rdm,
    noise_precision,
    rdm,
    spearman,
)
from brainscore_core.numerics.deletion import deletion_influence
from brainscore_core.numerics.dissimilarity import condensed
from brainscore_core.numerics.resampling import SMALL
from brainscore_core.supported_data_standards.brainio.assemblies import DataAssembly
from brainscore_core.supported_data_standards.brainio.stimulus_groups import DECLARED
from brainscore_vision.metric_helpers.repetitions import require_own_responses

_GROUPS = 20
"""Groups of stimuli that are left out in turn."""

_FREEDOM = 4
"""Degrees of freedom of the noise a neuroid, below which the inverse of its covariance is too unsteady."""


@dataclass(eq=False, kw_only=True)
class NoiseNormalisedRDMMetric(Metric):
    """Representational similarity with dissimilarities of the target in units of its noise [1]_.

    Noisy and correlated neuroids count less: differences between stimuli are multiplied by the inverse of the noise
    covariance between neuroids, which is estimated from the repetitions with Ledoit and Wolf's shrinkage. The source,
    which has no noise, has squared Euclidean distances.

    `crossvalidated`: whether the target's distances are crossnobis distances: differences between stimuli in one
    repetition times those in another one. Noise then does not make them larger. Otherwise squared Mahalanobis distances
    of the repetitions' means. `comparison`: of the two RDMs; the second is the whitened cosine similarity [2]_, for
    crossnobis distances the "whitened unbiased cosine". `repetition_coord`: coordinate of the target's presentations
    that tells independent measurements apart. `stimulus_groups`: coordinate of the target in whose groups stimuli were
    drawn: whole groups vary (:func:`~brainscore_core.supported_data_standards.brainio.stimulus_groups.grouping_of`).

    Notes
    -----
    Shrinkage biases the score: it falls with the number of presentations, and may be far larger than the error.
    ``error`` and ``ci`` are therefore about the score with the true noise covariance. They are around the value of the
    estimate without shrinkage, from the jackknife of 20 groups of stimuli, each left out of the noise, too (Student's
    t on Fisher's z scale); ``attrs['bias']`` is how much higher the score is, and the interval need not contain it. NaN
    with a reason below 20 stimuli, and below 4 degrees of freedom of the noise a neuroid, where the inverse of the
    unshrunk covariance is too unsteady; ``error`` is then that with this noise covariance. Repetitions and neuroids
    are kept.

    ``attrs['influence']`` is each stimulus's, with this noise covariance. ``attrs['rdm']`` is the target's RDM
    (presentation × presentation_other). NaN with a reason where the source does not tell any stimuli apart.

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
    compares = "recordings"
    matrices = "dissimilarities"
    needs_repetitions = True

    crossvalidated: bool = True
    comparison: Comparison = "spearman"
    repetition_coord: str = "repetition"
    stimulus_groups: str | None = DECLARED

    def __post_init__(self) -> None:
        known_comparison(self.comparison)

    def __call__(self, source: DataAssembly, target: DataAssembly) -> Score:
        """Compare the geometries of `source` and `target`.

        `source`: presentation × neuroid. `target`: presentation × neuroid; each stimulus once in each repetition; any
        order. Result: a Score in [−1, 1]; NaN with a reason where undefined. A MetricInputError if the two hold
        different stimuli or NaN, or fewer than 3 stimuli or 2 repetitions, or repetitions are missing or do not differ.
        """
        from scipy.spatial.distance import squareform

        target = as_table(target, ("presentation", "neuroid"), role="target")
        folds, first_rows = repetitions(target, coord=self.repetition_coord)
        pair = matched(source, target.isel(presentation=first_rows), fewest=3, what="a geometry")
        mean = folds.mean(axis=0)
        residuals = (folds - mean).reshape(-1, folds.shape[-1])
        try:
            precision = noise_precision(residuals, degrees_of_freedom=len(residuals) - len(mean))
        except ValueError as error:
            raise MetricInputError(
                f"the target's noise cannot be estimated: {error}", remedy="use 'rdm_euclidean', which needs no noise"
            ) from error
        square = squareform(self._distances(folds, precision))
        of_source = squareform(rdm(pair.X, dissimilarity="sqeuclidean"))
        in_source_order = np.argsort(pair.order)
        similarity = compare(
            condensed(of_source),
            condensed(square[np.ix_(in_source_order, in_source_order)]),
            comparison=self.comparison,
        )
        stimuli = units_of_stimuli(pair.target, self.stimulus_groups)
        groups = (stimuli.codes if stimuli.grouped else numbered(pair.target)) % _GROUPS
        varied = stimuli_that_vary(pair, similarity.influence, stimuli)
        interval, centre = self._interval(of_source[np.ix_(pair.order, pair.order)], folds, groups)
        if math.isnan(interval.error):
            interval = interval._replace(error=influence_interval(similarity.value, varied.influence).error)
        name = "correlation" if self.comparison == "spearman" else "whitened cosine"
        score = geometry_score(
            similarity._replace(bias=similarity.value - centre if math.isfinite(centre) else math.nan),
            estimates=f"{name} of the RDMs with the true noise covariance",
            names=NAMES,
            varied=[varied],
            interval=interval,
        )
        ids = pair.target["stimulus_id"].values
        score.attrs["rdm"] = DataAssembly(
            square,
            coords={"stimulus_id": ("presentation", ids), "other_stimulus_id": ("presentation_other", ids)},
            dims=["presentation", "presentation_other"],
        )
        return score

    def _distances(self, folds: Array, precision: Array) -> Array:
        if self.crossvalidated:
            return crossnobis_rdm(folds, precision)
        return mahalanobis_rdm(folds.mean(axis=0), precision)

    def _interval(self, of_source: Array, folds: Array, groups: NDArray[np.intp]) -> tuple[Interval, float]:
        """Interval of the similarity with the true noise covariance, and the estimate that it is around."""
        r, n, p = folds.shape
        freedom = n * (r - 1)

        def none(reason: str) -> tuple[Interval, float]:
            return Interval(math.nan, math.nan, math.nan, "jackknife", n, reason), math.nan

        if n < SMALL:
            return none(f"{n} stimuli: at least {SMALL} are needed to tell how much the noise covariance varies")
        if freedom < _FREEDOM * p:
            return none(
                f"the noise covariance of {p} neuroids has {freedom} degrees of freedom; {_FREEDOM * p} are needed to "
                "tell how much it varies"
            )
        try:
            values = [self._unshrunk(of_source, folds, slice(None))]
            values += [self._unshrunk(of_source, folds, groups != group) for group in range(int(groups.max()) + 1)]
        except ValueError as error:
            return none(str(error))
        whole, left_out = values[0], np.array(values[1:])
        centre = float(np.clip(whole + (len(left_out) - 1) * (whole - left_out.mean()), -1.0, 1.0))
        interval = influence_interval(centre, deletion_influence(left_out), correlation=True)
        if interval.reason is not None:
            return none("undefined without some of the stimuli")
        return interval._replace(method="jackknife", n=n), centre

    def _unshrunk(self, of_source: Array, folds: Array, selected: slice | NDArray[np.bool_]) -> float:
        """Similarity over some stimuli, nothing shrunk, without the bias that has a formula."""
        folds = folds[:, selected]
        precision = noise_precision(
            (folds - folds.mean(axis=0)).reshape(-1, folds.shape[-1]),
            degrees_of_freedom=folds.shape[1] * (len(folds) - 1),
            shrink=False,
        )
        first, second = condensed(of_source[selected][:, selected]), self._distances(folds, precision)
        if self.comparison == "spearman":
            return float(spearman(first, second))
        similarity = compare(first, second, comparison=self.comparison)
        return similarity.value - similarity.bias


def repetitions(target: DataAssembly, *, coord: str) -> tuple[NDArray[np.float64], NDArray[np.intp]]:
    """Responses as repetitions × stimuli × neuroids, and the row in which each stimulus occurs first.

    A MetricInputError if coordinates are missing, there are fewer than two repetitions, or a stimulus is missing in a
    repetition or occurs there twice.
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
        problem = "is missing" if counts[row, column] == 0 else f"occurs {counts[row, column]} times"
        raise MetricInputError(
            f"stimulus {listed([names[column]])} {problem} in {coord} {listed([numbers[row]])} of the target; each "
            "stimulus is needed once in each repetition",
            remedy="select the stimuli and repetitions that are complete",
        )
    rows = np.empty_like(counts)
    rows[repetition, stimulus] = np.arange(len(stimulus))
    values = finite_values(target, role="target")
    require_own_responses(values, stimulus)
    return np.asarray(values, dtype=np.float64)[rows], rows.min(axis=0)
