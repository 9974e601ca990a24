"""Signs of life of processes that work beside the site."""

from __future__ import annotations

import os
import socket
from datetime import timedelta

from django.db.models import Max
from django.utils import timezone

from brainscore_web.operations.models import Beat

__all__ = ["LATELY", "beat", "last_beats", "this_process"]

LATELY = timedelta(minutes=2)
"""Who was silent for longer is missed."""


def this_process() -> str:
    """A name for the process: machine and number."""
    return f"{socket.gethostname()}:{os.getpid()}"[:200]


def beat(kind: str = "worker", name: str = "") -> None:
    """Say that this process is alive; to be called every ten seconds or so.

    Parameters
    ----------
    kind : str
        What it does: ``'worker'``.
    name : str
        Of the process; empty: :func:`this_process`.
    """
    name, now = name or this_process(), timezone.now()
    if not Beat.objects.filter(kind=kind, name=name).update(seen=now):
        Beat.objects.update_or_create(kind=kind, name=name, defaults={"seen": now})


def last_beats() -> dict[str, float]:
    """Seconds since a process of each kind was last alive."""
    now = timezone.now()
    rows = Beat.objects.order_by("kind").values("kind").annotate(last=Max("seen"))
    return {row["kind"]: max((now - row["last"]).total_seconds(), 0.0) for row in rows}
