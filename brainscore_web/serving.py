"""Prepare and run a site on this machine, for ``brainscore serve`` and ``brainscore worker``."""

from __future__ import annotations

import logging
import os
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from brainscore_core.errors import UserError
from brainscore_core.paths import mirrors, site_home
from brainscore_web.environment import unusable_folder, worker_problem
from brainscore_web.processes import require_database, require_migrations, serving_lock, set_up

if TYPE_CHECKING:
    from brainscore_web.scoring.worker import Worker

Say = Callable[[str], None]
Demonstration = Literal["simulated", "example"]
_POLL = 0.2  # seconds between looks at the worker
_SHORTEST_PAUSE, _LONGEST_PAUSE = 1.0, 60.0  # seconds until a worker that has ended is started again
_log = logging.getLogger(__name__)


_MARKER = ".demonstration"
_EXAMPLE_MODELS = ("pixels", "gabor")
_READERS = ("word-length", "random-words", "smollm2-135m-recorded", "gpt3-davinci-recorded2020")
_READING = ("NaturalStories2021-added", "NaturalStories2021-pearsonr")  # whose data a mirror has
_EXAMPLE_BENCHMARKS = ("Simulated2026.V1-pls", "Simulated2026.V1-rdm", "Simulated2026.IT-pls", "Simulated2026.IT-rdm")


def use_demonstration(kind: Demonstration) -> None:
    """Use a separate folder and database for a demonstration. Must be called before anything else."""
    folder = _demonstration_folder(kind)
    os.environ["BRAINSCORE_SITE_HOME"] = str(folder)
    os.environ["BRAINSCORE_SITE_DEMONSTRATION"] = kind
    os.environ.pop("DATABASE_URL", None)
    if kind == "example":
        os.environ["BRAINSCORE_SITE_RESULTS"] = str(folder / "results")
        readers, reading = (_READERS, _READING) if mirrors() else ((), ())
        os.environ.setdefault("BRAINSCORE_SITE_SCORED_MODELS", ",".join((*_EXAMPLE_MODELS, *readers)))
        os.environ.setdefault("BRAINSCORE_SITE_SCORED_BENCHMARKS", ",".join((*_EXAMPLE_BENCHMARKS, *reading)))
    try:
        if not folder.exists():
            folder.mkdir(parents=True)
            (folder / _MARKER).touch()
    except OSError as error:
        raise unusable_folder(error) from error


def demonstration_to_reset(kind: Demonstration) -> Path | None:
    """Return the folder of a demonstration that can be deleted; None if there is none."""
    folder = _demonstration_folder(kind)
    if not folder.exists():
        return None
    if not (folder / _MARKER).is_file():
        raise UserError(
            f"{folder} was not created as the folder of a demonstration, and is not deleted",
            remedy="if it is one of an earlier version, delete it yourself",
        )
    with serving_lock(folder, exclusive=True) as free:
        if not free:
            raise UserError("a server is running with this demonstration", remedy="stop it first, with Ctrl-C")
    return folder


def _demonstration_folder(kind: Demonstration) -> Path:
    return site_home().with_name("site-demonstration" if kind == "simulated" else "site-example")


def has_database() -> bool:
    """Whether there already is a site on this machine."""
    return bool(os.environ.get("DATABASE_URL")) or (site_home() / "site.sqlite3").exists()


def prepare(results: str | None, *, demonstration: Demonstration | None = None, say: Say) -> int:
    """Bring the database up to date and ingest new receipts."""
    set_up()
    with _exclusive(say):
        return _prepare(results, demonstration=demonstration, say=say)


