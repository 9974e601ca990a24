"""A simulated experiment, and how often its interval holds the truth."""

import math
import warnings
import zlib
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from brainscore_core.metrics import Score

__all__ = ["Case", "Result", "average", "coords", "once", "pooled_median", "simulate"]

Draw = Callable[[np.random.Generator, int], Score]
Truth = Callable[[Sequence[Score], int], Any]


class Case(NamedTuple):
    """A kind of interval."""

    names: Sequence[str]  # identifiers with this interval. A ceiling that a metric brings along is ``'metric.ceiling'``
    units: str  # what varies from experiment to experiment
    truth: str  # how the true value is obtained
    draw: Draw  # ``draw(rng, n) -> Score`` of an experiment with n units
    value: Truth  # ``value(scores, n)``: the true value; an array where the score has several values
    sizes: Sequence[int] = (10, 20, 50, 100, 200)
    simulations: int = 300  # experiments of each size


class Result(NamedTuple):
    """What was counted."""

    held: int  # intervals that held the truth
    intervals: int  # intervals; the others were NaN with a reason
    simulations: int
    values: int  # values of a score, each with an interval
    # above and below: intervals that were wholly above or below the truth
    above: int
    below: int
    truth: float  # True value (the first one where there are several)
    mean: float  # mean of the scores (likewise)
    # Share of the intervals that exclude a value which an interval of known width would exclude in 80 %: 2.8 standard
    # deviations of the scores away, on either side
    power: float


_DETECTABLE = 1.96 + 0.84
"""Standard deviations that a test at 5 % tells from 0 in 80 % of cases, if it knows the standard deviation."""


def simulate(case: Case, n: int, simulations: int | None = None) -> Result:
    """Count how often the interval of `n` units holds the truth; seeded by the case's name and size."""
    seed = zlib.crc32(str(case.names[0]).encode())
    repeats = case.simulations if simulations is None else simulations
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        scores = [case.draw(np.random.default_rng([seed, n, i]), n) for i in range(repeats)]
        truth = np.atleast_1d(np.asarray(case.value(scores, n), dtype=np.float64))
    # one after the other: experiments × values
    low, high = (np.array([np.atleast_1d(score.attrs["ci"][side]) for score in scores]) for side in (0, 1))
    defined = ~(np.isnan(low) | np.isnan(high))
    above, below = defined & (low > truth), defined & (high < truth)
    values = np.array([np.atleast_1d(np.asarray(score.values, dtype=np.float64)) for score in scores])
    away = _DETECTABLE * np.nanstd(values, axis=0, ddof=1)
    excluded = np.stack([low > truth - away, high < truth + away])[:, defined]
    return Result(
        held=int(defined.sum() - above.sum() - below.sum()),
        intervals=int(defined.sum()),
        simulations=repeats,
        values=low.shape[1],
        above=int(above.sum()),
        below=int(below.sum()),
        truth=round(float(truth[0]), 6),
        mean=round(float(np.nanmean(values[:, 0])), 6) if np.isfinite(values[:, 0]).any() else math.nan,
        power=round(float(excluded.mean()), 4) if defined.any() else math.nan,
    )


def average(scores: Sequence[Score], n: int) -> NDArray[np.float64]:
    """Mean of the simulated scores; for values that by their definition depend on the number of units."""
    return np.asarray(np.nanmean([score.values for score in scores], axis=0))


def pooled_median(scores: Sequence[Score], n: int) -> NDArray[np.float64]:
    """Median over the neuroids of all experiments, averaged over splits: the value of the neuroids' population."""
    raw = [score.attrs[Score.RAW_VALUES_KEY].transpose(..., "neuroid") for score in scores]
    medians = np.nanmedian(np.concatenate([part.values for part in raw], axis=-1), axis=-1)
    dims = raw[0].dims[:-1]
    return np.asarray(medians.mean(axis=dims.index("split")) if "split" in dims else medians)


def once(value: Callable[[], float]) -> Truth:
    """A truth that depends neither on the experiments nor on their size, computed when it is first asked for."""
    known: list[float] = []

    def truth(scores: Sequence[Score], n: int) -> float:
        if not known:
            known.append(value())
        return known[0]

    return truth


def coords(dim: str, **columns: Any) -> dict[str, tuple[str, Any]]:
    """Coordinates along a dimension."""
    return {name: (dim, np.asarray(column)) for name, column in columns.items()}
