"""Centred kernel alignment."""

from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike

from brainscore_core.numerics._arrays import Array, as_matrix, same_rows
from brainscore_core.numerics._gram import FLAT, centred_gram
from brainscore_core.numerics._torch import resolve
from brainscore_core.numerics.dissimilarity import condensed, squared_distances
from brainscore_core.numerics.similarity import Similarity

__all__ = ["Kernel", "cka", "compare_kernels", "linear_kernel", "rbf_kernel"]

Kernel = Literal["linear", "rbf"]

_CENTRED = 1e-6
"""Means below this share of a kernel's size cost no digits that matter."""


def cka(
    X: ArrayLike,
    Y: ArrayLike,
    *,
    unbiased: bool = True,
    kernel: Kernel = "linear",
    bandwidth: float = 0.8,
    device: Any = None,
) -> Similarity:
    """Centred kernel alignment.

    Parameters
    ----------
    X, Y : array, stimuli × features
        Accumulated in float64 over chunks of features.
    unbiased : bool
        Whether HSIC is estimated without bias [2]_ (needs 4 stimuli; may fall below 0), which keeps CKA of wide
        representations from approaching 1 whatever they hold [3]_; otherwise the plain estimate [1]_ in [0, 1].
    kernel : ``'linear'`` or ``'rbf'``
        Inner products, or exp(−distance² / 2σ²).
    bandwidth : float
        σ of ``'rbf'`` as a fraction of the median distance between stimuli, of each side its own [1]_.
    device : str or torch.device, optional
        Where the products of all stimuli are computed. None: with NumPy; ``'cpu'``, ``'cuda'``, …: with PyTorch;
        ``'auto'``: on a CUDA device where there is one, and with NumPy otherwise.

    Returns
    -------
    Similarity
        NaN with a reason where a representation does not vary, or its unbiased self-similarity is not positive. The
        influence is the jackknife over stimuli, exact, in O(stimuli²); the bandwidth is kept. That of the plain
        estimate is the unbiased one's, from which it differs by its bias: both estimate the same of ever more stimuli.

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
    if kernel not in ("linear", "rbf"):
        raise ValueError(f"unknown kernel {kernel!r}; known: 'linear', 'rbf'")
    _enough(len(X), unbiased=unbiased)
    if kernel == "linear":
        pair = (linear_kernel(values, name=name, device=device) for values, name in ((X, "X"), (Y, "Y")))
    else:
        pair = (
            rbf_kernel(values, bandwidth=bandwidth, name=name, device=device) for values, name in ((X, "X"), (Y, "Y"))
        )
    return compare_kernels(*pair, unbiased=unbiased)


def linear_kernel(X: ArrayLike, *, name: str = "X", device: Any = None) -> Array:
    """Inner products of the stimuli's features, each feature's mean subtracted.

    Parameters
    ----------
    X : array, stimuli × features
        Accumulated in float64 over chunks of features.
    name : str
        Name in messages.
    device : str or torch.device, optional
        As for :func:`cka`.

    Returns
    -------
    array, stimuli × stimuli
        0 where no feature varies over stimuli by more than rounding.

    Raises
    ------
    ValueError
        If values are not finite.
    """
    return centred_gram(as_matrix(X, name), name, device=resolve(device))


def rbf_kernel(X: ArrayLike, *, bandwidth: float = 0.8, name: str = "X", device: Any = None) -> Array:
    """Radial basis function kernel exp(−distance² / 2σ²) of all pairs of stimuli.

    Parameters
    ----------
    X : array, stimuli × features
        Accumulated in float64 over chunks of features.
    bandwidth : float
        σ as a fraction of the median Euclidean distance between two different stimuli.
    name : str
        Name in messages.
    device : str or torch.device, optional
        As for :func:`cka`.

    Returns
    -------
    array, stimuli × stimuli
        1 everywhere where all stimuli are alike. Where more than half of the pairs are alike, the median of the
        distances above 0 takes the median's place.

    Raises
    ------
    ValueError
        If values are not finite or `bandwidth` is not positive.
    """
    if not bandwidth > 0:
        raise ValueError(f"bandwidth is {bandwidth}; a positive number is needed")
    distances = squared_distances(centred_gram(as_matrix(X, name), name, device=resolve(device)))
    pairs = np.sqrt(condensed(distances))
    middle = float(np.median(pairs)) if pairs.size else 0.0
    if middle == 0 and pairs.any():
        middle = float(np.median(pairs[pairs > 0]))
    if middle == 0:
        return np.ones_like(distances)
    distances /= -2 * (bandwidth * middle) ** 2
    return np.asarray(np.exp(distances, out=distances))


def compare_kernels(K: ArrayLike, L: ArrayLike, *, unbiased: bool = True) -> Similarity:
    """Centred alignment of two kernel matrices of the same stimuli.

    Parameters
    ----------
    K, L : array, stimuli × stimuli
        Symmetric; need not be centred.
    unbiased : bool
        See :func:`cka`.

    Returns
    -------
    Similarity
        As of :func:`cka`.

    Raises
    ------
    ValueError
        If a matrix is not square or not finite, or there are too few stimuli.

    Examples
    --------
    >>> round(compare_kernels(np.eye(5), 2 * np.eye(5), unbiased=False).value, 6)
    1.0
    """
    first, second = np.asarray(K, dtype=np.float64), np.asarray(L, dtype=np.float64)
    n = len(first)
    if first.shape != (n, n) or second.shape != (n, n):
        raise ValueError(f"the kernels have the shapes {first.shape} and {second.shape}; two equal squares are needed")
    fewest = _enough(n, unbiased=unbiased)
    scaled = [_of_unit_norm(kernel, unbiased=unbiased) for kernel in (first, second)]
    pairs = ((scaled[0], scaled[1]), (scaled[0], scaled[0]), (scaled[1], scaled[1]))
    parts = [_hsic(*pair, unbiased=unbiased) for pair in pairs]
    values = np.array([part[0] for part in parts])
    nothing = np.full(n, np.nan)
    for name, own in (("first", values[1]), ("second", values[2])):
        if not own > 1e-12 / n**2:  # kernels have unit norm
            return Similarity(np.nan, nothing, f"the {name} representation does not vary consistently over stimuli")
    value = float(values[0] / np.sqrt(values[1] * values[2]))
    if not unbiased and n > 4:
        # the jackknife's own estimate of the bias is too small where stimuli are few
        centre = compare_kernels(first, second)
        return Similarity(value, centre.influence, bias=0.0 if centre.reason else value - centre.value)
    if n <= fewest or not unbiased:
        return Similarity(value, nothing)
    left_out = np.array([part[1] for part in parts])
    with np.errstate(invalid="ignore"):
        replicates = left_out[0] / np.sqrt(np.where((left_out[1:] > 0).all(axis=0), left_out[1] * left_out[2], np.nan))
    return Similarity(value, (n - 1) * (replicates.mean() - replicates))


def _enough(n: int, *, unbiased: bool) -> int:
    fewest = 4 if unbiased else 2
    if n < fewest:
        raise ValueError(f"{n} stimuli: {'unbiased ' if unbiased else ''}CKA needs at least {fewest}")
    return fewest


def _of_unit_norm(kernel: Array, *, unbiased: bool) -> Array:
    """Centred, which changes no HSIC but keeps its precision; 0 where nothing but rounding is left."""
    square = float(np.vdot(kernel, kernel))
    if not np.isfinite(square):
        raise ValueError("a kernel is not finite")
    mean = kernel.mean(axis=0)
    if float(mean @ mean) * len(mean) <= _CENTRED**2 * square:
        left = square - (float(np.sum(np.diag(kernel) ** 2)) if unbiased else 0.0)
        result = kernel * (1 / np.sqrt(left) if left > FLAT**2 * square else 0.0)
    else:
        mean -= mean.mean() / 2
        result = kernel - mean
        result -= mean[:, None]
        left = float(np.vdot(result, result)) - (float(np.sum(np.diag(result) ** 2)) if unbiased else 0.0)
        result *= 1 / np.sqrt(left) if left > FLAT**2 * square else 0.0
    if unbiased:
        np.fill_diagonal(result, 0.0)
    return np.asarray(result)


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
