"""Standings as files."""

from __future__ import annotations

import csv
import io
from typing import Any

from brainscore_web.leaderboard.clean import harmless

__all__ = ["csv_of"]

_COLUMNS = ("place", "standing", "team", "title", "identifier", "entered", "mean", "error", "n_counted", "prize", "why")


def csv_of(document: dict[str, Any]) -> str:
    """Write standings as CSV: a row an entry, with a column for each that any track lists.

    A text that a spreadsheet would take for a formula gets an apostrophe before it. Where there is no score its state
    stands.
    """
    listed = list(dict.fromkeys(name for track in document["tracks"] for name in track["listed"]))
    file = io.StringIO()
    writer = csv.writer(file, lineterminator="\n")
    writer.writerow(["track", *_COLUMNS, *map(harmless, listed)])
    for track in document["tracks"]:
        for row in track["rows"]:
            cells = {cell["name"]: cell for cell in row["cells"]}
            told = [row[name] if name != "why" else "; ".join(row["why"]) for name in _COLUMNS]
            scores = [
                ""
                if name not in cells
                else cells[name]["state"]
                if cells[name]["value"] is None
                else cells[name]["value"]
                for name in listed
            ]
            writer.writerow([_cell(one) for one in (track["title"], *told, *scores)])
    return file.getvalue()


def _cell(value: Any) -> Any:
    if value is None:
        return ""
    return harmless(value) if isinstance(value, str) else value
