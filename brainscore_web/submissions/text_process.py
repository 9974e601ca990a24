"""Highlights source code, or compares texts line by line, within limits on time and memory.

``python text_process.py highlight|compare SECONDS`` runs in its own process, without Django, so that it starts quickly.
Each line of input and output is JSON.
"""

import difflib
import json
import math
import resource
import sys
import time
from collections.abc import Callable
from typing import Any

_MEMORY = 1_000_000_000
_CONTEXT_LINES = 3


def _highlighter() -> Callable[[str, str], list[str]]:
    """Return a function of a language and a text that returns its lines as HTML."""
    from pygments import highlight
    from pygments.formatters import HtmlFormatter
    from pygments.lexers import get_lexer_by_name

    def lines(language: str, text: str) -> list[str]:
        lexer = get_lexer_by_name(language, stripnl=False, ensurenl=False)
        return str(highlight(text, lexer, HtmlFormatter(nowrap=True))).removesuffix("\n").split("\n")

    return lines


def _compared(old: list[str], new: list[str]) -> list[Any]:
    """Return the blocks of equal lines (start in both, length), and the groups of changes with their context."""
    matcher = difflib.SequenceMatcher(None, old, new)
    return [matcher.get_matching_blocks(), list(matcher.get_grouped_opcodes(_CONTEXT_LINES))]


def main(action: str, seconds: int) -> None:
    """Read ``[key, *values]`` and write ``[key, result]``, line by line."""
    function: Callable[..., Any] = _highlighter() if action == "highlight" else _compared
    limit = math.ceil(time.process_time()) + seconds
    resource.setrlimit(resource.RLIMIT_CPU, (limit, limit + 1))
    resource.setrlimit(resource.RLIMIT_AS, (_MEMORY, _MEMORY))
    for line in sys.stdin:
        key, *values = json.loads(line)
        sys.stdout.write(json.dumps([key, function(*values)]) + "\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]))
