"""Similarities of representations without some of the stimuli or neuroids: how they vary with either."""

from functools import partial
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from brainscore_core.numerics._matrices import Array, as_matrix, chunk_columns, chunks
from brainscore_core.numerics._processors import in_parallel
from brainscore_core.numerics.correlation import Ranks, mean_ranks, rank_observations, spearman, standardised
from brainscore_core.numerics.dissimilarity import Dissimilarity, expanded, number_of_stimuli, rdm
from brainscore_core.numerics.similarity import centred_kernel

_CLASSES = 1024
"""Classes into which the dissimilarities of many pairs are sorted."""
_EXACT = 500_000
"""Number of pairs × groups up to which the pairs are sorted anew without each group."""


def deletion_influence(left_out: ArrayLike) -> Array:
    """Influence of each unit, from the values without it (the jackknife).

    (units − 1) · (mean of the values − value without the unit); its variance over the number of units is the
    jackknife's variance of the value [1]_.

    References
    ----------
    .. [1] Efron & Stein (1981). Annals of Statistics 9, 586–596. https://doi.org/10.1214/aos/1176345462

    Examples
    --------
    >>> deletion_influence([4.0, 3.0, 2.0]).tolist()
    [-2.0, 0.0, 2.0]
    """
    values = np.asarray(left_out, dtype=np.float64)
    return np.asarray((values.size - 1) * (values.mean() - values))


def cka_without_stimuli(K: ArrayLike, L: ArrayLike, codes: ArrayLike) -> Array:
    """Unbiased CKA without each group of stimuli, exact.

    `codes` numbers the groups from 0. NaN if fewer than 4 stimuli remain, or a representation does not vary
    consistently over them.

    Sums over a group's rows and columns are subtracted, in O(stimuli² · groups) for all groups together.

    Examples
    --------
    >>> K = np.diag([1.0, 2.0, 3.0, 4.0, 5.0, 6.0]) + np.eye(6)[::-1]
    >>> cka_without_stimuli(K, K, [0, 0, 1, 1, 1, 1]).round(6).tolist()
    [1.0, nan]
    """
    group = np.asarray(codes, dtype=np.intp)
    number = int(group.max()) + 1
    kernels = [np.asarray(kernel, dtype=np.float64) for kernel in (K, L)]
    first, second = in_parallel([partial(centred_kernel, kernel) for kernel in kernels], numbers=kernels[0].size)
    sizes = np.bincount(group, minlength=number)
    member = np.zeros((len(group), number))
    member[np.arange(len(group)), group] = 1.0
    to_groups = [kernel @ member for kernel in (first, second)]
    hsic = in_parallel(
        [
            partial(_without, left_kernel, right_kernel, (ours, theirs), group, sizes)
            for left_kernel, right_kernel, ours, theirs in (
                (first, second, *to_groups),
                (first, first, to_groups[0], to_groups[0]),
                (second, second, to_groups[1], to_groups[1]),
            )
        ],
        numbers=first.size,
    )
    return _aligned(*hsic)


def _without(
    K: Array, L: Array, to_groups: tuple[Array, Array], codes: NDArray[np.intp], sizes: NDArray[np.intp]
) -> Array:
    """Unbiased HSIC without each group, up to a factor that depends on the number of stimuli."""
    number = len(sizes)
    n_left = (len(codes) - sizes).astype(np.float64)
    products = np.einsum("ij,ij->i", K, L)
    rows = [np.flatnonzero(codes == group) for group in range(number)]
    inside = np.array([np.vdot(K[np.ix_(members, members)], L[np.ix_(members, members)]) for members in rows])
    trace = products.sum() - 2 * np.bincount(codes, products, number) + inside
    remaining, totals = [], []
    for with_groups in to_groups:
        sums = with_groups.sum(axis=1, keepdims=True) - with_groups  # of each row, without a group's columns
        sums[np.arange(len(codes)), codes] = 0.0
        remaining.append(sums)
        totals.append(sums.sum(axis=0))
    for members, group in zip(rows, range(number), strict=True):
        for sums in remaining:
            sums[members, group] = 0.0
    inner = np.einsum("ig,ig->g", *remaining)
    with np.errstate(divide="ignore", invalid="ignore"):
        value = trace + totals[0] * totals[1] / ((n_left - 1) * (n_left - 2)) - 2 * inner / (n_left - 2)
    return np.where(n_left >= 4, value, np.nan)


