"""Two models over many benchmarks."""

from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import ndtri

from brainscore_core.numerics._arrays import Array
from brainscore_core.numerics.paired import PairedTest, mean_influence, paired_test

__all__ = ["Outcome", "PairedSummary", "paired_summary"]

Outcome = Literal["win", "tie", "loss", "untested"]
"""What a benchmark says of the first model; ``'untested'`` is a difference without a standard error."""


class PairedSummary(NamedTuple):
    """Differences of two models over benchmarks, first less second.

    Attributes
    ----------
    n : int
        Benchmarks with a difference.
    mean : PairedTest
        Mean difference, with Student's interval and test over benchmarks; NaN with a reason below three of them.
    wins, ties, losses : int
        Benchmarks whose interval is above 0, holds 0, is below 0.
    untested : int
        Benchmarks whose difference has no standard error. The four numbers add up to `n`.
    outcomes : tuple of str or None
        Of each benchmark; None without a difference.
    limits : array (benchmarks, 2)
        Of the interval of each difference; NaN where there is none.
    """

    n: int
    mean: PairedTest
    wins: int
    ties: int
    losses: int
    untested: int
    outcomes: tuple[Outcome | None, ...]
    limits: Array


def paired_summary(differences: ArrayLike, errors: ArrayLike, *, level: float = 0.95) -> PairedSummary:
    """Summarise the differences between two models.

    Parameters
    ----------
    differences : array (benchmarks,)
        Score of the first model less that of the second; what is not finite is none.
    errors : array (benchmarks,)
        Standard errors of the differences, for independent scores √(error² + error²); what is not finite is none. 0:
        the difference is exact.
    level : float
        Confidence level in (0, 1) of each interval alone.

    Returns
    -------
    PairedSummary

    Raises
    ------
    ValueError
        If shapes differ, an error is negative, or `level` is out of range.

    Notes
    -----
    The interval of the mean takes benchmarks as drawn at random from all that might be asked, independently. Those of
    one data set or region go together; the interval is then too narrow.

    The interval of one difference is that of a normal one and takes the scores of the two models as independent. They
    were measured on the same stimuli and units, so that their errors tend to go together; the interval is then too wide
    and a win or loss surer than `level` says (see :func:`~brainscore_core.numerics.ranks_from_errors`). Nothing is
    corrected for the number of benchmarks: of those without a difference, up to 1 − `level` are counted as wins or
    losses.

    Examples
    --------
    >>> found = paired_summary([0.1, 0.2, -0.01, 0.3, np.nan], [0.02, 0.05, 0.02, np.nan, 0.1])
    >>> found.n, found.wins, found.ties, found.losses, found.untested
    (4, 2, 1, 0, 1)
    >>> found.outcomes
    ('win', 'win', 'tie', 'untested', None)
    >>> round(found.mean.difference, 4), round(found.mean.low, 3), round(found.mean.high, 3)
    (0.1475, -0.064, 0.359)
    """
    values, spreads = np.asarray(differences, dtype=np.float64), np.asarray(errors, dtype=np.float64)
    if values.ndim != 1 or values.shape != spreads.shape:
        raise ValueError(
            f"differences have the shape {values.shape}, errors {spreads.shape}; both need one value a benchmark"
        )
    if not 0 < level < 1:
        raise ValueError(f"level is {level}; a number between 0 and 1 is needed")
    if (spreads < 0).any():
        raise ValueError("an error is negative; give NaN where there is none")
    there = np.isfinite(values)
    tested = there & np.isfinite(spreads)
    half = float(ndtri((1 + level) / 2)) * np.where(tested, spreads, np.nan)
    limits = np.stack([values - half, values + half], axis=1)
    won, lost = limits[:, 0] > 0, limits[:, 1] < 0
    codes = np.where(~there, 0, np.where(~tested, 1, np.where(won, 2, np.where(lost, 3, 4))))
    words: tuple[Outcome | None, ...] = (None, "untested", "win", "loss", "tie")
    of_all = values[there]
    difference = float(of_all.mean()) if of_all.size else float("nan")
    counts = np.bincount(codes, minlength=len(words)).tolist()
    return PairedSummary(
        n=int(there.sum()),
        mean=paired_test(difference, mean_influence(of_all), level=level),
        wins=counts[2],
        ties=counts[4],
        losses=counts[3],
        untested=counts[1],
        outcomes=tuple(words[code] for code in codes.tolist()),
        limits=limits,
    )
