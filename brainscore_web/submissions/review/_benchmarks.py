"""Rules of the checklist about benchmarks and their tests."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from brainscore_web.leaderboard.models import Benchmark
from brainscore_web.submissions.models import PluginKind, Step
from brainscore_web.submissions.review._code import Call, PluginCode, Test
from brainscore_web.submissions.review._found import Found, judged, no, yes

if TYPE_CHECKING:
    from brainscore_web.submissions.review.checklist import Material

__all__ = ["BENCHMARK", "TESTING"]

_BENCHMARKS, _TEST = str(PluginKind.BENCHMARKS), str(Step.Kind.TEST)
_NAME = re.compile(r"[A-Z][A-Za-z]*(?:19|20)\d\d[A-Za-z0-9_]*(?:\.[A-Za-z0-9_]+)*-[A-Za-z0-9_.-]+")
_FIELD = re.compile(r"^[ \t]*(\w+)[ \t]*=", re.MULTILINE)
_PARENTS = frozenset({"V1", "V2", "V4", "IT", "behavior", "behavior_vision", "neural", "neural_vision", "engineering"})
_CONSTRUCTOR = frozenset({"identifier", "version", "ceiling_func", "parent", "bibtex"})
_BASES = frozenset({"Benchmark", "BenchmarkBase", "NeuralBenchmark", "TrainTestNeuralBenchmark", "RSABenchmark"})


def _each(material: Material, rule: Callable[[str, PluginCode], list[Found]]) -> list[Found]:
    return [found for name, code in material.benchmarks.items() for found in rule(name, code)]


def _made(code: PluginCode) -> list[Call]:
    """Calls that make a benchmark."""
    return [call for call in code.calls if len(_CONSTRUCTOR & set(call.keywords)) >= 2]


def _inherits(material: Material) -> list[Found]:
    def rule(name: str, code: PluginCode) -> list[Found]:
        found = [yes(f"class of {base}", path, line) for base, path, line in code.bases if _is_base(base)]
        helpers = [call for call in _made(code) if call.name != "__init__"]
        found = found or [yes(f"made by {call.name}", call.path, call.line) for call in helpers if _is_base(call.name)]
        if not found and helpers:
            found = [judged(f"made by {call.name}", call.path, call.line) for call in helpers]
        return found or [no(f"{name}: neither a class of BenchmarkBase nor a helper was found")]

    return _each(material, rule)


def _is_base(name: str) -> bool:
    return name in _BASES or name.endswith(("Benchmark", "BenchmarkBase", "_benchmark"))


def _identifier(material: Material) -> list[Found]:
    found = []
    for _, made in material.registered(_BENCHMARKS):
        key, line = str(made.get("key", "")), made.get("line")
        fine = _NAME.fullmatch(key)
        found.append(yes(key, line=line) if fine else no(f"{key} is not written as AuthorYear-metric", line=line))
    return [*(found or [no("nothing is registered")]), *material.ran("its identifier")]


def _keyword(
    name: str, judge: Callable[[Any], bool | None], *, needed: bool = True
) -> Callable[[Material], list[Found]]:
    """A rule about a keyword with which benchmarks are made."""

    def rule(plugin: str, code: PluginCode) -> list[Found]:
        given = [(call.keywords[name], call) for call in _made(code) if name in call.keywords]
        found = []
        for value, call in given:
            fine = None if value is None else judge(value)
            shown = f"{name} is {_short(value)}" if value is not None else f"{name} is computed"
            found.append(Found(shown, call.path, call.line, fine))
        if not found and _made(code) and needed:
            return [no(f"{plugin}: no {name} is given", call.path, call.line) for call in _made(code)[:1]]
        return found or [judged(f"{plugin}: no {name} was found in the code")]

    return lambda material: _each(material, rule)


def _short(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:59]}…"


def _version_rule(material: Material) -> list[Found]:
    static = _keyword("version", lambda value: isinstance(value, int) and not isinstance(value, bool) and value >= 1)
    return static(material) + material.ran("its version")


def _ceiling(material: Material) -> list[Found]:
    def rule(name: str, code: PluginCode) -> list[Found]:
        given = [call for call in _made(code) if {"ceiling_func", "ceiling"} & set(call.keywords)]
        found = [yes("ceiling_func is given", call.path, call.line) for call in given]
        own = [(what, place) for what, place in code.defined.items() if "ceiling" in what.lower()]
        found = found or [yes(f"{what} is defined", *place) for what, place in own]
        return found or [no(f"{name}: no ceiling was found in the code")]

    ran = material.ran("its ceiling")
    static = _each(material, rule)
    return static + (ran or [judged("it was not computed: whether it is a valid Score is read off the code")])


def _bibtex(material: Material) -> list[Found]:
    def rule(name: str, code: PluginCode) -> list[Found]:
        values = [(call.keywords["bibtex"], call.path, call.line) for call in _made(code) if "bibtex" in call.keywords]
        texts = [(value, path, line) for value, path, line in values if isinstance(value, str)]
        if not texts and values:
            return [judged(f"{name}: bibtex is computed", *values[0][1:])]
        texts = texts or [one for one in code.constants.values() if isinstance(one[0], str) and "@" in one[0][:200]]
        if not texts:
            return [no(f"{name}: no bibtex")]
        return [_citation(text, path, line) for text, path, line in dict.fromkeys(texts)]

    return _each(material, rule) + material.ran("its citation")


def _citation(text: str, path: str, line: int) -> Found:
    fields = {one.lower() for one in _FIELD.findall(text.replace("{", "{\n", 1).replace(",", ",\n"))}
    missing = [name for name in ("title", "author", "year") if name not in fields]
    if "@" not in text:
        return no("bibtex has no entry", path, line)
    return no(f"bibtex lacks {', '.join(missing)}", path, line) if missing else yes("title, author, year", path, line)


def _parent(material: Material) -> list[Found]:
    given = {
        str(call.keywords["parent"])
        for code in material.benchmarks.values()
        for call in _made(code)
        if isinstance(call.keywords.get("parent"), str)
    }
    known = set(Benchmark.objects.filter(identifier__in=given).values_list("identifier", flat=True)) | _PARENTS
    study = {
        str(made.get("key", "")).partition("-")[0].partition(".")[0] for _, made in material.registered("benchmarks")
    }

    def judge(value: Any) -> bool | None:
        if not isinstance(value, str):
            return False
        return True if value in known or value.partition("-")[0].partition(".")[0] in study else None

    return _keyword("parent", judge)(material) + material.ran("its parent")


def _tests(what: str, wanted: Callable[[Test], bool], check: str) -> Callable[[Material], list[Found]]:
    """A rule about tests."""

    def rule(name: str, code: PluginCode) -> list[Found]:
        found = [one for one in code.tests if wanted(one)]
        private = {True: ", with private data only"}
        said = [yes(f"{one.name}{private.get(one.private, '')}", one.path, one.line) for one in found[:3]]
        return said or [no(f"{name}: no test {what}")]

    return lambda material: _each(material, rule) + material.ran(check)


def _all_pass(material: Material) -> list[Found]:
    step = material.steps.get(_TEST)
    if step is None or step.state in (Step.State.WAITING, Step.State.RUNNING, Step.State.CANCELLED):
        return [judged("tests were not run yet" if step is None else f"tests: {step.state}")]
    said = material.result(_TEST)
    counts = [f"{said[name]} {name}" for name in ("passed", "failed", "skipped") if isinstance(said.get(name), int)]
    words = ", ".join(counts) or step.reason or step.state
    found = [yes(words) if step.state == Step.State.PASSED and not said.get("failed") else no(words)]
    private = said.get("skipped_private")
    if isinstance(private, int) and private:
        found.append(judged(f"{private} that need private data were not run: they are judged by reading"))
    return found


BENCHMARK: Mapping[str, Callable[[Material], list[Found]]] = {
    "Inherits from BenchmarkBase (or appropriate helper)": _inherits,
    "identifier follows naming convention AuthorYear-metric": _identifier,
    "version is set": _version_rule,
    "ceiling_func is implemented and returns a valid Score": _ceiling,
    "bibtex includes complete citation": _bibtex,
    "parent is set correctly": _parent,
}
TESTING: Mapping[str, Callable[[Material], list[Found]]] = {
    "Unit tests verify benchmark loads": _tests(
        "loads it", lambda one: bool(one.calls & {"load_benchmark"}), "its tests load it"
    ),
    "Unit tests verify ceiling is valid": _tests(
        "looks at the ceiling", lambda one: "ceiling" in one.attributes and one.asserts, "its tests look at the ceiling"
    ),
    "Unit tests verify benchmark runs with at least one model": _tests(
        "runs it on a model", lambda one: bool(one.calls & {"load_model", "score"}), "its tests run it"
    ),
    "All tests pass": _all_pass,
}
