"""What differs between the files of two revisions, and where a line of the one is in the other."""

from __future__ import annotations

import difflib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from brainscore_web.submissions.models import Plugin, PluginKind, Revision
from brainscore_web.submissions.texts import FileText, texts_of

__all__ = ["Change", "Row", "before", "changes", "live_files", "same_place"]

_LONGEST = 2_000  # lines of a file that are compared: what is made for it takes a second
_ALTOGETHER = 10_000  # and of all files, before and after
_SEARCHED = 400  # lines that differ, among which a line is looked for: there may be a comment on each file
_AROUND = 3
_SHOWN = 1_500


@dataclass(frozen=True)
class Row:
    """A line of a comparison, with its numbers in both files: ``kind`` is same, added, removed, or gap."""

    kind: str
    old: int | None
    new: int | None
    text: str


@dataclass(frozen=True)
class Change:
    """What became of a file: ``state`` is added, removed, or changed.

    Attributes
    ----------
    rows : tuple of Row
        Its lines, with a few around those that differ.
    note : str
        Why lines are missing; empty if none are.
    added, removed : int
        How many lines, also those that are not shown.
    """

    path: str
    state: str
    rows: tuple[Row, ...] = ()
    note: str = ""
    added: int = 0
    removed: int = 0


def before(revision: Revision) -> Revision | None:
    """The revision before this one."""
    return revision.submission.revisions.filter(number__lt=revision.number).order_by("-number").first()


def live_files(revision: Revision) -> dict[str, FileText]:
    """Files of those of its plugins that are live already, from another submission."""
    named = {(one["kind"], one["name"]) for one in revision.plugins}
    rows = Plugin.objects.filter(kind__in={kind for kind, _ in named}, name__in={name for _, name in named})
    rows = rows.exclude(revision__submission=revision.submission_id).select_related("revision").order_by("kind", "name")
    found: dict[str, FileText] = {}
    for plugin in rows:
        foreign = plugin.kind == PluginKind.MODELS and plugin.owner_id != revision.submission.owner_id  # maybe private
        if (plugin.kind, plugin.name) in named and not foreign:
            folder = f"{plugin.kind}/{plugin.name}/"
            found |= {path: file for path, file in texts_of(plugin.revision).items() if path.startswith(folder)}
    return found


def changes(old: Mapping[str, FileText], new: Mapping[str, FileText]) -> list[Change]:
    """Compare files by path, without those that are alike. Beyond very many lines files are only said to differ."""
    found, left = [], _ALTOGETHER
    for path in sorted({*old, *new}):
        one, other = old.get(path), new.get(path)
        if one is None or other is None:
            file = one or other
            kind = "removed" if other is None else "added"
            assert file is not None  # it is in one of them
            rows = [_row(kind, number, line) for number, line in enumerate(file.lines, 1)]
            found.append(_change(path, kind, rows, file.note if rows or file.note else "empty"))
        elif (one.lines, one.size, one.checksum) != (other.lines, other.size, other.checksum):
            change = _compared(path, one, other, left)
            left -= len(one.lines) + len(other.lines) if change.rows else 0
            found.append(change)
    return found


def same_place(old: Sequence[str], new: Sequence[str], line: int) -> int | None:
    """Find a line again: where the text around it went, else the nearest line of the same text.

    Parameters
    ----------
    old, new : sequence of str
        Lines of a file then, and now.
    line : int
        Which of the old ones, from 1.

    Returns
    -------
    int or None
        Its number now; None if its text is gone.

    Examples
    --------
    >>> same_place(["a", "b"], ["new", "a", "b"], 2)
    3
    """
    if not 1 <= line <= len(old):
        return None
    text = old[line - 1]
    if max(len(old), len(new)) <= _LONGEST:
        for start, there, length in _blocks(old, new):
            if start <= line - 1 < start + length:
                return there + line - start
    if not text.strip():
        return None  # empty lines are everywhere
    places = [number for number, one in enumerate(new, 1) if one == text]
    return min(places, key=lambda number: abs(number - line), default=None)


def _blocks(old: Sequence[str], new: Sequence[str]) -> Iterator[tuple[int, int, int]]:
    """Where lines are alike: from which line on in the one and in the other, and how many."""
    shorter = min(len(old), len(new))
    begin = next((k for k in range(shorter) if old[k] != new[k]), shorter)
    end = next((k for k in range(shorter - begin) if old[-1 - k] != new[-1 - k]), shorter - begin)
    yield 0, 0, begin
    yield len(old) - end, len(new) - end, end
    one, other = old[begin : len(old) - end], new[begin : len(new) - end]
    if max(len(one), len(other)) <= _SEARCHED:
        for start, there, length in difflib.SequenceMatcher(None, one, other).get_matching_blocks():
            yield begin + start, begin + there, length


def _compared(path: str, old: FileText, new: FileText, left: int) -> Change:
    if old.lines == new.lines:
        return Change(path, "changed", note=new.note or "only ends of lines or what is not shown differ")
    if max(len(old.lines), len(new.lines)) > _LONGEST:
        return Change(path, "changed", note=f"more than {_LONGEST:,} lines: too long to be compared here")
    if len(old.lines) + len(new.lines) > left:
        return Change(path, "changed", note="not compared here: too much has changed")
    rows: list[Row] = []
    matcher = difflib.SequenceMatcher(None, old.lines, new.lines)
    for group in matcher.get_grouped_opcodes(_AROUND):
        if rows or group[0][1] > 0:
            rows.append(Row("gap", None, None, ""))
        for kind, i1, i2, j1, j2 in group:
            if kind == "equal":
                rows += [Row("same", i1 + k + 1, j1 + k + 1, old.lines[i1 + k]) for k in range(i2 - i1)]
                continue
            rows += [_row("removed", i + 1, old.lines[i]) for i in range(i1, i2)]
            rows += [_row("added", j + 1, new.lines[j]) for j in range(j1, j2)]
    return _change(path, "changed", rows, new.note)


def _change(path: str, state: str, rows: Sequence[Row], note: str) -> Change:
    """All that is told of a file, of whose lines not too many are shown."""
    if len(rows) > _SHOWN:
        note = f"{len(rows) - _SHOWN:,} more lines are not shown"
    added, removed = (sum(row.kind == kind for row in rows) for kind in ("added", "removed"))
    return Change(path, state, tuple(rows[:_SHOWN]), note, added, removed)


def _row(kind: str, number: int, text: str) -> Row:
    return Row(kind, number if kind == "removed" else None, number if kind == "added" else None, text)
