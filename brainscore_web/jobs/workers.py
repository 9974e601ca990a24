"""The work of workers: tasks of django-tasks, at most one waiting of each kind, the sweep, and heartbeats.

The work itself is in rows. Losing a task therefore loses no work, and an extra task does nothing. Apps register their
functions for the sweep, such as resuming interrupted work, in `AppConfig.ready`. Any number of processes may sweep at
the same time.
"""

from __future__ import annotations

import errno
import logging
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from django.conf import settings
from django.db import transaction
from django.db.models import Max, Q
from django.utils import timezone
from django.utils.module_loading import import_string
from django_tasks.backends.immediate import ImmediateBackend

from brainscore_web.jobs.leases import (
    Lease,
    LeaseQueue,
    M,
    Postponed,
    Renewal,
    Unavailable,
    claim,
    expired_leases,
    process_name,
)
from brainscore_web.jobs.models import Heartbeat
from brainscore_web.jobs.outbox import notify_administrators

_log = logging.getLogger(__name__)
_DISK_FULL = frozenset({errno.ENOSPC, errno.EDQUOT})


def wake(task_path: str) -> None:
    """Let a worker run a task, unless one of its kind already waits and will see all due work."""
    from django_tasks_db.models import DBTaskResult

    task = import_string(task_path)
    immediate = isinstance(task.get_backend(), ImmediateBackend)
    if immediate or not DBTaskResult.objects.ready().filter(task_path=task.module_path).exists():
        task.enqueue()


def wake_for(*queues: LeaseQueue[Any]) -> None:
    """Wake a worker for each queue with a row that can be claimed."""
    for queue in queues:
        if queue.has_work():
            wake(queue.task)


def resume(queue: LeaseQueue[Any], where: Q | None = None, **values: Any) -> int:
    """Let work be done again whose process ended or stopped responding; return its amount."""
    return sum(lease.release(**values) for lease in expired_leases(queue, where))


def do_next(
    queue: LeaseQueue[M],
    do: Callable[[Lease[M]], None],
    *,
    give_up: Callable[[Lease[M], str, str], None],
    where: Q | None = None,
    in_turn: bool = True,
) -> bool:
    """Claim the next row of a queue, or one that meets a condition, and do its work; return whether there was one.

    What fails because of the site is tried again by the policy of the queue. After the last attempt, `give_up` gets the
    lease, the reason for users, and the one for administrators.
    """
    leases = claim(queue, where=where, in_turn=in_turn)
    for lease in leases:
        wake_for(queue)  # another process can begin the next one now
        try:
            if lease.attempts_exceeded():
                give_up(lease, "", "its worker ended unexpectedly on each attempt")
                continue
            with Renewal([lease]):
                do(lease)
        except Postponed as later:
            with transaction.atomic():
                if lease.release(after=later.pause, counts=False, **_texts(lease, later.why, str(later))):
                    notify_administrators(later.why, str(later))
        except Exception as error:  # noqa: BLE001 # it is logged, and tried again
            why, internal = _why(error), f"{type(error).__name__}: {error}"
            _log.error("%s: %s", lease.row, internal, exc_info=not isinstance(error, Unavailable | OSError))
            if not lease.retry(**_texts(lease, f"{why}: it will be tried again", internal)):
                give_up(lease, why, internal)
        finally:
            wake_for(queue)  # for further work of the same user
    return bool(leases)


def _why(error: Exception) -> str:
    if isinstance(error, OSError):
        return "the disk of the site is full" if error.errno in _DISK_FULL else "storage failed"
    return error.why if isinstance(error, Unavailable) else "an error of the site"


def _texts(lease: Lease[Any], reason: str, internal: str) -> dict[str, str]:
    return {"reason": reason, "internal": internal} if hasattr(lease.row, "internal") else {}


def delete_old_tasks() -> int:
    """Delete records of old tasks, including those whose worker was killed; return their number."""
    from django_tasks_db.models import DBTaskResult

    before = timezone.now() - timedelta(days=settings.OPERATIONS["tasks"])
    return DBTaskResult.objects.filter(enqueued_at__lt=before).delete()[0]


@dataclass
class _Entry:
    function: Callable[[], int]
    every: float
    last: float | None = None


_entries: dict[Callable[[], int], _Entry] = {}
_lock = threading.Lock()


def register(function: Callable[[], int], *, every: float = 0.0) -> None:
    """Let the sweep call a function."""
    _entries[function] = _Entry(function, every)


def sweep() -> int:
    """Call all registered functions that are due; return how many things they handled.

    If one of them fails the others are called nevertheless; then the first error is raised.
    """
    handled, errors = 0, []
    for entry in list(_entries.values()):
        try:
            handled += entry.function() if _begins(entry) else 0
        except Exception as error:  # noqa: BLE001 # it is raised below
            errors.append(error)
    if errors:
        raise errors[0]
    return handled


def _begins(entry: _Entry) -> bool:
    with _lock:
        now = time.monotonic()
        if entry.last is not None and now - entry.last < entry.every:
            return False
        entry.last = now
        return True


MISSED_AFTER = timedelta(minutes=2)
"""A process without a heartbeat for this time counts as missing."""


def record_heartbeat(kind: str = "worker", name: str = "") -> None:
    """Record that this process is alive; to be called about every ten seconds."""
    name, now = name or process_name(), timezone.now()
    if not Heartbeat.objects.filter(kind=kind, name=name).update(seen=now):
        Heartbeat.objects.update_or_create(kind=kind, name=name, defaults={"seen": now})


def heartbeat_ages() -> dict[str, float]:
    """Return the seconds since the last heartbeat of each kind of process."""
    now = timezone.now()
    rows = Heartbeat.objects.order_by("kind").values("kind").annotate(last=Max("seen"))
    return {row["kind"]: max((now - row["last"]).total_seconds(), 0.0) for row in rows}
