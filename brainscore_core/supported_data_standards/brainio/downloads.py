"""Downloads over HTTP: progress, retries, and errors that suggest a remedy."""

import errno
import os
import re
import socket
import sys
import threading
import time
import urllib.parse
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from types import TracebackType
from typing import IO, TYPE_CHECKING

from brainscore_core.errors import BrainScoreError, DataUnavailable, UserError
from brainscore_core.plurals import counted
from brainscore_core.progress import Stage, stage

if TYPE_CHECKING:
    import requests


class FetchError(UserError):
    """A file could not be fetched.

    Parameters
    ----------
    message, remedy : str
        The problem with its URL, and how to solve it.
    url : str, optional
        The file's address, without credentials.
    expected, found : str, optional
        Hashes, as ``'sha1:…'`` or ``'sha256:…'``; `found` is None if no file arrived.
    """

    def __init__(
        self,
        message: str,
        remedy: str | None = None,
        *,
        url: str | None = None,
        expected: str | None = None,
        found: str | None = None,
    ) -> None:
        super().__init__(message, remedy)
        self.url = url
        self.expected = expected
        self.found = found


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
    """Receives the progress of a download (pooch's protocol: `total`, `update`, `reset`, `close`). Shows nothing."""

    def __init__(self, cancelled: threading.Event | None = None) -> None:
        self.total = 0
        self._cancelled = cancelled

    def update(self, count: int) -> None:
        """Record the arrival of `count` more bytes."""
        if self._cancelled is not None and self._cancelled.is_set():
            raise CancelledDownload

    def reset(self) -> None:
        """Start again from 0 bytes."""

    def close(self) -> None:
        """End the display of progress."""


class _StageMeter(Meter):
    """Shows progress as that of a stage."""

    def __init__(self, download: Stage) -> None:
        super().__init__()
        self._download = download

    def update(self, count: int) -> None:
        super().update(count)
        self._download.done += count
        self._download.total = self.total or None

    def reset(self) -> None:
        self._download.done = 0


@contextmanager
def file_meter(name: str, *, progress: bool) -> Iterator[Meter]:
    """Show the download of one file."""
    if not progress:
        yield Meter()
        return
    if not sys.stderr.isatty():
        sys.stderr.write(f"Downloading {name}\n")
    with stage(f"downloading {name}", unit="bytes") as download:
        yield _StageMeter(download)


class BatchMeter:
    """Show the progress of many files; outside of a terminal, print one line if a file must be downloaded."""

    def __init__(self, total: int, *, progress: bool) -> None:
        self.cancelled = threading.Event()
        self._total = total
        self._progress = progress
        self._announced = False
        self._lock = threading.Lock()
        self._open = ExitStack()
        self._stage: Stage | None = None

    def __enter__(self) -> "BatchMeter":
        if self._progress:
            self._stage = self._open.enter_context(stage("fetching", self._total, unit="files"))
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        if error is not None:
            self.cancelled.set()
        self._open.close()

    @contextmanager
    def file_meter(self, name: str) -> Iterator[Meter]:
        """Replace :func:`file_meter` inside a batch; `name` is not shown."""
        with self._lock:
            if self._progress and not self._announced and not sys.stderr.isatty():
                sys.stderr.write(f"Fetching {counted(self._total, 'file')}\n")
            self._announced = True
        yield Meter(self.cancelled)

    def advance(self) -> None:
        """Count one more file as fetched."""
        if self._stage is not None:
            self._stage.advance()


ATTEMPTS = 4
ATTEMPTS_TO_FIND_HOST = 2  # low, so that a machine without network fails soon
PAUSE = 0.5  # seconds before the second attempt; doubles with each further one
LONGEST_PAUSE = 10.0  # seconds, even if the server asks for a longer pause
TIMEOUT = (10.0, 60.0)  # seconds to connect, and between two parts of the response
_PIECE = 256 * 1024  # bytes
TRANSIENT = frozenset({408, 425, 429, 500, 502, 503, 504})
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

    downloader = HTTPDownloader(
        progressbar=meter,
        chunk_size=_PIECE,
        timeout=TIMEOUT,
        # without compression, so that Content-Length is the size of the stored file, whose hash is registered
        headers={"Accept-Encoding": "identity", "User-Agent": "brainscore", **_token_for(url)},
    )
    attempt = 0
    while True:
        attempt += 1
        stream.seek(0)
        stream.truncate()
        meter.total = 0
        try:
            downloader(url, stream, None)
            _check_length(url, stream, meter.total, expected)
            return
        except IncompleteDownload as error:
            failure: FetchError = error
            attempts, pause = ATTEMPTS, 0.0
        except requests.RequestException as error:
            failure = _download_error(error, url, stream, meter.total, expected)
            attempts, pause = _retry_policy(error)
            failure.__cause__ = error
        if attempt >= attempts:
            raise failure
        time.sleep(min(max(pause, PAUSE * 2 ** (attempt - 1)), LONGEST_PAUSE))
        meter.reset()


