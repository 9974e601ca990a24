"""Entries, frozen standings, winners."""

from __future__ import annotations

import hashlib
import json
from typing import Any

from django.conf import settings
from django.db import models
from django.db.models import Q
from django.utils import timezone

from brainscore_core.errors import UserError
from brainscore_web.competitions.models._competition import Competition, Ordered
from brainscore_web.competitions.models._track import Track

__all__ = ["Award", "Entry", "Snapshot"]


class Entry(models.Model):
    """What takes part in a track, for whom."""

    track = models.ForeignKey(Track, on_delete=models.CASCADE, related_name="entries")
    team = models.CharField(max_length=200, blank=True, help_text="Shown to everybody.")
    title = models.CharField(max_length=300, blank=True)
    identifier = models.CharField(max_length=200, blank=True, help_text="Empty: it is not known here.")
    model = models.ForeignKey(
        "leaderboard.VisionModel", null=True, blank=True, on_delete=models.SET_NULL, related_name="entries"
    )
    benchmark = models.ForeignKey(
        "leaderboard.Benchmark", null=True, blank=True, on_delete=models.SET_NULL, related_name="entries"
    )
    submission = models.ForeignKey(
        "submissions.Submission", null=True, blank=True, on_delete=models.SET_NULL, related_name="entries"
    )
    by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, blank=True, on_delete=models.SET_NULL, related_name="competition_entries"
    )
    known = models.BooleanField(default=False, editable=False, help_text="Published by the organisers, by name.")
    entered = models.DateTimeField("entered at", null=True, blank=True, default=timezone.now)
    declared: models.JSONField[Any, Any] = models.JSONField(default=dict, editable=False)
    findings: models.JSONField[Any, Any] = models.JSONField(default=list, editable=False)
    withdrawn = models.DateTimeField(null=True, blank=True, editable=False)
    withdrawn_because = models.CharField(max_length=300, blank=True, editable=False)

    class Meta:
        """First come, first; nothing twice in a track."""

        ordering = ("entered", "pk")
        constraints = (
            models.UniqueConstraint(
                fields=["track", "identifier"],
                condition=Q(withdrawn__isnull=True) & ~Q(identifier=""),
                name="enters_a_track_once",
            ),
        )

    def __str__(self) -> str:
        return self.identifier or self.title


class Snapshot(models.Model):
    """Standings as they were at a moment, with the scores that they came from. Never changed."""

    competition = models.ForeignKey(Competition, on_delete=models.PROTECT, related_name="snapshots")
    document: models.JSONField[Any, Any] = models.JSONField(editable=False)
    digest = models.CharField(max_length=64, editable=False, help_text="SHA-256 of the document.")
    created = models.DateTimeField(default=timezone.now, editable=False)
    by = models.ForeignKey(settings.AUTH_USER_MODEL, null=True, blank=True, on_delete=models.SET_NULL, related_name="+")

    class Meta:
        """The newest first."""

        ordering = ("-created", "-pk")

    def __str__(self) -> str:
        return f"{self.competition}, {self.created:%Y-%m-%d %H:%M}"

    def save(self, *args: Any, **kwargs: Any) -> None:
        """Write it once."""
        if not self._state.adding:
            raise UserError("frozen standings are never changed", remedy="freeze them anew")
        self.digest = _digest_of(self.document)
        super().save(*args, **kwargs)

    @property
    def is_intact(self) -> bool:
        """Whether it is what was frozen."""
        return self.digest == _digest_of(self.document)


class Award(Ordered):
    """A winner, as announced by the organisers."""

    track = models.ForeignKey(Track, on_delete=models.CASCADE, related_name="awards")
    place = models.PositiveIntegerField(null=True, blank=True, help_text="Empty: not known.")
    title = models.CharField("what won", max_length=300)
    people = models.CharField("who", max_length=500, blank=True)
    prize = models.CharField(max_length=100, blank=True)
    entries = models.ManyToManyField(Entry, blank=True, related_name="awards")

    def __str__(self) -> str:
        return self.title


def _digest_of(document: Any) -> str:
    """SHA-256 of a document, however it is laid out."""
    text = json.dumps(document, sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False)
    return hashlib.sha256(text.encode()).hexdigest()
