"""Completion of scoring jobs in one transaction, and verification of results of remote workers.

The site repeats a share of these results, and compares both receipts.
"""

from __future__ import annotations

import logging
import random
from functools import partial
from typing import Any

from django.conf import settings
from django.db import IntegrityError, transaction
from django.utils import timezone

from brainscore_core.receipts.difference import Tolerance, difference
from brainscore_core.receipts.schema import ReceiptError
from brainscore_core.results.store import Listing
from brainscore_core.runner.pair import write_failed
from brainscore_core.runner.plan import make_plan
from brainscore_core.scoring import Receipt, ResultsStore, RunInfo
from brainscore_web.jobs.leases import Lease
from brainscore_web.jobs.outbox import notify_administrators
from brainscore_web.jobs.workers import wake
from brainscore_web.leaderboard import revision
from brainscore_web.leaderboard.clean import text
from brainscore_web.leaderboard.influence import read_compact, write_influences
from brainscore_web.leaderboard.ingest import ingest_receipts
from brainscore_web.leaderboard.models import Score, Visibility
from brainscore_web.leaderboard.outcomes import keep_outcomes
from brainscore_web.leaderboard.reasons import not_run_reason
from brainscore_web.scoring.claims import NOT_RUN_RETRY
from brainscore_web.scoring.live_plugins import LivePlugins
from brainscore_web.scoring.models import OPEN, Job, RemoteFailure, RemoteResult, RemoteWorker
from brainscore_web.scoring.services import REQUESTED, notify_submissions
from brainscore_web.submissions.steps import shortened

VERIFICATION = "verification of a remote worker's result"
"""The reason of jobs that repeat a result; remote workers do not get them."""

TOLERANCE = Tolerance(absolute=1e-4, errors=0.1)
"""Differences that other hardware explains: a graphics card rounds features differently."""

_LONGEST = 5_000
_log = logging.getLogger(__name__)
_State = RemoteResult.State


def record_result(worker: RemoteWorker, job: Job, receipt: Receipt) -> RemoteResult:
    """Record who computed a receipt, and plan its repetition if it is part of the sample.

    Must be called in the transaction that completes the job.
    """
    state = _State.TRUSTED if worker.trusted else _State.UNVERIFIED
    result, _ = RemoteResult.objects.update_or_create(receipt=receipt.id, defaults={"worker": worker, "state": state})
    revision.bump()  # its score is marked
    for earlier in RemoteResult.objects.filter(verification=job, state=_State.WAITING).exclude(pk=result.pk):
        earlier.verification = _planned_repetition(job)  # only the site repeats results
        earlier.save(update_fields=["verification"])
    share = settings.SUBMISSIONS["verified_share"]
    if not worker.trusted and random.SystemRandom().random() < share:
        result.verification = _planned_repetition(job)
        result.state = _State.WAITING
        result.save(update_fields=["verification", "state"])
    return result


def _planned_repetition(job: Job) -> Job:
    values = {"why": VERIFICATION, "priority": job.priority}
    try:
        with transaction.atomic():
            return Job.objects.create(model_id=job.model_id, benchmark_id=job.benchmark_id, **values)
    except IntegrityError:  # the pair is already planned again
        planned = Job.objects.get(model_id=job.model_id, benchmark_id=job.benchmark_id, state__in=OPEN)
        Job.objects.filter(pk=planned.pk).update(why=VERIFICATION)
        return planned


def settle_verification(job: Job, receipt: Receipt) -> None:
    """Compare the receipt of a completed job with the remote results that it repeats, if any.

    A worker with a contradicted result is suspended, and the administrators are notified; the site's own receipt, which
    is newer, counts. A failure of a remote worker that the site repeats is that of the pair. Receipts of remote workers
    settle nothing.
    """
    if RemoteResult.objects.filter(receipt=receipt.id).exists():
        return
    if receipt.state == "failed" and not not_run_reason(receipt):
        RemoteFailure.objects.filter(job=job, kind=RemoteFailure.Kind.FAILED).delete()
    for result in RemoteResult.objects.select_related("worker").filter(verification=job, state=_State.WAITING):
        state, explanation = _compared(result, receipt)
        result.state, result.repeated, result.difference = state, receipt.id, text(explanation, _LONGEST)
        result.save(update_fields=["state", "repeated", "difference"])
        revision.bump()
        if state == _State.CONTRADICTED:
            _suspend(result.worker, f"its result for {job} differs from the site's own: {explanation}")


def _compared(result: RemoteResult, receipt: Receipt) -> tuple[str, str]:
    """Return the state of a result after its repetition, and why."""
    if receipt.state == "failed":  # nothing can be said about the result
        return _State.UNVERIFIED, f"the repetition failed: {receipt.reason}"
    earlier = _stored(result.receipt)
    if earlier is None:
        return _State.UNVERIFIED, "the receipt is not stored any more"
    compared = difference(earlier, receipt, tolerance=TOLERANCE)
    is_same = compared.verdict in ("same", "within tolerance")
    return _State.VERIFIED if is_same else _State.CONTRADICTED, compared.explanation


