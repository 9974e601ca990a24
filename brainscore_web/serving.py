"""Make a site ready on this machine and run it: what ``brainscore serve`` does."""

from __future__ import annotations

import ctypes
import logging
import os
import signal
import socket
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from brainscore_core.errors import UserError
from brainscore_web.environment import site_folder, unusable_folder

if TYPE_CHECKING:
    from brainscore_web.scoring.worker import Worker

__all__ = [
    "end_with_parent",
    "has_database",
    "listen",
    "make_worker",
    "prepare",
    "require_database",
    "serve",
    "set_up",
    "use_demonstration",
]

Say = Callable[[str], None]
_PR_SET_PDEATHSIG = 1  # PR_SET_PDEATHSIG of Linux
_log = logging.getLogger(__name__)


def use_demonstration() -> None:
    """Let the site live in a folder and database of its own, apart from real results. Before anything else."""
    os.environ["BRAINSCORE_SITE_HOME"] = str(site_folder().with_name("site-demonstration"))
    os.environ.pop("DATABASE_URL", None)


def has_database() -> bool:
    """Whether there is a site on this machine already."""
    return bool(os.environ.get("DATABASE_URL")) or (site_folder() / "site.sqlite3").exists()


def prepare(results: str | None, *, demonstration: bool = False, say: Say) -> int:
    """Bring the database up to date and read what is new.

    Parameters
    ----------
    results : str or None
        Where receipts are: a folder or ``s3://…``; None: nothing is read.
    demonstration : bool
        Fill an empty site with simulated scores.
    say : callable
        Told what happens, a line at a time.

    Returns
    -------
    int
        How many scores the site has.

    Raises
    ------
    UserError
        If the site's folder cannot be written, the database cannot be reached, or what the environment says is wrong.
    """
    set_up()
    with _exclusive(say):
        return _prepare(results, demonstration=demonstration, say=say)


def _prepare(results: str | None, *, demonstration: bool, say: Say) -> int:
    from django.core.management import call_command

    from brainscore_web.leaderboard.models import Score
    from brainscore_web.leaderboard.simulated import fill

    require_database()
    call_command("migrate", verbosity=0)
    _collect_static()
    if demonstration and not Score.objects.exists():
        fill(models=40, benchmarks=60, versions=2, private=0)
    if demonstration or results is None:
        return Score.objects.count()
    from brainscore_web.leaderboard.ingest import ingest_store, sync_catalogue

    sync_catalogue()
    report = ingest_store(results)
    say(f"Read {report.added} new receipts from {results}; {report.known} were known.")
    for problem in report.problems[:10]:
        say(f"Not read: {problem}")
    if len(report.problems) > 10:
        say(f"… and {len(report.problems) - 10} more")
    return Score.objects.count()


def listen(host: str, port: int) -> socket.socket:
    """Take the port.

    Raises
    ------
    UserError
        If it is taken, or the host is no address of this machine.
    """
    if host not in ("127.0.0.1", "localhost", "::1") and not os.environ.get("BRAINSCORE_SITE_HOSTS"):
        raise UserError(
            f"others could reach the site at {host}, and no name is set by which they may",
            remedy="set BRAINSCORE_SITE_HOSTS to the names of this machine, separated by commas",
        )
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    made = socket.socket(family, socket.SOCK_STREAM)
    made.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        made.bind((host, port))
    except OSError as error:
        made.close()
        raise UserError(
            f"cannot listen at {host}:{port}: {error.strerror}", remedy="choose another port with --port"
        ) from error
    made.listen(128)
    return made


def serve(taken: socket.socket, *, workers: int, worker: bool = False) -> None:
    """Answer requests until interrupted; does not return. With `worker` one runs beside, and ends with this process."""
    from django.db import connections
    from gunicorn.app.base import BaseApplication

    from brainscore_web.operations.server import (
        CONNECTIONS,
        ConnectionWorker,
        buffered_requests,
        exit_at_once_on_signals,
        server_settings,
        shared_request_counts,
    )

    class Server(BaseApplication):
        """gunicorn with this site."""

        def load_config(self) -> None:
            """Set what differs from gunicorn's own settings."""
            chosen: dict[str, Any] = {
                "bind": [f"fd://{taken.fileno()}"],
                "workers": workers,
                "worker_class": ConnectionWorker,
                "threads": CONNECTIONS,
                "worker_connections": CONNECTIONS + 100,  # some more that are idle between two requests
                "timeout": 120,
                "graceful_timeout": 5,  # seconds until Ctrl-C ends what does not end by itself
                "loglevel": "warning",
                "worker_tmp_dir": "/dev/shm" if Path("/dev/shm").is_dir() else None,  # noqa: S108 # heartbeats, as gunicorn advises
                "control_socket_disable": True,
                **server_settings(),
            }
            for name, value in chosen.items():
                if name in self.cfg.settings:
                    self.cfg.set(name, value)

        def load(self) -> Any:
            """Make the application."""
            with exit_at_once_on_signals():
                from brainscore_web.wsgi import application

                _warm_caches()
            return buffered_requests(application)

    connections.close_all()  # processes that answer must not share one
    sys.argv = ["brainscore serve"]  # gunicorn shows it as the name of its processes
    with shared_request_counts(), _worker_process() if worker else nullcontext():
        Server().run()


