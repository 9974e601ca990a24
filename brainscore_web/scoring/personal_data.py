"""Export of a user's scoring jobs and remote workers."""

from __future__ import annotations

from typing import Any

from django.db.models import Q

from brainscore_web.accounts.models import User
from brainscore_web.scoring.models import Job, RemoteWorker


def exported_jobs(user: User) -> list[dict[str, Any]]:
    """Export jobs of a user's models, of their submissions as far as visible to them, and those that they requested."""
    own = Q(model__owner=user) | Q(submissions__owner=user) | Q(asked_by=user)
    rows = Job.objects.visible_to(user).filter(own).distinct().order_by("pk")
    return [
        {
            "model": row.model.identifier,
            "benchmark": row.benchmark.identifier,
            "why": row.why,
            "state": row.state,
            "reason": row.reason_to(user),
            "created": row.created,
            "started": row.started,
            "ended": row.ended,
            "receipt": row.receipt or None,
            "asked_for_by_you": row.asked_by_id == user.pk,
        }
        for row in rows.select_related("model", "benchmark").defer("log").iterator(chunk_size=1000)
    ]


def exported_workers(user: User) -> list[dict[str, Any]]:
    """Export a user's remote workers."""
    names = ("name", "trusted", "suspended", "reason", "version", "created", "seen")
    return list(RemoteWorker.objects.filter(owner=user).order_by("pk").values(*names))
