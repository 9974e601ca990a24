"""Similarity of representations: comparison of RDMs, and centered kernel alignment (CKA)."""

from functools import partial
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from brainscore_core.numerics._matrices import Array, as_matrix, require_same_rows
from brainscore_core.numerics._processors import WorkerThreads, in_parallel, resolve_device, to_numpy, worker_threads
from brainscore_core.numerics.correlation import BLOCK, Ranks, around_ties, mean_ranks, rank_observations
from brainscore_core.numerics.dissimilarity import condensed, expanded, number_of_stimuli, squared_distances
from brainscore_core.numerics.stimulus_products import FLAT, centred_gram, fast_gram


class Similarity(NamedTuple):
    """A similarity and the influence of each stimulus on it.

    Attributes
    ----------
    value : float
        NaN if undefined.
    influence : array, stimuli
        Influence of each stimulus on the value; its standard deviation over √n is the value's standard error
        (:func:`~brainscore_core.numerics.influence_interval`). Empty if it was not computed.
    reason : str or None
        Why the value is NaN.
    bias : float
        Excess of the value due to the finite number of stimuli; 0 if it is negligible. An interval should be centred on
        ``value - bias``.
    """

    value: float
    influence: Array = np.empty(0)
    reason: str | None = None
    bias: float = 0.0


