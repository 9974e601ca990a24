"""Discriminability (d′) of images and objects from choices between two objects."""

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import ndtri  # imported here, as only the metrics that use it import this module

from brainscore_core.numerics._matrices import Array
from brainscore_core.numerics.resampling import mean

LIMIT = 5.0
"""d′ is clipped at ± this: a rate of 0 or 1 from a few trials would make it infinite."""


class MaskedCorrelation(NamedTuple):
    """Pearson correlation over the entries that are present on both sides.

    - `value`: NaN if fewer than two entries are left or one side does not vary.
    - `influence`: influence of each row (see :func:`brainscore_core.numerics.influence_interval`); sums to 0.
    - `n`: number of entries.
    """

    value: float
    influence: Array
    n: int


def choice_rates(
    stimuli: ArrayLike, chosen: ArrayLike, distractors: ArrayLike, *, truth: ArrayLike, n_objects: int
) -> Array:
    """Fraction of the trials with a distractor in which it was chosen.

    Parameters
    ----------
    stimuli, chosen, distractors : array of int (trials,)
        Codes of the stimulus, of the chosen object and of the offered wrong object.
    truth : array of int (stimuli,)
        Code of the object in each stimulus.
    n_objects : int
        Number of objects.

    Returns
    -------
    array, stimuli × objects
        False-alarm rates; NaN if a distractor was never offered, and for the object in the stimulus.

    Examples
    --------
    >>> choice_rates([0, 0, 0], [1, 0, 2], [1, 1, 2], truth=[0], n_objects=3).tolist()
    [[nan, 0.5, 1.0]]
    """
    asked, alarms = choice_counts(stimuli, chosen, distractors, n_stimuli=len(np.asarray(truth)), n_objects=n_objects)
    return rates_of_counts(asked[0], alarms[0], truth)


