"""The tables of uploads: a data set, and its files."""

from __future__ import annotations

import uuid
from typing import TYPE_CHECKING, Any

from django.conf import settings
from django.db import models
from django.db.models import Q
from django.utils import timezone

from brainscore_web.jobs.leases import LEASE_DURATION, LeasedModel, LeaseQueue, RetryPolicy
from brainscore_web.leaderboard.models import Visibility, Visitor

if TYPE_CHECKING:
    from django.db.models.manager import RelatedManager

STALE_AFTER = LEASE_DURATION
"""A request without progress for this time is considered dead, and its reservation is released."""

CLASSES = (
    "NeuroidAssembly",
    "BehavioralAssembly",
    "PropertyAssembly",
    "MetadataAssembly",
    "SpikeTimesAssembly",
    "DataAssembly",
)
"""Classes of assemblies that users can choose."""


def sees_all_uploads(visitor: Visitor) -> bool:
    """Whether the visitor is an administrator or may see all private data."""
    return bool(visitor.is_active and visitor.has_perm("leaderboard.view_private"))


class UploadQuerySet(models.QuerySet["Upload"]):
    """Queries of uploads."""

    def visible_to(self, visitor: Visitor) -> UploadQuerySet:
        """Return the visitor's own uploads; for administrators all."""
        if sees_all_uploads(visitor):
            return self
        return self.filter(owner=visitor) if visitor.is_authenticated else self.none()


class Upload(LeasedModel):
    """A packaged data set, in storage or being uploaded. The lease is that of its checks."""

    class State(models.TextChoices):
        """The state of an upload. A withdrawn upload keeps no files."""

        RECEIVING = "receiving"
        CHECKING = "checking"
        ACCEPTED = "accepted"
        REFUSED = "refused"
        WITHDRAWN = "withdrawn"

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    owner = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, blank=True, on_delete=models.SET_NULL, related_name="uploads"
    )
    identifier = models.CharField(max_length=200, help_text="Of the stimulus set.")
    assembly_identifier = models.CharField(max_length=200)
    assembly_class = models.CharField(max_length=50, choices=[(name, name) for name in CLASSES], default=CLASSES[0])
    visibility = models.CharField(max_length=10, choices=Visibility, default=Visibility.PUBLIC)
    state = models.CharField(max_length=10, choices=State, default=State.RECEIVING)
    created = models.DateTimeField(default=timezone.now, editable=False)
    changed = models.DateTimeField(default=timezone.now, editable=False)
    due = models.DateTimeField(default=timezone.now, editable=False, help_text="Its checks do not start before.")
    findings: models.JSONField[Any, Any] = models.JSONField(default=list, blank=True, editable=False)
    facts: models.JSONField[Any, Any] = models.JSONField(
        default=dict, blank=True, editable=False, help_text="What is in it."
    )

    objects = UploadQuerySet.as_manager()

    if TYPE_CHECKING:
        files: RelatedManager[UploadedFile]

    class Meta:
        """Newest first."""

        ordering = ("-created",)
        indexes = (models.Index(fields=["owner", "state"]), models.Index(fields=["state", "claimed"]))

    def __str__(self) -> str:
        return self.identifier

    @property
    def owner_folder(self) -> str:
        """Folder of the owner's files below the storage's prefix."""
        return f"user_{self.owner_id}"


class UploadedFile(models.Model):
    """One file of a data set: table, archive or assembly.

    While it is received, `claim` identifies the request, and `reserved` counts towards its owner's quota for as long as
    `touched` is recent. Once it has arrived, `token` names it in the storage, and `size` counts.
    """

    class Kind(models.TextChoices):
        """The content of a file, and the suffix of its name."""

        CSV = "csv", "Table"
        ZIP = "zip", "Stimuli"
        NC = "nc", "Assembly"

    upload = models.ForeignKey(Upload, on_delete=models.CASCADE, related_name="files")
    kind = models.CharField(max_length=3, choices=Kind)
    claim = models.CharField(max_length=40, blank=True, editable=False)
    reserved = models.BigIntegerField(default=0, editable=False)
    touched = models.DateTimeField(null=True, blank=True, editable=False)
    token = models.CharField(max_length=40, blank=True, editable=False)
    size = models.BigIntegerField(null=True, blank=True, editable=False)
    sent_as = models.CharField(max_length=255, blank=True, editable=False, help_text="Its name at the sender's.")
    expected_sha1 = models.CharField(max_length=40, blank=True, editable=False, help_text="As its sender says.")
    sha1 = models.CharField(max_length=40, blank=True, editable=False)
    sha256 = models.CharField(max_length=64, blank=True, editable=False)
    bucket = models.CharField(max_length=100, blank=True, editable=False)
    key = models.CharField(max_length=500, blank=True, editable=False)
    version_id = models.CharField(max_length=200, blank=True, editable=False)
    everybody = models.BooleanField(
        default=False, editable=False, help_text="Whether its bucket gives it to everybody without asking this site."
    )

    class Meta:
        """One file per kind, and one file per version of a key."""

        ordering = ("kind",)
        constraints = (
            models.UniqueConstraint(fields=["upload", "kind"], name="one_file_a_kind"),
            models.UniqueConstraint(
                fields=["bucket", "key", "version_id"], condition=~Q(version_id=""), name="one_file_a_version"
            ),
        )

    def __str__(self) -> str:
        return self.name

    @property
    def name(self) -> str:
        """Its name in storage, by which loaders find it."""
        if self.kind == self.Kind.NC:
            return f"assy_{self.upload.assembly_identifier.replace('.', '_')}.nc"
        return f"stimulus_{self.upload.identifier.replace('.', '_')}.{self.kind}"

    @property
    def streaming(self) -> bool:
        """Whether a request is currently receiving it."""
        now = timezone.now()
        return bool(self.claim and self.touched and now - STALE_AFTER < self.touched < now + STALE_AFTER)

    @property
    def folder(self) -> str:
        """The argument `bucket` of the library's loaders."""
        return f"{self.bucket}/{self.key.rpartition('/')[0]}".rstrip("/")


RECEPTIONS = LeaseQueue(
    UploadedFile,
    waiting=Q(pk=None),  # a request reserves its file itself
    held=~Q(claim=""),
    retry=RetryPolicy(LEASE_DURATION),
    on_release={"reserved": 0},
    renewed_field="touched",
    worker_field="",
)
"""Files that requests are receiving; `touched` is in the future while a browser may send one to the storage itself."""
