"""One download over HTTP: a few attempts, and errors that say what to do."""

import errno
import os
import re
import time
import urllib.parse
from pathlib import Path
from typing import IO, TYPE_CHECKING

from ._fetch_errors import AccessDenied, FetchError, IncompleteDownload, NotFound, Offline, StorageError
from ._progress import Meter

if TYPE_CHECKING:
    import requests

__all__ = ["MIRROR_REMEDY", "TIMEOUT", "TRANSIENT", "download", "explain_status", "shown", "storage_error"]

ATTEMPTS = 4
ATTEMPTS_TO_FIND_HOST = 2  # a machine without network says so soon
PAUSE = 0.5  # seconds before the second attempt; doubles with each further one
LONGEST_PAUSE = 10.0  # seconds, also where the server asks for more
TIMEOUT = (10.0, 60.0)  # seconds to connect, and between two pieces of the answer
_PIECE = 256 * 1024  # bytes
TRANSIENT = frozenset({408, 425, 429, 500, 502, 503, 504})
_THIS_MACHINE = frozenset({"localhost", "127.0.0.1", "::1"})
_SECRET = re.compile(r"(?i)sig|token|key|credential|password|secret")

MIRROR_REMEDY = (
    "On a machine without network, set BRAINSCORE_MIRROR to a folder that `wget --force-directories` filled "
    "(host/path) on a machine with one."
)


def shown(url: str) -> str:
    """Return the URL as messages and receipts may show it: without user, password, signature.

    Examples
    --------
    >>> shown("https://me:secret@example.org/a.csv?versionId=3&X-Amz-Signature=abc")
    'https://example.org/a.csv?versionId=3&X-Amz-Signature=…'
    """
    parts = urllib.parse.urlsplit(url)
    fields = [field.partition("=") for field in parts.query.split("&")] if parts.query else []
    query = "&".join(
        f"{name}=…" if sign and _SECRET.search(name) else name + sign + value for name, sign, value in fields
    )
    return parts._replace(netloc=parts.netloc.rpartition("@")[2], query=query).geturl()


