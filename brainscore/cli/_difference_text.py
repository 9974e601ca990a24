"""A difference of two receipts, for terminals."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from brainscore_core.scoring import Change, Difference, NumberDifference

__all__ = ["change_lines", "difference_lines", "echo_rows"]

_MOST = 12


def difference_lines(found: Difference) -> Iterable[str]:
    """Tables of numbers and parts, and what they mean."""
    if found.numbers:
        rows = [(n.name, _value(n.a), _value(n.b), _apart(n.apart), _verdict(n)) for n in found.numbers]
        yield from _aligned([("", "first", "second", "apart", ""), *rows])
        yield ""
    if found.arrays:
        yield from (str(array) for array in found.arrays)
        yield ""
    if found.changes:
        yield from change_lines(found.changes)
        yield ""
    yield found.explanation


def change_lines(changes: Sequence[Change]) -> Iterable[str]:
    """What differs, part by part."""
    by_part: dict[str, list[str]] = {}
    for change in changes:
        by_part.setdefault(change.part, []).append(str(change))
    rows = []
    for part, texts in by_part.items():
        shown = texts if len(texts) <= _MOST else [*texts[:_MOST], f"… and {len(texts) - _MOST} more"]
        rows += [(part if not number else "", text) for number, text in enumerate(shown)]
    return _aligned(rows)


def echo_rows(lines: Iterable[str]) -> None:
    """Print lines."""
    for line in lines:
        click.echo(line)


def _aligned(rows: Sequence[Sequence[str]]) -> Iterable[str]:
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    for row in rows:
        yield "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()


def _value(value: float | None) -> str:
    return "–" if value is None else f"{value:.9g}"


def _apart(apart: float | None) -> str:
    return "" if not apart else f"{apart:.2g}"


def _verdict(number: NumberDifference) -> str:
    if number.verdict == "same" or number.allowed is None:
        return number.verdict
    return f"{number.verdict} ({number.allowed:.2g} allowed)"
