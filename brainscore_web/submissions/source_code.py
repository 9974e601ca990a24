"""Source files of a revision: decoded as text, highlighted, and compared with another revision.

Highlighting and comparison run in processes with limits on time and memory, because some regular expressions of
Pygments take minutes on hostile input, and a comparison takes time that grows with the square of the number of lines. A
file that is not finished in time is shown as plain text, or without its changes.
"""

from __future__ import annotations

import hashlib
import io
import json
import logging
import subprocess
import sys
import threading
import unicodedata
import zipfile
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from django.core.cache import caches
from django.utils.html import escape
from django.utils.safestring import SafeString, mark_safe

from brainscore_web.accounts.models import owns
from brainscore_web.submissions.models import Plugin, PluginKind, Revision

_LARGEST = 2_000_000
_LONGEST_LINE = 1_000
MAX_CONTENT = 200_000
"""Bytes of a file that are read for display and for the checklist; the archive has the whole file."""
_LEFT_OUT = "not shown here; see the archive"


@dataclass(frozen=True)
class FileText:
    """A file of a revision, with its lines if it is text."""

    path: str  # its path in the archive, such as ``'benchmarks/mine/__init__.py'``
    size: int  # its size in bytes
    lines: tuple[str, ...] = ()  # its lines with invisible characters escaped; empty if it is not text
    note: str = ""  # why lines are missing; empty if none are missing
    source: str = field(default="", repr=False)  # its unchanged text, for parsers; empty if it was truncated
    checksum: int = 0  # CRC-32 of the whole file; 0 if it is not from an archive


def texts_of(revision: Revision, folder: str = "") -> Mapping[str, FileText]:
    """Return the files of a revision by path, or those of one folder; none if its archive cannot be read."""
    texts: dict[str, FileText] = {}
    budget = _LARGEST
    try:
        with zipfile.ZipFile(io.BytesIO(bytes(revision.archive))) as packed:
            for info in sorted(packed.infolist(), key=lambda info: info.filename):
                if info.is_dir() or not info.filename.startswith(folder):
                    continue
                if budget <= 0:
                    texts[info.filename] = FileText(info.filename, info.file_size, note=_LEFT_OUT, checksum=info.CRC)
                    continue
                with packed.open(info) as file:
                    content = file.read(MAX_CONTENT + 4)
                budget -= len(content)
                texts[info.filename] = replace(decoded(info.filename, content, info.file_size), checksum=info.CRC)
    except (zipfile.BadZipFile, zlib.error, OSError, NotImplementedError, RuntimeError, EOFError):
        return texts  # this site did not write the archive; show what could be read
    return texts


def decoded(path: str, content: bytes, size: int | None = None) -> FileText:
    r"""Decode the beginning of a file into lines.

    Examples
    --------
    >>> decoded("a.py", b"x = 1\r\ny = '\xe2\x80\xae'\n").lines
    ('x = 1', "y = '⟨U+202E⟩'")
    """
    size = len(content) if size is None else size
    cut = size > MAX_CONTENT
    content = content[:MAX_CONTENT]
    if b"\0" in content:
        return FileText(path, size, note="not a text file")
    try:
        text = content.decode("utf-8", errors="strict" if not cut else "ignore")
    except UnicodeDecodeError:
        return FileText(path, size, note="not a text file in UTF-8")
    lines = text.replace("\r\n", "\n").replace("\r", "\n").split("\n")
    if lines and not lines[-1]:
        lines.pop()
    note = f"only the beginning of its {size:,} bytes is shown; see the archive for the whole file" if cut else ""
    return FileText(path, size, tuple(escape_invisible(line) for line in lines), note, "" if cut else text)


def escape_invisible(text: str) -> str:
    """Replace invisible and direction-changing characters by their code points; truncate long lines."""
    if len(text) > _LONGEST_LINE:
        text = f"{text[:_LONGEST_LINE]} … ({len(text) - _LONGEST_LINE:,} more characters)"
    if text.isprintable():
        return text
    return "".join(
        c if c == "\t" or unicodedata.category(c)[0] not in "CZ" or c == " " else f"⟨U+{ord(c):04X}⟩" for c in text
    )


_LOG = logging.getLogger(__name__)
_LANGUAGES = {".py": "python", ".json": "json", ".yml": "yaml", ".yaml": "yaml", ".toml": "toml", ".md": "markdown"}
_MAX_HIGHLIGHTED = 60_000  # characters of a file; longer files stay plain
_HIGHLIGHT_SECONDS = 1  # of CPU time, for all uncached files of a page
_PROCESS_TIMEOUT = 2.5  # seconds until the page is shown without highlighting or changes
_SLOT_SECONDS = 0.5  # until it is shown without them because another page's process runs
_UNFINISHED = "unfinished"
_PROCESS = Path(__file__).with_name("text_process.py")
_slot = threading.Lock()  # of this server process, so that its other threads answer requests meanwhile


