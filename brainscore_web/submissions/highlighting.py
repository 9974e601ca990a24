"""Highlighted source code, line by line; the site's stylesheet colours it.

The lexers of Pygments are regular expressions, and some take minutes for a few lines written for that. They run in a
process of their own with little time and memory; what they do not finish is shown as plain text.
"""

from __future__ import annotations

import hashlib
import json
import logging
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from django.core.cache import caches
from django.utils.html import escape
from django.utils.safestring import SafeString, mark_safe

__all__ = ["highlighted"]

_LOG = logging.getLogger(__name__)
_LANGUAGES = {".py": "python", ".json": "json", ".yml": "yaml", ".yaml": "yaml", ".toml": "toml", ".md": "markdown"}
_MOST = 60_000  # characters of a file; longer files stay plain
_SECONDS = 2  # of computing, for all files of a page that are not in the cache
_WAIT = 10  # seconds until the page is shown without
_PLAIN = "plain"
_PROCESS = Path(__file__).with_name("highlighting_process.py")


def highlighted(files: Mapping[str, Sequence[str]]) -> dict[str, list[SafeString]]:
    """Highlight the lines of files.

    Parameters
    ----------
    files : mapping of str to sequence of str
        Path to lines without line ends. The suffix of the path decides the language: Python, JSON, YAML, TOML or
        Markdown. Everything else, and what takes too long, stays plain.

    Returns
    -------
    dict of str to list of SafeString
        HTML of each line by path.
    """
    texts = {path: "\n".join(lines) for path, lines in files.items()}
    keys = {path: key for path, text in texts.items() if (key := _key(path, text))}
    cache = caches["highlighting"]
    results: dict[str, list[str] | str] = cache.get_many(set(keys.values()))
    missing = {
        key: [_LANGUAGES[Path(path).suffix.lower()], texts[path]] for path, key in keys.items() if key not in results
    }
    if missing:
        made = _run(missing)
        cache.set_many(made)
        results |= made
    return {path: _lines(lines, results.get(keys.get(path, ""), _PLAIN)) for path, lines in files.items()}


def _key(path: str, text: str) -> str | None:
    """Name in the cache of a file that can be highlighted."""
    suffix = Path(path).suffix.lower()
    if suffix not in _LANGUAGES or len(text) > _MOST:
        return None
    return hashlib.sha256(f"{_LANGUAGES[suffix]}\0{text}".encode("utf-8", "surrogatepass")).hexdigest()


def _lines(lines: Sequence[str], result: list[str] | str) -> list[SafeString]:
    if isinstance(result, list) and len(result) == len(lines):  # a lexer may know more line ends than we do
        return [mark_safe(line) for line in result]  # noqa: S308 # Pygments escapes
    return [SafeString(escape(line)) for line in lines]


def _run(missing: Mapping[str, Sequence[str]]) -> dict[str, list[str] | str]:
    """Highlight texts in another process; the one that it does not finish counts as plain from now on."""
    command = [sys.executable, "-I", str(_PROCESS), str(_SECONDS)]
    request = "".join(json.dumps([key, *text]) + "\n" for key, text in missing.items())
    try:
        done = subprocess.run(  # noqa: S603 # our own file
            command, input=request.encode(), stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, timeout=_WAIT
        )
        output, ended = done.stdout, done.returncode == 0
    except subprocess.TimeoutExpired as error:
        output, ended = error.stdout or b"", False
    made: dict[str, list[str] | str] = {}
    for line in output.splitlines(keepends=True):
        if line.endswith(b"\n"):  # else the process ended within it
            key, lines = json.loads(line)
            made[key] = lines
    if not ended:
        culprit = next((key for key in missing if key not in made), None)
        if culprit is not None:
            made[culprit] = _PLAIN
            _LOG.info("a file is shown without highlighting: it takes more than %s s", _SECONDS)
    return made
