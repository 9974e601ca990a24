"""Similarity of two representations' geometries."""

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from brainscore_core.numerics._arrays import Array, as_matrix
from brainscore_core.numerics._ranks import Ranks, mean_ranks, ranks
from brainscore_core.numerics.dissimilarity import expanded, number_of_stimuli

__all__ = [
    "NoiseCeiling",
    "Similarity",
    "compare_rdms",
    "compare_rdms_whitened",
    "noise_ceiling",
]


class Similarity(NamedTuple):
    """A similarity and what each stimulus contributes to it.

    Attributes
    ----------
    value : float
        NaN where undefined.
    influence : array, stimuli
        How strongly the value depends on each stimulus; its standard deviation over √n is the value's standard error
        (:func:`~brainscore_core.numerics.influence_interval`).
    reason : str or None
        Why the value is NaN.
    bias : float
        By how much the value is too high because stimuli are finitely many; 0 where it is negligible. An interval
        belongs around ``value - bias``.
    """

    value: float
    influence: Array
    reason: str | None = None
    bias: float = 0.0


class NoiseCeiling(NamedTuple):
    """Bounds on how well the best model's RDM can correlate with the subjects' RDMs.

    Attributes
    ----------
    lower, upper : float
        Mean over subjects.
    lower_values, upper_values : array, subjects
        Correlation of each subject with the mean of the others, and with the mean of all.
    """

    lower: float
    upper: float
    lower_values: Array
    upper_values: Array


def compare_rdms(a: ArrayLike, b: ArrayLike) -> Similarity:
    """Spearman correlation of two condensed RDMs of the same stimuli.

    Parameters
    ----------
    a, b : array, pairs
        Upper triangles in the same order.

    Returns
    -------
    Similarity
        NaN with a reason where an RDM holds NaN or does not vary. The influence treats stimuli, not pairs, as the
        independent units (Hájek projection of the rank correlation), as a bootstrap over stimuli without pairs of
        identical ones does [1]_.

    Raises
    ------
    ValueError
        If the lengths differ or are none of an upper triangle.

    References
    ----------
    .. [1] Nili et al. (2014). PLOS Computational Biology 10, e1003553. https://doi.org/10.1371/journal.pcbi.1003553

    Examples
    --------
    >>> compare_rdms([0.1, 0.2, 0.3], [1.0, 4.0, 9.0]).value
    1.0
    """
    first, second, n = _pair(a, b)
    for which, values in (("first", first), ("second", second)):
        if np.isnan(values).any():
            return Similarity(np.nan, np.full(n, np.nan), f"the {which} RDM holds NaN")
        if len(values) < 2 or (values == values[0]).all():
            return Similarity(np.nan, np.full(n, np.nan), f"all dissimilarities of the {which} RDM are equal")
    value, influence = _spearman(ranks(first), ranks(second))
    return Similarity(value, 2 * _sums_of_stimuli(influence, n) / (n - 1))


def compare_rdms_whitened(a: ArrayLike, b: ArrayLike) -> Similarity:
    """Whitened cosine similarity of two condensed RDMs of squared distances of the same stimuli.

    Estimated distances that share a stimulus are correlated; the cosine aᵀV⁻¹b / √(aᵀV⁻¹a · bᵀV⁻¹b) takes account of
    it [1]_. V is the covariance of distances whose true value is 0, with independent noise of equal size for each
    stimulus: 4 on the diagonal, 1 for two pairs that share a stimulus, 0 elsewhere (up to a factor).

    Parameters
    ----------
    a, b : array, pairs
        Upper triangles in the same order; squared distances, biased or cross-validated. Their zero has a meaning: no
        mean is subtracted.

    Returns
    -------
    Similarity
        In [−1, 1]; of cross-validated distances the "whitened unbiased cosine" of [1]_. NaN with a reason where an RDM
        holds NaN or is 0 everywhere. The influence is that of the unbiased estimate
        (:func:`~brainscore_core.numerics.cka`), from which the value differs by its bias.

    Raises
    ------
    ValueError
        If the lengths differ or are none of an upper triangle, or there are fewer than 3 stimuli.

    Notes
    -----
    V's three eigenvalues 2n, n and 2 make V⁻¹ a matter of row sums. The result equals plain linear CKA of the centred
    inner products that belong to the distances, which is how it is computed.

    References
    ----------
    .. [1] Diedrichsen et al. (2021). Neurons, Behavior, Data Analysis, and Theory 5(3).
       https://doi.org/10.51628/001c.27664

    Examples
    --------
    >>> round(compare_rdms_whitened([1.0, 4.0, 1.0], [2.0, 8.0, 2.0]).value, 6)
    1.0
    """
    from brainscore_core.numerics.kernel_alignment import compare_kernels

    first, second, n = _pair(a, b)
    if n < 3:
        raise ValueError(f"{n} stimuli: a comparison of RDMs needs at least 3")
    for which, values in (("first", first), ("second", second)):
        if np.isnan(values).any():
            return Similarity(np.nan, np.full(n, np.nan), f"the {which} RDM holds NaN")
        if not values.any():
            return Similarity(np.nan, np.full(n, np.nan), f"all dissimilarities of the {which} RDM are 0")
    return compare_kernels(*(expanded(values * -0.5) for values in (first, second)), unbiased=False)


