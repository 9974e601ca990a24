"""Assessments of submitted benchmarks: audit and recovery of ``brainscore assess``, in the sandbox of their tests.

They begin when the tests have passed and run beside the review; their results inform reviewers and change no state. A
receipt from the sandbox is written by unreviewed code, so it is parsed defensively.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import Any

from django.db import transaction
from django.db.models import Q
from django.utils import timezone

from brainscore_core.domains import domain as described
from brainscore_core.plugins.environments import RequirementsError
from brainscore_core.receipts.assessment import Assessment
from brainscore_core.receipts.schema import ReceiptError
from brainscore_core.results.validity import PairPictures, loss_text
from brainscore_web.jobs.leases import Lease, LeaseQueue, RetryPolicy
from brainscore_web.jobs.outbox import notify_administrators
from brainscore_web.jobs.workers import do_next, resume, wake_for
from brainscore_web.leaderboard.cards.validity import validity_of
from brainscore_web.leaderboard.clean import json_value, text
from brainscore_web.leaderboard.ingest.assessments import keep_published
from brainscore_web.leaderboard.models import Benchmark, StoredAssessment, Visibility
from brainscore_web.leaderboard.reasons import lacks_data
from brainscore_web.leaderboard.revision import exclusive_write
from brainscore_web.submissions import sandbox_process
from brainscore_web.submissions.models import BenchmarkAssessment, PluginKind, Revision, Step
from brainscore_web.submissions.pipeline.checking import environment_for
from brainscore_web.submissions.pipeline.testing import (
    SandboxRun,
    empty_file,
    prepared_inputs,
    read_report,
    require_sandbox_here,
    run_python,
)
from brainscore_web.submissions.pipeline.transitions import lock_submission
from brainscore_web.submissions.steps import LANES, LONG_LANE, StepLog

_Part, _State = BenchmarkAssessment.Part, BenchmarkAssessment.State
_SECONDS = 1800.0  # of a part
_MOST_BENCHMARKS = 20  # of a submission
_LONGEST_RECEIPT = 500_000  # bytes
_LONGEST_REASON = 2000  # characters
_TOO_MANY = f"only the first {_MOST_BENCHMARKS} benchmarks of a submission are assessed"
_NOT_ASSESSED = "benchmarks of {} are not assessed, only checked"
_NO_DATA = (
    "the data are not available to the submitted code on this site, for instance because only the author has them"
)
_PRIVATE_DATA = "it declares private files, which submitted code cannot read before it is published"
_GAVE_UP = "the site could not compute it; its administrators have been notified"

ASSESSMENTS = LeaseQueue(
    BenchmarkAssessment,
    waiting=Q(state=_State.WAITING),
    held=Q(state=_State.RUNNING),
    order=("due", "pk"),
    on_claim={"state": _State.RUNNING, "ended": None, "reason": "", "log": ""},
    on_release={"state": _State.WAITING},
    related=("revision__submission",),
    retry=RetryPolicy(timedelta(seconds=30), factor=4, longest=timedelta(minutes=30), attempts=3),
    lane=LONG_LANE,
    owner="revision__submission__owner",
    exclusive=True,
    restarted=True,
    task="brainscore_web.submissions.tasks.do_next_assessment",
)
"""The assessments. Users take turns."""


@dataclass(frozen=True)
class _Result:
    """The end of an assessment: its state, the reason for the submitter, and its receipt."""

    state: str
    reason: str = ""
    receipt: Mapping[str, Any] | None = None


def plan_assessments(revision: Revision) -> int:
    """Plan the assessments of a revision's benchmarks, in the transaction that records its tests."""
    now, rows, of = timezone.now(), [], described(revision.submission.domain)
    assessed = of.offers("assessment")
    for number, (plugin, benchmark) in enumerate(_benchmarks(revision)):
        reason = "" if assessed else _NOT_ASSESSED.format(of.name)
        reason = reason or ("" if number < _MOST_BENCHMARKS else _TOO_MANY)
        state: dict[str, Any] = {"state": _State.NOT_POSSIBLE, "reason": reason} if reason else {"due": now}
        rows += [
            BenchmarkAssessment(revision=revision, plugin=plugin, benchmark=benchmark, part=part, **state)
            for part in _Part.values
        ]
    if rows:
        BenchmarkAssessment.objects.bulk_create(rows, ignore_conflicts=True)
        transaction.on_commit(_wake, robust=True)  # a failure is harmless: the sweep wakes workers as well
    return len(rows)


def _benchmarks(revision: Revision) -> Iterator[tuple[str, str]]:
    """The names of benchmark plugins with the identifiers that they register, each identifier once."""
    keys: set[str] = set()
    for plugin in revision.plugins:
        if plugin["kind"] == PluginKind.BENCHMARKS:
            for registration in plugin.get("registrations", ()):
                key = str(registration.get("key", ""))
                if str(registration.get("registry", "")).startswith("benchmark") and key and key not in keys:
                    keys.add(key)
                    yield plugin["name"], key


