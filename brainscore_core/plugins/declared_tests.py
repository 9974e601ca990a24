"""Read from the source of a plugin's tests what they do."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from brainscore_core.plugins.source import parse

_LOADERS = {
    "load_benchmark": "benchmark",
    "score": "benchmark",
    "run_pair": "benchmark",
    "load_dataset": "data",
    "load_stimulus_set": "data",
    "load_metric": "metric",
    "load_ceiling": "metric",
    "load_model": "model",
    "benchmark_registry": "benchmark",
    "data_registry": "data",
    "stimulus_set_registry": "data",
    "metric_registry": "metric",
    "model_registry": "model",
}
_RUNNERS = frozenset({"score", "run_pair", "run_test"})
_COMPARISONS = frozenset(
    {"approx", "allclose", "assert_allclose", "assert_almost_equal", "assert_array_almost_equal", "isclose"}
)
_TOLERANCES = frozenset({"abs", "rel", "atol", "rtol", "decimal", "nan_ok"})
_Definition = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef


class TestsRead(NamedTuple):
    """What the tests of one plugin do."""

    tests: int  # number of test functions
    # kinds of plugins that are loaded by their identifier: ``'benchmark'``, ``'data'``, ``'metric'``, ``'model'``
    loads: frozenset[str]
    ceiling: bool  # whether a ceiling is used
    runs: bool  # whether a benchmark is called with a model
    reference: bool  # whether a value is compared with a number in the tests
    score: bool  # whether a test that calls a benchmark with a model compares a value with a number


def read_tests(folder: Path) -> TestsRead | None:
    """Read the tests of a plugin: ``test.py`` and ``test_*.py`` in its folder, and below it.

    A test includes its decorators and what it uses of the same file: fixtures, functions, constants. Returns None if
    there are no test files. Raises SyntaxError if a file cannot be parsed.
    """
    files = sorted({*folder.rglob("test.py"), *folder.rglob("test_*.py")}) if folder.is_dir() else []
    if not files:
        return None
    tests = [test for file in files for test in _tests_of(parse(file.read_bytes()))]
    return TestsRead(
        len(tests),
        frozenset().union(*map(_loads, tests)),
        any(_looks_at_ceiling(test) for test in tests),
        any(_runs(test) for test in tests),
        any(_has_reference(test) for test in tests),
        any(_runs(test) and _has_reference(test) for test in tests),
    )


def _tests_of(tree: ast.Module) -> list[list[ast.AST]]:
    """Return all nodes of each test."""
    definitions: dict[str, list[ast.AST]] = {}
    for statement in tree.body:
        for name in _names_bound_by(statement):
            definitions.setdefault(name, []).append(statement)
    automatic = [node for node in ast.walk(tree) if isinstance(node, _Definition) and _is_automatic(node)]
    return [_reachable([test, *context, *automatic], definitions) for test, context in _test_functions(tree)]


def _test_functions(tree: ast.Module) -> Iterator[tuple[ast.AST, list[ast.AST]]]:
    """Yield test functions, each with the decorators, fixtures and helpers of its class."""
    for statement in tree.body:
        if isinstance(statement, ast.FunctionDef | ast.AsyncFunctionDef) and statement.name.startswith("test"):
            yield statement, []
        elif isinstance(statement, ast.ClassDef):
            methods = [node for node in statement.body if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)]
            shared: list[ast.AST] = [node for node in statement.body if node not in methods]
            shared += [*statement.decorator_list, *(node for node in methods if not node.name.startswith("test"))]
            for method in methods:
                if method.name.startswith("test"):
                    yield method, shared


def _reachable(roots: list[ast.AST], definitions: dict[str, list[ast.AST]]) -> list[ast.AST]:
    nodes: list[ast.AST] = []
    waiting, seen = list(roots), set(map(id, roots))
    while waiting:
        for node in ast.walk(waiting.pop()):
            nodes.append(node)
            name = node.id if isinstance(node, ast.Name) else node.arg if isinstance(node, ast.arg) else None
            for definition in definitions.get(name, ()) if name is not None else ():
                if id(definition) not in seen:
                    seen.add(id(definition))
                    waiting.append(definition)
    return nodes


def _names_bound_by(statement: ast.stmt) -> list[str]:
    if isinstance(statement, _Definition):
        return [statement.name]
    if isinstance(statement, ast.Assign):
        return [node.id for target in statement.targets for node in ast.walk(target) if isinstance(node, ast.Name)]
    if isinstance(statement, ast.AnnAssign) and isinstance(statement.target, ast.Name):
        return [statement.target.id]
    return []


def _is_automatic(node: _Definition) -> bool:
    return any(
        keyword.arg == "autouse"
        for decorator in node.decorator_list
        if isinstance(decorator, ast.Call)
        for keyword in decorator.keywords
    )


def _called(node: ast.AST) -> str | None:
    """Last part of the name of the called function."""
    if not isinstance(node, ast.Call):
        return None
    if isinstance(node.func, ast.Attribute):
        return node.func.attr
    return node.func.id if isinstance(node.func, ast.Name) else None


def _loads(nodes: list[ast.AST]) -> frozenset[str]:
    names = {_called(node) for node in nodes}
    names |= {ast.unparse(node.value).rpartition(".")[2] for node in nodes if isinstance(node, ast.Subscript)}
    return frozenset(_LOADERS[name] for name in names if name in _LOADERS)


def _looks_at_ceiling(nodes: list[ast.AST]) -> bool:
    return any(
        (isinstance(node, ast.Attribute) and node.attr == "ceiling")
        or (isinstance(node, ast.Constant) and node.value == "ceiling")
        or "ceiling" in (_called(node) or "")
        for node in nodes
    )


def _runs(nodes: list[ast.AST]) -> bool:
    benchmarks = {"benchmark"}
    for node in nodes:
        if isinstance(node, ast.Assign) and any(_called(child) == "load_benchmark" for child in ast.walk(node.value)):
            benchmarks |= {target.id for target in node.targets if isinstance(target, ast.Name)}
    for node in nodes:
        if not isinstance(node, ast.Call):
            continue
        function = node.func
        name = _called(node) or ""
        if name in _RUNNERS or name in benchmarks or (name.endswith("_test") and node.args):
            return True
        if isinstance(function, ast.Call | ast.Subscript) and any(
            _called(child) == "load_benchmark" or (isinstance(child, ast.Name) and child.id in {"benchmarks"})
            for child in ast.walk(function)
        ):
            return True
    return False


def _has_reference(nodes: list[ast.AST]) -> bool:
    """Whether a value is compared with a number other than 0, 1 (which any score may be) and tolerances."""
    compares = any(
        _called(node) in _COMPARISONS
        or (_called(node) or "").endswith("_test")
        or _called(node) == "run_test"
        or (isinstance(node, ast.Compare) and any(isinstance(sign, ast.Eq) for sign in node.ops))
        for node in nodes
    )
    tolerances = {
        id(child)
        for node in nodes
        if isinstance(node, ast.keyword) and node.arg in _TOLERANCES
        for child in ast.walk(node.value)
    }
    return compares and any(
        isinstance(node, ast.Constant)
        and isinstance(node.value, int | float)
        and not isinstance(node.value, bool)
        and node.value not in (0, 1)
        and id(node) not in tolerances
        for node in nodes
    )
