"""Claims on scoring jobs: one worker gets each job, renews its claim, and loses it when it is silent."""

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
"""Who is silent for so long has lost what it claimed."""
MAX_ATTEMPTS = 3
"""So often scoring a pair may begin."""

_HEARTBEAT_SECONDS = 2.0  # seconds
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
    """Whether a process that called itself so is known to have ended."""
    parts = worker.split(" ")
    if len(parts) != 4 or not parts[2].isdecimal():
        return False
    started = None if parts[3] == "-" else parts[3]
    return is_dead({"host": parts[0], "machine": parts[1], "pid": int(parts[2]), "started": started})


def worker_label(worker: str) -> str:
    """Machine and number of a process that called itself so, for people.

    Examples
    --------
    >>> worker_label("here 3f2a 17 1234"), worker_label("")
    ('here:17', '')
    """
    host, _, pid = (*worker.split(" "), "", "")[:3]
    return f"{host}:{pid}" if host else ""


class ClaimedJob:
    """A job that was claimed here.

    Attributes
    ----------
    job : Job
        As it was then, with its model and benchmark.
    claim : str
        By which the job is this worker's, for as long as it stands in its row.
    since : datetime or None
        When an earlier attempt began: receipts that are newer are this job's own.
    """

    def __init__(self, job: Job, claim: str, since: datetime | None) -> None:
        self.job, self.claim, self.since = job, claim, since

    def mine(self) -> Any:
        """The job's row, while it is this worker's."""
        return Job.objects.filter(pk=self.job.pk, claim=self.claim, state=_State.RUNNING)


def claim_job(worker: str, *, prefer: int | None = None, without: Collection[int] = ()) -> ClaimedJob | None:
    """Claim the next job.

    Parameters
    ----------
    worker : str
        Who asks.
    prefer : int, optional
        Primary key of the model that it has loaded: its jobs come first, so that each model is loaded once.
    without : collection of int
        Models whose jobs are left alone.

    Returns
    -------
    Claimed or None
        None: nothing is due.
    """
    if prefer is not None and (found := _claim(worker, 1, without, model=prefer)):
        return found[0]
    found = _claim(worker, 1, without)
    return found[0] if found else None


def claim_jobs_of_model(
    worker: str, most: int, *, without: Collection[int] = (), only: Collection[int] = ()
) -> list[ClaimedJob]:
    """Claim several jobs of one model: of the one whose turn it is.

    Parameters
    ----------
    worker : str
        Who asks.
    most : int
        How many.
    without, only : collection of int
        Models whose jobs are left alone; models whose jobs alone are claimed, where there are any.
    """
    first = _claim(worker, 1, without, **({"model__in": list(only)} if only else {}))
    if not first:
        return []
    return [*first, *_claim(worker, most - 1, without, model=first[0].job.model_id)]


def _claim(worker: str, most: int, without: Collection[int], **conditions: Any) -> list[ClaimedJob]:
    due = Job.objects.filter(state=_State.WAITING, due__lte=timezone.now(), **conditions)
    if without:
        due = due.exclude(model__in=list(without))
    found: list[ClaimedJob] = []
    while len(found) < most:
        keys: Sequence[tuple[int, datetime | None]] = list(
            due.order_by("-priority", "created", "pk").values_list("pk", "started")[:_CANDIDATES]
        )
        if not keys:
            return found
        for key, since in keys:
            if len(found) == most:
                break
            claim, now = uuid.uuid4().hex, timezone.now()
            taken = Job.objects.filter(pk=key, state=_State.WAITING, due__lte=now).update(
                state=_State.RUNNING, claim=claim, claimed=now, worker=worker, attempts=F("attempts") + 1,
                started=since or now, stop=False, reason="",
            )  # fmt: skip
            if taken:
                job = Job.objects.select_related("model", "benchmark").get(pk=key)
                found.append(ClaimedJob(job, claim, since))
    return found


def release_job(one: ClaimedJob, *, wait: float = 0.0, begun: bool = False) -> None:
    """Let somebody else do a job, or this worker later.

    Parameters
    ----------
    one : Claimed
        Which.
    wait : float
        Seconds until then.
    begun : bool
        Whether this counts as an attempt.
    """
    changes: dict[str, Any] = {} if begun else {"attempts": F("attempts") - 1}
    with transaction.atomic():
        cancelled = (
            one.mine().filter(stop=True).update(state=_State.CANCELLED, claim="", claimed=None, ended=timezone.now())
        )
        if cancelled:
            notify_submissions([one.job.pk])
        else:
            due = timezone.now() + timedelta(seconds=wait)
            one.mine().update(state=_State.WAITING, claim="", claimed=None, due=due, **changes)


def release_stale_jobs() -> int:
    """Free what was claimed by workers that ended or are silent; what was to be cancelled is cancelled.

    Returns
    -------
    int
        How many jobs.
    """
    now = timezone.now()
    rows = Job.objects.filter(state=_State.RUNNING).order_by("pk")
    count = 0
    for key, claim, claimed, worker, stop in rows.values_list("pk", "claim", "claimed", "worker", "stop"):
        silent = claimed is None or claimed < now - STALE_AFTER
        if not silent and not has_ended(worker):
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
    """Says in a thread that claimed jobs are worked on, and learns which are to be given up.

    As a context manager. Where the database is away it tries again; after `STALE_AFTER` the claims count as lost.
    """

    def __init__(
        self, claimed: Collection[ClaimedJob], *, on_problem: Callable[[str], None] = lambda text: None
    ) -> None:
        self._claimed = {one.job.pk: one for one in claimed}
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

    def lost(self, one: ClaimedJob) -> bool:
        """Whether somebody else may have it by now."""
        return one.job.pk in self._lost

    def stops(self, one: ClaimedJob) -> bool:
        """Whether somebody wants it given up."""
        return one.job.pk in self._stop

    @property
    def any_stops(self) -> bool:
        """Whether any is to be given up."""
        return bool(self._stop)

    def forget(self, one: ClaimedJob) -> None:
        """It has ended: there is nothing to say of it any more."""
        self._claimed.pop(one.job.pk, None)
        self._stop.discard(one.job.pk)

    def _run(self) -> None:
        last = time.monotonic()
        try:
            while not self._end.wait(_HEARTBEAT_SECONDS):
                close_old_connections()
                try:
                    self._beat()
                    last = time.monotonic()
                except (DatabaseError, InterfaceError) as error:
                    self._on_problem(f"The database does not answer: {type(error).__name__}")
                    if time.monotonic() - last > STALE_AFTER.total_seconds():
                        self._lost |= set(self._claimed)
        finally:
            connection.close()

    def _beat(self) -> None:
        for key, one in list(self._claimed.items()):
            if key in self._lost:
                continue
            if not one.mine().update(claimed=timezone.now()):
                if key in self._claimed:  # else it has ended meanwhile
                    self._lost.add(key)
            elif one.mine().filter(stop=True).exists():
                self._stop.add(key)
