"""The files of revisions, and what differs between two."""

from __future__ import annotations

import difflib
import io
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from brainscore_web.submissions.models import Revision

__all__ = ["FileDifference", "Row", "differences", "files_of", "lines_of"]

_CONTEXT = 3
_LONGEST = 5_000  # lines of a file that are compared
_ALTOGETHER = 30_000  # and of all files


@dataclass(frozen=True)
class Row:
    """A line of a comparison: numbers in both files, whether it came or went, its text."""

    kind: Literal["same", "added", "removed", "gap"]
    before: int | None
    after: int | None
    text: str


@dataclass(frozen=True)
class FileDifference:
    """What differs in one file.

    Attributes
    ----------
    path : str
        Of the file.
    change : str
        ``'added'``, ``'removed'`` or ``'changed'``.
    rows : tuple of Row
        Its lines, with a few around those that differ.
    words : str
        Said instead, where they cannot be shown.
    added, removed : int
        How many lines.
    """

    path: str
    change: Literal["added", "removed", "changed"]
    rows: tuple[Row, ...]
    words: str
    added: int
    removed: int


def files_of(revision: Revision) -> dict[str, bytes]:
    """Path → content of a revision's files."""
    with zipfile.ZipFile(io.BytesIO(bytes(revision.archive))) as archive:
        return {member.filename: archive.read(member) for member in archive.infolist()}


def lines_of(content: bytes) -> list[str] | None:
    """A file's lines; None if it is no text."""
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError:
        return None
    return None if "\0" in text else text.replace("\r\n", "\n").replace("\r", "\n").removesuffix("\n").split("\n")


def differences(before: Revision, after: Revision) -> tuple[FileDifference, ...]:
    """Compare two revisions, file by file.

    Parameters
    ----------
    before, after : Revision
        The older and the newer one.
    """
    old, new = files_of(before), files_of(after)
    left = _ALTOGETHER
    found = []
    for path in sorted({*old, *new}):
        if old.get(path) == new.get(path):
            continue
        change: Literal["added", "removed", "changed"] = (
            "added" if path not in old else "removed" if path not in new else "changed"
        )
        one, other = lines_of(old.get(path, b"")), lines_of(new.get(path, b""))
        if one is None or other is None:
            found.append(FileDifference(path, change, (), "is no text", 0, 0))
            continue
        one, other = (one if path in old else []), (other if path in new else [])
        left -= len(one) + len(other)
        if left < 0 or max(len(one), len(other)) > _LONGEST:
            found.append(FileDifference(path, change, (), "is too long to be compared here", 0, 0))
            continue
        rows = tuple(_rows(one, other))
        counts = [sum(row.kind == kind for row in rows) for kind in ("added", "removed")]
        words = "" if counts[0] or counts[1] else "differs in line ends only" if change == "changed" else "is empty"
        found.append(FileDifference(path, change, rows, words, *counts))
    return tuple(found)


def _rows(old: list[str], new: list[str]) -> Iterator[Row]:
    first = True
    for group in difflib.SequenceMatcher(None, old, new).get_grouped_opcodes(_CONTEXT):
        if not first:
            yield Row("gap", None, None, "")
        first = False
        for tag, start, end, begin, stop in group:
            if tag == "equal":
                for number in range(end - start):
                    yield Row("same", start + number + 1, begin + number + 1, old[start + number])
                continue
            for number in range(start, end):
                yield Row("removed", number + 1, None, old[number])
            for number in range(begin, stop):
                yield Row("added", None, number + 1, new[number])
