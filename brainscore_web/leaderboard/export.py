"""Boards as files: CSV and Parquet, wide or long, and BibTeX with each entry once."""

from __future__ import annotations

import json
from collections.abc import Iterable
from datetime import UTC, datetime
from io import BytesIO
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from brainscore_core.errors import UserError
from brainscore_core.formatting import harmless
from brainscore_core.numerics.ranks import group_letters
from brainscore_core.plugins.bibtex import BibtexError, Entry, parse_bibtex
from brainscore_web.leaderboard.board import Board
from brainscore_web.leaderboard.exposure import EXPOSURES, VERIFICATIONS
from brainscore_web.leaderboard.models import Benchmark, Visibility, VisionModel
from brainscore_web.leaderboard.snapshot import STATES

if TYPE_CHECKING:
    import pyarrow


class CitedItem(NamedTuple):
    """A cited item: ``'model'`` or ``'benchmark'``, its identifier, and its BibTeX."""

    kind: str
    identifier: str
    bibtex: str


def merge_bibtex(head: str, cited: Iterable[CitedItem]) -> str:
    """Merge citations into one BibTeX file.

    Examples
    --------
    >>> one, other = "@misc{a, title = {One}}", "@misc{a, title = {Other}}"
    >>> items = [CitedItem("model", "x", one), CitedItem("model", "y", other), CitedItem("benchmark", "z", one)]
    >>> print(merge_bibtex("Three", items))
    % Three
    <BLANKLINE>
    % model x; benchmark z
    @misc{a,
      title = {One}
    }
    <BLANKLINE>
    % model y
    @misc{aa,
      title = {Other}
    }
    <BLANKLINE>
    """
    users: dict[tuple[str, str, tuple[tuple[str, str], ...]], list[str]] = {}
    invalid = []
    for item in cited:
        name = _comment(f"{item.kind} {item.identifier}")
        try:
            entries = [entry for entry in parse_bibtex(item.bibtex) if _is_writable(entry)]
        except BibtexError:
            entries = []
        if not entries:
            invalid.append(name)
        for entry in entries:
            names = users.setdefault((entry.kind, entry.key, tuple(entry.fields.items())), [])
            if name not in names:
                names.append(name)
    taken: set[str] = set()
    parts = [f"% {_comment(head)}\n"]
    original = {key.casefold() for _, key, _ in users}
    for (kind, key, fields), names in users.items():
        unique, number = key, 0
        while unique.casefold() in taken or (number and unique.casefold() in original):
            unique, number = key + group_letters(number), number + 1
        taken.add(unique.casefold())
        body = ",\n".join(f"  {name} = {{{value}}}" for name, value in fields)
        parts.append(f"% {'; '.join(names)}\n@{kind}{{{unique},\n{body}\n}}\n")
    if invalid:
        parts.append("".join(f"% {name}: its citation is not valid BibTeX\n" for name in invalid))
    return "\n".join(parts)


def _is_writable(entry: Entry) -> bool:
    """Whether an entry can be written with its values in braces."""
    return bool(entry.key) and all(_is_balanced(value) for value in entry.fields.values())


def _is_balanced(text: str) -> bool:
    depth, escaped = 0, False
    for sign in text:
        if escaped:
            escaped = False
        elif sign == "\\":
            escaped = True
        elif sign in "{}":
            depth += 1 if sign == "{" else -1
            if depth < 0:
                return False
    return depth == 0 and not escaped


def _comment(text: str) -> str:
    """Return text on one line, without the character that starts an entry."""
    return " ".join(text.replace("@", "(at)").split())


Form = Literal["wide", "long"]
FORMS: tuple[Form, ...] = ("wide", "long")
"""One row per model, or one row per model and node."""

_NAMES = {
    "state": np.array(STATES, dtype=object),
    "exposure": np.array([*EXPOSURES, None], dtype=object),  # -1, without a score, is the last
    "verification": np.array([name or None for name in VERIFICATIONS], dtype=object),
}


def cells_of(board: Board) -> dict[str, NDArray[Any]]:
    """Return what the cells of a board contain, as arrays of models × nodes: numbers, and names as objects."""
    codes = {"state": board.states, "exposure": board.exposure, "verification": board.verification}
    return {
        "value": board.values,
        "error": board.errors,
        "low": board.low,
        "high": board.high,
        **{name: _NAMES[name][array] for name, array in codes.items()},
        "n_scored": board.n_scored,
        "n_all": board.n_all,
    }


_MODEL = ("identifier", "title", "architecture", "family", "parameters", "size_mb", "training_data", "runnable")


def checked_form(form: str) -> Form:
    """Return the name of a form; a UserError if there is no such form."""
    for name in FORMS:
        if form == name:
            return name
    raise UserError(f"unknown form {form[:50]!r}", remedy=f"use one of: {', '.join(FORMS)}")


MEDIA_TYPES = {
    "csv": "text/csv; charset=utf-8",
    "parquet": "application/vnd.apache.parquet",
    "bib": "application/x-bibtex; charset=utf-8",
}
"""Media type of each file format."""


def written(board: Board, kind: str, form: Form) -> bytes:
    """Write a board in a file format; its form does not matter for citations."""
    return bibtex(board).encode() if kind == "bib" else {"csv": csv, "parquet": parquet}[kind](board, form=form)


