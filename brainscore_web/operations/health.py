"""Whether the site can do its work."""

from __future__ import annotations

import shutil
import tempfile
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from django.conf import settings
from django.db import Error, connection

from brainscore_core.errors import UserError
from brainscore_web.jobs.heartbeats import MISSED_AFTER, heartbeat_ages
from brainscore_web.uploads.storage import storage

__all__ = ["Check", "checks", "clear_checks", "folders", "free_bytes", "is_ready"]

_FRESH = 5.0  # seconds for which an answer is given again: anybody may ask


@dataclass(frozen=True)
class Check:
    """One thing that was looked at.

    Attributes
    ----------
    name : str
        What.
    fine : bool
        Whether it is as it should be.
    needed : bool
        Whether the site cannot work without it; otherwise it is a warning.
    told : str
        What is wrong, for those who run the site.
    """

    name: str
    fine: bool
    needed: bool = True
    told: str = ""


def checks() -> tuple[Check, ...]:
    """Look at everything; what was looked at a few seconds ago is not looked at again."""
    with _guard:
        now = time.monotonic()
        if _stored_checks is None or now - _stored_checks[0] > _FRESH:
            _store_checks((now, _run_checks()))
        assert _stored_checks is not None  # it was made in the line above, if it was not there
        return _stored_checks[1]


def is_ready(found: tuple[Check, ...]) -> bool:
    """Whether the site can answer requests."""
    return all(one.fine for one in found if one.needed)


def clear_checks() -> None:
    """Look anew the next time."""
    _store_checks(None)


_guard = threading.Lock()
_stored_checks: tuple[float, tuple[Check, ...]] | None = None
_migrated = False


def _store_checks(found: tuple[float, tuple[Check, ...]] | None) -> None:
    global _stored_checks  # one a process
    _stored_checks = found


def _run_checks() -> tuple[Check, ...]:
    database = _run_check("database", _database)
    return (
        database,
        _run_check("migrations", _migrations) if database.fine else Check("migrations", False, told="not known"),
        _run_check("site folder", lambda: _writable(Path(settings.SITE_HOME))),
        _run_check("storage", _storage),
        _run_check("disk", _disk),
        _run_check("worker", _worker, needed=False) if database.fine else Check("worker", False, False, "not known"),
    )


def _run_check(name: str, look: Callable[[], str], *, needed: bool = True) -> Check:
    try:
        told = look()
    except (Error, OSError, UserError) as error:
        told = f"{type(error).__name__}: {error}"
    return Check(name, not told, needed, told)


def _database() -> str:
    with connection.cursor() as cursor:
        cursor.execute("SELECT 1")
        cursor.fetchone()
    return ""


def _migrations() -> str:
    global _migrated  # once all are applied, they are for as long as this code runs
    if _migrated:
        return ""
    from django.db.migrations.executor import MigrationExecutor

    executor = MigrationExecutor(connection)
    missing = [migration for migration, _ in executor.migration_plan(executor.loader.graph.leaf_nodes())]
    if missing:
        return f"{len(missing)} are not applied, the first is {missing[0]}: python -m brainscore_web migrate"
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
    storage().size("health")  # asks for what is not there; a storage that does not answer raises
    return ""


def folders() -> dict[str, Path]:
    """Folders of this machine that the site writes into, by what is in them."""
    named = {
        "site": str(settings.SITE_HOME),
        "uploads": str(settings.UPLOADS["address"]),
        "plugins": str(settings.SUBMISSIONS["folder"]),
        "results": str(settings.SUBMISSIONS["results"]),
    }
    return {name: Path(where).expanduser() for name, where in named.items() if "://" not in where}


def free_bytes(folder: Path) -> int | None:
    """Room where a folder lies, or will; None where that is nowhere."""
    there = next((one for one in (folder, *folder.parents) if one.exists()), None)
    return None if there is None else shutil.disk_usage(there).free


def _disk() -> str:
    least = int(settings.OPERATIONS["free"])
    for name, folder in folders().items():
        free = free_bytes(folder) or 0
        if free < least:
            return f"{free / 1e6:,.0f} MB are free where {name} lie, and at least {least / 1e6:,.0f} should be"
    return ""


def _worker() -> str:
    silent = heartbeat_ages().get("worker")
    if silent is None:
        return "no worker was ever seen: brainscore worker"
    if silent > MISSED_AFTER.total_seconds():
        return f"no worker was seen for {silent:,.0f} s: brainscore worker"
    return ""
