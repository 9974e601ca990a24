"""The review checklist of a submission, computed from its code, its automatic steps, its uploads and assessments.

Items that cannot be decided automatically are left to the reviewer, with the evidence. No submitted code runs here.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from brainscore_web.accounts.models import User
from brainscore_web.leaderboard.clean import objects_in
from brainscore_web.leaderboard.clean import text as cut
from brainscore_web.leaderboard.models import Benchmark
from brainscore_web.submissions.models import PluginKind, Revision, Step
from brainscore_web.submissions.pipeline.assessing import ShownAssessment, assessments_of
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


def fulfilled(text: str, path: str = "", line: int | None = None) -> Evidence:
    """Make evidence for an item."""
    return Evidence(text, path, line, True)


def violated(text: str, path: str = "", line: int | None = None) -> Evidence:
    """Make evidence against an item."""
    return Evidence(text, path, line, False)


@dataclass(frozen=True)
class Material:
    """The input of a checklist."""

    # benchmarks, data: the analysed code of plugins by name
    benchmarks: Mapping[str, PluginCode] = field(default_factory=dict)
    data: Mapping[str, PluginCode] = field(default_factory=dict)
    plugins: Sequence[Mapping[str, Any]] = ()  # the plugins of the revision
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

    def checks(self, *names: str, kind: str = "benchmarks") -> list[Evidence]:
        """Evidence from automatic checks of plugins of a kind, selected by the beginning of the check's name.

        The test step stores these checks as ``"<identifier>: <name of the check>"``.
        """
        evidence = []
        for check in objects_in(self.result(_TEST), "checks"):
            plugin, name, message = (str(check.get(field) or "") for field in ("plugin", "name", "message"))
            if plugin.startswith(f"{kind}/") and name.partition(": ")[2].startswith(names):
                text = f"{plugin}: {name} – {message}" if message else f"{plugin}: {name}"
                evidence.append(Evidence(text, fine={"passed": True, "failed": False}.get(str(check.get("result")))))
        return evidence


Rule = Callable[[Material], list[Evidence]]
CodeRule = Callable[[str, PluginCode], list[Evidence]]
"""A rule about the name and code of a benchmark plugin."""

_BENCHMARKS, _DATA = str(PluginKind.BENCHMARKS), str(PluginKind.DATA)
_TEST, _CHECK = str(Step.Kind.TEST), str(Step.Kind.CHECK)
_IDENTIFIER = re.compile(r"[A-Z][A-Za-z]*(?:19|20)\d\d[A-Za-z0-9_]*(?:\.[A-Za-z0-9_]+)*-[A-Za-z0-9_.-]+")
_BIBTEX_FIELD = re.compile(r"^[ \t]*(\w+)[ \t]*=", re.MULTILINE)
_PARENTS = frozenset({"V1", "V2", "V4", "IT", "behavior", "behavior_vision", "neural", "neural_vision", "engineering"})
_CONSTRUCTOR_KEYWORDS = frozenset({"identifier", "version", "ceiling_func", "parent", "bibtex"})
_BASE_CLASSES = frozenset({"Benchmark", "BenchmarkBase", "NeuralBenchmark", "TrainTestNeuralBenchmark", "RSABenchmark"})


def _of_code(rule: CodeRule, *checks: str) -> Rule:
    """Make a rule from one about the code of each benchmark plugin, and from automatic checks."""

    def evidence(material: Material) -> list[Evidence]:
        pieces = [piece for name, code in material.benchmarks.items() for piece in rule(name, code)]
        return pieces + material.checks(*checks)

    return evidence


def _constructor_calls(code: PluginCode, keyword: str = "") -> list[Call]:
    """Return the calls that look like constructing a benchmark, by their keyword arguments; those with a keyword."""
    calls = [call for call in code.calls if len(_CONSTRUCTOR_KEYWORDS & set(call.keywords)) >= 2]
    return [call for call in calls if not keyword or keyword in call.keywords]


def _inherits(name: str, code: PluginCode) -> list[Evidence]:
    calls = [call for call in _constructor_calls(code) if call.name != "__init__"]
    return (
        [fulfilled(f"inherits from {base}", path, line) for base, path, line in code.bases if _is_base(base)]
        or [fulfilled(f"created by {call.name}", call.path, call.line) for call in calls if _is_base(call.name)]
        or [Evidence(f"created by {call.name}", call.path, call.line) for call in calls]
        or [violated(f"{name}: neither a subclass of BenchmarkBase nor a helper function was found")]
    )


def _is_base(name: str) -> bool:
    """Whether a name is that of a base class, or of a helper function, of benchmarks."""
    return name in _BASE_CLASSES or name.endswith(("Benchmark", "BenchmarkBase", "_benchmark"))


def _identifier(material: Material) -> list[Evidence]:
    evidence = []
    for _, registration in material.registered(_BENCHMARKS):
        key, line = str(registration.get("key", "")), registration.get("line")
        fine = _IDENTIFIER.fullmatch(key) is not None
        evidence.append(Evidence(key if fine else f"{key} is not written as AuthorYear-metric", "", line, fine))
    return (evidence or [violated("no benchmark is registered")]) + material.checks("its identifier")


def _keyword(name: str, judge: Callable[[Any], bool | None]) -> CodeRule:
    """Make a rule about a keyword argument of benchmark constructors; `judge` returns `Evidence.fine` of a value."""

    def rule(plugin: str, code: PluginCode) -> list[Evidence]:
        evidence = []
        for call in _constructor_calls(code, name):
            value = call.keywords[name]
            shown = "computed" if value is None else cut(repr(value), 60)
            fine = None if value is None else judge(value)
            evidence.append(Evidence(f"{name} is {shown}", call.path, call.line, fine))
        others = _constructor_calls(code)[:1]
        return (
            evidence
            or [violated(f"{plugin}: no {name} is given", call.path, call.line) for call in others]
            or [Evidence(f"{plugin}: no {name} was found in the code")]
        )

    return rule


def _is_version(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= 1


def _ceiling(material: Material) -> list[Evidence]:
    def rule(name: str, code: PluginCode) -> list[Evidence]:
        calls = [call for call in _constructor_calls(code) if {"ceiling_func", "ceiling"} & set(call.keywords)]
        defined = [(function, position) for function, position in code.defined.items() if "ceiling" in function.lower()]
        return (
            [fulfilled("ceiling_func is set", call.path, call.line) for call in calls]
            or [fulfilled(f"{function} is defined", *position) for function, position in defined]
            or [violated(f"{name}: no ceiling was found in the code")]
        )

    judge = Evidence("the ceiling was not computed; judge from the code whether it is a valid Score")
    return _of_code(rule)(material) + (material.checks("its ceiling") or [judge])


def _bibtex(name: str, code: PluginCode) -> list[Evidence]:
    values = [(call.keywords["bibtex"], call.path, call.line) for call in _constructor_calls(code, "bibtex")]
    texts = [entry for entry in values if isinstance(entry[0], str)]
    if not texts and values:
        return [Evidence(f"{name}: bibtex is computed", *values[0][1:])]
    texts = texts or [entry for entry in code.constants.values() if isinstance(entry[0], str) and "@" in entry[0][:200]]
    return [_citation(*entry) for entry in dict.fromkeys(texts)] or [violated(f"{name}: no bibtex")]


def _citation(text: str, path: str, line: int) -> Evidence:
    fields = {name.lower() for name in _BIBTEX_FIELD.findall(text.replace("{", "{\n", 1).replace(",", ",\n"))}
    missing = [name for name in ("title", "author", "year") if name not in fields]
    if "@" not in text:
        return violated("bibtex contains no entry", path, line)
    if missing:
        return violated(f"bibtex lacks {', '.join(missing)}", path, line)
    return fulfilled("title, author, year", path, line)


def _parent(material: Material) -> list[Evidence]:
    values = (
        call.keywords["parent"] for code in material.benchmarks.values() for call in _constructor_calls(code, "parent")
    )
    parents = {value for value in values if isinstance(value, str)}
    existing = set(Benchmark.objects.filter(identifier__in=parents).values_list("identifier", flat=True)) | _PARENTS
    studies = {_study_of(str(registration.get("key", ""))) for _, registration in material.registered(_BENCHMARKS)}

    def judge(value: Any) -> bool | None:
        if not isinstance(value, str):
            return False
        return True if value in existing or _study_of(value) in studies else None

    return _of_code(_keyword("parent", judge), "its parent")(material)


def _study_of(identifier: str) -> str:
    """Return the ``AuthorYear`` of an identifier such as ``AuthorYear.subset-metric``."""
    return identifier.partition("-")[0].partition(".")[0]


def _tests(action: str, is_wanted: Callable[[Test], bool]) -> CodeRule:
    """Make a rule that some test performs an action."""

    def rule(name: str, code: PluginCode) -> list[Evidence]:
        tests = [test for test in code.tests if is_wanted(test)][:3]
        return [
            fulfilled(f"{test.name}{', with private data only' if test.private else ''}", test.path, test.line)
            for test in tests
        ] or [violated(f"{name}: no test {action}")]

    return rule


def _all_pass(material: Material) -> list[Evidence]:
    step = material.steps.get(_TEST)
    if step is None or step.state in (Step.State.WAITING, Step.State.RUNNING, Step.State.CANCELLED):
        return [Evidence("the tests have not been run yet" if step is None else f"the tests are {step.state}")]
    result = material.result(_TEST)
    counts = [f"{result[name]} {name}" for name in ("passed", "failed", "skipped") if isinstance(result.get(name), int)]
    # the plugin's code runs in the process that tests it
    summary = f"as reported by the plugin: {', '.join(counts)}" if counts else step.reason or step.state
    evidence = [Evidence(summary, fine=step.state == Step.State.PASSED and not result.get("failed"))]
    private = result.get("skipped_private")
    if isinstance(private, int) and private:
        evidence.append(Evidence(f"{private} tests that need private data were not run; judge them by their code"))
    return evidence


BENCHMARK_RULES: Mapping[str, Rule] = {
    "Inherits from BenchmarkBase (or appropriate helper)": _of_code(_inherits),
    "identifier follows naming convention AuthorYear-metric": _identifier,
    "version is set": _of_code(_keyword("version", _is_version), "its version"),
    "ceiling_func is implemented and returns a valid Score": _ceiling,
    "bibtex includes complete citation": _of_code(_bibtex, "its citation"),
    "parent is set correctly": _parent,
}
TESTING_RULES: Mapping[str, Rule] = {
    "Unit tests verify benchmark loads": _of_code(
        _tests("loads the benchmark", lambda test: "load_benchmark" in test.calls), "its tests load it"
    ),
    "Unit tests verify ceiling is valid": _of_code(
        _tests("checks the ceiling", lambda test: "ceiling" in test.attributes and test.asserts),
        "its tests look at the ceiling",
    ),
    "Unit tests verify benchmark runs with at least one model": _of_code(
        _tests("runs the benchmark on a model", lambda test: bool(test.calls & {"load_model", "score"})),
        "its tests run it",
    ),
    "All tests pass": _all_pass,
}


_EXPECTED_SCORE = re.compile(r"\b(?:score|ceiling|expected|alexnet)\b[^\n]{0,80}?\d{0,9}\.\d{1,20}", re.IGNORECASE)
_SHORT_DESCRIPTION = 80  # characters
_LOADERS = ("load_stimulus_set_from", "load_assembly_from", "load_file", "load_folder", "fetch", "package")
_SUBJECTS = {
    "what it measures": r"descri|measur|evaluat",
    "data": r"data|stimul|image|recording",
    "tests": r"test|pass",
}
"""Subjects of a description, and words by which they are recognised."""


def _of_uploads(words: Sequence[str], without_findings: str, checks: Sequence[str], unchecked: str) -> Rule:
    """Make a rule about findings of uploads whose check has one of these words, and about automatic checks."""

    def rule(material: Material) -> list[Evidence]:
        evidence = []
        for data_set in material.uploads:
            name = "a private upload of another user" if data_set.hidden else f"{data_set.upload.identifier}"
            findings = [
                Evidence(f"{name}: {finding.get('check', '')}: {finding.get('culprit', '')}")
                for finding in data_set.findings
                if any(word in f"{finding.get('check', '')}".lower() for word in words)
            ]
            if not data_set.accepted:
                evidence.append(violated(f"{name} is {data_set.upload.state}"))
            elif data_set.hidden and not findings:
                evidence.append(Evidence(name))
            else:
                evidence += findings or [fulfilled(f"{name}: {without_findings}")]
        return evidence + material.checks(*checks, kind=_DATA) or [
            Evidence(f"the code uses no upload of this site, so {unchecked} were not checked")
        ]

    return rule


def _hashes(material: Material) -> list[Evidence]:
    evidence = [
        fulfilled(f"{'a private file' if data_set.hidden else file.name} is stored on this site with the declared hash")
        for data_set in material.uploads
        if data_set.accepted
        for file in data_set.files
    ]
    for file in objects_in(material.result(_CHECK), "files"):
        text = ": ".join(str(file[name]) for name in ("url", "note") if file.get(name))
        if file.get("verified"):
            evidence.append(fulfilled(f"{text} was fetched and has the declared hash"))
        else:
            evidence.append(Evidence(text, fine=False if file.get("verified") is False else None))
    return evidence or [Evidence("the code declares no file with a hash")]


def _registration(material: Material) -> list[Evidence]:
    evidence = []
    registering = {plugin for plugin, _ in material.registered(_DATA)}
    for name, code in material.data.items():
        loaders = [call for call in code.calls if call.name.startswith(_LOADERS)]
        if name not in registering:
            evidence.append(violated(f"{name} registers no data"))
        elif not loaders:
            evidence.append(Evidence(f"{name} registers data, but does not call a standard loader"))
        else:
            evidence += [fulfilled(call.name, call.path, call.line) for call in loaders[:6]]
    return evidence or [Evidence("there is no data plugin; the data must be registered elsewhere")]


def _comments(material: Material) -> list[Evidence]:
    codes = [*material.benchmarks.values(), *material.data.values()]
    functions, documented = sum(code.functions for code in codes), sum(code.documented for code in codes)
    return [
        Evidence(f"{documented} of {functions} classes and functions have a docstring"),
        *(Evidence(f"{path} is too long to be analysed here") for code in codes for path in code.left_out),
        *(violated(f"{path} cannot be parsed as Python", path) for code in codes for path in code.unread),
    ]


def _description(material: Material) -> list[Evidence]:
    text = material.note.strip()
    if not text:
        return [violated("the submitter gave no description")]
    if len(text) < _SHORT_DESCRIPTION:
        question = "does it state what is measured, the source of the data, and the tests?"
        return [Evidence(f"only {len(text)} characters: {question}")]
    missing = [name for name, words in _SUBJECTS.items() if not re.search(words, text, re.IGNORECASE)]
    if missing:
        return [Evidence(f"the description does not mention: {', '.join(missing)}")]
    return [fulfilled(f"{len(text)} characters")]


def _expected(material: Material) -> list[Evidence]:
    score = _EXPECTED_SCORE.search(material.note)
    stated = [fulfilled(f"“{score.group()}”")] if score else []
    tested = [
        fulfilled(f"{test.name} expects {text}", test.path, line)
        for code in material.benchmarks.values()
        for test in code.tests
        for text, line in test.expected
    ]
    return (
        [*stated, *tested[:3]]
        or material.checks("its tests know a reference score")
        or [violated("no expected score of a reference model is given, in a test or in the note")]
    )


def _assessment(part: str) -> Rule:
    """Make a rule about a part of the assessments; no result of them fails the item."""

    def rule(material: Material) -> list[Evidence]:
        evidence = [_assessment_evidence(item) for item in material.assessments if item.part == part]
        return evidence or [Evidence("not computed yet: it begins when the tests have passed")]

    return rule


def _assessment_evidence(item: ShownAssessment) -> Evidence:
    if item.needs_decision:
        texts = [item.result or f"{item.label}: {item.reason}", *item.findings]
        return Evidence(f"{item.benchmark} needs a reviewer's decision: {'; '.join(texts)}")
    if item.result:
        return fulfilled(f"{item.benchmark}: {item.result}")
    return Evidence(f"{item.benchmark}: {item.label}{f', {item.reason}' if item.reason else ''}")


DATA_RULES: Mapping[str, Rule] = {
    "Stimulus set has unique IDs and all files exist": _of_uploads(
        ("stimul", "file"), "checked on upload", ("its stimulus ids are unique", "its files are there"),
        "stimulus ids and files",
    ),
    "Data assembly has no NaN values": _of_uploads(
        ("nan", "missing values"), "no missing values according to the checks of the upload", ("its values are there",),
        "values",
    ),
    "Data is uploaded with correct SHA hashes": _hashes,
    "Data registration includes proper loader functions": _registration,
}  # fmt: skip
DOCUMENTATION_RULES: Mapping[str, Rule] = {
    "Code is well-commented": _comments,
    "Description is complete": _description,
    "Expected scores documented for reference model": _expected,
}
VALIDITY_RULES: Mapping[str, Rule] = {
    "Audit finds nothing that makes scores too high": _assessment("audit"),
    "Recovery finds the true model in simulations": _assessment("recovery"),
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


def material_of(revision: Revision, reader: User, texts: Mapping[str, FileText] | None = None) -> Material:
    """Collect the input of a revision's checklist; only uploads that the reader may see are named."""
    texts = texts_of(revision) if texts is None else texts
    left_out = files_left_out(texts)

    def code(kind: str) -> dict[str, PluginCode]:
        names = [plugin["name"] for plugin in revision.plugins if plugin["kind"] == kind]
        return {name: read_plugin(f"{kind}/{name}/", texts, left_out) for name in names}

    return Material(
        benchmarks=code(_BENCHMARKS),
        data=code(_DATA),
        plugins=revision.plugins,
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
    has_benchmarks = bool(material.benchmarks)
    groups = [
        ("Data", bool(material.data) or bool(material.uploads), DATA_RULES),
        ("Benchmark", has_benchmarks, BENCHMARK_RULES),
        ("Testing", has_benchmarks, TESTING_RULES),
        ("Documentation", has_benchmarks, DOCUMENTATION_RULES),
        ("Validity", has_benchmarks, VALIDITY_RULES if has_benchmarks else {}),
    ]
    return [
        _item(group, text, rule(material)) if applies or text in ALWAYS_APPLICABLE else Item(group, text, "none")
        for group, applies, rules in groups
        for text, rule in rules.items()
    ]


def _item(group: str, text: str, evidence: list[Evidence]) -> Item:
    verdicts = {piece.fine for piece in evidence}
    state: State = "failed" if False in verdicts else "judge" if None in verdicts or not verdicts else "passed"
    return Item(group, text, state, tuple(evidence))
