"""Prometheus metrics: requests counted by all server processes, and the state of the site.

Each process writes its counts into its own file in the folder ``PROMETHEUS_MULTIPROC_DIR``. Without the folder no
requests are counted, because the counts of a single process would be wrong.
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

from brainscore_web.jobs.models import Email
from brainscore_web.jobs.workers import heartbeat_ages
from brainscore_web.leaderboard.models import Score
from brainscore_web.operations.health import folders, free_bytes
from brainscore_web.scoring.models import Job
from brainscore_web.submissions.models import Step, Submission
from brainscore_web.uploads.models import Upload, UploadedFile

if TYPE_CHECKING:
    from prometheus_client import Counter, Histogram

METRICS_FOLDER_VARIABLE = "PROMETHEUS_MULTIPROC_DIR"
"""The environment variable of the folder; prometheus-client reads it as well."""

_SECONDS = (0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0)


class _Counters(NamedTuple):
    requests: Counter
    seconds: Histogram


_guard = threading.Lock()
_made: list[_Counters] = []


def _counters() -> _Counters:
    with _guard:  # two sets created at the same time would overwrite each other's counts
        if not _made:
            _made.append(_new_counters())
        return _made[0]


def _new_counters() -> _Counters:
    from prometheus_client import CollectorRegistry, Counter, Histogram, values

    # the library reads the variable on import, which may have been before it was set
    values.ValueClass = values.MultiProcessValue()
    registry = CollectorRegistry()
    requests_help, seconds_help = "Answered requests.", "Seconds until the response."
    return _Counters(
        Counter("brainscore_requests", requests_help, ["view", "method", "status"], registry=registry),
        Histogram("brainscore_request_seconds", seconds_help, ["view", "method"], buckets=_SECONDS, registry=registry),
    )


def count_request(view: str, method: str, status: int, seconds: float) -> None:
    """Count a request, if counts are shared by all processes."""
    if not os.environ.get(METRICS_FOLDER_VARIABLE):
        return
    counters = _counters()
    counters.requests.labels(view, method, str(status)).inc()
    counters.seconds.labels(view, method).observe(seconds)


def request_counts() -> Any | None:
    """Return the counts of all processes for prometheus-client; None if requests are not counted."""
    folder = os.environ.get(METRICS_FOLDER_VARIABLE)
    if not folder or not Path(folder).is_dir():
        return None
    from prometheus_client import CollectorRegistry
    from prometheus_client.multiprocess import MultiProcessCollector

    registry = CollectorRegistry()
    MultiProcessCollector(registry, path=folder)
    return registry


def process_ended(number: int) -> None:
    """Mark a process of the server as ended; its counts stay."""
    if os.environ.get(METRICS_FOLDER_VARIABLE):
        from prometheus_client.multiprocess import mark_process_dead

        mark_process_dead(number)


def metrics() -> bytes:
    """Return all metrics in the text format of Prometheus; if the database is down, those that do not need it."""
    from prometheus_client import CollectorRegistry, generate_latest

    requests = request_counts()
    registry = CollectorRegistry()
    registry.register(_StateCollector())
    return (b"" if requests is None else generate_latest(requests)) + generate_latest(registry)


class _StateCollector:
    def collect(self) -> Iterator[Any]:
        """Yield the metrics; prometheus-client calls this."""
        yield _gauge("brainscore_info", "Version of the site.", {(metadata.version("brainscore"),): 1}, "version")
        free = {(name,): float(free) for name, folder in folders().items() if (free := free_bytes(folder)) is not None}
        yield _gauge("brainscore_free_bytes", "Free space in folders of the site.", free, "folder")
        started = time.perf_counter()
        try:
            from_database = list(_database_metrics())
        except Error:
            yield _gauge("brainscore_database_up", "Whether the database responds.", {(): 0})
            return
        yield _gauge("brainscore_database_up", "Whether the database responds.", {(): 1})
        yield _gauge(
            "brainscore_metrics_seconds", "Time to collect these metrics.", {(): time.perf_counter() - started}
        )
        yield from from_database


def _database_metrics() -> Iterator[Any]:
    from django_tasks_db.models import DBTaskResult

    yield _gauge(
        "brainscore_submissions", "Submissions, by state.", _counts(Submission.objects.all(), "state"), "state"
    )
    steps = _counts(Step.objects.all(), "kind", "state")
    yield _gauge("brainscore_steps", "Steps of submissions, by kind and state.", steps, "kind", "state")
    yield _gauge("brainscore_jobs", "Pairs to score, by state.", _counts(Job.objects.all(), "state"), "state")
    tasks = _counts(DBTaskResult.objects.all(), "queue_name", "status")
    yield _gauge("brainscore_tasks", "Tasks, by queue and state.", tasks, "queue", "state")
    unsent = Email.objects.filter(sent=None)
    yield _gauge("brainscore_letters_unsent", "E-mails that are not sent yet.", {(): unsent.count()})
    oldest = {
        ("jobs",): _age(Job.objects.filter(state=Job.State.WAITING, due__lte=timezone.now()), "due"),
        ("letters",): _age(unsent, "created"),
        ("steps",): _age(Step.objects.filter(state=Step.State.WAITING, due__lte=timezone.now()), "due"),
        ("tasks",): _age(DBTaskResult.objects.ready(), "enqueued_at"),
    }
    yield _gauge("brainscore_oldest_seconds", "Waiting time of the oldest due item; 0 if none waits.", oldest, "of")
    last = Score.objects.aggregate(last=Max("created"))["last"]
    if last is not None:
        age = (timezone.now() - last).total_seconds()
        yield _gauge("brainscore_last_receipt_age_seconds", "Time since the newest receipt was written.", {(): age})
    yield _gauge("brainscore_uploads", "Uploads, by state.", _counts(Upload.objects.all(), "state"), "state")
    size = UploadedFile.objects.aggregate(total=Sum("size"))["total"] or 0
    yield _gauge("brainscore_uploads_bytes", "Total size of uploaded files.", {(): size})
    ages = {(kind,): seconds for kind, seconds in heartbeat_ages().items()}
    yield _gauge(
        "brainscore_beat_age_seconds", "Time since the last heartbeat of a process of this kind.", ages, "kind"
    )


def _counts(rows: QuerySet[Any], *by: str) -> dict[tuple[str, ...], float]:
    groups = rows.order_by(*by).values_list(*by).annotate(count=Count("pk"))
    return {tuple(str(key) for key in keys): count for *keys, count in groups}


def _age(rows: QuerySet[Any], field: str) -> float:
    first = rows.order_by().aggregate(first=Min(field))["first"]
    return max((timezone.now() - first).total_seconds(), 0.0) if first is not None else 0.0


def _gauge(name: str, help_: str, values: Mapping[Any, float], *labels: str) -> Any:
    from prometheus_client.core import GaugeMetricFamily

    gauge = GaugeMetricFamily(name, help_, labels=labels)
    for label_values, value in values.items():
        gauge.add_metric(list(label_values), value)
    return gauge
