"""The Python files of a plugin, parsed."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass

from brainscore_core.plugins._literals import parse
from brainscore_vision.submitting._package import Package, SubmittedPlugin

__all__ = ["Source", "called", "is_test", "measured", "sources_of", "why_unreadable", "written"]


@dataclass(frozen=True)
class Source:
    """One file: its path in the submission, and what stands in it."""

    path: str
    tree: ast.Module

    @property
    def is_test(self) -> bool:
        """Whether it holds tests."""
        return is_test(self.path)


def is_test(path: str) -> bool:
    """Whether a file is one of tests, by its name."""
    name = path.rpartition("/")[2]
    return name == "conftest.py" or name == "test.py" or (name.startswith("test_") and name.endswith(".py"))


def sources_of(package: Package, plugin: SubmittedPlugin) -> Iterator[Source]:
    """Those that can be parsed."""
    for path, content in package.of(plugin).items():
        if path.endswith(".py") and (tree := _parsed(content)) is not None:
            yield Source(path, tree)


def _parsed(content: bytes) -> ast.Module | None:
    try:
        return parse(content)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None


def why_unreadable(content: bytes) -> tuple[int | None, str] | None:
    """Line and reason for which a file is no Python; None where it is."""
    try:
        parse(content)
    except SyntaxError as error:
        return error.lineno, error.msg
    except (ValueError, RecursionError, MemoryError) as error:
        return None, str(error) or "it is nested too deeply"
    return None


def measured(content: bytes) -> tuple[int, int]:
    """How many parts a file of Python has, and how deep its expressions are nested; 0 where it cannot be parsed."""
    tree = _parsed(content)
    waiting: list[tuple[ast.AST, int]] = [] if tree is None else [(tree, 0)]
    count = deepest = 0
    while waiting:
        node, depth = waiting.pop()
        count += 1
        deepest = max(deepest, depth)
        waiting += [(one, depth + isinstance(one, ast.expr)) for one in ast.iter_child_nodes(node)]
    return count, deepest


def written(node: ast.AST) -> str:
    """An expression as source; empty where it cannot be written."""
    try:
        return ast.unparse(node)
    except (ValueError, RecursionError):  # numbers of thousands of digits; what is nested too deeply
        return ""


def called(node: ast.AST) -> str:
    """Last part of the name of what a call calls; empty where there is none."""
    if not isinstance(node, ast.Call):
        return ""
    if isinstance(node.func, ast.Attribute):
        return node.func.attr
    return node.func.id if isinstance(node.func, ast.Name) else ""
