"""The table of questions that users asked."""

from __future__ import annotations

import uuid
from typing import Any

from django.conf import settings
from django.db import models
from django.utils import timezone

from brainscore_web.jobs.leases import LeasedModel
from brainscore_web.leaderboard.models import Benchmark


class AskedQuestion(LeasedModel):
    """A question about the scores of a benchmark. Its answer is a stored assessment, which does not name the user."""

    class Part(models.TextChoices):
        """What is asked: the parts of assessments that are answers."""

        QUESTION = "question", "How all models score"
        EXPLANATION = "explanation", "What two to four models explain alone and together"
        ATLAS = "atlas", "What no model explains"

    class State(models.TextChoices):
        """The states of a question."""

        WAITING = "waiting"
        RUNNING = "running"
        ANSWERED = "answered"
        FAILED = "failed"

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    owner = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="questions")
    benchmark = models.ForeignKey(Benchmark, on_delete=models.CASCADE, related_name="questions")
    part = models.CharField(max_length=12, choices=Part, default=Part.QUESTION)
    question: models.JSONField[Any, Any] = models.JSONField(help_text="As brainscore_core.questions.Question has it.")
    model_names: models.JSONField[Any, Any] = models.JSONField(default=list, help_text="Empty for all public ones.")
    state = models.CharField(max_length=10, choices=State, default=State.WAITING)
    created = models.DateTimeField(default=timezone.now, editable=False)
    due = models.DateTimeField(default=timezone.now, editable=False)
    started = models.DateTimeField(null=True, editable=False)
    ended = models.DateTimeField(null=True, editable=False)
    reason = models.TextField(blank=True, help_text="Why there is no answer.")
    answer = models.CharField(max_length=80, blank=True, help_text="Id of the assessment.")

    class Meta:
        """Newest first."""

        ordering = ("-created",)
        indexes = (models.Index(fields=["owner", "created"]), models.Index(fields=["state", "due"]))

    def __str__(self) -> str:
        return f"question about {self.benchmark}"
