"""The review checklist of a submission, computed from its code, its automatic steps, its uploads and assessments.

Items that cannot be decided automatically are left to the reviewer, with the evidence. No submitted code runs here.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from brainscore_web.accounts.models import User
from brainscore_web.leaderboard.models import Benchmark
from brainscore_web.submissions.assessments import ShownAssessment, assessments_of
from brainscore_web.submissions.models import PluginKind, Revision, Step
from brainscore_web.submissions.review.comments import anchor_of
from brainscore_web.submissions.review.plugin_code import (
    Call,
    DataSet,
    PluginCode,
    Test,
    files_left_out,
    named_uploads,
    read_plugin,
)
from brainscore_web.submissions.source_code import FileText, texts_of


@dataclass(frozen=True)
class Evidence:
    """A piece of evidence: for the item (`fine` is True), against it (False), or to be judged by a reviewer (None)."""

    text: str
    path: str = ""
    line: int | None = None
    fine: bool | None = None


def evidence_for(text: str, path: str = "", line: int | None = None) -> Evidence:
    """Make evidence that the item is fulfilled."""
    return Evidence(text, path, line, True)


def evidence_against(text: str, path: str = "", line: int | None = None) -> Evidence:
    """Make evidence that the item is not fulfilled."""
    return Evidence(text, path, line, False)


def needs_judgement(text: str, path: str = "", line: int | None = None) -> Evidence:
    """Make evidence that a reviewer must judge."""
    return Evidence(text, path, line, None)


_BENCHMARKS, _TEST = str(PluginKind.BENCHMARKS), str(Step.Kind.TEST)
_IDENTIFIER = re.compile(r"[A-Z][A-Za-z]*(?:19|20)\d\d[A-Za-z0-9_]*(?:\.[A-Za-z0-9_]+)*-[A-Za-z0-9_.-]+")
_BIBTEX_FIELD = re.compile(r"^[ \t]*(\w+)[ \t]*=", re.MULTILINE)
_PARENTS = frozenset({"V1", "V2", "V4", "IT", "behavior", "behavior_vision", "neural", "neural_vision", "engineering"})
_CONSTRUCTOR_KEYWORDS = frozenset({"identifier", "version", "ceiling_func", "parent", "bibtex"})
_BASE_CLASSES = frozenset({"Benchmark", "BenchmarkBase", "NeuralBenchmark", "TrainTestNeuralBenchmark", "RSABenchmark"})


def _for_each_benchmark(material: Material, rule: Callable[[str, PluginCode], list[Evidence]]) -> list[Evidence]:
    """Collect the evidence of a rule about the name and code of a benchmark plugin."""
    return [evidence for name, code in material.benchmarks.items() for evidence in rule(name, code)]


def _constructor_calls(code: PluginCode) -> list[Call]:
    """Return the calls that look like constructing a benchmark, by their keyword arguments."""
    return [call for call in code.calls if len(_CONSTRUCTOR_KEYWORDS & set(call.keywords)) >= 2]


def _inherits(material: Material) -> list[Evidence]:
    def rule(name: str, code: PluginCode) -> list[Evidence]:
        evidence = [
            evidence_for(f"inherits from {base}", path, line) for base, path, line in code.bases if _is_base(base)
        ]
        helpers = [call for call in _constructor_calls(code) if call.name != "__init__"]
        evidence = evidence or [
            evidence_for(f"created by {call.name}", call.path, call.line) for call in helpers if _is_base(call.name)
        ]
        if not evidence and helpers:
            evidence = [needs_judgement(f"created by {call.name}", call.path, call.line) for call in helpers]
        return evidence or [
            evidence_against(f"{name}: neither a subclass of BenchmarkBase nor a helper function was found")
        ]

    return _for_each_benchmark(material, rule)


def _is_base(name: str) -> bool:
    """Whether a name is that of a base class, or of a helper function, of benchmarks."""
    return name in _BASE_CLASSES or name.endswith(("Benchmark", "BenchmarkBase", "_benchmark"))


def _identifier(material: Material) -> list[Evidence]:
    evidence = []
    for _, registration in material.registered(_BENCHMARKS):
        key, line = str(registration.get("key", "")), registration.get("line")
        evidence.append(
            evidence_for(key, line=line)
            if _IDENTIFIER.fullmatch(key)
            else evidence_against(f"{key} is not written as AuthorYear-metric", line=line)
        )
    return [
        *(evidence or [evidence_against("no benchmark is registered")]),
        *material.evidence_from_checks("its identifier"),
    ]


def _keyword_rule(name: str, judge: Callable[[Any], bool | None]) -> Callable[[Material], list[Evidence]]:
    """Make a rule about a keyword argument of benchmark constructors; `judge` returns `Evidence.fine` of a value."""

    def rule(plugin: str, code: PluginCode) -> list[Evidence]:
        calls = [(call.keywords[name], call) for call in _constructor_calls(code) if name in call.keywords]
        evidence = []
        for value, call in calls:
            fine = None if value is None else judge(value)
            shown = f"{name} is {_short(value)}" if value is not None else f"{name} is computed"
            evidence.append(Evidence(shown, call.path, call.line, fine))
        if not evidence and _constructor_calls(code):
            return [
                evidence_against(f"{plugin}: no {name} is given", call.path, call.line)
                for call in _constructor_calls(code)[:1]
            ]
        return evidence or [needs_judgement(f"{plugin}: no {name} was found in the code")]

    return lambda material: _for_each_benchmark(material, rule)


def _short(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:59]}…"


def _version_rule(material: Material) -> list[Evidence]:
    static = _keyword_rule(
        "version", lambda value: isinstance(value, int) and not isinstance(value, bool) and value >= 1
    )
    return static(material) + material.evidence_from_checks("its version")


def _ceiling(material: Material) -> list[Evidence]:
    def rule(name: str, code: PluginCode) -> list[Evidence]:
        calls = [call for call in _constructor_calls(code) if {"ceiling_func", "ceiling"} & set(call.keywords)]
        evidence = [evidence_for("ceiling_func is set", call.path, call.line) for call in calls]
        defined = [(function, position) for function, position in code.defined.items() if "ceiling" in function.lower()]
        evidence = evidence or [evidence_for(f"{function} is defined", *position) for function, position in defined]
        return evidence or [evidence_against(f"{name}: no ceiling was found in the code")]

    computed = material.evidence_from_checks("its ceiling")
    static = _for_each_benchmark(material, rule)
    return static + (
        computed or [needs_judgement("the ceiling was not computed; judge from the code whether it is a valid Score")]
    )


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

    return _for_each_benchmark(material, rule) + material.evidence_from_checks("its citation")


def _citation(text: str, path: str, line: int) -> Evidence:
    fields = {name.lower() for name in _BIBTEX_FIELD.findall(text.replace("{", "{\n", 1).replace(",", ",\n"))}
    missing = [name for name in ("title", "author", "year") if name not in fields]
    if "@" not in text:
        return evidence_against("bibtex contains no entry", path, line)
    return (
        evidence_against(f"bibtex lacks {', '.join(missing)}", path, line)
        if missing
        else evidence_for("title, author, year", path, line)
    )


def _parent(material: Material) -> list[Evidence]:
    parents = {
        str(call.keywords["parent"])
        for code in material.benchmarks.values()
        for call in _constructor_calls(code)
        if isinstance(call.keywords.get("parent"), str)
    }
    existing = set(Benchmark.objects.filter(identifier__in=parents).values_list("identifier", flat=True)) | _PARENTS
    studies = {_study_of(str(registration.get("key", ""))) for _, registration in material.registered(_BENCHMARKS)}

    def judge(value: Any) -> bool | None:
        if not isinstance(value, str):
            return False
        return True if value in existing or _study_of(value) in studies else None

    return _keyword_rule("parent", judge)(material) + material.evidence_from_checks("its parent")


def _study_of(identifier: str) -> str:
    """Return the ``AuthorYear`` of an identifier such as ``AuthorYear.subset-metric``."""
    return identifier.partition("-")[0].partition(".")[0]


def _test_rule(action: str, is_wanted: Callable[[Test], bool], check: str) -> Callable[[Material], list[Evidence]]:
    """Make a rule that some test performs an action, according to the code and to an automatic check of the tests."""

    def rule(name: str, code: PluginCode) -> list[Evidence]:
        found = [
            evidence_for(f"{test.name}{', with private data only' if test.private else ''}", test.path, test.line)
            for test in code.tests
            if is_wanted(test)
        ]
        return found[:3] or [evidence_against(f"{name}: no test {action}")]

    return lambda material: _for_each_benchmark(material, rule) + material.evidence_from_checks(check)


def _all_pass(material: Material) -> list[Evidence]:
    step = material.steps.get(_TEST)
    if step is None or step.state in (Step.State.WAITING, Step.State.RUNNING, Step.State.CANCELLED):
        return [needs_judgement("the tests have not been run yet" if step is None else f"the tests are {step.state}")]
    result = material.result(_TEST)
    counts = [f"{result[name]} {name}" for name in ("passed", "failed", "skipped") if isinstance(result.get(name), int)]
    # the plugin's code runs in the process that tests it
    summary = f"as reported by the plugin: {', '.join(counts)}" if counts else step.reason or step.state
    evidence = [
        evidence_for(summary)
        if step.state == Step.State.PASSED and not result.get("failed")
        else evidence_against(summary)
    ]
    private = result.get("skipped_private")
    if isinstance(private, int) and private:
        evidence.append(
            needs_judgement(f"{private} tests that need private data were not run; judge them by their code")
        )
    return evidence


BENCHMARK_RULES: Mapping[str, Callable[[Material], list[Evidence]]] = {
    "Inherits from BenchmarkBase (or appropriate helper)": _inherits,
    "identifier follows naming convention AuthorYear-metric": _identifier,
    "version is set": _version_rule,
    "ceiling_func is implemented and returns a valid Score": _ceiling,
    "bibtex includes complete citation": _bibtex,
    "parent is set correctly": _parent,
}
TESTING_RULES: Mapping[str, Callable[[Material], list[Evidence]]] = {
    "Unit tests verify benchmark loads": _test_rule(
        "loads the benchmark", lambda test: bool(test.calls & {"load_benchmark"}), "its tests load it"
    ),
    "Unit tests verify ceiling is valid": _test_rule(
        "checks the ceiling",
        lambda test: "ceiling" in test.attributes and test.asserts,
        "its tests look at the ceiling",
    ),
    "Unit tests verify benchmark runs with at least one model": _test_rule(
        "runs the benchmark on a model", lambda test: bool(test.calls & {"load_model", "score"}), "its tests run it"
    ),
    "All tests pass": _all_pass,
}


_DATA, _CHECK = str(PluginKind.DATA), str(Step.Kind.CHECK)
_EXPECTED_SCORE = re.compile(r"\b(?:score|ceiling|expected|alexnet)\b[^\n]{0,80}?\d{0,9}\.\d{1,20}", re.IGNORECASE)
_SHORT_DESCRIPTION = 80  # characters
_LOADERS = ("load_stimulus_set_from", "load_assembly_from", "load_file", "load_folder", "fetch", "package")
_NAN_WORDS = ("nan", "missing values")


def _upload_evidence(
    material: Material, is_relevant: Callable[[Mapping[str, str]], bool], without_findings: str
) -> list[Evidence]:
    """Make evidence from the relevant findings of the checks of uploads, or a text if there are none."""
    evidence = []
    for data_set in material.uploads:
        name = "a private upload of another user" if data_set.hidden else f"{data_set.upload.identifier}"
        relevant = [finding for finding in data_set.findings if is_relevant(finding)]
        if not data_set.accepted:
            evidence.append(evidence_against(f"{name} is {data_set.upload.state}"))
        elif relevant:
            evidence += [
                needs_judgement(f"{name}: {finding.get('check', '')}: {finding.get('culprit', '')}")
                for finding in relevant
            ]
        else:
            evidence.append(needs_judgement(name) if data_set.hidden else evidence_for(f"{name}: {without_findings}"))
    return evidence


def _stimuli(material: Material) -> list[Evidence]:
    evidence = _upload_evidence(
        material,
        lambda finding: any(word in f"{finding.get('check', '')}".lower() for word in ("stimul", "file")),
        "checked on upload",
    )
    return evidence + material.evidence_from_checks(
        "its stimulus ids are unique", "its files are there", kind=_DATA
    ) or [needs_judgement("the code uses no upload of this site, so stimulus ids and files were not checked")]


def _values(material: Material) -> list[Evidence]:
    evidence = _upload_evidence(
        material,
        lambda finding: any(word in f"{finding.get('check', '')}".lower() for word in _NAN_WORDS),
        "no missing values according to the checks of the upload",
    )
    return evidence + material.evidence_from_checks("its values are there", kind=_DATA) or [
        needs_judgement("the code uses no upload of this site, so values were not checked")
    ]


def _hashes(material: Material) -> list[Evidence]:
    evidence = [
        evidence_for(
            f"{'a private file' if data_set.hidden else file.name} is stored on this site with the declared hash"
        )
        for data_set in material.uploads
        if data_set.accepted
        for file in data_set.files
    ]
    fetched = material.result(_CHECK).get("files")
    for file in fetched if isinstance(fetched, list) else ():
        if isinstance(file, dict):
            address, note = str(file.get("url", "")), str(file.get("note") or "")
            text = f"{address}: {note}" if note else address
            verified = file.get("verified")
            evidence.append(
                evidence_for(f"{text} was fetched and has the declared hash")
                if verified
                else evidence_against(text)
                if verified is False
                else needs_judgement(text)
            )
    evidence += material.evidence_from_checks("what is fetched has its sha1", kind=_DATA)
    return evidence or [needs_judgement("the code declares no file with a hash")]


def _registration(material: Material) -> list[Evidence]:
    evidence = []
    for name, code in material.data.items():
        registered = [entry for plugin, entry in material.registered(_DATA) if plugin == name]
        loaders = [call for call in code.calls if call.name.startswith(_LOADERS)]
        if not registered:
            evidence.append(evidence_against(f"{name} registers no data"))
        elif not loaders:
            evidence.append(needs_judgement(f"{name} registers data, but does not call a standard loader"))
        evidence += [evidence_for(call.name, call.path, call.line) for call in loaders[:6] if registered]
    return evidence or [needs_judgement("there is no data plugin; the data must be registered elsewhere")]


def _comments(material: Material) -> list[Evidence]:
    codes = [*material.benchmarks.values(), *material.data.values()]
    functions, documented = sum(code.functions for code in codes), sum(code.documented for code in codes)
    evidence = [needs_judgement(f"{documented} of {functions} classes and functions have a docstring")]
    evidence += [needs_judgement(f"{path} is too long to be analysed here") for code in codes for path in code.left_out]
    return evidence + [
        evidence_against(f"{path} cannot be parsed as Python", path) for code in codes for path in code.unread
    ]


def _description(material: Material) -> list[Evidence]:
    text = material.note.strip()
    if not text:
        return [evidence_against("the submitter gave no description")]
    if len(text) < _SHORT_DESCRIPTION:
        return [
            needs_judgement(
                f"only {len(text)} characters: does it state what is measured, the source of the data, and the tests?"
            )
        ]
    expected = {
        "what it measures": r"descri|measur|evaluat",
        "data": r"data|stimul|image|recording",
        "tests": r"test|pass",
    }
    missing = [name for name, words in expected.items() if not re.search(words, text, re.IGNORECASE)]
    return (
        [needs_judgement(f"the description does not mention: {', '.join(missing)}")]
        if missing
        else [evidence_for(f"{len(text)} characters")]
    )


def _expected(material: Material) -> list[Evidence]:
    score = _EXPECTED_SCORE.search(material.note)
    stated = [evidence_for(f"“{score.group()}”")] if score else []
    tested = [
        evidence_for(f"{test.name} expects {text}", test.path, line)
        for code in material.benchmarks.values()
        for test in code.tests
        for text, line in test.expected
    ]
    computed = material.evidence_from_checks("its tests know a reference score")
    if stated or tested:
        return [*stated, *tested[:3]]
    return computed or [evidence_against("no expected score of a reference model is given, in a test or in the note")]


def _assessment_rule(part: str) -> Callable[[Material], list[Evidence]]:
    """Make a rule about a part of the assessments; no result of them fails the item."""

    def rule(material: Material) -> list[Evidence]:
        found = [_assessment_evidence(item) for item in material.assessments if item.part == part]
        return found or [needs_judgement("not computed yet: it begins when the tests have passed")]

    return rule


def _assessment_evidence(item: ShownAssessment) -> Evidence:
    if item.needs_decision:
        texts = [item.result or f"{item.label}: {item.reason}", *item.findings]
        return needs_judgement(f"{item.benchmark} needs a reviewer's decision: {'; '.join(texts)}")
    if item.result:
        return evidence_for(f"{item.benchmark}: {item.result}")
    return needs_judgement(f"{item.benchmark}: {item.label}{f', {item.reason}' if item.reason else ''}")


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
VALIDITY_RULES: Mapping[str, Callable[[Material], list[Evidence]]] = {
    "Audit finds nothing that makes scores too high": _assessment_rule("audit"),
    "Recovery finds the true model in simulations": _assessment_rule("recovery"),
}
ALWAYS_APPLICABLE = frozenset({"Code is well-commented", "Description is complete"})
"""Items that apply to every submission."""


State = Literal["passed", "failed", "judge", "none"]


@dataclass(frozen=True)
class Item:
    """A line of the checklist."""

    # group, text: the group that contains it, and its text
    group: str
    text: str
    state: State  # the result; ``'judge'``: the reviewer must judge; ``'none'``: the item does not apply
    evidence: tuple[Evidence, ...] = ()  # the evidence for the result

    def as_dict(self) -> dict[str, Any]:
        """Convert to plain types, for JSON."""
        evidence = [{"text": piece.text, "path": piece.path, "line": piece.line} for piece in self.evidence]
        return {"group": self.group, "text": self.text, "state": self.state, "evidence": evidence}

    @property
    def state_label(self) -> str:
        """The state in words."""
        return {"passed": "passed", "failed": "failed", "judge": "to be judged", "none": "does not apply"}[self.state]

    @property
    def places(self) -> list[tuple[Evidence, str]]:
        """Each piece of evidence with the id of its HTML element on the page with the code; empty if it has no file."""
        return [(piece, anchor_of(piece.path, piece.line) if piece.path else "") for piece in self.evidence]


@dataclass(frozen=True)
class Material:
    """The input of a checklist."""

    texts: Mapping[str, FileText]  # files of the revision
    # benchmarks, data: the analysed code of plugins by name
    benchmarks: Mapping[str, PluginCode] = field(default_factory=dict)
    data: Mapping[str, PluginCode] = field(default_factory=dict)
    plugins: Sequence[Mapping[str, Any]] = ()  # the plugins of the revision
    findings: Sequence[Mapping[str, Any]] = ()  # the findings of the revision
    steps: Mapping[str, Step] = field(default_factory=dict)  # the steps by kind
    uploads: Sequence[DataSet] = ()  # the uploads whose files the code uses
    note: str = ""  # the submitter's notes on this and earlier revisions
    assessments: Sequence[ShownAssessment] = ()  # audits and recoveries of its benchmarks

    def registered(self, kind: str) -> list[tuple[str, Mapping[str, Any]]]:
        """The registrations by plugins of a kind, each with the plugin's name."""
        return [
            (plugin["name"], registration)
            for plugin in self.plugins
            if plugin["kind"] == kind
            for registration in plugin.get("registrations", ())
        ]

    def result(self, kind: str) -> Mapping[str, Any]:
        """The result of a step."""
        step = self.steps.get(kind)
        return step.result if step is not None and isinstance(step.result, dict) else {}

    def evidence_from_checks(self, *names: str, kind: str = "benchmarks") -> list[Evidence]:
        """Evidence from automatic checks of plugins of a kind, selected by the beginning of the check's name.

        The test step stores these checks as ``"<identifier>: <name of the check>"``.
        """
        checks = self.result(str(Step.Kind.TEST)).get("checks")
        evidence = []
        for check in checks if isinstance(checks, list) else ():
            if not isinstance(check, dict) or not str(check.get("plugin", "")).startswith(f"{kind}/"):
                continue
            if str(check.get("name", "")).partition(": ")[2].startswith(names):
                text = f"{check.get('plugin', '')}: {check.get('name', '')}"
                text = f"{text} – {check['message']}" if check.get("message") else text
                fine = {"passed": True, "failed": False}.get(str(check.get("result")))
                evidence.append(Evidence(text, fine=fine))
        return evidence


