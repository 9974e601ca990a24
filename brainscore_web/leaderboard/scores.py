"""Inserts many scores at once."""

from __future__ import annotations

import json
from collections.abc import Iterable
from itertools import islice
from typing import Any

from django.db import connection

from brainscore_web.leaderboard.models import Score

__all__ = ["COLUMNS", "insert_scores"]

_AT_ONCE = 5000
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
    # both are many times as fast as bulk_create, which makes an object of each row
    if connection.vendor == "postgresql":
        _insert_as_json(rows)
    else:
        _insert_one_by_one(rows)


def _insert_one_by_one(rows: Iterable[tuple[Any, ...]]) -> None:
    table, columns = _names()
    moment, document = connection.ops.adapt_datetimefield_value, Score._meta.get_field("document").get_db_prep_save
    places = ", ".join(["%s"] * len(COLUMNS))
    with connection.cursor() as cursor:
        cursor.executemany(
            f"INSERT INTO {table} ({columns}) VALUES ({places}) ON CONFLICT (receipt) DO NOTHING",  # noqa: S608 # names of tables and columns are the site's own
            [(*row[:-2], moment(row[-2]), document(row[-1], connection)) for row in rows],
        )


def _insert_as_json(rows: Iterable[tuple[Any, ...]]) -> None:
    """Insert all with one statement, whose only parameter is JSON: rows of their own would be parsed one by one."""
    table, columns = _names()
    names = [Score._meta.get_field(name).column for name in COLUMNS]
    rest = iter(rows)
    with connection.cursor() as cursor:
        while part := list(islice(rest, _AT_ONCE)):
            content = [dict(zip(names, (*row[:-2], row[-2].isoformat(), row[-1]), strict=True)) for row in part]
            cursor.execute(
                f"INSERT INTO {table} ({columns}) "  # noqa: S608 # names of tables and columns are the site's own
                f"SELECT {columns} FROM json_populate_recordset(NULL::{table}, %s) ON CONFLICT (receipt) DO NOTHING",
                [json.dumps(content, allow_nan=False)],
            )


def _names() -> tuple[str, str]:
    """Table and columns, quoted."""
    quote = connection.ops.quote_name
    columns = ", ".join(quote(Score._meta.get_field(name).column) for name in COLUMNS)
    return quote(Score._meta.db_table), columns
