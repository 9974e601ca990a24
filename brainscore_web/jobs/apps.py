"""The app of background work."""

from __future__ import annotations

from django.apps import AppConfig


class JobsConfig(AppConfig):
    """The app's name and label, its section of the data export, and its part of the sweep."""

    name = "brainscore_web.jobs"
    label = "jobs"
    verbose_name = "Background work"

    def ready(self) -> None:
        """Add e-mails and turns to the data export, and let the sweep send e-mails."""
        from brainscore_web.accounts.personal_data import SECTIONS, exported_rows
        from brainscore_web.jobs import outbox, queue, sweep
        from brainscore_web.jobs.leases import Turn
        from brainscore_web.jobs.models import Email

        SECTIONS["letters"] = (Email, outbox.exported_emails)
        SECTIONS["turns"] = (Turn, lambda user: exported_rows(Turn.objects.filter(owner=user)))
        sweep.register(outbox.send_due_emails)
        sweep.register(queue.delete_old_tasks, every=600.0)
