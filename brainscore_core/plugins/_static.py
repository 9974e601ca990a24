"""Which identifiers a plugin registers, read from its source without running it."""

from __future__ import annotations

import ast
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from brainscore_core.plugins._literals import UNKNOWN, Literals, parse

__all__ = ["Registration", "Scan", "scan_file"]

_READING_METHODS = frozenset({"get", "items", "keys", "location", "resolve", "values"})
_BLOCKS = ("body", "orelse", "finalbody")
_MOST = 100_000
"""Parts of a source that are looked at, those in loops each time: no file keeps who reads it busy for long."""


class Registration(NamedTuple):
    """``registry[key] = ...`` in line `line` of a plugin's ``__init__.py``."""

    registry: str
    key: str
    line: int


class Scan(NamedTuple):
    """What one ``__init__.py`` registers.

    Attributes
    ----------
    registrations : tuple of Registration
        The keys that the source shows.
    dynamic : tuple of (str, int)
        Registry and line of each registration whose key only running the plugin tells.
    error : str or None
        Why the file cannot be read, with its line.
    depends : tuple of str
        Other files whose constants were used.
    """

    registrations: tuple[Registration, ...] = ()
    dynamic: tuple[tuple[str, int], ...] = ()
    error: str | None = None
    depends: tuple[str, ...] = ()


def scan_file(file: str | os.PathLike[str], registries: Sequence[str]) -> Scan:
    """Read which keys of `registries` a plugin's file registers.

    Found are assignments ``model_registry['key'] = ...`` (also annotated, chained, through an
    alias, inside ``if``, ``for``, ``with``, ``try`` or a function), ``model_registry.update({...})``,
    and keys put together from constants, such as f-strings in a loop over a literal list. Comments
    and strings never count. Any other use of a registry makes the file *dynamic*.

    Parameters
    ----------
    file : path
        The plugin's ``__init__.py``.
    registries : sequence of str
        Names of the registries, for instance ``['model_registry']``.

    Returns
    -------
    Scan
        A file that cannot be read or parsed has `error` set; nothing is raised.
    """
    try:
        source = Path(file).read_bytes()
    except OSError as error:
        return Scan(error=f"{file}: {error.strerror or error}")
    if not any(name.encode() in source for name in registries):
        return Scan()
    try:
        tree = parse(source)
    except SyntaxError as error:
        return Scan(error=f"{file}:{error.lineno or 1}: {error.msg}")
    except (ValueError, RecursionError, MemoryError) as error:
        return Scan(error=f"{file}:1: {error}")
    reader = _Reader(registries, Literals(tree, Path(file).parent))
    try:
        reader.block(tree.body, {}, conditional=False)
    except RecursionError:
        return Scan(error=f"{file}:1: the source is nested too deeply to be read")
    except _TooMuch:
        return Scan(error=f"{file}:1: the source, with its loops, is too long to be read")
    return Scan(
        tuple(dict.fromkeys(reader.registrations)),
        tuple(dict.fromkeys(reader.dynamic)),
        None,
        tuple(sorted(reader.literals.files)),
    )


class _TooMuch(Exception):
    """It would take too long."""


