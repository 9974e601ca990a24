"""Output of commands: tables, JSON, and differences between receipts."""

from __future__ import annotations

import json
import math
import sys
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from brainscore_core.scoring import Change, Difference, NumberDifference

__all__ = [
    "as_json",
    "change_lines",
    "difference_lines",
    "echo_columns",
    "echo_json",
    "echo_lines",
    "echo_pairs",
    "echo_table",
    "printable",
]


def as_json(value: Any) -> Any:
    """Turn a value into plain JSON types: NaN and infinities into null, arrays into lists.

    Parameters
    ----------
    value
        Numbers, strings, paths, NumPy and xarray objects, and mappings and sequences of these.

    Returns
    -------
    object
        Only dict, list, str, int, float, bool and None.
    """
    if value is None or isinstance(value, bool | int | str):
        return value
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, Mapping):
        return {str(key): as_json(item) for key, item in value.items()}
    if isinstance(value, list | tuple | set | frozenset):
        return [as_json(item) for item in value]
    if hasattr(value, "tolist"):  # NumPy
        return as_json(value.tolist())
    if hasattr(value, "values") and not callable(value.values):  # xarray
        return as_json(value.values)
    return str(value)


def printable(text: str) -> str:
    """Replace characters in a text from a site that could control the terminal."""
    return "".join(character if character.isprintable() else "�" for character in text)


def echo_json(value: Any) -> None:
    """Print one JSON document."""
    click.echo(json.dumps(as_json(value), indent=2, ensure_ascii=False, allow_nan=False))


def echo_columns(columns: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """Print a table in a terminal, and tab-separated columns elsewhere."""
    if not sys.stdout.isatty():
        for row in (columns, *rows):
            click.echo("\t".join(row))
        return
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    table = Table(box=None, pad_edge=False, header_style="bold")
    for column in columns:
        table.add_column(Text(column), overflow="fold")
    for row in rows:
        table.add_row(*(Text(cell) for cell in row))
    Console().print(table)


def echo_pairs(pairs: Iterable[tuple[str, str]]) -> None:
    """Print names and texts in two columns; further lines of a text are indented."""
    rows = list(pairs)
    width = max((len(name) for name, _ in rows), default=0)
    for name, text in rows:
        first, *rest = text.splitlines() or [""]
        click.echo(f"{click.style(name.ljust(width), bold=True)}  {first}".rstrip())
        for line in rest:
            click.echo(f"{' ' * width}  {line}".rstrip())


def echo_table(columns: Sequence[str], rows: Iterable[Sequence[str]]) -> None:
    """Print a table in a terminal, and only the first column elsewhere, one row per line, for other programs."""
    if not sys.stdout.isatty():
        for row in rows:
            click.echo(row[0])
        return
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    table = Table(box=None, pad_edge=False, header_style="bold")
    for number, column in enumerate(columns):
        table.add_column(column, overflow="fold", no_wrap=number == 0)
    for row in rows:
        table.add_row(*(Text(cell) for cell in row))
    Console().print(table)


_MAX_CHANGES = 12  # of one part


def difference_lines(difference: Difference) -> Iterable[str]:
    """Format the differences between two receipts: numbers, arrays, other changes, and the explanation."""
    if difference.numbers:
        rows = [
            (n.name, _number_text(n.a), _number_text(n.b), _distance_text(n.apart), _verdict_text(n))
            for n in difference.numbers
        ]
        yield from _aligned([("", "first", "second", "difference", ""), *rows])
        yield ""
    if difference.arrays:
        yield from (str(array) for array in difference.arrays)
        yield ""
    if difference.changes:
        yield from change_lines(difference.changes)
        yield ""
    yield difference.explanation


def change_lines(changes: Sequence[Change]) -> Iterable[str]:
    """Format changes as a table, grouped by the part of the receipt that changed."""
    by_part: dict[str, list[str]] = {}
    for change in changes:
        by_part.setdefault(change.part, []).append(str(change))
    rows = []
    for part, texts in by_part.items():
        shown = (
            texts if len(texts) <= _MAX_CHANGES else [*texts[:_MAX_CHANGES], f"… and {len(texts) - _MAX_CHANGES} more"]
        )
        rows += [("" if index else part, text) for index, text in enumerate(shown)]
    return _aligned(rows)


def echo_lines(lines: Iterable[str]) -> None:
    """Print lines."""
    for line in lines:
        click.echo(line)


def _aligned(rows: Sequence[Sequence[str]]) -> Iterable[str]:
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    for row in rows:
        yield "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()


def _number_text(value: float | None) -> str:
    return "–" if value is None else f"{value:.9g}"


def _distance_text(distance: float | None) -> str:
    return f"{distance:.2g}" if distance else ""


def _verdict_text(number: NumberDifference) -> str:
    if number.verdict == "same" or number.allowed is None:
        return number.verdict
    return f"{number.verdict} ({number.allowed:.2g} allowed)"
