"""Submissions as ZIP files."""

from __future__ import annotations

import io
import stat
import struct
import zipfile
import zlib
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import BinaryIO

from brainscore_core.errors import UserError
from brainscore_vision.submitting._gather import gather
from brainscore_vision.submitting._kept import leads_out
from brainscore_vision.submitting._limits import Limits
from brainscore_vision.submitting._package import Package
from brainscore_vision.submitting._tree import Budget

__all__ = ["read_zip"]

_AGAIN = "pack it again, with plain files and relative paths"
_RECORD = struct.Struct("<4s4H2LH")  # end of central directory
_LEAST_BOMB = 1_000_000
_PIECE = 1 << 16


def read_zip(source: bytes | Path | BinaryIO, *, limits: Limits | None = None, name: str = "") -> Package:
    """Read a submission from a ZIP file.

    Parameters
    ----------
    source : bytes, Path or binary file
        The archive.
    limits : Limits, optional
        How much it may hold.
    name : str
        Of the file: what a plugin without a folder of its own is called; by default the path's.

    Returns
    -------
    Package
        Its plugins; what was left out or moved is among its findings.

    Raises
    ------
    UserError
        If it is no ZIP file, or not one to unpack: encrypted, too large, with links or paths that lead out; or if
        there is no plugin in it.

    Examples
    --------
    >>> import io, zipfile
    >>> stream = io.BytesIO()
    >>> with zipfile.ZipFile(stream, "w") as archive:
    ...     archive.writestr("mine/models/m/__init__.py", "model_registry['m'] = print")
    >>> [(plugin.path, plugin.registrations[0].key) for plugin in read_zip(stream.getvalue()).plugins]
    [('models/m', 'm')]
    """
    limits = limits or Limits()
    if isinstance(source, Path):
        name = name or source.name
        try:
            with source.open("rb") as stream:
                content = stream.read(limits.archive + 1)
        except OSError as error:
            raise UserError(f"{source} cannot be read: {error.strerror}", remedy="check the path") from error
    else:
        content = source if isinstance(source, bytes) else source.read(limits.archive + 1)
    if len(content) > limits.archive:
        raise UserError(
            f"the ZIP file is larger than {limits.archive / 1e6:,.0f} MB",
            remedy="send code alone: upload data and weights to the site, and load them from there",
        )
    if not content.startswith(b"PK"):
        raise UserError("this is no ZIP file", remedy="pack the plugin's folder as ZIP, not as tar, gz or 7z")
    _refuse_many(_announced(content), limits)
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            return gather(_ZipTree(archive, limits), limits=limits, name=name.removesuffix(".zip"))
    except (zipfile.BadZipFile, EOFError, NotImplementedError, zlib.error, struct.error, ValueError) as error:
        raise UserError(f"the ZIP file cannot be read: {error}", remedy="it is damaged: pack it again") from error


class _ZipTree:
    """Members of an archive, each looked at before any is unpacked."""

    links: Sequence[str] = ()  # refused

    def __init__(self, archive: zipfile.ZipFile, limits: Limits) -> None:
        self._archive = archive
        members = archive.infolist()
        _refuse_many(len(members), limits)
        self._members: dict[str, zipfile.ZipInfo] = {}
        for member in members:
            path = getattr(member, "orig_filename", member.filename).replace("\\", "/")
            _refuse_member(member, path)
            if path.endswith("/"):
                continue
            path = "/".join(part for part in path.split("/") if part not in ("", "."))
            if path in self._members:
                raise UserError(f"the ZIP file holds {path!r} twice", remedy=_AGAIN)
            self._members[path] = member

    @property
    def names(self) -> Sequence[str]:
        return list(self._members)

    def read(self, paths: Iterable[str], budget: Budget) -> dict[str, bytes]:
        return {path: self._read(self._members[path], budget) for path in paths}

    def _read(self, member: zipfile.ZipInfo, budget: Budget) -> bytes:
        content = bytearray()
        limits = budget.limits
        with self._archive.open(member) as stream:
            while len(content) <= limits.file and (piece := stream.read(_PIECE)):
                content += piece
                budget.take(len(piece))
                if len(content) > _LEAST_BOMB and len(content) > limits.ratio * max(member.compress_size, 1):
                    raise UserError(
                        f"{member.filename!r} unpacks to more than {limits.ratio} times its size",
                        remedy="send code alone, without generated files",
                    )
        return bytes(content)

    def unlike(self, others: Mapping[str, Path]) -> set[str]:
        own = self.read(others, Budget(Limits(size=1 << 30)))
        return {path for path, other in others.items() if not other.is_file() or other.read_bytes() != own[path]}


def _refuse_member(member: zipfile.ZipInfo, path: str) -> None:
    if leads_out(path) or "\0" in path:
        raise UserError(f"the ZIP file holds {path!a}, which leads out of its folder", remedy=_AGAIN)
    mode = stat.S_IFMT(member.external_attr >> 16) if member.create_system == 3 else 0
    if mode not in (0, stat.S_IFREG, stat.S_IFDIR):
        raise UserError(f"{path!r} is a link or a device in place of a file", remedy=_AGAIN)
    if member.flag_bits & 0x41:
        raise UserError(f"{path!r} needs a password", remedy="pack it again without a password")


def _refuse_many(count: int | None, limits: Limits) -> None:
    if count is not None and count > limits.members:
        raise UserError(
            f"the ZIP file holds {count:,} files; {limits.members:,} are allowed",
            remedy="send the plugins' folders alone",
        )


def _announced(content: bytes) -> int | None:
    """How many members the end of the archive announces, before their list is read into memory."""
    place = content.rfind(b"PK\x05\x06", max(0, len(content) - (1 << 16) - _RECORD.size))
    if place < 0 or place + _RECORD.size > len(content):
        return None
    _, _, _, _, total, directory, _, _ = _RECORD.unpack_from(content, place)
    # each needs at least 46 bytes of the directory, whatever number is announced
    return max(int(total), int(directory) // 200) if total != 0xFFFF else int(directory) // 46
