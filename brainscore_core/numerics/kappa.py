"""Agreement of errors beyond the agreement that follows from accuracy (Cohen's kappa of correct responses)."""

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from brainscore_core.numerics._matrices import Array


class KappaCounts(NamedTuple):
    """The counts from which kappa is computed; arrays of the same shape.

    Attributes
    ----------
    n : array of int
        Number of decisions that both observers made.
    first, second : array of int
        Number of correct decisions of each among these.
    agreeing : array of int
        Number of decisions in which both were correct or both were wrong.
    """

    n: NDArray[np.int64]
    first: NDArray[np.int64]
    second: NDArray[np.int64]
    agreeing: NDArray[np.int64]


class CrossedKappa(NamedTuple):
    """Error consistency of one observer with several subjects.

    Attributes
    ----------
    values : array, conditions × subjects
        Kappa; NaN if undefined.
    per_subject : array, subjects
        Mean over conditions, without NaN.
    influence : array, subjects × units
        Influence of each subject and each unit of stimuli on the mean over subjects (see
        :func:`~brainscore_core.numerics.resampling.influence_variance`). 0 where the subject did not see the unit, or
        has no kappa.
    """

    values: Array
    per_subject: Array
    influence: Array


def crossed_kappa(
    first: ArrayLike, second: ArrayLike, *, subjects: ArrayLike, conditions: ArrayLike, units: ArrayLike
) -> CrossedKappa:
    """Error consistency with several subjects, and what it is without each unit of stimuli.

    Parameters
    ----------
    first, second : array of bool, trials
        Whether the observer and the subject were correct.
    subjects, conditions, units : array of int, trials
        Codes from 0; units are stimuli or groups of them.

    Notes
    -----
    Each unit is left out of each subject's counts, which is exact: (n − 1)(mean − value without the unit) is the
    jackknife's influence of n units on one subject's value [1]_. A unit without which a subject has no kappa counts as
    one without influence.

    References
    ----------
    .. [1] Efron & Stein (1981). Annals of Statistics 9, 586–596. https://doi.org/10.1214/aos/1176345462

    Examples
    --------
    >>> model, people = np.array([1, 1, 0, 0] * 2, bool), np.array([1, 1, 0, 1, 1, 0, 0, 1], bool)
    >>> found = crossed_kappa(model, people, subjects=np.repeat([0, 1], 4), conditions=np.zeros(8, int),
    ...                       units=np.tile(np.arange(4), 2))
    >>> found.per_subject.round(3).tolist(), found.influence.mean(axis=1).round(3).tolist()
    ([0.5, 0.0], [0.25, -0.25])
    """
    ours, theirs = (np.asarray(side, dtype=bool) for side in (first, second))
    subject, condition, unit = (np.asarray(codes, dtype=np.intp) for codes in (subjects, conditions, units))
    n_subjects, n_conditions, n_units = (int(codes.max()) + 1 for codes in (subject, condition, unit))
    cell = subject * n_conditions + condition
    whole = KappaCounts(*_counts(cell, ours, theirs, n_subjects * n_conditions))
    values = kappa(whole)
    keys, cell_unit = np.unique(cell * n_units + unit, return_inverse=True)
    cells, unit_of = np.divmod(keys, n_units)
    counts_left = zip(whole, _counts(cell_unit, ours, theirs, len(keys)), strict=True)
    without = kappa(KappaCounts(*(total[cells] - of_unit for total, of_unit in counts_left)))

    table = values.reshape(n_subjects, n_conditions)
    defined = ~np.isnan(table)
    sums, count = np.where(defined, table, 0.0).sum(axis=1), defined.sum(axis=1)
    entry, size = cells // n_conditions * n_units + unit_of, n_subjects * n_units
    changes = np.nan_to_num(without) - np.nan_to_num(values[cells])
    fewer = np.isnan(without).astype(np.float64) - np.isnan(values[cells])
    shape = (n_subjects, n_units)
    seen = np.bincount(entry, minlength=size).reshape(shape) > 0
    sums_left = sums[:, None] + np.bincount(entry, changes, size).reshape(shape)
    count_left = np.rint(count[:, None] - np.bincount(entry, fewer, size).reshape(shape))
    defined_subjects = count > 0
    per_subject = np.where(defined_subjects, sums / np.maximum(count, 1), np.nan)
    left_out = np.where(count_left > 0, sums_left / np.maximum(count_left, 1), per_subject[:, None])
    n_seen = seen.sum(axis=1, keepdims=True)
    mean = np.where(seen, left_out, 0.0).sum(axis=1, keepdims=True) / n_seen
    main = per_subject - (per_subject[defined_subjects].mean() if defined_subjects.any() else np.nan)
    each = (n_seen - 1) * (mean - left_out) + main[:, None]
    each *= n_units / n_seen * (n_subjects / max(defined_subjects.sum(), 1))
    influence = np.where(seen & defined_subjects[:, None], each, 0.0)
    return CrossedKappa(np.asarray(table.T), np.asarray(per_subject), np.asarray(influence))


