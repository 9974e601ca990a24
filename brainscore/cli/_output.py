"""Output of commands: tables, JSON, and differences between receipts."""

from __future__ import annotations

import json
import math
import os
import re
import sys
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import click

_CONTROL = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u00ad\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb\ud800-\udfff]"
    "|[\U000e0000-\U000e007f]"
)
_ESCAPE = f"\ufdd0{os.urandom(8).hex()}"  # stands for the escape character in styles, which no name can contain

if TYPE_CHECKING:
    from brainscore_core.scoring import Change, Difference, NumberDifference, Receipt, ResultsStore


def as_json(value: Any) -> Any:
    """Turn a value into plain JSON types: NaN and infinities into null, arrays into lists."""
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


def echo(message: object = "", *, err: bool = False, nl: bool = True) -> None:
    r"""Print a text without what could control the terminal, except for the styles of `style`.

    Names and messages come from sites, receipts and files of others. Every command prints with this function, and
    passes texts for tables of `rich` through `harmless_text`.

    Examples
    --------
    >>> echo("a\x1b]0;title\x07b")
    a�]0;title�b
    """
    pieces = str(message).split(_ESCAPE)
    click.echo("\x1b".join(map(harmless_text, pieces)), err=err, nl=nl)


def style(text: object, **styles: Any) -> str:
    """Style a text for `echo`, as `click.style` does."""
    return click.style(harmless_text(str(text)), **styles).replace("\x1b", _ESCAPE)


def harmless_text(text: str) -> str:
    """Replace control characters other than tabs and line breaks, and those that turn the direction of writing."""
    return _CONTROL.sub("�", text.replace("\r\n", "\n"))


def echo_json(value: Any) -> None:
    """Print one JSON document."""
    text = json.dumps(as_json(value), indent=2, ensure_ascii=False, allow_nan=False)
    echo(_CONTROL.sub(lambda match: json.dumps(match[0])[1:-1], text))


def echo_columns(columns: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """Print a table in a terminal, and tab-separated columns elsewhere."""
    if sys.stdout.isatty():
        _print_table(columns, rows)
        return
    for row in (columns, *rows):
        echo("\t".join(row))


def echo_pairs(pairs: Iterable[tuple[str, str]]) -> None:
    """Print names and texts in two columns; further lines of a text are indented."""
    rows = list(pairs)
    width = max((len(name) for name, _ in rows), default=0)
    for name, text in rows:
        first, *more_lines = text.splitlines() or [""]
        echo(f"{style(name.ljust(width), bold=True)}  {first}".rstrip())
        for line in more_lines:
            echo(f"{' ' * width}  {line}".rstrip())


def echo_table(columns: Sequence[str], rows: Iterable[Sequence[str]]) -> None:
    """Print a table in a terminal, and only the first column elsewhere, one row per line, for other programs."""
    if sys.stdout.isatty():
        _print_table(columns, rows, wrapped=False)
        return
    for row in rows:
        echo(row[0])


def _print_table(columns: Sequence[str], rows: Iterable[Sequence[str]], *, wrapped: bool = True) -> None:
    """Print a table; `wrapped` says whether the first column may be wrapped."""
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    table = Table(box=None, pad_edge=False, header_style="bold")
    for number, column in enumerate(columns):
        table.add_column(Text(harmless_text(column)), overflow="fold", no_wrap=number == 0 and not wrapped)
    for row in rows:
        table.add_row(*(Text(harmless_text(cell)) for cell in row))
    Console().print(table)


_MAX_CHANGES = 12  # of one part


def difference_lines(difference: Difference) -> Iterable[str]:
    """Format the differences between two receipts: numbers, arrays, other changes, and the explanation."""
    if difference.numbers:
        rows = [
            (n.name, _number_text(n.a), _number_text(n.b), f"{n.apart:.2g}" if n.apart else "", _verdict_text(n))
            for n in difference.numbers
        ]
        yield from aligned([("", "first", "second", "difference", ""), *rows])
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
    for section, texts in by_part.items():
        shown = (
            texts if len(texts) <= _MAX_CHANGES else [*texts[:_MAX_CHANGES], f"… and {len(texts) - _MAX_CHANGES} more"]
        )
        rows += [("" if index else section, text) for index, text in enumerate(shown)]
    return aligned(rows)


def echo_lines(lines: Iterable[str]) -> None:
    """Print lines."""
    for line in lines:
        echo(line)


def echo_methods(store: ResultsStore, receipt: Receipt) -> None:
    """Print the paragraph for a paper about a stored score."""
    from brainscore_core.runner.methods import methods_of
    from brainscore_core.runner.verification import stored_in

    echo(methods_of(stored_in(store, receipt)))


def aligned(rows: Sequence[Sequence[str]]) -> Iterable[str]:
    """Format rows as lines of aligned columns."""
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    for row in rows:
        yield "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()


def _number_text(value: float | None) -> str:
    return "–" if value is None else f"{value:.9g}"


def _verdict_text(number: NumberDifference) -> str:
    if number.verdict == "same" or number.allowed is None:
        return number.verdict
    return f"{number.verdict} ({number.allowed:.2g} allowed)"
