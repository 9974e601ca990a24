"""Accuracies of subjects in conditions, and how much alike they rise and fall."""

from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from brainscore_core.metric_helpers.uncertainty import attach_influence, attach_interval, attach_left_out
from brainscore_core.metrics import Score
from brainscore_core.numerics import bootstrap_interval, jackknife_interval, mean_influence
from brainscore_core.numerics.discrimination import masked_correlation

Table = NDArray[np.float64]


def mean_by_condition(
    values: NDArray[Any], subjects: NDArray[Any], *conditions: NDArray[Any]
) -> tuple[Table, NDArray[Any]]:
    """Mean of each subject in each condition.

    `values`: such as whether an answer was right. `subjects`: whose trial it was. `*conditions`: what tells conditions
    apart; each combination of values that occurs is a condition. Result: `means`: [several,] subjects × conditions; NaN
    where a subject has no trial; `names`.

    Examples
    --------
    >>> means, names = mean_by_condition(np.array([1, 0, 1]), np.array(["b", "b", "a"]), np.array([0, 0, 1]))
    >>> names.tolist(), means.tolist()
    (['a', 'b'], [[nan, 1.0], [0.5, nan]])
    """
    who, names = pd.factorize(subjects, sort=True)
    where = pd.MultiIndex.from_arrays(conditions)
    codes, distinct = pd.factorize(where, sort=True)
    shape = (len(names), len(distinct))
    cell, size = who * shape[1] + codes, shape[0] * shape[1]
    count = np.bincount(cell, minlength=size)
    rows = np.atleast_2d(np.asarray(values, dtype=np.float64))
    sums = np.stack([np.bincount(cell, row, minlength=size) for row in rows])
    means = np.where(count > 0, sums / np.maximum(count, 1), np.nan).reshape(len(rows), *shape)
    return (means if np.ndim(values) > 1 else means[0]), np.asarray(names)


def similarity(people: Table, model: Table, *, subjects: NDArray[Any]) -> Score:
    """Correlation over conditions of each subject's accuracies with the model's on the same trials; their mean.

    `people`, `model`: subjects × conditions. Result: a Score with ``raw`` (subject). Subjects whose correlation is
    undefined, as one of the two does not vary, are left out and counted in ``attrs['undefined']``. ``error`` and
    ``ci``: subjects vary, the model is kept.
    """
    values = np.array([masked_correlation(*pair).value for pair in zip(people, model, strict=True)])
    defined = values[~np.isnan(values)]
    score = _score(values, subjects)
    attach_influence(score, mean_influence(values), units="subjects", ids=subjects)
    interval = bootstrap_interval(defined, "mean", units="subjects")
    if not defined.size:
        interval = interval._replace(reason="the model is right equally often in all conditions")
    return attach_interval(score, interval, units="subjects for these images", estimates="mean over subjects")


def consistency(people: Table, *, subjects: NDArray[Any]) -> Score:
    """Correlation over conditions of each subject's accuracies with the mean of all others; their mean [1]_.

    `people`: subjects × conditions. Result: the lower bound of a noise ceiling, on the scale of :func:`similarity`,
    with ``raw`` (subject); ``error`` and ``ci`` from the jackknife over subjects.

    References
    ----------
    .. [1] Nili et al. 2014, https://doi.org/10.1371/journal.pcbi.1003553
    """
    values = _with_others(people)
    score = _score(values, subjects)
    score.attrs["meaning"] = "human-human"
    n = len(people)
    left_out = [_mean(_with_others(np.delete(people, subject, axis=0))) for subject in range(n)] if n > 2 else []
    attach_left_out(score, left_out, subjects=subjects)
    interval = jackknife_interval(float(score), left_out, units="subjects")
    units = "subjects for these images"
    return attach_interval(score, interval, units=units, estimates="mean correlation of a subject with the others")


def _with_others(people: Table) -> Table:
    answered = ~np.isnan(people)
    filled = np.where(answered, people, 0.0)
    n_others = answered.sum(axis=0) - answered
    with np.errstate(invalid="ignore"):
        means = np.where(n_others > 0, (filled.sum(axis=0) - filled) / np.maximum(n_others, 1), np.nan)
    return np.array([masked_correlation(*pair).value for pair in zip(people, means, strict=True)])


def _score(values: Table, subjects: NDArray[Any]) -> Score:
    score = Score(_mean(values))
    score.attrs.update(
        raw=Score(values, coords={"subject": ("subject", subjects)}, dims=["subject"]),
        scale="correlation",
        undefined=int(np.isnan(values).sum()),
    )
    return score


def _mean(values: Table) -> float:
    defined = values[~np.isnan(values)]
    return float(defined.mean()) if defined.size else float("nan")