def download(url: str, stream: IO[bytes], *, meter: Meter, expected: str) -> None:
    """Write what `url` answers to `stream`; transient failures are tried again a few times.

    Parameters
    ----------
    url : str
        HTTP or HTTPS address; redirects are followed, proxies taken from the environment.
    stream : binary file
        Emptied before each attempt.
    meter : Meter
        Told how many bytes arrived.
    expected : str
        The hash that the caller will check, for the errors.

    Raises
    ------
    FetchError
        One of its subclasses, by cause.
    """
    import requests
    from pooch import HTTPDownloader

    downloader = HTTPDownloader(
        progressbar=meter,
        chunk_size=_PIECE,
        timeout=TIMEOUT,
        # the hash is that of the stored file: no compression on the way, so that Content-Length counts its bytes
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
            failure = _explain(error, url, stream, meter.total, expected)
            attempts, pause = _patience(error)
            failure.__cause__ = error
        if attempt >= attempts:
            raise failure
        time.sleep(min(max(pause, PAUSE * 2 ** (attempt - 1)), LONGEST_PAUSE))
        meter.reset()


def storage_error(error: OSError, url: str, folder: Path) -> StorageError:
    """Explain why `folder` did not take the file."""
    full = error.errno in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
    remedy = "Free some space there (`brainscore cache ls`, `brainscore cache rm`)" if full else "Make it writable"
    return StorageError(
        f"cannot store {shown(url)} in {folder}: {error.strerror or error}",
        remedy=f"{remedy}, or set BRAINIO_HOME to a folder with room that you may write to.",
        url=shown(url),
    )


def _token_for(url: str) -> dict[str, str]:
    """The header with ``BRAINSCORE_TOKEN``, for addresses of ``BRAINSCORE_SITE`` and no others; never unencrypted."""
    site, token = os.environ.get("BRAINSCORE_SITE"), os.environ.get("BRAINSCORE_TOKEN")
    if not (site and token and token.isascii() and token.isprintable()):
        return {}
    asked = urllib.parse.urlsplit(url)
    if _origin(asked) != _origin(urllib.parse.urlsplit(site)):
        return {}
    if asked.scheme != "https" and asked.hostname not in _THIS_MACHINE:
        return {}
    return {"Authorization": f"Bearer {token}"}


def _origin(parts: urllib.parse.SplitResult) -> tuple[str, str | None, int]:
    return parts.scheme, parts.hostname, parts.port or (443 if parts.scheme == "https" else 80)


def _check_length(url: str, stream: IO[bytes], announced: int, expected: str) -> None:
    arrived = stream.tell()
    if arrived < announced:
        raise _incomplete(url, arrived, announced, expected)


def _incomplete(url: str, arrived: int, announced: int, expected: str) -> IncompleteDownload:
    return IncompleteDownload(
        f"{shown(url)} broke off after {arrived} of {announced or 'an unknown number of'} bytes (expected {expected})",
        remedy="Try again; if it breaks off again, check the connection and the proxy, or ask the owner of the data.",
        url=shown(url),
        expected=expected,
    )


def _patience(error: "requests.RequestException") -> tuple[int, float]:
    """How many attempts this failure is worth, and how many seconds the server wants to be left alone."""
    import requests

    if isinstance(error, requests.HTTPError) and error.response is not None:
        if error.response.status_code not in TRANSIENT:
            return 1, 0.0
        wanted = error.response.headers.get("Retry-After", "")
        return ATTEMPTS, float(wanted) if wanted.isdigit() else 0.0
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


def _arrived(error: "requests.RequestException", stream: IO[bytes]) -> int:
    """How many bytes came, those that were not yet written included."""
    from urllib3.exceptions import IncompleteRead

    for cause in getattr(error.args[0], "args", ()) if error.args else ():
        if isinstance(cause, IncompleteRead) and isinstance(cause.partial, int):
            return cause.partial
    return stream.tell()


def _explain(
    error: "requests.RequestException", url: str, stream: IO[bytes], announced: int, expected: str
) -> FetchError:
    import requests

    address = shown(url)
    host = urllib.parse.urlsplit(address).netloc
    if isinstance(error, requests.HTTPError) and error.response is not None:
        return explain_status(error.response.status_code, error.response.reason, address, expected)
    if isinstance(error, requests.exceptions.ChunkedEncodingError | requests.exceptions.ContentDecodingError):
        return _incomplete(url, _arrived(error, stream), announced, expected)
    if isinstance(error, requests.exceptions.SSLError):
        what = f"the certificate of {host} was not accepted"
        remedy = "If a proxy of your institute signs anew, set REQUESTS_CA_BUNDLE to its certificate."
    elif isinstance(error, requests.exceptions.ProxyError):
        what = "the proxy does not answer or refuses"
        remedy = "Check HTTPS_PROXY, HTTP_PROXY and NO_PROXY."
    elif isinstance(error, requests.Timeout) or "timed out" in str(error).lower():
        what = f"{host} did not answer in time"
        remedy = "Try again later, and check the proxy (HTTPS_PROXY)."
    elif _host_unknown(error):
        what = f"the name {host} is unknown here: no network?"
        remedy = "Check the connection and the proxy (HTTPS_PROXY)."
    elif isinstance(error, requests.ConnectionError):
        what = f"no connection to {host}"
        remedy = "Check the connection and the proxy (HTTPS_PROXY)."
    else:
        return FetchError(
            f"cannot fetch {address}: {error} (expected {expected})",
            remedy="Check the URL, or ask the owner of the data.",
            url=address,
            expected=expected,
        )
    return Offline(
        f"cannot fetch {address}: {what} (expected {expected})",
        remedy=f"{remedy} {MIRROR_REMEDY}",
        url=address,
        expected=expected,
    )


def explain_status(status: int, reason: str, address: str, expected: str) -> FetchError:
    """Make an error of a server's answer."""
    message = f"cannot fetch {address}: the server answered {status} {reason} (expected {expected})"
    if status in (401, 403):
        return AccessDenied(
            message,
            remedy=(
                "The data are private, or no such file exists and the server does not tell: ask the owner of the data "
                "for a copy and put it into a folder named in BRAINSCORE_MIRROR (host/path)."
            ),
            url=address,
            expected=expected,
        )
    if status in (404, 410):
        return NotFound(
            message,
            remedy="Check the URL and the version; if they are right, ask the owner of the data where the file is now.",
            url=address,
            expected=expected,
        )
    if status in TRANSIENT:
        remedy = f"The server is in trouble or asks for patience: try again later. {MIRROR_REMEDY}"
    elif status == 407:
        remedy = "The proxy wants a user and a password: check HTTPS_PROXY and HTTP_PROXY."
    else:
        remedy = "Check the URL and the version, or ask the owner of the data."
    return FetchError(message, remedy=remedy, url=address, expected=expected)
