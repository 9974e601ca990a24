"""Operation of the site: health checks, metrics, logs, backups, retention."""

from __future__ import annotations

import logging

from django.apps import AppConfig
from django.conf import settings


class OperationsConfig(AppConfig):
    """The app's name and label, the names of tasks in logs, and its part of the sweep."""

    name = "brainscore_web.operations"
    label = "operations"

    def ready(self) -> None:
        """Name tasks in logs, limit environments, and register the checks."""
        if settings.LOGGING.get("handlers", {}).get("console", {}).get("formatter") == "json":
            logging.captureWarnings(True)
        from brainscore_web.jobs import workers
        from brainscore_web.operations import health  # noqa: F401 # registers the checks
        from brainscore_web.operations.logs import connect_task_signals
        from brainscore_web.operations.retention import remove_unused_environments

        connect_task_signals()
        if settings.PUBLIC:  # elsewhere they belong to the user of the machine, too
            workers.register(remove_unused_environments, every=3600.0)
