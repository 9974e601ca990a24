"""Round numbers along an axis."""

from __future__ import annotations

import math
from collections.abc import Sequence
from datetime import date
from itertools import pairwise

__all__ = ["date_ticks", "nice_range", "nice_ticks", "tick_texts"]

_STEPS = (1.0, 2.0, 5.0, 10.0)
_TINY = 1e-9  # of a step
_FARTHEST = 1e300  # the difference of two is a number still


def nice_step(span: float, n: int) -> float:
    """The least of 1, 2, 5 × a power of ten of which at most `n` go into the span."""
    if not (math.isfinite(span) and span > 0 and n >= 1):
        raise ValueError(f"no step for a span of {span} in {n} parts")
    power = 10.0 ** math.floor(math.log10(span / n))
    for step in _STEPS:
        if span <= n * step * power * (1 + _TINY):
            return step * power
    return _STEPS[-1] * power


def nice_ticks(low: float, high: float, n: int = 5) -> tuple[float, ...]:
    """Round numbers from low to high.

    Parameters
    ----------
    low, high : float
        Ends of the axis, low < high.
    n : int
        At most this many steps between them.

    Returns
    -------
    tuple of float
        Multiples of 1, 2 or 5 × a power of ten, rising; none outside the ends.

    Raises
    ------
    ValueError
        If the ends are not finite or not in order.

    Examples
    --------
    >>> nice_ticks(0.13, 0.92)
    (0.2, 0.4, 0.6, 0.8)
    >>> nice_ticks(-3, 12, n=4)
    (0.0, 5.0, 10.0)
    """
    if not (math.isfinite(low) and math.isfinite(high) and low < high):
        raise ValueError(f"an axis cannot go from {low} to {high}")
    step = nice_step(high - low, n)
    first, last = math.ceil(low / step - _TINY), math.floor(high / step + _TINY)
    places = max(0, -math.floor(math.log10(step)))
    return tuple(round(number * step, places) + 0.0 for number in range(first, last + 1))


def nice_range(values: Sequence[float], *, share: float = 0.04, least: float = 1e-6) -> tuple[float, float]:
    """Ends of an axis that leaves some room beside the values that are finite; 0 to 1 where there are none.

    Examples
    --------
    >>> nice_range([0.0, 1.0], share=0.05)
    (-0.05, 1.05)
    >>> nice_range([2.0, float("nan")])
    (1.5, 2.5)
    """
    finite = [min(max(value, -_FARTHEST), _FARTHEST) for value in values if math.isfinite(value)]
    if not finite:
        return 0.0, 1.0
    low, high = min(finite), max(finite)
    if high - low <= least * max(1.0, abs(high), abs(low)):
        beside = max(0.5, 1e-3 * abs(high))
        return low - beside, high + beside
    return low - share * (high - low), high + share * (high - low)


def tick_texts(ticks: Sequence[float]) -> tuple[str, ...]:
    """Write ticks with the decimals that tell them apart.

    Examples
    --------
    >>> tick_texts((-0.5, 0.0, 0.5)), tick_texts((0.0, 5.0, 10.0))
    (('−0.5', '0.0', '0.5'), ('0', '5', '10'))
    """
    gaps = [after - before for before, after in pairwise(ticks)]
    step = min(gaps) if gaps else abs(ticks[0]) if ticks and ticks[0] else 1.0
    largest = max((abs(tick) for tick in ticks), default=0.0)
    if largest >= 1e6 or (largest > 0 and step < 1e-6):
        return tuple(f"{tick:.3g}".replace("-", "−") for tick in ticks)
    least = max(0, -math.floor(math.log10(step) + _TINY))
    exact = (n for n in range(least, least + 3) if all(abs(round(tick, n) - tick) < 1e-3 * step for tick in ticks))
    places = next(exact, least)
    return tuple(f"{tick:.{places}f}".replace("-", "−") for tick in ticks)


def date_ticks(low: date, high: date, n: int = 5) -> tuple[tuple[date, str], ...]:
    """Beginnings of months, quarters or years from low to high, with their texts; days where these are too few.

    Examples
    --------
    >>> [text for _, text in date_ticks(date(2024, 2, 1), date(2026, 1, 20))]
    ['2024-07', '2025-01', '2025-07', '2026-01']
    """
    months = (high.year - low.year) * 12 + high.month - low.month
    every = next((step for step in (1, 3, 6, 12, 24, 60, 120, 240) if months <= n * step), 600)
    starts = [
        date(count // 12, count % 12 + 1, 1)
        for count in range(low.year * 12 + low.month - 1, high.year * 12 + high.month)
        if (count % 12 if every <= 12 else count) % every == 0
    ]
    found = [start for start in starts if low <= start <= high]
    if every >= 12:
        return tuple((start, f"{start.year}") for start in found)
    if len(found) >= 2:
        return tuple((start, f"{start:%Y-%m}") for start in found)
    ends = (low, high) if low < high else (low,)
    return tuple((day, day.isoformat()) for day in ends)
