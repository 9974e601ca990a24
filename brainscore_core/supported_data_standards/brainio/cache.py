"""The cache of fetched files: mirrors, hashes, unpacked archives, and its entries."""

import errno
import os
import shutil
import urllib.parse
import uuid
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path, PurePosixPath
from typing import Literal, NamedTuple

from brainscore_core import archives
from brainscore_core.errors import UserError
from brainscore_core.files import PART_SUFFIX, file_digest, folder_lock, sweep
from brainscore_core.paths import cache_home, mirrors
from brainscore_core.supported_data_standards.brainio.downloads import StorageError, storage_error

_LENGTHS = {"sha1": 40, "sha256": 64}


class Digest(NamedTuple):
    """Hash of a file: ``Digest('sha1', '2fd4e1c6…')``, printed as ``sha1:2fd4e1c6…``."""

    algorithm: str
    value: str

    def __str__(self) -> str:
        return f"{self.algorithm}:{self.value}"


def parse_digest(algorithm: str, value: str) -> Digest:
    """Check that `value` is a valid hash of this kind; upper case and surrounding spaces are accepted."""
    cleaned = str(value).strip().lower()
    if not is_digest(cleaned, algorithm):
        raise UserError(
            f"{algorithm}={value!r} is not a valid {algorithm} hash",
            remedy=f"a {algorithm} has {_LENGTHS[algorithm]} hexadecimal digits; `{algorithm}sum FILE` prints it",
        )
    return Digest(algorithm, cleaned)


def is_digest(name: str, algorithm: str) -> bool:
    """Whether `name` has the form of a hash of this kind."""
    return len(name) == _LENGTHS[algorithm] and all(character in "0123456789abcdef" for character in name)


def files_in_mirrors(url: str) -> list[Path]:
    """Copies of `url` in the local mirrors (``$BRAINSCORE_MIRROR``), in the order of the mirrors."""
    address = urllib.parse.urlsplit(url)
    names = [urllib.parse.unquote(name) for name in address.path.split("/") if name]
    host = address.netloc.rpartition("@")[2].lower()
    if not host or not names or any(name in (".", "..") or "/" in name or "\0" in name for name in names):
        return []
    # wget keeps the query in the file name; a copied bucket does not
    last = [f"{names[-1]}?{address.query}", names[-1]] if address.query else [names[-1]]
    candidates = [mirror.joinpath(host, *names[:-1], name) for mirror in mirrors() for name in last]
    return [path for path in candidates if os.path.isfile(path)]


def digest_mismatch(path: Path, expected: tuple[Digest, ...]) -> tuple[Digest, Digest] | None:
    """Return the first (expected, actual) pair of hashes that differ, or None if the file is the expected one."""
    for digest in expected:
        actual = Digest(digest.algorithm, file_digest(path, digest.algorithm))
        if actual != digest:
            return digest, actual
    return None


def unzip(zip_path: str | os.PathLike[str], *, into: str | os.PathLike[str] | None = None) -> Path:
    """Unpack a ZIP file, once.

    Parameters
    ----------
    zip_path : path
        The archive.
    into : path, optional
        The folder to create; by default the path of the archive without ``.zip``.

    Returns
    -------
    pathlib.Path
        The folder. If it already holds every file of the archive in its full size, nothing is done. Otherwise the
        archive is unpacked beside it, its checksums are verified, and the folder is replaced in one step.

    Raises
    ------
    UserError
        If the archive is not a ZIP file, is damaged or encrypted, or has a path that leads out of the folder.
    StorageError
        If the folder cannot be written.

    Notes
    -----
    Files of file managers (``__MACOSX``, ``.DS_Store``, ``Thumbs.db``) are left out. Several processes may unpack the
    same archive at the same time.

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
        raise UserError(f"{archive} has no suffix to drop", remedy="pass the target folder with into=…")
    try:
        with zipfile.ZipFile(archive) as store:
            members = _members(store)
            if _holds_members(folder, members):
                return folder
            _unpack(store, members, folder)
    except FileNotFoundError as error:
        if archive.exists():
            raise
        raise UserError(f"the file {archive} does not exist", remedy="check the path") from error
    except (zipfile.BadZipFile, EOFError, NotImplementedError, RuntimeError) as error:
        raise UserError(
            f"cannot unpack {archive}: {error}",
            remedy="it must be a complete ZIP file without a password: create it again",
        ) from error
    return folder


def is_unpacked(zip_path: Path, folder: Path) -> bool:
    """Whether `folder` holds every file of the archive, with the archive's sizes and checksums."""
    with zipfile.ZipFile(zip_path) as store:
        members = _members(store)
    return _holds_members(folder, members) and all(
        _checksum(folder / name) == information.CRC for name, information in members.items()
    )