def _aligned(cross: Array, first_hsic: Array, second_hsic: Array) -> Array:
    with np.errstate(invalid="ignore"):
        return np.asarray(
            cross / np.sqrt(np.where((first_hsic > 0) & (second_hsic > 0), first_hsic * second_hsic, np.nan))
        )


def cka_without_neuroids(K: ArrayLike, Y: ArrayLike, codes: ArrayLike | None = None) -> Array:
    """Unbiased linear CKA of a kernel and Y without each neuroid, or group of neuroids, of Y; exact.

    `codes` numbers the groups from 0; by default each neuroid is one. NaN where the remaining neuroids do not vary
    consistently over stimuli; a ValueError with fewer than 4 stimuli.

    A linear kernel is a sum over neuroids, and HSIC is bilinear: without the kernel A of a group,
    HSIC(K, L − A) = HSIC(K, L) − HSIC(K, A) and HSIC(L − A, L − A) = HSIC(L, L) − 2 HSIC(L, A) + HSIC(A, A), in
    O(stimuli² · neuroids) for all groups together.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> X, Y = rng.standard_normal((2, 20, 5))
    >>> from brainscore_core.numerics import cka, linear_kernel
    >>> without = cka_without_neuroids(linear_kernel(X), Y)
    >>> bool(np.isclose(without[1], cka(X, np.delete(Y, 1, axis=1)).value))
    True
    """
    values = as_matrix(Y, "Y")
    n, m = values.shape
    kernel = centred_kernel(np.asarray(K, dtype=np.float64))
    if len(kernel) != n:
        raise ValueError(f"the kernel is of {len(kernel)} stimuli, Y of {n}; they must be the same stimuli")
    if n < 4:
        raise ValueError(f"{n} stimuli: unbiased CKA requires at least 4")
    group = np.arange(m) if codes is None else np.asarray(codes, dtype=np.intp)
    number = int(group.max()) + 1
    pairs, n_less_two = (n - 1) * (n - 2), n - 2
    sums = kernel.sum(axis=1)
    total = float(sums.sum())
    kernel_hsic = float(np.vdot(kernel, kernel)) + total**2 / pairs - 2 * float(sums @ sums) / n_less_two
    few = 2 * m <= n  # then the products of neuroids replace those of stimuli
    blocks = [slice(0, m)] if few else list(chunk_columns(n, m))
    gram, lengths = np.zeros((0 if few else n, n)), np.zeros(n)
    with_kernel = np.empty(m)
    for columns in blocks:
        block = _centred(values[:, columns])
        squares = block * block
        lengths += squares.sum(axis=1)
        with_kernel[columns] = np.einsum("ij,ij->j", kernel @ block, block)
        with_kernel[columns] += squares.T @ (2 * sums / n_less_two - total / pairs)
        if few:
            gram = block.T @ block
        else:
            gram += block @ block.T
    whole = float(lengths.sum())
    all_neuroids = float(np.vdot(gram, gram)) - (1 + 2 / n_less_two) * float(lengths @ lengths) + whole**2 / pairs
    with_all, within = np.empty(m), np.empty(m)
    for columns in blocks:
        block = _centred(values[:, columns])
        squares = block * block
        size = squares.sum(axis=0)
        with_all[columns] = (gram * gram).sum(axis=0) if few else np.einsum("ij,ij->j", gram @ block, block)
        with_all[columns] += squares.T @ (-(1 + 2 / n_less_two) * lengths) + size * whole / pairs
        within[columns] = size**2 * (1 + 1 / pairs) - (1 + 2 / n_less_two) * (squares**2).sum(axis=0)
    if codes is not None:
        within = np.array([_own_hsic(_centred(values[:, group == code])) for code in range(number)])
    cross, shared = (np.bincount(group, contribution, number) for contribution in (with_kernel, with_all))
    return _aligned(with_kernel.sum() - cross, np.full(number, kernel_hsic), all_neuroids - 2 * shared + within)


def _own_hsic(block: Array) -> float:
    """Unbiased HSIC of the linear kernel of centred neuroids with itself, times n (n − 3)."""
    n = len(block)
    lengths = np.einsum("ij,ij->i", block, block)
    product = block.T @ block if block.shape[1] < n else block @ block.T
    square = float(np.vdot(product, product))
    whole = float(lengths.sum())
    return square - (1 + 2 / (n - 2)) * float(lengths @ lengths) + whole**2 / ((n - 1) * (n - 2))


def _centred(block: NDArray) -> Array:
    block = block.astype(np.float64)
    block -= block.mean(axis=0)
    return np.asarray(block)


