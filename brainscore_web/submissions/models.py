"""The tables of submissions: submissions, revisions, steps, comments, reviews, published plugins and e-mails.

The files of a revision are stored in the database, in the same transaction as its state. A killed process therefore
leaves no partial submission, and a backup of the database is complete.
"""

from __future__ import annotations

import uuid
from typing import TYPE_CHECKING, Any

from django.conf import settings
from django.db import models
from django.db.models import Exists, OuterRef
from django.utils import timezone

from brainscore_web.accounts.models import lab_field, owned_by
from brainscore_web.jobs.leases import LeasedModel
from brainscore_web.leaderboard.models import Visibility, VisionModel, Visitor, domain_field

if TYPE_CHECKING:
    from django.db.models.manager import RelatedManager

ASPECTS = {
    "code": "Code quality",
    "science": "Scientific validity",
    "data": "Data integrity",
    "ceiling": "Ceiling implementation",
    "tests": "Testing coverage",
    "documentation": "Documentation",
}
"""What a reviewer judges."""


def reviews_submissions(visitor: Visitor) -> bool:
    """Whether the visitor reviews submissions: reviewers and administrators."""
    return bool(visitor.is_active and visitor.has_perm("accounts.review_submissions"))


class PluginKind(models.TextChoices):
    """Kinds of plugins, named after their folders."""

    MODELS = "models", "model"
    BENCHMARKS = "benchmarks", "benchmark"
    DATA = "data", "data"
    METRICS = "metrics", "metric"


class SubmissionQuerySet(models.QuerySet["Submission"]):
    """Queries of submissions."""

    def visible_to(self, visitor: Visitor) -> SubmissionQuerySet:
        """Return the visitor's own submissions; for reviewers also those that need review, for administrators all.

        A submission that contains only models needs no review: its models may be private, and reviewers do not see
        those.
        """
        if not visitor.is_authenticated:
            return self.none()
        if visitor.is_active and visitor.has_perm("leaderboard.view_private"):
            return self
        of_visitor = owned_by(visitor)
        if not reviews_submissions(visitor):
            return self.filter(of_visitor)
        reviewed = Step.objects.filter(kind=Step.Kind.REVIEW, revision__submission=OuterRef("pk"))
        return self.filter(of_visitor | Exists(reviewed.exclude(state=Step.State.SKIPPED).order_by()))


class Submission(models.Model):
    """Plugins that a user submits for publication."""

    class State(models.TextChoices):
        """The state of the submission as a whole; its steps have the details."""

        QUEUED = "queued", "being checked and tested"
        CHANGES = "changes", "waits for changes"
        REVIEW = "review", "waits for review"
        PUBLISHING = "publishing", "being published"
        SCORING = "scoring", "being scored"
        DONE = "done", "done"
        REJECTED = "rejected", "rejected"
        WITHDRAWN = "withdrawn", "withdrawn"

    class Origin(models.TextChoices):
        """How its files were sent."""

        ZIP = "zip", "ZIP file"
        GIT = "git", "Git repository"
        PULL = "pull", "pull request"

    CLOSED = (State.DONE, State.REJECTED, State.WITHDRAWN)
    """States in which a submission has ended."""

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    owner = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, blank=True, on_delete=models.SET_NULL, related_name="submissions"
    )
    lab = lab_field()
    title = models.CharField(max_length=300, help_text="Names of its plugins.")
    domain = domain_field()
    visibility = models.CharField(
        max_length=10,
        choices=Visibility,
        default=Visibility.PUBLIC,
        help_text="Of models; scores of benchmarks are public.",
    )
    state = models.CharField(max_length=10, choices=State, default=State.QUEUED)
    created = models.DateTimeField(default=timezone.now, editable=False)
    changed = models.DateTimeField(default=timezone.now, editable=False)

    objects = SubmissionQuerySet.as_manager()

    if TYPE_CHECKING:
        revisions: RelatedManager[Revision]

    class Meta:
        """Newest first."""

        ordering = ("-created",)
        indexes = (models.Index(fields=["owner", "state"]), models.Index(fields=["state", "changed"]))

    def __str__(self) -> str:
        return self.title

    @property
    def latest(self) -> Revision:
        """The newest revision, which is the current one."""
        newest = self.revisions.order_by("-number").first()
        assert newest is not None  # submission and first revision are created in one transaction
        return newest

    @property
    def is_open(self) -> bool:
        """Whether it may still change."""
        return self.state not in self.CLOSED


