"""What of a benchmark's checklist stands in its source."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from brainscore_vision.submitting._findings import Finding
from brainscore_vision.submitting._package import Package, SubmittedPlugin
from brainscore_vision.submitting._source import Source, called, sources_of

__all__ = ["check_benchmarks"]

_NAME = re.compile(r"[A-Za-z0-9_]+(?:\.[A-Za-z0-9_]+)*-[A-Za-z0-9_.-]+")
_AUTHOR_YEAR = re.compile(r"[A-Z][A-Za-z]*(19|20)\d\d(?!\d)")
_PLACEHOLDERS = ("your paper title", "your title", "journal name", "author, a. and coauthor", "your name")
_ASKED = {
    "version": "version=1; raise it whenever scores change",
    "ceiling_func": "ceiling_func=lambda: …, which returns a Score",
    "parent": "parent='IT', or another region, or 'behavior'",
    "bibtex": "bibtex='@article{…}' of the measurements",
}
_MAKERS = re.compile(r"\w*Benchmark(Base)?")
_WHERE = "see the page on benchmarks"


def check_benchmarks(package: Package, plugin: SubmittedPlugin) -> Iterator[Finding]:
    """Find what `BenchmarkBase` asks for and is not there: identifier, version, ceiling, parent, bibtex."""
    start = f"{plugin.path}/__init__.py"
    for one in plugin.registrations:
        if one.registry == "benchmark_registry":
            yield from _identifier(one.key, start, one.line)
    sources = [source for source in sources_of(package, plugin) if not source.is_test]
    made = [(source, call) for source in sources for call in _made(source)]
    for source, call in made:
        yield from _arguments(source, call)
    if not made and not any(_uses_base(source) for source in sources) and plugin.registrations:
        what = "nothing in it builds upon BenchmarkBase"
        remedy = f"let the benchmark inherit from brainscore_vision.benchmarks.BenchmarkBase; {_WHERE}"
        yield Finding("warning", "benchmark", start, None, what, remedy)
    for source in sources:
        yield from _left_from_templates(source)


def _identifier(key: str, file: str, line: int) -> Iterator[Finding]:
    if not _NAME.fullmatch(key):
        what = f"{key!r} is not written as AuthorYear-metric or AuthorYear.subset-metric"
        remedy = "use letters, digits and '_'; '.' before a subset; '-' before the metric: MajajHong2015.IT-pls"
        yield Finding("warning", "benchmark", file, line, what, remedy)
    elif not _AUTHOR_YEAR.match(key):
        what = f"{key!r} does not begin with an author and a year"
        yield Finding("note", "benchmark", file, line, what, "name the study AuthorYear, such as MajajHong2015")


def _made(source: Source) -> Iterator[ast.Call]:
    """Calls that make a benchmark, or its base, and pass an identifier."""
    for node in ast.walk(source.tree):
        if not isinstance(node, ast.Call) or not any(word.arg == "identifier" for word in node.keywords):
            continue
        if called(node) == "__init__" or _MAKERS.fullmatch(called(node)):
            yield node


def _uses_base(source: Source) -> bool:
    return any(
        isinstance(node, ast.Name | ast.alias)
        and _MAKERS.fullmatch(node.id if isinstance(node, ast.Name) else node.name)
        for node in ast.walk(source.tree)
    )


def _arguments(source: Source, call: ast.Call) -> Iterator[Finding]:
    words = {word.arg for word in call.keywords}
    if None in words or call.args:  # what **arguments hold is read when it runs
        return
    for name, remedy in _ASKED.items():
        if name not in words and f"{name.removesuffix('_func')}" not in words:
            what = f"no {name.removesuffix('_func')} is passed here"
            yield Finding("warning", "benchmark", source.path, call.lineno, what, f"pass {remedy}")
    for word in call.keywords:
        value = word.value.value if isinstance(word.value, ast.Constant) else None
        if word.arg == "identifier" and isinstance(value, str) and not _NAME.fullmatch(value):
            yield from _identifier(value, source.path, word.value.lineno)


def _left_from_templates(source: Source) -> Iterator[Finding]:
    for node in ast.walk(source.tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and "@" in node.value:
            text = " ".join(node.value.lower().split())
            for left in _PLACEHOLDERS:
                if left in text:
                    what = f"the citation still holds the template's {left!r}"
                    yield Finding("warning", "benchmark", source.path, node.lineno, what, "cite the paper")
                    break
