"""Leases of scoring jobs: which worker scores which pair."""

from __future__ import annotations

from collections.abc import Collection
from datetime import timedelta

from django.db import transaction
from django.db.models import Q
from django.utils import timezone

from brainscore_web.jobs.leases import Lease, LeaseQueue, RetryPolicy, claim, expired_leases
from brainscore_web.scoring.models import Job
from brainscore_web.scoring.services import notify_submissions

__all__ = ["JOBS", "claim_job", "claim_jobs_of_model", "release_expired_jobs", "release_job"]

_State = Job.State

JOBS = LeaseQueue(
    Job,
    waiting=Q(state=_State.WAITING),
    held=Q(state=_State.RUNNING),
    order=("-priority", "created", "pk"),
    on_claim={"state": _State.RUNNING, "stop": False, "reason": ""},
    on_release={"state": _State.WAITING},
    related=("model", "benchmark"),
    retry=RetryPolicy(timedelta(seconds=60), attempts=3),
    stop_field="stop",
)
"""Jobs of scoring, the most urgent first."""


def claim_job(worker: str, *, prefer: int | None = None, without: Collection[int] = ()) -> Lease[Job] | None:
    """Claim the next job.

    Parameters
    ----------
    worker : str
        The name of the worker.
    prefer : int, optional
        Primary key of the model that the worker has loaded. Its jobs come first, so that each model is loaded once.
    without : collection of int
        Models whose jobs are not claimed.

    Returns
    -------
    Lease or None
        None if no job is due.
    """
    allowed = ~Q(model__in=list(without))
    leases = [] if prefer is None else _claim(worker, 1, allowed & Q(model=prefer))
    leases = leases or _claim(worker, 1, allowed)
    return leases[0] if leases else None


def claim_jobs_of_model(
    worker: str, most: int, *, without: Collection[int] = (), only: Collection[int] = ()
) -> list[Lease[Job]]:
    """Claim several jobs of one model, that of the next job.

    Parameters
    ----------
    worker : str
        The name of the worker.
    most : int
        The largest number of jobs.
    without, only : collection of int
        Models whose jobs are not claimed; if not empty, the only models whose jobs are claimed.
    """
    allowed = ~Q(model__in=list(without))
    first = _claim(worker, 1, allowed & Q(model__in=list(only)) if only else allowed)
    if not first:
        return []
    return [*first, *_claim(worker, most - 1, allowed & Q(model=first[0].row.model_id))]


def _claim(worker: str, most: int, where: Q) -> list[Lease[Job]]:
    """Claim jobs. `started` of each row is the start of its first attempt, and None if this is the first."""
    leases = claim(JOBS, limit=most, where=where, worker=worker)
    for lease in leases:
        lease.rows().filter(started=None).update(started=timezone.now())
    return leases


def release_job(lease: Lease[Job], *, wait: float = 0.0, counts: bool = False) -> bool:
    """Release a job, for another worker or a later attempt; if it was to be cancelled, it is cancelled.

    Parameters
    ----------
    lease : Lease
        The lease of the job.
    wait : float
        Seconds until the job is due again.
    counts : bool
        Whether this counts as an attempt.

    Returns
    -------
    bool
        False if the lease was lost; nothing was written then.
    """
    with transaction.atomic():
        if lease.rows().filter(stop=True).select_for_update().exists():
            released = lease.finish(state=_State.CANCELLED, ended=timezone.now())
            notify_submissions([lease.row.pk])
        else:
            released = lease.release(after=timedelta(seconds=wait), counts=counts)
    return released


def release_expired_jobs() -> int:
    """Release jobs of workers that ended or stopped responding; return their number."""
    return sum(release_job(lease, counts=True) for lease in expired_leases(JOBS))