def highlighted(files: Mapping[str, Sequence[str]]) -> dict[str, list[SafeString]]:
    """Highlight the lines of files."""
    texts = {path: "\n".join(lines) for path, lines in files.items()}
    languages = {path: language for path in files if (language := _LANGUAGES.get(Path(path).suffix.lower()))}
    items = {path: [languages[path], texts[path]] for path in languages if len(texts[path]) <= _MAX_HIGHLIGHTED}
    results = _results("highlight", items, seconds=_HIGHLIGHT_SECONDS)
    return {path: _html_lines(lines, results.get(path)) for path, lines in files.items()}


def _html_lines(lines: Sequence[str], result: list[str] | None) -> list[SafeString]:
    if result is not None and len(result) == len(lines):  # a lexer may know more line ends than we do
        return [mark_safe(line) for line in result]  # noqa: S308 # Pygments escapes
    return [SafeString(escape(line)) for line in lines]


def _results(action: str, items: Mapping[str, Sequence[Any]], *, seconds: int) -> dict[str, Any]:
    """Return the results of an action of the process by key, from the cache if possible.

    Items that it does not finish are missing; the first of them, which took too long, is not tried again.
    """
    texts = {key: json.dumps([action, *values]).encode() for key, values in items.items()}
    names = {key: hashlib.sha256(text).hexdigest() for key, text in texts.items()}
    cache = caches["highlighting"]
    results: dict[str, Any] = cache.get_many(set(names.values()))
    missing = {names[key]: values for key, values in items.items() if names[key] not in results}
    if missing and (answers := _run_process(action, missing, seconds=seconds)) is not None:
        culprit = next((name for name in missing if name not in answers), None)
        if culprit is not None:
            answers[culprit] = _UNFINISHED
            _LOG.info("a file is shown without highlighting or changes: %s takes too long", action)
        cache.set_many(answers)
        results |= answers
    return {key: results[name] for key, name in names.items() if results.get(name, _UNFINISHED) != _UNFINISHED}


def _run_process(action: str, items: Mapping[str, Sequence[Any]], *, seconds: int) -> dict[str, Any] | None:
    """Send ``[key, *item]`` line by line to the process; return its answers until the first unfinished one.

    None if it runs for another page.
    """
    request = "".join(json.dumps([key, *item]) + "\n" for key, item in items.items())
    if not _slot.acquire(timeout=_SLOT_SECONDS):
        return None
    try:
        output = subprocess.run(  # noqa: S603 # our own file
            [sys.executable, "-I", str(_PROCESS), action, str(seconds)],
            input=request.encode(),
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            timeout=_PROCESS_TIMEOUT,
        ).stdout
    except subprocess.TimeoutExpired as error:
        output = error.stdout or b""
    finally:
        _slot.release()
    lines = output.splitlines(keepends=True)
    return dict(json.loads(line) for line in lines if line.endswith(b"\n"))  # the process may end within a line


_COMPARISON_SECONDS = 1  # of CPU time, for all files of a page
_MAX_COMPARED_LINES = 2_000  # largest number of lines of a compared file, which takes up to a second
_MAX_COMPARED_TOTAL = 10_000  # largest number of lines of all compared files, old and new
_MAX_SHOWN_ROWS = 1_500


@dataclass(frozen=True)
class DiffRow:
    """A row of a comparison, with its line numbers in both files: ``kind`` is same, added, removed, or gap."""

    kind: str
    old: int | None
    new: int | None
    text: str


@dataclass(frozen=True)
class FileDiff:
    """The changes of a file: ``state`` is added, removed, or changed."""

    path: str
    state: str
    rows: tuple[DiffRow, ...] = ()  # the lines that differ, with a few around them
    note: str = ""  # why lines are missing; empty if none are missing
    # added, removed: numbers of lines, including those that are not shown
    added: int = 0
    removed: int = 0


def previous_revision(revision: Revision) -> Revision | None:
    """The revision before this one."""
    return revision.submission.revisions.filter(number__lt=revision.number).order_by("-number").first()


def live_files(revision: Revision) -> dict[str, FileText]:
    """Return the live files of its plugins that come from another submission."""
    named = {(plugin["kind"], plugin["name"]) for plugin in revision.plugins}
    rows = Plugin.objects.filter(kind__in={kind for kind, _ in named}, name__in={name for _, name in named})
    rows = rows.exclude(revision__submission=revision.submission_id).select_related("revision").order_by("kind", "name")
    files: dict[str, FileText] = {}
    for plugin in rows:
        foreign = plugin.kind == PluginKind.MODELS and not owns(revision.by, plugin)  # may be private
        if (plugin.kind, plugin.name) in named and not foreign:
            files |= texts_of(plugin.revision, f"{plugin.kind}/{plugin.name}/")
    return files


