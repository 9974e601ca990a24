"""Export of a user's entries and frozen standings."""

from __future__ import annotations

from typing import Any

from brainscore_web.accounts.models import User
from brainscore_web.competitions.models import Entry, Snapshot

_OF_ENTRIES = ("team", "title", "identifier", "entered", "declared", "findings", "withdrawn", "withdrawn_because")


def entries_of(user: User) -> list[dict[str, Any]]:
    """Export a user's entries."""
    rows = Entry.objects.filter(by=user).select_related("track__competition")
    return [
        {"competition": row.track.competition.slug, "track": row.track.title}
        | {name: getattr(row, name) for name in _OF_ENTRIES}
        for row in rows
    ]


def snapshots_of(user: User) -> list[dict[str, Any]]:
    """Export the standings that a user has frozen."""
    rows = Snapshot.objects.filter(by=user).select_related("competition").defer("document")
    return [{"competition": row.competition.slug, "created": row.created, "digest": row.digest} for row in rows]
