"""Scores relative to ceilings."""

from brainscore_core.benchmarks import bound_score, ceil_score
from brainscore_core.metrics import Score


def ceiling_normalize(raw_score: Score, ceiling: Score) -> Score:
    """Divide a score by its ceiling; values outside 0 … 1 become 0 or 1.

    Returns
    -------
    Score
        With ``raw`` and ``ceiling``; with ``original_out_of_range_score`` where the quotient was outside 0 … 1. NaN
        stays NaN.

    Examples
    --------
    >>> score = ceiling_normalize(Score(0.9), Score(0.6))
    >>> float(score), round(float(score.attrs["original_out_of_range_score"]), 6)
    (1.0, 1.5)
    """
    quotient = ceil_score(raw_score, ceiling)
    limited = bound_score(quotient.copy())
    if quotient > 1 or quotient < 0:
        limited.attrs["original_out_of_range_score"] = quotient
    return limited
