"""Erase private models so that they stay private."""

from __future__ import annotations

from typing import Any

from django.db.models import QuerySet

from brainscore_web.leaderboard.models import LayerProfile, Score, VisionModel

__all__ = ["erase"]

_EMPTY: dict[str, Any] = {
    "title": "", "architecture": "", "family": "", "parameters": None, "size_mb": None, "training_data": "",
    "regions": {}, "source": "", "bibtex": "", "plugin": "", "details": {}, "synced": {}, "runnable": False,
}  # fmt: skip


def erase(models: QuerySet[VisionModel]) -> None:
    """Delete scores, profiles and descriptions of private models; a private row with nothing but the name stays.

    Without the row, receipts that are read again would make the model anew, as a public one. Who calls this has a
    transaction, and bumps the revision.
    """
    for table in (Score, LayerProfile):
        table.objects.filter(model__in=models).delete()
    models.update(**_EMPTY)
