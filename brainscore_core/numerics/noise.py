"""Signal, noise, and reliability of repeated measurements."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from brainscore_core.numerics._matrices import CHUNK_BYTES, Array, as_matrix, chunks
from brainscore_core.numerics.correlation import pearson

Half = NDArray[np.intp]

_FAINT = 1e-6
"""Repetitions that vary by less than this fraction of the values' size are computed separately for each half."""

_CANCELLED = 1e-4
"""The same applies to halves whose sum has less than this fraction of the largest possible variance."""


def spearman_brown(r: ArrayLike, *, factor: float = 2.0) -> Array:
    """Reliability of a measurement that is `factor` times as long as a measurement with reliability r.

    Parameters
    ----------
    r : array
        Correlations of two measurements of equal length.
    factor : float
        Ratio of the lengths.

    Returns
    -------
    array
        factor · r / (1 + (factor − 1) · r); NaN for r = −1/(factor − 1), where it diverges.

    References
    ----------
    Spearman (1910). British Journal of Psychology 3, 271–295. https://doi.org/10.1111/j.2044-8295.1910.tb00206.x

    Examples
    --------
    >>> float(spearman_brown(0.5).round(4))
    0.6667
    """
    values = np.asarray(r, dtype=np.float64)
    divisor = 1 + (factor - 1) * values
    return np.asarray(factor * values / np.where(divisor == 0, np.nan, divisor))


