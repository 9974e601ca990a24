"""Compare the geometry of two representations by centred kernel alignment."""

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from brainscore_core.metric_helpers.geometry import Array, GeometryMetric
from brainscore_core.metric_helpers.uncertainty import Units
from brainscore_core.numerics import Similarity, compare_kernels, linear_kernel, rbf_kernel
from brainscore_core.numerics.deletion import cka_without_neuroids, cka_without_stimuli, deletion_influence
from brainscore_core.supported_data_standards.brainio.stimulus_groups import DECLARED


@dataclass(eq=False, kw_only=True)
class CKAMetric(GeometryMetric):
    """Centred kernel alignment, invariant to rotation and overall scale of either side.

    `unbiased`: whether HSIC is estimated without bias (Song 2012), which keeps wide representations of few stimuli from
    approaching 1 [2]_; otherwise the plain estimate [1]_. `kernel`: inner products, or exp(−distance² / 2σ²), which
    weighs near neighbours more. `bandwidth`: σ of ``'rbf'`` as a fraction of the median distance between stimuli, of
    each side its own; 0.8 did best of the fractions 0.2, 0.4 and 0.8 in [1]_. `device`: where products are computed:
    None for NumPy, ``'cpu'`` or ``'cuda'`` for PyTorch, ``'auto'`` for CUDA where there is one. `stimulus_groups`,
    `neuroid_groups`: coordinates of the target in whose groups stimuli and neuroids were drawn: whole groups are left
    out (:func:`~brainscore_core.supported_data_standards.brainio.stimulus_groups.grouping_of`,
    :func:`~brainscore_core.metric_helpers.uncertainty.units_along`). The defaults may be missing.

    Needs at least 4 stimuli (2 for the plain estimate). Where one side does not vary over stimuli, or its unbiased
    self-similarity is not positive, the score is NaN with a reason; the existing platform returns 0 there.
    ``error`` and ``ci`` (Student's t on Fisher's z) are over new stimuli and new neuroids of the target: the variance
    of the jackknife over stimuli + that of the jackknife over neuroids [3]_, both exact. ``attrs['influence']``
    (presentation) and ``attrs['further_influence']`` (neuroid) have each unit's part in it. For ``'rbf'``, neuroids are
    left out in 20 blocks; the bandwidth is that of all stimuli, and kept when a stimulus is left out.

    References
    ----------
    .. [1] Kornblith et al. (2019). ICML. https://doi.org/10.48550/arXiv.1905.00414
    .. [2] Murphy, Zylberberg & Fyshe (2024). https://doi.org/10.48550/arXiv.2405.01012
    .. [3] Efron & Stein (1981). Annals of Statistics 9, 586–596. https://doi.org/10.1214/aos/1176345462

    Examples
    --------
    >>> import numpy as np
    >>> from brainscore_core.supported_data_standards.brainio.assemblies import NeuroidAssembly
    >>> assembly = NeuroidAssembly(
    ...     np.random.default_rng(0).standard_normal((10, 6)),
    ...     coords={"stimulus_id": ("presentation", list("abcdefghij")), "neuroid_id": ("neuroid", list(range(6)))},
    ...     dims=["presentation", "neuroid"],
    ... )
    >>> float(CKAMetric()(assembly, 3 * assembly + 1).round(6))
    1.0
    """

    what = "CKA"
    matrices = "kernels"
    from_products = True
    estimates = "CKA"
    names = {"first representation": "source", "second representation": "target"}  # noqa: RUF012 - never changed

    unbiased: bool = True
    kernel: Literal["linear", "rbf"] = "linear"
    bandwidth: float = 0.8
    device: Any = None
    stimulus_groups: str | None = DECLARED
    neuroid_groups: str | None = "subject"

    def __post_init__(self) -> None:
        if self.kernel not in ("linear", "rbf"):
            raise ValueError(f"unknown kernel {self.kernel!r}; known: 'linear', 'rbf'")
        if not self.bandwidth > 0:
            raise ValueError(f"bandwidth is {self.bandwidth}; a positive number is needed")
        self.fewest = 4 if self.unbiased else 2
        self.blocks = self.kernel == "rbf"

    def geometry(self, X: NDArray) -> Array:
        """Kernel matrix of the stimuli."""
        if self.kernel == "linear":
            return linear_kernel(X, device=self.device)
        return rbf_kernel(X, bandwidth=self.bandwidth, device=self.device)

    def compare(self, first: Array, second: Array) -> Similarity:
        """Alignment of two kernel matrices."""
        return compare_kernels(first, second, unbiased=self.unbiased)

    def without_stimuli(self, first: Array, second: Array, codes: NDArray[np.intp]) -> Array:
        """Unbiased alignment without each group of stimuli."""
        return cka_without_stimuli(first, second, codes)

    def neuroid_influence(self, first: Array, second: Array, Y: NDArray, units: Units) -> Array:
        """Jackknife over neuroids, their groups, or for ``'rbf'`` blocks of them."""
        if self.kernel == "linear":
            return deletion_influence(cka_without_neuroids(first, Y, units.codes if units.grouped else None))
        return super().neuroid_influence(first, second, Y, units)
