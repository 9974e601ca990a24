"""Tables of what members follow, and of how often they get e-mails about it."""

from __future__ import annotations

from datetime import timedelta

from django.conf import settings
from django.db import models
from django.db.models import Q
from django.utils import timezone

from brainscore_web.accounts.models import Lab
from brainscore_web.leaderboard.models import Benchmark, VisionModel, Visitor


class FollowQuerySet(models.QuerySet["Follow"]):
    """Queries of follows."""

    def visible_to(self, visitor: Visitor) -> FollowQuerySet:
        """Leave out models that became private after the visitor had followed them."""
        return self.filter(Q(model=None) | Q(model__in=VisionModel.objects.visible_to(visitor).order_by().values("pk")))


class Follow(models.Model):
    """A member follows a model, a benchmark, a mean with all benchmarks below it, or a lab with all that it owns."""

    user = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="follows")
    model = models.ForeignKey(VisionModel, null=True, on_delete=models.CASCADE, related_name="follows")
    benchmark = models.ForeignKey(Benchmark, null=True, on_delete=models.CASCADE, related_name="follows")
    lab = models.ForeignKey(Lab, null=True, on_delete=models.CASCADE, related_name="follows")
    created = models.DateTimeField(default=timezone.now, editable=False)

    objects = FollowQuerySet.as_manager()

    class Meta:
        """Newest first; each model, benchmark and lab once."""

        ordering = ("-created", "-pk")
        constraints = (
            models.CheckConstraint(
                condition=Q(model=None, benchmark=None, lab__isnull=False)
                | Q(model=None, benchmark__isnull=False, lab=None)
                | Q(model__isnull=False, benchmark=None, lab=None),
                name="follow_of_a_model_a_benchmark_or_a_lab",
            ),
            models.UniqueConstraint(fields=["user", "model"], name="follow_model_once"),
            models.UniqueConstraint(fields=["user", "benchmark"], name="follow_benchmark_once"),
            models.UniqueConstraint(fields=["user", "lab"], name="follow_lab_once"),
        )

    def __str__(self) -> str:
        return str(self.followed)

    @property
    def kind(self) -> str:
        """``'model'``, ``'benchmark'`` or ``'lab'``."""
        return "model" if self.model is not None else "benchmark" if self.benchmark is not None else "lab"

    @property
    def followed(self) -> VisionModel | Benchmark | Lab:
        """The model, benchmark or lab."""
        followed = self.model or self.benchmark or self.lab
        assert followed is not None  # a constraint of the table
        return followed

    @property
    def name(self) -> str:
        """The identifier of the model or benchmark, or the name of the lab."""
        followed = self.followed
        return followed.name if isinstance(followed, Lab) else followed.identifier


class Notifications(models.Model):
    """What a member gets e-mails about, how often, and what has been reported."""

    class Frequency(models.TextChoices):
        """How often e-mails are sent."""

        DAILY = "daily", "at most once a day"
        WEEKLY = "weekly", "at most once a week"
        NEVER = "never", "never"

    user = models.OneToOneField(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="notifications")
    frequency = models.CharField("how often", max_length=10, choices=Frequency, default=Frequency.WEEKLY)
    scores = models.BooleanField("new scores of the models and on the benchmarks that I follow", default=True)
    versions = models.BooleanField("new versions of the benchmarks that I follow", default=True)
    news = models.BooleanField("news of the site", default=False)
    # the last score, version and news that were reported, or that existed when nothing was to be reported
    last_score = models.BigIntegerField(default=0, editable=False)
    last_version = models.BigIntegerField(default=0, editable=False)
    news_until = models.DateTimeField(default=timezone.now, editable=False)
    due = models.DateTimeField(default=timezone.now, editable=False, help_text="When the next e-mail may be sent.")

    class Meta:
        """By user."""

        ordering = ("user",)
        indexes = (models.Index(fields=["frequency", "due"], name="notifications_due"),)

    def __str__(self) -> str:
        return f"{self.user}: {self.get_frequency_display()}"

    @property
    def interval(self) -> timedelta:
        """The shortest time between two e-mails."""
        return timedelta(days=7 if self.frequency == self.Frequency.WEEKLY else 1)
