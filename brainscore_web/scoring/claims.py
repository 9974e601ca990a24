"""Claims on scoring jobs: one worker gets each job, renews its claim, and loses it if it stops responding."""

from __future__ import annotations

import threading
import time
import uuid
from collections.abc import Callable, Collection, Sequence
from datetime import datetime, timedelta
from typing import Any

from django.db import DatabaseError, InterfaceError, close_old_connections, connection, transaction
from django.db.models import F
from django.utils import timezone

from brainscore_core.results.claims import has_ended as is_dead
from brainscore_core.results.claims import this_process
from brainscore_web.scoring.models import Job
from brainscore_web.scoring.services import notify_submissions

__all__ = [
    "MAX_ATTEMPTS",
    "STALE_AFTER",
    "ClaimedJob",
    "Heartbeat",
    "claim_job",
    "claim_jobs_of_model",
    "release_job",
    "release_stale_jobs",
    "worker_label",
    "worker_name",
]

STALE_AFTER = timedelta(minutes=2)
"""A worker that has not renewed a claim for this time has lost it."""
MAX_ATTEMPTS = 3
"""Number of attempts at scoring a pair."""

_HEARTBEAT_SECONDS = 2.0
_CANDIDATES = 20
_State = Job.State


def worker_name() -> str:
    """Name this process, so that others on this machine can tell whether it has ended.

    Examples
    --------
    >>> has_ended(worker_name())
    False
    """
    known = this_process()
    return f"{known['host'][:100]} {known['machine']} {known['pid']} {known['started'] or '-'}"


def has_ended(worker: str) -> bool:
    """Whether the process with this worker name is known to have ended."""
    parts = worker.split(" ")
    if len(parts) != 4 or not parts[2].isdecimal():
        return False
    started = None if parts[3] == "-" else parts[3]
    return is_dead({"host": parts[0], "machine": parts[1], "pid": int(parts[2]), "started": started})


def worker_label(worker: str) -> str:
    """The machine and process number of a worker name, for display.

    Examples
    --------
    >>> worker_label("here 3f2a 17 1234"), worker_label("")
    ('here:17', '')
    """
    host, _, pid = (*worker.split(" "), "", "")[:3]
    return f"{host}:{pid}" if host else ""


class ClaimedJob:
    """A job that this worker has claimed.

    Attributes
    ----------
    job : Job
        The job at the time of the claim, with its model and benchmark.
    claim : str
        The token of the claim; the claim is valid while the job's row has it.
    first_started : datetime or None
        When an earlier attempt started; newer receipts belong to this job.
    """

    def __init__(self, job: Job, claim: str, first_started: datetime | None) -> None:
        self.job, self.claim, self.first_started = job, claim, first_started

    def mine(self) -> Any:
        """Return the job's row if the claim is still valid, otherwise no row."""
        return Job.objects.filter(pk=self.job.pk, claim=self.claim, state=_State.RUNNING)


