"""The table of heartbeats."""

from __future__ import annotations

from django.db import models
from django.utils import timezone

__all__ = ["Beat"]


class Beat(models.Model):
    """The last heartbeat of a background process."""

    kind = models.CharField(max_length=40, help_text="Such as 'worker'.")
    name = models.CharField(max_length=200, help_text="Of the process: machine and number.")
    seen = models.DateTimeField(default=timezone.now)

    class Meta:
        """By kind; newest first."""

        ordering = ("kind", "-seen", "name")
        constraints = (models.UniqueConstraint(fields=["kind", "name"], name="one_beat_a_process"),)

    def __str__(self) -> str:
        return f"{self.kind} {self.name}"
