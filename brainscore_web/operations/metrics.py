"""Prometheus metrics: requests counted by all server processes, and the state of the site.

Each process writes its counts into a file of its own in the folder ``PROMETHEUS_MULTIPROC_DIR``. Without the folder no
requests are counted, because the numbers of one process among several would be wrong.
"""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Iterator, Mapping
from importlib import metadata
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from django.db import Error
from django.db.models import Count, Max, Min, QuerySet, Sum
from django.utils import timezone

from brainscore_web.jobs.heartbeats import heartbeat_ages
from brainscore_web.operations.health import folders, free_bytes

if TYPE_CHECKING:
    from prometheus_client import Counter, Histogram

__all__ = ["METRICS_FOLDER_VARIABLE", "count_request", "metrics", "process_ended", "request_counts"]

METRICS_FOLDER_VARIABLE = "PROMETHEUS_MULTIPROC_DIR"
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


def count_request(view: str, method: str, status: int, seconds: float) -> None:
    """Count a request, where all processes are counted together."""
    if not os.environ.get(METRICS_FOLDER_VARIABLE):
        return
    counters = _counters()
    counters.requests.labels(view, method, str(status)).inc()
    counters.seconds.labels(view, method).observe(seconds)


def request_counts() -> Any | None:
    """What all processes counted, for prometheus-client to write; None where nothing is counted."""
    folder = os.environ.get(METRICS_FOLDER_VARIABLE)
    if not folder or not Path(folder).is_dir():
        return None
    from prometheus_client import CollectorRegistry
    from prometheus_client.multiprocess import MultiProcessCollector

    registry = CollectorRegistry()
    MultiProcessCollector(registry, path=folder)
    return registry


def process_ended(number: int) -> None:
    """A process of the server is gone; its counts stay."""
    if os.environ.get(METRICS_FOLDER_VARIABLE):
        from prometheus_client.multiprocess import mark_process_dead

        mark_process_dead(number)


def metrics() -> bytes:
    """Everything, in the text format of Prometheus. Where the database is down, what can be said without it."""
    from prometheus_client import CollectorRegistry, generate_latest

    requests = request_counts()
    registry = CollectorRegistry()
    registry.register(_StateCollector())
    return (b"" if requests is None else generate_latest(requests)) + generate_latest(registry)


class _StateCollector:
    def collect(self) -> Iterator[Any]:
        """For prometheus-client."""
        yield _gauge("brainscore_info", "Version of the site.", {(metadata.version("brainscore"),): 1}, "version")
        free = {(name,): float(free) for name, folder in folders().items() if (free := free_bytes(folder)) is not None}
        yield _gauge("brainscore_free_bytes", "Room where the site writes.", free, "folder")
        began = time.perf_counter()
        try:
            found = list(_database_metrics())
        except Error:
            yield _gauge("brainscore_database_up", "Whether the database answers.", {(): 0})
            return
        yield _gauge("brainscore_database_up", "Whether the database answers.", {(): 1})
        yield _gauge("brainscore_metrics_seconds", "Time to take these numbers.", {(): time.perf_counter() - began})
        yield from found


def _database_metrics() -> Iterator[Any]:
    from django_tasks_db.models import DBTaskResult

    from brainscore_web.leaderboard.models import Score
    from brainscore_web.scoring.models import Job
    from brainscore_web.submissions.models import Letter, Step, Submission
    from brainscore_web.uploads.models import Upload, UploadedFile

    yield _gauge(
        "brainscore_submissions", "Submissions, by state.", _counts(Submission.objects.all(), "state"), "state"
    )
    steps = _counts(Step.objects.all(), "kind", "state")
    yield _gauge("brainscore_steps", "Steps of submissions, by kind and state.", steps, "kind", "state")
    yield _gauge("brainscore_jobs", "Pairs to score, by state.", _counts(Job.objects.all(), "state"), "state")
    tasks = _counts(DBTaskResult.objects.all(), "queue_name", "status")
    yield _gauge("brainscore_tasks", "Tasks, by queue and state.", tasks, "queue", "state")
    unsent = Letter.objects.filter(sent=None)
    yield _gauge("brainscore_letters_unsent", "Mails that wait.", {(): unsent.count()})
    oldest = {
        ("jobs",): _age(Job.objects.filter(state=Job.State.WAITING, due__lte=timezone.now()), "due"),
        ("letters",): _age(unsent, "created"),
        ("steps",): _age(Step.objects.filter(state=Step.State.WAITING, due__lte=timezone.now()), "due"),
        ("tasks",): _age(DBTaskResult.objects.ready(), "enqueued_at"),
    }
    yield _gauge("brainscore_oldest_seconds", "How long the oldest that is due waits; 0: nothing waits.", oldest, "of")
    last = Score.objects.aggregate(last=Max("created"))["last"]
    if last is not None:
        age = (timezone.now() - last).total_seconds()
        yield _gauge("brainscore_last_receipt_age_seconds", "Since the newest receipt was written.", {(): age})
    yield _gauge("brainscore_uploads", "Uploads, by state.", _counts(Upload.objects.all(), "state"), "state")
    size = UploadedFile.objects.aggregate(total=Sum("size"))["total"] or 0
    yield _gauge("brainscore_uploads_bytes", "What uploaded files take up.", {(): size})
    silent = {(kind,): seconds for kind, seconds in heartbeat_ages().items()}
    yield _gauge("brainscore_beat_age_seconds", "Since a process of this kind was last alive.", silent, "kind")


def _counts(rows: QuerySet[Any], *by: str) -> dict[tuple[str, ...], float]:
    found = rows.order_by(*by).values_list(*by).annotate(count=Count("pk"))
    return {tuple(str(one) for one in keys): count for *keys, count in found}


def _age(rows: QuerySet[Any], field: str) -> float:
    first = rows.order_by().aggregate(first=Min(field))["first"]
    return max((timezone.now() - first).total_seconds(), 0.0) if first is not None else 0.0


def _gauge(name: str, help_: str, values: Mapping[Any, float], *labels: str) -> Any:
    from prometheus_client.core import GaugeMetricFamily

    made = GaugeMetricFamily(name, help_, labels=labels)
    for of, value in values.items():
        made.add_metric(list(of), value)
    return made
