"""Automatic updates of rows that keep the values that people have edited."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar

from brainscore_web.leaderboard.models import Benchmark, BenchmarkVersion, VisionModel

__all__ = ["fill_in"]

Row = TypeVar("Row", VisionModel, Benchmark, BenchmarkVersion)


def fill_in(row: Row, values: Mapping[str, Any]) -> list[str]:
    """Set attributes that have not been edited; the row is not saved.

    Parameters
    ----------
    row : VisionModel, Benchmark or BenchmarkVersion
        A new or an existing row.
    values : mapping of str to object
        Plain JSON values by attribute. None and empty values are ignored.

    Returns
    -------
    list of str
        Names of changed attributes, including ``'synced'``.
    """
    written = dict(row.synced)
    changed = []
    for name, value in values.items():
        if value is None or value == "" or value == {}:
            continue
        before = getattr(row, name)
        if name in written:
            edited = before != written[name]
        else:
            edited = row.pk is not None and before not in (None, "", {}, row._meta.get_field(name).get_default())
        if edited:
            continue
        if before != value:
            changed.append(name)
            setattr(row, name, value)
        written[name] = value
    if written != row.synced:
        row.synced = written
        changed.append("synced")
    return changed
