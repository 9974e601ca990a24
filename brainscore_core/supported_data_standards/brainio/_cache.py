"""Where fetched files lie: the mirrors, the cache folder, its locks; and whether they are what they should be."""

import logging
import os
import time
import urllib.parse
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

from brainscore_core.errors import UserError
from brainscore_core.files import file_digest

try:
    import fcntl
except ImportError:  # not on Windows: two processes may then download the same file twice, each to its own name
    fcntl = None  # type: ignore[assignment]

__all__ = [
    "Digest",
    "cache_home",
    "digest_of",
    "in_mirrors",
    "is_digest",
    "locked",
    "mirrors",
    "mismatch",
]

LOCK_PATIENCE = 600.0  # seconds; afterwards work goes on without the lock, which only guards against doing it twice
_LENGTHS = {"sha1": 40, "sha256": 64}
_logger = logging.getLogger(__name__)


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
