"""Unpack an archive of stimuli so that its folder is either whole or not there."""

import os
import shutil
import stat
import uuid
import zipfile
from contextlib import suppress
from pathlib import Path, PurePosixPath

from brainscore_core.errors import UserError
from brainscore_core.files import PART_SUFFIX, sweep

from ._cache import locked
from ._fetch_errors import StorageError

__all__ = ["is_unpacked", "unpacked_files", "unzip"]

_DESKTOP_FILES = frozenset({".DS_Store", "Thumbs.db", "desktop.ini"})  # what file managers leave
_DESKTOP_FOLDER = "__MACOSX"


def unzip(zip_path: str | os.PathLike[str], *, into: str | os.PathLike[str] | None = None) -> Path:
    """Unpack a ZIP file, once.

    Parameters
    ----------
    zip_path : path
        The archive.
    into : path, optional
        The folder to make; by default the archive's own path without ``.zip``.

    Returns
    -------
    pathlib.Path
        The folder. Where it is there already and holds every file of the archive in its full size, nothing is done;
        otherwise the archive is unpacked beside it, with checksums, and takes its place in one step.

    Raises
    ------
    UserError
        No ZIP file, a damaged or an encrypted one, or one with a path that leads out of the folder.
    StorageError
        The folder cannot be written.

    Notes
    -----
    What file managers add (``__MACOSX``, ``.DS_Store``, ``Thumbs.db``) is left out. Several processes may unpack the
    same archive at once.

    Examples
    --------
    >>> import tempfile, zipfile
    >>> from brainscore_core.supported_data_standards.brainio.fetch import unzip
    >>> archive = Path(tempfile.mkdtemp()) / "stimuli.zip"
    >>> with zipfile.ZipFile(archive, "w") as store:
    ...     store.writestr("img_1.txt", "a stimulus")
    >>> [path.name for path in unzip(archive).iterdir()]
    ['img_1.txt']
    """
    archive = Path(zip_path).absolute()
    folder = Path(into).absolute() if into is not None else archive.with_suffix("")
    if folder == archive:
        raise UserError(f"{archive} has no suffix to drop", remedy="pass into=…, the folder to unpack into")
    try:
        with zipfile.ZipFile(archive) as store:
            members = _members(store)
            if _holds(folder, members):
                return folder
            _unpack(store, members, folder)
    except FileNotFoundError as error:
        if archive.exists():
            raise
        raise UserError(f"there is no file {archive}", remedy="check the path") from error
    except (zipfile.BadZipFile, EOFError, NotImplementedError, RuntimeError) as error:
        raise UserError(
            f"cannot unpack {archive}: {error}", remedy="it must be a whole ZIP file without a password: pack it again"
        ) from error
    return folder


def is_unpacked(zip_path: Path, folder: Path) -> bool:
    """Whether `folder` holds every file of the archive, with the archive's sizes and checksums."""
    with zipfile.ZipFile(zip_path) as store:
        members = _members(store)
    return _holds(folder, members) and all(
        _checksum(folder / name) == information.CRC for name, information in members.items()
    )


def unpacked_files(folder: Path) -> set[str]:
    """Names of the files below `folder`, with ``/`` between folders, without what file managers leave."""
    names = (PurePosixPath(path.relative_to(folder).as_posix()) for path in folder.rglob("*") if path.is_file())
    return {str(name) for name in names if not _is_desktop(name)}


def _is_desktop(name: PurePosixPath) -> bool:
    return name.name in _DESKTOP_FILES or name.parts[0] == _DESKTOP_FOLDER


def _members(store: zipfile.ZipFile) -> dict[str, zipfile.ZipInfo]:
    members: dict[str, zipfile.ZipInfo] = {}
    for information in store.infolist():
        name = PurePosixPath(information.filename)
        if information.is_dir() or _is_desktop(name):
            continue
        unsafe = name.is_absolute() or ".." in name.parts or "\\" in information.filename or ":" in name.parts[0]
        if unsafe or stat.S_ISLNK(information.external_attr >> 16):
            raise UserError(
                f"{store.filename} is not unpacked: {information.filename!r} leads out of the folder or is a link",
                remedy="pack it again with plain files and relative paths only",
            )
        if str(name) in members:
            raise UserError(
                f"{store.filename} is not unpacked: it holds {str(name)!r} twice",
                remedy="pack it again, each file once",
            )
        members[str(name)] = information
    return members


def _holds(folder: Path, members: dict[str, zipfile.ZipInfo]) -> bool:
    if not folder.is_dir():
        return False
    try:
        return all(os.stat(folder / name).st_size == information.file_size for name, information in members.items())
    except OSError:
        return False


def _checksum(path: Path) -> int:
    from zlib import crc32

    value = 0
    with path.open("rb") as stream:
        while piece := stream.read(1 << 20):
            value = crc32(piece, value)
    return value


def _unpack(store: zipfile.ZipFile, members: dict[str, zipfile.ZipInfo], folder: Path) -> None:
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        with locked(folder.parent):
            if _holds(folder, members):  # somebody else unpacked it while this process waited for the lock
                return
            sweep(folder.parent)
            _require_room(folder.parent, sum(information.file_size for information in members.values()))
            part = folder.parent / f".{uuid.uuid4().hex}{PART_SUFFIX}"
            try:
                part.mkdir()
                # A crash of the machine may lose what was not yet on disk; sizes then differ, and are checked each time
                store.extractall(part, members=list(members.values()))
                _put(part, folder, members)
            finally:
                shutil.rmtree(part, ignore_errors=True)
    except OSError as error:
        raise StorageError(
            f"cannot unpack {store.filename} into {folder}: {error.strerror or error}",
            remedy="Make room there, make it writable, or set BRAINIO_HOME to a folder with room and rights.",
        ) from error


def _put(part: Path, folder: Path, members: dict[str, zipfile.ZipInfo]) -> None:
    """Move the unpacked files into place; what stood there before, and is not whole, goes."""
    while True:
        try:
            os.rename(part, folder)
            return
        except OSError:
            if not folder.exists():
                raise
            if _holds(folder, members):  # without locks: somebody else was faster
                return
            old = folder.parent / f".{uuid.uuid4().hex}{PART_SUFFIX}"
            with suppress(FileNotFoundError):  # without locks: somebody else moved it
                os.rename(folder, old)
            if old.is_dir():
                shutil.rmtree(old, ignore_errors=True)
            else:
                old.unlink(missing_ok=True)


def _require_room(folder: Path, needed: int) -> None:
    free = shutil.disk_usage(folder).free
    if free < needed:
        raise StorageError(
            f"{folder} has {free / 1e9:.1f} GB free, {needed / 1e9:.1f} GB are needed",
            remedy="Make room there (`brainscore cache rm`), or set BRAINIO_HOME to another folder.",
        )
