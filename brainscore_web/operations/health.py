"""Health checks and metrics of the site for monitoring, and checks of ``check --deploy``.

Requests are counted by all server processes, each in its own file in the folder ``PROMETHEUS_MULTIPROC_DIR``. Without
the folder no requests are counted, because the counts of a single process would be wrong.
"""

from __future__ import annotations

import os
import shutil
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from importlib import metadata
from ipaddress import ip_address
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from django.conf import settings
from django.core.cache import caches
from django.core.checks import Error as CheckError
from django.core.checks import Tags, register
from django.core.checks import Warning as CheckWarning
from django.db import Error, connection
from django.db.models import Count, Max, Min, QuerySet, Sum
from django.http import Http404, HttpRequest, HttpResponse, JsonResponse
from django.utils import timezone
from django.utils.crypto import constant_time_compare
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

from brainscore_core.errors import UserError
from brainscore_core.formatting import size_text
from brainscore_web.environment import worker_problem
from brainscore_web.jobs.models import Email
from brainscore_web.jobs.workers import MISSED_AFTER, heartbeat_ages
from brainscore_web.leaderboard.models import Score
from brainscore_web.scoring.models import Job
from brainscore_web.submissions.models import Step, Submission
from brainscore_web.uploads.models import Upload, UploadedFile
from brainscore_web.uploads.storage import storage

if TYPE_CHECKING:
    from prometheus_client import Counter, Histogram


_FRESH = 5  # seconds for which results are reused, since anyone may request them
_CHECKS_KEY = "health-checks"


@dataclass(frozen=True)
class Check:
    """The result of a health check."""

    name: str  # name of the check
    fine: bool  # whether it passed
    needed: bool = True  # whether the site cannot work without it; otherwise it is a warning
    problem: str = ""  # the problem, for administrators


def checks() -> tuple[Check, ...]:
    """Run all checks; results are reused for a few seconds."""
    results: tuple[Check, ...] = caches["rates"].get_or_set(_CHECKS_KEY, _run_checks, _FRESH)
    return results


def is_ready(results: tuple[Check, ...]) -> bool:
    """Whether the site can answer requests."""
    return all(check.fine for check in results if check.needed)


def clear_checks() -> None:
    """Discard stored results."""
    caches["rates"].delete(_CHECKS_KEY)


_migrated = False


def _run_checks() -> tuple[Check, ...]:
    database = _run_check("database", _database)
    expected = bool(settings.OPERATIONS["worker"])
    return (
        database,
        _run_check("migrations", _migrations) if database.fine else Check("migrations", False, problem="not known"),
        _run_check("site folder", lambda: _writable(Path(settings.SITE_HOME))),
        _run_check("storage", _storage),
        _run_check("disk", _disk),
        _run_check("worker", _worker, needed=expected) if database.fine else Check("worker", False, False, "not known"),
        _run_check("packages of the worker", lambda: str(worker_problem() or ""), needed=False),
    )


def _run_check(name: str, find_problem: Callable[[], str], *, needed: bool = True) -> Check:
    try:
        problem = find_problem()
    except (Error, OSError, UserError) as error:
        problem = f"{type(error).__name__}: {error}"
    return Check(name, not problem, needed, problem)


def _database() -> str:
    with connection.cursor() as cursor:
        cursor.execute("SELECT 1")
        cursor.fetchone()
    return ""


def _migrations() -> str:
    global _migrated  # once all are applied, they stay applied while this process runs
    if _migrated:
        return ""
    from django.db.migrations.executor import MigrationExecutor

    executor = MigrationExecutor(connection)
    missing = [migration for migration, _ in executor.migration_plan(executor.loader.graph.leaf_nodes())]
    if missing:
        return f"{len(missing)} migrations are not applied, the first is {missing[0]}: python -m brainscore_web migrate"
    _migrated = True
    return ""


def _writable(folder: Path) -> str:
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryFile(dir=folder, prefix=".health-") as file:
        file.write(b"x")
    return ""


def _storage() -> str:
    where = str(settings.UPLOADS["address"])
    if "://" not in where:
        return _writable(Path(where).expanduser())
    storage().size("health")  # the size of a missing file; raises if the storage does not respond
    return ""


def folders() -> dict[str, Path]:
    """The folders of this machine that the site writes to, by their content."""
    named = {
        "site": str(settings.SITE_HOME),
        "uploads": str(settings.UPLOADS["address"]),
        "plugins": str(settings.SUBMISSIONS["folder"]),
        "results": str(settings.SUBMISSIONS["results"]),
    }
    return {name: Path(where).expanduser() for name, where in named.items() if "://" not in where}


def free_bytes(folder: Path) -> int | None:
    """Free space at a folder, which may not exist yet; None if none of its parents exists."""
    existing = next((path for path in (folder, *folder.parents) if path.exists()), None)
    return None if existing is None else shutil.disk_usage(existing).free


def _disk() -> str:
    required = int(settings.OPERATIONS["free"])
    for name, folder in folders().items():
        free = free_bytes(folder) or 0
        if free < required:
            return f"{size_text(free)} are free in the folder of {name}; at least {size_text(required)} are required"
    return ""


