"""Tasks: they wake somebody up who looks what is to be done. That itself stands in the rows of steps and uploads.

A task that is lost loses nothing, one too many does nothing, and of each kind one waits at most.
"""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from django.conf import settings
from django.utils import timezone
from django_tasks import task
from django_tasks.base import Task

__all__ = ["do_next_step", "do_next_upload", "forget_old_tasks", "wake", "wake_for_uploads"]


@task()
def do_next_step() -> bool:
    """Do the step of a submission that is next."""
    from brainscore_web.submissions.pipeline._running import run_next

    return run_next()


@task()
def do_next_upload() -> bool:
    """Check the upload that has waited for longest."""
    from brainscore_web.uploads.checking import check, pending

    waiting = list(pending().order_by("changed", "pk").values_list("pk", flat=True)[:20])
    if len(waiting) > 1:
        wake_for_uploads()  # for somebody else, or for me afterwards
    return any(check(key) for key in waiting[:1])


def wake() -> None:
    """Let a worker do what is due."""
    _enqueue(do_next_step)


def wake_for_uploads() -> None:
    """Let a worker check uploads that wait."""
    _enqueue(do_next_upload)


def forget_old_tasks() -> None:
    """Remove the records of tasks that have ended, or whose worker was killed."""
    from django_tasks_db.models import DBTaskResult

    DBTaskResult.objects.filter(enqueued_at__lt=timezone.now() - timedelta(days=settings.OPERATIONS["tasks"])).delete()


def _enqueue(one: Task[Any, Any]) -> None:
    from django_tasks.backends.immediate import ImmediateBackend
    from django_tasks_db.models import DBTaskResult

    if not isinstance(one.get_backend(), ImmediateBackend) and (
        DBTaskResult.objects.ready().filter(task_path=one.module_path).exists()
    ):
        return  # it will see all that is due then
    one.enqueue()
