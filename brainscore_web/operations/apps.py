"""What keeps a site running: health, metrics, logs, backups, retention."""

from django.apps import AppConfig


class OperationsConfig(AppConfig):
    """The app's name and label, and how tasks are named in logs."""

    name = "brainscore_web.operations"
    label = "operations"

    def ready(self) -> None:
        """Let log lines of a task name it, and the request that began it."""
        from brainscore_web.operations.tasks import connect

        connect()
