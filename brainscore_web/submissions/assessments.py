"""What the assessments of a submitted benchmark say, for its submitter and its reviewers."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from brainscore_core.results.validity import PairPictures
from brainscore_web.leaderboard.cards.validity import validity_of
from brainscore_web.leaderboard.models import Benchmark, StoredAssessment, Visibility
from brainscore_web.submissions.models import BenchmarkAssessment, Revision

_Part, _State, _Outcome = BenchmarkAssessment.Part, BenchmarkAssessment.State, StoredAssessment.Outcome
_LABELS = {
    _State.WAITING: "waiting",
    _State.RUNNING: "running",
    _State.FINISHED: "finished",
    _State.FAILED: "failed",
    _State.NOT_POSSIBLE: "not possible",
    _State.CANCELLED: "cancelled",
}
_MOST_PAIRS = 10


@dataclass(frozen=True)
class ShownAssessment:
    """One part of the assessment of a benchmark."""

    # benchmark, part: the benchmark, and ``'audit'`` or ``'recovery'``
    benchmark: str
    part: str
    # state, label: the state, and its name for readers
    state: str
    label: str
    reason: str = ""  # why there is no result yet, or at all
    open: bool = False  # whether a result may still come
    result: str = ""  # the result in one sentence; empty without one
    needs_decision: bool = False  # whether a reviewer has to decide what the result means for the submission
    findings: tuple[str, ...] = ()  # findings of an audit, each with what it does to scores
    notes: tuple[str, ...] = ()  # what was not examined
    pairs: tuple[str, ...] = ()  # the most similar stimuli
    # small pictures of them; its assessment has seen public files and those of the submission only
    pictures: tuple[PairPictures, ...] = ()
    recovery: dict[str, Any] | None = None  # how often each candidate was recovered
    day: str = ""  # the date of the result


def assessments_of(revision: Revision) -> list[ShownAssessment]:
    """Return the assessments of a revision, in the order of its benchmarks; none without benchmarks."""
    return [_shown(row) for row in revision.assessments.defer("log", "internal")]


def assessment_states(revision: Revision) -> list[tuple[Any, ...]]:
    """Return what changes with the assessments of a revision, without reading their results."""
    return list(revision.assessments.values_list("pk", "state", "reason"))


def _shown(row: BenchmarkAssessment) -> ShownAssessment:
    known: dict[str, Any] = {
        "benchmark": row.benchmark,
        "part": row.part,
        "state": row.state,
        "label": _LABELS[_State(row.state)],
        "reason": row.reason,
        "open": row.state in (_State.WAITING, _State.RUNNING),
    }
    receipt = row.receipt
    if row.state != _State.FINISHED or not isinstance(receipt, dict):
        return ShownAssessment(**known, needs_decision=row.state == _State.FAILED)
    panels = validity_of(Benchmark(identifier=row.benchmark, access=Visibility.PUBLIC), [receipt])
    if row.part == _Part.AUDIT and (audit := panels.audit) is not None:
        has_findings = audit["outcome"] != _Outcome.NO_FINDING
        return ShownAssessment(
            **known,
            result="there are findings" if has_findings else "no finding in what was examined",
            needs_decision=has_findings,
            findings=tuple(_findings(audit)),
            notes=audit["notes"],
            pairs=audit["pairs"][:_MOST_PAIRS],
            pictures=audit["pictures"],
            day=audit["origin"].day,
        )
    if row.part == _Part.RECOVERY and (recovery := panels.recovery) is not None:
        return ShownAssessment(
            **known,
            result=recovery["sentences"][0].rstrip(".") if recovery["outcome"] else "the receipt has no result",
            needs_decision=recovery["outcome"] != _Outcome.RECOVERED,
            notes=recovery["notes"],
            recovery=recovery,
            day=recovery["origin"].day,
        )
    return ShownAssessment(**known, result="the receipt has no result", needs_decision=True)


def _findings(audit: dict[str, Any]) -> Iterator[str]:
    for item in audit["examined"]:
        if item.state == "finding":
            yield f"{item.name}: {item.sentence}"
    for sentence in audit["severities"]:
        yield f"Severity: {sentence}"
