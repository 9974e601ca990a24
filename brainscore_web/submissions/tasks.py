"""Tasks of django-tasks for the steps of submissions."""

from __future__ import annotations

from django_tasks import task

from brainscore_web.jobs.queue import enqueue_once
from brainscore_web.uploads.tasks import do_next_upload  # where tasks that wait in a database look for it

__all__ = ["do_next_step", "do_next_upload", "wake_for_steps"]


@task()
def do_next_step() -> bool:
    """Do the step of a submission that is next."""
    from brainscore_web.submissions.pipeline.runner import run_next_step

    return run_next_step()


def wake_for_steps() -> None:
    """Let a worker do what is due."""
    enqueue_once(do_next_step)
