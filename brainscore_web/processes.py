"""What each process of the site does first, such as setting up Django and locking its folder.

``python -m brainscore_web.processes PARENT QUEUE`` runs the django-tasks worker of a queue.
"""

from __future__ import annotations

import ctypes
import os
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from brainscore_core.errors import UserError
from brainscore_core.isolation.children import hide_environment
from brainscore_core.paths import site_home
from brainscore_web.environment import unusable_folder

_PR_SET_PDEATHSIG = 1  # option of prctl on Linux


def set_up() -> None:
    """Set up Django with the site's settings, create the site's folder, and hide the environment of this process."""
    hide_environment()
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "brainscore_web.settings")
    import django

    try:
        site_home().mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise unusable_folder(error) from error
    django.setup()


_CONNECTION_ERRORS = (
    *("Connection refused", "authentication failed", "no password supplied", "does not exist", "timeout expired"),
    *("Name or service not known", "invalid connection option", "unable to open database file", "is not a database"),
    *("database is locked", "readonly database"),
)


def require_database() -> None:
    """Check that the database can be reached."""
    from django.db import Error, connection

    try:
        connection.ensure_connection()
    except Error as error:
        why = next((f" ({reason})" for reason in _CONNECTION_ERRORS if reason in str(error)), "")
        if not os.environ.get("DATABASE_URL"):
            raise UserError(
                f"the database in the site's folder cannot be opened{why}",
                remedy="set BRAINSCORE_SITE_HOME to another folder, or DATABASE_URL to another database",
            ) from None
        raise UserError(
            f"the database in DATABASE_URL cannot be reached{why}",
            remedy="start it, or correct DATABASE_URL",
        ) from None


def require_migrations() -> None:
    """Check that the database is up to date."""
    from django.db import connection
    from django.db.migrations.executor import MigrationExecutor

    executor = MigrationExecutor(connection)
    if executor.migration_plan(executor.loader.graph.leaf_nodes()):
        raise UserError(
            "the site's database is not up to date",
            remedy="start the site once with `brainscore serve`, or run `python -m brainscore_web migrate`",
        )


@contextmanager
def serving_lock(folder: Path, *, exclusive: bool = False) -> Iterator[bool]:
    """Mark a site's folder as used by a server in this context; it ends with the process."""
    import fcntl

    with (folder / ".serving").open("a", encoding="ascii") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB if exclusive else fcntl.LOCK_SH)
        except BlockingIOError:
            yield False
        else:
            yield True


def end_with_parent(parent: int) -> None:
    """Let this process get SIGTERM when its parent process ends, for whatever reason."""
    if sys.platform == "linux":
        with suppress(OSError, AttributeError):
            ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGTERM)
    if os.getppid() != parent:
        raise SystemExit(0)


def run_tasks(parent: int, queue: str) -> None:
    """Run the database worker of django-tasks until it is stopped."""
    end_with_parent(parent)
    set_up()
    from django.core.management import call_command

    try:
        call_command("db_worker", queue_name=queue, verbosity=0, startup_delay=False, reload=False, interval=0.5)
    finally:
        signal.signal(signal.SIGTERM, signal.SIG_IGN)  # Linux sends one for each thread of a parent that is killed


if __name__ == "__main__":
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C also reaches the worker, which then ends this process
    run_tasks(int(sys.argv[1]), sys.argv[2])
