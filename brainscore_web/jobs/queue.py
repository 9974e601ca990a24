"""The queue of django-tasks: at most one waiting task of each kind.

The work itself is in the rows of steps and uploads. Losing a task therefore loses no work, and an extra task does
nothing.
"""

from datetime import timedelta
from typing import Any

from django.conf import settings
from django.utils import timezone
from django_tasks.base import Task

__all__ = ["delete_old_tasks"]


def enqueue_once(task: Task[Any, Any]) -> None:
    from django_tasks.backends.immediate import ImmediateBackend
    from django_tasks_db.models import DBTaskResult

    if not isinstance(task.get_backend(), ImmediateBackend) and (
        DBTaskResult.objects.ready().filter(task_path=task.module_path).exists()
    ):
        return  # the waiting task will see all due work
    task.enqueue()


def delete_old_tasks() -> None:
    """Delete records of old tasks, including those whose worker was killed."""
    from django_tasks_db.models import DBTaskResult

    DBTaskResult.objects.filter(enqueued_at__lt=timezone.now() - timedelta(days=settings.OPERATIONS["tasks"])).delete()