def noise_ceiling(rdms: ArrayLike, *, rank: bool = True) -> NoiseCeiling:
    """Lower and upper bound of the noise ceiling of several subjects' RDMs, by Spearman correlation.

    Parameters
    ----------
    rdms : array, subjects × pairs
        Condensed RDMs.
    rank : bool
        Whether each RDM is ranked before RDMs are averaged.

    Returns
    -------
    NoiseCeiling
        Upper: each subject with the mean of all, itself included (too high). Lower: with the mean of the others (too
        low). NaN where an RDM holds NaN or does not vary.

    Raises
    ------
    ValueError
        If there are fewer than two subjects.

    References
    ----------
    Nili et al. (2014). PLOS Computational Biology 10, e1003553. https://doi.org/10.1371/journal.pcbi.1003553

    Examples
    --------
    >>> rdms = [[0.1, 0.2, 0.3], [0.1, 0.2, 0.3], [0.1, 0.3, 0.2]]
    >>> bounds = noise_ceiling(rdms)
    >>> round(bounds.lower, 3), round(bounds.upper, 3)
    (0.744, 0.833)
    """
    from brainscore_core.numerics.correlation import spearman

    stack = as_matrix(rdms, "rdms")
    m = len(stack)
    if m < 2:
        raise ValueError(f"{m} subject: a noise ceiling compares at least two")
    ordered = mean_ranks(stack.T).T if rank else stack.astype(np.float64)
    total = ordered.sum(axis=0)
    upper = spearman(stack, np.broadcast_to(total, stack.shape), axis=1)
    lower = spearman(stack, total - ordered, axis=1)
    return NoiseCeiling(float(lower.mean()), float(upper.mean()), lower, upper)


def _pair(a: ArrayLike, b: ArrayLike) -> tuple[Array, Array, int]:
    first, second = np.asarray(a, dtype=np.float64), np.asarray(b, dtype=np.float64)
    if first.shape != second.shape or first.ndim != 1:
        raise ValueError(
            f"the RDMs have the shapes {first.shape} and {second.shape}; two equal upper triangles are needed"
        )
    return first, second, number_of_stimuli(len(first))


def _sums_of_stimuli(pairs: Array, n: int) -> Array:
    """Sum of the values of all pairs of each stimulus."""
    sums = np.zeros(n)
    start = 0
    for row in range(n - 1):
        values = pairs[start : start + n - 1 - row]
        sums[row] += values.sum()
        sums[row + 1 :] += values
        start += len(values)
    return sums


def _spearman(x: Ranks, y: Ranks) -> tuple[float, Array]:
    """Spearman's rho of observations and its derivative by the weight of each (times their number)."""
    n = len(x.cdf)
    cross = float(x.cdf @ y.cdf) / n
    spread_x, spread_y = (float(r.cdf @ r.cdf) / n - 0.25 for r in (x, y))
    size = np.sqrt(spread_x * spread_y)
    rho = (cross - 0.25) / size
    # what weight one observation adds to the ranks of those above it
    in_x = x.mean_from(y.cdf / size - (rho / spread_x) * x.cdf)
    in_y = y.mean_from(x.cdf / size - (rho / spread_y) * y.cdf)
    own = x.cdf * y.cdf / size - (rho / 2) * (x.cdf**2 / spread_x + y.cdf**2 / spread_y)
    constant = 3 * (cross / size - rho / 2 * ((spread_x + 0.25) / spread_x + (spread_y + 0.25) / spread_y))
    return float(np.clip(rho, -1.0, 1.0)), own + in_x + in_y - constant
