"""Durations, hashes and names as the report writes them."""

from __future__ import annotations


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
