"""Health checks of the site, and checks of ``check --deploy``: e-mail, links of the footer, packages of workers."""

from __future__ import annotations

import shutil
import tempfile
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.checks import Error as CheckError
from django.core.checks import Tags, register
from django.core.checks import Warning as CheckWarning
from django.db import Error, connection

from brainscore_core.errors import UserError
from brainscore_core.formatting import size_text
from brainscore_web.environment import worker_problem
from brainscore_web.jobs.workers import MISSED_AFTER, heartbeat_ages
from brainscore_web.uploads.storage import storage

_FRESH = 5.0  # seconds for which results are reused, since anyone may request them


@dataclass(frozen=True)
class Check:
    """The result of a health check."""

    name: str  # name of the check
    fine: bool  # whether it passed
    needed: bool = True  # whether the site cannot work without it; otherwise it is a warning
    problem: str = ""  # the problem, for administrators


def checks() -> tuple[Check, ...]:
    """Run all checks; results are reused for a few seconds."""
    with _guard:
        now = time.monotonic()
        if _stored_checks is None or now - _stored_checks[0] > _FRESH:
            _store_checks((now, _run_checks()))
        assert _stored_checks is not None  # set in the line above if it was None
        return _stored_checks[1]


def is_ready(results: tuple[Check, ...]) -> bool:
    """Whether the site can answer requests."""
    return all(check.fine for check in results if check.needed)


def clear_checks() -> None:
    """Discard stored results."""
    _store_checks(None)


_guard = threading.Lock()
_stored_checks: tuple[float, tuple[Check, ...]] | None = None
_migrated = False


def _store_checks(found: tuple[float, tuple[Check, ...]] | None) -> None:
    global _stored_checks  # one per process
    _stored_checks = found


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