def _prepare(results: str | None, *, demonstration: Demonstration | None, say: Say) -> int:
    from django.core.management import call_command

    from brainscore_web.leaderboard.models import Score
    from brainscore_web.leaderboard.simulation import simulate_leaderboard
    from brainscore_web.search.index import refresh

    require_database()
    call_command("migrate", verbosity=0)
    _collect_static()
    if demonstration == "simulated" and not Score.objects.exists():
        simulate_leaderboard(models=40, benchmarks=60, versions=2, private=0, units=100)
        simulate_leaderboard(models=12, benchmarks=18, versions=2, private=0, units=100, domain="language")
    if demonstration == "simulated":
        refresh()  # without a worker, nothing else indexes what was simulated
    if demonstration == "example":
        _plan_example()
    if demonstration or results is None:
        return Score.objects.count()
    from brainscore_web.leaderboard.ingest import ingest_store, sync_catalogue

    sync_catalogue()
    report = ingest_store(results)
    say(f"Read {report.added} new receipts from {results}; {report.known} were already known.")
    for problem in report.problems[:10]:
        say(f"Not read: {problem}")
    if len(report.problems) > 10:
        say(f"… and {len(report.problems) - 10} more")
    return Score.objects.count()


def _plan_example() -> None:
    """Plan the pairs of the example, unless they were planned before; a worker scores them, the fastest first."""
    from brainscore_core.domains import domains
    from brainscore_web.leaderboard.ingest import sync_catalogue
    from brainscore_web.leaderboard.models import Benchmark, VisionModel
    from brainscore_web.scoring.models import Job
    from brainscore_web.scoring.services import BENCHMARK_REGISTRY, MODEL_REGISTRY, plan, scored_identifiers

    if Job.objects.exists():
        return
    names, targets = scored_identifiers(MODEL_REGISTRY), scored_identifiers(BENCHMARK_REGISTRY)
    for each in domains():  # the others cannot be scored without downloads
        chosen = [names & set(each.registries["model"]), targets & set(each.registries["benchmark"])]
        sync_catalogue(each.feature("catalogue")(*chosen), domain=each.name)
    models = list(VisionModel.objects.filter(identifier__in=names).values_list("pk", flat=True))
    for benchmark in Benchmark.objects.filter(identifier__in=targets):
        plan(models, [benchmark.pk], why="the example", priority=int(benchmark.identifier.endswith("-rdm")))


def listen(host: str, port: int) -> socket.socket:
    """Open the port."""
    if host not in ("127.0.0.1", "localhost", "::1") and not os.environ.get("BRAINSCORE_SITE_HOSTS"):
        raise UserError(
            f"the site would be reachable from other machines at {host}, but its host names are not set",
            remedy="set BRAINSCORE_SITE_HOSTS to the names of this machine, separated by commas",
        )
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    sock = socket.socket(family, socket.SOCK_STREAM)
    sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        sock.bind((host, port))
    except OSError as error:
        sock.close()
        raise UserError(
            f"cannot listen at {host}:{port}: {error.strerror}", remedy="choose another port with --port"
        ) from error
    sock.listen(128)
    return sock


def serve(
    listening: socket.socket, *, workers: int, worker: bool = False, announce: Callable[[], None] = lambda: None
) -> None:
    """Answer requests until interrupted; does not return.

    With `worker`, a worker runs; it is started again if it ends, and ends with this process. `announce` is called when
    the server is ready, and ends properly on Ctrl-C: one that arrives while Python still imports modules may be lost.
    """
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
                "bind": [f"fd://{listening.fileno()}"],
                "workers": workers,
                "worker_class": ConnectionWorker,
                "threads": CONNECTIONS,
                "worker_connections": CONNECTIONS + 100,  # some more for idle connections
                "timeout": 120,
                "graceful_timeout": 5,  # seconds until Ctrl-C ends requests that are still running
                "loglevel": "warning",
                "worker_tmp_dir": "/dev/shm" if Path("/dev/shm").is_dir() else None,  # noqa: S108 # as gunicorn recommends for its heartbeats
                "control_socket_disable": True,
                "when_ready": lambda _server: announce(),
                **server_settings(),
            }
            for name, value in chosen.items():
                if name in self.cfg.settings:
                    self.cfg.set(name, value)

        def load(self) -> Any:
            """Load the application."""
            with exit_at_once_on_signals():
                from brainscore_web.wsgi import application

                _warm_caches()
            return buffered_requests(application)

    connections.close_all()  # server processes must not share a connection
    sys.argv = ["brainscore serve"]  # gunicorn shows it as the name of its processes
    with serving_lock(site_home()), shared_request_counts(), _worker_process() if worker else nullcontext():
        Server().run()


