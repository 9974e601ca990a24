"""Downloads over HTTP: progress, retries, and errors that suggest a remedy."""

import errno
import itertools
import os
import re
import socket
import sys
import threading
import time
import urllib.parse
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import IO, TYPE_CHECKING, NamedTuple, Self

from brainscore_core.errors import BrainScoreError, DataUnavailable, UserError
from brainscore_core.plurals import counted
from brainscore_core.progress import Stage, stage

if TYPE_CHECKING:
    import requests


class Source(NamedTuple):
    """A file on a server, as errors name it."""

    address: str  # without credentials
    expected: str  # its hash


class FetchError(UserError):
    """A file could not be fetched.

    Attributes
    ----------
    url : str or None
        The file's address, without credentials.
    expected, found : str or None
        Hashes, as ``'sha1:…'`` or ``'sha256:…'``; `found` is None if no file arrived.
    attempts, pause : int, float
        How often a download that ends with this error is attempted, and the pause that the server requests, in seconds.
    """

    url: str | None = None
    expected: str | None = None
    found: str | None = None
    attempts = 1
    pause = 0.0

    @classmethod
    def of(cls, source: Source, problem: str, remedy: str, *, attempts: int = 1) -> Self:
        """Make the error about a file."""
        error = cls(f"cannot fetch {source.address}: {problem} (expected {source.expected})", remedy)
        error.url, error.expected, error.attempts = source.address, source.expected, attempts
        return error


class HashMismatch(FetchError, ValueError):
    """The file arrived, but it is not the file that was registered."""


class IncompleteDownload(FetchError):
    """The connection ended before the whole file arrived."""


class NotFound(FetchError, DataUnavailable):
    """The file does not exist."""


class AccessDenied(FetchError, DataUnavailable):
    """The file is private, or the server hides that it does not exist."""


class Offline(FetchError, DataUnavailable):
    """The server cannot be reached, or does not respond in time."""


def is_unreachable(error: BaseException | None) -> bool:
    """Whether an error, raised by any library, was caused by a server that cannot be reached.

    Errors of this project state their cause with their type, apart from a plain UserError. Errors that caused it are
    considered, too.

    Examples
    --------
    >>> import urllib.error
    >>> is_unreachable(urllib.error.URLError(ConnectionRefusedError(111, "Connection refused")))
    True
    >>> is_unreachable(FileNotFoundError(2, "No such file or directory"))
    False
    """
    if isinstance(error, BrainScoreError) and type(error) is not UserError:
        return isinstance(error, Offline)
    if isinstance(error, TimeoutError) and error.errno is None:
        return False  # of any code that waits
    while error is not None:
        causes = (error, getattr(error, "reason", None))  # a URLError has no cause
        if any(isinstance(cause, _UNREACHABLE) and not isinstance(cause, BrokenPipeError) for cause in causes):
            return True
        if isinstance(error, OSError) and error.errno in _NO_ROUTE:
            return True
        error = error.__cause__ or (None if error.__suppress_context__ else error.__context__)
    return False


_UNREACHABLE = (Offline, socket.gaierror, ConnectionError, TimeoutError)
_NO_ROUTE = frozenset({errno.ENETDOWN, errno.ENETUNREACH, errno.EHOSTUNREACH})


class StorageError(FetchError):
    """The file cannot be written, for example because the disk is full."""


class SeveralFailures(FetchError):
    """More than one of several files could not be fetched; `errors` holds each failure."""

    def __init__(self, message: str, remedy: str | None = None, *, errors: Sequence[FetchError] = ()) -> None:
        super().__init__(message, remedy)
        self.errors = list(errors)


class SeveralUnavailable(SeveralFailures, DataUnavailable):
    """More than one of several files could not be fetched, all of them because they are unavailable."""


class UnverifiedFileWarning(UserWarning):
    """No hash is registered for a file: its first copy was assumed to be correct."""


class CancelledDownload(Exception):
    """Another thread requested the end of this download."""


class Meter:
    """Receives the progress of a download (pooch's protocol) and shows it as that of a stage, if there is one."""

    def __init__(self, shown: Stage | None = None, cancelled: threading.Event | None = None) -> None:
        self.total = 0
        self._shown = Stage("downloading") if shown is None else shown
        self._cancelled = threading.Event() if cancelled is None else cancelled

    def update(self, count: int) -> None:
        """Record the arrival of `count` more bytes."""
        if self._cancelled.is_set():
            raise CancelledDownload
        self._shown.done += count
        self._shown.total = self.total or None

    def reset(self) -> None:
        """Start again from 0 bytes."""
        self._shown.done = 0

    def close(self) -> None:
        """End the display of progress."""