@contextmanager
def _worker_process() -> Iterator[None]:
    """Run a worker for as long as this lasts."""
    mine = os.getpid()
    command = [sys.executable, "-m", "brainscore", "worker", "--beside", str(mine)]
    # in a process group of its own: a terminal sends Ctrl-C to this process alone, which then ends the worker in order
    beside = subprocess.Popen(command, process_group=0)  # noqa: S603 # this distribution's own
    try:
        yield
    finally:
        if os.getpid() == mine:  # else it is a process that answered requests, and ends
            beside.terminate()
            try:
                beside.wait(timeout=20)
            except subprocess.TimeoutExpired:
                beside.kill()


def end_with_parent(parent: int) -> None:
    """Let this process, which `parent` has started, be told to end when that one does, however it ends."""
    if sys.platform == "linux":
        with suppress(OSError, AttributeError):
            ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGTERM)
    if os.getppid() != parent:
        raise SystemExit(0)


def make_worker(**how: Any) -> Worker:
    """Make the worker of this site.

    Parameters
    ----------
    **how
        As for `Worker`.

    Raises
    ------
    UserError
        If the database cannot be reached, or is of another version of the site.
    """
    set_up()
    require_database()
    from django.db import connection
    from django.db.migrations.executor import MigrationExecutor

    from brainscore_web.scoring.worker import Worker

    executor = MigrationExecutor(connection)
    if executor.migration_plan(executor.loader.graph.leaf_nodes()):
        raise UserError(
            "the site's database is not up to date",
            remedy="start the site once with `brainscore serve`, or run `python -m brainscore_web migrate`",
        )
    return Worker(**how)


def _warm_caches() -> None:
    """Read what everybody may see, so that the first reader does not wait for it; without a database, answer anyway."""
    from django.contrib.auth.models import AnonymousUser
    from django.db import Error, connections

    from brainscore_web.leaderboard.board import board_for
    from brainscore_web.leaderboard.snapshot import snapshot_for
    from brainscore_web.leaderboard.state import BoardState

    try:
        board_for(snapshot_for(AnonymousUser()), BoardState())
    except Error as error:  # a process that does not start would end the whole server
        _log.warning("The leaderboard could not be read beforehand: %s", type(error).__name__)
    finally:
        connections.close_all()  # this thread answers no requests


def set_up() -> None:
    """Let Django know the site's settings, and make its folder."""
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "brainscore_web.settings")
    import django

    try:
        site_folder().mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise unusable_folder(error) from error
    django.setup()


@contextmanager
def _exclusive(say: Say) -> Iterator[None]:
    """Wait until nobody else makes this site ready; the lock ends with the process, however that ends."""
    import fcntl

    try:
        lock = (site_folder() / ".preparing").open("a", encoding="ascii")
    except OSError as error:
        raise unusable_folder(error) from error
    with lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            say("Waiting: another process makes this site ready.")
            fcntl.flock(lock, fcntl.LOCK_EX)
        yield


_CONNECTION_ERRORS = (
    *("Connection refused", "authentication failed", "no password supplied", "does not exist", "timeout expired"),
    *("Name or service not known", "invalid connection option", "unable to open database file", "is not a database"),
    *("database is locked", "readonly database"),
)


def require_database() -> None:
    """Reach the database.

    Raises
    ------
    UserError
        If it cannot be reached. What the driver says may hold what ``DATABASE_URL`` does, and is not shown.
    """
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
            f"the database that DATABASE_URL names cannot be reached{why}",
            remedy="start it, or correct DATABASE_URL",
        ) from None


def _collect_static() -> None:
    """Pack the files that browsers ask for, if any has changed since the last time."""
    from django.conf import settings
    from django.contrib.staticfiles.finders import get_finders
    from django.core.management import call_command

    state = hash_of_files(
        Path(storage.path(name)) for finder in get_finders() for name, storage in finder.list(["CVS", ".*", "*~"])
    )
    marker = Path(settings.STATIC_ROOT) / ".collected"
    if marker.exists() and marker.read_text(encoding="ascii") == state:
        return
    try:
        marker.unlink(missing_ok=True)
        # nothing is cleared: a server that runs may still send files of before
        call_command("collectstatic", interactive=False, verbosity=0)
        marker.write_text(state, encoding="ascii")
    except OSError as error:
        raise unusable_folder(error) from error


def hash_of_files(paths: Any) -> str:
    """One text for names, sizes and times of files."""
    from hashlib import sha256

    known = sorted((str(path), path.stat().st_size, path.stat().st_mtime_ns) for path in paths)
    return sha256(repr(known).encode()).hexdigest()
