"""Examination of a submission without running its code."""

from __future__ import annotations

import re
import tempfile
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from pathlib import Path

from brainscore_core.errors import nearest
from brainscore_core.identifiers import MAX_LENGTH, confusable_form, identifier_problem
from brainscore_core.plugins.declared_tests import read_tests
from brainscore_vision.submission.checks import check_benchmarks, check_code, check_metadata, check_requirements
from brainscore_vision.submission.package import (
    REGISTRIES,
    Finding,
    Package,
    Severity,
    SubmittedPlugin,
    sort_findings,
    write_files,
)
from brainscore_vision.submission.plugin_source import is_test, read_declared, syntax_problem

__all__ = ["FindRegistration", "examine", "registered_elsewhere", "registered_here"]

FindRegistration = Callable[[str, str], str | None]
"""``taken(registry, key)`` describes the registration of an identifier, or returns None."""

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]*")
_CODING = re.compile(rb"[ \t\f]*#.*?coding[:=][ \t]*(?!utf-?8\b)[-_.a-zA-Z0-9]+", re.IGNORECASE)
_BIDIRECTIONAL = re.compile(rb"\xe2\x80[\xaa-\xae]|\xe2\x81[\xa6-\xa9]")  # U+202A to U+202E, U+2066 to U+2069
_NOUNS = {"models": "model", "benchmarks": "benchmark", "data": "data", "metrics": "metric"}
_LOADERS = {
    "benchmarks": ("benchmark", "load_benchmark"),
    "data": ("data", "load_dataset"),
    "metrics": ("metric", "load_metric"),
}


def registered_here(registry: str, key: str) -> str | None:
    """Describe where this platform registers an identifier, or a similar-looking one; None if it does not."""
    return _registered(registry, key, own=frozenset())


def registered_elsewhere(package: Package) -> FindRegistration:
    """Make a function like `registered_here` that ignores registrations of plugins of the same kind and name.

    Parameters
    ----------
    package : Package
        Plugins that may be discoverable here, such as in a folder of ``BRAINSCORE_PLUGINS``.
    """
    own = frozenset(plugin.path for plugin in package.plugins)
    return lambda registry, key: _registered(registry, key, own=own)


def _registered(registry: str, key: str, *, own: frozenset[str]) -> str | None:
    from brainscore_vision.registries import plugin_index

    known = plugin_index.locations(registry)
    like = confusable_form(key)
    for other in (key, *(name for name in known if name != key and confusable_form(name) == like)):
        for place in known.get(other, ()):
            folder = place.folder
            if folder is None or f"{folder.parent.name}/{folder.name}" not in own:
                where = f"{place.package} ({place.source})"
                return where if other == key else f"it looks like {other!r} of {where}"
    return None


def examine(package: Package, *, taken: FindRegistration = registered_here) -> tuple[Finding, ...]:
    """Find problems of a submission, from its source alone.

    Parameters
    ----------
    package : Package
        The submission.
    taken : callable
        ``taken(registry, key)`` describes the registration of an identifier, or returns None.

    Returns
    -------
    tuple of Finding
        Sorted by file and line. Findings of reading the submission are in `Package.findings`.
    """
    findings: list[Finding] = []
    findings += _identifiers(package, taken)
    findings += _findings_or_error("", lambda: read_declared(package)[1])
    with tempfile.TemporaryDirectory(prefix="brainscore-read-") as scratch:
        root = Path(scratch)
        write_files(package.files, root)
        for plugin in package.plugins:
            findings += _name(plugin)
            findings += _python(package, plugin)
            findings += _registers(package, plugin)
            start = f"{plugin.path}/__init__.py"
            findings += _findings_or_error(start, partial(check_code, package, plugin))
            findings += _findings_or_error(start, partial(_tests, plugin, root / plugin.kind / plugin.name))
            findings += _findings_or_error(start, partial(check_requirements, package, plugin, root))
            findings += _findings_or_error(start, partial(check_metadata, package, plugin, root))
            if plugin.kind == "benchmarks":
                findings += _findings_or_error(start, partial(check_benchmarks, package, plugin))
    return sort_findings(findings)


def _findings_or_error(file: str, look: Callable[[], Iterable[Finding]]) -> list[Finding]:
    """Findings of a check; code that cannot be examined is an error of its own."""
    try:
        return list(look())
    except (ArithmeticError, RecursionError, ValueError) as error:
        what = f"it cannot be examined: {type(error).__name__}: {str(error)[:200]}"
        return [Finding("error", "syntax", file, None, what, "write the code more plainly")]


def _name(plugin: SubmittedPlugin) -> Iterator[Finding]:
    if not _NAME.fullmatch(plugin.name):
        what = f"{plugin.name!r} cannot be the name of a plugin's folder: Python could not import it"
        remedy = "name it with letters, digits, '_' and '-'"
        yield Finding("error", "name", f"{plugin.path}/__init__.py", None, what, remedy)