def split_half_reliability(
    values: ArrayLike, stimuli: ArrayLike, repetitions: ArrayLike, halves: Sequence[tuple[Half, Half]]
) -> Array:
    """Spearman–Brown corrected correlation between means over two halves of the repetitions.

    Parameters
    ----------
    values : array, presentations × neuroids
        One row per presentation. NaN counts as not measured.
    stimuli, repetitions : array of int, presentations
        Stimulus and repetition of each row, from 0. Stimuli may lack repetitions.
    halves : sequence of (array of int, array of int)
        Repetitions in the two halves, one pair per split.

    Returns
    -------
    array, splits × neuroids
        Reliability of the mean over all repetitions of both halves. Only stimuli that were measured in both halves
        count. NaN if fewer than two are left, or a half does not vary.

    Notes
    -----
    With signal variance s² over stimuli, noise variance v of a presentation and R repetitions, the correlation of the
    halves is s²/(s² + 2v/R), and the result estimates s²/(s² + v/R).

    Examples
    --------
    >>> values = np.array([[1.0], [2.0], [3.0], [1.0], [2.0], [3.0]])
    >>> stimuli, repetitions = [0, 1, 2, 0, 1, 2], [0, 0, 0, 1, 1, 1]
    >>> split_half_reliability(values, stimuli, repetitions, [(np.array([0]), np.array([1]))])
    array([[1.]])
    """
    matrix, cells, membership, n = _checked(values, stimuli, repetitions, halves)
    r = membership.shape[2]
    complete = len(matrix) == n * r and np.bincount(cells, minlength=n * r).all()
    result = np.empty((len(halves), matrix.shape[1]))
    # memory of one chunk of neuroids: sums of each stimulus × repetition, and means of both halves of each split
    width = max(1, CHUNK_BYTES // (8 * max(1, n) * (2 * len(halves) + r)))
    for start in range(0, matrix.shape[1], width):
        chunk = np.arange(start, min(start + width, matrix.shape[1]))
        if complete:
            result[:, chunk], precise = _from_products(matrix[:, chunk], cells, membership)
            chunk = chunk[~precise]
            if not len(chunk):
                continue
        first, second = _half_means(matrix[:, chunk], cells, membership, n, r)
        for split in range(len(halves)):
            result[split, chunk] = _correlate(first[split], second[split])
    return spearman_brown(result)


def half_means(
    values: ArrayLike, stimuli: ArrayLike, repetitions: ArrayLike, halves: Sequence[tuple[Half, Half]]
) -> Iterator[tuple[Array, Array]]:
    """Means over the two halves of the repetitions, split after split; arguments of :func:`split_half_reliability`.

    Stimuli × neuroids each; NaN if nothing was measured.

    Examples
    --------
    >>> halves = [(np.array([0]), np.array([1]))]
    >>> first, second = next(half_means([[1.0], [2.0], [3.0], [5.0]], [0, 1, 0, 1], [0, 0, 1, 1], halves))
    >>> first.ravel().tolist(), second.ravel().tolist()
    ([1.0, 2.0], [3.0, 5.0])
    """
    matrix, cells, membership, n = _checked(values, stimuli, repetitions, halves)
    for split in range(len(halves)):
        first, second = _half_means(matrix, cells, membership[:, [split]], n, membership.shape[2])[:, 0]
        yield first, second


def _checked(
    values: ArrayLike, stimuli: ArrayLike, repetitions: ArrayLike, halves: Sequence[tuple[Half, Half]]
) -> tuple[NDArray, NDArray[np.intp], Array, int]:
    """Values, cell (repetition × stimulus) of each presentation, halves × splits × repetitions, number of stimuli."""
    matrix = as_matrix(values, "values")
    stimulus, repetition = np.asarray(stimuli, dtype=np.intp), np.asarray(repetitions, dtype=np.intp)
    if not len(matrix) == len(stimulus) == len(repetition):
        raise ValueError(
            f"{len(matrix)} presentations but {len(stimulus)} stimuli and {len(repetition)} repetitions; "
            "each presentation must have both"
        )
    n, r = int(stimulus.max(initial=-1)) + 1, int(repetition.max(initial=-1)) + 1
    membership = np.zeros((2, len(halves), r))
    for split, pair in enumerate(halves):
        for side, labels in enumerate(pair):
            membership[side, split, labels] = 1.0
    return matrix, repetition * n + stimulus, membership, n


def _from_products(values: NDArray, cells: NDArray[np.intp], membership: Array) -> tuple[Array, NDArray[np.bool_]]:
    """Correlations of the halves (splits × neuroids) if every stimulus has every repetition.

    Covariances of halves are sums of the repetitions' covariances, which are computed once for all splits.
    """
    flat = np.empty((values.shape[1], len(cells)))
    flat[:, cells] = values.T
    size = np.maximum(flat.max(axis=1), -flat.min(axis=1))
    with np.errstate(invalid="ignore", divide="ignore"):
        flat /= size[:, None]  # prevents overflow and underflow of squares
        cube = flat.reshape(len(flat), membership.shape[2], -1)
        cube -= cube.mean(axis=2, keepdims=True)
        products = cube @ cube.transpose(0, 2, 1)
        spread = np.sqrt(np.diagonal(products, axis1=1, axis2=2))
        first, second = membership
        covariance, *variances = (
            np.einsum("qsr,sr->sq", first_members @ products, second_members)
            for first_members, second_members in ((first, second), (first, first), (second, second))
        )
        precise = spread.min(axis=1) > _FAINT * np.sqrt(cube.shape[2])
        for side, variance in zip(membership, variances, strict=True):
            precise &= (variance > _CANCELLED * (side @ spread.T) ** 2).all(axis=0)
        return np.clip(covariance / np.sqrt(variances[0] * variances[1]), -1.0, 1.0), precise


def _half_means(values: NDArray, cells: NDArray[np.intp], membership: Array, n: int, r: int) -> Array:
    """Means over the repetitions in each half: 2 × splits × stimuli × neuroids; NaN if none was measured."""
    width = values.shape[1]
    measured = ~np.isnan(values)
    if measured.all():
        sums = _cell_sums(values, cells, r * n).reshape(r, -1)
        counts = np.bincount(cells, minlength=r * n).reshape(r, n).astype(np.float64)
        totals = (membership.reshape(-1, r) @ counts).reshape(*membership.shape[:2], n, 1)
    else:
        sums = _cell_sums(np.where(measured, values, 0.0), cells, r * n).reshape(r, -1)
        counts = _cell_sums(measured, cells, r * n).reshape(r, -1)
        totals = (membership.reshape(-1, r) @ counts).reshape(*membership.shape[:2], n, width)
    half_sums = (membership.reshape(-1, r) @ sums).reshape(*membership.shape[:2], n, width)
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.where(totals > 0, half_sums / totals, np.nan)


def _cell_sums(values: NDArray, cells: NDArray[np.intp], n_cells: int) -> Array:
    result = np.zeros((n_cells, values.shape[1]))
    if len(np.unique(cells)) == len(cells):
        result[cells] = values
    else:
        np.add.at(result, cells, values)
    return result


def _correlate(first: Array, second: Array) -> Array:
    """Columnwise correlation over the rows that are present in both."""
    both = ~(np.isnan(first) | np.isnan(second))
    whole = np.asarray(both.all(axis=1))
    if np.array_equal(both, np.broadcast_to(whole[:, None], both.shape)):
        return pearson(first[whole], second[whole])
    return np.array([float(pearson(first[rows, i], second[rows, i])) for i, rows in enumerate(both.T)])


class SignalToNoise(NamedTuple):
    """Variance components of each neuroid.

    Attributes
    ----------
    ncsnr : array, neuroids
        Noise-ceiling signal-to-noise ratio: standard deviation of the signal divided by that of the noise.
    signal : array, neuroids
        Variance over stimuli of the noiseless responses, not below 0.
    noise : array, neuroids
        Variance of a single presentation around its stimulus's mean.
    unrectified : array, neuroids
        Signal variance before negative values were set to 0.
    inverse_repetitions : array, neuroids
        Mean over stimuli of 1 / number of presentations.
    """

    ncsnr: Array
    signal: Array
    noise: Array
    unrectified: Array
    inverse_repetitions: Array


def signal_to_noise(values: ArrayLike, stimuli: ArrayLike) -> SignalToNoise:
    """Noise-ceiling signal-to-noise ratio of each neuroid (ncsnr) [1]_.

    Parameters
    ----------
    values : array, presentations × neuroids
        Single presentations; NaN counts as not measured.
    stimuli : array of int, presentations
        Stimulus of each row.

    Returns
    -------
    SignalToNoise
        NaN for a neuroid that does not vary, or without a stimulus that was measured twice; infinite if repetitions are
        equal.

    Notes
    -----
    Noise is the variance over a stimulus's presentations (ddof 1), averaged over the stimuli with at least two; signal
    is the variance of all presentations (ddof 1) minus noise, rectified at 0. For responses with variance 1, this is
    the published definition, 1 − noise.

    References
    ----------
    .. [1] Allen et al. (2022). Nature Neuroscience 25, 116–126. https://doi.org/10.1038/s41593-021-00962-x

    Examples
    --------
    >>> result = signal_to_noise([[0.0], [2.0], [4.0], [6.0]], [0, 0, 1, 1])
    >>> result.noise, result.signal.round(3)
    (array([2.]), array([4.667]))
    """
    matrix = as_matrix(values, "values")
    codes = np.unique(np.asarray(stimuli), return_inverse=True)[1]
    if len(matrix) != len(codes):
        raise ValueError(f"{len(matrix)} presentations but {len(codes)} stimuli; each presentation must have one")
    order = np.argsort(codes, kind="stable")
    blocks = [
        _components(matrix[order, columns].astype(np.float64), codes[order])
        for columns in list(chunks(matrix.shape[1], len(matrix))) or [slice(0)]
    ]
    return SignalToNoise(*(np.concatenate(component_columns) for component_columns in zip(*blocks, strict=True)))


def _components(values: Array, codes: NDArray[np.intp]) -> SignalToNoise:
    """Variance components of presentations that are sorted by stimulus."""
    starts = np.flatnonzero(np.diff(codes, prepend=-1))
    measured = ~np.isnan(values)
    count = np.add.reduceat(measured, starts, axis=0, dtype=np.float64)
    with np.errstate(invalid="ignore", divide="ignore"):
        total_count = count.sum(axis=0)
        grand = np.where(measured, values, 0.0).sum(axis=0) / total_count
        centred = np.where(measured, values - grand, 0.0)  # so that an offset does not reduce precision
        means = np.add.reduceat(centred, starts, axis=0) / count
        deviations = np.where(measured, centred - means[codes], 0.0)
        squares = np.add.reduceat(deviations**2, starts, axis=0)
        repeated = count > 1
        within = np.where(repeated, squares / (count - 1), 0.0).sum(axis=0)
        noise = np.where(repeated.any(axis=0), within / repeated.sum(axis=0), np.nan)
        variance = (centred**2).sum(axis=0) / (total_count - 1)
        unrectified = variance - noise
        signal = np.maximum(unrectified, 0.0)
        ncsnr = np.where(variance > 0, np.sqrt(signal) / np.sqrt(noise), np.nan)
        inverse = np.where(count > 0, 1 / count, 0.0).sum(axis=0) / (count > 0).sum(axis=0)
    return SignalToNoise(ncsnr, signal, noise, unrectified, inverse)


def noise_ceiling_fraction(ncsnr: ArrayLike, inverse_repetitions: ArrayLike) -> Array:
    """Fraction of the variance of averaged responses that is signal; times 100 it is the published noise ceiling.

    Parameters
    ----------
    ncsnr : array
        Noise-ceiling signal-to-noise ratio.
    inverse_repetitions : array or float
        1 / number of presentations that are averaged; the mean if it differs between stimuli.

    Returns
    -------
    array
        ncsnr² / (ncsnr² + 1/n); 1 if ncsnr is infinite.

    Examples
    --------
    >>> 100 * noise_ceiling_fraction([0.5, 1.0, np.inf], 1 / 3)
    array([ 42.85714286,  75.        , 100.        ])
    """
    ratio = np.asarray(ncsnr, dtype=np.float64) ** 2
    with np.errstate(invalid="ignore"):
        share = ratio / (ratio + np.asarray(inverse_repetitions, dtype=np.float64))
    return np.asarray(np.where(np.isinf(ratio), 1.0, share))


@dataclass(frozen=True)
class ResponseMoments:
    """Second moments of repeated measurements.

    Attributes
    ----------
    mean : array, neuroids
        Mean over stimuli of the averaged responses.
    total : array, neuroids × neuroids
        Covariance over stimuli of the responses averaged over repetitions.
    noise : array, neuroids × neuroids
        Covariance of a single presentation around its stimulus's mean.
    counts : array of int, stimuli
        Number of presentations of each stimulus.
    """

    mean: Array
    total: Array
    noise: Array
    counts: NDArray[np.intp]

    @property
    def noise_of_means(self) -> Array:
        """Covariance of the noise that is left in the averaged responses."""
        return self.noise * float((1 / self.counts).mean())

    @property
    def reliability(self) -> Array:
        """Share of each averaged neuroid's variance that is signal; negative by chance."""
        with np.errstate(invalid="ignore", divide="ignore"):
            return 1 - np.diag(self.noise_of_means) / np.diag(self.total)

    def signal(self) -> Array:
        """Covariance over stimuli of the expected responses.

        Returns
        -------
        array, neuroids × neuroids
            Positive semidefinite. Its trace and the sum of its squares are those of the signal, estimated without bias
            for Gaussian responses.

        Notes
        -----
        The difference of both covariances has negative eigenvalues, and large ones that are too large. The nearest
        positive semidefinite matrix with the same trace subtracts a constant from the eigenvalues that stay positive
        [1]_. It is then mixed with its diagonal, so that the sum of squares, that is the dimensionality, is right.

        References
        ----------
        .. [1] Smolin, Gambetta & Smith (2012). Physical Review Letters 108, 070502.
               https://doi.org/10.1103/PhysRevLett.108.070502
        """
        noise = self.noise_of_means
        values, vectors = np.linalg.eigh(self.total - noise)
        values, vectors = values[::-1], vectors[:, ::-1]
        trace = float(values.sum())
        if not trace > 0:
            return np.zeros_like(noise)
        excess = (np.cumsum(values) - trace) / np.arange(1, len(values) + 1)
        clipped = np.maximum(values - excess[np.flatnonzero(values > excess)[-1]], 0.0)
        nearest = (vectors * clipped) @ vectors.T
        single = np.diag(np.diag(nearest))
        free = len(self.counts) - 1, int(self.counts.sum()) - len(self.counts)
        squares = _squares(self.total, free[0]) - 2 * np.vdot(self.total, noise) + _squares(noise, free[1])
        shared = float(np.vdot(nearest, nearest) - np.vdot(single, single))
        ratio = (squares - float(np.vdot(single, single))) / shared if shared > 0 else 1.0
        weight = math.sqrt(min(max(ratio, 0.0), 1.0))
        return np.asarray(weight * nearest + (1 - weight) * single)

    def simulate(self, rng: np.random.Generator) -> tuple[Array, Array, "ResponseMoments"]:
        """Draw another experiment: Gaussian expected responses, and their noisy averages.

        Parameters
        ----------
        rng : Generator
            Random numbers.

        Returns
        -------
        expected, measured : array, stimuli × neuroids
            Responses without noise, and averaged over repetitions.
        moments : ResponseMoments
            As :func:`response_moments` would estimate them from the simulated presentations.
        """
        n, m = len(self.counts), len(self.mean)
        expected = self.mean + rng.standard_normal((n, m)) @ _root(self.signal()).T
        root = _root(self.noise)
        measured = expected + rng.standard_normal((n, m)) @ root.T / np.sqrt(self.counts)[:, None]
        free = int(self.counts.sum()) - n
        if free < m:
            drawn = rng.standard_normal((m, free))
        else:  # Bartlett's decomposition of a Wishart matrix
            drawn = np.tril(rng.standard_normal((m, m)), -1)
            drawn[np.diag_indices(m)] = np.sqrt(rng.chisquare(free - np.arange(m)))
        noise = root @ drawn
        total = np.atleast_2d(np.cov(measured, rowvar=False))
        return expected, measured, ResponseMoments(measured.mean(axis=0), total, noise @ noise.T / free, self.counts)


def response_moments(values: ArrayLike, stimuli: ArrayLike) -> ResponseMoments:
    """Second moments of repeated measurements, from which experiments with the same signal and noise can be drawn.

    Parameters
    ----------
    values : array, presentations × neuroids
        Single presentations, without NaN.
    stimuli : array of int, presentations
        Stimulus of each row.

    Returns
    -------
    ResponseMoments
        Stimuli are in the order of their numbers.

    Raises
    ------
    ValueError
        If values are missing, there are fewer than three stimuli, or none was presented twice.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> signal = rng.standard_normal((300, 2)) @ rng.standard_normal((2, 20))
    >>> presentations = np.repeat(signal, 4, axis=0) + 2 * rng.standard_normal((1200, 20))
    >>> moments = response_moments(presentations, np.repeat(np.arange(300), 4))
    >>> round(float(np.trace(moments.signal()) / np.trace(np.cov(signal.T))), 1)
    1.0
    >>> expected, measured, again = moments.simulate(rng)
    >>> expected.shape, measured.shape
    ((300, 20), (300, 20))
    """
    matrix = as_matrix(values, "values").astype(np.float64)
    codes = np.unique(np.asarray(stimuli), return_inverse=True)[1]
    if len(matrix) != len(codes):
        raise ValueError(f"{len(matrix)} presentations but {len(codes)} stimuli; each presentation must have one")
    if not np.isfinite(matrix).all():
        raise ValueError(f"{int((~np.isfinite(matrix)).sum())} values are missing; leave out these neuroids")
    counts = np.bincount(codes)
    free = len(codes) - len(counts)
    if len(counts) < 3 or free < 1:
        raise ValueError(
            f"there are {len(codes)} presentations of {len(counts)} stimuli; repetitions of at least 3 are needed"
        )
    matrix = matrix[np.argsort(codes, kind="stable")]
    means = np.add.reduceat(matrix, np.concatenate([[0], np.cumsum(counts)[:-1]]), axis=0) / counts[:, None]
    matrix -= np.repeat(means, counts, axis=0)
    total = np.atleast_2d(np.cov(means, rowvar=False))
    return ResponseMoments(means.mean(axis=0), total, matrix.T @ matrix / free, counts)


def _squares(covariance: Array, free: int) -> float:
    """Sum of the squares of a covariance matrix, estimated from one of Gaussian samples."""
    if free < 2:
        return float(np.vdot(covariance, covariance))
    squares = float(np.vdot(covariance, covariance) - np.trace(covariance) ** 2 / free)
    return squares * free**2 / ((free - 1) * (free + 2))


def _root(covariance: Array) -> Array:
    values, vectors = np.linalg.eigh(covariance)
    return np.asarray(vectors * np.sqrt(np.maximum(values, 0.0)))
