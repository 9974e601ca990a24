"""Files of a plugin's folder: tables, whose first column holds identifiers, and citations."""

from __future__ import annotations

import csv
import io
from pathlib import Path

from brainscore_core.errors import UnknownIdentifier, UserError, nearest

MAX_BYTES = 1_000_000
"""Largest table that is read."""


def parse_table(content: bytes) -> list[dict[str, str]]:
    r"""Parse a table: a line of column names, then one row a line.

    The table is CSV in UTF-8; empty lines are ignored. Raises ValueError if the table is too large, not UTF-8, has no
    columns, a row has other cells than columns, or an identifier is missing or repeated.

    Examples
    --------
    >>> parse_table(b"identifier,region\nMine2026.V1-pls,V1\n")
    [{'identifier': 'Mine2026.V1-pls', 'region': 'V1'}]
    """
    if len(content) > MAX_BYTES:
        raise ValueError(f"it has {len(content):,} bytes, more than {MAX_BYTES:,}")
    lines = [line for line in csv.reader(io.StringIO(content.decode("utf-8"), newline="")) if line]
    if not lines or len(set(lines[0])) < len(lines[0]) or not all(lines[0]):
        raise ValueError("its first line does not name different columns")
    columns, rows, identifiers = lines[0], [], set()
    for number, line in enumerate(lines[1:], start=2):
        if len(line) != len(columns):
            raise ValueError(f"row {number} has {len(line)} cells for {len(columns)} columns")
        if not line[0] or line[0] in identifiers:
            raise ValueError(f"row {number} has the identifier {line[0]!r}, which is empty or repeated")
        identifiers.add(line[0])
        rows.append(dict(zip(columns, line, strict=True)))
    return rows


def read_table(plugin_file: str, name: str) -> list[dict[str, str]]:
    """Read a table next to a plugin's file.

    `plugin_file` is a file of the plugin's folder: its ``__file__``. Raises UserError if the table cannot be read;
    names the file and what is wrong.
    """
    file = Path(plugin_file).parent / name
    try:
        return parse_table(file.read_bytes())
    except (OSError, ValueError, csv.Error) as error:
        raise UserError(
            f"the table {file} cannot be read: {error}",
            remedy="it is a CSV file in UTF-8 whose first line names the columns, and whose first column identifies "
            "the rows",
        ) from error


def table_keys(plugin_file: str, name: str) -> list[str]:
    """Identifiers in the first column of a plugin's table, to register one factory a row.

    The static index understands ``for key in table_keys(__file__, "benchmarks.csv")`` with the name of a file in the
    plugin's folder: such registrations are listed without importing the plugin.

    `plugin_file`: ``__file__`` of the plugin. `name`: file name of the table. Returns: in the order of the table.
    """
    return [next(iter(row.values())) for row in read_table(plugin_file, name)]


def table_row(plugin_file: str, name: str, key: str) -> dict[str, str]:
    """The row of a plugin's table with an identifier.

    Raises UnknownIdentifier if no row has the identifier; the message lists the nearest ones.
    """
    rows = {next(iter(row.values())): row for row in read_table(plugin_file, name)}
    if key not in rows:
        raise UnknownIdentifier(
            f"the table {Path(plugin_file).parent / name} has no row {key!r}",
            remedy=f"its nearest rows: {', '.join(nearest(key, list(rows), limit=3)) or 'none'}",
        )
    return rows[key]


CITATION = "citation.bib"
"""File of the BibTeX entries of a plugin."""


def read_citation(plugin_file: str | Path) -> str:
    """The BibTeX entries in ``citation.bib`` next to a plugin's file (its ``__file__``)."""
    return Path(plugin_file).with_name(CITATION).read_text(encoding="utf-8").strip()


def citations_by_key(bibtex: str) -> dict[str, str]:
    r"""BibTeX entries that are separated by empty lines, by their keys.

    Examples
    --------
    >>> citations_by_key("@misc{a2020, year = 2020}\n\n@misc{b2021, year = 2021}")["b2021"]
    '@misc{b2021, year = 2021}'
    """
    entries = (entry.strip() for entry in bibtex.split("\n\n"))
    return {entry.partition("{")[2].partition(",")[0]: entry for entry in entries}
