"""The source of a plugin, without running it: registrations, literal values, and a hash of the code."""

from __future__ import annotations

import ast
import csv
import os
import warnings
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import cached_property
from hashlib import file_digest, sha256
from pathlib import Path
from typing import Final, NamedTuple

from brainscore_core.plugins.tables import parse_table

UNKNOWN: Final = object()
"""Stands for a value that cannot be determined without running the file."""

_LOOP_LIMIT = 10_000
_MAX_TEXT = 10_000  # characters; texts that are doubled repeatedly would fill the memory
_MUTATORS = frozenset(
    {"add", "append", "clear", "discard", "extend", "insert", "pop", "popitem", "remove"}
    | {"reverse", "setdefault", "sort", "update"}
)


def parse(source: bytes) -> ast.Module:
    """Parse the bytes of a file, without warnings about invalid escapes in its strings."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SyntaxWarning)
        warnings.simplefilter("ignore", DeprecationWarning)
        return ast.parse(source)


class Literals:
    """Evaluates expressions of one file from the constants that the file states.

    Relative imports (``from .benchmark import DATASETS``) are looked up in `folder`; `files` are the other files that
    were read.
    """

    def __init__(self, tree: ast.Module, folder: Path) -> None:
        self.files: set[str] = set()
        self._tree = tree
        self._folder = folder
        self._others: dict[tuple[str, str], object] = {}
        self._imports = {
            alias.asname or alias.name: (node.module, alias.name)
            for node in tree.body
            if isinstance(node, ast.ImportFrom) and node.level == 1 and node.module
            for alias in node.names
        }

    @cached_property
    def _constants(self) -> dict[str, object]:
        return _constants(self._tree)

    def evaluate(self, node: ast.expr, values: Mapping[str, object]) -> object:
        """Return an expression's value, or `UNKNOWN`; `values` contains variables of loops."""
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
                except ValueError:  # a number with more digits than Python formats
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
        """Yield the bound variables for each iteration of ``for target in iterable``.

        A loop that cannot be evaluated yields one iteration with unknown variables.
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
            is_table = isinstance(node.func, ast.Name) and node.func.id == "table_keys"
            keys = self.table_keys(node.args) if is_table else None
            return self._called(node, values) if keys is None else keys
        value = self.evaluate(node, values)
        return list(value) if isinstance(value, list | tuple | set | dict | str) else None

    def table_keys(self, arguments: Sequence[ast.expr]) -> list[object] | None:
        """Evaluate the identifiers of a table, ``(__file__, "benchmarks.csv")``, in the same folder; None otherwise."""
        match arguments:
            case [ast.Name(id="__file__"), ast.Constant(value=str(name)), *_]:
                pass
            case _:
                return None
        file = self._folder / name
        if file.name != name:  # a file elsewhere
            return None
        self.files.add(str(file))
        try:
            rows = parse_table(file.read_bytes())
        except (OSError, ValueError, csv.Error):
            return None  # importing the plugin will raise the error
        return [next(iter(row.values())) for row in rows]

    def _called(self, call: ast.Call, values: Mapping[str, object]) -> list[object] | None:
        """Evaluate ``sorted(x)``, ``range(n)``, ``enumerate(x)``, ``d.items()`` and similar calls."""
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

    def _join(self, operands: list[ast.expr], values: Mapping[str, object]) -> object:
        texts = [self.evaluate(operand, values) for operand in operands]
        fixed = [text for text in texts if isinstance(text, str)]
        short = len(fixed) == len(texts) and sum(map(len, fixed)) <= _MAX_TEXT
        return "".join(fixed) if short else UNKNOWN

    def _name(self, name: str, values: Mapping[str, object]) -> object:
        if name in values:
            return values[name]
        if name in self._constants:  # read from the whole file, when the first name is evaluated
            return self._constants[name]
        if name in self._imports:
            source = self._imports[name]
            if source not in self._others:  # cached, since a loop evaluates it repeatedly
                self._others[source] = self._imported(*source)
            return self._others[source]
        return UNKNOWN

    def _imported(self, module: str, name: str) -> object:
        stem = self._folder.joinpath(*module.split("."))
        for file in (stem.with_name(stem.name + ".py"), stem / "__init__.py"):
            try:
                tree = parse(file.read_bytes())
            except (OSError, SyntaxError, ValueError, RecursionError, MemoryError):
                continue  # importing the plugin will raise the error
            self.files.add(str(file))
            return _constants(tree).get(name, UNKNOWN)
        return UNKNOWN


def _constants(tree: ast.Module) -> dict[str, object]:
    """Literals that a file assigns once at its top level and never changes."""
    constants: dict[str, object] = {}
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
            constants[name] = ast.literal_eval(value)
        except (ValueError, TypeError, SyntaxError, RecursionError):
            continue
    for node in ast.walk(tree):
        match node:
            case ast.Name(id=name, ctx=ast.Store() | ast.Del()):
                bound[name] += 1
            case ast.Attribute(value=ast.Name(id=name), attr=method) if method in _MUTATORS:
                constants.pop(name, None)
            case ast.Subscript(value=ast.Name(id=name), ctx=ast.Store() | ast.Del()):
                constants.pop(name, None)
    return {name: value for name, value in constants.items() if bound[name] == 1}


_READING_METHODS = frozenset({"get", "items", "keys", "location", "resolve", "values"})
_BLOCKS = ("body", "orelse", "finalbody")
_MAX_NODES = 100_000
"""Largest number of nodes that are read, counting those in loops each time, to limit the time for a file."""


class Registration(NamedTuple):
    """``registry[key] = ...`` in line `line` of a plugin's ``__init__.py``."""

    registry: str
    key: str
    line: int