def _python(package: Package, plugin: SubmittedPlugin) -> Iterator[Finding]:
    for path, content in package.of(plugin).items():
        if not path.endswith(".py"):
            continue
        if (why := syntax_problem(content)) is not None:
            line, reason = why
            yield Finding("error", "syntax", path, line, f"Python cannot read it: {reason}", "fix it")
        for number, text in enumerate(content.split(b"\n"), 1):
            if number <= 2 and _CODING.match(text):
                what = "an encoding other than UTF-8 hides the text"
                yield Finding("error", "encoding", path, number, what, "save it as UTF-8, and leave the line out")
            if _BIDIRECTIONAL.search(text):
                what = (
                    "invisible characters change the direction of the text, so that it reads differently than it runs"
                )
                yield Finding("error", "encoding", path, number, what, "write it as an escape: '\\u202e'")


def _registers(package: Package, plugin: SubmittedPlugin) -> Iterator[Finding]:
    start, noun = f"{plugin.path}/__init__.py", _NOUNS[plugin.kind]
    scan = package.scans[plugin.path]
    wanted = [registry for registry, kind in REGISTRIES.items() if kind == plugin.kind]
    example = f"from brainscore_vision import {wanted[0]}, then {wanted[0]}['identifier'] = …"
    if start not in package.files:
        yield Finding("error", "registration", start, None, "there is no __init__.py, which would register it", example)
        return
    if scan.error is not None and syntax_problem(package.files[start]) is None:
        what = f"its registrations cannot be read: {scan.error.partition(': ')[2]}"
        yield Finding("error", "registration", start, None, what, example)
    for registry, line in scan.dynamic:
        what = f"the identifier registered in {registry} is only known when the code runs"
        remedy = f"write the identifier out: {registry}['identifier'] = …"
        yield Finding("error", "registration", start, line, what, remedy)
    for registration in plugin.registrations:
        if REGISTRIES[registration.registry] != plugin.kind:
            what = f"a {noun} plugin registers in {registration.registry}"
            remedy = f"put it into a plugin of its own: {REGISTRIES[registration.registry]}/{plugin.name}"
            yield Finding("error", "registration", start, registration.line, what, remedy)
    registers = any(registration.registry in wanted for registration in plugin.registrations)
    if scan.error is None and not scan.dynamic and not registers:
        yield Finding("error", "registration", start, None, f"it registers no {noun}", example)


def _identifiers(package: Package, taken: FindRegistration) -> Iterator[Finding]:
    seen: dict[tuple[str, str], str] = {}
    for plugin in package.plugins:
        file = f"{plugin.path}/__init__.py"
        for registry, key, line in ((item.registry, item.key, item.line) for item in plugin.registrations):
            if (problem := identifier_problem(key)) is not None:
                remedy = (
                    "begin with a letter or digit, continue with letters, digits and . _ : + @ / -; at most "
                    f"{MAX_LENGTH} characters"
                )
                yield Finding("error", "identifier", file, line, problem, remedy)
            elif ".py:" in key:
                what = f"{key!r} reads like a file and a function in it"
                yield Finding("error", "identifier", file, line, what, "leave '.py:' out")
            other = seen.setdefault((registry, key), file)
            if other != file:
                what = f"{key!r} is registered in {other}, too"
                yield Finding("error", "identifier", file, line, what, "register each identifier once")
            if (existing := taken(registry, key)) is not None:
                what = f"{key!r} is taken: {existing}"
                yield Finding("error", "identifier", file, line, what, "choose another identifier")


def _tests(plugin: SubmittedPlugin, folder: Path) -> Iterator[Finding]:
    file, noun = f"{plugin.path}/test.py", _NOUNS[plugin.kind]
    if not folder.is_dir():
        return
    try:
        tests = read_tests(folder)
    except (SyntaxError, ValueError, RecursionError):
        return  # another check reports it
    own = sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*.py") if is_test(path.name))
    if tests is None or "test.py" not in own:
        near = nearest("test.py", [path for path in own if path != "conftest.py"], limit=1)
        there = f"; there is {near[0]}" if near else ""
        yield Finding("error", "tests", file, None, f"there is no test.py{there}", "write its tests into test.py")
    if tests is None:
        return
    if not tests.tests:
        severity: Severity = "warning" if plugin.kind == "models" else "error"
        what = f"there is no test of the {noun}: no function begins with test"
        yield Finding(severity, "tests", file, None, what, "write def test_…(): …")
        return
    if plugin.kind in _LOADERS:
        kind, loader = _LOADERS[plugin.kind]
        also = {"metric"} if kind == "metric" else set()
        if kind not in tests.loads and not also & tests.loads:
            what, remedy = (
                "no test loads it by its identifier",
                f"write def test_loads(): …, with {loader}('identifier')",
            )
            yield Finding("error", "tests", file, None, what, remedy)
    if plugin.kind == "benchmarks":
        yield from _benchmark_tests(file, tests.ceiling, tests.runs, tests.score)


def _benchmark_tests(file: str, ceiling: bool, runs: bool, score: bool) -> Iterator[Finding]:
    if not ceiling:
        remedy = "write assert 0 < load_benchmark('identifier').ceiling <= 1"
        yield Finding("error", "tests", file, None, "no test checks the ceiling", remedy)
    if not runs:
        remedy = "write score = load_benchmark('identifier')(load_model('pixels'))"
        yield Finding("error", "tests", file, None, "no test runs it on a model", remedy)
    elif not score:
        remedy = "document the score of one model: assert float(score) == pytest.approx(0.212, abs=0.005)"
        yield Finding("warning", "tests", file, None, "no test compares a score with a number", remedy)
