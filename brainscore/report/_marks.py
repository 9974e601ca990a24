"""Small drawings inside the page's tables, and the colours of the heat map."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass

from markupsafe import Markup

from brainscore.report._view import Row

__all__ = ["HEAT", "LETTERS", "Scale", "cell_text", "dark_text", "heat_class", "scale_of"]

HEAT = (
    "#f7fbff", "#e3eef8", "#cfe1f2", "#b3d1e8", "#93bfde", "#6aa8d2",
    "#4690c4", "#2c76b2", "#195d9f", "#0d4688", "#083370", "#06224f",
)  # fmt: skip
"""From 0 to 1 in twelve steps of one hue, from light to dark: readable without seeing colours, and in print."""

LETTERS = {"undefined": "U", "not applicable": "N", "failed": "F", "outdated": "O", "missing": ""}
"""State → how the heat map marks it, beside a pattern."""

_WIDTH, _HEIGHT = 220, 18
_WIDEST = (-0.5, 1.5)  # what lies outside is drawn as an arrow at the edge


def heat_class(value: float) -> int:
    """Place among the colours: below 0 as 0, above 1 as 1.

    Examples
    --------
    >>> heat_class(-0.2), heat_class(0.5), heat_class(1.0)
    (0, 6, 11)
    """
    return max(0, min(len(HEAT) - 1, math.floor(max(-1.0, min(value, 2.0)) * len(HEAT))))


def dark_text(colour: str) -> bool:
    """Whether black is easier to read on a colour than white (WCAG 2 contrast)."""
    return contrast(colour, "#000000") >= contrast(colour, "#ffffff")


def contrast(one: str, other: str) -> float:
    """Contrast ratio of two colours as WCAG 2 defines it, from 1 to 21.

    Examples
    --------
    >>> contrast("#000000", "#ffffff")
    21.0
    """
    low, high = sorted((_luminance(one), _luminance(other)))
    return (high + 0.05) / (low + 0.05)


def cell_text(value: float) -> str:
    """A score in the least room.

    Examples
    --------
    >>> cell_text(0.414), cell_text(-0.05), cell_text(1.0), cell_text(0.001), cell_text(-250.0)
    ('.41', '−.05', '1.00', '.00', '−250')
    """
    if abs(value) >= 10:
        return f"{value:.3g}".replace("-", "−")
    text = f"{value:.2f}"
    text = "0.00" if text == "-0.00" else text
    return text.replace("-0.", "-.").replace("-", "−") if value < 0 else text.removeprefix("0")


@dataclass(frozen=True)
class Scale:
    """Where a value lies in a drawing."""

    low: float
    high: float

    def x(self, value: float) -> float:
        """Distance from the left edge, inside the drawing."""
        share = (min(max(value, self.low), self.high) - self.low) / (self.high - self.low)
        return round(6 + share * (_WIDTH - 12), 1)

    def axis(self) -> Markup:
        """Draw the numbers above a column of marks."""
        ticks = [value for value in (-0.5, 0.0, 0.5, 1.0, 1.5) if self.low <= value <= self.high]
        texts = "".join(f'<text x="{self.x(value):g}" y="13">{value:g}</text>'.replace("-", "−", 1) for value in ticks)
        return self._drawing(texts, "f axis")

    def mark(
        self, value: float, ci: tuple[float, float] | None, *, filled: bool = True, ceiling: bool = True
    ) -> Markup:
        """Draw a dot and its interval; an arrow where the dot lies outside."""
        middle = _HEIGHT // 2
        parts = []
        if self.low <= 0 <= self.high:
            parts.append(f'<path class="zero" d="M{self.x(0):g} 0V{_HEIGHT}"/>')
        if ceiling and self.low <= 1 <= self.high:
            parts.append(f'<path class="one" d="M{self.x(1):g} 0V{_HEIGHT}"/>')
        if ci is not None:
            start, end = self.x(ci[0]), self.x(ci[1])
            ends = [f"M{x:g} {middle - 3}v6" for x, limit in ((start, ci[0]), (end, ci[1])) if self._holds(limit)]
            parts.append(f'<path class="ci" d="M{start:g} {middle}H{end:g}{"".join(ends)}"/>')
        hollow = "" if filled else ' class="hollow"'
        if self._holds(value):
            parts.append(f'<circle{hollow} cx="{self.x(value):g}" cy="{middle}" r="3.6"/>')
        else:
            tip, back = (1, 8) if value < self.low else (_WIDTH - 1, _WIDTH - 8)
            parts.append(f'<path{hollow or " class=arrow"} d="M{tip} {middle}L{back} {middle - 4}V{middle + 4}Z"/>')
        return self._drawing("".join(parts), "f")

    def _holds(self, value: float) -> bool:
        return self.low <= value <= self.high

    @staticmethod
    def _drawing(content: str, classes: str) -> Markup:
        # numbers and fixed words alone
        size = f'width="{_WIDTH}" height="{_HEIGHT}" viewBox="0 0 {_WIDTH} {_HEIGHT}"'
        return Markup(f'<svg class="{classes}" {size} aria-hidden="true">{content}</svg>')  # noqa: S704 - numbers and names of classes


def scale_of(rows: Iterable[Row], *, least: tuple[float, float] = (0.0, 1.0)) -> Scale:
    """A scale for all rows, that holds `least`."""
    values = list(least)
    for row in rows:
        if row.value is not None:
            values += [row.value, *(row.ci or ())]
    low, high = max(min(values), _WIDEST[0]), min(max(values), _WIDEST[1])
    return Scale(low, high)


def _luminance(colour: str) -> float:
    parts = [int(colour[start : start + 2], 16) / 255 for start in (1, 3, 5)]
    red, green, blue = (part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue
