"""The pages of the report, rendered from templates."""

from __future__ import annotations

import base64
import hashlib
import io
import json
import math
import zlib
from collections.abc import Iterable
from functools import lru_cache
from importlib import resources
from pathlib import Path
from typing import Any

import numpy as np
from markupsafe import Markup

from brainscore.report._board import OVERS, Board, coverage_text
from brainscore.report._plots import controls_figure, training_figures, widest_pair
from brainscore.report._report import Report, layer_rows, sources_of
from brainscore.report._view import LETTERS, STATES, duration, scale_of
from brainscore_core.errors import UserError
from brainscore_core.figures.colour_tables import HEAT, cell_text, dark_text, heat_class
from brainscore_core.files import replacing
from brainscore_core.formatting import estimate_text, number_text, p_text
from brainscore_core.memory import format_size
from brainscore_core.numerics.means import ASSUMPTION
from brainscore_core.results.validity import difference_text, percent_text
from brainscore_core.scoring import Receipt, ResultsStore
from brainscore_core.training_data import MARKS, explained_signs

_LARGEST_PICTURE = 3600  # pixels
_STATE_PATTERNS = {"undefined": 0, "not applicable": 1, "failed": 2, "outdated": 3, "undetermined": 4}


def heat_picture(board: Board) -> tuple[str, int, int]:
    """Draw models × benchmarks as PNG."""
    from PIL import Image

    columns = board.benchmarks
    wide = max(3, min(12, _LARGEST_PICTURE // max(len(columns), 1)))
    high = max(3, min(8, _LARGEST_PICTURE // max(len(board.models), 1)))
    classes = np.full((len(board.models), len(columns)), -1, dtype=np.int8)
    for row, model in enumerate(board.models):
        for column, number in enumerate(columns):
            pair = (model, board.nodes[number].identifier)
            state = board.states.get(pair)
            receipt = board.receipts.get(pair)
            if state == "scored" and receipt is not None and receipt.score is not None:
                classes[row, column] = heat_class(receipt.score.value or 0.0)
            elif state is not None:
                classes[row, column] = -2 - _STATE_PATTERNS.get(state, 0)
    dark, white = len(HEAT), len(HEAT) + 1
    tiles = np.full((len(HEAT) + 2 + len(_STATE_PATTERNS), high, wide), white, dtype=np.uint8)
    for shade in range(len(HEAT)):
        tiles[shade] = shade
    rows, cols = np.indices((high, wide))
    patterns = [rows == high // 2, (rows == high // 2) & (cols == wide // 2), (rows + cols) % 3 == 0, cols == wide // 2]
    patterns.append((rows == 0) | (cols == 0))
    for number, pattern in enumerate(patterns):
        tiles[-2 - number][pattern] = dark
    picture = tiles[classes].transpose(0, 2, 1, 3).reshape(len(board.models) * high, len(columns) * wide)
    image = Image.fromarray(np.ascontiguousarray(picture), mode="P")
    palette = [int(colour[start : start + 2], 16) for colour in (*HEAT, "#1c1e21", "#ffffff") for start in (1, 3, 5)]
    image.putpalette(palette)
    content = io.BytesIO()
    image.save(content, format="PNG", optimize=True)
    return f"data:image/png;base64,{base64.b64encode(content.getvalue()).decode()}", wide, high


STATE_CODES = {"scored": "s", "undetermined": "d", "undefined": "u", "not applicable": "n", "failed": "f"}
STATE_CODES |= {"outdated": "o", "missing": "m"}
EXPOSURE_CODES = {"clean": "c", "unknown": "u", "trained on it": "t"}


def payload_of(report: Report) -> str:
    """Write what the script needs; safe inside a script element."""
    board = report.board
    ceiled = {group.benchmark: group.ceiled for group in report.view.groups}
    texts: dict[str, int] = {}
    index = {model: row for row, model in enumerate(board.models)}
    data: dict[str, Any] = {
        "over": board.over,
        "models": board.models,
        "nodes": [
            {
                "id": node.identifier,
                "title": node.title,
                "parent": node.parent,
                "kind": node.kind,
                "root": node.root,
                "all": node.n_all,
                "shown": node.n_shown,
                **({"ceiled": ceiled[node.identifier]} if node.kind == "benchmark" else {}),
            }
            for node in board.nodes
        ],
        "start": board.start,
        "orders": {over: [index[model] for model in models] for over, models in board.orders.items()},
        "ranks": {over: [board.rank(row, over) for row in range(len(board.models))] for over in board.ranks},
        "means": {over: _means(board, over) for over in OVERS},
        "cover": _cover(board, texts),
        "texts": list(texts),
        "columns": [_column(report, index) for index in board.benchmarks],
        "pair": widest_pair(report),
    }
    text = json.dumps(data, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    # nothing in a name can end the element or open a comment; a lone surrogate cannot be written
    return text.replace("<", "\\u003c").encode("utf-8", "replace").decode()


def _means(board: Board, over: str) -> dict[str, dict[str, list[float | None]]]:
    columns = {}
    for index, node in enumerate(board.nodes):
        if node.kind == "mean":
            its = [board.means[over][model][index] for model in board.models]  # type: ignore[index] # board is narrowed above
            limits = [mean.ci or (None, None) for mean in its]
            columns[str(index)] = {
                "v": _rounded(mean.value for mean in its),
                "l": _rounded(low for low, _ in limits),
                "h": _rounded(high for _, high in limits),
            }
    return columns


def _cover(board: Board, texts: dict[str, int]) -> dict[str, list[int]]:
    columns = {}
    for index, node in enumerate(board.nodes):
        if node.kind == "mean":
            its = (coverage_text(board.means["all"][model][index].coverage) for model in board.models)
            columns[str(index)] = [texts.setdefault(text, len(texts)) for text in its]
    return columns


def _column(report: Report, place: int) -> dict[str, Any]:
    board = report.board
    name = board.nodes[place].identifier
    codes, scores, raws = [], [], []
    for model in board.models:
        state = board.states.get((model, name), "missing")
        codes.append(STATE_CODES[state])
        if state == "scored":
            scores.append(board.receipts[model, name].score)
        elif state == "undetermined":
            raws.append(board.receipts[model, name].raw)
    return {
        "node": place,
        "s": "".join(codes),
        "v": _rounded(score.value for score in scores if score),
        "e": _rounded(score.error for score in scores if score),
        "l": _rounded(score.ci[0] if score.ci else None for score in scores if score),
        "h": _rounded(score.ci[1] if score.ci else None for score in scores if score),
        "r": _rounded(raw.value if raw else None for raw in raws),
        "x": "".join(
            EXPOSURE_CODES[report.exposure[model, name].state]
            for model in board.models
            if board.states.get((model, name)) == "scored"
        ),
    }


def _rounded(values: Iterable[float | None]) -> list[float | None]:
    return [float(f"{value:.5g}") if value is not None and math.isfinite(value) else None for value in values]


_MOST_LOGS = 500
_LOG_LENGTH = 3000  # characters of each


def log_ends(store: ResultsStore, receipts: Iterable[Receipt]) -> dict[str, str]:
    """Return the last of the logs that failed pairs left, by id of the receipt; of the newest 500."""
    failed = [
        receipt
        for receipt in receipts
        if receipt.state == "failed" and any(item.kind == "log" for item in receipt.attachments)
    ]
    failed.sort(key=lambda receipt: receipt.id, reverse=True)
    ends = {}
    for receipt in failed[:_MOST_LOGS]:
        try:
            text = store.read_log(receipt) or ""
        except (OSError, UserError) as error:
            ends[receipt.id] = f"(the log cannot be read: {getattr(error, 'message', error)})"
        else:
            ends[receipt.id] = text if len(text) <= _LOG_LENGTH else f"…{text[-_LOG_LENGTH:]}"
    return ends


_SCRIPTS = ("base.js", "board.js", "heat.js", "scatter.js", "main.js")
_WRITTEN_OUT = 2000  # pairs up to which everything can be read without the script
_MOST_CELLS = 3600  # of the heat map as a table
_MOST_ROWS = 200  # of the leaderboard without the script
_OPEN = 40  # pairs up to which the benchmarks' tables stand open
_MOST_UNASSESSED = 20  # names of benchmarks without an assessment
_TRACEBACK = 3000  # characters; the end says what happened


def write_report(report: Report, output: Path) -> None:
    """Write the page as an HTML file; the same receipts give the same bytes."""
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
    with_charts = bool(report.validity) or any(card["states"] for card in report.cards)
    sheets = ("colours.css", "charts.css") if with_charts else ("colours.css",)
    style = "".join(_identity(name) for name in sheets) + _file("report.css") + _heat_colours()
    script = '"use strict";\n(() => {\n' + "\n".join(_file(name) for name in _SCRIPTS) + "})();\n"
    benchmark, card = environment.get_template("benchmark.html.j2"), environment.get_template("card.html.j2")
    assessed = environment.get_template("validity.html.j2")
    unassessed = [group.benchmark for _, group in report.groups if group.benchmark not in report.validity]

    def validity_of_model(name: str) -> dict[str, Any]:
        return report.validity[name].by_model if name in report.validity else {}

    indices = {board.nodes[index].identifier: index for index in board.benchmarks}
    roots = {name: board.nodes[board.nodes[index].root].title for name, index in indices.items()}
    numbers = {model: number for number, model in enumerate(board.models)}
    return environment.get_template(
        "report.html.j2"
    ).render(
        report=report,
        view=report.view,
        board=board,
        style=Markup(style),  # noqa: S704 (this package's own file)
        mark=f"data:image/svg+xml;base64,{base64.b64encode(_identity('mark.svg').encode()).decode()}",
        script=Markup(script),  # noqa: S704 (this package's own files)
        policy=f"default-src 'none'; script-src '{_digest(script)}'; style-src '{_digest(style)}'; img-src data:; "
        "base-uri 'none'; form-action 'none'",
        payload=Markup(payload_of(report)),  # noqa: S704 (escaped there)
        packed=packed,
        stand_open=pairs <= _OPEN,
        most_rows=_MOST_ROWS,
        assumption=ASSUMPTION,
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
                place=indices[group.benchmark],
                validity=report.validity.get(group.benchmark),
                beside=validity_of_model(group.benchmark),
                exposure=report.exposure,
                marks=MARKS,
            )
        ),
        validity_body=lambda place, group, validity: pack(
            assessed.render(
                group=group,
                validity=validity,
                # SVG that was escaped where it was drawn
                figure=Markup(controls_figure(group, validity, identifier=f"controls-{place}") or ""),  # noqa: S704 # as above
            )
        ),
        not_assessed={"n": len(unassessed), "names": unassessed[:_MOST_UNASSESSED]},
        card_body=lambda card_: pack(
            card.render(
                card=card_,
                training=[
                    (name, Markup(figure), receipts)  # noqa: S704 (escaped where it was drawn)
                    for name, figure, receipts in training_figures(
                        card_["states"], identifier=f"training-{card_['place']}"
                    )
                ],
                scale=scale_of(card_["rows"]),
                places=indices,
                roots=roots,
                log_ends=report.log_ends,
                exposure=report.exposure,
                marks=MARKS,
            )
        ),
        layer_rows=layer_rows,
        marks=MARKS,
        exposure_signs=explained_signs(finding.state for finding in report.exposure.values()),
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
        "number": number_text,
        "bytes": lambda count: "unknown" if count is None else format_size(count),
        "duration": duration,
        "coverage": coverage_text,
        "cell": cell_text,
        "heat": heat_class,
        "end": _end,
        "estimate": lambda value, ci: estimate_text(value, ci=ci, brief=True),
        "difference": lambda difference: difference_text(difference.value, difference.ci),
        "p": lambda p: p_text(p).removeprefix("p ").removeprefix("= "),
        "percent": percent_text,
        "limits": lambda ci: f"{100 * ci[0]:.0f}–{100 * ci[1]:.0f} %",
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


def _identity(name: str) -> str:
    """Read a style sheet that site and documentation use, too."""
    return resources.files("brainscore_core").joinpath("identity", name).read_text(encoding="utf-8")


def _digest(text: str) -> str:
    return f"sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}"


def _end(text: str | None) -> str:
    text = text or ""
    return text if len(text) <= _TRACEBACK else f"…{text[-_TRACEBACK:]}"