def file_diffs(old: Mapping[str, FileText], new: Mapping[str, FileText]) -> list[FileDiff]:
    """Compare files by path and return those that differ; very long files are not compared line by line."""
    diffs: dict[str, FileDiff] = {}
    compared: dict[str, tuple[FileText, FileText]] = {}
    remaining = _MAX_COMPARED_TOTAL
    for path in sorted({*old, *new}):
        before, after = old.get(path), new.get(path)
        if before is None or after is None:
            file = before or after
            kind = "removed" if after is None else "added"
            assert file is not None  # it is in one of them
            rows = [_row(kind, number, line) for number, line in enumerate(file.lines, 1)]
            diffs[path] = _change(path, kind, rows, file.note if rows or file.note else "empty")
        elif (before.lines, before.size, before.checksum) != (after.lines, after.size, after.checksum):
            diffs[path] = FileDiff(path, "changed", note=_reason_not_compared(before, after, remaining))
            if not diffs[path].note:
                compared[path] = (before, after)
                remaining -= len(before.lines) + len(after.lines)
    results = _comparisons({path: (before.lines, after.lines) for path, (before, after) in compared.items()})
    for path, (before, after) in compared.items():
        if path in results:
            diffs[path] = _compared(path, before, after, results[path][1])
        else:
            diffs[path] = FileDiff(path, "changed", note="not compared here, since it takes too long")
    return [diffs[path] for path in sorted(diffs)]


_Lines = Sequence[str]


def _comparisons(pairs: Mapping[str, tuple[_Lines, _Lines]]) -> dict[str, tuple[list[Any], list[Any]]]:
    """Compare texts: blocks of equal lines, and groups of changes; pairs that take too long are missing."""
    return _results("compare", pairs, seconds=_COMPARISON_SECONDS) if pairs else {}


def relocated_lines(places: Sequence[tuple[_Lines, _Lines, int]]) -> list[int | None]:
    """Find lines in changed files: by the unchanged text around them, else the nearest line with the same text.

    Examples
    --------
    >>> relocated_lines([(["a", "b"], ["new", "a", "b"], 2)])
    [3]
    """
    keys = [f"{id(old)} {id(new)}" for old, new, _ in places]
    pairs = {key: (old, new) for key, (old, new, _) in zip(keys, places, strict=True)}
    short = {key: pair for key, pair in pairs.items() if max(map(len, pair)) <= _MAX_COMPARED_LINES}
    results = _comparisons(short)
    return [
        _relocated_line(old, new, line, results[key][0] if key in results else [])
        for key, (old, new, line) in zip(keys, places, strict=True)
    ]


def _relocated_line(old: _Lines, new: _Lines, line: int, blocks: Sequence[tuple[int, int, int]]) -> int | None:
    for start, there, length in blocks:
        if start <= line - 1 < start + length:
            return there + line - start
    text = old[line - 1] if 1 <= line <= len(old) else ""
    if not text.strip():
        return None  # empty lines are everywhere
    numbers = [number for number, candidate in enumerate(new, 1) if candidate == text]
    return min(numbers, key=lambda number: abs(number - line), default=None)


def _reason_not_compared(old: FileText, new: FileText, remaining: int) -> str:
    if old.lines == new.lines:
        return new.note or "only line ends or hidden parts differ"
    if max(len(old.lines), len(new.lines)) > _MAX_COMPARED_LINES:
        return f"more than {_MAX_COMPARED_LINES:,} lines, too long to be compared here"
    if len(old.lines) + len(new.lines) > remaining:
        return "not compared here, since too many files have changed"
    return ""


def _compared(path: str, old: FileText, new: FileText, groups: Sequence[Any]) -> FileDiff:
    rows: list[DiffRow] = []
    for group in groups:
        if rows or group[0][1] > 0:
            rows.append(DiffRow("gap", None, None, ""))
        for kind, i1, i2, j1, j2 in group:
            if kind == "equal":
                rows += [DiffRow("same", i1 + k + 1, j1 + k + 1, old.lines[i1 + k]) for k in range(i2 - i1)]
                continue
            rows += [_row("removed", i + 1, old.lines[i]) for i in range(i1, i2)]
            rows += [_row("added", j + 1, new.lines[j]) for j in range(j1, j2)]
    return _change(path, "changed", rows, new.note)


def _change(path: str, state: str, rows: Sequence[DiffRow], note: str) -> FileDiff:
    """Build the diff of a file, with at most `_MAX_SHOWN_ROWS` rows."""
    if len(rows) > _MAX_SHOWN_ROWS:
        note = f"{len(rows) - _MAX_SHOWN_ROWS:,} more lines are not shown"
    added, removed = (sum(row.kind == kind for row in rows) for kind in ("added", "removed"))
    return FileDiff(path, state, tuple(rows[:_MAX_SHOWN_ROWS]), note, added, removed)


def _row(kind: str, number: int, text: str) -> DiffRow:
    return DiffRow(kind, number if kind == "removed" else None, number if kind == "added" else None, text)
