"""One writer at a time."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from django.db import transaction

from brainscore_web.leaderboard.models import Revision

__all__ = ["writing_alone"]


@contextmanager
def writing_alone() -> Iterator[None]:
    """Make a transaction in which nobody else ingests or brings the catalogue up to date."""
    Revision.objects.get_or_create(pk=1)
    with transaction.atomic():
        Revision.objects.select_for_update().get(pk=1)  # on SQLite the transaction itself is the lock
        yield
