"""Which plugins may make an object of a given identifier, read from their source."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping, Sequence
from difflib import SequenceMatcher
from pathlib import Path

from brainscore_core.plugins._literals import parse
from brainscore_core.plugins._sources import Plugin

__all__ = ["plugins_that_mention"]

_MOST_PLUGINS = 3
_LEAST_LITERAL = 3


def plugins_that_mention(identifier: str, keys: Mapping[Plugin, Sequence[str]]) -> Iterator[tuple[Plugin, list[str]]]:
    """Give the plugins whose source can spell `identifier`, with their keys, the likeliest first.

    Parameters
    ----------
    identifier : str
        What an object may call itself.
    keys : mapping
        All plugins, with the keys of each.

    Yields
    ------
    (Plugin, list of str)
        First the plugins in which `identifier` stands literally; then at most three in which an
        f-string, a ``+`` or a ``.format`` with at least three fixed characters fits.
    """
    sources = {plugin: _sources(plugin) for plugin in keys}
    literal = [plugin for plugin, texts in sources.items() if any(identifier.encode() in text for text in texts)]
    fitting = [
        plugin
        for plugin, texts in sources.items()
        if plugin not in literal and any(_fits(text, identifier) for text in texts)
    ]

    def likeness(key: str) -> float:
        return -SequenceMatcher(None, key.lower(), identifier.lower()).ratio()

    fitting.sort(key=lambda plugin: min(likeness(key) for key in keys[plugin]))
    for plugin in literal + fitting[:_MOST_PLUGINS]:
        yield plugin, sorted(keys[plugin], key=likeness)


def _sources(plugin: Plugin) -> list[bytes]:
    folder = Path(plugin.folder)
    files = [folder] if folder.is_file() else sorted(folder.rglob("*.py"))
    texts = []
    for file in files:
        if file.name != "test.py":
            try:
                texts.append(file.read_bytes())
            except OSError:
                continue  # the plugin's import will say so
    return texts


def _fits(source: bytes, identifier: str) -> bool:
    try:
        tree = parse(source)
    except (SyntaxError, ValueError, RecursionError):
        return False
    return any(pieces is not None and _matches(pieces, identifier) for pieces in map(_pieces, ast.walk(tree)))


def _matches(pieces: Sequence[str | None], identifier: str) -> bool:
    """Whether a text is these pieces, one after the other, where None is any text; in linear time a piece."""
    fixed = [""]
    for piece in pieces:
        if piece is None:
            fixed.append("")
        else:
            fixed[-1] += piece
    if len(fixed) == 1:
        return identifier == fixed[0]
    first, *middle, last = fixed
    if not (identifier.startswith(first) and identifier.endswith(last)):
        return False
    position = len(first)
    for text in middle:
        position = identifier.find(text, position)
        if position < 0:
            return False
        position += len(text)
    return position <= len(identifier) - len(last)


def _pieces(node: ast.AST) -> list[str | None] | None:
    """Fixed parts of a text that is put together, with None for what varies; None for anything else."""
    match node:
        case ast.JoinedStr(values=parts):
            pieces = [_fixed(part) for part in parts]
        case ast.BinOp(op=ast.Add()):
            pieces = _sum(node)
        case ast.Call(func=ast.Attribute(value=ast.Constant(value=str(template)), attr="format")):
            pieces = [text for part in re.split(r"\{[^{}]*\}", template) for text in (part, None)][:-1]
        case _:
            return None
    if sum(len(piece) for piece in pieces if piece is not None) < _LEAST_LITERAL:
        return None
    return pieces


def _fixed(node: ast.expr) -> str | None:
    return node.value if isinstance(node, ast.Constant) and isinstance(node.value, str) else None


def _sum(node: ast.expr) -> list[str | None]:
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
        return [*_sum(node.left), *_sum(node.right)]
    if isinstance(node, ast.JoinedStr):
        return [_fixed(part) for part in node.values]
    return [_fixed(node)]
