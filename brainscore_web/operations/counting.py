"""Requests counted by all processes of the server together.

Each process writes its counts into a file of its own in the folder ``PROMETHEUS_MULTIPROC_DIR``, which the server names
before it starts them; whoever is asked adds all files up. Without the folder nothing is counted: numbers of one process
among several would be wrong.
"""

from __future__ import annotations

import os
import threading
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from prometheus_client import Counter, Histogram

__all__ = ["FOLDER", "count", "counted", "process_ended"]

FOLDER = "PROMETHEUS_MULTIPROC_DIR"
"""The variable that names the folder; prometheus-client reads it as well."""

_SECONDS = (0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0)


class _Counters(NamedTuple):
    requests: Counter
    seconds: Histogram


_guard = threading.Lock()
_made: list[_Counters] = []


def _counters() -> _Counters:
    with _guard:  # two that are made at once would write over each other's counts
        if not _made:
            _made.append(_new_counters())
        return _made[0]


def _new_counters() -> _Counters:
    from prometheus_client import CollectorRegistry, Counter, Histogram, values

    # the library looks for the folder when it is imported, which may have been before the folder was named
    values.ValueClass = values.MultiProcessValue()
    registry = CollectorRegistry()
    told = "Requests that were answered.", "Seconds until the answer."
    return _Counters(
        Counter("brainscore_requests", told[0], ["view", "method", "status"], registry=registry),
        Histogram("brainscore_request_seconds", told[1], ["view", "method"], buckets=_SECONDS, registry=registry),
    )


def count(view: str, method: str, status: int, seconds: float) -> None:
    """Count a request, where all processes are counted together."""
    if not os.environ.get(FOLDER):
        return
    counters = _counters()
    counters.requests.labels(view, method, str(status)).inc()
    counters.seconds.labels(view, method).observe(seconds)


def counted() -> Any | None:
    """What all processes counted, for prometheus-client to write; None where nothing is counted."""
    folder = os.environ.get(FOLDER)
    if not folder or not Path(folder).is_dir():
        return None
    from prometheus_client import CollectorRegistry
    from prometheus_client.multiprocess import MultiProcessCollector

    registry = CollectorRegistry()
    MultiProcessCollector(registry, path=folder)
    return registry


def process_ended(number: int) -> None:
    """A process of the server is gone; its counts stay."""
    if os.environ.get(FOLDER):
        from prometheus_client.multiprocess import mark_process_dead

        mark_process_dead(number)