def material_of(revision: Revision, reader: User, texts: Mapping[str, FileText] | None = None) -> Material:
    """Collect the input of a revision's checklist; only uploads that the reader may see are named."""
    texts = texts_of(revision) if texts is None else texts
    left_out = files_left_out(texts)

    def code(kind: str) -> dict[str, PluginCode]:
        names = [plugin["name"] for plugin in revision.plugins if plugin["kind"] == kind]
        return {name: read_plugin(f"{kind}/{name}/", texts, left_out) for name in names}

    return Material(
        texts=texts,
        benchmarks=code(str(PluginKind.BENCHMARKS)),
        data=code(str(PluginKind.DATA)),
        plugins=revision.plugins,
        findings=revision.findings,
        steps={step.kind: step for step in revision.steps.defer("log")},
        uploads=named_uploads(revision, texts, reader),
        note="\n\n".join(note for _, note in revision.notes),
        assessments=assessments_of(revision),
    )


def checklist_of(revision: Revision, reader: User) -> list[Item]:
    """Compute the checklist of a revision."""
    return compute_checklist(material_of(revision, reader))


def compute_checklist(material: Material) -> list[Item]:
    """Compute a checklist."""
    groups: dict[str, tuple[bool, Mapping[str, Callable[[Any], list[Evidence]]]]] = {
        "Data": (bool(material.data) or bool(material.uploads), DATA_RULES),
        "Benchmark": (bool(material.benchmarks), BENCHMARK_RULES),
        "Testing": (bool(material.benchmarks), TESTING_RULES),
        "Documentation": (bool(material.benchmarks), DOCUMENTATION_RULES),
    }
    if material.benchmarks:
        groups["Validity"] = (True, VALIDITY_RULES)
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