class Scan(NamedTuple):
    """What one ``__init__.py`` registers."""

    registrations: tuple[Registration, ...] = ()  # the keys found in the source
    # registry and line of each registration whose key cannot be read from the source
    dynamic: tuple[tuple[str, int], ...] = ()
    error: str | None = None  # why the file cannot be read, with its line
    depends: tuple[str, ...] = ()  # other files whose constants were used


def scan_file(file: str | os.PathLike[str], registries: Sequence[str]) -> Scan:
    """Read which keys of `registries` a plugin's file registers.

    Recognized are assignments ``model_registry['key'] = ...`` (also annotated, chained, through an alias, inside
    ``if``, ``for``, ``with``, ``try`` or a function), ``model_registry.update({...})``,
    ``model_registry.add_table(__file__, 'models.csv', make)``, and keys composed of constants, such as f-strings in a
    loop over a literal list, or over the identifiers of a table
    (:func:`~brainscore_core.plugins.tables.table_keys`). Comments and strings never count. Any other use of a registry
    makes the file *dynamic*. A file that cannot be read or parsed has `error` set; nothing is raised.
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
    except _TooLong:
        return Scan(error=f"{file}:1: the source, with its loops, is too long to be read")
    return Scan(
        tuple(dict.fromkeys(reader.registrations)),
        tuple(dict.fromkeys(reader.dynamic)),
        None,
        tuple(sorted(reader.literals.files)),
    )


class _TooLong(Exception):
    """The source takes too long to read."""


class _Reader:
    """Collects the registrations in the statements of a file."""

    def __init__(self, registries: Iterable[str], literals: Literals) -> None:
        self.registries = frozenset(registries)
        self.names: dict[str, str] = {name: name for name in self.registries}
        self.literals = literals
        self.registrations: list[Registration] = []
        self.dynamic: list[tuple[str, int]] = []
        self._left = _MAX_NODES

    def spend(self, parts: int) -> None:
        self._left -= parts
        if self._left < 0:
            raise _TooLong

    def registry_of(self, node: ast.expr) -> str | None:
        """Return the name of the registry in an expression such as ``brainscore_vision.model_registry``, or None."""
        if isinstance(node, ast.Name):
            return self.names.get(node.id)
        return node.attr if isinstance(node, ast.Attribute) and node.attr in self.registries else None

    def block(self, statements: Iterable[ast.stmt], values: dict[str, object], *, conditional: bool) -> None:
        for node in statements:
            self.spend(1)
            self.statement(node, values, conditional=conditional)

    def statement(self, node: ast.stmt, values: dict[str, object], *, conditional: bool) -> None:
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
            case ast.For():
                self.loop(node, values, conditional=conditional)
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
        """Read compound statements (if, try, with, while, match, class) and simple ones."""
        for field, value in ast.iter_fields(node):
            if field in _BLOCKS:
                self.block(value, values, conditional=not isinstance(node, ast.With))
            elif field in {"handlers", "cases"}:
                for clause in value:
                    self.block(clause.body, values, conditional=True)
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
            elif target.id in self.names:  # the plugin's own variable of the same name
                del self.names[target.id]
            else:
                self.bind(target.id, value, values, conditional=conditional)

    def bind(self, name: str, value: ast.expr, values: dict[str, object], *, conditional: bool) -> None:
        """Follow ``key = f'{name}-pls'``; `Literals` handles containers, including their changes."""
        evaluated = UNKNOWN if conditional else self.literals.evaluate(value, values)
        if isinstance(evaluated, str | int | float):
            values[name] = evaluated
        elif name in values or conditional:
            values[name] = UNKNOWN

    def register(self, registry: str, key: ast.expr, values: Mapping[str, object], *, conditional: bool) -> None:
        self.spend(1)
        if isinstance(key, ast.Constant):
            text: object = key.value
        else:
            # under a condition, it is unknown which keys of a loop are registered
            text = UNKNOWN if conditional else self.literals.evaluate(key, values)
        if isinstance(text, str):
            self.registrations.append(Registration(registry, text, key.lineno))
        else:
            self.dynamic.append((registry, key.lineno))

    def loop(self, node: ast.For, values: dict[str, object], *, conditional: bool) -> None:
        nodes = list(ast.walk(node))
        self.spend(len(nodes))
        jumps = any(isinstance(node_within, ast.Break | ast.Continue) for node_within in nodes)
        for bound in self.literals.bindings(node.target, node.iter, values):
            self.spend(len(values) // 20)  # the cost of copying them
            self.block(node.body, {**values, **bound}, conditional=conditional or jumps)
        self.expression(node.iter)
        for node_within in nodes:
            if isinstance(node_within, ast.Name) and isinstance(node_within.ctx, ast.Store):
                values[node_within.id] = UNKNOWN  # unknown after the loop
        self.block(node.orelse, values, conditional=conditional)

    def update(self, call: ast.Call, values: Mapping[str, object], conditional: bool) -> bool:
        """Handle ``registry.update({'key': make})`` and ``registry.add_table(…)``; return whether it is such a call."""
        if not (isinstance(call.func, ast.Attribute) and call.func.attr in ("update", "add_table")):
            return False
        registry = self.registry_of(call.func.value)
        if registry is None:
            return False
        if call.func.attr == "add_table":
            keys = None if conditional else self.literals.table_keys(call.args)
            if keys is None:
                self.dynamic.append((registry, call.lineno))
            else:
                self.spend(len(keys))
                self.registrations += [Registration(registry, str(key), call.lineno) for key in keys]
            return True
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
        """Record registries that are passed elsewhere, so that their registrations are unknown."""
        self.dynamic += self.passed_registries(node)

    def passed_registries(self, node: ast.AST) -> Iterator[tuple[str, int]]:
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
            yield from self.passed_registries(child)


_NO_CODE = {"__pycache__", "tests", "test.py"}
_NO_CODE_SUFFIXES = {".pyc", ".md"}


def plugin_hash(location: Path) -> str | None:
    """Hash of a plugin's code; None if there is no code.

    It covers relative names and contents of all files except tests, Markdown, hidden files and compiled code, so that
    it changes if the plugin's behaviour may have changed, but not with the location of the folder. `location` is the
    plugin's folder, or its file if it is a single module.
    """
    files = {location.name: str(location)} if location.is_file() else dict(code_files(str(location)))
    if not files:
        return None
    digest = sha256()
    for name in sorted(files):
        with open(files[name], "rb") as stream:  # in parts, as plugins may hold large files of data
            content = file_digest(stream, "sha256").hexdigest()
        digest.update(f"{name}\0{content}\n".encode("utf-8", "surrogateescape"))
    return digest.hexdigest()


def code_files(folder: str, prefix: str = "") -> Iterator[tuple[str, str]]:
    """Yield relative names and paths of the files that `plugin_hash` covers; links to folders are not followed.

    `prefix` is put before the names.
    """
    with suppress(FileNotFoundError, PermissionError), os.scandir(folder) as entries:  # faster than pathlib
        for entry in entries:
            name = entry.name
            if name.startswith(".") or name in _NO_CODE:
                continue
            if entry.is_dir(follow_symlinks=False):
                yield from code_files(entry.path, f"{prefix}{name}/")
            elif os.path.splitext(name)[1] not in _NO_CODE_SUFFIXES and entry.is_file():
                yield prefix + name, entry.path
