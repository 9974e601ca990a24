"""Similarity of two representations' geometries."""

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from brainscore_core.numerics._arrays import Array, as_matrix, chunks, column_means, gram, same_rows
from brainscore_core.numerics._ranks import Ranks, ranks

__all__ = ["NoiseCeiling", "Similarity", "cka", "compare_rdms", "noise_ceiling", "number_of_stimuli", "rdm"]

_FLAT = 1e-13
"""A stimulus whose features differ by less than this share of their size has no pattern."""


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
    """

    value: float
    influence: Array
    reason: str | None = None


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


def rdm(X: ArrayLike) -> Array:
    """Representational dissimilarities: 1 − Pearson correlation of the features of each pair of stimuli.

    Parameters
    ----------
    X : array, stimuli × features
        Accumulated in float64 over chunks of features.

    Returns
    -------
    array, stimuli · (stimuli − 1) / 2
        In [0, 2]; row-major upper triangle, as ``scipy.spatial.distance.pdist`` orders it. NaN for pairs with a
        stimulus to which all features respond alike, or with a NaN.

    References
    ----------
    Kriegeskorte, Mur & Bandettini (2008). Frontiers in Systems Neuroscience 2, 4.
    https://doi.org/10.3389/neuro.06.004.2008

    Examples
    --------
    >>> rdm([[1.0, 2.0, 3.0], [2.0, 4.0, 6.0], [3.0, 2.0, 1.0]]).round(6).tolist()
    [0.0, 2.0, 2.0]
    """
    X = as_matrix(X, "X")
    n, p = X.shape
    products = np.zeros((n, n))
    mean = X.mean(axis=1, dtype=np.float64, keepdims=True)
    largest = np.zeros(n)
    for columns in chunks(p, n):
        block = np.subtract(X[:, columns], mean, dtype=np.float64)
        largest = np.maximum(largest, np.abs(X[:, columns]).max(axis=1, initial=0.0))
        products += block @ block.T
    length = np.sqrt(np.diag(products))
    length = np.where(length > _FLAT * np.sqrt(p) * largest, length, np.nan)
    products /= length
    products /= length[:, None]
    return np.asarray(1 - np.clip(products[np.triu_indices(n, k=1)], -1.0, 1.0))


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
    first, second = np.asarray(a, dtype=np.float64), np.asarray(b, dtype=np.float64)
    if first.shape != second.shape or first.ndim != 1:
        raise ValueError(
            f"the RDMs have the shapes {first.shape} and {second.shape}; two equal upper triangles are needed"
        )
    n = number_of_stimuli(len(first))
    for which, values in (("first", first), ("second", second)):
        if np.isnan(values).any():
            return Similarity(np.nan, np.full(n, np.nan), f"the {which} RDM holds NaN")
        if len(values) < 2 or (values == values[0]).all():
            return Similarity(np.nan, np.full(n, np.nan), f"all dissimilarities of the {which} RDM are equal")
    value, influence = _spearman(ranks(first), ranks(second))
    rows, columns = np.triu_indices(n, k=1)
    per_stimulus = np.bincount(rows, influence, n) + np.bincount(columns, influence, n)
    return Similarity(value, 2 * per_stimulus / (n - 1))


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
    if rank:
        from scipy.stats import rankdata

        ordered = rankdata(stack, axis=1, nan_policy="propagate")
    else:
        ordered = stack.astype(np.float64)
    total = ordered.sum(axis=0)
    upper = spearman(stack, np.broadcast_to(total, stack.shape), axis=1)
    lower = spearman(stack, total - ordered, axis=1)
    return NoiseCeiling(float(lower.mean()), float(upper.mean()), lower, upper)


def cka(X: ArrayLike, Y: ArrayLike, *, unbiased: bool = True) -> Similarity:
    """Centred kernel alignment with linear kernels.

    Parameters
    ----------
    X, Y : array, stimuli × features
        Accumulated in float64 over chunks of features.
    unbiased : bool
        Whether HSIC is estimated without bias [2]_ (needs 4 stimuli; may fall below 0), which keeps CKA of wide
        representations from approaching 1 whatever they hold [3]_; otherwise the plain estimate [1]_ in [0, 1].

    Returns
    -------
    Similarity
        NaN with a reason where a representation does not vary, or its unbiased self-similarity is not positive. The
        influence is the jackknife over stimuli, exact, in O(stimuli²).

    Raises
    ------
    ValueError
        If there are too few stimuli, or values are not finite, or lengths differ.

    References
    ----------
    .. [1] Kornblith et al. (2019). ICML. https://doi.org/10.48550/arXiv.1905.00414
    .. [2] Song et al. (2012). Journal of Machine Learning Research 13, 1393–1434.
       https://www.jmlr.org/papers/v13/song12a.html
    .. [3] Murphy, Zylberberg & Fyshe (2024). https://doi.org/10.48550/arXiv.2405.01012

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> X = rng.standard_normal((20, 5))
    >>> round(cka(X, 3 * X @ np.linalg.qr(rng.standard_normal((5, 5)))[0]).value, 6)
    1.0
    """
    X, Y = as_matrix(X, "X"), as_matrix(Y, "Y")
    same_rows(X, Y)
    n, fewest = len(X), 4 if unbiased else 2
    if n < fewest:
        raise ValueError(f"{n} stimuli: {'unbiased ' if unbiased else ''}CKA needs at least {fewest}")
    K, L = _kernel(X, "X", unbiased=unbiased), _kernel(Y, "Y", unbiased=unbiased)
    parts = [_hsic(K, L, unbiased=unbiased), _hsic(K, K, unbiased=unbiased), _hsic(L, L, unbiased=unbiased)]
    values = np.array([part[0] for part in parts])
    nothing = np.full(n, np.nan)
    for name, own in (("first", values[1]), ("second", values[2])):
        if not own > 1e-12 / n**2:  # kernels have unit norm
            return Similarity(np.nan, nothing, f"the {name} representation does not vary consistently over stimuli")
    value = float(values[0] / np.sqrt(values[1] * values[2]))
    if n <= fewest:
        return Similarity(value, nothing)
    left_out = np.array([part[1] for part in parts])
    with np.errstate(invalid="ignore"):
        replicates = left_out[0] / np.sqrt(np.where((left_out[1:] > 0).all(axis=0), left_out[1] * left_out[2], np.nan))
    return Similarity(value, (n - 1) * (replicates.mean() - replicates))


def number_of_stimuli(pairs: int) -> int:
    """Number of stimuli of a condensed RDM with so many pairs."""
    n = round((1 + np.sqrt(1 + 8 * pairs)) / 2)
    if n * (n - 1) // 2 != pairs:
        raise ValueError(f"{pairs} values are not the upper triangle of any square matrix")
    return n


def _kernel(X: NDArray, name: str, *, unbiased: bool) -> Array:
    K = gram(X, mean=column_means(X))
    if not np.isfinite(K).all():
        rows = np.flatnonzero(~np.isfinite(X).all(axis=1))
        raise ValueError(f"{name} is not finite{f' in row {rows[0]}' if len(rows) else ''}; features need to be finite")
    if unbiased:
        np.fill_diagonal(K, 0.0)
    size = float(np.linalg.norm(K))
    return K / size if size > 0 else K


def _hsic(K: Array, L: Array, *, unbiased: bool) -> tuple[float, Array]:
    """HSIC of all stimuli, and with each one left out."""
    n = len(K)
    a, b = K.sum(axis=1), L.sum(axis=1)
    own_K, own_L = np.diag(K), np.diag(L)
    products = np.einsum("ij,ij->i", K, L)
    inner, sum_a, sum_b = float(a @ b), float(a.sum()), float(b.sum())
    whole = _hsic_of_sums(float(products.sum()), inner, sum_a * sum_b, n, unbiased=unbiased)
    inner_left = inner - K @ b - L @ a + products - (a - own_K) * (b - own_L)
    left = _hsic_of_sums(
        products.sum() - 2 * products + own_K * own_L,
        inner_left,
        (sum_a - 2 * a + own_K) * (sum_b - 2 * b + own_L),
        n - 1,
        unbiased=unbiased,
    )
    return float(whole), np.asarray(left)


def _hsic_of_sums(
    trace: float | Array, inner: float | Array, outer: float | Array, n: int, *, unbiased: bool
) -> float | Array:
    if not unbiased:
        return (trace - 2 * inner / n + outer / n**2) / n**2
    if n < 4:
        return np.full_like(np.asarray(trace), np.nan)
    return (trace + outer / ((n - 1) * (n - 2)) - 2 * inner / (n - 2)) / (n * (n - 3))


def _spearman(x: Ranks, y: Ranks) -> tuple[float, Array]:
    """Spearman's rho of observations and its derivative by the weight of each (times their number)."""
    cross = float(x.cdf @ y.cdf) / len(x.cdf)
    spread_x, spread_y = (float(r.cdf @ r.cdf) / len(r.cdf) - 0.25 for r in (x, y))
    rho = (cross - 0.25) / np.sqrt(spread_x * spread_y)
    by_cross = x.cdf * y.cdf + x.mean_from(y.cdf) + y.mean_from(x.cdf) - 3 * cross
    by_x = x.cdf**2 + 2 * x.mean_from(x.cdf) - 3 * (spread_x + 0.25)
    by_y = y.cdf**2 + 2 * y.mean_from(y.cdf) - 3 * (spread_y + 0.25)
    influence = by_cross / np.sqrt(spread_x * spread_y) - rho / 2 * (by_x / spread_x + by_y / spread_y)
    return float(np.clip(rho, -1.0, 1.0)), influence
