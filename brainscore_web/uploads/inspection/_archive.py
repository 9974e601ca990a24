"""Checks that an archive is safe to unpack, without unpacking it."""

from __future__ import annotations

import stat
import struct
import unicodedata
import zipfile
from collections.abc import Callable, Sequence
from pathlib import Path, PurePosixPath

from brainscore_core.supported_data_standards.brainio.findings import format_values
from brainscore_web.uploads.inspection._report import Found, error_finding

__all__ = ["check_archive", "check_kinds"]

_AGAIN = "package it again with `brainscore package`, which stores plain files without folders"
_LEAST_BOMB = 10_000_000  # bytes; less unpacked data does no harm
_RECORD = struct.Struct("<4s4H2LH")
_DEVICES = {"con", "prn", "aux", "nul", *(f"{port}{number}" for port in ("com", "lpt") for number in range(1, 10))}


def check_archive(path: Path, name: str, limits: dict[str, int]) -> list[Found]:
    """Check the list of members of an archive, without unpacking any.

    Parameters
    ----------
    path, name : Path, str
        The archive, and the name used in findings.
    limits : dict
        ``members``, ``unpacked``, ``ratio``.

    Returns
    -------
    list of Found
        Findings. If there are errors, the archive must not be unpacked.
    """
    announced = _announced(path)
    if announced is not None and announced > limits["members"]:
        return [_many(name, announced, limits)]
    try:
        with zipfile.ZipFile(path) as archive:
            members = archive.infolist()
    except (OSError, ValueError, zipfile.BadZipFile, NotImplementedError, RuntimeError) as problem:
        return [
            error_finding(
                name, "unreadable archive", f"{problem}", "the ZIP file is damaged or incomplete; package it again"
            )
        ]
    if len(members) > limits["members"]:
        return [_many(name, len(members), limits)]
    found = _check_sizes(path, name, members, limits)
    for check, is_wrong, what in _RULES:
        if wrong := [member.filename for member in members if is_wrong(member)]:
            found.append(error_finding(name, check, f"{format_values(wrong)} {what}", _AGAIN))
    seen: dict[str, str] = {}
    for member in members:
        plain = unicodedata.normalize("NFC", member.filename)
        if plain in seen:
            culprit = f"{member.filename!r} appears twice" + (
                "" if seen[plain] == member.filename else f", also spelled {seen[plain]!a}"
            )
            found.append(error_finding(name, "duplicate file name", culprit, _AGAIN))
            break
        seen[plain] = member.filename
    return found


def check_kinds(path: Path, name: str) -> list[Found]:
    """Check that the format of images matches their suffixes. The library's validation reports damaged images."""
    from PIL import Image, UnidentifiedImageError

    kinds = Image.registered_extensions()
    wrong = []
    with zipfile.ZipFile(path) as archive:
        for member in archive.infolist():
            suffix = PurePosixPath(member.filename).suffix.lower()
            if suffix not in kinds or not member.file_size:
                continue
            try:
                with archive.open(member) as stream, Image.open(stream) as image:
                    if image.format != kinds[suffix] and kinds.get(f".{(image.format or '').lower()}") != kinds[suffix]:
                        wrong.append(f"{member.filename} is {image.format}, not {kinds[suffix]}")
            except UnidentifiedImageError:
                continue  # the library's validation reports it
            except Exception:  # noqa: BLE001, S112 # Pillow raises many errors; the library's validation reports it
                continue
    if not wrong:
        return []
    shown = "; ".join(wrong[:20]) + (f"; … ({len(wrong)} in total)" if len(wrong) > 20 else "")
    return [
        error_finding(
            name,
            "image format differs from suffix",
            shown,
            "give each image the suffix of its format, and package them again",
        )
    ]


