"""The table of snapshots: copies of a view of the leaderboard that never change."""

from __future__ import annotations

import hashlib
import io
import json
import zipfile
from functools import cached_property
from typing import Any

from django.conf import settings
from django.db import models
from django.urls import reverse
from django.utils import timezone

from brainscore_core.errors import UserError
from brainscore_web.leaderboard.models import domain_field

KEY_LENGTH = 16
"""Characters of the hash of a snapshot that its URL contains."""


class FrozenView(models.Model):
    """A view of the leaderboard as all visitors saw it at a time. Never changed."""

    key = models.CharField(max_length=KEY_LENGTH, unique=True, editable=False, help_text="The start of the hash.")
    sha256 = models.CharField(max_length=64, editable=False, help_text="SHA-256 of the document.")
    domain = domain_field()
    title = models.CharField(max_length=200, editable=False)
    n_models = models.IntegerField(editable=False)
    n_benchmarks = models.IntegerField(editable=False)
    archive = models.BinaryField(
        editable=False, help_text="The ZIP file to deposit: the document in JSON, the same as CSV, metadata."
    )
    created = models.DateTimeField(default=timezone.now, editable=False)
    by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, editable=False, on_delete=models.SET_NULL, related_name="frozen_views"
    )

    class Meta:
        """Newest first."""

        ordering = ("-created", "-pk")
        verbose_name = "snapshot"

    def __str__(self) -> str:
        return self.title

    def save(self, *args: Any, **kwargs: Any) -> None:
        """Save a new snapshot; it cannot be changed afterwards."""
        if not self._state.adding:
            raise UserError("a snapshot cannot be changed", remedy="make another one")
        super().save(*args, **kwargs)

    def get_absolute_url(self) -> str:
        """Return its permanent URL."""
        return reverse("snapshots:show", args=[self.key])

    def file(self, name: str) -> bytes:
        """Return a file of the archive."""
        return zipfile.ZipFile(io.BytesIO(self.archive)).read(name)

    @cached_property
    def _text(self) -> bytes:
        return self.file("snapshot.json")

    @cached_property
    def document(self) -> dict[str, Any]:
        """The document."""
        return json.loads(self._text)

    @property
    def is_intact(self) -> bool:
        """Whether the document matches its hash."""
        return hashlib.sha256(self._text).hexdigest() == self.sha256
