"""The review checklist of a submission, computed from its code, its automatic steps and its uploads.

What a program cannot decide is left to the reviewer, with the evidence found. No submitted code runs here.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from brainscore_web.accounts.models import User
from brainscore_web.leaderboard.models import Benchmark
from brainscore_web.submissions.models import PluginKind, Revision, Step
from brainscore_web.submissions.review.comments import anchor_of
from brainscore_web.submissions.review.plugin_code import Call, DataSet, PluginCode, Test, named_uploads, read_plugin
from brainscore_web.submissions.source_code import FileText, texts_of

__all__ = ["Item", "Material", "checklist_of", "compute_checklist", "material_of"]


@dataclass(frozen=True)
class Evidence:
    """A piece of evidence: fine, not fine, or for a reviewer to judge (None)."""

    text: str
    path: str = ""
    line: int | None = None
    fine: bool | None = None


def evidence_for(text: str, path: str = "", line: int | None = None) -> Evidence:
    """Evidence that the item is fulfilled."""
    return Evidence(text, path, line, True)


def evidence_against(text: str, path: str = "", line: int | None = None) -> Evidence:
    """Evidence that the item is not fulfilled."""
    return Evidence(text, path, line, False)


def needs_judgement(text: str, path: str = "", line: int | None = None) -> Evidence:
    """Evidence that a reviewer must judge."""
    return Evidence(text, path, line, None)


_BENCHMARKS, _TEST = str(PluginKind.BENCHMARKS), str(Step.Kind.TEST)
_NAME = re.compile(r"[A-Z][A-Za-z]*(?:19|20)\d\d[A-Za-z0-9_]*(?:\.[A-Za-z0-9_]+)*-[A-Za-z0-9_.-]+")
_FIELD = re.compile(r"^[ \t]*(\w+)[ \t]*=", re.MULTILINE)
_PARENTS = frozenset({"V1", "V2", "V4", "IT", "behavior", "behavior_vision", "neural", "neural_vision", "engineering"})
_CONSTRUCTOR = frozenset({"identifier", "version", "ceiling_func", "parent", "bibtex"})
_BASES = frozenset({"Benchmark", "BenchmarkBase", "NeuralBenchmark", "TrainTestNeuralBenchmark", "RSABenchmark"})


def _each(material: Material, rule: Callable[[str, PluginCode], list[Evidence]]) -> list[Evidence]:
    return [evidence for name, code in material.benchmarks.items() for evidence in rule(name, code)]


def _constructor_calls(code: PluginCode) -> list[Call]:
    """Calls that construct a benchmark."""
    return [call for call in code.calls if len(_CONSTRUCTOR & set(call.keywords)) >= 2]


def _inherits(material: Material) -> list[Evidence]:
    def rule(name: str, code: PluginCode) -> list[Evidence]:
        found = [evidence_for(f"inherits from {base}", path, line) for base, path, line in code.bases if _is_base(base)]
        helpers = [call for call in _constructor_calls(code) if call.name != "__init__"]
        found = found or [
            evidence_for(f"created by {call.name}", call.path, call.line) for call in helpers if _is_base(call.name)
        ]
        if not found and helpers:
            found = [needs_judgement(f"created by {call.name}", call.path, call.line) for call in helpers]
        return found or [
            evidence_against(f"{name}: neither a subclass of BenchmarkBase nor a helper function was found")
        ]

    return _each(material, rule)


def _is_base(name: str) -> bool:
    return name in _BASES or name.endswith(("Benchmark", "BenchmarkBase", "_benchmark"))


def _identifier(material: Material) -> list[Evidence]:
    found = []
    for _, made in material.registered(_BENCHMARKS):
        key, line = str(made.get("key", "")), made.get("line")
        fine = _NAME.fullmatch(key)
        found.append(
            evidence_for(key, line=line)
            if fine
            else evidence_against(f"{key} is not written as AuthorYear-metric", line=line)
        )
    return [*(found or [evidence_against("no benchmark is registered")]), *material.ran("its identifier")]


def _keyword(
    name: str, judge: Callable[[Any], bool | None], *, needed: bool = True
) -> Callable[[Material], list[Evidence]]:
    """Make a rule about a keyword argument of the constructors of benchmarks."""

    def rule(plugin: str, code: PluginCode) -> list[Evidence]:
        given = [(call.keywords[name], call) for call in _constructor_calls(code) if name in call.keywords]
        found = []
        for value, call in given:
            fine = None if value is None else judge(value)
            shown = f"{name} is {_short(value)}" if value is not None else f"{name} is computed"
            found.append(Evidence(shown, call.path, call.line, fine))
        if not found and _constructor_calls(code) and needed:
            return [
                evidence_against(f"{plugin}: no {name} is given", call.path, call.line)
                for call in _constructor_calls(code)[:1]
            ]
        return found or [needs_judgement(f"{plugin}: no {name} was found in the code")]

    return lambda material: _each(material, rule)


def _short(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:59]}…"


def _version_rule(material: Material) -> list[Evidence]:
    static = _keyword("version", lambda value: isinstance(value, int) and not isinstance(value, bool) and value >= 1)
    return static(material) + material.ran("its version")


def _ceiling(material: Material) -> list[Evidence]:
    def rule(name: str, code: PluginCode) -> list[Evidence]:
        given = [call for call in _constructor_calls(code) if {"ceiling_func", "ceiling"} & set(call.keywords)]
        found = [evidence_for("ceiling_func is set", call.path, call.line) for call in given]
        own = [(name, place) for name, place in code.defined.items() if "ceiling" in name.lower()]
        found = found or [evidence_for(f"{defined} is defined", *place) for defined, place in own]
        return found or [evidence_against(f"{name}: no ceiling was found in the code")]

    ran = material.ran("its ceiling")
    static = _each(material, rule)
    return static + (ran or [needs_judgement("it was not computed; judge from the code whether it is a valid Score")])


def _bibtex(material: Material) -> list[Evidence]:
    def rule(name: str, code: PluginCode) -> list[Evidence]:
        values = [
            (call.keywords["bibtex"], call.path, call.line)
            for call in _constructor_calls(code)
            if "bibtex" in call.keywords
        ]
        texts = [(value, path, line) for value, path, line in values if isinstance(value, str)]
        if not texts and values:
            return [needs_judgement(f"{name}: bibtex is computed", *values[0][1:])]
        texts = texts or [
            entry for entry in code.constants.values() if isinstance(entry[0], str) and "@" in entry[0][:200]
        ]
        if not texts:
            return [evidence_against(f"{name}: no bibtex")]
        return [_citation(text, path, line) for text, path, line in dict.fromkeys(texts)]

    return _each(material, rule) + material.ran("its citation")


def _citation(text: str, path: str, line: int) -> Evidence:
    fields = {name.lower() for name in _FIELD.findall(text.replace("{", "{\n", 1).replace(",", ",\n"))}
    missing = [name for name in ("title", "author", "year") if name not in fields]
    if "@" not in text:
        return evidence_against("bibtex has no entry", path, line)
    return (
        evidence_against(f"bibtex lacks {', '.join(missing)}", path, line)
        if missing
        else evidence_for("title, author, year", path, line)
    )


def _parent(material: Material) -> list[Evidence]:
    given = {
        str(call.keywords["parent"])
        for code in material.benchmarks.values()
        for call in _constructor_calls(code)
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


def _tests(what: str, wanted: Callable[[Test], bool], check: str) -> Callable[[Material], list[Evidence]]:
    """Make a rule about the tests of a plugin."""

    def rule(name: str, code: PluginCode) -> list[Evidence]:
        found = [test for test in code.tests if wanted(test)]
        private = {True: ", with private data only"}
        evidence = [
            evidence_for(f"{test.name}{private.get(test.private, '')}", test.path, test.line) for test in found[:3]
        ]
        return evidence or [evidence_against(f"{name}: no test {what}")]

    return lambda material: _each(material, rule) + material.ran(check)


def _all_pass(material: Material) -> list[Evidence]:
    step = material.steps.get(_TEST)
    if step is None or step.state in (Step.State.WAITING, Step.State.RUNNING, Step.State.CANCELLED):
        return [needs_judgement("tests have not been run yet" if step is None else f"tests: {step.state}")]
    result = material.result(_TEST)
    counts = [f"{result[name]} {name}" for name in ("passed", "failed", "skipped") if isinstance(result.get(name), int)]
    summary = ", ".join(counts) or step.reason or step.state
    found = [
        evidence_for(summary)
        if step.state == Step.State.PASSED and not result.get("failed")
        else evidence_against(summary)
    ]
    private = result.get("skipped_private")
    if isinstance(private, int) and private:
        found.append(
            needs_judgement(f"{private} tests that need private data were not run; judge them from their code")
        )
    return found


BENCHMARK_RULES: Mapping[str, Callable[[Material], list[Evidence]]] = {
    "Inherits from BenchmarkBase (or appropriate helper)": _inherits,
    "identifier follows naming convention AuthorYear-metric": _identifier,
    "version is set": _version_rule,
    "ceiling_func is implemented and returns a valid Score": _ceiling,
    "bibtex includes complete citation": _bibtex,
    "parent is set correctly": _parent,
}
TESTING_RULES: Mapping[str, Callable[[Material], list[Evidence]]] = {
    "Unit tests verify benchmark loads": _tests(
        "loads it", lambda test: bool(test.calls & {"load_benchmark"}), "its tests load it"
    ),
    "Unit tests verify ceiling is valid": _tests(
        "checks the ceiling",
        lambda test: "ceiling" in test.attributes and test.asserts,
        "its tests look at the ceiling",
    ),
    "Unit tests verify benchmark runs with at least one model": _tests(
        "runs it on a model", lambda test: bool(test.calls & {"load_model", "score"}), "its tests run it"
    ),
    "All tests pass": _all_pass,
}


_DATA, _CHECK = str(PluginKind.DATA), str(Step.Kind.CHECK)
_SCORE = re.compile(r"\b(?:score|ceiling|expected|alexnet)\b[^\n]{0,80}?\d{0,9}\.\d{1,20}", re.IGNORECASE)
_SHORT = 80
_LOADERS = ("load_stimulus_set_from", "load_assembly_from", "load_file", "load_folder", "fetch", "package")
_NAN = ("nan", "missing values")


def _uploads(material: Material, remark: Callable[[Mapping[str, str]], bool], fine: str) -> list[Evidence]:
    found = []
    for one in material.uploads:
        name = f"{one.upload.identifier}" if not one.hidden else "a private upload of another user"
        remarks = [finding for finding in one.findings if remark(finding)]
        if not one.accepted:
            found.append(evidence_against(f"{name} is {one.upload.state}"))
        elif remarks:
            found += [
                needs_judgement(f"{name}: {finding.get('check', '')}: {finding.get('culprit', '')}")
                for finding in remarks
            ]
        else:
            found.append(needs_judgement(name) if one.hidden else evidence_for(f"{name}: {fine}"))
    return found


def _stimuli(material: Material) -> list[Evidence]:
    found = _uploads(
        material,
        lambda finding: any(word in f"{finding.get('check', '')}".lower() for word in ("stimul", "file")),
        "checked on upload",
    )
    return found + material.ran("its stimulus ids are unique", "its files are there", kind=_DATA) or [
        needs_judgement("the code names no upload of this site, so ids and files were not checked here")
    ]


def _values(material: Material) -> list[Evidence]:
    found = _uploads(
        material,
        lambda finding: any(word in f"{finding.get('check', '')}".lower() for word in _NAN),
        "no missing values according to the checks of the upload",
    )
    return found + material.ran("its values are there", kind=_DATA) or [
        needs_judgement("the code names no upload of this site, so values were not checked here")
    ]


def _hashes(material: Material) -> list[Evidence]:
    found = [
        evidence_for(
            f"{file.name} is in storage with this hash" if not one.hidden else "a file is in storage with this hash"
        )
        for one in material.uploads
        if one.accepted
        for file in one.files
    ]
    fetched = material.result(_CHECK).get("files")
    for file in fetched if isinstance(fetched, list) else ():
        if isinstance(file, dict):
            address, note = str(file.get("url", "")), str(file.get("note") or "")
            text = f"{address}: {note}" if note else address
            verified = file.get("verified")
            found.append(
                evidence_for(f"{text} was fetched and its hash compared")
                if verified
                else evidence_against(text)
                if verified is False
                else needs_judgement(text)
            )
    found += material.ran("what is fetched has its sha1", kind=_DATA)
    return found or [needs_judgement("the code declares no file with a hash")]


def _registration(material: Material) -> list[Evidence]:
    found = []
    for name, code in material.data.items():
        registered = [entry for plugin, entry in material.registered(_DATA) if plugin == name]
        loaders = [call for call in code.calls if call.name.startswith(_LOADERS)]
        if not registered:
            found.append(evidence_against(f"{name} registers nothing"))
        elif not loaders:
            found.append(needs_judgement(f"{name}: registered, but without any of the usual loaders"))
        found += [evidence_for(call.name, call.path, call.line) for call in loaders[:6] if registered]
    return found or [needs_judgement("there is no data plugin, so the data are registered elsewhere")]


def _comments(material: Material) -> list[Evidence]:
    codes = [*material.benchmarks.values(), *material.data.values()]
    functions, documented = sum(code.functions for code in codes), sum(code.documented for code in codes)
    found = [needs_judgement(f"{documented} of {functions} classes and functions have a docstring")]
    return found + [
        evidence_against(f"{path} cannot be read as Python", path) for code in codes for path in code.unread
    ]


def _description(material: Material) -> list[Evidence]:
    text = material.note.strip()
    if not text:
        return [evidence_against("the submitter gave no description")]
    if len(text) < _SHORT:
        return [
            needs_judgement(
                f"{len(text)} characters: does it say what is measured, where the data are from, and how it was tested?"
            )
        ]
    wanted = {
        "what it measures": r"descri|measur|evaluat",
        "data": r"data|stimul|image|recording",
        "tests": r"test|pass",
    }
    missing = [name for name, words in wanted.items() if not re.search(words, text, re.IGNORECASE)]
    return (
        [needs_judgement(f"does not mention: {', '.join(missing)}")]
        if missing
        else [evidence_for(f"{len(text)} characters")]
    )


def _expected(material: Material) -> list[Evidence]:
    found = _SCORE.search(material.note)
    stated = [evidence_for(f"“{found.group()}”")] if found else []
    ran = material.ran("its tests know a reference score")
    return stated or ran or [evidence_against("no expected score of a reference model is given")]


DATA_RULES: Mapping[str, Callable[[Material], list[Evidence]]] = {
    "Stimulus set has unique IDs and all files exist": _stimuli,
    "Data assembly has no NaN values": _values,
    "Data is uploaded with correct SHA hashes": _hashes,
    "Data registration includes proper loader functions": _registration,
}
DOCUMENTATION_RULES: Mapping[str, Callable[[Material], list[Evidence]]] = {
    "Code is well-commented": _comments,
    "Description is complete": _description,
    "Expected scores documented for reference model": _expected,
}
ALWAYS_APPLICABLE = frozenset({"Code is well-commented", "Description is complete"})
"""Items that apply to every submission."""


State = Literal["passed", "failed", "judge", "none"]


@dataclass(frozen=True)
class Item:
    """A line of the checklist.

    Attributes
    ----------
    group, text : str
        The group that contains it, and its text.
    state : {'passed', 'failed', 'judge', 'none'}
        The result; ``'none'`` means that it does not apply.
    evidence : tuple of Evidence
        The evidence for the result.
    """

    group: str
    text: str
    state: State
    evidence: tuple[Evidence, ...] = ()

    def as_dict(self) -> dict[str, Any]:
        """Return plain values."""
        evidence = [{"text": piece.text, "path": piece.path, "line": piece.line} for piece in self.evidence]
        return {"group": self.group, "text": self.text, "state": self.state, "evidence": evidence}

    @property
    def state_label(self) -> str:
        """The state in words."""
        return {"passed": "passed", "failed": "failed", "judge": "to be judged", "none": "does not apply"}[self.state]

    @property
    def places(self) -> list[tuple[Evidence, str]]:
        """Evidence with the id of its place on the page."""
        return [(one, anchor_of(one.path, one.line) if one.path else "") for one in self.evidence]


@dataclass(frozen=True)
class Material:
    """The input of a checklist.

    Attributes
    ----------
    texts : mapping of str to FileText
        Files of the revision.
    benchmarks, data : mapping of str to PluginCode
        The analysed code of plugins by name.
    plugins : sequence of mapping
        The plugins of the revision.
    findings : sequence of mapping
        The findings of the revision.
    steps : mapping of str to Step
        The steps by kind.
    uploads : sequence of DataSet
        The uploads that the code names.
    note : str
        The submitter's note.
    """

    texts: Mapping[str, FileText]
    benchmarks: Mapping[str, PluginCode] = field(default_factory=dict)
    data: Mapping[str, PluginCode] = field(default_factory=dict)
    plugins: Sequence[Mapping[str, Any]] = ()
    findings: Sequence[Mapping[str, Any]] = ()
    steps: Mapping[str, Step] = field(default_factory=dict)
    uploads: Sequence[DataSet] = ()
    note: str = ""

    def registered(self, kind: str) -> list[tuple[str, Mapping[str, Any]]]:
        """The registrations of plugins of a kind, each with the plugin's name."""
        return [
            (one["name"], made) for one in self.plugins if one["kind"] == kind for made in one.get("registrations", ())
        ]

    def result(self, kind: str) -> Mapping[str, Any]:
        """The result of a step."""
        step = self.steps.get(kind)
        return step.result if step is not None and isinstance(step.result, dict) else {}

    def ran(self, *names: str, kind: str = "benchmarks") -> list[Evidence]:
        """The results of automatic checks of plugins of a kind, selected by the beginning of their names.

        The test step stores them as ``"<identifier>: <name of the check>"``.
        """
        checks = self.result(str(Step.Kind.TEST)).get("checks")
        found = []
        for check in checks if isinstance(checks, list) else ():
            if not isinstance(check, dict) or not str(check.get("plugin", "")).startswith(f"{kind}/"):
                continue
            if str(check.get("name", "")).partition(": ")[2].startswith(names):
                text = f"{check.get('plugin', '')}: {check.get('name', '')}"
                text = f"{text} – {check['message']}" if check.get("message") else text
                evidence = {"passed": evidence_for, "failed": evidence_against}.get(
                    str(check.get("result")), needs_judgement
                )
                found.append(evidence(text))
        return found