def unpacked_files(folder: Path) -> set[str]:
    """Relative paths of the files below `folder`, with ``/`` between folders, without those of file managers."""
    names = (path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file())
    return {name for name in names if not archives.is_file_manager_file(name)}


def _members(store: zipfile.ZipFile) -> dict[str, zipfile.ZipInfo]:
    members: dict[str, zipfile.ZipInfo] = {}
    for information in store.infolist():
        if information.is_dir() or archives.is_file_manager_file(information.filename):
            continue
        name = PurePosixPath(information.filename)
        unsafe = archives.leaves_folder(information.filename) or "\\" in information.filename or ":" in name.parts[0]
        if unsafe or archives.is_special(information):
            raise UserError(
                f"{store.filename} is not unpacked: {information.filename!r} leads out of the folder or is a link",
                remedy="create it again with regular files and relative paths only",
            )
        if str(name) in members:
            raise UserError(
                f"{store.filename} is not unpacked: it contains {str(name)!r} twice",
                remedy="create it again with each file once",
            )
        members[str(name)] = information
    return members


def _holds_members(folder: Path, members: dict[str, zipfile.ZipInfo]) -> bool:
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


@contextmanager
def working_in(folder: Path, doing: str, *, url: str | None = None) -> Iterator[None]:
    """Create and lock a folder, without abandoned files; say in errors of the disk what could not be done."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with folder_lock(folder):
            sweep(folder)
            yield
    except OSError as error:
        raise storage_error(error, doing, url=url) from error


def _unpack(store: zipfile.ZipFile, members: dict[str, zipfile.ZipInfo], folder: Path) -> None:
    with working_in(folder.parent, f"unpack {store.filename} into {folder}"):
        if _holds_members(folder, members):  # another process unpacked it while this one waited for the lock
            return
        _require_room(folder.parent, sum(information.file_size for information in members.values()))
        unfinished = folder.parent / f".{uuid.uuid4().hex}{PART_SUFFIX}"
        try:
            unfinished.mkdir()
            # A crash of the machine may lose data not yet on disk; the check of sizes in each call detects that
            store.extractall(unfinished, members=list(members.values()))
            _move_into_place(unfinished, folder, members)
        finally:
            shutil.rmtree(unfinished, ignore_errors=True)


_OCCUPIED = (errno.ENOTEMPTY, errno.EEXIST, errno.ENOTDIR)  # a folder with files, or a file, has the name


def _move_into_place(unfinished: Path, folder: Path, members: dict[str, zipfile.ZipInfo]) -> None:
    """Move the unpacked files into place, and remove an incomplete earlier folder."""
    while True:
        try:
            os.rename(unfinished, folder)
            return
        except OSError as error:
            if error.errno not in _OCCUPIED:  # the folder itself may be gone again: another process moved it
                raise
            if _holds_members(folder, members):  # without locks: another process was faster
                return
            old = folder.parent / f".{uuid.uuid4().hex}{PART_SUFFIX}"
            with suppress(FileNotFoundError):
                os.rename(folder, old)
            if old.is_dir():
                shutil.rmtree(old, ignore_errors=True)
            else:
                old.unlink(missing_ok=True)


def _require_room(folder: Path, needed: int) -> None:
    free = shutil.disk_usage(folder).free
    if free < needed:
        raise StorageError(
            f"{folder} has {free / 1e9:.1f} GB free, but {needed / 1e9:.1f} GB are needed",
            remedy="Free some space there (`brainscore cache rm`), or set BRAINIO_HOME to another folder.",
        )


class CacheEntry(NamedTuple):
    """An entry of the cache: a fetched file, a folder unpacked from a file, or an unfinished download."""

    name: str
    kind: Literal["file", "folder", "unfinished"]
    bytes: int
    digest: Digest
    path: Path


class CheckedEntry(NamedTuple):
    """`state` is 'good', 'wrong', or 'unknown' if there is nothing to compare with; `found` describes the problem."""

    entry: CacheEntry
    state: Literal["good", "wrong", "unknown"]
    found: str


def cache_entries(home: Path | None = None) -> list[CacheEntry]:
    """List the entries of the cache, by name. Other files in its folder do not belong to the cache."""
    home = cache_home() if home is None else home
    entries: list[CacheEntry] = []
    try:
        folders = sorted(home.iterdir())
    except FileNotFoundError:
        return []
    except OSError as error:
        raise UserError(f"cannot read the cache {home}: {error.strerror}", remedy="check BRAINIO_HOME") from error
    for folder in folders:
        algorithm = next((name for name in ("sha1", "sha256") if is_digest(folder.name, name)), None)
        if algorithm is None or folder.is_symlink() or not folder.is_dir():
            continue
        digest = Digest(algorithm, folder.name)
        entries += [
            CacheEntry(path.name, _entry_kind(path), _entry_size(path), digest, path)
            for path in sorted(folder.iterdir())
        ]
    return sorted(entries, key=lambda entry: (entry.name, entry.digest))


def verify_entry(entry: CacheEntry) -> CheckedEntry:
    """Compare a file with its hash, or an unpacked folder with the checksums in its archive."""
    if entry.kind == "unfinished":
        return CheckedEntry(entry, "unknown", "unfinished")
    if entry.kind == "file":
        actual = Digest(entry.digest.algorithm, file_digest(entry.path, entry.digest.algorithm))
        return CheckedEntry(entry, "good" if actual == entry.digest else "wrong", str(actual))
    archives = [path for path in entry.path.parent.glob("*.zip") if path.stem == entry.name]
    if not archives:
        return CheckedEntry(entry, "unknown", "its archive is not in the cache")
    try:
        whole = is_unpacked(archives[0], entry.path)
    except (UserError, OSError, ValueError, zipfile.BadZipFile, NotImplementedError) as error:
        return CheckedEntry(entry, "unknown", f"its archive cannot be read: {error}")
    return CheckedEntry(entry, "good" if whole else "wrong", "" if whole else "differs from its archive")


def remove_entry(entry: CacheEntry) -> None:
    """Remove an entry, and the folder of its hash if that is then empty; links are removed, never followed."""
    try:
        if entry.path.is_dir() and not entry.path.is_symlink():
            shutil.rmtree(entry.path)
        else:
            entry.path.unlink(missing_ok=True)
    except OSError as error:
        raise UserError(f"cannot remove {entry.path}: {error.strerror}", remedy="check who owns it") from error
    try:
        entry.path.parent.rmdir()
    except OSError:
        return  # not empty


def _entry_kind(path: Path) -> Literal["file", "folder", "unfinished"]:
    if path.name.startswith(".") and path.name.endswith(PART_SUFFIX):
        return "unfinished"
    return "folder" if path.is_dir() else "file"


def _entry_size(path: Path) -> int:
    if not path.is_dir() or path.is_symlink():
        return path.lstat().st_size
    return sum((Path(folder) / name).lstat().st_size for folder, _, names in os.walk(path) for name in names)
