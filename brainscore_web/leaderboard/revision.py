"""The revision of the leaderboard: a number that grows with every visible change and is part of cache keys."""

from __future__ import annotations

import time
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from typing import Any

from django.db import transaction
from django.db.models import F
from django.db.models.functions import Greatest
from django.db.models.signals import post_delete, post_save

from brainscore_web.accounts.models import User
from brainscore_web.leaderboard import models


def current() -> int:
    """Return the current revision."""
    return models.Revision.objects.filter(pk=1).values_list("number", flat=True).first() or 0


def bump() -> None:
    """Record that something has changed. Code that writes in bulk, which sends no signals, must call this itself.

    The number is at least the time in microseconds, so that no number is used twice, even after a database was restored
    or a transaction rolled back.
    """
    now = time.time_ns() // 1000
    if not models.Revision.objects.filter(pk=1).update(number=Greatest(F("number") + 1, now)):
        models.Revision.objects.get_or_create(pk=1, defaults={"number": now})


def connect() -> None:
    """Increment the revision after every change of a single row."""
    for changed in (
        models.VisionModel,
        models.Benchmark,
        models.BenchmarkVersion,
        models.Score,
        models.LayerProfile,
        models.StimulusSample,
        models.StoredAssessment,
    ):
        for signal in (post_save, post_delete):
            signal.connect(_changed, sender=changed, dispatch_uid=f"revision-{changed.__name__}-{id(signal)}")

    post_save.connect(_person_changed, sender=User, dispatch_uid="revision-person")


def _changed(**_: Any) -> None:
    bump()


def _person_changed(instance: User, created: bool, update_fields: Collection[str] | None, **_: Any) -> None:
    """Increment the revision if an owner changes, since cards show their names; a login does not count."""
    if created or (update_fields is not None and set(update_fields) <= {"last_login", "password"}):
        return
    if instance.models.exists() or instance.benchmarks.exists():
        bump()


@contextmanager
def exclusive_write() -> Iterator[None]:
    """Open a transaction that excludes other ingestions and synchronisations."""
    models.Revision.objects.get_or_create(pk=1)
    with transaction.atomic():
        models.Revision.objects.select_for_update().get(pk=1)  # on SQLite the transaction itself is the lock
        yield