def run_next_assessment(only: int | None = None) -> bool:
    """Run the next due assessment, or the given one, unless a long step can be run, which comes first."""
    where = None if only is None else Q(pk=only)
    return not _steps_come_first() and do_next(ASSESSMENTS, _run, give_up=_give_up, where=where)


def _run(lease: Lease[BenchmarkAssessment]) -> None:
    result = _assess(lease)
    if not lease.is_lost():
        _finish(lease, result)


def resume_assessments() -> int:
    """Make interrupted assessments due again, and wake a worker if any are due; return the number of due ones."""
    resume(ASSESSMENTS, internal="its worker stopped responding")
    _wake()
    return ASSESSMENTS.due().count()


def assessments_left() -> bool:
    """Whether an assessment is running, or due within the next 90 seconds."""
    soon = timezone.now() + timedelta(seconds=90)
    return BenchmarkAssessment.objects.filter(Q(state=_State.RUNNING) | Q(state=_State.WAITING, due__lte=soon)).exists()


def _steps_come_first() -> bool:
    return any(queue.has_work() for queue in LANES if queue.lane == LONG_LANE)


def _wake() -> None:
    if not _steps_come_first():
        wake_for(ASSESSMENTS)


def _assess(lease: Lease[BenchmarkAssessment]) -> _Result:
    """Compute a part in the sandbox."""
    row = lease.row
    require_sandbox_here()
    with prepared_inputs(row.revision) as inputs:
        run = SandboxRun(lease, StepLog(lease), inputs, _SECONDS)
        try:
            environment = environment_for(inputs.plugins / str(PluginKind.BENCHMARKS) / row.plugin, say=run.log.say)
        except RequirementsError as error:
            return _Result(_State.FAILED, error.message)
        try:
            report = empty_file(inputs.answers / "assessment.json")
            command = [sandbox_process.__file__, "assess", row.benchmark, row.part, str(report)]
            ended = run_python(run, environment, report, command)
        finally:
            environment.release()
        lease.renew(log=run.log.text)
        if ended.cause:
            return _Result(_State.FAILED, f"the process {ended.message}")
        assessment = read_assessment(report, row.benchmark, row.part)
    if assessment is None:
        return _Result(_State.FAILED, "the process wrote no valid receipt")
    return _result_of(row.revision, assessment)


def read_assessment(file: Path, benchmark: str, part: str) -> Assessment | None:
    """Read the receipt of `sandbox_process`; None if it is malformed, too large, or about something else."""
    content = read_report(file)
    if not content or len(content) > _LONGEST_RECEIPT:
        return None
    try:
        assessment = Assessment.from_json(content)
    except (ReceiptError, ValueError, RecursionError):
        return None
    return assessment if (assessment.benchmark.identifier, assessment.part) == (benchmark, part) else None


def _result_of(revision: Revision, assessment: Assessment) -> _Result:
    receipt, reason = json_value(assessment.to_dict()), assessment.reason or ""
    if assessment.state == "assessed":
        return _Result(_State.FINISHED, receipt=receipt)
    if lacks_data(assessment.error):
        why = _PRIVATE_DATA if _has_private_files(revision) else _NO_DATA
        return _Result(_State.NOT_POSSIBLE, f"{why} ({reason})" if reason else why, receipt)
    state = _State.NOT_POSSIBLE if assessment.state == "not applicable" else _State.FAILED
    return _Result(state, reason, receipt)


def _has_private_files(revision: Revision) -> bool:
    result = Step.objects.get(revision=revision, kind=Step.Kind.CHECK).result
    return any(file.get("private") for file in result.get("files", ()))


def publish_assessments(revision: Revision) -> None:
    """Show the results of a revision on the cards of its benchmarks, in the transaction that publishes it."""
    if finished := list(revision.assessments.filter(state=_State.FINISHED).values_list("receipt", flat=True)):
        keep_published(finished)


def _finish(lease: Lease[BenchmarkAssessment], result: _Result) -> None:
    with exclusive_write():  # the same order of locks as publication
        revision = lease.row.revision
        lock_submission(revision.submission_id)
        lease.finish(
            state=result.state,
            ended=timezone.now(),
            due=None,
            reason=text(result.reason, _LONGEST_REASON) or "",
            internal="",
            receipt=result.receipt,
        )
        if revision.live.exists():  # it was published meanwhile
            publish_assessments(revision)


def _give_up(lease: Lease[BenchmarkAssessment], _why: str, internal: str) -> None:
    with transaction.atomic():
        if lease.finish(state=_State.FAILED, ended=timezone.now(), due=None, reason=_GAVE_UP, internal=internal):
            notify_administrators(f"{lease.row.revision.submission}: {lease.row.part} failed", internal)


_Outcome = StoredAssessment.Outcome
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
    known: dict[str, Any] = {name: getattr(row, name) for name in ("benchmark", "part", "state", "reason")}
    known |= {"label": _State(row.state).label.lower(), "open": row.state in (_State.WAITING, _State.RUNNING)}
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
            findings=tuple(
                [f"{item.name}: {item.sentence}" for item in audit["examined"] if item.state == "finding"]
                + [f"Severity: {sentence}" for sentence in map(loss_text, audit["losses"])]
            ),
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