@contextmanager
def file_meter(name: str, *, progress: bool) -> Iterator[Meter]:
    """Show the download of one file."""
    if not progress:
        yield Meter()
        return
    if not sys.stderr.isatty():
        sys.stderr.write(f"Downloading {name}\n")
    with stage(f"downloading {name}", unit="bytes") as download:
        yield Meter(download)


class BatchMeter:
    """Meters of many files, which can be cancelled together; outside of a terminal, the first one prints a line."""

    def __init__(self, total: int, *, progress: bool) -> None:
        self.cancelled = threading.Event()
        self._lock = threading.Lock()
        self._line = f"Fetching {counted(total, 'file')}\n" if progress and not sys.stderr.isatty() else ""

    @contextmanager
    def file_meter(self, _name: str) -> Iterator[Meter]:
        """Replace :func:`file_meter` inside a batch."""
        with self._lock:
            sys.stderr.write(self._line)
            self._line = ""
        yield Meter(cancelled=self.cancelled)


ATTEMPTS = 4
ATTEMPTS_TO_FIND_HOST = 2  # low, so that a machine without network fails soon
PAUSE = 0.5  # seconds before the second attempt; doubles with each further one
LONGEST_PAUSE = 10.0  # seconds, even if the server asks for a longer pause
TIMEOUT = (10.0, 60.0)  # seconds to connect, and between two parts of the response
_PIECE = 256 * 1024  # bytes
_TRANSIENT = frozenset({408, 425, 429, 500, 502, 503, 504})
_THIS_MACHINE = frozenset({"localhost", "127.0.0.1", "::1"})
_SECRET = re.compile(r"(?i)sig|token|key|credential|password|secret")

MIRROR_REMEDY = (
    "On a machine without network, set BRAINSCORE_MIRROR to a folder that `wget --force-directories` filled "
    "(host/path) on a machine with network access."
)


def redacted_url(url: str) -> str:
    """Return the URL without user, password and signature, for messages and receipts.

    Examples
    --------
    >>> redacted_url("https://me:secret@example.org/a.csv?versionId=3&X-Amz-Signature=abc")
    'https://example.org/a.csv?versionId=3&X-Amz-Signature=…'
    """
    address = urllib.parse.urlsplit(url)
    fields = [field.partition("=") for field in address.query.split("&")] if address.query else []
    query = "&".join(
        f"{name}=…" if sign and _SECRET.search(name) else name + sign + value for name, sign, value in fields
    )
    return address._replace(netloc=address.netloc.rpartition("@")[2], query=query).geturl()


def download(url: str, stream: IO[bytes], *, meter: Meter, expected: str) -> None:
    """Download `url` into `stream`; transient failures are retried a few times.

    `url`: HTTP or HTTPS address; redirects are followed, and proxies are taken from the environment. `stream`: emptied
    before each attempt. `meter`: receives the number of bytes that arrived. `expected`: the hash that the caller will
    check, for error messages. Raises `FetchError`: a subclass that depends on the cause.
    """
    import requests
    from pooch import HTTPDownloader

    source = Source(redacted_url(url), expected)
    downloader = HTTPDownloader(
        progressbar=meter,
        chunk_size=_PIECE,
        timeout=TIMEOUT,
        # without compression, so that Content-Length is the size of the stored file, whose hash is registered
        headers={"Accept-Encoding": "identity", "User-Agent": "brainscore", **_token_for(url)},
    )

    def attempt() -> None:
        try:
            downloader(url, stream, None)
        except requests.RequestException as error:
            raise _download_error(error, source, stream, meter.total) from error
        if stream.tell() < meter.total:
            raise _incomplete_error(source, stream.tell(), meter.total)

    repeat(attempt, stream, meter)


def repeat(attempt: Callable[[], None], stream: IO[bytes], meter: Meter) -> None:
    """Attempt a download into `stream` as often as its errors say, with growing pauses."""
    for number in itertools.count(1):
        stream.seek(0)
        stream.truncate()
        meter.total = 0
        meter.reset()
        try:
            attempt()
        except FetchError as error:
            if number >= error.attempts:
                raise
            time.sleep(min(max(error.pause, PAUSE * 2 ** (number - 1)), LONGEST_PAUSE))
        else:
            return


def storage_error(error: OSError, doing: str, *, url: str | None = None) -> StorageError:
    """Explain why files could not be written; `doing` is what could not be done."""
    full = error.errno in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
    remedy = "Free some space there (`brainscore cache ls`, `brainscore cache rm`)" if full else "Make it writable"
    failure = StorageError(
        f"cannot {doing}: {error.strerror or error}",
        remedy=f"{remedy}, or set BRAINIO_HOME to a writable folder with enough space.",
    )
    failure.url = url
    return failure