def storage_error(error: OSError, url: str, folder: Path) -> StorageError:
    """Explain why the file could not be stored in `folder`."""
    full = error.errno in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
    remedy = "Free some space there (`brainscore cache ls`, `brainscore cache rm`)" if full else "Make it writable"
    return StorageError(
        f"cannot store {redacted_url(url)} in {folder}: {error.strerror or error}",
        remedy=f"{remedy}, or set BRAINIO_HOME to a writable folder with enough space.",
        url=redacted_url(url),
    )


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


def _check_length(url: str, stream: IO[bytes], announced: int, expected: str) -> None:
    arrived = stream.tell()
    if arrived < announced:
        raise _incomplete_error(url, arrived, announced, expected)


def _incomplete_error(url: str, arrived: int, announced: int, expected: str) -> IncompleteDownload:
    return IncompleteDownload(
        f"the download of {redacted_url(url)} was interrupted after {arrived} of "
        f"{announced or 'an unknown number of'} bytes (expected {expected})",
        remedy="Try again; if it fails again, check the connection and the proxy, or ask the owner of the data.",
        url=redacted_url(url),
        expected=expected,
    )


def _retry_policy(error: "requests.RequestException") -> tuple[int, float]:
    """Number of attempts for this kind of failure, and the pause that the server requests, in seconds."""
    import requests

    if isinstance(error, requests.HTTPError) and error.response is not None:
        if error.response.status_code not in TRANSIENT:
            return 1, 0.0
        pause = error.response.headers.get("Retry-After", "")
        return ATTEMPTS, float(pause) if pause.isdigit() else 0.0
    if isinstance(error, requests.exceptions.SSLError):
        return 1, 0.0
    if _host_unknown(error):
        return ATTEMPTS_TO_FIND_HOST, 0.0
    transient = (requests.ConnectionError, requests.Timeout, requests.exceptions.ChunkedEncodingError)
    return (ATTEMPTS if isinstance(error, transient) else 1), 0.0


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
    error: "requests.RequestException", url: str, stream: IO[bytes], announced: int, expected: str
) -> FetchError:
    import requests

    address = redacted_url(url)
    host = urllib.parse.urlsplit(address).netloc
    if isinstance(error, requests.HTTPError) and error.response is not None:
        return status_error(error.response.status_code, error.response.reason, address, expected)
    if isinstance(error, requests.exceptions.ChunkedEncodingError | requests.exceptions.ContentDecodingError):
        return _incomplete_error(url, _bytes_received(error, stream), announced, expected)
    if isinstance(error, requests.exceptions.SSLError):
        problem = f"the certificate of {host} was not accepted"
        remedy = "If a proxy of your institution replaces certificates, set REQUESTS_CA_BUNDLE to its certificate."
    elif isinstance(error, requests.exceptions.ProxyError):
        problem = "the proxy does not respond or refuses the request"
        remedy = "Check HTTPS_PROXY, HTTP_PROXY and NO_PROXY."
    elif isinstance(error, requests.Timeout) or "timed out" in str(error).lower():
        problem = f"{host} did not respond in time"
        remedy = "Try again later, and check the proxy (HTTPS_PROXY)."
    elif _host_unknown(error):
        problem = f"the host name {host} cannot be resolved"
        remedy = "Check the network connection and the proxy (HTTPS_PROXY)."
    elif isinstance(error, requests.ConnectionError):
        problem = f"no connection to {host}"
        remedy = "Check the connection and the proxy (HTTPS_PROXY)."
    else:
        return FetchError(
            f"cannot fetch {address}: {error} (expected {expected})",
            remedy="Check the URL, or ask the owner of the data.",
            url=address,
            expected=expected,
        )
    return Offline(
        f"cannot fetch {address}: {problem} (expected {expected})",
        remedy=f"{remedy} {MIRROR_REMEDY}",
        url=address,
        expected=expected,
    )


def status_error(status: int, reason: str, address: str, expected: str) -> FetchError:
    """Return the error for a server's response."""
    message = f"cannot fetch {address}: the server responded {status} {reason} (expected {expected})"
    if status in (401, 403):
        return AccessDenied(
            message,
            remedy=(
                "The data are private or do not exist (the server does not say which): ask the owner of the data "
                "for a copy and put it into a folder named in BRAINSCORE_MIRROR (host/path)."
            ),
            url=address,
            expected=expected,
        )
    if status in (404, 410):
        return NotFound(
            message,
            remedy="Check the URL and the version; if they are correct, ask the owner of the data where the file is.",
            url=address,
            expected=expected,
        )
    if status in TRANSIENT:
        remedy = f"The server has a problem or limits requests: try again later. {MIRROR_REMEDY}"
    elif status == 407:
        remedy = "The proxy requires a user and a password: check HTTPS_PROXY and HTTP_PROXY."
    else:
        remedy = "Check the URL and the version, or ask the owner of the data."
    return FetchError(message, remedy=remedy, url=address, expected=expected)