def claim_job(worker: str, *, prefer: int | None = None, without: Collection[int] = ()) -> ClaimedJob | None:
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
    ClaimedJob or None
        None if no job is due.
    """
    if prefer is not None and (claimed := _claim(worker, 1, without, model=prefer)):
        return claimed[0]
    claimed = _claim(worker, 1, without)
    return claimed[0] if claimed else None


def claim_jobs_of_model(
    worker: str, most: int, *, without: Collection[int] = (), only: Collection[int] = ()
) -> list[ClaimedJob]:
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
    first = _claim(worker, 1, without, **({"model__in": list(only)} if only else {}))
    if not first:
        return []
    return [*first, *_claim(worker, most - 1, without, model=first[0].job.model_id)]


def _claim(worker: str, most: int, without: Collection[int], **conditions: Any) -> list[ClaimedJob]:
    due = Job.objects.filter(state=_State.WAITING, due__lte=timezone.now(), **conditions)
    if without:
        due = due.exclude(model__in=list(without))
    jobs: list[ClaimedJob] = []
    while len(jobs) < most:
        keys: Sequence[tuple[int, datetime | None]] = list(
            due.order_by("-priority", "created", "pk").values_list("pk", "started")[:_CANDIDATES]
        )
        if not keys:
            return jobs
        for key, since in keys:
            if len(jobs) == most:
                break
            claim, now = uuid.uuid4().hex, timezone.now()
            taken = Job.objects.filter(pk=key, state=_State.WAITING, due__lte=now).update(
                state=_State.RUNNING, claim=claim, claimed=now, worker=worker, attempts=F("attempts") + 1,
                started=since or now, stop=False, reason="",
            )  # fmt: skip
            if taken:
                job = Job.objects.select_related("model", "benchmark").get(pk=key)
                jobs.append(ClaimedJob(job, claim, since))
    return jobs


def release_job(claim: ClaimedJob, *, wait: float = 0.0, begun: bool = False) -> None:
    """Release a job, for another worker or a later attempt.

    Parameters
    ----------
    claim : ClaimedJob
        The claimed job.
    wait : float
        Seconds until the job is due again.
    begun : bool
        Whether this counts as an attempt.
    """
    changes: dict[str, Any] = {} if begun else {"attempts": F("attempts") - 1}
    with transaction.atomic():
        cancelled = (
            claim.mine().filter(stop=True).update(state=_State.CANCELLED, claim="", claimed=None, ended=timezone.now())
        )
        if cancelled:
            notify_submissions([claim.job.pk])
        else:
            due = timezone.now() + timedelta(seconds=wait)
            claim.mine().update(state=_State.WAITING, claim="", claimed=None, due=due, **changes)


def release_stale_jobs() -> int:
    """Release jobs of workers that ended or stopped responding; cancel those that were to be cancelled.

    Returns
    -------
    int
        The number of released jobs.
    """
    now = timezone.now()
    rows = Job.objects.filter(state=_State.RUNNING).order_by("pk")
    count = 0
    for key, claim, claimed, worker, stop in rows.values_list("pk", "claim", "claimed", "worker", "stop"):
        expired = claimed is None or claimed < now - STALE_AFTER
        if not expired and not has_ended(worker):
            continue
        with transaction.atomic():
            mine = Job.objects.filter(pk=key, claim=claim, claimed=claimed, state=_State.RUNNING)
            state = _State.CANCELLED if stop else _State.WAITING
            ended = now if stop else None
            if mine.update(state=state, claim="", claimed=None, due=now, ended=ended):
                count += 1
                if stop:
                    notify_submissions([key])
    return count


class Heartbeat:
    """Renews claims on jobs in a thread, and finds out which jobs are to be cancelled.

    A context manager. If the database is unavailable it tries again; after `STALE_AFTER` the claims count as lost.
    """

    def __init__(
        self, claimed: Collection[ClaimedJob], *, on_problem: Callable[[str], None] = lambda text: None
    ) -> None:
        self._claimed = {claim.job.pk: claim for claim in claimed}
        self._lost: set[int] = set()
        self._stop: set[int] = set()
        self._on_problem = on_problem
        self._end = threading.Event()
        self._thread = threading.Thread(target=self._run, name="heartbeat", daemon=True)

    def __enter__(self) -> Heartbeat:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._end.set()
        self._thread.join(timeout=30)

    def lost(self, claim: ClaimedJob) -> bool:
        """Whether the claim is lost, so that another worker may have the job."""
        return claim.job.pk in self._lost

    def stops(self, claim: ClaimedJob) -> bool:
        """Whether the job is to be cancelled."""
        return claim.job.pk in self._stop

    @property
    def any_stops(self) -> bool:
        """Whether any of the jobs is to be cancelled."""
        return bool(self._stop)

    def remove(self, claim: ClaimedJob) -> None:
        """Stop renewing the claim on a job that has ended."""
        self._claimed.pop(claim.job.pk, None)
        self._stop.discard(claim.job.pk)

    def _run(self) -> None:
        last = time.monotonic()
        try:
            while not self._end.wait(_HEARTBEAT_SECONDS):
                close_old_connections()
                try:
                    self._renew()
                    last = time.monotonic()
                except (DatabaseError, InterfaceError) as error:
                    self._on_problem(f"The database does not respond: {type(error).__name__}")
                    if time.monotonic() - last > STALE_AFTER.total_seconds():
                        self._lost |= set(self._claimed)
        finally:
            connection.close()

    def _renew(self) -> None:
        for key, claim in list(self._claimed.items()):
            if key in self._lost:
                continue
            if not claim.mine().update(claimed=timezone.now()):
                if key in self._claimed:  # otherwise the job has ended meanwhile
                    self._lost.add(key)
            elif claim.mine().filter(stop=True).exists():
                self._stop.add(key)
