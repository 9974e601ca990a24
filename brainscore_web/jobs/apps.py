"""The app of background work."""

from __future__ import annotations

from django.apps import AppConfig


class JobsConfig(AppConfig):
    """The app's name and label, and its part of the sweep."""

    name = "brainscore_web.jobs"
    label = "jobs"
    verbose_name = "Background work"

    def ready(self) -> None:
        """Let the sweep send e-mails and delete old tasks."""
        from brainscore_web.jobs import outbox, workers

        workers.register(outbox.send_due_emails)
        workers.register(workers.delete_old_tasks, every=600.0)
