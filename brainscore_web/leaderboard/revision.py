"""The revision of the leaderboard: a number that grows with every visible change; caches are keyed by it."""

from __future__ import annotations

import time
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from typing import Any

from django.db import transaction
from django.db.models import F, QuerySet
from django.db.models.functions import Greatest
from django.db.models.signals import post_delete, post_save

from brainscore_web.accounts.models import User
from brainscore_web.leaderboard import models
from brainscore_web.leaderboard.models import LayerProfile, Revision, Score, VisionModel

__all__ = ["bump", "connect", "current", "erase_models", "exclusive_write"]


def current() -> int:
    """The revision of now."""
    return models.Revision.objects.filter(pk=1).values_list("number", flat=True).first() or 0


def bump() -> None:
    """Say that something has changed; whoever writes in bulk, past Django's signals, calls this himself.

    The number is at least the time in microseconds: after a database was restored, or a change taken back, none comes
    again that something is remembered by.
    """
    now = time.time_ns() // 1000
    if not models.Revision.objects.filter(pk=1).update(number=Greatest(F("number") + 1, now)):
        models.Revision.objects.get_or_create(pk=1, defaults={"number": now})


def connect() -> None:
    """Bump after every single change."""
    for changed in (
        models.VisionModel,
        models.Benchmark,
        models.BenchmarkVersion,
        models.Score,
        models.LayerProfile,
        models.StimulusSample,
    ):
        for signal in (post_save, post_delete):
            signal.connect(_changed, sender=changed, dispatch_uid=f"revision-{changed.__name__}-{id(signal)}")

    post_save.connect(_person_changed, sender=User, dispatch_uid="revision-person")


def _changed(**_: Any) -> None:
    bump()


def _person_changed(instance: User, created: bool, update_fields: Collection[str] | None, **_: Any) -> None:
    """Names of owners are shown; a log-in changes nothing."""
    if created or (update_fields is not None and set(update_fields) <= {"last_login", "password"}):
        return
    if instance.models.exists() or instance.benchmarks.exists():
        bump()


@contextmanager
def exclusive_write() -> Iterator[None]:
    """Make a transaction in which nobody else ingests or brings the catalogue up to date."""
    Revision.objects.get_or_create(pk=1)
    with transaction.atomic():
        Revision.objects.select_for_update().get(pk=1)  # on SQLite the transaction itself is the lock
        yield


_EMPTY: dict[str, Any] = {
    "title": "", "architecture": "", "family": "", "parameters": None, "size_mb": None, "training_data": "",
    "regions": {}, "source": "", "bibtex": "", "plugin": "", "details": {}, "synced": {}, "runnable": False,
}  # fmt: skip


def erase_models(models: QuerySet[VisionModel]) -> None:
    """Delete scores, profiles and descriptions of private models; a private row with nothing but the name stays.

    Without the row, receipts that are read again would make the model anew, as a public one. Who calls this has a
    transaction, and bumps the revision.
    """
    for table in (Score, LayerProfile):
        table.objects.filter(model__in=models).delete()
    models.update(**_EMPTY)