class Revision(models.Model):
    """One state of a submission's files, and the findings of the check on arrival."""

    submission = models.ForeignKey(Submission, on_delete=models.CASCADE, related_name="revisions")
    number = models.IntegerField(help_text="1, 2, …")
    by = models.ForeignKey(settings.AUTH_USER_MODEL, null=True, blank=True, on_delete=models.SET_NULL, related_name="+")
    created = models.DateTimeField(default=timezone.now, editable=False)
    origin = models.CharField(max_length=4, choices=Submission.Origin, default=Submission.Origin.ZIP)
    address = models.CharField(max_length=500, blank=True, help_text="Of the repository; or the name of the file.")
    commit = models.CharField(max_length=64, blank=True)
    note = models.TextField(blank=True, help_text="What its submitter says about it.")
    archive = models.BinaryField(editable=False, help_text="A ZIP of models/…, benchmarks/…, data/…, metrics/…")
    digest = models.CharField(max_length=64, editable=False, help_text="SHA-256 of the archive.")
    size = models.BigIntegerField(editable=False)
    plugins: models.JSONField[Any, Any] = models.JSONField(
        default=list, editable=False, help_text='[{"kind", "name", "registrations": [{"registry", "key", "line"}]}]'
    )
    findings: models.JSONField[Any, Any] = models.JSONField(
        default=list, editable=False, help_text='[{"severity", "check", "file", "line", "message", "remedy"}]'
    )

    if TYPE_CHECKING:
        steps: RelatedManager[Step]
        assessments: RelatedManager[BenchmarkAssessment]
        comments: RelatedManager[Comment]
        reviews: RelatedManager[Review]

    class Meta:
        """Oldest first."""

        ordering = ("number",)
        constraints = (models.UniqueConstraint(fields=["submission", "number"], name="one_revision_a_number"),)

    def __str__(self) -> str:
        return f"{self.submission} (revision {self.number})"

    @property
    def is_examined(self) -> bool:
        """Whether its files, plugins and findings are known."""
        return not UnexaminedFiles.objects.filter(revision=self.pk).exists()

    @property
    def notes(self) -> list[tuple[int, str]]:
        """Notes of the submitter on this and earlier revisions, with their numbers, the newest first."""
        rows = Revision.objects.filter(submission=self.submission_id, number__lte=self.number).exclude(note="")
        return list(rows.order_by("-number").values_list("number", "note"))

    @property
    def needs_review(self) -> bool:
        """Whether a reviewer must approve it: always, unless it contains only models."""
        return any(plugin["kind"] != PluginKind.MODELS for plugin in self.plugins)

    def registered(self, registry: str = "", *, plugin: tuple[str, str] | None = None) -> set[str]:
        """Return the identifiers that its plugins register."""
        return {
            entry["key"]
            for one in self.plugins
            if plugin in (None, (one["kind"], one["name"]))
            for entry in one["registrations"]
            if registry in ("", entry["registry"])
        }


class UnexaminedFiles(models.Model):
    """What was sent as a revision, as long as it is not examined; the check step examines it and removes this row.

    Until then, the revision has no files, plugins and findings.
    """

    revision = models.OneToOneField(Revision, on_delete=models.CASCADE, primary_key=True, related_name="unexamined")
    content = models.BinaryField(editable=False, help_text="The ZIP file; empty for a repository.")
    name = models.TextField(help_text="Of the ZIP file; or the address of the repository.")
    commit = models.TextField(blank=True, help_text="Of the repository, as it was requested.")

    def __str__(self) -> str:
        return f"files of {self.revision}"


