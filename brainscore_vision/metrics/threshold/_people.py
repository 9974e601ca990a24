"""People's thresholds, and how close they are to each other."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from brainscore_core.errors import spelling_hint
from brainscore_core.metric_helpers.alignment import MetricInputError, as_table, listed
from brainscore_core.metric_helpers.uncertainty import attach_interval, attach_left_out, clipped
from brainscore_core.metrics import Score
from brainscore_core.numerics import jackknife_interval
from brainscore_core.supported_data_standards.brainio.assemblies import DataAssembly


class People(NamedTuple):
    """Thresholds, or their elevations."""

    values: NDArray[np.float64]
    subjects: NDArray[Any]


def people_of(target: DataAssembly | Sequence[float]) -> People:
    """Thresholds as given."""
    if isinstance(target, DataAssembly):
        target = as_table(target, ("subject",), role="target")
        values, subjects = np.asarray(target.values, dtype=np.float64), np.asarray(target["subject"].values)
    else:
        values = np.asarray(target, dtype=np.float64)
        subjects = np.arange(values.size)
    if values.ndim != 1 or np.isnan(values).all() or not (values[~np.isnan(values)] > 0).all():
        raise MetricInputError(
            f"the target's thresholds must be positive, one a subject: {listed(values.ravel())}",
            remedy="drop subjects without a threshold",
        )
    return People(values, subjects)


def elevations_of(target: Mapping[str, DataAssembly] | DataAssembly | Sequence[float]) -> People:
    """Elevations as given, or from the thresholds of both conditions."""
    if not isinstance(target, Mapping):
        return people_of(target)
    needed = ("baseline_assembly", "condition_assembly")
    missing = [name for name in needed if name not in target]
    if missing:
        raise MetricInputError(
            f"the target lacks {listed(missing)}; it has {listed(target)}", remedy="pass both, or people's elevations"
        )
    baseline, condition = (people_of(target[name]) for name in needed)
    index = pd.Index(baseline.subjects)
    if not (index.is_unique and pd.Index(condition.subjects).is_unique and index.isin(condition.subjects).all()):
        raise MetricInputError(
            "baseline and condition do not hold the same subjects, each once: the baseline has "
            f"{listed(baseline.subjects)}, the condition {listed(condition.subjects)}",
            remedy=spelling_hint(baseline.subjects, condition.subjects) or "select the subjects that took part in both",
        )
    order = pd.Index(condition.subjects).get_indexer(index)
    return People(condition.values[order] / baseline.values, baseline.subjects)


def closeness(source: NDArray[np.float64] | float, target: NDArray[np.float64]) -> NDArray[np.float64]:
    """max(1 − |t − s| / t, 0)."""
    return np.asarray(np.maximum(1 - np.abs(target - source) / target, 0.0))


def ceiling_of(people: People) -> Score:
    """Each drawn subject against all others; see :meth:`Threshold.ceiling`."""
    defined = ~np.isnan(people.values)
    values, m = people.values[defined], int(defined.sum())
    if m < 2:
        raise MetricInputError(f"{m} subject: the ceiling needs a second one", remedy="pass all subjects' thresholds")
    pairs = closeness(values[:, None], values[None, :])
    np.fill_diagonal(pairs, np.nan)
    each = np.nanmean(pairs, axis=1)
    drawn = _drawn(values)
    score = Score(each[drawn].mean())
    subjects = people.subjects[defined][drawn]
    coords = {"draw": ("draw", np.arange(m)), "subject": ("draw", subjects)}
    score.attrs = {
        Score.RAW_VALUES_KEY: Score(each[drawn], coords=coords, dims=["draw"]),
        "scale": "similarity",
        "meaning": "human-human",
        "each_once": float(each.mean()),
        "std": float(each[drawn].std()),
        "undefined": int((~defined).sum()),
    }
    without_subject = [np.delete(np.arange(m), i) for i in range(m)] if m > 2 else []
    left_out = [float(np.nanmean(pairs[np.ix_(r, r)])) for r in without_subject]
    attach_left_out(score, left_out, subjects=people.subjects[defined])
    interval = jackknife_interval(float(each.mean()), left_out, units="subjects")
    if not without_subject:
        interval = interval._replace(n=m, reason=f"{m} subjects: at least 3 are needed to tell how much they vary")
    estimates = "mean over pairs of subjects (attrs['each_once']; the value is that of random draws)"
    return attach_interval(score, clipped(interval, 0.0), units="subjects for these images", estimates=estimates)


def _drawn(values: NDArray[np.float64]) -> list[int]:
    """The subjects that take the model's place on the existing platform: drawn, taken out, put back at the end."""
    order, drawn = list(range(len(values))), []
    for seed in range(len(values)):
        chosen = values[order[np.random.RandomState(seed).choice(len(values), replace=False)]]
        position = next(i for i, subject in enumerate(order) if values[subject] == chosen)  # the first of equal ones
        order.append(order.pop(position))
        drawn.append(order[-1])
    return drawn
