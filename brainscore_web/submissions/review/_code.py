"""What can be read off the code of plugins without running it, for the checklist."""

from __future__ import annotations

import ast
import re
import warnings
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from brainscore_web.submissions.texts import FileText

__all__ = ["Call", "PluginCode", "Test", "hashes_of", "read_plugin"]

_HASH = re.compile(r"\b(?:[0-9a-f]{40}|[0-9a-f]{64})\b")
_VERSION = re.compile(r"version_id\s*=\s*[\"']([^\"'\n]{1,200})[\"']")
_MOST_HASHES = 300


@dataclass(frozen=True)
class Call:
    """A call: of what, with which keywords; literals as their values, the rest as None."""

    name: str
    path: str
    line: int
    keywords: Mapping[str, Any]
    positional: tuple[Any, ...] = ()


@dataclass(frozen=True)
class Test:
    """A test function: what it calls, what it asks of what, whether it checks anything."""

    name: str
    path: str
    line: int
    calls: frozenset[str]
    attributes: frozenset[str]
    asserts: bool
    private: bool


@dataclass
class PluginCode:
    """What the code of one plugin says."""

    bases: list[tuple[str, str, int]] = field(default_factory=list)
    calls: list[Call] = field(default_factory=list)
    defined: dict[str, tuple[str, int]] = field(default_factory=dict)
    constants: dict[str, tuple[Any, str, int]] = field(default_factory=dict)
    tests: list[Test] = field(default_factory=list)
    unread: list[str] = field(default_factory=list)
    documented: int = 0
    functions: int = 0


def read_plugin(folder: str, texts: Mapping[str, FileText]) -> PluginCode:
    """Read the Python files of a plugin.

    Parameters
    ----------
    folder : str
        Such as ``'benchmarks/mine/'``.
    texts : mapping of str to FileText
        Files of the revision.
    """
    found = PluginCode()
    for path, file in texts.items():
        if not path.startswith(folder) or not path.endswith(".py"):
            continue
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # of strange escapes in others' strings
                tree = ast.parse(file.source) if file.source or not file.size else None
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            tree = None
        if tree is None:
            found.unread.append(path)
            continue
        _constants(found, path, tree)
        if path.rpartition("/")[2].startswith("test"):
            found.tests += _tests(path, tree)
        else:
            _code(found, path, tree)
    found.calls = [_named(call, found.constants) for call in found.calls]
    return found


def hashes_of(texts: Mapping[str, FileText]) -> tuple[set[str], set[str]]:
    """SHA-1s and SHA-256s, and version ids, that stand in Python files."""
    hashes: set[str] = set()
    versions: set[str] = set()
    for path, file in texts.items():
        if path.endswith(".py") and len(hashes) < _MOST_HASHES and len(versions) < _MOST_HASHES:
            hashes.update(_HASH.findall(file.source))
            versions.update(_VERSION.findall(file.source))
    return set(sorted(hashes)[:_MOST_HASHES]), set(sorted(versions)[:_MOST_HASHES])


def _constants(found: PluginCode, path: str, tree: ast.Module) -> None:
    for node in tree.body:
        if isinstance(node, ast.Assign) and isinstance(node.value, ast.Constant):
            for target in node.targets:
                if isinstance(target, ast.Name):
                    found.constants[target.id] = (node.value.value, path, node.lineno)


def _code(found: PluginCode, path: str, tree: ast.Module) -> None:
    for node in ast.walk(tree):
        if isinstance(node, ast.ClassDef):
            found.bases += [(_last(base), path, node.lineno) for base in node.bases]
        if isinstance(node, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            found.functions += 1
            found.documented += ast.get_docstring(node) is not None
            found.defined.setdefault(node.name, (path, node.lineno))
        if isinstance(node, ast.Call):
            keywords = {one.arg: _value(one.value) for one in node.keywords if one.arg}
            positional = tuple(_value(one) for one in node.args)
            found.calls.append(Call(_last(node.func), path, node.lineno, keywords, positional))


def _tests(path: str, tree: ast.Module) -> Iterator[Test]:
    def below(nodes: list[ast.stmt], private: bool) -> Iterator[Test]:
        for node in nodes:
            if isinstance(node, ast.ClassDef):
                yield from below(node.body, private or _marked(node))
            elif isinstance(node, ast.FunctionDef) and node.name.startswith("test"):
                inner = list(ast.walk(node))
                calls = frozenset(_last(one.func) for one in inner if isinstance(one, ast.Call))
                yield Test(
                    node.name,
                    path,
                    node.lineno,
                    calls,
                    frozenset(one.attr for one in inner if isinstance(one, ast.Attribute)),
                    any(isinstance(one, ast.Assert) for one in inner) or bool(calls & {"raises", "approx", "check"}),
                    private or _marked(node),
                )

    yield from below(tree.body, any("private_access" in ast.dump(node) for node in tree.body if _is_mark(node)))


def _is_mark(node: ast.stmt) -> bool:
    return isinstance(node, ast.Assign) and any(
        isinstance(one, ast.Name) and one.id == "pytestmark" for one in node.targets
    )


def _marked(node: ast.ClassDef | ast.FunctionDef) -> bool:
    return any("private_access" in ast.dump(one) for one in node.decorator_list)


def _named(call: Call, constants: Mapping[str, tuple[Any, str, int]]) -> Call:
    """Put constants of the plugin's modules in for their names."""

    def put(value: Any) -> Any:
        return constants.get(value.id, (None,))[0] if isinstance(value, ast.Name) else value

    keywords = {name: put(value) for name, value in call.keywords.items()}
    return Call(call.name, call.path, call.line, keywords, tuple(put(value) for value in call.positional))


def _value(node: ast.expr) -> Any:
    if isinstance(node, ast.Constant):
        return node.value
    return node if isinstance(node, ast.Name) else None


def _last(node: ast.expr) -> str:
    """The last part of a name: ``b`` of ``a.b``."""
    if isinstance(node, ast.Attribute):
        return node.attr
    if isinstance(node, ast.Subscript):
        return _last(node.value)
    return node.id if isinstance(node, ast.Name) else ""