def choice_counts(
    stimuli: ArrayLike,
    chosen: ArrayLike,
    distractors: ArrayLike,
    *,
    n_stimuli: int,
    n_objects: int,
    blocks: ArrayLike | None = None,
    n_blocks: int = 1,
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Number of trials with each stimulus and distractor, and of those in which the distractor was chosen.

    Both are blocks × stimuli × objects; other arguments as for :func:`choice_rates`.

    Examples
    --------
    >>> asked, alarms = choice_counts([0, 0, 0], [1, 0, 2], [1, 1, 2], n_stimuli=1, n_objects=3)
    >>> asked.tolist(), alarms.tolist()
    ([[[0, 2, 1]]], [[[0, 1, 1]]])
    """
    rows, picked, offered = (np.asarray(indices, dtype=np.intp) for indices in (stimuli, chosen, distractors))
    cell = rows * n_objects + offered
    if blocks is not None:
        cell = cell + np.asarray(blocks, dtype=np.intp) * (n_stimuli * n_objects)
    shape = (n_blocks, n_stimuli, n_objects)
    asked = np.bincount(cell, minlength=int(np.prod(shape))).reshape(shape)
    return asked, np.bincount(cell[picked == offered], minlength=int(np.prod(shape))).reshape(shape)


def rates_of_counts(asked: ArrayLike, alarms: ArrayLike, truth: ArrayLike) -> Array:
    """False-alarm rates from :func:`choice_counts` of one block, as :func:`choice_rates`."""
    trials, wrong = np.asarray(asked), np.asarray(alarms)
    rates = np.where(trials > 0, wrong / np.maximum(trials, 1), np.nan)
    rates[np.arange(len(rates)), np.asarray(truth, dtype=np.intp)] = np.nan
    return rates


def pairwise_probabilities(probabilities: ArrayLike, truth: ArrayLike) -> Array:
    """Probability of a distractor in a choice between it and the object in the stimulus, p_d / (p_d + p_own).

    Parameters
    ----------
    probabilities : array, stimuli × objects
        Values ≥ 0, which need not sum to 1.
    truth : array of int (stimuli,)
        Code of the object in each stimulus.

    Returns
    -------
    array, stimuli × objects
        NaN for the object in the stimulus, and if both probabilities are 0.

    Examples
    --------
    >>> pairwise_probabilities([[0.6, 0.2, 0.2]], [0]).round(2).tolist()
    [[nan, 0.25, 0.25]]
    """
    p = np.asarray(probabilities, dtype=np.float64)
    objects = np.asarray(truth, dtype=np.intp)
    rows = np.arange(len(p))
    total = p + p[rows, objects][:, None]
    result = np.where(total > 0, p / np.where(total > 0, total, 1), np.nan)
    result[rows, objects] = np.nan
    return result


def class_means(values: ArrayLike, truth: ArrayLike, *, n_objects: int) -> Array:
    """Mean over the stimuli of each object, without NaN.

    NaN in `values` (stimuli × columns) was not measured; NaN in the result (objects × columns) if nothing was.

    Examples
    --------
    >>> class_means([[1.0], [3.0], [5.0]], [0, 0, 1], n_objects=3).tolist()
    [[2.0], [5.0], [nan]]
    """
    array = np.asarray(values, dtype=np.float64)
    member = (np.arange(n_objects)[:, None] == np.asarray(truth, dtype=np.intp)[None, :]).astype(np.float64)
    defined = ~np.isnan(array)
    count = member @ defined
    return np.asarray(np.where(count > 0, member @ np.where(defined, array, 0.0) / np.maximum(count, 1), np.nan))


def less_class_means(values: ArrayLike, truth: ArrayLike, *, n_objects: int) -> Array:
    """Values minus the mean over all stimuli of the same object, column by column; NaN stays NaN."""
    array = np.asarray(values, dtype=np.float64)
    return np.asarray(array - class_means(array, truth, n_objects=n_objects)[np.asarray(truth, dtype=np.intp)])


def stimulus_dprimes(rates: ArrayLike, truth: ArrayLike) -> Array:
    """d′ of each stimulus against each distractor [1]_.

    z(1 − the stimulus's false-alarm rate) − z(mean false-alarm rate of the inverse), clipped at ±5. The inverse
    comprises the stimuli of the distractor, with this stimulus's object offered.

    Parameters
    ----------
    rates : array, stimuli × objects
        False-alarm rates; NaN if not measured.
    truth : array of int (stimuli,)
        Code of the object in each stimulus.

    Returns
    -------
    array, stimuli × objects
        NaN if either rate is missing, or both terms are infinite with the same sign (a stimulus that is always mistaken
        for an object that is never mistaken).

    References
    ----------
    .. [1] Rajalingham et al. (2018). Journal of Neuroscience 38, 7255–7269.
       https://doi.org/10.1523/JNEUROSCI.0388-18.2018

    Examples
    --------
    >>> stimulus_dprimes([[np.nan, 0.1], [0.1, np.nan]], [0, 1]).round(3).tolist()
    [[nan, 2.563], [2.563, nan]]
    """
    array, objects = np.asarray(rates, dtype=np.float64), np.asarray(truth, dtype=np.intp)
    return _dprimes(array, class_means(array, objects, n_objects=array.shape[1])[:, objects].T)


def object_dprimes(rates: ArrayLike, truth: ArrayLike) -> Array:
    """d′ of each pair of objects, from the false-alarm rates averaged over the stimuli of each object.

    Parameters
    ----------
    rates, truth
        As in :func:`stimulus_dprimes`.

    Returns
    -------
    array, objects × objects
        Symmetric, clipped at ±5; NaN on the diagonal and if a rate is missing.

    Examples
    --------
    >>> object_dprimes([[np.nan, 0.1], [0.1, np.nan]], [0, 1]).round(3).tolist()
    [[nan, 2.563], [2.563, nan]]
    """
    array = np.asarray(rates, dtype=np.float64)
    means = class_means(array, truth, n_objects=array.shape[1])
    return _dprimes(means, means.T)


def nanmean_rows(values: Array) -> Array:
    """Mean of each row, without NaN; NaN for a row without values."""
    return mean(values, 1)


def masked_correlation(x: ArrayLike, y: ArrayLike) -> MaskedCorrelation:
    """Pearson correlation over all entries that are present on both sides, and each row's influence on it.

    Parameters
    ----------
    x, y : array (rows,) or rows × columns
        NaN if not measured.

    Examples
    --------
    >>> masked_correlation([1.0, 2.0, 3.0, np.nan], [1.0, 3.0, 4.0, 9.0]).n
    3
    """
    a, b = np.asarray(x, dtype=np.float64), np.asarray(y, dtype=np.float64)
    if a.shape != b.shape:
        raise ValueError(f"x has the shape {a.shape}, y {b.shape}; they must be equal")
    n, sides = int((~np.isnan(a + b)).sum()), _standardised(a, b)
    if sides is None:
        return MaskedCorrelation(np.nan, np.full(len(a), np.nan), n)
    zx, zy, _ = sides
    value = float((zx * zy).sum())
    each = (zx * zy - value / 2 * (zx**2 + zy**2)).reshape(len(a), -1).sum(axis=1)
    return MaskedCorrelation(min(max(value, -1.0), 1.0), len(a) * each, n)


def correlation_slopes(x: ArrayLike, y: ArrayLike) -> Array:
    """Derivative of :func:`masked_correlation` by each entry of x; 0 for entries missing on either side.

    Examples
    --------
    >>> correlation_slopes([1.0, 2.0, 3.0], [1.0, 2.0, 4.0]).round(3).tolist()
    [0.055, -0.109, 0.055]
    """
    a, b = np.asarray(x, dtype=np.float64), np.asarray(y, dtype=np.float64)
    sides = _standardised(a, b)
    if sides is None:
        return np.zeros_like(a)
    zx, zy, length = sides
    return np.asarray((zy - float((zx * zy).sum()) * zx) / length)


def _standardised(x: Array, y: Array) -> tuple[Array, Array, float] | None:
    """Both sides with mean 0 and length 1, and the length of x before; entries missing on either side are 0.

    None if a side does not vary.
    """
    both: NDArray[np.bool_] = ~(np.isnan(x) | np.isnan(y))
    if both.sum() < 2:
        return None
    deviations = [np.where(both, side - side[both].mean(), 0.0) for side in (x, y)]
    lengths = [float(np.sqrt((deviation**2).sum())) for deviation in deviations]
    for length, side in zip(lengths, (x, y), strict=True):
        if length <= 1e-13 * np.sqrt(both.sum()) * np.abs(side[both]).max():
            return None
    return deviations[0] / lengths[0], deviations[1] / lengths[1], lengths[0]


def through_inverses(slopes: ArrayLike, dprimes: ArrayLike, rates: ArrayLike, truth: ArrayLike) -> Array:
    """Influence that stimuli have on a statistic of all d′ through the mean rates of the inverse.

    Parameters
    ----------
    slopes : array, stimuli × objects
        Derivative of the statistic by each d′.
    dprimes, rates : array, stimuli × objects
        Results and arguments of :func:`stimulus_dprimes`.
    truth : array of int (stimuli,)
        Code of the object in each stimulus.

    Returns
    -------
    array (stimuli,)
        Derivative by the stimulus's weight in its object's mean rates, times the number of stimuli; sums to 0. Clipped
        d′ have derivative 0.
    """
    array, objects = np.asarray(rates, dtype=np.float64), np.asarray(truth, dtype=np.intp)
    k = array.shape[1]
    means = class_means(array, objects, n_objects=k)  # object shown × object chosen
    free = np.abs(np.asarray(dprimes, dtype=np.float64)) < LIMIT  # False for NaN
    member = (np.arange(k)[:, None] == objects[None, :]).astype(np.float64)
    together = member @ np.where(free, np.asarray(slopes, dtype=np.float64), 0.0)
    asked = member @ ~np.isnan(array)
    with np.errstate(invalid="ignore", divide="ignore"):
        density = np.exp(-(ndtri(means) ** 2) / 2) / np.sqrt(2 * np.pi)
        weight = -together.T / (density * asked)
    weight = np.where(np.isfinite(weight), weight, 0.0)
    deviations = np.where(np.isnan(array), 0.0, array - means[objects])
    return np.asarray(len(objects) * (deviations * weight[objects]).sum(axis=1))


def _dprimes(rates: Array, inverse: Array) -> Array:
    with np.errstate(invalid="ignore"):
        return np.asarray(np.clip(ndtri(1 - rates) - ndtri(inverse), -LIMIT, LIMIT))
