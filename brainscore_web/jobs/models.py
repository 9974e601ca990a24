"""The tables of background work: e-mails to be sent, heartbeats of processes, and turns of users."""

from __future__ import annotations

from django.conf import settings
from django.db import models
from django.utils import timezone

from brainscore_web.jobs.leases import LeasedModel, Turn

__all__ = ["Email", "Heartbeat", "Turn"]


class Email(LeasedModel):
    """An e-mail to be sent: stored in the transaction of the change that it reports, and retried until it is sent."""

    to = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="emails")
    submission = models.ForeignKey(
        "submissions.Submission", null=True, blank=True, on_delete=models.CASCADE, related_name="emails"
    )
    subject = models.CharField(max_length=300)
    body = models.TextField()
    unsubscribe = models.URLField(
        max_length=500, blank=True, help_text="Ends e-mails of this kind by one click; empty for answers to actions."
    )
    created = models.DateTimeField(default=timezone.now, editable=False)
    sent = models.DateTimeField(null=True, blank=True)
    due = models.DateTimeField(default=timezone.now, editable=False)
    problem = models.CharField(max_length=500, blank=True)

    class Meta:
        """Oldest first."""

        verbose_name = "e-mail"
        ordering = ("created",)
        indexes = (models.Index(fields=["sent", "due"], name="email_sent_due"),)

    def __str__(self) -> str:
        return self.subject


class Heartbeat(models.Model):
    """The last heartbeat of a background process."""

    kind = models.CharField(max_length=40, help_text="Such as 'worker'.")
    name = models.CharField(max_length=200, help_text="Of the process.")
    seen = models.DateTimeField(default=timezone.now)

    class Meta:
        """By kind; newest first."""

        ordering = ("kind", "-seen", "name")
        constraints = (models.UniqueConstraint(fields=["kind", "name"], name="one_heartbeat_a_process"),)

    def __str__(self) -> str:
        return f"{self.kind} {self.name}"