@contextmanager
def _worker_process() -> Iterator[None]:
    """Run a worker process while this context is open; one that ends is started again."""
    mine, closing = os.getpid(), threading.Event()
    command = [sys.executable, "-m", "brainscore", "worker", "--beside", str(mine)]

    def start() -> subprocess.Popen[bytes]:
        # its own process group: the terminal sends Ctrl-C only to this process, which then ends the worker properly
        return subprocess.Popen(command, process_group=0)  # noqa: S603 # our own module

    def keep_running(process: subprocess.Popen[bytes]) -> None:
        pause = _SHORTEST_PAUSE
        while True:
            started = time.monotonic()
            while process.poll() is None and not closing.wait(_POLL):
                pass
            if closing.is_set():
                process.terminate()
                try:
                    process.wait(timeout=20)
                except subprocess.TimeoutExpired:
                    process.kill()
                return
            pause = _SHORTEST_PAUSE if time.monotonic() - started > _LONGEST_PAUSE else pause
            print(f"The worker has ended; it is started again in {pause:.0f} s.", file=sys.stderr, flush=True)  # noqa: T201 # to the terminal of the server
            if closing.wait(pause):
                return
            pause = min(2 * pause, _LONGEST_PAUSE)
            process = start()

    # not a daemon: the system ends a worker when the thread that started it ends. The first one starts before the
    # server forks: a process that is forked meanwhile would keep the pipe open at whose end `Popen` waits
    supervisor = threading.Thread(target=keep_running, args=[start()], name="worker")
    supervisor.start()
    try:
        yield
    finally:
        if os.getpid() == mine:  # otherwise this is a child process that ends
            closing.set()
            supervisor.join()


def make_worker(**how: Any) -> Worker:
    """Create the worker of this site."""
    if missing := worker_problem():
        raise missing
    set_up()
    require_database()
    require_migrations()
    from brainscore_web.scoring.worker import Worker

    return Worker(**how)


def _warm_caches() -> None:
    """Load the public leaderboard, so that the first visitor does not wait; failures of the database are ignored."""
    from django.contrib.auth.models import AnonymousUser
    from django.db import Error, connections

    from brainscore_web.leaderboard.board import board_for
    from brainscore_web.leaderboard.snapshot import snapshot_for
    from brainscore_web.leaderboard.state import BoardState

    try:
        board_for(snapshot_for(AnonymousUser()), BoardState())
    except Error as error:  # an error here would end the whole server
        _log.warning("The leaderboard could not be loaded in advance: %s", type(error).__name__)
    finally:
        connections.close_all()  # this thread answers no requests


@contextmanager
def _exclusive(say: Say) -> Iterator[None]:
    """Wait until no other process prepares this site; the lock is released when the process ends."""
    import fcntl

    try:
        lock = (site_home() / ".preparing").open("a", encoding="ascii")
    except OSError as error:
        raise unusable_folder(error) from error
    with lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            say("Waiting: another process is preparing this site.")
            fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def _collect_static() -> None:
    """Collect static files, if any has changed since the last time."""
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
        # old files stay, since a running server may still send them
        call_command("collectstatic", interactive=False, verbosity=0)
        marker.write_text(state, encoding="ascii")
    except OSError as error:
        raise unusable_folder(error) from error


def hash_of_files(paths: Any) -> str:
    """A hash of the names, sizes and modification times of files."""
    from hashlib import sha256

    stats = sorted((str(path), path.stat().st_size, path.stat().st_mtime_ns) for path in paths)
    return sha256(repr(stats).encode()).hexdigest()
