"""Read from the source of a plugin's tests what they do."""

from __future__ import annotations

import ast
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

    A test includes its decorators, and the fixtures, functions and constants of the same file. Returns None if
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
    """Return all nodes of each test function, with those outside of test functions."""
    functions = [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)]
    tests = [node for node in functions if node.name.startswith("test")]
    inside = {id(child) for test in tests for child in ast.walk(test)}
    shared = [node for node in ast.walk(tree) if id(node) not in inside]
    return [[*ast.walk(test), *shared] for test in tests]


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
