"""Inserts many scores at once."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime
from itertools import chain
from typing import Any

from django.db import connection

from brainscore_web.leaderboard.models import Score

__all__ = ["COLUMNS", "insert_scores"]

_AT_ONCE = 500
COLUMNS = (
    *("receipt", "version", "state", "reason", "value", "error", "low", "high", "level", "estimates"),
    *("error_reason", "scale", "unclamped", "raw", "raw_error", "raw_low", "raw_high", "ceiling", "seconds"),
    *("model", "benchmark", "created", "document"),
)
"""Fields of `Score` in the order in which `insert_scores` takes them; `model` and `benchmark` are primary keys."""


def insert_scores(rows: Iterable[tuple[Any, ...]]) -> None:
    """Insert scores; those whose receipt is there already are passed over.

    Parameters
    ----------
    rows : iterable of tuple
        Values of `COLUMNS`, with times in UTC and documents as plain JSON types or None.
    """
    # several times as fast as bulk_create, which makes an object of each row; SQLite and PostgreSQL both know this SQL
    quote = connection.ops.quote_name
    columns = ", ".join(quote(Score._meta.get_field(name).column) for name in COLUMNS)
    places = f"({', '.join(['%s'] * len(COLUMNS))})"
    start = f"INSERT INTO {quote(Score._meta.db_table)} ({columns}) VALUES "  # noqa: S608
    end = " ON CONFLICT (receipt) DO NOTHING"
    values = [(*row[:-2], _moment(row[-2]), _document(row[-1])) for row in rows]
    with connection.cursor() as cursor:
        if connection.vendor == "sqlite":
            cursor.executemany(start + places + end, values)
            return
        for first in range(0, len(values), _AT_ONCE):  # a statement a row would be parsed and planned for each
            some = values[first : first + _AT_ONCE]
            cursor.execute(start + ", ".join([places] * len(some)) + end, list(chain.from_iterable(some)))


def _moment(value: datetime) -> Any:
    return connection.ops.adapt_datetimefield_value(value)


def _document(value: Any) -> Any:
    return None if value is None else Score._meta.get_field("document").get_db_prep_save(value, connection)
