"""Numbers and marks as the report writes them."""

from __future__ import annotations

from brainscore_core.receipts.receipt import limits_text
from brainscore_core.scoring import Estimate

__all__ = ["duration", "interval", "number", "printable", "short", "size"]


def number(value: float | None, error: float | None = None) -> str:
    """Write a number, with its standard error where there is one.

    Examples
    --------
    >>> number(0.41234, 0.0123), number(-0.5), number(None)
    ('0.412 ± 0.012', '−0.500', '–')
    """
    if value is None:
        return "–"
    text = f"{value:.3f}" if abs(value) < 1000 else f"{value:.3g}"
    if error is not None:
        text += f" ± {error:.3f}" if error < 1000 else f" ± {error:.3g}"
    return text.replace("-0.000", "0.000").replace("-", "−")


def interval(estimate: Estimate | None) -> str:
    """Write a confidence interval, or why there is none.

    Examples
    --------
    >>> interval(Estimate(value=0.5, ci=(0.4, 0.6), ci_level=0.9))
    '0.400 to 0.600 (90 %)'
    >>> interval(Estimate(value=0.5, ci_reason="one subject"))
    'none: one subject'
    >>> interval(Estimate(value=0.5, ci=(0.4, float("inf"))))
    '0.400 and more, no upper limit'
    """
    if estimate is None:
        return ""
    if estimate.ci is None:
        return f"none: {estimate.ci_reason}"
    level = "" if estimate.ci_level in {None, 0.95} else f" ({100 * (estimate.ci_level or 0):g} %)"
    return f"{limits_text(*estimate.ci, number)}{level}"


def duration(value: float | None) -> str:
    """Write a duration.

    Examples
    --------
    >>> duration(1.234), duration(81.4), duration(7384), duration(None)
    ('1.23 s', '81 s', '2 h 3 min', '–')
    """
    if value is None:
        return "–"
    if value < 600:
        return f"{value:.2f} s" if value < 10 else f"{value:.0f} s"
    minutes = round(value / 60)
    return f"{minutes // 60} h {minutes % 60} min" if minutes >= 60 else f"{minutes} min"


def size(value: int | None) -> str:
    """Write a number of bytes.

    Examples
    --------
    >>> size(1234), size(2_500_000_000), size(None)
    ('1.23 kB', '2.5 GB', 'unknown')
    """
    if value is None:
        return "unknown"
    amount = float(value)
    for unit in ("B", "kB", "MB"):
        if amount < 1000:
            return f"{amount:.3g} {unit}"
        amount /= 1000
    return f"{amount:.3g} GB"


def short(digest: str | None) -> str:
    """The beginning of a hash, enough to compare by eye."""
    return (digest or "unknown")[:12]


def printable(name: str) -> str:
    r"""Replace what has no shape, such as control characters and those that turn the direction of writing.

    Examples
    --------
    >>> printable("a\x07b")
    'a�b'
    """
    return "".join(letter if letter.isprintable() else "�" for letter in name)
