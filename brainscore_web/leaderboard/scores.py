"""Inserts many scores at once."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime
from typing import Any

from django.db import connection

from brainscore_web.leaderboard.models import Score

__all__ = ["COLUMNS", "insert_scores"]

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
    places = ", ".join(["%s"] * len(COLUMNS))
    table = quote(Score._meta.db_table)
    with connection.cursor() as cursor:
        cursor.executemany(
            f"INSERT INTO {table} ({columns}) VALUES ({places}) ON CONFLICT (receipt) DO NOTHING",  # noqa: S608
            [(*row[:-2], _moment(row[-2]), _document(row[-1])) for row in rows],
        )


def _moment(value: datetime) -> Any:
    return connection.ops.adapt_datetimefield_value(value)


def _document(value: Any) -> Any:
    return None if value is None else Score._meta.get_field("document").get_db_prep_save(value, connection)
