"""Tasks of django-tasks for the checks of uploads."""

from django_tasks import task

from brainscore_web.uploads.checking import CHECKS, check, wake_for_uploads

__all__ = ["do_next_upload"]


@task()
def do_next_upload() -> bool:
    """Check the upload that has waited for longest."""
    waiting = list(CHECKS.due().values_list("pk", flat=True)[:20])
    if len(waiting) > 1:
        wake_for_uploads()  # for another worker, or for this one afterwards
    return any(check(key) for key in waiting[:1])
