"""Tasks of django-tasks for the steps of submissions."""

from __future__ import annotations

from django_tasks import task

from brainscore_web.submissions.pipeline.assessing import run_next_assessment
from brainscore_web.submissions.pipeline.runner import run_next_step
from brainscore_web.uploads.checking import do_next_upload  # path of tasks that are still queued in databases

__all__ = ["do_next_assessment", "do_next_long_step", "do_next_step", "do_next_upload"]


@task()
def do_next_step() -> bool:
    """Run the next due short step of a submission."""
    return run_next_step(long=False)


@task(queue_name="long")
def do_next_long_step() -> bool:
    """Run the next due long step of a submission."""
    return run_next_step(long=True)


@task(queue_name="long")
def do_next_assessment() -> bool:
    """Run the next due assessment of a submitted benchmark."""
    return run_next_assessment()