def _token_for(url: str) -> dict[str, str]:
    """The header with ``BRAINSCORE_TOKEN``, only for addresses of ``BRAINSCORE_SITE``, and never unencrypted."""
    site, token = os.environ.get("BRAINSCORE_SITE"), os.environ.get("BRAINSCORE_TOKEN")
    if not (site and token and token.isascii() and token.isprintable()):
        return {}
    asked = urllib.parse.urlsplit(url)
    if _origin(asked) != _origin(urllib.parse.urlsplit(site)):
        return {}
    if asked.scheme != "https" and asked.hostname not in _THIS_MACHINE:
        return {}
    return {"Authorization": f"Bearer {token}"}


def _origin(address: urllib.parse.SplitResult) -> tuple[str, str | None, int]:
    return address.scheme, address.hostname, address.port or (443 if address.scheme == "https" else 80)


def _incomplete_error(source: Source, arrived: int, announced: int) -> IncompleteDownload:
    return incomplete(source, f"after {arrived} of {announced or 'an unknown number of'} bytes")


def incomplete(source: Source, where: str) -> IncompleteDownload:
    """Return the error of a connection that ended before the whole file arrived."""
    remedy = "Try again; if it fails again, check the connection and the proxy, or ask the owner of the data."
    return IncompleteDownload.of(source, f"the download was interrupted {where}", remedy, attempts=ATTEMPTS)


def _host_unknown(error: "requests.RequestException") -> bool:
    from urllib3.exceptions import NameResolutionError

    reason = getattr(error.args[0], "reason", None) if error.args else None
    return isinstance(reason, NameResolutionError)


def _bytes_received(error: "requests.RequestException", stream: IO[bytes]) -> int:
    """Number of bytes that arrived, including those not yet written."""
    from urllib3.exceptions import IncompleteRead

    for cause in getattr(error.args[0], "args", ()) if error.args else ():
        if isinstance(cause, IncompleteRead) and isinstance(cause.partial, int):
            return cause.partial
    return stream.tell()


def _download_error(
    error: "requests.RequestException", source: Source, stream: IO[bytes], announced: int
) -> FetchError:
    import requests

    host, attempts = urllib.parse.urlsplit(source.address).netloc, ATTEMPTS
    if isinstance(error, requests.HTTPError) and error.response is not None:
        failure = status_error(error.response.status_code, error.response.reason, source)
        pause = error.response.headers.get("Retry-After", "")
        failure.pause = float(pause) if pause.isdigit() else 0.0
        return failure
    if isinstance(error, requests.exceptions.ChunkedEncodingError | requests.exceptions.ContentDecodingError):
        return _incomplete_error(source, _bytes_received(error, stream), announced)
    if isinstance(error, requests.exceptions.SSLError):
        problem, attempts = f"the certificate of {host} was not accepted", 1
        remedy = "If a proxy of your institution replaces certificates, set REQUESTS_CA_BUNDLE to its certificate."
    elif isinstance(error, requests.exceptions.ProxyError):
        problem = "the proxy does not respond or refuses the request"
        remedy = "Check HTTPS_PROXY, HTTP_PROXY and NO_PROXY."
    elif isinstance(error, requests.Timeout) or "timed out" in str(error).lower():
        problem = f"{host} did not respond in time"
        remedy = "Try again later, and check the proxy (HTTPS_PROXY)."
    elif _host_unknown(error):
        problem, attempts = f"the host name {host} cannot be resolved", ATTEMPTS_TO_FIND_HOST
        remedy = "Check the network connection and the proxy (HTTPS_PROXY)."
    elif isinstance(error, requests.ConnectionError):
        problem = f"no connection to {host}"
        remedy = "Check the connection and the proxy (HTTPS_PROXY)."
    else:
        return FetchError.of(source, str(error), "Check the URL, or ask the owner of the data.")
    return Offline.of(source, problem, f"{remedy} {MIRROR_REMEDY}", attempts=attempts)


def status_error(status: int, reason: str, source: Source) -> FetchError:
    """Return the error for a server's response."""
    problem = f"the server responded {status} {reason}"
    if status in (401, 403):
        return AccessDenied.of(
            source,
            problem,
            "The data are private or do not exist (the server does not say which): ask the owner of the data "
            "for a copy and put it into a folder named in BRAINSCORE_MIRROR (host/path).",
        )
    if status in (404, 410):
        remedy = "Check the URL and the version; if they are correct, ask the owner of the data where the file is."
        return NotFound.of(source, problem, remedy)
    if status in _TRANSIENT:
        remedy = f"The server has a problem or limits requests: try again later. {MIRROR_REMEDY}"
        return FetchError.of(source, problem, remedy, attempts=ATTEMPTS)
    if status == 407:
        remedy = "The proxy requires a user and a password: check HTTPS_PROXY and HTTP_PROXY."
    else:
        remedy = "Check the URL and the version, or ask the owner of the data."
    return FetchError.of(source, problem, remedy)