def rdm_without_stimuli(a: ArrayLike, b: ArrayLike, codes: ArrayLike) -> Array:
    """Spearman correlation of two condensed RDMs without each group of stimuli.

    `a` and `b` are upper triangles in the same order, without NaN; `codes` numbers the groups from 0. NaN if fewer than
    2 pairs remain, or do not vary.

    Exact up to 500,000 pairs × groups. Of more, dissimilarities are sorted into 1,024 classes of equal size, whose
    members count as tied (an error of about a thousandth of the standard error); their counts less those of the pairs
    with a group give the ranks among the pairs that remain, in O(stimuli²) for all groups together.

    Examples
    --------
    >>> rdm_without_stimuli(np.arange(6), [0, 1, 2, 3, 5, 4], np.arange(4)).round(6).tolist()
    [0.5, 1.0, 1.0, 1.0]
    """
    group = np.asarray(codes, dtype=np.intp)
    number = int(group.max()) + 1
    n = number_of_stimuli(len(np.asarray(a)))
    if len(np.asarray(a)) * number <= _EXACT:
        rows, columns = np.triu_indices(n, 1)
        sides = np.stack([np.asarray(side, dtype=np.float64) for side in (a, b)])
        pairs_left = ((group[rows] != code) & (group[columns] != code) for code in range(number))
        return np.array([float(spearman(*sides[:, there])) for there in pairs_left])
    pair = [np.asarray(side, dtype=np.float64) for side in (a, b)]
    first, second = in_parallel([partial(_classes, side) for side in pair], numbers=len(pair[0]))
    pairs = len(first)
    size = int(max(first.max(), second.max())) + 1
    joint = np.bincount(first * size + second, minlength=size * size).reshape(size, size).astype(np.float64)
    squares = [expanded(side.astype(np.int16)) for side in (first, second)]
    ranks = np.empty((2, number, size))
    spread, removed = np.empty((2, number)), np.empty(number)
    for code in range(number):
        inside, outside = np.flatnonzero(group == code), np.flatnonzero(group != code)
        upper = np.triu_indices(len(inside), 1)
        gone = [
            np.concatenate([square[np.ix_(inside, outside)].ravel(), square[np.ix_(inside, inside)][upper]])
            for square in squares
        ]
        for side, (classes, whole) in enumerate(zip(gone, (joint.sum(axis=1), joint.sum(axis=0)), strict=True)):
            counts_left = whole - np.bincount(classes, minlength=size)
            ranks[side, code] = np.cumsum(counts_left) - counts_left / 2 - (pairs - len(classes)) / 2
            spread[side, code] = counts_left @ ranks[side, code] ** 2
        removed[code] = ranks[0, code][gone[0]] @ ranks[1, code][gone[1]]
    cross = np.einsum("gi,gi->g", ranks[0] @ joint, ranks[1]) - removed
    product = spread[0] * spread[1]
    return np.where(product > 0, cross / np.sqrt(np.where(product > 0, product, 1.0)), np.nan)


def _classes(values: Array) -> NDArray[np.intp]:
    """Class of each value among classes in ascending order; ties share a class."""
    order = rank_observations(values).doubled / (2 * len(values))
    return np.minimum(order * min(len(values), _CLASSES), min(len(values), _CLASSES) - 1).astype(np.intp)


def rdm_without_neuroids(
    a: ArrayLike,
    Y: ArrayLike,
    codes: ArrayLike | None = None,
    *,
    dissimilarity: Dissimilarity = "correlation",
    device: Any = None,
) -> Array:
    """Spearman correlation of an RDM with that of Y without each neuroid, or group of neuroids; exact.

    `a` is an upper triangle without NaN, Y stimuli × neuroids; `codes` numbers the groups from 0, and by default each
    neuroid is one. NaN if a dissimilarity is undefined for the remaining neuroids. Takes one RDM per group.

    Examples
    --------
    >>> Y = np.array([[1.0, 5.0, 3.0], [2.0, 3.0, 5.0], [4.0, 1.0, 2.0]])
    >>> rdm_without_neuroids([1.0, 3.0, 2.0], Y, dissimilarity="euclidean").round(1).tolist()
    [1.0, 0.5, 1.0]
    """
    values = as_matrix(Y, "Y")
    group = np.arange(values.shape[1]) if codes is None else np.asarray(codes, dtype=np.intp)
    first = standardised(mean_ranks(np.asarray(a, dtype=np.float64)))
    result = np.full(int(group.max()) + 1, np.nan)
    for number in range(len(result)):
        columns_left = values[:, group != number]
        if columns_left.shape[1]:
            second = rdm(columns_left, dissimilarity=dissimilarity, device=device)
            result[number] = float(first @ standardised(mean_ranks(second)))
    return result


