"""Archives and file names from elsewhere: what has to hold before a file is unpacked, or a name is joined to a folder.

The functions examine names and members and report; what follows, and the wording of an error, is up to the caller.
A reader of archives checks, in this order:

1. how many members the archive announces, before their list is read into memory (`announced_members`);
2. of each member, that its name as stored (`stored_name`) stays in the folder (`leaves_folder`) and suits every system
   (`is_portable`), and that it is a regular file (`is_special`) without a password (`is_encrypted`);
3. that no two names are the same file (`find_clash`);
4. that nothing unpacks to a multiple of its size (`is_bomb`, `members_overlap`).
"""

from __future__ import annotations

import re
import stat
import struct
import unicodedata
from collections.abc import Iterable, Sequence
from pathlib import PurePosixPath
from typing import BinaryIO
from zipfile import ZipInfo

_DEVICES = frozenset({"con", "prn", "aux", "nul", *(f"{port}{n}" for port in ("com", "lpt") for n in range(1, 10))})
_NOT_ON_WINDOWS = re.compile(r'[<>:"|?*\\]')
_LONGEST_NAME = 200  # bytes; most file systems allow 255, and programs append suffixes
LONGEST_PATH = 400
"""Bytes of a portable path; macOS allows 1,024, folders above included."""
_DESKTOP_FILES = frozenset({".DS_Store", "Thumbs.db", "desktop.ini"})
_DESKTOP_FOLDER = "__MACOSX"
_END = struct.Struct("<4s4H2LH")  # the record "end of central directory"


def leaves_folder(name: str) -> bool:
    r"""Whether a relative name is empty, absolute, on another drive, or leads out of its folder.

    Examples
    --------
    >>> [leaves_folder(name) for name in ("a/b.png", "../b.png", "/b.png", "C:b.png", r"a\..\b.png", "")]
    [False, True, True, True, True, True]
    """
    names = name.replace("\\", "/").split("/")
    return name[1:2] == ":" or ".." in names or (names[0] == "" and len(names) > 1) or set(names) <= {"", "."}


def is_reserved(name: str) -> bool:
    """Whether Windows reserves a file name for a device, or drops its last character.

    Examples
    --------
    >>> [is_reserved(name) for name in ("con.py", "LPT1", "model.py.", "console.py")]
    [True, True, True, False]
    """
    return name.partition(".")[0].strip().lower() in _DEVICES or name.rstrip(" .") != name


def is_portable(name: str) -> bool:
    r"""Whether every system can store a relative name with ``/``, and shows it as it is.

    Names with invisible characters, in decomposed Unicode, with ``.`` as a folder, with more than 200 bytes between
    slashes or more than 400 in all are not portable.

    Examples
    --------
    >>> [is_portable(name) for name in ("models/mine/model.py", "a//b", "a/./b", "what?.py", "aux.py", "a\u200bb")]
    [True, False, False, False, False, False]
    >>> is_portable("a/" * 150 + "b"), is_portable("a/" * 250 + "b")
    (True, False)
    """
    if len(name.encode(errors="replace")) > LONGEST_PATH:
        return False
    if unicodedata.normalize("NFC", name) != name or _NOT_ON_WINDOWS.search(name) or not name.isprintable():
        return False
    return not any(
        segment == "" or segment != segment.strip() or is_reserved(segment) or len(segment.encode()) > _LONGEST_NAME
        for segment in name.split("/")
    )


def is_file_manager_file(name: str) -> bool:
    """Whether a file manager added this file to a folder or archive: ``__MACOSX``, ``.DS_Store``, ``Thumbs.db``."""
    path = PurePosixPath(name)
    return path.name in _DESKTOP_FILES or path.parts[:1] == (_DESKTOP_FOLDER,)


def find_clash(names: Iterable[str], *, case: bool = True) -> tuple[str, str] | None:
    """Find two names that some systems take for the same file.

    Returns the earlier and the later name of the first clash. With `case`, names that differ only in case clash, as on
    macOS and Windows. Equal names always clash, also if they are spelled with other Unicode characters of the same
    meaning.

    Examples
    --------
    >>> find_clash(["a.png", "b.png", "A.png"]), find_clash(["a.png", "A.png"], case=False)
    (('a.png', 'A.png'), None)
    """
    seen: dict[str, str] = {}
    for name in names:
        key = unicodedata.normalize("NFC", name)
        key = key.casefold() if case else key
        if key in seen:
            return seen[key], name
        seen[key] = name
    return None


def announced_members(archive: BinaryIO) -> int | None:
    """Number of members that the end of a ZIP archive announces, before their list is read into memory.

    The number is an estimate from the size of the list where that is larger than the announced number allows. None if
    the archive has no end, or leaves both to a record for large archives.
    """
    size = archive.seek(0, 2)
    archive.seek(max(0, size - (1 << 16) - _END.size))
    tail = archive.read()
    archive.seek(0)
    position = tail.rfind(b"PK\x05\x06")
    if position < 0 or position + _END.size > len(tail):
        return None
    _, _, _, _, total, directory, _, _ = _END.unpack_from(tail, position)
    if total != 0xFFFF:
        return max(int(total), int(directory) // 200)  # the list is read by its size, whatever the number
    return int(directory) // 46 if directory != 0xFFFFFFFF else total  # a member needs at least 46 bytes of the list


def stored_name(member: ZipInfo) -> str:
    """The name of a member as it is stored, including what `zipfile` drops behind a null character."""
    return getattr(member, "orig_filename", member.filename)


def is_special(member: ZipInfo) -> bool:
    """Whether a member is neither a regular file nor a folder: a link, device or pipe."""
    return stat.S_IFMT(member.external_attr >> 16) not in (0, stat.S_IFREG, stat.S_IFDIR)


def is_encrypted(member: ZipInfo) -> bool:
    """Whether a member needs a password."""
    return bool(member.flag_bits & 0x41)


def is_bomb(packed: int, unpacked: int, *, ratio: int, least: int) -> bool:
    """Whether a file unpacks to more than `ratio` times its size; files up to `least` bytes do no harm."""
    return unpacked > least and unpacked > ratio * max(packed, 1)


def members_overlap(members: Sequence[ZipInfo]) -> bool:
    """Whether several members share the same bytes of the archive, which makes it unpack to a multiple of its size."""
    end = 0
    for member in sorted(members, key=lambda info: info.header_offset):
        if member.header_offset < end:
            return True
        end = member.header_offset + 30 + member.compress_size
    return False
