"""What assessments say of the report's benchmarks: audits, baseline models beside models, recoveries."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from brainscore_core.receipts.assessment import PARTS, Assessment, Controls, ControlScore, Recovery
from brainscore_core.results.validity import Summary, summary_of

_PICTURES = 2_000_000  # characters of all pictures of similar stimuli in a report


@dataclass(frozen=True)
class AssessedPart:
    """One part of the assessment of a benchmark."""

    assessment: Assessment  # as it is stored
    summary: Summary  # what it says
    changed: tuple[str, ...] = ()  # plugins whose code has changed since, or is not installed

    @property
    def origin(self) -> str:
        """Date, version of the benchmark, and models."""
        version = self.assessment.benchmark.version
        texts = [(self.assessment.created or "unknown date")[:10]]
        texts += [] if version is None else [f"version {version} of the benchmark"]
        texts += [f"with {', '.join(model.identifier for model in self.assessment.models)}"] * bool(
            self.assessment.models
        )
        return ", ".join(texts)


@dataclass(frozen=True)
class Validity:
    """Assessments of one benchmark."""

    benchmark: str  # its identifier
    # the newest
    audit: AssessedPart | None = None
    controls: tuple[AssessedPart, ...] = ()  # the newest of each model, the newest first
    recovery: AssessedPart | None = None
    # older audits with other models and recoveries with other candidates, which are not shown
    others: tuple[str, ...] = ()

    @property
    def parts(self) -> tuple[tuple[str, AssessedPart], ...]:
        """All parts that are shown, with their names."""
        named = [
            ("audit", self.audit),
            *(("controls", assessed) for assessed in self.controls),
            ("recovery", self.recovery),
        ]
        return tuple((name, assessed) for name, assessed in named if assessed is not None)

    @property
    def missing(self) -> tuple[str, ...]:
        """Names of parts that are not stored."""
        there = {name for name, _ in self.parts}
        return tuple(name for name in PARTS if name not in there)

    @property
    def recovery_result(self) -> Recovery:
        """Result of the recovery; an empty one without a recovery."""
        result = None if self.recovery is None else self.recovery.summary.result
        return result if isinstance(result, Recovery) else Recovery()

    @property
    def controls_results(self) -> tuple[Controls, ...]:
        """Results of the baseline models that were assessed, the newest first."""
        results = [assessed.summary.result for assessed in self.controls]
        return tuple(result for result in results if isinstance(result, Controls))

    @property
    def by_model(self) -> dict[str, Controls]:
        """Model → baseline models beside it."""
        return {result.model: result for result in self.controls_results if result.model is not None}

    @property
    def control_scores(self) -> tuple[ControlScore, ...]:
        """Controls of all models, baselines first; equal ones once, of others the name tells the model."""
        by_name: dict[str, list[tuple[str, ControlScore]]] = {}
        for result in self.controls_results:
            for control in result.controls:
                alike = by_name.setdefault(control.name, [])
                if not any(_same(control, alike_one) for _, alike_one in alike):
                    alike.append((result.model or "no model", control))
        scores = []
        for name, alike in by_name.items():
            scored = [(model, control) for model, control in alike if control.score is not None] or alike[:1]
            for model, control in scored:
                scores.append(replace(control, name=name if len(scored) == 1 else f"{name} ({model})"))
        return tuple(sorted(scores, key=lambda control: control.kind != "baseline"))


def validity_of(assessments: Iterable[Assessment], benchmarks: Sequence[str]) -> dict[str, Validity]:
    """Sort assessments by benchmark."""
    from brainscore_vision.assessment.tasks import changed_plugins

    newest: dict[tuple[str, ...], Assessment] = {}
    for assessment in sorted(assessments, key=lambda assessment: assessment.id or ""):
        newest[assessment.benchmark.identifier, assessment.part, *(model.identifier for model in assessment.models)] = (
            assessment
        )
    by_benchmark: dict[str, list[AssessedPart]] = {}
    size = 0
    for assessment in sorted(newest.values(), key=lambda assessment: assessment.id or "", reverse=True):
        if assessment.benchmark.identifier in benchmarks:
            summary = summary_of(assessment)
            size += sum(len(pair.first_picture) + len(pair.second_picture) for pair in summary.pictures)
            if size > _PICTURES:
                summary = replace(summary, pictures=())
            assessed = AssessedPart(assessment, summary, changed_plugins(assessment))
            by_benchmark.setdefault(assessment.benchmark.identifier, []).append(assessed)
    validities = {}
    for name in benchmarks:
        assessed_parts = by_benchmark.get(name)
        if assessed_parts is None:
            continue
        of_kind = {
            kind: [assessed for assessed in assessed_parts if assessed.assessment.part == kind] for kind in PARTS
        }
        validities[name] = Validity(
            benchmark=name,
            audit=next(iter(of_kind["audit"]), None),
            controls=tuple(of_kind["controls"]),
            recovery=next(iter(of_kind["recovery"]), None),
            others=tuple(
                f"{kind} ({assessed.origin})" for kind in ("audit", "recovery") for assessed in of_kind[kind][1:]
            ),
        )
    return validities


def _same(one: ControlScore, other: ControlScore) -> bool:
    if one.score is None or other.score is None:
        return one.score is other.score
    return abs(one.score - other.score) < 1e-9