def material_of(revision: Revision, reader: User, texts: Mapping[str, FileText] | None = None) -> Material:
    """Collect the input of a revision's checklist."""
    texts = texts_of(revision) if texts is None else texts

    def code(kind: str) -> dict[str, PluginCode]:
        names = [plugin["name"] for plugin in revision.plugins if plugin["kind"] == kind]
        return {name: read_plugin(f"{kind}/{name}/", texts) for name in names}

    return Material(
        texts=texts,
        benchmarks=code(str(PluginKind.BENCHMARKS)),
        data=code(str(PluginKind.DATA)),
        plugins=revision.plugins,
        findings=revision.findings,
        steps={step.kind: step for step in revision.steps.defer("log")},
        uploads=named_uploads(revision, texts, reader),
        note=revision.note,
    )


def checklist_of(revision: Revision, reader: User) -> list[Item]:
    """Compute the checklist of a revision."""
    return compute_checklist(material_of(revision, reader))


def compute_checklist(material: Material) -> list[Item]:
    """Compute a checklist.

    Parameters
    ----------
    material : Material
        The input, from `material_of`.
    """
    groups: dict[str, tuple[bool, Mapping[str, Callable[[Any], list[Evidence]]]]] = {
        "Data": (bool(material.data) or bool(material.uploads), DATA_RULES),
        "Benchmark": (bool(material.benchmarks), BENCHMARK_RULES),
        "Testing": (bool(material.benchmarks), TESTING_RULES),
        "Documentation": (bool(material.benchmarks), DOCUMENTATION_RULES),
    }
    items = []
    for group, (applies, rules) in groups.items():
        for text, rule in rules.items():
            always = text in ALWAYS_APPLICABLE
            evidence = rule(material) if applies or always else []
            items.append(Item(group, text, _state(evidence) if applies or always else "none", tuple(evidence)))
    return items


def _state(pieces: Iterable[Evidence]) -> State:
    verdicts = {piece.fine for piece in pieces}
    if False in verdicts:
        return "failed"
    return "judge" if None in verdicts or not verdicts else "passed"
