"""Leases of scoring jobs: which worker scores which pair."""

from __future__ import annotations

from collections.abc import Collection
from datetime import datetime, timedelta
from typing import Any

from django.db import IntegrityError, transaction
from django.db.models import Exists, Max, OuterRef, Q
from django.db.models.functions import Now
from django.utils import timezone

from brainscore_web.jobs.leases import Lease, LeaseQueue, RetryPolicy, claim, expired_leases
from brainscore_web.scoring.models import OPEN, Job, RemoteFailure, RemoteWorker
from brainscore_web.scoring.services import notify_submissions
from brainscore_web.submissions.models import Plugin
from brainscore_web.uploads.models import Upload

_State = Job.State

JOBS = LeaseQueue(
    Job,
    waiting=Q(state=_State.WAITING),
    held=Q(state=_State.RUNNING),
    order=("-priority", "created", "pk"),
    on_claim={"state": _State.RUNNING, "stop": False, "reason": "", "taken": Now()},
    on_release={"state": _State.WAITING},
    related=("model", "benchmark"),
    retry=RetryPolicy(timedelta(seconds=60), attempts=3),
    stop_field="stop",
    lane="pairs",
    owner="model__owner",
)
"""Jobs of scoring. The owners of models take turns; of each, the most urgent first."""

NOT_RUN_RETRY = RetryPolicy(timedelta(minutes=10), factor=4, longest=timedelta(days=7))
"""When a pair that the site could not run is tried again."""


def claim_job(
    worker: str, *, prefer: str | None = None, in_turn: bool = False, without: Collection[int] = ()
) -> Lease[Job] | None:
    """Claim the next job."""
    allowed = ~Q(model__in=list(without))
    loaded = None if prefer is None else Q(model__identifier=prefer)
    leases = [] if loaded is None or in_turn else claim_where(worker, 1, allowed & loaded, in_turn=False)
    leases = leases or claim_where(worker, 1, allowed, first=loaded)
    return leases[0] if leases else None


def claim_jobs_of_model(
    worker: str, most: int, *, without: Collection[int] = (), only: Collection[int] = ()
) -> list[Lease[Job]]:
    """Claim several jobs of one model, that of the next job."""
    allowed = ~Q(model__in=list(without))
    first = claim_where(worker, 1, allowed & Q(model__in=list(only)) if only else allowed)
    if not first:
        return []
    return [*first, *claim_where(worker, most - 1, allowed & Q(model=first[0].row.model_id), in_turn=False)]


def claim_where(worker: str, most: int, where: Q, **how: Any) -> list[Lease[Job]]:
    """Claim jobs. `started` of each row is the start of its first attempt, and None if this is the first."""
    leases = claim(JOBS, limit=most, where=where, worker=worker, **how)
    for lease in leases:
        lease.rows().filter(started=None).update(started=timezone.now())
    return leases


def release_job(lease: Lease[Job], *, wait: float = 0.0, counts: bool = False) -> bool:
    """Release a job, for another worker or a later attempt; if it was to be cancelled, it is cancelled."""
    with transaction.atomic():
        if lease.rows().filter(stop=True).select_for_update().exists():
            released = lease.finish(state=_State.CANCELLED, ended=timezone.now())
            notify_submissions([lease.row.pk])
        else:
            released = lease.release(after=timedelta(seconds=wait), counts=counts)
    return released


def retry_pairs_not_run() -> int:
    """Let pairs that the site could not run wait for a worker again; return their number.

    A pair is due after its pause, or as soon as an upload is accepted or a plugin published, which may be what was
    missing. Of several jobs of a pair only the newest is retried, and none while another one is open.
    """
    uploaded = Upload.objects.filter(state=Upload.State.ACCEPTED).aggregate(newest=Max("changed"))
    published = Plugin.objects.aggregate(newest=Max("published"))
    is_due = Q(due__lte=timezone.now())
    if newest := max(filter(None, (uploaded["newest"], published["newest"])), default=None):
        is_due |= Q(ended__lt=newest)
    same_pair = Job.objects.filter(model=OuterRef("model"), benchmark=OuterRef("benchmark"))
    newer_or_open = same_pair.filter(Q(pk__gt=OuterRef("pk")) | Q(state__in=OPEN)).order_by()
    due = Job.objects.filter(is_due, ~Exists(newer_or_open), state=_State.NOT_RUN).order_by("pk")
    count = 0
    for key in due.values_list("pk", flat=True)[:_MOST_RETRIED]:
        try:
            with transaction.atomic():
                again = {"due": timezone.now(), "attempts": 0, "started": None, "ended": None, "internal": ""}
                rows = Job.objects.filter(pk=key, state=_State.NOT_RUN)
                count += rows.update(state=_State.WAITING, stop=False, **again)
        except IntegrityError:  # another job of the pair has been planned since
            continue
    return count


_MOST_RETRIED = 500  # pairs at a time


REMOTE_SUFFIX = " (remote)"
"""What follows the name of a remote worker in jobs."""

_AFTER_LOSS = timedelta(hours=1)


def record_failure(worker: RemoteWorker, job: Job, kind: str, reason: str, *, until: datetime | None = None) -> None:
    """Record that a remote worker did not score a pair."""
    values = {"kind": kind, "reason": reason, "until": until, "created": timezone.now()}
    RemoteFailure.objects.update_or_create(worker=worker, job=job, defaults=values)


def release_expired_jobs() -> int:
    """Release jobs of workers that ended or stopped responding; return their number.

    What a remote worker loses counts as its own failure, not as an attempt at the pair.
    """
    released = 0
    for lease in expired_leases(JOBS):
        name = lease.row.worker.removesuffix(REMOTE_SUFFIX)
        worker = None if name == lease.row.worker else RemoteWorker.objects.filter(name=name).first()
        if release_job(lease, counts=worker is None):
            released += 1
            if worker is not None:
                until = timezone.now() + _AFTER_LOSS
                record_failure(worker, lease.row, RemoteFailure.Kind.LOST, "it stopped responding", until=until)
    return released
