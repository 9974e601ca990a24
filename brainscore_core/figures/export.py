"""Files of figures: SVG as it is drawn, PNG and PDF by matplotlib."""

from __future__ import annotations

import io
import math
import re
import warnings
import xml.etree.ElementTree as ET
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from brainscore_core.errors import UserError
from brainscore_core.figures.svg_file import STYLE, standalone
from brainscore_core.files import replacing

if TYPE_CHECKING:
    import numpy as np
    from matplotlib.figure import Figure
    from matplotlib.path import Path as Outline
    from matplotlib.transforms import Transform

_POINTS = 85 / 400 / 25.4 * 72  # of a unit, as in an SVG file
_NAMESPACE = "{http://www.w3.org/2000/svg}"
_FONTS = ["DejaVu Sans", "Helvetica", "Arial"]  # the first comes with matplotlib: the same file on each computer
_TRANSFORM = re.compile(r"(translate|rotate|scale)\(([^)]*)\)")
_STEP = re.compile(r"([MLHVhlmvz])([^A-Za-z]*)")
_ALIGNMENTS: dict[str, Literal["left", "center", "right"]] = {"start": "left", "middle": "center", "end": "right"}
_Properties = dict[str, str]


def save_figure(svg: str, path: Path, *, dpi: int = 300) -> None:
    """Write a figure as SVG, PNG or PDF; the same figure gives the same bytes.

    The ending of `path` is the format, and missing folders are made; `dpi` is the resolution of PNG. Raises ValueError
    if the ending is another one.
    """
    ending = path.suffix.lower()
    if ending == ".svg":
        content = standalone(svg).encode("utf-8", "replace")
    elif ending in {".png", ".pdf"}:
        content = _converted(svg, ending[1:], dpi)
    else:
        raise ValueError(f"cannot draw {path.name!r}: a figure is a .svg, .png or .pdf file")
    path.parent.mkdir(parents=True, exist_ok=True)
    with replacing(path) as file:
        file.write(content)


def _converted(svg: str, ending: str, dpi: int) -> bytes:
    try:
        from matplotlib import style
    except ImportError as error:
        raise UserError(
            f"a figure is written as {ending.upper()} by matplotlib, which is not installed",
            remedy="pip install matplotlib, or save the figure as .svg",
        ) from error

    content = io.BytesIO()
    # whatever the user's own settings are
    settings = {"font.family": ["sans-serif"], "font.sans-serif": _FONTS, "pdf.fonttype": 42}
    # dates and versions would make two files of the same scores differ
    metadata = {"CreationDate": None} if ending == "pdf" else {"Software": None}
    with style.context(["default", settings]), warnings.catch_warnings():
        # names in scripts that the font lacks
        warnings.filterwarnings("ignore", message="Glyph .* missing from font")
        _drawn(svg).savefig(content, format=ending, dpi=dpi, metadata=metadata)
    return content.getvalue()


def _drawn(svg: str) -> Figure:
    """Draw the shapes and texts of a figure with matplotlib."""
    import numpy as np
    from matplotlib.figure import Figure
    from matplotlib.patches import PathPatch
    from matplotlib.text import Text
    from matplotlib.transforms import Affine2D

    root = ET.fromstring(svg)  # noqa: S314 - made by this program, without entities
    width, height = (float(side) for side in root.attrib["viewBox"].split()[2:])
    inches = _POINTS / 72
    figure = Figure(figsize=(width * inches, height * inches), facecolor="white")
    page = Affine2D().scale(inches, -inches).translate(0, height * inches) + figure.dpi_scale_trans
    for order, (element, properties, matrix, angle) in enumerate(_leaves(root)):
        on_page = matrix + page
        if element.tag == f"{_NAMESPACE}text":
            text = Text(
                float(element.get("x", "0")),
                float(element.get("y", "0")),
                element.text or "",
                transform=on_page,
                color=properties.get("fill", "black"),
                fontsize=float(properties["font-size"].removesuffix("px")) * _POINTS,
                fontweight=properties.get("font-weight", "normal"),
                horizontalalignment=_ALIGNMENTS[properties.get("text-anchor", "start")],
                verticalalignment="baseline",
                rotation=-angle,
                rotation_mode="anchor",
                parse_math=False,
                zorder=order,
            )
            figure.add_artist(text)
            continue
        stroke = properties.get("stroke", "none")
        factor = math.sqrt(abs(np.linalg.det(matrix.get_matrix()[:2, :2])))
        line_width = float(properties.get("stroke-width", "1")) * _POINTS * factor
        dashes = [float(length) * _POINTS / line_width for length in properties.get("stroke-dasharray", "").split()]
        patch = PathPatch(
            _outline(element),
            transform=on_page,
            facecolor=properties.get("fill", "black"),
            edgecolor=stroke if stroke == "none" else (stroke, float(properties.get("stroke-opacity", "1"))),
            linewidth=0.0 if stroke == "none" else line_width,
            linestyle=(0, tuple(dashes)) if dashes else "solid",
            capstyle="butt",
            joinstyle="miter",
            zorder=order,
        )
        figure.add_artist(patch)
    return figure


