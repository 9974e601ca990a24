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

_LONGEST_LOG = 100_000  # characters; the whole of it is beside the receipt
_LONGEST_REASON = 2_000
_LEFT_OUT = "\n… {:,} characters left out …\n"


def complete_job(one: ClaimedJob, store: ResultsStore, receipt: Receipt) -> bool:
    """Take a receipt into the leaderboard, and end its job.

    Parameters
    ----------
    one : Claimed
        The job.
    store : ResultsStore
        Where the receipt and its log are.
    receipt : Receipt
        What came of it.

    Returns
    -------
    bool
        False: the job is somebody else's by now; nothing was written.
    """
    log = _short(store.read_log(receipt) or (receipt.error.traceback if receipt.error is not None else "") or "")
    with transaction.atomic():
        ended = one.mine().update(
            state=receipt.state, receipt=receipt.id, reason=text(receipt.reason or "", _LONGEST_REASON),
            log=text(log, 2 * _LONGEST_LOG), claim="", claimed=None, stop=False, ended=timezone.now(),
        )  # fmt: skip
        if not ended:
            return False
        report = ingest_receipts(
            [receipt], by=None, default_visibility=Visibility.PRIVATE, source="scored on this site"
        )
        for problem in report.problems:
            type(one.job).objects.filter(pk=one.job.pk).update(
                state=one.job.State.FAILED,
                reason=text(f"the receipt cannot be kept: {problem.message}", _LONGEST_REASON),
            )
        notify_submissions([one.job.pk])
    return True


def receipt_of(store: ResultsStore, model: str, benchmark: str, receipt_id: str) -> Receipt | None:
    """A pair's receipt of some id."""
    receipts = store.listing(model=model, benchmark=benchmark).receipts
    return next((receipt for receipt in reversed(receipts) if receipt.id == receipt_id), None)


def usable_receipt(one: ClaimedJob, store: ResultsStore, live: LivePlugins) -> Receipt | None:
    """A receipt that makes scoring needless.

    That is the newest one, if the same version and the same code of all plugins made it, and it either was made since
    this job began (by an attempt that ended before it could say so), or is no failure and nobody asked for another.
    """
    job = one.job
    pair = (job.model.identifier, job.benchmark.identifier)
    newest = store.latest(*pair)
    if newest is None:
        return None
    own = one.since is not None and newest.created >= f"{one.since:%Y-%m-%dT%H:%M:%S.%f}Z"
    if not own and job.why == REQUESTED:
        return None
    if newest.state == "failed":
        return newest if own and live.made(newest) else None
    plan = make_plan([pair[0]], [pair[1]], Listing((newest,), ()), plugins=live.folder_of, version_of=live.version_of)
    return newest if plan.done else None


def run_name(one: ClaimedJob) -> str:
    """Name of the run that an attempt at a job is, in receipts."""
    return f"site-{one.job.pk}-{one.job.attempts}"


def write_failed_receipt(
    one: ClaimedJob, store: ResultsStore, *, kind: str, message: str, printed: str = "", seconds: float | None = None
) -> Receipt:
    """Write a receipt of what did not live to write one itself."""
    return write_failed(
        store,
        one.job.model.identifier,
        one.job.benchmark.identifier,
        kind=kind,
        message=message,
        printed=printed,
        seconds=seconds,
        run=run_info(run_name(one), isolated=True),
    )


def give_up_after_attempts(one: ClaimedJob, store: ResultsStore) -> Receipt | None:
    """Write a receipt of what ended in the midst so often that it is not begun again; None where it may be."""
    if one.job.attempts <= MAX_ATTEMPTS:
        return None
    return write_failed_receipt(
        one, store, kind="WorkerLost", message=f"what scored it ended in the midst, {MAX_ATTEMPTS} times"
    )


def _short(log: str) -> str:
    if len(log) <= _LONGEST_LOG:
        return log
    half = _LONGEST_LOG // 2
    return log[:half] + _LEFT_OUT.format(len(log) - 2 * half) + log[-half:]