class Step(LeasedModel):
    """One step in the processing of a revision.

    Automatic steps are claimed by one process at a time, see `brainscore_web.jobs.leases`.
    """

    class Kind(models.TextChoices):
        """The steps, in order."""

        CHECK = "check", "Checked"
        TEST = "test", "Tested"
        REVIEW = "review", "Reviewed"
        PUBLISH = "publish", "Published"
        SCORE = "score", "Scored"

    class State(models.TextChoices):
        """The state of the step."""

        WAITING = "waiting"
        RUNNING = "running"
        PASSED = "passed"
        FAILED = "failed"
        SKIPPED = "skipped"
        CANCELLED = "cancelled"

    revision = models.ForeignKey(Revision, on_delete=models.CASCADE, related_name="steps")
    kind = models.CharField(max_length=10, choices=Kind)
    order = models.IntegerField(editable=False)
    state = models.CharField(max_length=10, choices=State, default=State.WAITING)
    due = models.DateTimeField(null=True, blank=True, editable=False, help_text="Not before; empty: not its turn yet.")
    started = models.DateTimeField(null=True, blank=True, editable=False)
    ended = models.DateTimeField(null=True, blank=True, editable=False)
    reason = models.TextField(blank=True, help_text="Why it failed or was left out, for its submitter.")
    internal = models.TextField(blank=True, help_text="Details for the site's administrators.")
    log = models.TextField(blank=True)
    result: models.JSONField[Any, Any] = models.JSONField(default=dict, blank=True, editable=False)
    long = models.BooleanField(
        default=False, db_default=False, editable=False, help_text="Whether it may take more than seconds."
    )

    class Meta:
        """In the order of processing."""

        ordering = ("order",)
        constraints = (models.UniqueConstraint(fields=["revision", "kind"], name="one_step_a_kind"),)
        indexes = (models.Index(fields=["state", "due"]), models.Index(fields=["state", "claimed"]))

    def __str__(self) -> str:
        return f"{self.get_kind_display()}: {self.state}"


class BenchmarkAssessment(LeasedModel):
    """One part of the assessment of a benchmark that a revision registers; see `pipeline.assessing`."""

    class Part(models.TextChoices):
        """The parts that are computed for a submission, in order."""

        AUDIT = "audit", "Audit"
        RECOVERY = "recovery", "Recovery"

    class State(models.TextChoices):
        """The state of the assessment."""

        WAITING = "waiting"
        RUNNING = "running"
        FINISHED = "finished"
        FAILED = "failed"
        NOT_POSSIBLE = "not possible"
        CANCELLED = "cancelled"

    revision = models.ForeignKey(Revision, on_delete=models.CASCADE, related_name="assessments")
    benchmark = models.CharField(max_length=500, help_text="Its identifier.")
    plugin = models.CharField(max_length=200, help_text="Its folder.")
    part = models.CharField(max_length=10, choices=Part)
    state = models.CharField(max_length=12, choices=State, default=State.WAITING)
    due = models.DateTimeField(null=True, blank=True, editable=False)
    started = models.DateTimeField(null=True, blank=True, editable=False)
    ended = models.DateTimeField(null=True, blank=True, editable=False)
    reason = models.TextField(blank=True, help_text="Why there is no result, for its submitter.")
    internal = models.TextField(blank=True, help_text="What administrators should know.")
    log = models.TextField(blank=True)
    receipt: models.JSONField[Any, Any] = models.JSONField(null=True, blank=True, editable=False)

    class Meta:
        """In the order of the benchmarks in the submission, the audit first."""

        ordering = ("pk",)
        constraints = (models.UniqueConstraint(fields=["revision", "benchmark", "part"], name="one_assessment_a_part"),)
        indexes = (models.Index(fields=["state", "due"]),)

    def __str__(self) -> str:
        return f"{self.benchmark}, {self.part}: {self.state}"


