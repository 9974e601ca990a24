"""The queue of django-tasks: at most one waiting task of each kind.

The work itself is in the rows of steps and uploads. A lost task loses nothing, and a superfluous one does nothing.
"""

from datetime import timedelta
from typing import Any

from django.conf import settings
from django.utils import timezone
from django_tasks.base import Task

__all__ = ["delete_old_tasks"]


def enqueue_once(one: Task[Any, Any]) -> None:
    from django_tasks.backends.immediate import ImmediateBackend
    from django_tasks_db.models import DBTaskResult

    if not isinstance(one.get_backend(), ImmediateBackend) and (
        DBTaskResult.objects.ready().filter(task_path=one.module_path).exists()
    ):
        return  # it will see all that is due then
    one.enqueue()


def delete_old_tasks() -> None:
    """Remove the records of tasks that have ended, or whose worker was killed."""
    from django_tasks_db.models import DBTaskResult

    DBTaskResult.objects.filter(enqueued_at__lt=timezone.now() - timedelta(days=settings.OPERATIONS["tasks"])).delete()
