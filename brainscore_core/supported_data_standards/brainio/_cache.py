"""Where fetched files lie: the mirrors, the cache folder, its locks; and whether they are what they should be."""

import hashlib
import logging
import os
import shutil
import time
import urllib.parse
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, NamedTuple

from brainscore_core.errors import UserError

try:
    import fcntl
except ImportError:  # not on Windows: two processes may then download the same file twice, each to its own name
    fcntl = None  # type: ignore[assignment]

__all__ = [
    "Digest",
    "cache_home",
    "digest_of",
    "file_digest",
    "in_mirrors",
    "is_digest",
    "locked",
    "mirrors",
    "mismatch",
    "replacing",
    "sweep",
]

PART_SUFFIX = ".part"
LOCK_PATIENCE = 600.0  # seconds; afterwards work goes on without the lock, which only guards against doing it twice
STALE = 24 * 3600.0  # seconds after which an unfinished file belongs to nobody any more
SETTLED = 2.0  # seconds; a file changed more recently may change again within one tick of its time stamp
_LENGTHS = {"sha1": 40, "sha256": 64}
_logger = logging.getLogger(__name__)
_known_digests: dict[tuple[str, int, int, int, str], str] = {}


class Digest(NamedTuple):
    """Hash of a file: ``Digest('sha1', '2fd4e1c6…')``, shown as ``sha1:2fd4e1c6…``."""

    algorithm: str
    value: str

    def __str__(self) -> str:
        return f"{self.algorithm}:{self.value}"


def digest_of(algorithm: str, value: str) -> Digest:
    """Check that `value` can be a hash of this kind; upper case and blanks around it are accepted."""
    cleaned = str(value).strip().lower()
    if not is_digest(cleaned, algorithm):
        raise UserError(
            f"{algorithm}={value!r} is no {algorithm} hash",
            remedy=f"a {algorithm} has {_LENGTHS[algorithm]} hexadecimal digits; `{algorithm}sum FILE` prints it",
        )
    return Digest(algorithm, cleaned)


def is_digest(name: str, algorithm: str) -> bool:
    """Whether `name` is written as a hash of this kind."""
    return len(name) == _LENGTHS[algorithm] and all(character in "0123456789abcdef" for character in name)


def cache_home() -> Path:
    """Folder of fetched files: ``$BRAINIO_HOME``, else ``~/.brainio``.

    Examples
    --------
    >>> import os
    >>> from brainscore_core.supported_data_standards.brainio.fetch import cache_home
    >>> cache_home() == Path(os.environ["BRAINIO_HOME"])
    True
    """
    return Path(os.environ.get("BRAINIO_HOME") or "~/.brainio").expanduser().absolute()


def mirrors() -> list[Path]:
    """Folders that ``$BRAINSCORE_MIRROR`` names."""
    folders = os.environ.get("BRAINSCORE_MIRROR", "").split(os.pathsep)
    return [Path(folder).expanduser().absolute() for folder in folders if folder]


def in_mirrors(url: str) -> list[Path]:
    """Files of the local mirrors (``$BRAINSCORE_MIRROR``) that stand for `url`, in the order of the mirrors."""
    parts = urllib.parse.urlsplit(url)
    names = [urllib.parse.unquote(name) for name in parts.path.split("/") if name]
    host = parts.netloc.rpartition("@")[2].lower()
    if not host or not names or any(name in (".", "..") or "/" in name or "\0" in name for name in names):
        return []
    # wget keeps the query in the file's name; a copied bucket does not
    last = [f"{names[-1]}?{parts.query}", names[-1]] if parts.query else [names[-1]]
    candidates = [mirror.joinpath(host, *names[:-1], name) for mirror in mirrors() for name in last]
    return [path for path in candidates if os.path.isfile(path)]


def file_digest(path: Path, algorithm: str) -> str:
    """Hexadecimal hash of a file, remembered in this process while the file stays untouched."""
    with path.open("rb") as stream:
        status = os.fstat(stream.fileno())
        key = (str(path), status.st_ino, status.st_size, status.st_mtime_ns, algorithm)
        if key not in _known_digests:
            value = hashlib.file_digest(stream, lambda: hashlib.new(algorithm, usedforsecurity=False)).hexdigest()
            if time.time() - status.st_mtime < SETTLED:
                return value
            _known_digests[key] = value
    return _known_digests[key]


def mismatch(path: Path, expected: tuple[Digest, ...]) -> tuple[Digest, Digest] | None:
    """Return the first (expected, found) pair of hashes that differ, or None where the file is the expected one."""
    for digest in expected:
        found = Digest(digest.algorithm, file_digest(path, digest.algorithm))
        if found != digest:
            return digest, found
    return None


@contextmanager
def locked(folder: Path) -> Iterator[None]:
    """Let one thread of one process at a time work in `folder`.

    The lock is on the folder itself, so no lock file stays behind, and the system releases it when its holder dies.
    It saves work (nobody downloads twice); that a file is whole never depends on it. So where a file system knows no
    locks, and where a lock is held unreasonably long, work goes on without.
    """
    if fcntl is None:
        yield
        return
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        deadline = time.monotonic() + LOCK_PATIENCE
        while time.monotonic() < deadline:
            try:
                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
                break
            except BlockingIOError:
                time.sleep(0.05)
            except OSError as error:
                _logger.debug("no lock on %s: %s", folder, error)
                break
        yield
    finally:
        os.close(descriptor)


@contextmanager
def replacing(target: Path) -> Iterator[IO[bytes]]:
    """Write a file beside `target` and move it there when the block ends without an error; otherwise remove it."""
    target.parent.mkdir(parents=True, exist_ok=True)
    part = target.parent / f".{uuid.uuid4().hex}{PART_SUFFIX}"
    try:
        with part.open("xb") as stream:
            yield stream
            stream.flush()
            os.fsync(stream.fileno())
        os.replace(part, target)
    finally:
        part.unlink(missing_ok=True)


def sweep(folder: Path) -> None:
    """Remove unfinished files and folders that a process killed long ago left in `folder`."""
    for part in folder.glob(f".*{PART_SUFFIX}"):
        if time.time() - part.lstat().st_mtime <= STALE:
            continue
        if part.is_dir() and not part.is_symlink():
            shutil.rmtree(part, ignore_errors=True)
        else:
            part.unlink(missing_ok=True)