def _check_sizes(path: Path, name: str, members: Sequence[zipfile.ZipInfo], limits: dict[str, int]) -> list[Found]:
    size = path.stat().st_size
    unpacked = sum(member.file_size for member in members)
    packed = sum(member.compress_size for member in members)
    found = []
    if unpacked > limits["unpacked"]:
        what = f"it unpacks to {unpacked / 1e6:,.0f} MB; the limit is {limits['unpacked'] / 1e6:,.0f} MB"
        found.append(error_finding(name, "archive too large", what, "divide the data set into subsets"))
    bombs = [
        f"{member.filename} ({member.compress_size:,} → {member.file_size:,} bytes)"
        for member in members
        if member.file_size > _LEAST_BOMB and member.file_size > limits["ratio"] * max(member.compress_size, 1)
    ]
    if not bombs and unpacked > max(_LEAST_BOMB, limits["ratio"] * size):
        bombs = [f"{len(members)} files ({size:,} → {unpacked:,} bytes)"]
    if bombs:
        found.append(
            error_finding(name, "suspicious compression ratio", "; ".join(bombs[:5]), "store the stimuli uncompressed")
        )
    if packed > size or _overlap(members):
        found.append(error_finding(name, "overlapping files", "several members share the same bytes", _AGAIN))
    return found


def _overlap(members: Sequence[zipfile.ZipInfo]) -> bool:
    end = 0
    for member in sorted(members, key=lambda info: info.header_offset):
        if member.header_offset < end:
            return True
        end = member.header_offset + 30 + member.compress_size
    return False


def _announced(path: Path) -> int | None:
    """Return the number of members that the end of the archive states, before their list is read into memory."""
    with path.open("rb") as stream:
        stream.seek(0, 2)
        start = max(0, stream.tell() - (1 << 16) - _RECORD.size)
        stream.seek(start)
        tail = stream.read()
    place = tail.rfind(b"PK\x05\x06")
    if place < 0 or place + _RECORD.size > len(tail):
        return None
    _, _, _, _, total, directory, _, _ = _RECORD.unpack_from(tail, place)
    # with more than 65,535 members the number is stored elsewhere; each member needs at least 46 bytes of the directory
    return directory // 46 if total == 0xFFFF and directory != 0xFFFFFFFF else total if total != 0xFFFF else None


def _many(name: str, count: int, limits: dict[str, int]) -> Found:
    return error_finding(
        name, "too many files", f"it has {count:,} files; the limit is {limits['members']:,}", "divide the data set"
    )


def _leads_out(member: zipfile.ZipInfo) -> bool:
    path = PurePosixPath(member.filename.replace("\\", "/"))
    drive = member.filename[1:2] == ":"
    return path.is_absolute() or drive or ".." in path.parts


def _is_not_a_file(member: zipfile.ZipInfo) -> bool:
    mode = member.external_attr >> 16
    return bool(mode) and stat.S_IFMT(mode) not in (0, stat.S_IFREG, stat.S_IFDIR)


def _has_invisible_characters(member: zipfile.ZipInfo) -> bool:
    original = getattr(member, "orig_filename", member.filename)
    return any(unicodedata.category(character).startswith("C") for character in original)


def _is_device(member: zipfile.ZipInfo) -> bool:
    last = PurePosixPath(member.filename).name
    return last.partition(".")[0].strip().lower() in _DEVICES or last.rstrip(" .") != last


_RULES: tuple[tuple[str, Callable[[zipfile.ZipInfo], bool], str], ...] = (
    ("path outside of the archive", _leads_out, "would be unpacked outside of the folder"),
    ("not a regular file", _is_not_a_file, "are links, devices or pipes"),
    ("folder in an archive", lambda info: info.is_dir() or "/" in info.filename, "are folders or in folders"),
    ("invisible characters", _has_invisible_characters, "have invisible characters in their names"),
    ("name not allowed on Windows", _is_device, "cannot be stored on Windows"),
    ("encrypted file", lambda info: bool(info.flag_bits & 1), "need a password"),
)
