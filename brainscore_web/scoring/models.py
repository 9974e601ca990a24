"""The tables of scoring jobs, of remote workers, and of their results and failures."""

from __future__ import annotations

from django.conf import settings
from django.db import models
from django.db.models import Q
from django.utils import timezone

from brainscore_web.accounts.models import ApiToken
from brainscore_web.jobs.leases import LeasedModel
from brainscore_web.leaderboard.models import Benchmark, VisionModel, Visitor
from brainscore_web.submissions.models import Submission


class JobQuerySet(models.QuerySet["Job"]):
    """Queries of jobs."""

    def visible_to(self, visitor: Visitor) -> JobQuerySet:
        """Return jobs of models that the visitor may see."""
        return self.filter(model__in=VisionModel.objects.visible_to(visitor))

    def open(self) -> JobQuerySet:
        """Return jobs that wait or run."""
        return self.filter(state__in=OPEN)


class Job(LeasedModel):
    """The scoring of a pair: planned, running, or ended.

    One worker at a time has it, see `brainscore_web.jobs.leases`. A pair has at most one open job. The score itself is
    in the receipt.
    """

    class State(models.TextChoices):
        """The states of receipts, and four more. The site retries pairs that it could not run."""

        WAITING = "waiting"
        RUNNING = "running"
        CANCELLED = "cancelled"
        SCORED = "scored"
        UNDEFINED = "undefined"
        NOT_APPLICABLE = "not applicable"
        FAILED = "failed"
        NOT_RUN = "not run"

    model = models.ForeignKey(VisionModel, on_delete=models.CASCADE, related_name="jobs")
    benchmark = models.ForeignKey(Benchmark, on_delete=models.CASCADE, related_name="jobs")
    submissions = models.ManyToManyField(Submission, blank=True, related_name="jobs", help_text="For which it is done.")
    asked_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, blank=True, on_delete=models.SET_NULL, related_name="+"
    )
    why = models.CharField(max_length=100, help_text="Such as 'new model', 'new version', 'asked for'.")
    priority = models.IntegerField(default=0, help_text="Higher first.")
    state = models.CharField(max_length=14, choices=State, default=State.WAITING)
    created = models.DateTimeField(default=timezone.now, editable=False)
    due = models.DateTimeField(default=timezone.now, editable=False, help_text="Not before.")
    stop = models.BooleanField(default=False, editable=False, help_text="Whether the worker that runs it should stop.")
    started = models.DateTimeField(null=True, blank=True, editable=False)
    taken = models.DateTimeField(null=True, blank=True, editable=False, help_text="By the last worker.")
    ended = models.DateTimeField(null=True, blank=True, editable=False)
    receipt = models.CharField(max_length=100, blank=True, editable=False)
    reason = models.TextField(blank=True, editable=False)
    internal = models.TextField(blank=True, editable=False, help_text="What operators should know if it was not run.")
    pauses = models.IntegerField(default=0, editable=False, help_text="How often in a row it was not run.")
    log = models.TextField(blank=True, editable=False)

    objects = JobQuerySet.as_manager()

    class Meta:
        """In the order of scoring."""

        ordering = ("-priority", "created", "pk")
        constraints = (
            models.UniqueConstraint(
                fields=["model", "benchmark"], condition=Q(state__in=["waiting", "running"]), name="one_open_job_a_pair"
            ),
        )
        indexes = (
            models.Index(fields=["state", "due"]),
            models.Index(fields=["state", "claimed"]),
            models.Index(fields=["model", "state"]),
            models.Index(fields=["benchmark", "state"]),
        )

    def __str__(self) -> str:
        return f"{self.model.identifier} on {self.benchmark.identifier}"

    def reason_to(self, visitor: Visitor) -> str:
        """Return why there is no score, as far as the visitor may read it; reasons of the site itself are public."""
        if self.state in (*OPEN, self.State.CANCELLED, self.State.NOT_RUN):
            return self.reason
        return self.benchmark.reason_to(visitor, self.state, self.reason)


OPEN = (Job.State.WAITING, Job.State.RUNNING)
"""States of jobs that have not ended."""


class RemoteWorker(models.Model):
    """A worker outside the site, such as a laboratory's machine: it takes pairs through the API.

    It is added at its first request, by a token whose owner has the permission `run_jobs`, and belongs to this token.
    Only administrators trust or suspend it.
    """

    name = models.CharField(max_length=60, unique=True)
    owner = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL, related_name="remote_workers"
    )
    token = models.ForeignKey(ApiToken, null=True, editable=False, on_delete=models.SET_NULL, related_name="+")
    trusted = models.BooleanField(
        default=False,
        help_text="Whether its results count as verified. Otherwise they are marked, and some are repeated.",
    )
    suspended = models.BooleanField(default=False, help_text="Whether it gets no pairs and its results are refused.")
    reason = models.TextField(blank=True, help_text="Why it is suspended.")
    version = models.CharField(max_length=100, blank=True, editable=False)
    created = models.DateTimeField(default=timezone.now, editable=False)
    seen = models.DateTimeField(default=timezone.now, editable=False)

    class Meta:
        """By name, with the permission of those whose tokens may take pairs."""

        ordering = ("name",)
        permissions = (("run_jobs", "Can score pairs for the site on a remote worker"),)

    def __str__(self) -> str:
        return self.name


class RemoteResult(models.Model):
    """A receipt that a remote worker uploaded, and whether the site has repeated it."""

    class State(models.TextChoices):
        """Whether the result is reliable."""

        TRUSTED = "trusted"
        UNVERIFIED = "not verified"
        WAITING = "waits for verification"
        VERIFIED = "verified"
        CONTRADICTED = "contradicted"

    receipt = models.CharField(max_length=100, unique=True)
    worker = models.ForeignKey(RemoteWorker, on_delete=models.CASCADE, related_name="results")
    state = models.CharField(max_length=24, choices=State)
    verification = models.ForeignKey(
        Job, null=True, on_delete=models.SET_NULL, related_name="verified_results", help_text="The job that repeats it."
    )
    repeated = models.CharField(max_length=100, blank=True, help_text="The receipt of the repetition.")
    difference = models.TextField(blank=True, help_text="How the two receipts differ.")
    created = models.DateTimeField(default=timezone.now, editable=False)

    class Meta:
        """The newest first."""

        ordering = ("-pk",)

    def __str__(self) -> str:
        return f"{self.receipt} by {self.worker}: {self.state}"


class RemoteFailure(models.Model):
    """A pair that a remote worker took and did not score; the pair is given to another worker."""

    class Kind(models.TextChoices):
        """How it ended."""

        FAILED = "failed"
        LOST = "lost"
        RETURNED = "given back"

    worker = models.ForeignKey(RemoteWorker, on_delete=models.CASCADE, related_name="failures")
    job = models.ForeignKey(Job, on_delete=models.CASCADE, related_name="remote_failures")
    kind = models.CharField(max_length=12, choices=Kind)
    reason = models.TextField(blank=True)
    created = models.DateTimeField(default=timezone.now, editable=False)
    until = models.DateTimeField(null=True, help_text="When the worker may take the pair again; empty: not at all.")

    class Meta:
        """The newest first; the last one of a worker and pair."""

        ordering = ("-pk",)
        constraints = (models.UniqueConstraint(fields=["worker", "job"], name="one_failure_a_worker_and_pair"),)

    def __str__(self) -> str:
        return f"{self.job} by {self.worker}: {self.kind}"
