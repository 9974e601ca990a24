"""The work of workers: tasks of django-tasks, at most one waiting of each kind, the sweep, and heartbeats.

The work itself is in rows. Losing a task therefore loses no work, and an extra task does nothing. Apps register their
functions for the sweep, such as resuming interrupted work, in `AppConfig.ready`. Any number of processes may sweep at
the same time.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta

from django.conf import settings
from django.db.models import Max
from django.utils import timezone
from django.utils.module_loading import import_string
from django_tasks.backends.immediate import ImmediateBackend

from brainscore_web.jobs.leases import process_name
from brainscore_web.jobs.models import Heartbeat


def wake(task_path: str) -> None:
    """Let a worker run a task, unless one of its kind already waits and will see all due work."""
    from django_tasks_db.models import DBTaskResult

    task = import_string(task_path)
    immediate = isinstance(task.get_backend(), ImmediateBackend)
    if immediate or not DBTaskResult.objects.ready().filter(task_path=task.module_path).exists():
        task.enqueue()


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
