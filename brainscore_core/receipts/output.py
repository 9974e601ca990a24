"""Output of a pair, captured from the whole process, limited in size, and without secrets of the machine."""

import ctypes
import getpass
import os
import re
import socket
import stat
import sys
import tempfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import lru_cache
from pathlib import Path, PurePosixPath, PureWindowsPath
from traceback import TracebackException
from typing import IO, TextIO
from urllib.parse import parse_qsl, unquote, urlencode, urlsplit, urlunsplit

LIMIT = 1_000_000
"""Bytes that are kept: half of them from the beginning, half from the end."""

_GROWTH = 8 * LIMIT  # bytes of the file above which it is cut
_INTERVAL = 0.5
_capturing = threading.Lock()


def unnamed_file() -> IO[bytes]:
    """Open a temporary file without a name, which several processes may append to.

    Examples
    --------
    >>> with unnamed_file() as file:
    ...     written = file.write(b"printed")
    ...     Captured(file).text()
    'printed'
    """
    descriptor, path = tempfile.mkstemp(prefix="brainscore-")
    os.close(descriptor)
    # mode "a" of a file object does not affect other processes
    descriptor = os.open(path, os.O_RDWR | os.O_APPEND | getattr(os, "O_TEMPORARY", 0) | getattr(os, "O_BINARY", 0))
    if not hasattr(os, "O_TEMPORARY"):  # on Windows, an open file keeps its name
        os.unlink(path)
    return open(descriptor, "a+b", buffering=0)


class Captured:
    """What was printed so far.

    `limit` bytes are kept.
    """

    def __init__(self, file: IO[bytes] | None, limit: int = LIMIT) -> None:
        self._file = file
        self._half = max(limit // 2, 1)
        self._first: bytes | None = None  # once something was cut
        self._last = b""
        self._left_out = 0
        self._lock = threading.Lock()
        self._final: str | None = None

    def text(self) -> str:
        """Return what was printed; if that is too long, the beginning, the number of omitted bytes, and the end."""
        if self._final is not None:
            return self._final
        _flush()
        with self._lock:
            self._cut(2 * self._half)
            if self._file is None:
                return ""
            content = self._read(0, self._size())
            if self._first is None:
                return content.decode("utf-8", "replace")
            last = (self._last + content)[-self._half :]
            left_out = self._left_out + len(self._last) + len(content) - len(last)
            middle = f"\n… {left_out:,} bytes left out …\n"
            return self._first.decode("utf-8", "replace") + middle + last.decode("utf-8", "replace")

    def trim(self) -> None:
        """Cut the file if it has become too large; output of this moment may be lost."""
        with self._lock:
            self._cut(_GROWTH)

    def close(self) -> None:
        """Keep the text and release the file."""
        self._final = self.text()
        self._file = None

    def _cut(self, allowed: int) -> None:
        size = self._size()
        if self._file is None or size <= allowed:
            return
        start = 0
        if self._first is None:
            self._first = self._read(0, self._half)
            start = self._half
        previous = self._last
        tail = max(start, size - self._half)
        self._last = (previous + self._read(tail, size) if tail == start else self._read(tail, size))[-self._half :]
        self._left_out += len(previous) + (size - start) - len(self._last)
        os.ftruncate(self._file.fileno(), 0)

    def _size(self) -> int:
        return 0 if self._file is None else os.fstat(self._file.fileno()).st_size

    def _read(self, start: int, end: int) -> bytes:
        if self._file is None:
            return b""
        self._file.seek(start)
        return self._file.read(end - start)


@contextmanager
def capture_output(limit: int = LIMIT) -> Iterator[Captured]:
    r"""Redirect all output of this process to a file.

    Standard output and standard error are redirected as file descriptors, which includes native code and child
    processes. The file has no name, so that no file is left behind. If both already lead to such a file, opened for
    reading and appending, it is emptied and used: the process that opened it can read what was printed before this
    process died. Half of `limit` bytes are kept from the beginning, half from the end. Nothing is captured if another
    thread already captures.

    Examples
    --------
    >>> import subprocess
    >>> with capture_output() as captured:
    ...     print("from Python")
    ...     done = subprocess.run(["echo", "from elsewhere"])
    >>> captured.text()
    'from Python\nfrom elsewhere\n'
    """
    if not _capturing.acquire(blocking=False):
        yield Captured(None)
        return
    try:
        with _given_file() or unnamed_file() as file:
            captured = Captured(file, limit)
            ended = threading.Event()
            watcher = threading.Thread(target=_watch, args=(captured, ended), name="captured-output", daemon=True)
            with _redirected(file):
                watcher.start()
                try:
                    yield captured
                finally:
                    ended.set()
                    watcher.join()
                    captured.close()
    finally:
        _capturing.release()


def _given_file() -> IO[bytes] | None:
    """Open the file without a name to which standard output and standard error already lead, if any."""
    try:
        import fcntl

        states = [os.fstat(descriptor) for descriptor in (1, 2)]
        flags = fcntl.fcntl(2, fcntl.F_GETFL)
        same = states[0].st_ino == states[1].st_ino and states[0].st_dev == states[1].st_dev
        readable = bool(flags & os.O_APPEND) and flags & os.O_ACCMODE == os.O_RDWR
        if not (same and readable and stat.S_ISREG(states[1].st_mode) and states[1].st_nlink == 0):
            return None
        _flush()
        os.ftruncate(2, 0)
        return open(os.dup(2), "a+b", buffering=0)
    except (ImportError, OSError):
        return None


def _watch(captured: Captured, ended: threading.Event) -> None:
    while not ended.wait(_INTERVAL):
        captured.trim()


@contextmanager
def _redirected(file: IO[bytes]) -> Iterator[None]:
    """Redirect standard output and standard error to a file, for Python and for the system."""
    _flush()
    before = sys.stdout, sys.stderr
    saved = {descriptor: _duplicate(descriptor) for descriptor in (1, 2)}
    try:
        for descriptor in saved:
            os.dup2(file.fileno(), descriptor)
        # also if sys.stdout leads elsewhere, as in a notebook; kept references to these work again afterwards
        sys.stdout, sys.stderr = _stream(1), _stream(2)
        yield
    finally:
        _flush()
        sys.stdout, sys.stderr = before
        for descriptor, copy in saved.items():
            if copy is None:
                os.close(descriptor)
            else:
                os.dup2(copy, descriptor)
                os.close(copy)


def _stream(descriptor: int) -> TextIO:
    return open(descriptor, "w", encoding="utf-8", errors="backslashreplace", buffering=1, closefd=False)


def _duplicate(descriptor: int) -> int | None:
    """Copy a descriptor; None if it is closed."""
    try:
        return os.dup(descriptor)
    except OSError:
        return None


def _flush() -> None:
    for stream in (sys.stdout, sys.stderr):
        with suppress(AttributeError, OSError, ValueError):
            stream.flush()
    with suppress(AttributeError, OSError):
        ctypes.CDLL(None).fflush(None)  # what native code printed


LOG_BYTES = 1_000_000
"""Largest size of a stored log, half of it from the beginning, half from the end."""

_LINE = 2000  # characters; the search for paths and addresses takes quadratic time in a line's length
_CONTROL = re.compile(
    r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b\n]*(?:\x07|\x1b\\)?|[@-Z\\-_])|[\x00-\x08\x0b-\x1f\x7f]"
)