def _stored(receipt_id: str) -> Receipt | None:
    document = Score.objects.filter(receipt=receipt_id).values_list("document", flat=True).first()
    if not isinstance(document, dict):
        return None
    try:
        return Receipt.from_dict(document)
    except ReceiptError:
        _log.exception("Receipt %s cannot be read", receipt_id)
        return None


def _suspend(worker: RemoteWorker, reason: str) -> None:
    reason = f"{timezone.now():%Y-%m-%d}: {reason}"
    RemoteWorker.objects.filter(pk=worker.pk).update(suspended=True, reason=text(reason, _LONGEST))
    notify_administrators(f"the remote worker {worker.name} is suspended", reason)


_LONGEST_LOG = 100_000  # characters; the whole log is stored with the receipt
_LONGEST_REASON = 2_000


def complete_job(lease: Lease[Job], store: ResultsStore, receipt: Receipt, *, reads_influence: bool = True) -> bool:
    """Add a receipt to the leaderboard, and complete its job."""
    log = store.read_log(receipt) or (receipt.error.traceback if receipt.error is not None else "") or ""
    log = shortened(log, _LONGEST_LOG)
    not_run = not_run_reason(receipt)
    influence = read_compact(store, receipt) if reads_influence else None
    with transaction.atomic():
        result = {"state": receipt.state, "reason": text(receipt.reason or "", _LONGEST_REASON), "pauses": 0}
        if not_run:
            result |= _put_off(lease.row, receipt, not_run)
        ended = lease.finish(
            **result,
            receipt=receipt.id,
            log=text(log, 2 * _LONGEST_LOG),
            stop=False,
            ended=timezone.now(),
        )
        if not ended:
            return False
        origin: dict[str, Any] = {"by": None, "default_visibility": Visibility.PRIVATE, "source": "scored on this site"}
        for problem in ingest_receipts([receipt], **origin).problems:
            reason = text(f"the receipt cannot be stored: {problem.message}", _LONGEST_REASON)
            Job.objects.filter(pk=lease.row.pk).update(state=Job.State.FAILED, reason=reason)
        if influence is not None:
            score = Score.objects.filter(receipt=receipt.id, influence=None).first()
            if score is not None:  # an interrupted attempt, or the results folder, may have brought it
                influence.score = score
                write_influences([influence])
        settle_verification(lease.row, receipt)
        if not reads_influence:
            transaction.on_commit(partial(wake, "brainscore_web.scoring.tasks.read_influences"))
        notify_submissions([lease.row.pk])
    if reads_influence:
        keep_outcomes(store, [receipt])  # outside of the transaction, since it reads large files
    return True


def _put_off(job: Job, receipt: Receipt, reason: str) -> dict[str, Any]:
    """Return the columns of a pair that the site could not run; `retry_pairs_not_run` tries it again."""
    error = receipt.error
    message = "" if error is None else f"{error.type}: {error.message}"
    advice = receipt.reason or ""  # of missing data, how to get them
    internal = message if advice in message else f"{message}\n{advice}".strip()
    return {
        "state": Job.State.NOT_RUN, "reason": reason, "internal": text(internal, _LONGEST_REASON),
        "pauses": job.pauses + 1, "due": timezone.now() + NOT_RUN_RETRY.pause(job.pauses + 1),
    }  # fmt: skip


def receipt_of(store: ResultsStore, model: str, benchmark: str, receipt_id: str) -> Receipt | None:
    """Return a pair's receipt with this id."""
    receipts = store.listing(model=model, benchmark=benchmark).receipts
    return next((receipt for receipt in reversed(receipts) if receipt.id == receipt_id), None)


def usable_receipt(lease: Lease[Job], store: ResultsStore, live: LivePlugins) -> Receipt | None:
    """Return a receipt that makes scoring unnecessary, if there is one.

    This is the newest receipt, if it has the current version and code of all plugins, and either was written since the
    job started (by an interrupted attempt), or is not a failure and scoring again was not requested.
    """
    job = lease.row
    pair = (job.model.identifier, job.benchmark.identifier)
    newest = store.latest(*pair)
    if newest is None:
        return None
    is_new = job.started is not None and newest.created >= f"{job.started:%Y-%m-%dT%H:%M:%S.%f}Z"
    if not is_new and job.why in (REQUESTED, VERIFICATION):
        return None
    if newest.state == "failed":
        return newest if is_new and live.made(newest) else None
    plan = make_plan([pair[0]], [pair[1]], Listing((newest,), ()), plugins=live.folder_of, version_of=live.version_of)
    return newest if plan.done else None


def run_name(lease: Lease[Job]) -> str:
    """The name of an attempt at a job, as the run in receipts."""
    return f"site-{lease.row.pk}-{lease.row.attempts}"


def give_up_after_attempts(lease: Lease[Job], store: ResultsStore) -> Receipt | None:
    """Write a failed receipt if a job has used all its attempts; return None otherwise."""
    if not lease.attempts_exceeded():
        return None
    pair = (lease.row.model.identifier, lease.row.benchmark.identifier)
    message = f"the scoring process ended unexpectedly {lease.queue.retry.attempts} times"
    run = RunInfo(id=run_name(lease), isolated=True)
    return write_failed(store, *pair, kind="WorkerLost", message=message, run=run)
