"""Ask regexploit whether the time of a regular expression grows with the cube of a text's length, or faster.

``make lint`` runs it. What grows with the square is not found: texts of strangers are short
(docs/operators/reliability.md).
"""

from __future__ import annotations

import ast
import re
import sys
import warnings
from collections.abc import Iterator
from pathlib import Path

from regexploit.ast.sre import SreOpParser
from regexploit.languages.python_node_visitor import PythonNodeVisitor
from regexploit.redos import find

ROOT = Path(__file__).resolve().parents[1]
PACKAGES = ("brainio", "brainscore", "brainscore_core", "brainscore_language", "brainscore_vision", "brainscore_web")


def slow_expressions(file: Path) -> Iterator[tuple[int, str]]:
    """Line and pattern of each such expression of a file."""
    visitor = PythonNodeVisitor()
    visitor.visit(ast.parse(file.read_bytes()))
    for one in visitor.patterns:
        try:
            parsed = SreOpParser().parse_sre(one.pattern, one.flags)
        except re.error:  # a text that is no expression
            continue
        if any(redos.starriness > 2 for redos in find(parsed)):
            yield one.lineno, one.pattern


def main() -> None:
    """Print what was found, and fail if there was anything."""
    files = [file for package in PACKAGES for file in sorted((ROOT / package).rglob("*.py"))]
    found = [
        f"{file.relative_to(ROOT)}:{line}: {pattern}" for file in files for line, pattern in slow_expressions(file)
    ]
    if found:
        sys.exit("\n".join(found))


if __name__ == "__main__":
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        main()
