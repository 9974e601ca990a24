"""Verification of results of remote workers: the site repeats a share of them, and compares both receipts."""

from __future__ import annotations

import logging
import random

from django.conf import settings
from django.db import IntegrityError, transaction
from django.utils import timezone

from brainscore_core.receipts.difference import Tolerance, difference
from brainscore_core.receipts.schema import ReceiptError
from brainscore_core.scoring import Receipt
from brainscore_web.leaderboard import revision
from brainscore_web.leaderboard.clean import text
from brainscore_web.leaderboard.models import Score
from brainscore_web.leaderboard.reasons import not_run_reason
from brainscore_web.scoring.models import OPEN, Job, RemoteFailure, RemoteResult, RemoteWorker
from brainscore_web.submissions.notifications import notify_administrators

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
        if receipt.state == "failed":  # nothing can be said about the result
            _settle(result, _State.UNVERIFIED, receipt, f"the repetition failed: {receipt.reason}")
            continue
        earlier = _stored(result.receipt)
        if earlier is None:
            _settle(result, _State.UNVERIFIED, receipt, "the receipt is not stored any more")
            continue
        compared = difference(earlier, receipt, tolerance=TOLERANCE)
        if compared.verdict in ("same", "within tolerance"):
            _settle(result, _State.VERIFIED, receipt, compared.explanation)
        else:
            _settle(result, _State.CONTRADICTED, receipt, compared.explanation)
            _suspend(result, str(job))


def _stored(receipt_id: str) -> Receipt | None:
    document = Score.objects.filter(receipt=receipt_id).values_list("document", flat=True).first()
    if not isinstance(document, dict):
        return None
    try:
        return Receipt.from_dict(document)
    except ReceiptError:
        _log.exception("Receipt %s cannot be read", receipt_id)
        return None


def _settle(result: RemoteResult, state: str, repeated: Receipt, explanation: str) -> None:
    RemoteResult.objects.filter(pk=result.pk).update(
        state=state, repeated=repeated.id, difference=text(explanation, _LONGEST)
    )
    revision.bump()
    result.difference = explanation


def _suspend(result: RemoteResult, pair: str) -> None:
    worker = result.worker
    reason = f"{timezone.now():%Y-%m-%d}: its result for {pair} differs from the site's own: {result.difference}"
    RemoteWorker.objects.filter(pk=worker.pk).update(suspended=True, reason=text(reason, _LONGEST))
    notify_administrators(f"the remote worker {worker.name} is suspended", reason)