def csv(board: Board, *, form: Form = "wide") -> bytes:
    """Write a board as CSV in UTF-8, with a header line and empty cells for missing values.

    Text that a spreadsheet would read as a formula gets an apostrophe in front.
    """
    import pyarrow
    from pyarrow import csv as writer

    content = table(board, form=form)
    columns = [
        pyarrow.array([text and harmless(text) for text in column.to_pylist()]) if kind == pyarrow.string() else column
        for column, kind in zip(content.columns, content.schema.types, strict=True)
    ]
    file = BytesIO()
    writer.write_csv(pyarrow.table(columns, names=[harmless(name) for name in content.column_names]), file)
    return file.getvalue()


def parquet(board: Board, *, form: Form = "wide") -> bytes:
    """Write a board as Parquet; the metadata of its schema hold the query, a hash of the data, and the time."""
    from pyarrow import parquet as writer

    file = BytesIO()
    writer.write_table(table(board, form=form), file, compression="zstd")
    return file.getvalue()


def table(board: Board, *, form: Form = "wide") -> pyarrow.Table:
    """Return a board as a table with all nodes except headings, whether shown or not, in the order of its models."""
    import pyarrow

    columns = _wide(board) if checked_form(form) == "wide" else _long(board)
    arrays = {name: pyarrow.array(column, _type(name, column), from_pandas=True) for name, column in columns.items()}
    metadata = {
        "query": board.state.query(),
        "data": board.snapshot.digest,
        "as_of": str(board.snapshot.at or ""),
        "exported": datetime.now(UTC).isoformat(timespec="seconds"),
        "values": board.state.values,
        "over": board.state.over,
        "notes": json.dumps(board.notes, ensure_ascii=False),
    }
    return pyarrow.table(arrays, metadata={f"brainscore.{name}": text for name, text in metadata.items()})


def bibtex(board: Board) -> str:
    """Return the citations of the public models and the benchmarks on a board, each once.

    Different entries with the same key get letters appended to it. Invalid BibTeX is named in a comment.
    """
    models = {model.identifier for model in board.models if not model.private}
    benchmarks = {node.identifier for node in board.nodes if node.kind == "benchmark"}
    fields = ("identifier", "bibtex")
    of_models = VisionModel.objects.filter(visibility=Visibility.PUBLIC).exclude(bibtex="").order_by("identifier")
    of_benchmarks = Benchmark.objects.exclude(bibtex="").order_by("identifier")
    cited = [
        *(CitedItem("benchmark", *row) for row in of_benchmarks.values_list(*fields) if row[0] in benchmarks),
        *(CitedItem("model", *row) for row in of_models.values_list(*fields) if row[0] in models),
    ]
    query = board.state.query()
    head = f"Brain-Score leaderboard, exported {datetime.now(UTC):%Y-%m-%d}" + (f", query {query}" if query else "")
    return merge_bibtex(head, cited)


def _type(name: str, column: Any) -> pyarrow.DataType:
    """Return the type of a column, even if it is empty."""
    import pyarrow

    if isinstance(column, np.ndarray):
        return pyarrow.string() if column.dtype == object else pyarrow.from_numpy_dtype(column.dtype)
    kinds = {
        "parameters": pyarrow.int64(), "size_mb": pyarrow.float64(), "runnable": pyarrow.bool_(),
        "published": pyarrow.int64(),
        "rank": pyarrow.int64(), "rank_best": pyarrow.int64(), "rank_worst": pyarrow.int64(),
    }  # fmt: skip
    return kinds.get(name, pyarrow.string())


def _wide(board: Board) -> dict[str, Any]:
    columns = _model_columns(board)
    cells = cells_of(board)
    counts = {name: cells.pop(name) for name in ("n_scored", "n_all")}
    for place, node in enumerate(board.nodes):
        if node.kind == "heading":
            continue
        name = node.identifier
        columns[name] = board.values[:, place]
        columns |= {f"{name}:{cell}": array[:, place] for cell, array in cells.items() if cell != "value"}
        columns[f"{name}:condition"] = np.full(len(board.models), board.condition(place) or None, dtype=object)
        if node.kind == "mean":
            columns |= {f"{name}:{cell}": array[:, place] for cell, array in counts.items()}
    return columns


def _long(board: Board) -> dict[str, Any]:
    places = [place for place, node in enumerate(board.nodes) if node.kind != "heading"]
    nodes, n_models = [board.nodes[place] for place in places], len(board.models)
    of_nodes = {
        "node": [node.identifier for node in nodes],
        "kind": [node.kind for node in nodes],
        "version": [board.snapshot.benchmarks[node.column].version if node.column >= 0 else "" for node in nodes],
        "condition": [board.condition(place) or None for place in places],
    }
    tiled = {name: np.tile(np.array(column, dtype=object), n_models) for name, column in of_nodes.items()}
    condition = tiled.pop("condition")
    cells = {name: array[:, places].ravel() for name, array in cells_of(board).items()}
    counts = {name: cells.pop(name) for name in ("n_scored", "n_all")}
    models = np.array([model.identifier for model in board.models], dtype=object)
    return {"model": np.repeat(models, len(nodes)), **tiled, **cells, "condition": condition, **counts}


def _model_columns(board: Board) -> dict[str, Any]:
    columns: dict[str, Any] = {
        "model" if name == "identifier" else name: [getattr(model, name) for model in board.models] for name in _MODEL
    }
    for name, ranks in (("rank", board.rank), ("rank_best", board.best), ("rank_worst", board.worst)):
        columns[name] = [rank or None for rank in ranks.tolist()]
    columns["groups"] = list(board.groups)
    columns["unranked"] = [reason or None for reason in board.unranked]
    if board.root >= 0:
        columns["n_scored"], columns["n_all"] = board.n_scored[:, board.root], board.n_all[:, board.root]
    columns["published"] = [model.published for model in board.models]
    return columns
