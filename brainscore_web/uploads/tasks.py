"""Tasks of django-tasks for the checks of uploads."""

from django_tasks import task

from brainscore_web.uploads.checking import check_next


@task(queue_name="long")
def do_next_upload() -> bool:
    """Check the next upload."""
    return check_next()
