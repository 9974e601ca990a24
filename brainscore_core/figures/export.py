"""Figures as files, and figures that a notebook shows and that can be saved."""

from __future__ import annotations

import base64
import io
import math
import re
import warnings
import xml.etree.ElementTree as ET
from collections.abc import Iterator
from functools import cache
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from brainscore_core.errors import UserError
from brainscore_core.files import replacing

if TYPE_CHECKING:
    import numpy as np
    from matplotlib.figure import Figure
    from matplotlib.image import BboxImage
    from matplotlib.path import Path as Outline
    from matplotlib.transforms import Transform
    from numpy.typing import NDArray

import os

from brainscore_core.figures.axes import Svg

_POINTS = 85 / 400 / 25.4 * 72  # of a unit, as in an SVG file
_NAMESPACE = "{http://www.w3.org/2000/svg}"
_FONTS = ["DejaVu Sans", "Helvetica", "Arial"]  # the first comes with matplotlib: the same file on each computer
_TRANSFORM = re.compile(r"(translate|rotate|scale)\(([^)]*)\)")
_STEP = re.compile(r"([MLhlmvz])([^A-Za-z]*)")
_BOLD = re.compile("chart-(strong|heading)")
_ALIGNMENTS: dict[str, Literal["left", "center", "right"]] = {"start": "left", "middle": "center", "end": "right"}
_Properties = dict[str, str]


def save_figure(svg: str, path: Path, *, dpi: int = 300) -> None:
    """Write a figure as SVG, PNG or PDF; the same figure gives the same bytes.

    The ending of `path` is the format, and missing folders are made; `dpi` is the resolution of PNG. Raises ValueError
    if the ending is another one.
    """
    ending = path.suffix.lower()
    if ending == ".svg":
        content = _with_letters(standalone(svg)).encode("utf-8", "replace")
    elif ending in {".png", ".pdf"}:
        content = _converted(svg, ending[1:], dpi)
    else:
        raise ValueError(f"cannot draw {path.name!r}: a figure is a .svg, .png or .pdf file")
    path.parent.mkdir(parents=True, exist_ok=True)
    with replacing(path) as file:
        file.write(content)


def _with_letters(document: str) -> str:
    """Embed the letters that a figure needs; without matplotlib, which has the font, the reader's fonts are used."""
    try:
        from fontTools import subset
        from matplotlib import get_data_path
    except ImportError:
        return document
    rules = [f'.chart{{font-family:"{_FONTS[0]}",Helvetica,Arial,sans-serif}}']
    for weight, name in (("normal", "DejaVuSans.ttf"), ("bold", "DejaVuSans-Bold.ttf")):
        if weight == "bold" and not _BOLD.search(document.partition("</style>")[2]):
            continue
        options = subset.Options(flavor="woff", layout_features=[], hinting=False, drop_tables=["FFTM"])
        font = subset.load_font(Path(get_data_path(), "fonts", "ttf", name), options)
        subsetter = subset.Subsetter(options)
        subsetter.populate(text=document)
        subsetter.subset(font)
        content = io.BytesIO()
        subset.save_font(font, content, options)
        data = base64.b64encode(content.getvalue()).decode()
        rules.append(
            f'@font-face{{font-family:"{_FONTS[0]}";font-weight:{weight};src:url(data:font/woff;base64,{data})}}'
        )
    return document.replace("</style>", "\n".join([*rules, "</style>"]), 1)


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
                (element.text or "") + "".join(child.tail or "" for child in element),  # after a tooltip
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
        if element.tag == f"{_NAMESPACE}image":
            left, top, side = (float(element.attrib[name]) for name in ("x", "y", "width"))
            corner = matrix.transform((left, top))
            figure.add_artist(_picture(element.attrib["href"], corner, side, height, order, figure))
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


def _picture(address: str, corner: NDArray, side: float, height: float, order: int, figure: Figure) -> BboxImage:
    """Read a picture from its data URI, in the middle of its square."""
    import numpy as np
    from matplotlib.image import BboxImage
    from matplotlib.transforms import Bbox, TransformedBbox
    from PIL import Image

    with Image.open(io.BytesIO(base64.b64decode(address.partition(",")[2]))) as image:
        values = np.asarray(image.convert("RGB"))
    rows, columns = values.shape[:2]
    scale = side / max(rows, columns)
    left, bottom = corner[0] + (side - columns * scale) / 2, height - corner[1] - (side + rows * scale) / 2
    inches = np.array([left, bottom, left + columns * scale, bottom + rows * scale]) * _POINTS / 72
    bbox = TransformedBbox(Bbox.from_extents(*inches), figure.dpi_scale_trans)
    picture = BboxImage(bbox, interpolation="antialiased", zorder=order)
    picture.set_data(values)
    return picture


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
            case "h":
                x += numbers[0]
            case "v":
                y += numbers[0]
            case "z":
                x, y = start
        if command in "Mm":
            start = (x, y)
        points.append((x, y))
        codes.append(Outline.MOVETO if command in "Mm" else Outline.CLOSEPOLY if command == "z" else Outline.LINETO)
    return Outline(points, codes)


