"""Remove what identifies a person or a machine from receipts: folders, user names, host names, credentials."""

import getpass
import re
import socket
import sys
from contextlib import suppress
from functools import lru_cache
from pathlib import Path, PurePosixPath, PureWindowsPath
from traceback import TracebackException
from urllib.parse import parse_qsl, unquote, urlencode, urlsplit, urlunsplit

# two components at least, not inside a URL or a relative path
_POSIX_PATH = re.compile(r"(?<![\w:/.~>-])/(?:[^\s/'\"<>|:;,()\[\]{}]+/)+[^\s/'\"<>|:;,()\[\]{}]*")
_QUOTED_PATH = re.compile(r"(['\"])/[^'\"\n]*/([^'\"\n/]*)\1")
_WINDOWS_PATH = re.compile(r"(?<!\w)(?:[A-Za-z]:[\\/]|\\\\)(?:[^\\/\s'\"<>|:;,]+[\\/])*[^\\/\s'\"<>|:;,]*")
_URL = re.compile(r"\b[a-z][a-z0-9+.-]{0,30}://[^\s'\"<>]+", re.IGNORECASE)
_HARMLESS = {"root", "user", "localhost"}
_KEPT_QUERY = {"versionid", "raw", "download"}


def scrub_text(text: str) -> str:
    """Replace absolute paths by ``…/<last part>``, and remove user and host names and credentials.

    Examples
    --------
    >>> scrub_text("no file '/home/alice/data/stimuli.csv'")
    "no file '…/stimuli.csv'"
    >>> scrub_text("cannot reach https://alice:secret@example.org/data/x.nc?token=1")
    'cannot reach https://example.org/data/x.nc'
    """
    text = text.encode("utf-8", "replace").decode()
    urls: list[str] = []

    def set_aside(match: re.Match[str]) -> str:
        urls.append(scrub_url(match[0]))
        return f"\0{len(urls) - 1}\0"

    text = _URL.sub(set_aside, text.replace("\0", ""))
    for folder in _known_folders():
        text = text.replace(folder + "/", "…/").replace(folder + "\\", "…/").replace(folder, "…")
    text = _QUOTED_PATH.sub(r"\1…/\2\1", text)
    text = _WINDOWS_PATH.sub(lambda match: f"…/{PureWindowsPath(match[0]).name}", text)
    text = _POSIX_PATH.sub(lambda match: f"…/{PurePosixPath(match[0]).name}", text)
    text = re.sub(r"…/[^\s'\"]*/", "…/", text)
    for name, replacement in _personal_names():
        text = re.sub(rf"\b{re.escape(name)}\b", replacement, text)
    return re.sub("\0(\\d+)\0", lambda match: urls[int(match[1])], text)


def scrub_traceback(error: BaseException) -> str:
    """Format a traceback with file names that start at their package, not at the root of the disk."""
    formatted = TracebackException.from_exception(error, capture_locals=False)
    seen: set[int] = set()
    pending: list[TracebackException | None] = [formatted]
    while pending:
        text = pending.pop()
        if text is None or id(text) in seen:
            continue
        seen.add(id(text))
        for frame in text.stack:
            _ = frame.line  # read the source line while the real file name is still known
            frame.filename = _path_from_package(frame.filename)
        pending += [text.__cause__, text.__context__, *(text.exceptions or [])]
    return scrub_text("".join(formatted.format()))


def scrub_url(url: str) -> str:
    """Remove credentials and signatures from an address; of a local address only the file's name stays.

    Examples
    --------
    >>> scrub_url("file:///home/alice/data/stimuli.csv")
    'file:stimuli.csv'
    >>> scrub_url("https://alice:secret@example.org/a.nc?versionId=3&X-Amz-Signature=f00")
    'https://example.org/a.nc?versionId=3'
    """
    try:
        address = urlsplit(url)
        host, port = address.hostname, address.port
    except ValueError:
        return "not an address"
    if not host or len(address.scheme) < 2:
        return f"file:{PureWindowsPath(PurePosixPath(unquote(address.path or url)).name).name}"
    host = f"[{host}]" if ":" in host else host
    query = urlencode([(key, value) for key, value in parse_qsl(address.query) if key.lower() in _KEPT_QUERY])
    return urlunsplit((address.scheme, f"{host}:{port}" if port else host, address.path, query, ""))


def _path_from_package(filename: str) -> str:
    path = Path(filename)
    if not path.is_absolute():
        return filename
    roots = [Path(entry) for entry in sys.path if entry]
    inside = [root for root in roots if path.is_relative_to(root)]
    if not inside:
        return path.name
    return path.relative_to(max(inside, key=lambda root: len(root.parts))).as_posix()


def _known_folders() -> list[str]:
    folders = [Path.cwd(), Path(sys.prefix), Path(sys.base_prefix)]
    with suppress(RuntimeError):  # the user has no home folder
        folders.append(Path.home())
    return sorted({str(folder) for folder in folders if len(folder.parts) > 2}, key=len, reverse=True)


@lru_cache(maxsize=1)
def _personal_names() -> list[tuple[str, str]]:
    try:
        user = getpass.getuser()
    except (OSError, KeyError, ImportError):  # no user database, as in some containers
        user = ""
    host = socket.gethostname()
    names = [(user, "<user>"), (host, "<host>"), (host.split(".")[0], "<host>")]
    return [(name, mark) for name, mark in names if len(name) >= 4 and name.lower() not in _HARMLESS]