def _worker() -> str:
    age = heartbeat_ages().get("worker")
    if age is None:
        return "no worker has ever run; start one with brainscore worker"
    if age > MISSED_AFTER.total_seconds():
        return f"no worker has responded for {age:,.0f} s; start one with brainscore worker"
    return ""


_LINKS = (
    ("brainscore_web.E001", "CONTACT", "how to contact the operators", "an e-mail address, or the address of a page"),
    ("brainscore_web.E002", "REPOSITORY", "where the source code is", "the address of its repository"),
    (
        "brainscore_web.E003",
        "ISSUES",
        "where to report problems",
        "the address of a page, such as the repository's issues",
    ),
)


@register(Tags.security, deploy=True)
def footer_complete(**_: Any) -> list[CheckError]:
    """Refuse a site whose visitors do not learn whom to ask."""
    return [
        CheckError(
            f"The site does not say {missing}.",
            hint=f"Set BRAINSCORE_SITE_{name} to {value}.",
            id=identifier,
        )
        for identifier, name, missing, value in _LINKS
        if not getattr(settings, name)
    ]


@register(deploy=True)
def worker_packages(**_: Any) -> list[CheckWarning]:
    """Name the packages without which this environment cannot run a worker."""
    missing = worker_problem()
    return [] if missing is None else [CheckWarning(missing.message, hint=missing.remedy, id="brainscore_web.W001")]


@register(Tags.security, deploy=True)
def email_configured(**_: Any) -> list[CheckWarning]:
    """Warn if no mail server is configured: users could not confirm their addresses."""
    if settings.EMAIL_BACKEND != "django.core.mail.backends.console.EmailBackend":
        return []
    hint = "Set BRAINSCORE_SITE_MAIL to smtp://user:password@host:587?tls=1."
    return [CheckWarning("E-mail is printed, not sent.", hint=hint, id="brainscore_web.W001")]


_PROXY_HEADERS = (
    "HTTP_FORWARDED",
    "HTTP_VIA",
    "HTTP_X_FORWARDED_FOR",
    "HTTP_X_FORWARDED_HOST",
    "HTTP_X_FORWARDED_PROTO",
    "HTTP_X_REAL_IP",
)


def is_local_request(request: HttpRequest) -> bool:
    """Whether a request comes from a program on this machine, and not through a proxy.

    A proxy on this machine may set no header, so on a public site no request counts as local.
    """
    if settings.PUBLIC or settings.BEHIND_PROXY or any(name in request.META for name in _PROXY_HEADERS):
        return False
    try:
        return ip_address(request.META.get("REMOTE_ADDR", "")).is_loopback
    except ValueError:  # a socket of this machine, which a proxy may use as well
        return False


def has_metrics_token(request: HttpRequest) -> bool:
    """Whether the request has the token of ``BRAINSCORE_SITE_METRICS_TOKEN``."""
    token = str(settings.OPERATIONS["metrics_token"])
    kind, _, sent = request.headers.get("Authorization", "").partition(" ")
    return bool(token) and kind.lower() == "bearer" and constant_time_compare(sent.strip(), token)


@never_cache
@require_safe
def live(request: HttpRequest) -> HttpResponse:
    """Report that this process responds, without further checks."""
    return JsonResponse({"state": "live"})


@never_cache
@require_safe
def ready(request: HttpRequest) -> HttpResponse:
    """Report whether the site can answer requests; details only for this machine and administrators."""
    results = checks()
    fine = is_ready(results)
    document: dict[str, object] = {"state": "ready" if fine else "not ready"}
    if (
        is_local_request(request)
        or has_metrics_token(request)
        or (_database_responds(results) and _is_administrator(request))
    ):
        document["checks"] = [
            {
                "name": check.name,
                "state": "fine" if check.fine else "failed" if check.needed else "warning",
                "told": check.problem,
            }
            for check in results
        ]
    return JsonResponse(document, status=200 if fine else 503)


@never_cache
@require_safe
def numbers(request: HttpRequest) -> HttpResponse:
    """Return metrics for Prometheus, to this machine and with the token; others get 404."""
    if not (is_local_request(request) or has_metrics_token(request)):
        raise Http404("this page does not exist")
    return HttpResponse(metrics(), content_type="text/plain; version=0.0.4; charset=utf-8")


def _database_responds(results: tuple[Check, ...]) -> bool:
    return all(check.fine for check in results if check.name in ("database", "migrations"))


def _is_administrator(request: HttpRequest) -> bool:
    return bool(request.user.is_active and request.user.is_staff and request.user.is_superuser)


METRICS_FOLDER_VARIABLE = "PROMETHEUS_MULTIPROC_DIR"
"""The environment variable of the folder; prometheus-client reads it as well."""

_SECONDS = (0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0)


class _Counters(NamedTuple):
    requests: Counter
    seconds: Histogram


_counters_lock = threading.Lock()
_made: list[_Counters] = []


def _counters() -> _Counters:
    with _counters_lock:  # two sets created at the same time would overwrite each other's counts
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