def kept_log(text: str) -> str:
    r"""Prepare a log to be stored beside a receipt.

    Of a line that was overwritten, such as a progress bar, the last state stays. Colours and other control characters,
    paths, names of users and machines, and credentials are removed. Lines of more than 2,000 characters and logs of
    more than 1 MB are shortened in the middle. The result has at most `LOG_BYTES` in UTF-8.

    Examples
    --------
    >>> kept_log("10 %\r20 %\r\x1b[32mdone\x1b[0m\nwrote /home/alice/results/a.nc\n")
    'done\nwrote …/a.nc\n'
    """
    text = _without_middle(text, LOG_BYTES)  # the text may have gigabytes
    lines = [_without_middle(_last_state(line), _LINE) for line in text.replace("\r\n", "\n").split("\n")]
    text = scrub_text("\n".join(lines))
    return _bounded(text).strip("\n") + "\n" if text.strip() else ""


def read_log(file: Path) -> str:
    """Read a stored log; of one that is larger than `LOG_BYTES`, the beginning and the end.

    The file may come from another program: of any size, and with bytes that are not text.
    """
    half = LOG_BYTES // 2
    with file.open("rb") as stream:
        size = os.fstat(stream.fileno()).st_size
        if size <= LOG_BYTES:
            return stream.read(LOG_BYTES).decode("utf-8", "replace")
        start = stream.read(half)
        stream.seek(size - half)
        end = stream.read(half)
    return f"{start.decode('utf-8', 'replace')}{_left_out(size - 2 * half, 'bytes')}{end.decode('utf-8', 'replace')}"


def _last_state(line: str) -> str:
    states = [state for state in line.split("\r") if state.strip()]
    return _CONTROL.sub("", states[-1]) if states else ""


def _without_middle(text: str, limit: int) -> str:
    if len(text) <= limit:
        return text
    half = limit // 2
    return f"{text[:half]}{_left_out(len(text) - 2 * half, 'characters')}{text[-half:]}"


def _bounded(text: str) -> str:
    data = text.encode()
    if len(data) < LOG_BYTES:
        return text
    half = LOG_BYTES // 2 - 100  # space for the remark
    start, end = data[:half].decode(errors="ignore"), data[-half:].decode(errors="ignore")
    return f"{start}{_left_out(len(data) - 2 * half, 'bytes')}{end}"


def _left_out(count: int, unit: str) -> str:
    return f"\n… {count:,} {unit} are left out here …\n"


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
