"""The page: one HTML file that needs nothing else."""

from __future__ import annotations

import base64
import hashlib
import zlib
from functools import lru_cache
from importlib import resources
from pathlib import Path
from typing import Any

from markupsafe import Markup

from brainscore.report._board import coverage_text
from brainscore.report._cards import sources_of
from brainscore.report._heat import heat_picture
from brainscore.report._layer_rows import layer_rows
from brainscore.report._marks import HEAT, LETTERS, cell_text, dark_text, heat_class, scale_of
from brainscore.report._numbers import duration, number, size
from brainscore.report._payload import payload_of
from brainscore.report._report import Report
from brainscore.report._view import STATES
from brainscore_core.files import replacing

__all__ = ["render_report", "write_report"]

_SCRIPTS = ("base.js", "board.js", "heat.js", "scatter.js", "main.js")
_WRITTEN_OUT = 2000  # pairs up to which everything can be read without the script
_MOST_CELLS = 3600  # of the heat map as a table
_MOST_ROWS = 200  # of the leaderboard without the script
_OPEN = 40  # pairs up to which the benchmarks' tables stand open
_TRACEBACK = 3000  # characters; the end says what happened


def write_report(report: Report, output: Path) -> None:
    """Write the page.

    Parameters
    ----------
    report : Report
        From :func:`report_of`.
    output : Path
        The HTML file; missing folders are made. The same receipts give the same bytes.
    """
    content = render_report(report).encode("utf-8", "replace")
    with replacing(output) as file:
        file.write(content)


def render_report(report: Report) -> str:
    """Write a report as HTML."""
    board = report.board
    pairs = len(board.receipts)
    environment = _environment()
    packed = pairs > _WRITTEN_OUT
    pack = _packed if packed else Markup
    as_table = len(board.models) * len(board.benchmarks) <= _MOST_CELLS
    style = _file("report.css") + _heat_colours()
    script = '"use strict";\n(() => {\n' + "\n".join(_file(name) for name in _SCRIPTS) + "})();\n"
    benchmark, card = environment.get_template("benchmark.html.j2"), environment.get_template("card.html.j2")
    places = {board.nodes[place].identifier: place for place in board.benchmarks}
    roots = {name: board.nodes[board.nodes[place].root].title for name, place in places.items()}
    numbers = {model: place for place, model in enumerate(board.models)}
    return environment.get_template("report.html.j2").render(
        report=report,
        view=report.view,
        board=board,
        style=Markup(style),  # noqa: S704 (this package's own file)
        script=Markup(script),  # noqa: S704 (this package's own files)
        policy=f"default-src 'none'; script-src '{_digest(script)}'; style-src '{_digest(style)}'; img-src data:; "
        "base-uri 'none'; form-action 'none'",
        payload=Markup(payload_of(report)),  # noqa: S704 (escaped there)
        packed=packed,
        stand_open=pairs <= _OPEN,
        most_rows=_MOST_ROWS,
        as_table=as_table,
        picture=None if as_table else heat_picture(board),
        heat_colours=len(HEAT),
        benchmark_body=lambda group: pack(
            benchmark.render(
                group=group,
                scale=scale_of(group.rows),
                sources=sources_of(group),
                numbers=numbers,
                ranking=report.rankings.get(group.benchmark),
            )
        ),
        card_body=lambda card_: pack(
            card.render(
                card=card_,
                scale=scale_of(card_.rows),
                places=places,
                roots=roots,
                log_ends=report.log_ends,
            )
        ),
        layer_rows=layer_rows,
    )


@lru_cache(maxsize=1)
def _environment() -> Any:
    import jinja2

    environment = jinja2.Environment(
        loader=jinja2.PackageLoader("brainscore.report", "page"),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.globals |= {"STATES": STATES, "LETTERS": LETTERS}
    environment.filters |= {
        "number": number,
        "bytes": size,
        "duration": duration,
        "coverage": coverage_text,
        "cell": cell_text,
        "heat": heat_class,
        "end": _end,
    }
    return environment


def _packed(html: str) -> Markup:
    """A section that the script unpacks when it is opened: a page of a thousand models stays a page."""
    content = base64.b64encode(zlib.compress(html.encode("utf-8", "replace"), 6)).decode()
    return Markup(  # noqa: S704 (base64)
        '<p class="muted wait">This section is packed; opening it needs JavaScript.</p>'
        f'<script type="text/plain">{content}</script>'
    )


def _heat_colours() -> str:
    return "".join(
        f".h{number}{{background:{colour};color:{'#000' if dark_text(colour) else '#fff'}}}\n"
        for number, colour in enumerate(HEAT)
    )


def _file(name: str) -> str:
    return resources.files("brainscore.report").joinpath("page", name).read_text(encoding="utf-8")


def _digest(text: str) -> str:
    return f"sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}"


def _end(text: str | None) -> str:
    text = text or ""
    return text if len(text) <= _TRACEBACK else f"…{text[-_TRACEBACK:]}"
