"""Compare which stimuli evoke similar patterns of responses."""

from dataclasses import dataclass
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from brainscore_core.metric_helpers.geometry import RDM, Array, GeometryMetric, RDMSimilarity, known_dissimilarity
from brainscore_core.metric_helpers.uncertainty import Units
from brainscore_core.numerics import Similarity, compare_rdms, compare_rdms_whitened, square_rdm
from brainscore_core.numerics.deletion import (
    cka_without_neuroids,
    cka_without_stimuli,
    deletion_influence,
    rdm_neuroid_influence,
    rdm_without_neuroids,
    rdm_without_stimuli,
)
from brainscore_core.numerics.dissimilarity import Dissimilarity, condensed
from brainscore_core.supported_data_standards.brainio.stimulus_groups import DECLARED

__all__ = ["NAMES", "RDM", "Comparison", "RDMMetric", "RDMSimilarity", "compare", "known_comparison"]

Comparison = Literal["spearman", "whitened"]

_EXACT = 4_000_000
"""Dissimilarities of all RDMs without one neuroid, up to which each neuroid is left out exactly."""
_FEW_NEUROIDS = 40
"""Number of neuroids up to which each is left out exactly, however many stimuli there are."""

NAMES = {
    "the first RDM": "the RDM of the source",
    "the second RDM": "the RDM of the target",
    "first representation": "source",
    "second representation": "target",
}


def compare(first: Array, second: Array, *, comparison: Comparison) -> Similarity:
    """Similarity of two condensed RDMs."""
    return compare_rdms(first, second) if comparison == "spearman" else compare_rdms_whitened(first, second)


@dataclass(eq=False, kw_only=True)
class RDMMetric(GeometryMetric):
    """Representational similarity: whether the same pairs of stimuli evoke similar responses in model and brain.

    Similarity of the upper triangles of the two representational dissimilarity matrices [1]_; by default Spearman's
    correlation, and 1 − Pearson correlation between the responses to two stimuli.

    `dissimilarity`: see :func:`brainscore_core.numerics.rdm`. `comparison`: the second is the whitened cosine
    similarity of [3]_, made for ``'sqeuclidean'``. `device`: where products are computed: None for NumPy, ``'cpu'`` or
    ``'cuda'`` for PyTorch, ``'auto'`` for CUDA where there is one. `stimulus_groups`, `neuroid_groups`: coordinates of
    the target in whose groups stimuli and neuroids were drawn: whole groups are left out
    (:func:`~brainscore_core.supported_data_standards.brainio.stimulus_groups.grouping_of`,
    :func:`~brainscore_core.metric_helpers.uncertainty.units_along`). The defaults may be missing.

    ``error`` and ``ci`` (Student's t on Fisher's z) are over new stimuli and new neuroids of the target: the variance
    due to each stimulus's influence on the correlation, what a bootstrap over stimuli that leaves out pairs of a
    stimulus with itself estimates [2]_, + that of the jackknife over neuroids; the sum is at least the variance on
    average [4]_. With many neuroids and stimuli, the jackknife over neuroids is replaced by the derivative
    (:func:`~brainscore_core.numerics.deletion.rdm_neuroid_influence`). ``attrs['influence']`` (presentation) and
    ``attrs['further_influence']`` (neuroid) keep both, so that two models' difference can be tested.
    A stimulus to which all neuroids (or features) respond alike has no ``'correlation'`` dissimilarities, one to which
    none responds no ``'cosine'`` ones: the score is NaN with a reason. NaN in the input is an error. Spearman
    correlations of ``'euclidean'`` and ``'sqeuclidean'`` are the same.

    References
    ----------
    .. [1] Kriegeskorte et al. (2008). Frontiers in Systems Neuroscience 2, 4. https://doi.org/10.3389/neuro.06.004.2008
    .. [2] Nili et al. (2014). PLOS Computational Biology 10, e1003553. https://doi.org/10.1371/journal.pcbi.1003553
    .. [3] Diedrichsen et al. (2021). Neurons, Behavior, Data Analysis, and Theory 5(3).
       https://doi.org/10.51628/001c.27664
    .. [4] Efron & Stein (1981). Annals of Statistics 9, 586–596. https://doi.org/10.1214/aos/1176345462

    Examples
    --------
    >>> from brainscore_core.supported_data_standards.brainio.assemblies import NeuroidAssembly
    >>> assembly = NeuroidAssembly(
    ...     np.random.default_rng(0).standard_normal((10, 6)),
    ...     coords={"stimulus_id": ("presentation", list("abcdefghij")), "neuroid_id": ("neuroid", list(range(6)))},
    ...     dims=["presentation", "neuroid"],
    ... )
    >>> float(RDMMetric()(assembly, 3 * assembly + 1).round(6))
    1.0
    """

    fewest = 3
    what = "a geometry"
    matrices = "dissimilarities"
    from_products = True
    estimates = "similarity of the RDMs"
    names = NAMES

    dissimilarity: Dissimilarity = "correlation"
    comparison: Comparison = "spearman"
    device: Any = None
    stimulus_groups: str | None = DECLARED
    neuroid_groups: str | None = "subject"

    def __post_init__(self) -> None:
        known_dissimilarity(self.dissimilarity)
        known_comparison(self.comparison)
        # the correlation of two single responses is undefined, their angle 0° or 180°
        self.min_neuroids = 2 if self.dissimilarity in {"correlation", "cosine"} else 1
        self.blocks = self.comparison == "whitened" and self.dissimilarity != "sqeuclidean"
        self.estimates = "correlation of the RDMs" if self.comparison == "spearman" else "whitened cosine of the RDMs"

    def geometry(self, X: NDArray) -> Array:
        """Dissimilarity matrix of the stimuli."""
        return square_rdm(X, dissimilarity=self.dissimilarity, device=self.device)

    def compare(self, first: Array, second: Array) -> Similarity:
        """Similarity of two dissimilarity matrices."""
        return compare(condensed(first), condensed(second), comparison=self.comparison)

    def without_stimuli(self, first: Array, second: Array, codes: NDArray[np.intp]) -> Array:
        """Similarity, less its bias, without each group of stimuli."""
        if self.comparison == "whitened":
            return cka_without_stimuli(first * -0.5, second * -0.5, codes)
        return rdm_without_stimuli(condensed(first), condensed(second), codes)

    def neuroid_influence(self, first: Array, second: Array, Y: NDArray, units: Units) -> Array:
        """Jackknife over neuroids, or their groups; the derivative where there are many neuroids and stimuli."""
        codes = units.codes if units.grouped else None
        if self.comparison == "whitened" and self.dissimilarity == "sqeuclidean":
            return deletion_influence(cka_without_neuroids(first * -0.5, Y, codes))
        if self.comparison == "whitened":
            return super().neuroid_influence(first, second, Y, units)
        model_rdm, target_rdm = condensed(first), condensed(second)
        if units.grouped or units.number <= max(_FEW_NEUROIDS, _EXACT // len(model_rdm)):
            left_out = rdm_without_neuroids(model_rdm, Y, codes, dissimilarity=self.dissimilarity, device=self.device)
            return deletion_influence(left_out)
        return rdm_neuroid_influence(model_rdm, target_rdm, Y, dissimilarity=self.dissimilarity)


def known_comparison(comparison: Comparison) -> Comparison:
    """`comparison`, or a ValueError that lists the known ones."""
    if comparison not in get_args(Comparison):
        raise ValueError(f"unknown comparison {comparison!r}; known: {', '.join(map(repr, get_args(Comparison)))}")
    return comparison