class NoiseCeiling(NamedTuple):
    """Bounds on the correlation of the best possible model's RDM with the subjects' RDMs.

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
        NaN with a reason if an RDM contains NaN or does not vary. The influence treats stimuli, not pairs, as the
        independent units (Hájek projection of the rank correlation), like a bootstrap over stimuli without pairs of
        identical stimuli [1]_.

    Raises
    ------
    ValueError
        If the lengths differ or are not those of an upper triangle.

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
        least, largest = (values.min(), values.max()) if len(values) else (0.0, 0.0)
        if np.isnan(least):
            return Similarity(np.nan, np.full(n, np.nan), _with_nan(which))
        if len(values) < 2 or least == largest:
            return Similarity(np.nan, np.full(n, np.nan), f"all dissimilarities of the {which} RDM are equal")
    with worker_threads(len(first), most=2) as threads:
        x, y = threads.run([partial(rank_observations, values) for values in (first, second)])
        return Similarity(*_spearman(x, y, threads))


def compare_rdms_whitened(a: ArrayLike, b: ArrayLike) -> Similarity:
    """Whitened cosine similarity of two condensed RDMs of squared distances of the same stimuli.

    Estimated distances that share a stimulus are correlated; the cosine aᵀV⁻¹b / √(aᵀV⁻¹a · bᵀV⁻¹b) accounts for this
    [1]_. V is the covariance of distances with true value 0 and independent noise of equal size for each stimulus: 4 on
    the diagonal, 1 for two pairs that share a stimulus, 0 elsewhere (up to a factor).

    Parameters
    ----------
    a, b : array, pairs
        Upper triangles in the same order; squared distances, biased or cross-validated. As zero is meaningful, no mean
        is subtracted.

    Returns
    -------
    Similarity
        In [−1, 1]; for cross-validated distances the "whitened unbiased cosine" of [1]_. NaN with a reason if an RDM
        contains NaN or is 0 everywhere. The influence is that of the unbiased estimate
        (:func:`~brainscore_core.numerics.cka`), from which the value differs by its bias.

    Raises
    ------
    ValueError
        If the lengths differ or are not those of an upper triangle, or there are fewer than 3 stimuli.

    Notes
    -----
    As V has only three eigenvalues, 2n, n and 2, V⁻¹ can be computed from row sums. The result equals, and is computed
    as, plain linear CKA of the centred inner products that correspond to the distances.

    References
    ----------
    .. [1] Diedrichsen et al. (2021). Neurons, Behavior, Data Analysis, and Theory 5(3).
       https://doi.org/10.51628/001c.27664

    Examples
    --------
    >>> round(compare_rdms_whitened([1.0, 4.0, 1.0], [2.0, 8.0, 2.0]).value, 6)
    1.0
    """
    first, second, n = _pair(a, b)
    if n < 3:
        raise ValueError(f"{n} stimuli: a comparison of RDMs requires at least 3")
    for which, values in (("first", first), ("second", second)):
        if np.isnan(values).any():
            return Similarity(np.nan, np.full(n, np.nan), _with_nan(which))
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
        Upper: each subject with the mean of all subjects, including itself (too high). Lower: with the mean of the
        others (too low). NaN if an RDM contains NaN or does not vary.

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
        raise ValueError(f"a noise ceiling requires the RDMs of at least two subjects; there is {m or 'none'}")
    ordered = mean_ranks(stack.T).T if rank else stack.astype(np.float64)
    total = ordered.sum(axis=0)
    upper = spearman(stack, np.broadcast_to(total, stack.shape), axis=1)
    lower = spearman(stack, total - ordered, axis=1)
    return NoiseCeiling(float(lower.mean()), float(upper.mean()), lower, upper)


def _with_nan(which: str) -> str:
    return f"the {which} RDM holds NaN: the responses to a stimulus are missing, or all equal"


def _pair(a: ArrayLike, b: ArrayLike) -> tuple[Array, Array, int]:
    first, second = np.asarray(a, dtype=np.float64), np.asarray(b, dtype=np.float64)
    if first.shape != second.shape or first.ndim != 1:
        raise ValueError(
            f"the RDMs have the shapes {first.shape} and {second.shape}; pass their upper triangles, as vectors of the "
            "same length"
        )
    return first, second, number_of_stimuli(len(first))


def _sums_of_stimuli(pairs: Array, n: int) -> Array:
    """Sum of the values over all pairs with each stimulus."""
    lengths = np.arange(n - 1, 0, -1)
    starts = np.cumsum(lengths) - lengths
    sums = np.append(np.add.reduceat(pairs, starts), 0.0)
    for row, start in enumerate(starts.tolist()):
        sums[row + 1 :] += pairs[start : start + n - 1 - row]
    return sums


def _spearman(x: Ranks, y: Ranks, threads: WorkerThreads) -> tuple[float, Array]:
    """Spearman's rho of two RDMs and its derivative by the weight of each stimulus."""
    pairs = len(x.order)
    seen = threads.run([partial(y.in_order_of, x), partial(x.in_order_of, y)])
    moments = threads.run([partial(_rank_moments, *side) for side in zip((x, y), seen, strict=True)])
    cross = moments[0][0]
    spread_x, spread_y = (square - 0.25 for _, square in moments)
    size = np.sqrt(spread_x * spread_y)
    rho = (cross - 0.25) / size
    weights = (-rho * size / spread for spread in (spread_x, spread_y))
    contributions = threads.run([partial(_influence, *side) for side in zip((x, y), seen, weights, strict=True)])
    influence = np.empty(pairs)

    def add(some: slice) -> None:
        for start in range(some.start, some.stop, BLOCK):
            block = slice(start, min(start + BLOCK, some.stop))
            np.take(contributions[0], x.places[block], out=influence[block], mode="clip")
            influence[block] += np.take(contributions[1], y.places[block], mode="clip")

    threads.run([partial(add, some) for some in threads.parts(pairs)])
    n = number_of_stimuli(pairs)
    mean = 3 * (cross / size - rho / 2 * ((spread_x + 0.25) / spread_x + (spread_y + 0.25) / spread_y))
    sums = _sums_of_stimuli(influence, n) / (8 * pairs**2)
    return float(np.clip(rho, -1.0, 1.0)), 2 * (sums / (size * (n - 1)) - mean)


