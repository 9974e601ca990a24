"""Files of a revision as people may read them: bounded, nothing invisible, no bytes of other kinds."""

from __future__ import annotations

import io
import unicodedata
import zipfile
import zlib
from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from brainscore_web.submissions.models import Revision

__all__ = ["CONTENT", "FileText", "decoded", "texts_of", "visible"]

_LARGEST = 2_000_000
_LONGEST_LINE = 1_000
CONTENT = 200_000
"""Bytes of a file that are read for people and for the checklist; the archive has all of it."""
_LEFT_OUT = "not shown: the archive has it"


@dataclass(frozen=True)
class FileText:
    """A file, as text if it is one.

    Attributes
    ----------
    path : str
        In the archive, such as ``'benchmarks/mine/__init__.py'``.
    size : int
        In bytes.
    lines : tuple of str
        Its lines, without what nobody sees; empty for other files.
    note : str
        Why lines are missing; empty if none are.
    source : str
        Its text as it is, for parsers; empty where it was cut.
    checksum : int
        CRC-32 of all of it; 0 where it does not come from an archive.
    """

    path: str
    size: int
    lines: tuple[str, ...] = ()
    note: str = ""
    source: str = field(default="", repr=False)
    checksum: int = 0


def texts_of(revision: Revision) -> Mapping[str, FileText]:
    """Files of a revision by path; an archive that cannot be read has none."""
    found: dict[str, FileText] = {}
    budget = _LARGEST
    try:
        with zipfile.ZipFile(io.BytesIO(bytes(revision.archive))) as packed:
            for info in sorted(packed.infolist(), key=lambda one: one.filename):
                if info.is_dir():
                    continue
                if budget <= 0:
                    found[info.filename] = FileText(info.filename, info.file_size, note=_LEFT_OUT, checksum=info.CRC)
                    continue
                with packed.open(info) as file:
                    content = file.read(CONTENT + 4)
                budget -= len(content)
                found[info.filename] = replace(decoded(info.filename, content, info.file_size), checksum=info.CRC)
    except (zipfile.BadZipFile, zlib.error, OSError, NotImplementedError, RuntimeError, EOFError):
        return found  # nothing that this site wrote; what could be read is shown
    return found


def decoded(path: str, content: bytes, size: int | None = None) -> FileText:
    r"""Bring the beginning of a file to lines.

    Parameters
    ----------
    path : str
        Its name.
    content : bytes
        Its beginning, at most a little more than `CONTENT`.
    size : int, optional
        Of all of it; by default that of `content`.

    Examples
    --------
    >>> decoded("a.py", b"x = 1\r\ny = '\xe2\x80\xae'\n").lines
    ('x = 1', "y = '⟨U+202E⟩'")
    """
    size = len(content) if size is None else size
    cut = size > CONTENT
    content = content[:CONTENT]
    if b"\0" in content:
        return FileText(path, size, note="not a text")
    try:
        text = content.decode("utf-8", errors="strict" if not cut else "ignore")
    except UnicodeDecodeError:
        return FileText(path, size, note="not a text in UTF-8")
    lines = text.replace("\r\n", "\n").replace("\r", "\n").split("\n")
    if lines and not lines[-1]:
        lines.pop()
    note = f"only its beginning is shown: it has {size:,} bytes; the archive has all of it" if cut else ""
    return FileText(path, size, tuple(visible(line) for line in lines), note, "" if cut else text)


def visible(text: str) -> str:
    """Show what is invisible, or turns the direction of text, by its number; cut what is endless."""
    if len(text) > _LONGEST_LINE:
        text = f"{text[:_LONGEST_LINE]} … ({len(text) - _LONGEST_LINE:,} more characters)"
    if text.isprintable():
        return text
    return "".join(
        one if one == "\t" or unicodedata.category(one)[0] not in "CZ" or one == " " else f"⟨U+{ord(one):04X}⟩"
        for one in text
    )
