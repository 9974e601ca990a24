"""Output of tests as submitters read it: paths of the server are replaced by paths in the plugins."""

from __future__ import annotations

import re
import sys
import sysconfig
import threading
from collections.abc import Callable, Iterable
from pathlib import Path

from brainscore_core.isolation.sandbox.sandbox import platform_folders

__all__ = ["OutputLines", "PathFilter", "failed_lines"]

_ENVIRONMENTS = re.compile(r"(?:(?:\.\./)+|(?<![\w.-])/)[^\s'\":()\[\]]*/(?:site|dist)-packages/")
_LIBRARY = re.compile(r"(?:(?:\.\./)+|(?<![\w.-])/)[^\s'\":()\[\]]*/lib/python3\.\d+/")
_KINDS = "models|benchmarks|data|metrics"
_PLACE = re.compile(r"^(?P<file>\S[^:\n]*\.py):(?P<line>\d+): (?:in )?(?P<rest>.*)$")
_OWN_FILE = re.compile(rf"(?:{_KINDS})/.+\.py")
_LONGEST_DETAIL = 4000  # characters


class PathFilter:
    """Replaces paths of the server in text.

    Parameters
    ----------
    folders : iterable of Path
        Folders with ``models/``, ``benchmarks/`` and so on, of which paths are shown from there.
    hidden : iterable of Path
        Further folders of the site, of which only the name of the file is shown.

    Examples
    --------
    >>> hide = PathFilter([Path("/srv/site/live/3f2a")], [Path("/srv/site")])
    >>> hide("/srv/site/live/3f2a/models/mine/test.py:3: no file '/srv/site/files/1f/weights.pth'")
    "models/mine/test.py:3: no file '…/weights.pth'"
    >>> hide("/usr/lib/python3.11/json/decoder.py:5: in decode")
    'json/decoder.py:5: in decode'
    """

    def __init__(self, folders: Iterable[Path], hidden: Iterable[Path] = ()) -> None:
        roots = {str(path) for folder in folders for path in (folder, folder.resolve())}
        roots |= {str(folder.parent) for folder in platform_folders()} | {sysconfig.get_paths()["purelib"]}
        self._roots = [_below(root, "/") for root in sorted(roots, key=len, reverse=True) if len(root) > 1]
        places = {str(path) for folder in hidden for path in (folder, folder.resolve())} | {sys.prefix}
        ordered = sorted(places, key=len, reverse=True)
        self._hidden = [_below(place, r"/(?:[^\s'\":()\[\]/]+/)*") for place in ordered if len(place) > 1]

    def __call__(self, text: str) -> str:
        """Return the text without paths of the server."""
        for root in self._roots:
            text = root.sub("", text)
        text = _LIBRARY.sub("", _ENVIRONMENTS.sub("", text))
        for place in self._hidden:
            text = place.sub("…/", text)
        return text


def _below(folder: str, following: str) -> re.Pattern[str]:
    """Match a folder with what follows it: absolute, or relative to another one, such as ``../../revisions/3f2a``."""
    whole, end = folder.lstrip("/"), "/".join(folder.split("/")[-2:])
    between = r"(?:\.\./)+(?:[^\s'\":()\[\]]*/)?"
    return re.compile(rf"(?:(?:(?:\.\./)+|(?<![\w.-])/){re.escape(whole)}|{between}{re.escape(end)}){following}")


class OutputLines:
    """Passes on complete lines of output, filtered; parts of lines wait for the rest. A context manager.

    Parameters
    ----------
    add : callable
        Called with text.
    hide : callable
        The filter, which sees complete lines.
    take : callable, optional
        Called with each complete line; returns what of it is passed on.
    """

    _LONGEST = 100_000  # characters of a line, after which it is passed on in parts

    def __init__(
        self, add: Callable[[str], None], hide: Callable[[str], str], take: Callable[[str], str] | None = None
    ) -> None:
        self._add, self._hide, self._take = add, hide, take
        self._rest = ""
        self._lock = threading.Lock()

    def __enter__(self) -> OutputLines:
        return self

    def __exit__(self, *_: object) -> None:
        with self._lock:
            if self._rest:
                self._add(self._hide(self._rest))
                self._rest = ""

    def add(self, text: str) -> None:
        """Add output; may be called from any thread."""
        with self._lock:
            text = self._rest + text
            end = text.rfind("\n") + 1
            if not end and len(text) > self._LONGEST:
                end = len(text)
            lines, self._rest = text[:end], text[end:]
            if self._take is not None:
                lines = "".join(map(self._take, lines.splitlines(keepends=True)))
            if lines:
                self._add(self._hide(lines))


def failed_lines(traceback: str) -> tuple[str, int | None, str]:
    r"""Return the place of a failure in the plugin, and its lines, from pytest's short traceback without server paths.

    Lines of other packages are left out, except those with the error.

    Parameters
    ----------
    traceback : str
        The text of a failed test in pytest's report.

    Returns
    -------
    tuple of str, int or None, str
        File and line in the plugin where the failure can be seen, ``''`` and None if there is none; the lines.

    Examples
    --------
    >>> file, line, text = failed_lines(
    ...     "models/mine/test.py:5: in test_it\n    load()\njson/decoder.py:9: in decode\n    raise X\nE   X: no"
    ... )
    >>> file, line
    ('models/mine/test.py', 5)
    >>> print(text)
    models/mine/test.py:5: in test_it
        load()
    … 1 call in other packages …
    E   X: no
    """
    file, number = "", None
    kept: list[str] = []
    skipped, own = 0, True
    for line in traceback.splitlines():
        if place := _PLACE.match(line):
            own = _OWN_FILE.fullmatch(place["file"]) is not None
            if own:
                file, number = place["file"], int(place["line"])
            else:
                skipped += 1
        if own or line.startswith("E "):
            if skipped:
                kept.append(f"… {skipped} call{'s' if skipped > 1 else ''} in other packages …")
                skipped = 0
            kept.append(line)
    text = "\n".join(kept).strip("\n")
    if len(text) > _LONGEST_DETAIL:
        text = f"{text[: _LONGEST_DETAIL // 2]}\n…\n{text[-_LONGEST_DETAIL // 2 :]}"
    return file, number, text