def _rank_moments(ranks: Ranks, other_ranks: NDArray[np.integer]) -> tuple[float, float]:
    """Mean product of two ranks as fractions, and mean square of the first; both are in the order of `ranks`."""
    cross = square = 0.0
    for positions, _, doubled in ranks.blocks():
        cross += float(doubled @ other_ranks[positions])
        square += float(doubled @ doubled)
    return cross / (4 * len(other_ranks) ** 3), square / (4 * len(other_ranks) ** 3)


def _influence(ranks: Ranks, other_ranks: NDArray[np.integer], weight: float) -> Array:
    """What each pair contributes through the ranks of one side, and half of what it does through their product.

    The result is in the order of `ranks`, as `other_ranks` is, and multiplied by 8 · pairs².
    """
    result = np.empty(len(other_ranks))
    above = len(other_ranks) ** 2 * (1 + weight)
    for positions, ties, doubled in ranks.blocks():
        slope = doubled * weight
        slope += other_ranks[positions]
        below = np.zeros(len(slope) + 1)
        np.cumsum(slope, out=below[1:])
        slope *= doubled
        slope += 4 * above  # effect of a weight on the ranks of the observations above it
        slope -= 2 * around_ties(below, ties)
        above -= below[-1]
        result[positions] = slope
    return result


Kernel = Literal["linear", "rbf"]

_CENTRED = 1e-6
"""Means below this fraction of a kernel's size cause no relevant loss of digits."""


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
        Accumulated in float64 over chunks of features. With ``'linear'``, large float32 features are multiplied in
        float32, which changes values by about 10⁻⁹.
    unbiased : bool
        Whether to estimate HSIC without bias [2]_ (requires 4 stimuli; may be below 0), which prevents that CKA of wide
        representations approaches 1 whatever their content [3]_; otherwise the plain estimate [1]_ in [0, 1].
    kernel : ``'linear'`` or ``'rbf'``
        Inner products, or exp(−distance² / 2σ²).
    bandwidth : float
        σ of ``'rbf'`` as a fraction of the median distance between stimuli, separately for each side [1]_.
    device : str or torch.device, optional
        Device for the products of all stimuli. None: NumPy; ``'cpu'``, ``'cuda'``, …: PyTorch; ``'auto'``: a CUDA
        device if available, otherwise NumPy.

    Returns
    -------
    Similarity
        NaN with a reason if a representation does not vary, or its unbiased self-similarity is not positive. The
        influence is the exact jackknife over stimuli, in O(stimuli²), with a fixed bandwidth. The plain estimate has
        the influence of the unbiased one, as both converge to the same value; they differ by the bias.

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
    require_same_rows(X, Y)
    if kernel not in ("linear", "rbf"):
        raise ValueError(f"unknown kernel {kernel!r}; use 'linear' or 'rbf'")
    _require_stimuli(len(X), unbiased=unbiased)
    if kernel == "linear":
        pair = (linear_kernel(values, name=name, device=device) for values, name in ((X, "X"), (Y, "Y")))
    else:
        pair = (
            rbf_kernel(values, bandwidth=bandwidth, name=name, device=device) for values, name in ((X, "X"), (Y, "Y"))
        )
    return compare_kernels(*pair, unbiased=unbiased)


