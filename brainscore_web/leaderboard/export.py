"""Boards as files: CSV and Parquet, wide or long, and BibTeX of what is shown."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from io import BytesIO
from typing import TYPE_CHECKING, Literal

import numpy as np

from brainscore_core.errors import UserError
from brainscore_web.leaderboard._citations import Citation, gathered
from brainscore_web.leaderboard.board import Board
from brainscore_web.leaderboard.models import Benchmark, Visibility, VisionModel
from brainscore_web.leaderboard.snapshot import STATES

if TYPE_CHECKING:
    import pyarrow

__all__ = ["FORMS", "Form", "bibtex", "csv", "parquet", "table"]

Form = Literal["wide", "long"]
FORMS: tuple[Form, ...] = ("wide", "long")
"""One row a model, or one row a model and node."""

_FORMULA = ("=", "+", "-", "@", "\t", "\r", "\n")  # at the start of a cell spreadsheets take these for a formula


def csv(board: Board, *, form: Form = "wide") -> bytes:
    """A board as CSV (UTF-8, a line of names first); no value is an empty cell.

    Texts that a spreadsheet would take for a formula get an apostrophe before them.
    """
    from pyarrow import csv as writer

    made = table(board, form=form, guarded=True)
    file = BytesIO()
    writer.write_csv(made, file)
    return file.getvalue()


def parquet(board: Board, *, form: Form = "wide") -> bytes:
    """A board as Parquet; the schema's metadata say what was asked for, of which revision, and when."""
    from pyarrow import parquet as writer

    file = BytesIO()
    writer.write_table(table(board, form=form), file, compression="zstd")
    return file.getvalue()
