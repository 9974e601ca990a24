"""Operation of the site: health checks, metrics, logs, backups, retention."""

from __future__ import annotations

import logging

from django.apps import AppConfig
from django.conf import settings


class OperationsConfig(AppConfig):
    """The app's name and label, and the names of tasks in logs."""

    name = "brainscore_web.operations"
    label = "operations"

    def ready(self) -> None:
        """Add the names of tasks and their requests to log lines; with JSON logs, also log warnings of libraries."""
        if settings.LOGGING.get("handlers", {}).get("console", {}).get("formatter") == "json":
            logging.captureWarnings(True)
        from brainscore_web.operations.logs import connect_task_signals

        connect_task_signals()
