"""Completion of scoring jobs: a receipt's score, state, reason and log in one transaction."""

from __future__ import annotations

from functools import partial
from typing import Any

from django.db import transaction
from django.utils import timezone

from brainscore_core.results.store import Listing
from brainscore_core.runner.pair import run_info, write_failed
from brainscore_core.runner.plan import make_plan
from brainscore_core.scoring import Receipt, ResultsStore
from brainscore_web.jobs.leases import Lease
from brainscore_web.jobs.queue import wake
from brainscore_web.leaderboard.clean import text
from brainscore_web.leaderboard.influence import read_compact, write_influences
from brainscore_web.leaderboard.ingest import ingest_receipts
from brainscore_web.leaderboard.models import Score, Visibility
from brainscore_web.leaderboard.reasons import not_run_reason
from brainscore_web.scoring.claims import NOT_RUN_RETRY
from brainscore_web.scoring.live_plugins import LivePlugins
from brainscore_web.scoring.models import Job
from brainscore_web.scoring.services import REQUESTED, notify_submissions
from brainscore_web.scoring.verification import VERIFICATION, settle_verification

_LONGEST_LOG = 100_000  # characters; the whole log is stored with the receipt
_LONGEST_REASON = 2_000
_LEFT_OUT = "\n… {:,} characters omitted …\n"


def complete_job(lease: Lease[Job], store: ResultsStore, receipt: Receipt, *, reads_influence: bool = True) -> bool:
    """Add a receipt to the leaderboard, and complete its job."""
    log = _shortened(store.read_log(receipt) or (receipt.error.traceback if receipt.error is not None else "") or "")
    not_run = not_run_reason(receipt)
    influence = read_compact(store, receipt) if reads_influence else None
    with transaction.atomic():
        result = {"state": receipt.state, "reason": text(receipt.reason or "", _LONGEST_REASON), "pauses": 0}
        if not_run:
            result |= _put_off(lease.row, receipt, not_run)
        ended = lease.finish(
            **result, receipt=receipt.id, log=text(log, 2 * _LONGEST_LOG), stop=False, ended=timezone.now()
        )
        if not ended:
            return False
        report = ingest_receipts(
            [receipt], by=None, default_visibility=Visibility.PRIVATE, source="scored on this site"
        )
        for problem in report.problems:
            Job.objects.filter(pk=lease.row.pk).update(
                state=Job.State.FAILED,
                reason=text(f"the receipt cannot be stored: {problem.message}", _LONGEST_REASON),
            )
        if influence is not None:
            score = Score.objects.filter(receipt=receipt.id, influence=None).first()
            if score is not None:  # an interrupted attempt, or the results folder, may have brought it
                influence.score = score
                write_influences([influence])
        settle_verification(lease.row, receipt)
        if not reads_influence:
            transaction.on_commit(partial(wake, "brainscore_web.scoring.tasks.read_influences"))
        notify_submissions([lease.row.pk])
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


def write_failed_receipt(
    lease: Lease[Job], store: ResultsStore, *, kind: str, message: str, printed: str = "", seconds: float | None = None
) -> Receipt:
    """Write a receipt for a scoring process that ended before it wrote one."""
    return write_failed(
        store,
        lease.row.model.identifier,
        lease.row.benchmark.identifier,
        kind=kind,
        message=message,
        printed=printed,
        seconds=seconds,
        run=run_info(run_name(lease), isolated=True),
    )


def give_up_after_attempts(lease: Lease[Job], store: ResultsStore) -> Receipt | None:
    """Write a failed receipt if a job has used all its attempts; return None otherwise."""
    if not lease.attempts_exceeded():
        return None
    return write_failed_receipt(
        lease,
        store,
        kind="WorkerLost",
        message=f"the scoring process ended unexpectedly {lease.queue.retry.attempts} times",
    )


def _shortened(log: str) -> str:
    if len(log) <= _LONGEST_LOG:
        return log
    half = _LONGEST_LOG // 2
    return log[:half] + _LEFT_OUT.format(len(log) - 2 * half) + log[-half:]
