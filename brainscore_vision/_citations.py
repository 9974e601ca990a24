"""Citations that stand as texts in a plugin's source."""

from __future__ import annotations

import ast
import inspect
import re
from pathlib import Path

__all__ = ["citations"]

_BIBTEX = re.compile(r"\s*@\w+\s*\{")


def citations(folder: Path) -> list[str]:
    """Find the BibTeX entries in a plugin's Python files, without running any.

    Parameters
    ----------
    folder : Path
        The plugin's folder, or its file where it is a single module.

    Returns
    -------
    list of str
        Each once, without indentation, in the order of the files' names.

    Examples
    --------
    >>> (entry,) = citations(Path(__file__).parent / "models" / "pixels")
    >>> entry.splitlines()[0].startswith("@")
    True
    """
    found: dict[str, None] = {}
    for file in sorted(folder.rglob("*.py")) if folder.is_dir() else [folder]:
        try:
            tree = ast.parse(file.read_bytes())
        except (OSError, SyntaxError, ValueError):
            continue  # loading the plugin says what is wrong with it
        for node in ast.walk(tree):
            if isinstance(node, ast.Constant) and isinstance(node.value, str) and _BIBTEX.match(node.value):
                found[inspect.cleandoc(node.value)] = None
    return list(found)
