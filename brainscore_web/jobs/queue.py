"""The queue of django-tasks: at most one waiting task of each kind.

The work itself is in the rows of steps and uploads. Losing a task therefore loses no work, and an extra task does
nothing.
"""

from datetime import timedelta

from django.conf import settings
from django.utils import timezone
from django.utils.module_loading import import_string
from django_tasks.backends.immediate import ImmediateBackend


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
