"""Content of the style guide that is not in its template."""

from __future__ import annotations

from brainscore_core.figures import Dots, DotsRow, Svg, dots_with_intervals

COLOURS = (
    ("paper", "background of pages"),
    ("surface", "boxes, headers of tables, code"),
    ("line", "rules and edges of boxes"),
    ("strong-line", "edges of what is operated"),
    ("ink", "text"),
    ("quiet", "labels, notes"),
    ("accent", "links, the main button, what is chosen"),
    ("accent-surface", "background of what is chosen"),
    ("good", "what succeeded"),
    ("warn", "what to know before reading on"),
    ("bad", "errors"),
)
"""Names of custom properties in identity/colours.css, with their uses."""


def example_figure() -> Svg:
    """Draw invented numbers as a dot plot."""
    numbers = (("first example", 0.62, 0.03), ("second example", 0.55, 0.05), ("third example", 0.31, 0.04))
    rows = [
        DotsRow(label=label, value=value, low=value - half, high=value + half, text=f"{value:.2f}")
        for label, value, half in numbers
    ]
    return dots_with_intervals(
        Dots(rows=rows, title="Example of a figure", description="Invented numbers.", x_title="invented numbers")
    )