_MM = 85 / 400  # 400 units are one column of a paper; text then has 7 points

_DRAWN = (
    "fill",
    "font-size",
    "font-weight",
    "stroke",
    "stroke-dasharray",
    "stroke-opacity",
    "stroke-width",
    "text-anchor",
)


def _style() -> dict[str, str]:
    """Rules of pages in light colours, on white paper, without variables, which drawing programs do not support."""
    folder = resources.files("brainscore_core") / "identity"
    css = "".join((folder / name).read_text(encoding="utf-8") for name in ("colours.css", "charts.css"))
    css = re.sub(r"light-dark\(([^,]+), [^)]+\)", r"\1", css)
    values = dict(re.findall(r"(--[\w-]+): ([^;]+);", css)) | {"--paper": "#ffffff"}
    style = {"chart-paper": "fill: #ffffff"}
    for name, rule in re.findall(r"^\.(chart[\w-]*) \{ (.*); \}$", css, re.MULTILINE):
        rule = re.sub(r"var\((--[\w-]+)\)", lambda match: values[match[1]], rule)
        properties = [declaration for declaration in rule.split("; ") if declaration.partition(":")[0] in _DRAWN]
        if properties:
            style[name] = "; ".join(properties)
    style["chart"] += "; font-family: Helvetica, Arial, sans-serif"
    return style


STYLE = _style()
"""Class → properties."""

_VIEW_BOX = re.compile(r'viewBox="0 0 ([0-9.]+) ([0-9.]+)"')
_LINK = re.compile(r'<a href="[^"]*"')


def standalone(svg: str) -> str:
    """Convert a chart to a file with real text, colours for paper, and without links.

    Parameters
    ----------
    svg : str
        SVG that a function of this package returned.

    Returns
    -------
    str
        A document; 400 units are 85 mm, one column of a paper.

    Raises
    ------
    ValueError
        If it is not such a chart.

    Examples
    --------
    >>> from brainscore_core.figures import Point, Scatter, scatter
    >>> drawn = scatter(Scatter(points=[Point(x=0, y=1, label="A")], title="A and B", x_title="x", y_title="y"))
    >>> standalone(drawn).splitlines()[1][:75]
    '<svg width="85mm" height="80.75mm" xmlns="http://www.w3.org/2000/svg" class'
    """
    box = _VIEW_BOX.search(svg)
    if not svg.startswith("<svg ") or box is None:
        raise ValueError("no chart: it does not begin with an svg element that has a viewBox")
    width, height = (float(side) * _MM for side in box.groups())
    rules = "".join(f".{name}{{{properties}}}\n" for name, properties in STYLE.items())
    head, inner = svg.split(">", 1)
    head = head.replace("<svg", f'<svg width="{width:.4g}mm" height="{height:.4g}mm"', 1)
    inner = _LINK.sub("<g", inner).replace("</a>", "</g>")
    paper = '<rect class="chart-paper" width="100%" height="100%"/>'
    document = f"{head}><style>\n{rules}</style>{paper}{inner}</svg>"
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{document}\n'.replace("</svg></svg>", "</svg>")


class Plot:
    """A figure. A notebook shows it; :meth:`save` writes it to a file.

    Parameters
    ----------
    svg : Svg
        What a function of :mod:`brainscore_core.figures` drew.
    title : str
        What the figure shows.

    Examples
    --------
    >>> from brainscore_core.metrics import Score
    >>> plot = Score(0.4).plot()
    >>> plot
    <Plot 'Score'; save('figure.png') writes it as PNG, SVG or PDF>
    """

    def __init__(self, svg: Svg, title: str) -> None:
        self.svg = svg
        self.title = title

    def save(self, path: str | os.PathLike[str], *, dpi: int = 300) -> Path:
        """Write the figure as SVG, PNG or PDF.

        Parameters
        ----------
        path : path
            File to write; its ending is the format. Missing folders are created.
        dpi : int
            Resolution of PNG.

        Returns
        -------
        Path
            The file.

        Raises
        ------
        ValueError
            If the file has another ending.
        """
        from brainscore_core.figures.export import save_figure

        save_figure(self.svg, Path(path), dpi=dpi)
        return Path(path)

    def __repr__(self) -> str:
        return f"<Plot {self.title!r}; save('figure.png') writes it as PNG, SVG or PDF>"

    def _repr_svg_(self) -> str:
        return standalone(self.svg).removeprefix('<?xml version="1.0" encoding="UTF-8"?>\n')
