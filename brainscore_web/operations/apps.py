"""What keeps a site running: health, metrics, logs, backups, retention."""

from __future__ import annotations

import logging

from django.apps import AppConfig
from django.conf import settings


class OperationsConfig(AppConfig):
    """The app's name and label, and how tasks are named in logs."""

    name = "brainscore_web.operations"
    label = "operations"

    def ready(self) -> None:
        """Let log lines of a task name it, and the request that began it; warnings of libraries are lines as well."""
        if settings.LOGGING.get("handlers", {}).get("console", {}).get("formatter") == "json":
            logging.captureWarnings(True)
        from brainscore_web.operations.logs import connect_task_signals

        connect_task_signals()
