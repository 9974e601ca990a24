"""Boards as files: CSV and Parquet, wide or long, and BibTeX of what is shown."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from io import BytesIO
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from brainscore_core.errors import UserError
from brainscore_web.leaderboard.board import Board
from brainscore_web.leaderboard.citations import Cited, gathered
from brainscore_web.leaderboard.clean import harmless
from brainscore_web.leaderboard.models import Benchmark, Visibility, VisionModel
from brainscore_web.leaderboard.snapshot import STATES

if TYPE_CHECKING:
    import pyarrow

__all__ = ["FORMS", "Form", "bibtex", "csv", "parquet", "table"]

Form = Literal["wide", "long"]
FORMS: tuple[Form, ...] = ("wide", "long")
"""One row a model, or one row a model and node."""

_MODEL = ("identifier", "title", "architecture", "family", "parameters", "size_mb", "training_data", "runnable")


def csv(board: Board, *, form: Form = "wide") -> bytes:
    """Write a board as CSV: UTF-8, a line of names first, an empty cell where there is no value.

    A text that a spreadsheet would take for a formula gets an apostrophe before it.
    """
    import pyarrow
    from pyarrow import csv as writer

    made = table(board, form=form)
    columns = [
        pyarrow.array([text and harmless(text) for text in column.to_pylist()]) if kind == pyarrow.string() else column
        for column, kind in zip(made.columns, made.schema.types, strict=True)
    ]
    file = BytesIO()
    writer.write_csv(pyarrow.table(columns, names=[harmless(name) for name in made.column_names]), file)
    return file.getvalue()


def parquet(board: Board, *, form: Form = "wide") -> bytes:
    """Write a board as Parquet; the metadata of its schema say what was asked for, of which data (a hash), and when."""
    from pyarrow import parquet as writer

    file = BytesIO()
    writer.write_table(table(board, form=form), file, compression="zstd")
    return file.getvalue()


def table(board: Board, *, form: Form = "wide") -> pyarrow.Table:
    """A board as a table: all its nodes but headings, whether shown or not, in the order of its models.

    Parameters
    ----------
    form : str
        ``'wide'``: one row a model; of each node the columns ``NODE``, ``NODE:error``, ``NODE:low``, ``NODE:high``,
        ``NODE:state``, and of means ``NODE:n_scored`` of ``NODE:n_all``. ``'long'``: one row a model and node.
    """
    import pyarrow

    if form not in FORMS:
        raise UserError(f"form is {str(form)[:50]!r}", remedy=f"give one of: {', '.join(FORMS)}")
    columns = _wide(board) if form == "wide" else _long(board)
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
    """Citations of the public models and of the benchmarks on a board, each once.

    Entries of one key that differ get letters behind it. What cannot be read as BibTeX is named in a comment.
    """
    models = {model.identifier for model in board.models if not model.private}
    benchmarks = {node.identifier for node in board.nodes if node.kind == "benchmark"}
    fields = ("identifier", "bibtex")
    of_models = VisionModel.objects.filter(visibility=Visibility.PUBLIC).exclude(bibtex="").order_by("identifier")
    of_benchmarks = Benchmark.objects.exclude(bibtex="").order_by("identifier")
    cited = [
        *(Cited("benchmark", *row) for row in of_benchmarks.values_list(*fields) if row[0] in benchmarks),
        *(Cited("model", *row) for row in of_models.values_list(*fields) if row[0] in models),
    ]
    query = board.state.query()
    head = f"Brain-Score leaderboard, exported {datetime.now(UTC):%Y-%m-%d}" + (f", query {query}" if query else "")
    return gathered(head, cited)


def _type(name: str, column: Any) -> pyarrow.DataType:
    """What a column holds, also where it is empty."""
    import pyarrow

    if isinstance(column, np.ndarray):
        return pyarrow.string() if column.dtype == object else pyarrow.from_numpy_dtype(column.dtype)
    kinds = {
        "parameters": pyarrow.int64(), "size_mb": pyarrow.float64(), "runnable": pyarrow.bool_(),
        "rank": pyarrow.int64(), "rank_best": pyarrow.int64(), "rank_worst": pyarrow.int64(),
    }  # fmt: skip
    return kinds.get(name, pyarrow.string())


def _wide(board: Board) -> dict[str, Any]:
    columns = _of_models(board)
    names = np.array(STATES, dtype=object)
    for place, node in enumerate(board.nodes):
        if node.kind == "heading":
            continue
        name = node.identifier
        columns[name] = board.values[:, place]
        columns[f"{name}:error"] = board.errors[:, place]
        columns[f"{name}:low"] = board.low[:, place]
        columns[f"{name}:high"] = board.high[:, place]
        columns[f"{name}:state"] = names[board.states[:, place]]
        if node.kind == "mean":
            columns[f"{name}:n_scored"] = board.n_scored[:, place]
            columns[f"{name}:n_all"] = board.n_all[:, place]
    return columns


def _long(board: Board) -> dict[str, Any]:
    places = [place for place, node in enumerate(board.nodes) if node.kind != "heading"]
    nodes, n_models = [board.nodes[place] for place in places], len(board.models)
    versions = [board.snapshot.benchmarks[node.column].version if node.column >= 0 else "" for node in nodes]
    names = np.array(STATES, dtype=object)
    columns: dict[str, Any] = {
        "model": np.repeat(np.array([model.identifier for model in board.models], dtype=object), len(nodes)),
        "node": np.tile(np.array([node.identifier for node in nodes], dtype=object), n_models),
        "kind": np.tile(np.array([node.kind for node in nodes], dtype=object), n_models),
        "version": np.tile(np.array(versions, dtype=object), n_models),
        "value": board.values[:, places].ravel(),
        "error": board.errors[:, places].ravel(),
        "low": board.low[:, places].ravel(),
        "high": board.high[:, places].ravel(),
        "state": names[board.states[:, places]].ravel(),
        "n_scored": board.n_scored[:, places].ravel(),
        "n_all": board.n_all[:, places].ravel(),
    }
    return columns


def _of_models(board: Board) -> dict[str, Any]:
    columns: dict[str, Any] = {
        "model" if name == "identifier" else name: [getattr(model, name) for model in board.models] for name in _MODEL
    }
    for name, ranks in (("rank", board.rank), ("rank_best", board.best), ("rank_worst", board.worst)):
        columns[name] = [rank or None for rank in ranks.tolist()]
    columns["groups"] = list(board.groups)
    return columns
