"""Pictures in rows, each with a line of text."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from brainscore_core.figures import axes
from brainscore_core.figures.axes import Svg

_HEADING, _LINE, _CAPTION, _GAP = 22.0, 15.0, 26.0, 6.0


@dataclass(frozen=True, kw_only=True)
class Picture:
    """A picture.

    Attributes
    ----------
    address : str
        Data URI of a PNG or JPEG file; empty for a grey square.
    name, text : str
        The two lines below it.
    """

    address: str
    name: str
    text: str = ""


@dataclass(frozen=True, kw_only=True)
class Pictures:
    """Content of a figure of pictures.

    Attributes
    ----------
    rows : sequence of (str, sequence of Picture)
        Headings and pictures of the rows; further lines of a heading are in smaller type.
    title, description : str
        Title and description for assistive technology; not drawn.
    width : float
        Width in units, which the longest row fills.
    identifier : str
        Identifier of the element; needed if a page contains the same figure twice.
    """

    rows: Sequence[tuple[str, Sequence[Picture]]]
    title: str
    description: str = ""
    width: float = axes.COLUMN_WIDTHS[174]
    identifier: str = ""


def pictures(content: Pictures) -> Svg:
    """Draw pictures in rows, in squares of equal size.

    Examples
    --------
    >>> made = pictures(Pictures(rows=[("best", [Picture(address="", name="cat.png", text="0.93")])], title="Cats"))
    >>> "cat.png" in made, "<rect" in made
    (True, True)
    """
    return axes.figure_of(content, draw_pictures(content), "pictures")


def draw_pictures(content: Pictures) -> axes.Drawing:
    """Draw the elements of a figure of pictures."""
    columns = max((len(row) for _, row in content.rows), default=1)
    side = (content.width - 8 - _GAP * (columns - 1)) / max(columns, 1)
    shapes, top = [], 0.0
    for heading, row in content.rows:
        for line, text in enumerate(heading.split("\n")):
            top += _LINE if line else _HEADING
            class_ = "chart-tick" if line else "chart-heading"
            short = axes.clipped(text, content.width - 8, axes.TICK_FONT_SIZE)
            shapes.append(axes.element("text", short, class_=class_, x=4, y=top - 7))
        for column, picture in enumerate(row):
            left = 4 + column * (side + _GAP)
            place = {"x": left, "y": top, "width": side, "height": side}
            shapes.append(
                axes.element("image", axes.tooltip(picture.name), href=picture.address, **place)
                if picture.address
                else axes.element("rect", class_="chart-grid", **place)
            )
            for line, text in enumerate((picture.name, picture.text)):
                short = axes.clipped(text, side, axes.TICK_FONT_SIZE)
                y = top + side + 11 + 12 * line
                shapes.append(axes.element("text", short, class_="chart-tick", x=left, y=y))
        top += side + _CAPTION + _GAP
    return axes.Drawing(axes.join(shapes), content.width, top)