def rdm_neuroid_influence(
    a: ArrayLike, b: ArrayLike, Y: ArrayLike, *, dissimilarity: Dissimilarity = "correlation"
) -> Array:
    """Influence of each neuroid of Y on the Spearman correlation of an RDM with the RDM of Y.

    `a` and `b` are upper triangles of the other side and of Y (stimuli × neuroids), without NaN. Returns the derivative
    of the correlation by each neuroid's weight, times the number of neuroids; 0 on average.

    A dissimilarity is a sum over neuroids, so the derivative is a quadratic form of each neuroid's responses with the
    derivatives of the correlation by all dissimilarities, in one product. A small change δ of the dissimilarities
    changes their ranks by density · (δ − mean of δ among pairs as dissimilar); density and mean are those of the pairs
    next in rank. From 50 neuroids on, its standard deviation is within about a tenth of that of the exact deletions
    (:func:`rdm_without_neuroids`), which take an RDM each; below that it is too small.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> X, Y = rng.standard_normal((2, 30, 40))
    >>> from brainscore_core.numerics import rdm
    >>> a = rdm(X + Y)
    >>> influence = rdm_neuroid_influence(a, rdm(Y), Y)
    >>> one_less = rdm(np.delete(Y, influence.argmax(), axis=1))
    >>> from brainscore_core.numerics import compare_rdms
    >>> compare_rdms(a, one_less).value < compare_rdms(a, rdm(Y)).value
    True
    """
    values = as_matrix(Y, "Y")
    n, m = values.shape
    second = np.asarray(b, dtype=np.float64)
    angles = dissimilarity in ("correlation", "cosine")
    if dissimilarity == "euclidean":
        second = second**2
    slope = expanded(_slopes(rank_observations(np.asarray(a, dtype=np.float64)), rank_observations(second), second))
    if angles:
        slope_sums = slope.sum(axis=1) - np.einsum("ij,ij->i", slope, expanded(second))  # Σ slope · similarity
        mean = values.mean(axis=1, dtype=np.float64) if dissimilarity == "correlation" else np.zeros(n)
        length = np.zeros(n)
        for columns in chunk_columns(n, m):
            length += ((values[:, columns].astype(np.float64) - mean[:, None]) ** 2).sum(axis=1)
        scale = 1 / np.sqrt(length)
    else:
        slope_sums = slope.sum(axis=1)
        mean, scale = np.zeros(n), np.ones(n)
    result = np.empty(m)
    for columns in chunk_columns(n, m):
        block = values[:, columns].astype(np.float64)
        if not angles:
            block -= block.mean(axis=0)  # distances do not depend on it, and it costs digits
        block -= mean[:, None]
        block *= scale[:, None]
        result[columns] = (block**2).T @ ((0.5 if angles else 1.0) * slope_sums)
        result[columns] -= np.einsum("ij,ij->j", slope @ block, block) * (0.5 if angles else 1.0)
    return np.asarray(m * (result - result.mean()))


def _slopes(x: Ranks, y: Ranks, values: Array) -> Array:
    """Derivative of Spearman's rho by each of y's values."""
    n = len(values)
    spread_x, spread_y = (float(cdf @ cdf) / n - 0.25 for cdf in (side.doubled / (2 * n) for side in (x, y)))
    ranks = x.in_order_of(y) / (2 * n)
    ranks -= 0.5
    ranks /= np.sqrt(spread_x * spread_y)
    ordered = values[y.order]
    half = max(2, round(n**0.75 / 4))
    upto = np.zeros(n + 1)
    np.cumsum(ranks, out=upto[1:])
    result = np.empty(n)
    for positions in chunks(n, 128):  # several arrays of all pairs would take most of the memory
        low = np.maximum(np.arange(positions.start, positions.stop) - half, 0)
        high = np.minimum(np.arange(positions.start, positions.stop) + half, n - 1)
        local = (upto[high + 1] - upto[low]) / (high + 1 - low)
        span = ordered[high] - ordered[low]
        density = (high - low) / np.where(span > 0, span, np.inf) / n
        result[y.order[positions]] = density * (ranks[positions] - local) / n
    return result