def _counts(
    cell: NDArray[np.intp], first: NDArray[np.bool_], second: NDArray[np.bool_], size: int
) -> tuple[NDArray[np.int64], ...]:
    everything = np.ones(len(cell), dtype=bool)
    return tuple(
        np.bincount(cell[which], minlength=size).astype(np.int64)
        for which in (everything, first, second, first == second)
    )


def kappa(counts: KappaCounts) -> Array:
    """Error consistency (observed − expected) / (1 − expected).

    Parameters
    ----------
    counts : KappaCounts
        Counts of decisions.

    Returns
    -------
    array
        In [−1, 1]; NaN without common decisions, and if both are always correct or both always wrong: agreement by
        chance is then certain, and kappa is 0/0.

    References
    ----------
    Geirhos, Meding & Wichmann (2020). NeurIPS 33. https://doi.org/10.48550/arXiv.2006.16736

    Examples
    --------
    >>> one = KappaCounts(*np.array([10, 5, 5, 8]))
    >>> float(kappa(one).round(6))
    0.6
    """
    n, first, second, agreeing = (np.asarray(numbers, dtype=np.int64) for numbers in counts)
    square = n * n
    expected = first * second + (n - first) * (n - second)
    limit = square - expected
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.asarray(np.where(limit > 0, (agreeing * n - expected) / np.where(limit > 0, limit, 1), np.nan))


def pairwise_kappa(correct: ArrayLike, seen: ArrayLike) -> Array:
    """Error consistency of every pair of observers, each on the stimuli that both saw.

    Parameters
    ----------
    correct : array of bool, observers × stimuli
        Whether the observer was correct; ignored for stimuli that were not seen.
    seen : array of bool, observers × stimuli
        Whether the observer saw the stimulus.

    Returns
    -------
    array, observers × observers
        Symmetric; NaN on the diagonal and for pairs with an undefined kappa (see :func:`kappa`).

    Examples
    --------
    >>> seen = np.ones((2, 4), dtype=bool)
    >>> pairwise_kappa([[1, 1, 0, 0], [1, 0, 0, 0]], seen).round(3).tolist()
    [[nan, 0.5], [0.5, nan]]
    """
    s = np.asarray(seen, dtype=bool)
    c = np.asarray(correct, dtype=bool) & s
    if c.ndim != 2:
        raise ValueError(f"correct has the shape {c.shape}; it must be observers × stimuli")
    s_, c_ = s.astype(np.float64), c.astype(np.float64)  # counts are exact in float64, and products are fast
    n, right, both = s_ @ s_.T, c_ @ s_.T, c_ @ c_.T
    table = (n, right, right.T, n - right - right.T + 2 * both)
    result = kappa(KappaCounts(*(np.rint(numbers).astype(np.int64) for numbers in table)))
    np.fill_diagonal(result, np.nan)
    return result