class _Reader:
    """Walks over the statements of a file and notes its registrations."""

    def __init__(self, registries: Iterable[str], literals: Literals) -> None:
        self.registries = frozenset(registries)
        self.names: dict[str, str] = {name: name for name in self.registries}
        self.literals = literals
        self.registrations: list[Registration] = []
        self.dynamic: list[tuple[str, int]] = []
        self._left = _MOST

    def spend(self, parts: int) -> None:
        self._left -= parts
        if self._left < 0:
            raise _TooMuch

    def registry_of(self, node: ast.expr) -> str | None:
        """Name the registry that an expression such as ``brainscore_vision.model_registry`` is."""
        if isinstance(node, ast.Name):
            return self.names.get(node.id)
        if isinstance(node, ast.Attribute) and node.attr in self.registries:
            return node.attr
        return None

    def block(self, statements: Iterable[ast.stmt], values: dict[str, object], *, conditional: bool) -> None:
        for statement in statements:
            self.statement(statement, values, conditional=conditional)

    def statement(self, node: ast.stmt, values: dict[str, object], *, conditional: bool) -> None:
        self.spend(1)
        match node:
            case ast.ImportFrom():
                for alias in node.names:
                    if alias.name in self.registries:
                        self.names[alias.asname or alias.name] = alias.name
            case ast.Assign(targets=targets, value=value):
                for target in targets:
                    self.assign(target, value, values, conditional=conditional)
                if self.registry_of(value) is None or not all(isinstance(target, ast.Name) for target in targets):
                    self.expression(value)
            case ast.AnnAssign(target=target, value=ast.expr() as value):
                self.assign(target, value, values, conditional=conditional)
                self.expression(value)
            case ast.For(target=target, iter=iterable):
                self.loop(node, target, iterable, values, conditional=conditional)
            case ast.AugAssign(target=ast.Name(id=name)) if name not in self.names:
                values[name] = UNKNOWN
            case ast.Expr(value=ast.Call() as call) if self.update(call, values, conditional):
                pass
            case ast.FunctionDef() | ast.AsyncFunctionDef():
                arguments = [*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs]
                hidden = {argument.arg: UNKNOWN for argument in arguments}
                self.block(node.body, {**values, **hidden}, conditional=True)
            case _:
                self.compound(node, values)

    def compound(self, node: ast.stmt, values: dict[str, object]) -> None:
        """Statements that hold others (if, try, with, while, match, class), and plain ones."""
        for field, value in ast.iter_fields(node):
            if field in _BLOCKS:
                self.block(value, values, conditional=not isinstance(node, ast.With))
            elif field in {"handlers", "cases"}:
                for part in value:
                    self.block(part.body, values, conditional=True)
            else:
                for expression in value if isinstance(value, list) else [value]:
                    if isinstance(expression, ast.AST):
                        self.expression(expression)

    def assign(self, target: ast.expr, value: ast.expr, values: dict[str, object], *, conditional: bool) -> None:
        if isinstance(target, ast.Subscript):
            registry = self.registry_of(target.value)
            if registry is not None:
                self.register(registry, target.slice, values, conditional=conditional)
        elif isinstance(target, ast.Name):
            registry = self.registry_of(value)
            if registry is not None:
                self.names[target.id] = registry
            elif target.id in self.names:  # a variable of the plugin's own that is called the same
                del self.names[target.id]
            else:
                self.bind(target.id, value, values, conditional=conditional)

    def bind(self, name: str, value: ast.expr, values: dict[str, object], *, conditional: bool) -> None:
        """Follow ``key = f'{name}-pls'``; containers are left to `Literals`, which sees changes."""
        known = UNKNOWN if conditional else self.literals.evaluate(value, values)
        if isinstance(known, str | int | float):
            values[name] = known
        elif name in values or conditional:
            values[name] = UNKNOWN

    def register(self, registry: str, key: ast.expr, values: Mapping[str, object], *, conditional: bool) -> None:
        self.spend(1)
        if isinstance(key, ast.Constant):
            text: object = key.value
        else:
            # under a condition nobody knows which of a loop's keys are really registered
            text = UNKNOWN if conditional else self.literals.evaluate(key, values)
        if isinstance(text, str):
            self.registrations.append(Registration(registry, text, key.lineno))
        else:
            self.dynamic.append((registry, key.lineno))

    def loop(
        self,
        node: ast.For,
        target: ast.expr,
        iterable: ast.expr,
        values: dict[str, object],
        *,
        conditional: bool,
    ) -> None:
        parts = list(ast.walk(node))
        self.spend(len(parts))
        jumps = any(isinstance(part, ast.Break | ast.Continue) for part in parts)
        for bound in self.literals.bindings(target, iterable, values):
            self.spend(len(values) // 20)  # they are copied
            self.block(node.body, {**values, **bound}, conditional=conditional or jumps)
        self.expression(iterable)
        for part in parts:
            if isinstance(part, ast.Name) and isinstance(part.ctx, ast.Store):
                values[part.id] = UNKNOWN  # what it holds after the loop
        self.block(node.orelse, values, conditional=conditional)

    def update(self, call: ast.Call, values: Mapping[str, object], conditional: bool) -> bool:
        """Handle ``registry.update({'key': factory})``; say whether it was one."""
        if not (isinstance(call.func, ast.Attribute) and call.func.attr == "update"):
            return False
        registry = self.registry_of(call.func.value)
        if registry is None:
            return False
        for argument in call.args:
            if isinstance(argument, ast.Dict) and None not in argument.keys:
                for key in argument.keys:
                    if key is not None:
                        self.register(registry, key, values, conditional=conditional)
            else:
                self.dynamic.append((registry, argument.lineno))
        for keyword in call.keywords:
            if keyword.arg is None:
                self.dynamic.append((registry, call.lineno))
            else:
                self.registrations.append(Registration(registry, keyword.arg, keyword.lineno))
        return True

    def expression(self, node: ast.AST) -> None:
        """Note a registry that is handed on, so that what is done to it stays unknown."""
        for registry, line in self.handed_on(node):
            self.dynamic.append((registry, line))

    def handed_on(self, node: ast.AST) -> Iterator[tuple[str, int]]:
        self.spend(1)
        if isinstance(node, ast.expr):
            registry = self.registry_of(node)
            if registry is not None:
                yield registry, node.lineno
                return
        skipped: ast.AST | None = None
        match node:
            case ast.Subscript(value=owner, ctx=ast.Load()):
                skipped = owner
            case ast.Attribute(value=owner, attr=method) if method in _READING_METHODS:
                skipped = owner
        for child in ast.iter_child_nodes(node):
            reads = child is skipped or (isinstance(node, ast.Compare) and child is not node.left)
            if reads and isinstance(child, ast.expr) and self.registry_of(child) is not None:
                continue
            yield from self.handed_on(child)
