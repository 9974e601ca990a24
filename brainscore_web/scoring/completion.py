"""Completion of scoring jobs: a receipt's score, state, reason and log in one transaction."""

from __future__ import annotations

from django.db import transaction
from django.utils import timezone

from brainscore_core.results.store import Listing
from brainscore_core.runner.pair import run_info
from brainscore_core.runner.plan import make_plan
from brainscore_core.runner.worker import write_failed
from brainscore_core.scoring import Receipt, ResultsStore
from brainscore_web.leaderboard.clean import text
from brainscore_web.leaderboard.ingest import ingest_receipts
from brainscore_web.leaderboard.models import Visibility
from brainscore_web.scoring.claims import MAX_ATTEMPTS, ClaimedJob
from brainscore_web.scoring.live_plugins import LivePlugins
from brainscore_web.scoring.services import REQUESTED, notify_submissions

__all__ = ["complete_job", "give_up_after_attempts", "receipt_of", "run_name", "usable_receipt", "write_failed_receipt"]

_LONGEST_LOG = 100_000  # characters; the whole log is stored with the receipt
_LONGEST_REASON = 2_000
_LEFT_OUT = "\n… {:,} characters omitted …\n"


def complete_job(claim: ClaimedJob, store: ResultsStore, receipt: Receipt) -> bool:
    """Add a receipt to the leaderboard, and complete its job.

    Parameters
    ----------
    claim : ClaimedJob
        The job.
    store : ResultsStore
        The results store with the receipt and its log.
    receipt : Receipt
        The receipt of the pair.

    Returns
    -------
    bool
        False if the claim was lost; nothing was written then.
    """
    log = _shortened(store.read_log(receipt) or (receipt.error.traceback if receipt.error is not None else "") or "")
    with transaction.atomic():
        ended = claim.mine().update(
            state=receipt.state, receipt=receipt.id, reason=text(receipt.reason or "", _LONGEST_REASON),
            log=text(log, 2 * _LONGEST_LOG), claim="", claimed=None, stop=False, ended=timezone.now(),
        )  # fmt: skip
        if not ended:
            return False
        report = ingest_receipts(
            [receipt], by=None, default_visibility=Visibility.PRIVATE, source="scored on this site"
        )
        for problem in report.problems:
            type(claim.job).objects.filter(pk=claim.job.pk).update(
                state=claim.job.State.FAILED,
                reason=text(f"the receipt cannot be stored: {problem.message}", _LONGEST_REASON),
            )
        notify_submissions([claim.job.pk])
    return True


def receipt_of(store: ResultsStore, model: str, benchmark: str, receipt_id: str) -> Receipt | None:
    """Return a pair's receipt with this id."""
    receipts = store.listing(model=model, benchmark=benchmark).receipts
    return next((receipt for receipt in reversed(receipts) if receipt.id == receipt_id), None)


def usable_receipt(claim: ClaimedJob, store: ResultsStore, live: LivePlugins) -> Receipt | None:
    """Return a receipt that makes scoring unnecessary, if there is one.

    This is the newest receipt, if it has the current version and code of all plugins, and either was written since the
    job started (by an interrupted attempt), or is not a failure and scoring again was not requested.
    """
    job = claim.job
    pair = (job.model.identifier, job.benchmark.identifier)
    newest = store.latest(*pair)
    if newest is None:
        return None
    own = claim.first_started is not None and newest.created >= f"{claim.first_started:%Y-%m-%dT%H:%M:%S.%f}Z"
    if not own and job.why == REQUESTED:
        return None
    if newest.state == "failed":
        return newest if own and live.made(newest) else None
    plan = make_plan([pair[0]], [pair[1]], Listing((newest,), ()), plugins=live.folder_of, version_of=live.version_of)
    return newest if plan.done else None


def run_name(claim: ClaimedJob) -> str:
    """The name of an attempt at a job, as the run in receipts."""
    return f"site-{claim.job.pk}-{claim.job.attempts}"


def write_failed_receipt(
    claim: ClaimedJob, store: ResultsStore, *, kind: str, message: str, printed: str = "", seconds: float | None = None
) -> Receipt:
    """Write a receipt for a scoring process that ended before it wrote one."""
    return write_failed(
        store,
        claim.job.model.identifier,
        claim.job.benchmark.identifier,
        kind=kind,
        message=message,
        printed=printed,
        seconds=seconds,
        run=run_info(run_name(claim), isolated=True),
    )


def give_up_after_attempts(claim: ClaimedJob, store: ResultsStore) -> Receipt | None:
    """Write a failed receipt if a job has used all its attempts; return None otherwise."""
    if claim.job.attempts <= MAX_ATTEMPTS:
        return None
    return write_failed_receipt(
        claim, store, kind="WorkerLost", message=f"the scoring process ended unexpectedly {MAX_ATTEMPTS} times"
    )


def _shortened(log: str) -> str:
    if len(log) <= _LONGEST_LOG:
        return log
    half = _LONGEST_LOG // 2
    return log[:half] + _LEFT_OUT.format(len(log) - 2 * half) + log[-half:]
