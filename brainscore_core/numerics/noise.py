"""Signal and noise in repeated measurements."""

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from brainscore_core.numerics._arrays import Array, as_matrix, chunks

__all__ = ["SignalToNoise", "noise_ceiling_fraction", "signal_to_noise"]


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
    return SignalToNoise(*(np.concatenate(parts) for parts in zip(*blocks, strict=True)))


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
