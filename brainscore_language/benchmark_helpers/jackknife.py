"""Intervals of scores that are recomputed without each story, or without each person."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from brainscore_core.metric_helpers.uncertainty import attach_influence, attach_interval
from brainscore_core.metrics import Score
from brainscore_core.numerics.deletion import deletion_influence
from brainscore_core.numerics.resampling import combined_interval

__all__ = ["attach_jackknife"]


def attach_jackknife(
    score: Score,
    left_out: Mapping[str, tuple[Any, Sequence[float]]],
    *,
    estimates: str,
    fixed: str = "",
    correlation: bool = False,
) -> Score:
    """Attach error, interval, and the influence of each unit, by which models are compared.

    Parameters
    ----------
    score : Score
        Changed in place.
    left_out : mapping
        One or two kinds of units, such as ``'stories'`` and ``'subjects'`` → their names, and the value without each.
        Their variances are added.
    estimates : str
        What the value is.
    fixed : str
        What does not vary, such as ``' for these readers'``.
    correlation : bool
        Whether the value is a correlation; the interval is then computed on Fisher's z scale.

    Examples
    --------
    >>> score = attach_jackknife(Score(2.0), {"stories": ("abc", [2.5, 2.0, 1.5])}, estimates="mean")
    >>> score.attrs["ci_estimates"], round(float(score.attrs["error"]), 3)
    ('new stories; 3 stories; mean', 0.577)
    """
    influences = {kind: deletion_influence(values) for kind, (_, values) in left_out.items()}
    for number, (kind, influence) in enumerate(influences.items()):
        attach_influence(score, influence, units=kind, ids=list(left_out[kind][0]), further=number > 0)
    interval = combined_interval(float(score), list(influences.values()), correlation=correlation)
    numbers = ", ".join(f"{len(influence):,} {kind}" for kind, influence in influences.items())
    varied = " and ".join(f"new {kind}" for kind in influences)
    return attach_interval(score, interval, estimates=f"{varied}{fixed}; {numbers}; {estimates}")