def linear_kernel(X: ArrayLike, *, name: str = "X", device: Any = None) -> Array:
    """Inner products of the stimuli's features, after subtraction of each feature's mean.

    Parameters
    ----------
    X : array, stimuli × features
        Accumulated in float64 over chunks of features. With float32 features, and 2·10⁹ or more as stimuli² ×
        features, most products are computed in float32; they differ by about 3·10⁻⁷ of the mean diagonal.
    name : str
        Name in messages.
    device : str or torch.device, optional
        As for :func:`cka`.

    Returns
    -------
    array, stimuli × stimuli
        0 if no feature varies over stimuli by more than rounding.

    Raises
    ------
    ValueError
        If values are not finite.
    """
    return to_numpy(fast_gram(as_matrix(X, name), name, device=resolve_device(device))[0])


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
        1 everywhere if all stimuli are equal. If more than half of the distances are 0, the median of the distances
        above 0 is used.

    Raises
    ------
    ValueError
        If values are not finite or `bandwidth` is not positive.
    """
    if not bandwidth > 0:
        raise ValueError(f"bandwidth is {bandwidth}; it must be positive")
    distances = squared_distances(centred_gram(as_matrix(X, name), name, device=resolve_device(device)))
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
        As for :func:`cka`.

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
        raise ValueError(f"the kernels have the shapes {first.shape} and {second.shape}; they must be equal squares")
    fewest = _require_stimuli(n, unbiased=unbiased)
    sides = in_parallel([partial(_side, kernel, unbiased=unbiased) for kernel in (first, second)], numbers=n * n)
    starts = np.arange(0, n, _BLOCK_ROWS)
    sums_of_blocks = in_parallel(
        [partial(_sums_of_rows, sides[0], sides[1], some.tolist()) for some in np.array_split(starts, 2)], numbers=n * n
    )
    products, through = (np.concatenate([block[i] for block in sums_of_blocks]) for i in range(2))
    scales = [_inverse_norm(side, float(products[:, i].sum())) for i, side in enumerate(sides)]
    sums = [side.sums * scale for side, scale in zip(sides, scales, strict=True)]
    diagonals = [side.diagonal * scale for side, scale in zip(sides, scales, strict=True)]
    results = []
    for column, (i, j) in enumerate(((0, 0), (1, 1), (0, 1))):
        scale = scales[i] * scales[j]
        shared, both = products[:, column] * scale, (through[:, i, j] + through[:, j, i]) * scale
        results.append(_hsic(shared, (sums[i], sums[j]), (diagonals[i], diagonals[j]), both, unbiased=unbiased))
    values = np.array([result[0] for result in results])
    nothing = np.full(n, np.nan)
    for name, hsic in (("first", values[0]), ("second", values[1])):
        if not hsic > 1e-12 / n**2:  # kernels have unit norm
            return Similarity(np.nan, nothing, f"the {name} representation does not vary consistently over stimuli")
    value = float(values[2] / np.sqrt(values[0] * values[1]))
    if not unbiased and n > 4:
        # the jackknife's own estimate of the bias is too small for few stimuli
        centre = compare_kernels(first, second)
        return Similarity(value, centre.influence, bias=0.0 if centre.reason else value - centre.value)
    if n <= fewest or not unbiased:
        return Similarity(value, nothing)
    left_out = np.array([result[1] for result in results])
    with np.errstate(invalid="ignore"):
        replicates = left_out[2] / np.sqrt(np.where((left_out[:2] > 0).all(axis=0), left_out[0] * left_out[1], np.nan))
    return Similarity(value, (n - 1) * (replicates.mean() - replicates))


def _require_stimuli(n: int, *, unbiased: bool) -> int:
    fewest = 4 if unbiased else 2
    if n < fewest:
        raise ValueError(f"{n} stimuli: {'unbiased ' if unbiased else ''}CKA requires at least {fewest}")
    return fewest


def centred_kernel(kernel: Array, *, unbiased: bool = True) -> Array:
    """Centre a kernel and divide by its norm, which keeps the precision of CKA; 0 if only rounding is left.

    `unbiased` sets the diagonal to 0.
    """
    side, result = _side(kernel, unbiased=unbiased), np.empty_like(kernel)
    for start in range(0, len(kernel), _BLOCK_ROWS):
        result[start : start + _BLOCK_ROWS] = side.rows(start)
    result *= _inverse_norm(side, float(np.vdot(result, result)))
    return result


_BLOCK_ROWS = 32
"""Rows of kernels that are centred and multiplied together, so that they stay in the cache."""


class _Side(NamedTuple):
    """A kernel, and what centring it takes."""

    kernel: Array  # n × n
    square: float  # sum of squares
    shift: Array | None  # (n,): subtracted from rows and columns; None if the kernel is centred
    # (n,): sums of rows and diagonal, after centring
    sums: Array
    diagonal: Array
    unbiased: bool  # whether the diagonal is set to 0

    def rows(self, start: int) -> Array:
        """Some rows of the centred kernel."""
        block = self.kernel[start : start + _BLOCK_ROWS].copy()
        if self.shift is not None:
            block -= self.shift
            block -= self.shift[start : start + _BLOCK_ROWS, None]
        if self.unbiased:
            np.fill_diagonal(block[:, start:], 0.0)
        return block


def _side(kernel: Array, *, unbiased: bool) -> _Side:
    n = len(kernel)
    sums, square = np.empty(n), 0.0
    for start in range(0, n, _BLOCK_ROWS):
        block = kernel[start : start + _BLOCK_ROWS]
        block.sum(axis=1, out=sums[start : start + _BLOCK_ROWS])
        square += float(np.einsum("ij,ij->", block, block))  # without threads of BLAS, which wait for each other
    if not np.isfinite(square):
        raise ValueError("a kernel is not finite")
    diagonal, shift = kernel.diagonal().copy(), None
    if not float(sums @ sums) / n <= _CENTRED**2 * square:
        mean = sums / n
        shift = mean - mean.mean() / 2
        diagonal -= 2 * shift
        sums[:] = 0.0
    if unbiased:
        sums -= diagonal
        diagonal[:] = 0.0
    return _Side(kernel, square, shift, sums, diagonal, unbiased)


def _inverse_norm(side: _Side, square: float) -> float:
    """1 / norm of a centred kernel with this sum of squares, which keeps the precision of CKA; 0 for rounding."""
    return float(1 / np.sqrt(square)) if square > FLAT**2 * side.square else 0.0


def _sums_of_rows(first: _Side, second: _Side, starts: list[int]) -> tuple[Array, Array]:
    """Sums of products of rows (first · first, second · second, first · second), and kernels times sums."""
    sums = np.stack([first.sums, second.sums], axis=1)
    products, through = [np.empty((0, 3))], [np.empty((0, 2, 2))]
    for start in starts:
        rows = first.rows(start), second.rows(start)
        pairs = ((rows[0], rows[0]), (rows[1], rows[1]), rows)
        products.append(np.stack([np.einsum("ij,ij->i", *pair) for pair in pairs], axis=1))
        through.append(np.stack([block @ sums for block in rows], axis=1))
    return np.concatenate(products), np.concatenate(through)


def _hsic(
    products: Array, sums: tuple[Array, Array], diagonals: tuple[Array, Array], through: Array, *, unbiased: bool
) -> tuple[float, Array]:
    """HSIC of all stimuli, and without each stimulus."""
    n, (a, b), (own_K, own_L) = len(products), sums, diagonals
    inner, sum_a, sum_b = float(a @ b), float(a.sum()), float(b.sum())
    whole = _hsic_of_sums(float(products.sum()), inner, sum_a * sum_b, n, unbiased=unbiased)
    inner_left = inner - through + products - (a - own_K) * (b - own_L)
    without_each = _hsic_of_sums(
        products.sum() - 2 * products + own_K * own_L,
        inner_left,
        (sum_a - 2 * a + own_K) * (sum_b - 2 * b + own_L),
        n - 1,
        unbiased=unbiased,
    )
    return float(whole), np.asarray(without_each)


def _hsic_of_sums(
    trace: float | Array, inner: float | Array, outer: float | Array, n: int, *, unbiased: bool
) -> float | Array:
    if not unbiased:
        return (trace - 2 * inner / n + outer / n**2) / n**2
    if n < 4:
        return np.full_like(np.asarray(trace), np.nan)
    return (trace + outer / ((n - 1) * (n - 2)) - 2 * inner / (n - 2)) / (n * (n - 3))
