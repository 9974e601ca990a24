"""Numbers and states as the cards write them."""

from __future__ import annotations

import math
from typing import NamedTuple

__all__ = [
    "NONE",
    "STATES",
    "StateText",
    "count",
    "estimate",
    "interval",
    "known",
    "megabytes",
    "number",
    "seconds",
    "web_address",
]

NONE = "–"
"""What stands where there is no number."""


class StateText(NamedTuple):
    """How a state is shown: a sign, a word, and what it means."""

    sign: str
    word: str
    meaning: str


STATES = {
    "scored": StateText("", "scored", "There is a number."),
    "undefined": StateText("≈", "undefined", "The score is NaN."),
    "not applicable": StateText("∅", "not applicable", "The model cannot do what the benchmark asks."),
    "failed": StateText("✕", "failed", "Scoring ended with an error."),
    "outdated": StateText("↺", "outdated", "Only an earlier version of the benchmark was scored."),
    "missing": StateText("·", "missing", "It was never scored."),
}
"""By name; all differ in sign and word."""


def known(value: float | None) -> float | None:
    """A number, or None where there is none, NaN included."""
    return None if value is None or not math.isfinite(value) else float(value)


def number(value: float | None) -> str:
    """Three decimals, as scores are given.

    Examples
    --------
    >>> number(0.51249), number(-0.0001), number(None)
    ('0.512', '0.000', '–')
    """
    found = known(value)
    if found is None:
        return NONE
    text = f"{found:.3f}"
    return "0.000" if text == "-0.000" else text.replace("-", "−")


def estimate(value: float | None, error: float | None, none: str = NONE) -> str:
    """A number with its standard error, where it has one.

    Examples
    --------
    >>> estimate(0.5, 0.0123), estimate(0.5, None), estimate(None, None)
    ('0.500 ± 0.012', '0.500', '–')
    """
    if known(value) is None:
        return none
    if known(error) is None:
        return number(value)
    return f"{number(value)} ± {number(error)}"


def interval(low: float | None, high: float | None) -> str:
    """Both limits, or nothing.

    Examples
    --------
    >>> interval(0.1, 0.25), interval(None, 0.2)
    ('0.100 to 0.250', '')
    """
    return f"{number(low)} to {number(high)}" if known(low) is not None and known(high) is not None else ""


def count(value: float | None) -> str:
    """A large number in few digits.

    Examples
    --------
    >>> count(0), count(2350), count(61_100_840), count(1.5e9), count(None)
    ('0', '2,350', '61.1 M', '1.50 G', '')
    """
    if value is None:
        return ""
    for unit, size in (("G", 1e9), ("M", 1e6)):
        if value >= size * 0.9995:
            scaled = value / size
            return f"{scaled:.{2 if scaled < 10 else 1 if scaled < 100 else 0}f} {unit}"
    return f"{value:,.0f}"


def megabytes(value: float | None) -> str:
    """A size, given in 10⁶ bytes.

    Examples
    --------
    >>> megabytes(0.0412), megabytes(244.4), megabytes(2310), megabytes(None)
    ('0.041 MB', '244 MB', '2.31 GB', '')
    """
    if value is None:
        return ""
    return f"{value / 1000:.3g} GB" if value >= 1000 else f"{value:.0f} MB" if value >= 100 else f"{value:.2g} MB"


def seconds(value: float | None) -> str:
    """A duration.

    Examples
    --------
    >>> seconds(0.0042), seconds(42.4), seconds(754), seconds(7500), seconds(None)
    ('0.004 s', '42.4 s', '12 min 34 s', '2 h 5 min', '–')
    """
    found = known(value)
    if found is None:
        return NONE
    if found < 1:
        return f"{found:.3f} s"
    if found < 60:
        return f"{found:.1f} s"
    whole = round(found)
    return f"{whole // 60} min {whole % 60} s" if whole < 3600 else f"{whole // 3600} h {whole % 3600 // 60} min"


def web_address(text: str) -> str:
    """An address that may be linked to; empty for any other, such as one that would run a script.

    Examples
    --------
    >>> web_address("https://doi.org/10.1000/1"), web_address("javascript:alert(1)")
    ('https://doi.org/10.1000/1', '')
    """
    return text if text.lower().startswith(("https://", "http://")) else ""
