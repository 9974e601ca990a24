"""Values that a source file states outright: constants, loops over constants, f-strings."""

from __future__ import annotations

import ast
import warnings
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Final

__all__ = ["UNKNOWN", "Literals", "parse"]

UNKNOWN: Final = object()
"""Stands for a value that only running the file would tell."""

_LOOP_LIMIT = 10_000
_LONGEST_TEXT = 10_000  # characters: texts that are doubled again and again would fill the memory
_MUTATORS = frozenset(
    {"add", "append", "clear", "discard", "extend", "insert", "pop", "popitem", "remove"}
    | {"reverse", "setdefault", "sort", "update"}
)


def parse(source: bytes) -> ast.Module:
    """Parse a file's bytes; an invalid escape in somebody's string is not our warning."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SyntaxWarning)
        warnings.simplefilter("ignore", DeprecationWarning)
        return ast.parse(source)


class Literals:
    """Evaluates expressions of one file from the constants that the file states.

    Parameters
    ----------
    tree : ast.Module
        The file.
    folder : Path
        Where its relative imports (``from .benchmark import DATASETS``) are looked up.

    Attributes
    ----------
    files : set of str
        The other files that were read on the way.
    """

    def __init__(self, tree: ast.Module, folder: Path) -> None:
        self.files: set[str] = set()
        self._constants = _constants(tree)
        self._folder = folder
        self._others: dict[tuple[str, str], object] = {}
        self._imports = {
            alias.asname or alias.name: (node.module, alias.name)
            for node in tree.body
            if isinstance(node, ast.ImportFrom) and node.level == 1 and node.module
            for alias in node.names
        }

    def evaluate(self, node: ast.expr, values: Mapping[str, object]) -> object:
        """Give an expression's value, or `UNKNOWN`; `values` holds the loops' variables."""
        match node:
            case ast.Constant(value=constant):
                return constant
            case ast.Name(id=name):
                return self._name(name, values)
            case ast.JoinedStr(values=parts):
                return self._join(parts, values)
            case ast.FormattedValue(value=inner, conversion=-1, format_spec=None):
                value = self.evaluate(inner, values)
                try:
                    return format(value) if isinstance(value, str | int | float) else UNKNOWN
                except ValueError:  # a number of more digits than Python writes out
                    return UNKNOWN
            case ast.BinOp(left=left, op=ast.Add(), right=right):
                return self._join([left, right], values)
            case ast.List(elts=items) | ast.Tuple(elts=items) | ast.Set(elts=items):
                members = [self.evaluate(item, values) for item in items]
                return UNKNOWN if any(member is UNKNOWN for member in members) else members
        try:
            return ast.literal_eval(node)
        except (ValueError, TypeError, SyntaxError, RecursionError):
            return UNKNOWN

    def bindings(
        self, target: ast.expr, iterable: ast.expr, values: Mapping[str, object]
    ) -> Iterator[dict[str, object]]:
        """Give, for each turn of ``for target in iterable``, the variables it binds.

        A loop that cannot be known gives one turn with every variable unknown.
        """
        names = [node.id for node in ast.walk(target) if isinstance(node, ast.Name)]
        unknown: dict[str, object] = dict.fromkeys(names, UNKNOWN)
        items = self._items(iterable, values)
        if items is None or len(items) > _LOOP_LIMIT:
            yield unknown
            return
        for item in items:
            if isinstance(target, ast.Name):
                yield {target.id: item}
            elif (
                isinstance(target, ast.Tuple)
                and isinstance(item, list | tuple)
                and len(names) == len(target.elts) == len(item)
            ):
                yield dict(zip(names, item, strict=True))
            else:
                yield unknown

    def _items(self, node: ast.expr, values: Mapping[str, object]) -> list[object] | None:
        if isinstance(node, ast.Call) and not node.keywords:
            return self._called(node, values)
        value = self.evaluate(node, values)
        return list(value) if isinstance(value, list | tuple | set | dict | str) else None

    def _called(self, call: ast.Call, values: Mapping[str, object]) -> list[object] | None:
        """``sorted(x)``, ``range(n)``, ``enumerate(x)``, ``d.items()`` and its like."""
        arguments = [self.evaluate(argument, values) for argument in call.args]
        match call.func, arguments:
            case ast.Name(id="range"), [int() as stop] if stop <= _LOOP_LIMIT:
                return list(range(stop))
            case ast.Name(id="sorted" | "list" | "tuple" | "set"), [list() | dict() as value]:
                return list(value)
            case ast.Name(id="enumerate"), [list() | dict() as value]:
                return list(enumerate(value))
            case ast.Attribute(value=owner, attr="items" | "keys" | "values" as method), []:
                mapping = self.evaluate(owner, values)
                if isinstance(mapping, dict):
                    return list(getattr(mapping, method)())
        return None

    def _join(self, parts: list[ast.expr], values: Mapping[str, object]) -> object:
        texts = [self.evaluate(part, values) for part in parts]
        known = [text for text in texts if isinstance(text, str)]
        short = len(known) == len(texts) and sum(map(len, known)) <= _LONGEST_TEXT
        return "".join(known) if short else UNKNOWN

    def _name(self, name: str, values: Mapping[str, object]) -> object:
        if name in values:
            return values[name]
        if name in self._constants:
            return self._constants[name]
        if name in self._imports:
            place = self._imports[name]
            if place not in self._others:  # a loop asks again and again
                self._others[place] = self._imported(*place)
            return self._others[place]
        return UNKNOWN

    def _imported(self, module: str, name: str) -> object:
        stem = self._folder.joinpath(*module.split("."))
        for file in (stem.with_name(stem.name + ".py"), stem / "__init__.py"):
            try:
                tree = parse(file.read_bytes())
            except (OSError, SyntaxError, ValueError, RecursionError, MemoryError):
                continue  # running the plugin will tell what is wrong with it
            self.files.add(str(file))
            return _constants(tree).get(name, UNKNOWN)
        return UNKNOWN


def _constants(tree: ast.Module) -> dict[str, object]:
    """Literals that a file binds once at its top, and never changes."""
    found: dict[str, object] = {}
    bound: Counter[str] = Counter()
    for statement in tree.body:
        match statement:
            case ast.Assign(targets=[ast.Name(id=name)], value=value):
                pass
            case ast.AnnAssign(target=ast.Name(id=name), value=ast.expr() as value):
                pass
            case _:
                continue
        try:
            found[name] = ast.literal_eval(value)
        except (ValueError, TypeError, SyntaxError, RecursionError):
            continue
    for node in ast.walk(tree):
        match node:
            case ast.Name(id=name, ctx=ast.Store() | ast.Del()):
                bound[name] += 1
            case ast.Attribute(value=ast.Name(id=name), attr=method) if method in _MUTATORS:
                found.pop(name, None)
            case ast.Subscript(value=ast.Name(id=name), ctx=ast.Store() | ast.Del()):
                found.pop(name, None)
    return {name: value for name, value in found.items() if bound[name] == 1}