class Comment(models.Model):
    """A comment on a line, a file, or the whole revision."""

    revision = models.ForeignKey(Revision, on_delete=models.CASCADE, related_name="comments")
    author = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, blank=True, on_delete=models.SET_NULL, related_name="submission_comments"
    )
    path = models.CharField(max_length=500, blank=True)
    line = models.IntegerField(null=True, blank=True, help_text="From 1.")
    text = models.TextField()
    created = models.DateTimeField(default=timezone.now, editable=False)
    resolved = models.DateTimeField(null=True, blank=True)

    class Meta:
        """Oldest first."""

        ordering = ("created",)

    def __str__(self) -> str:
        return f"{self.path}:{self.line}" if self.line else self.path or "general"


class Review(models.Model):
    """A reviewer's decision on a revision."""

    class Verdict(models.TextChoices):
        """The decision."""

        APPROVED = "approved", "approved"
        CHANGES = "changes", "changes requested"
        REJECTED = "rejected", "rejected"

    revision = models.ForeignKey(Revision, on_delete=models.CASCADE, related_name="reviews")
    reviewer = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, blank=True, on_delete=models.SET_NULL, related_name="reviews"
    )
    verdict = models.CharField(max_length=10, choices=Verdict)
    aspects: models.JSONField[Any, Any] = models.JSONField(
        default=dict, help_text='{aspect: {"fine": true | false | null, "note": ""}}; null: does not apply'
    )
    checklist: models.JSONField[Any, Any] = models.JSONField(default=list, help_text="As it was computed then.")
    text = models.TextField(blank=True)
    created = models.DateTimeField(default=timezone.now, editable=False)

    class Meta:
        """Oldest first."""

        ordering = ("created",)

    def __str__(self) -> str:
        return f"{self.revision}: {self.get_verdict_display()}"


class Plugin(models.Model):
    """A plugin that is live: its published revision."""

    domain = domain_field()
    kind = models.CharField(max_length=10, choices=PluginKind)
    name = models.CharField(max_length=200, help_text="Of its folder.")
    owner = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, blank=True, on_delete=models.SET_NULL, related_name="plugins"
    )
    lab = lab_field()
    revision = models.ForeignKey(Revision, on_delete=models.PROTECT, related_name="live")
    identifiers: models.JSONField[Any, Any] = models.JSONField(default=list, help_text="Keys that it registers.")
    code = models.CharField(max_length=64, blank=True, help_text="Hash of its files, as receipts have it.")
    published = models.DateTimeField(default=timezone.now)

    class Meta:
        """By name."""

        ordering = ("kind", "name")
        constraints = (models.UniqueConstraint(fields=["domain", "kind", "name"], name="one_plugin_a_name"),)

    def __str__(self) -> str:
        return f"{self.kind}/{self.name}"


class PublishedVersion(models.Model):
    """A version of a plugin that is or was live, by the hash of its code that receipts name."""

    domain = domain_field()
    kind = models.CharField(max_length=10, choices=PluginKind)
    name = models.CharField(max_length=200, help_text="Of its folder.")
    code = models.CharField(max_length=64, help_text="Hash of its files, as receipts have it.")
    revision = models.ForeignKey(Revision, on_delete=models.CASCADE, related_name="published_versions")
    licence = models.CharField(max_length=200, blank=True, help_text="Of its code, as its models' metadata state it.")
    published = models.DateTimeField(default=timezone.now)
    withheld = models.BooleanField(
        default=False, db_default=False, help_text="Whether it was replaced while private, and stays so."
    )

    class Meta:
        """Newest first."""

        ordering = ("-published", "-pk")
        constraints = (
            models.UniqueConstraint(fields=["domain", "kind", "name", "code"], name="one_published_version_a_hash"),
        )

    def __str__(self) -> str:
        return f"{self.kind}/{self.name} {self.code[:12]}"

    def shows_models_to(self, visitor: Visitor) -> bool:
        """Whether a visitor sees all models that it registers, or, unless it is of models, its submission does."""
        seen = VisionModel.objects.visible_to(visitor)
        if self.kind != PluginKind.MODELS:
            names = self.revision.registered("model_registry")
            return seen.filter(identifier__in=names).count() == len(names)
        names = self.revision.registered("model_registry", plugin=(self.kind, self.name))
        return bool(names) and seen.filter(identifier__in=names, plugin=self.name).count() == len(names)
