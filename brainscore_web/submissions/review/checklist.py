"""The checklist of a submission, computed as far as it can be: from the code, the automatic steps, the uploads.

What a program cannot know is left to be judged, with what it found. Nothing is run here.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from brainscore_web.accounts.models import User
from brainscore_web.submissions.models import PluginKind, Revision, Step
from brainscore_web.submissions.review import _benchmarks, _documents
from brainscore_web.submissions.review._code import PluginCode, read_plugin
from brainscore_web.submissions.review._found import Found, judged, no, yes
from brainscore_web.submissions.review.data import DataSet, data_of
from brainscore_web.submissions.review.shown import anchor_of
from brainscore_web.submissions.texts import FileText, texts_of

__all__ = ["Item", "Material", "checklist_of", "compute", "material_of"]

State = Literal["passed", "failed", "judge", "none"]


@dataclass(frozen=True)
class Item:
    """A line of the checklist.

    Attributes
    ----------
    group, text : str
        Where it stands, and what it says.
    state : {'passed', 'failed', 'judge', 'none'}
        None: it does not apply.
    evidence : tuple of Found
        Why.
    """

    group: str
    text: str
    state: State
    evidence: tuple[Found, ...] = ()

    def as_dict(self) -> dict[str, Any]:
        """Plain values."""
        said = [{"text": one.text, "path": one.path, "line": one.line} for one in self.evidence]
        return {"group": self.group, "text": self.text, "state": self.state, "evidence": said}

    @property
    def words(self) -> str:
        """The state in words."""
        return {"passed": "passed", "failed": "failed", "judge": "to be judged", "none": "does not apply"}[self.state]

    @property
    def places(self) -> list[tuple[Found, str]]:
        """Evidence with the id of its place on the page."""
        return [(one, anchor_of(one.path, one.line) if one.path else "") for one in self.evidence]


@dataclass(frozen=True)
class Material:
    """What a checklist is computed from.

    Attributes
    ----------
    texts : mapping of str to FileText
        Files of the revision.
    benchmarks, data : mapping of str to PluginCode
        Code of plugins by name.
    plugins : sequence of mapping
        As the revision has them.
    findings : sequence of mapping
        As the revision has them.
    steps : mapping of str to Step
        By kind.
    uploads : sequence of DataSet
        Uploads that the code names.
    note : str
        What the submitter says.
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
        """Names of plugins of a kind, with each of their registrations."""
        return [
            (one["name"], made) for one in self.plugins if one["kind"] == kind for made in one.get("registrations", ())
        ]

    def result(self, kind: str) -> Mapping[str, Any]:
        """What a step found."""
        step = self.steps.get(kind)
        return step.result if step is not None and isinstance(step.result, dict) else {}

    def ran(self, *names: str, kind: str = "benchmarks") -> list[Found]:
        """Outcomes of checks that were run on plugins of a kind, by the beginning of their names."""
        checks = self.result(str(Step.Kind.TEST)).get("checks")
        found = []
        for one in checks if isinstance(checks, list) else ():
            if not isinstance(one, dict) or one.get("kind") != kind:
                continue
            if str(one.get("name", "")).startswith(names):
                text = f"{one.get('plugin', '')}: {one.get('name', '')}"
                said = f"{text} – {one['message']}" if one.get("message") else text
                passed = one.get("passed")
                found.append(yes(said) if passed is True else no(said) if passed is False else judged(said))
        return found


def material_of(revision: Revision, reader: User, texts: Mapping[str, FileText] | None = None) -> Material:
    """Gather what the checklist of a revision is computed from."""
    texts = texts_of(revision) if texts is None else texts

    def code(kind: str) -> dict[str, PluginCode]:
        names = [one["name"] for one in revision.plugins if one["kind"] == kind]
        return {name: read_plugin(f"{kind}/{name}/", texts) for name in names}

    return Material(
        texts=texts,
        benchmarks=code(str(PluginKind.BENCHMARKS)),
        data=code(str(PluginKind.DATA)),
        plugins=revision.plugins,
        findings=revision.findings,
        steps={step.kind: step for step in revision.steps.defer("log")},
        uploads=data_of(revision, texts, reader),
        note=revision.note,
    )


def checklist_of(revision: Revision, reader: User) -> list[Item]:
    """The checklist of a revision."""
    return compute(material_of(revision, reader))


def compute(material: Material) -> list[Item]:
    """The checklist of what was gathered.

    Parameters
    ----------
    material : Material
        All that counts.
    """
    groups: dict[str, tuple[bool, Mapping[str, Callable[[Any], list[Found]]]]] = {
        "Data": (bool(material.data) or bool(material.uploads), _documents.DATA),
        "Benchmark": (bool(material.benchmarks), _benchmarks.BENCHMARK),
        "Testing": (bool(material.benchmarks), _benchmarks.TESTING),
        "Documentation": (bool(material.benchmarks), _documents.DOCUMENTATION),
    }
    items = []
    for group, (applies, rules) in groups.items():
        for text, rule in rules.items():
            always = text in _documents.ALWAYS
            found = rule(material) if applies or always else []
            items.append(Item(group, text, _state(found) if applies or always else "none", tuple(found)))
    return items


def _state(found: Iterable[Found]) -> State:
    verdicts = {one.fine for one in found}
    if False in verdicts:
        return "failed"
    return "judge" if None in verdicts or not verdicts else "passed"