def _leaves(
    element: ET.Element, inherited: _Properties | None = None, matrix: Transform | None = None, angle: float = 0.0
) -> Iterator[tuple[ET.Element, _Properties, Transform, float]]:
    """Yield shapes and texts with their properties, their place and how far they are turned."""
    from matplotlib.transforms import Affine2D

    name = element.tag.removeprefix(_NAMESPACE)
    if name in {"title", "desc"}:
        return
    matrix = matrix or Affine2D()
    properties = (inherited or {}) | {key: element.attrib[key] for key in ("fill", "stroke") if key in element.attrib}
    properties |= _properties(frozenset(element.get("class", "").split()))
    # of several transformations, SVG applies the last one first, as matplotlib does in a sum
    for kind, arguments in _TRANSFORM.findall(element.get("transform", "")):
        numbers = [float(word) for word in arguments.split()]
        if kind == "translate":
            matrix = Affine2D().translate(*numbers) + matrix
        elif kind == "scale":
            matrix = Affine2D().scale(*numbers) + matrix
        else:
            matrix, angle = Affine2D().rotate_deg(*numbers) + matrix, angle + numbers[0]
    if name in {"svg", "g", "a"}:
        for child in element:
            yield from _leaves(child, properties, matrix, angle)
    else:
        yield element, properties, matrix, angle


@cache
def _properties(classes: frozenset[str]) -> _Properties:
    """Properties of an element; of several classes, the last one in the style sheet decides."""
    rules = [rule for name, rule in STYLE.items() if name in classes]
    pairs = (declaration.split(":") for rule in rules for declaration in rule.split(";"))
    return {key.strip(): value.strip() for key, value in pairs}


def _outline(element: ET.Element) -> Outline:
    """Outline of a shape in its own coordinates."""
    from matplotlib.path import Path as Outline

    def attribute(name: str) -> float:
        return float(element.attrib[name])

    if element.tag == f"{_NAMESPACE}circle":
        return Outline.circle((attribute("cx"), attribute("cy")), attribute("r"))
    if element.tag == f"{_NAMESPACE}rect":
        left, top, width, height = (attribute(name) for name in ("x", "y", "width", "height"))
        return _polygons(f"M{left} {top}h{width}v{height}h{-width}z")
    return _polygons(element.attrib["d"])


def _polygons(steps: str) -> Outline:
    """Convert the straight lines of an SVG path."""
    from matplotlib.path import Path as Outline

    points: list[tuple[float, float]] = []
    codes: list[np.uint8] = []
    x = y = 0.0
    start = (x, y)
    for command, arguments in _STEP.findall(steps):
        numbers = [float(word) for word in arguments.split()]
        match command:
            case "M" | "L":
                x, y = numbers
            case "m" | "l":
                x, y = x + numbers[0], y + numbers[1]
            case "H":
                x = numbers[0]
            case "h":
                x += numbers[0]
            case "V":
                y = numbers[0]
            case "v":
                y += numbers[0]
            case "z":
                x, y = start
        if command in "Mm":
            start = (x, y)
        points.append((x, y))
        codes.append(Outline.MOVETO if command in "Mm" else Outline.CLOSEPOLY if command == "z" else Outline.LINETO)
    return Outline(points, codes)
