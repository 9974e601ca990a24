"""Heartbeats of worker processes, so that the health check notices when none is running."""

from __future__ import annotations

from datetime import timedelta

from django.db.models import Max
from django.utils import timezone

from brainscore_web.jobs.leases import process_name
from brainscore_web.jobs.models import Heartbeat

MISSED_AFTER = timedelta(minutes=2)
"""A process without a heartbeat for this time counts as missing."""


def record_heartbeat(kind: str = "worker", name: str = "") -> None:
    """Record that this process is alive; to be called about every ten seconds."""
    name, now = name or process_name(), timezone.now()
    if not Heartbeat.objects.filter(kind=kind, name=name).update(seen=now):
        Heartbeat.objects.update_or_create(kind=kind, name=name, defaults={"seen": now})


def heartbeat_ages() -> dict[str, float]:
    """Return the seconds since the last heartbeat of each kind of process."""
    now = timezone.now()
    rows = Heartbeat.objects.order_by("kind").values("kind").annotate(last=Max("seen"))
    return {row["kind"]: max((now - row["last"]).total_seconds(), 0.0) for row in rows}
