"""Numbers and addresses as they are written here."""

from __future__ import annotations

import math
from typing import NamedTuple
from urllib.parse import quote

__all__ = ["Note", "benchmark_href", "model_href", "signed"]


class Note(NamedTuple):
    """A sentence, and perhaps what can be done about it: the text of a link and its query."""

    text: str
    remedy: str = ""
    query: str = ""


def signed(value: float, places: int = 3, *, plus: bool = False) -> str:
    """A number with a true minus sign; – where there is none.

    Examples
    --------
    >>> signed(-0.5), signed(0.25, 2, plus=True), signed(float("nan"))
    ('−0.500', '+0.25', '–')
    """
    if not math.isfinite(value):
        return "–"
    text = f"{value:+.{places}f}" if plus else f"{value:.{places}f}"
    if float(text) == 0:
        text = text.lstrip("+-")
    return text.replace("-", "−")


def model_href(identifier: str) -> str:
    """Address of a model's card."""
    return f"/vision/model/{quote(identifier)}/"


def benchmark_href(identifier: str) -> str:
    """Address of a benchmark's card."""
    return f"/vision/benchmark/{quote(identifier)}/"
