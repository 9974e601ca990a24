"""The worker of the site: runs steps of submissions, scores pairs, and resumes interrupted work."""

from __future__ import annotations

import logging
import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from datetime import timedelta
from typing import Any

from django.conf import settings
from django.db import DatabaseError, InterfaceError, close_old_connections, connection
from django.db.models import Q
from django.utils import timezone

from brainscore_core.errors import UserError
from brainscore_core.results.backend import StoreError
from brainscore_web.jobs.leases import Lease, process_name
from brainscore_web.jobs.workers import record_heartbeat, sweep
from brainscore_web.leaderboard.models import VisionModel
from brainscore_web.scoring.claims import JOBS, claim_job, release_expired_jobs, release_job, retry_pairs_not_run
from brainscore_web.scoring.models import Job
from brainscore_web.scoring.runners import DaskRunner, LocalRunner
from brainscore_web.scoring.services import submitted_models
from brainscore_web.submissions import pipeline
from brainscore_web.submissions.models import Step
from brainscore_web.submissions.pipeline.assessing import assessments_left
from brainscore_web.submissions.pipeline.testing import sandbox_problem
from brainscore_web.submissions.steps import STEPS
from brainscore_web.uploads.models import Upload

Say = Callable[[str], None]
_PAUSE = 1.0  # seconds between turns when idle
_SWEEP = 3.0
_HEARTBEAT_SECONDS = 10.0
_SANDBOX_CHECK_SECONDS = 60.0
_TURN_SECONDS = 60.0  # for which a loaded model goes on while models of others wait
_LONGEST_PAUSE = 30.0  # seconds, while the database is unavailable
_GRACE = 8.0  # seconds that the processes of tasks have to end
_TASK_PROCESSES = ("default", "long", "long")
"""The queue of each process of tasks. Two of long ones, since a user occupies one of them at most."""
_log = logging.getLogger(__name__)


class Worker:
    """Runs everything that is due until it is stopped.

    It ends after one pair (`once`), or when nothing is due (`until_idle`). With `jobs_only`, steps and e-mails are left
    to another worker. A pair may use `limit` bytes of memory and take `timeout` seconds; with the address of a Dask
    `scheduler`, pairs are scored on its workers.
    """

    def __init__(
        self, *, say: Say, once: bool = False, until_idle: bool = False, jobs_only: bool = False,
        limit: int | None = None, timeout: float | None = None, scheduler: str | None = None,
    ) -> None:  # fmt: skip
        self.say = say
        self.once = once
        self.until_idle = until_idle
        self.jobs_only = jobs_only
        self.scheduler = scheduler
        self.name = process_name()
        self._end = threading.Event()
        self._excluded: set[int] = set()  # models that need a sandbox, if there is none
        self._next_check = 0.0
        self._missing = ""
        self._turn_begun = 0.0
        self._tasks: list[_TaskProcess] = [] if jobs_only else [_TaskProcess(queue) for queue in _TASK_PROCESSES]
        self._keeper = threading.Thread(target=self._keep_tasks, name="tasks", daemon=True)
        self._sweeper = threading.Thread(target=self._sweep_regularly, name="sweep", daemon=True)
        store = str(settings.SUBMISSIONS["results"])
        common: dict[str, Any] = {"timeout": timeout, "say": say, "stopping": self._end.is_set}
        if scheduler is None:
            self._runner: Any = LocalRunner(store, limit=limit, **common)
        else:
            self._runner = DaskRunner(store, scheduler=scheduler, **common)

    def stop(self) -> None:
        """Let the worker end soon; the running pair is released."""
        self._end.set()

    def run(self) -> None:
        """Work until stopped or, if requested, until nothing is due."""
        self.say(f"Worker {os.getpid()} scores into {self._runner.store.address}")
        if not self.jobs_only:
            pipeline.remove_leftovers()
        self._keeper.start()
        self._sweeper.start()
        pause = _PAUSE
        try:
            while not self._end.is_set():
                try:
                    close_old_connections()
                    done = self._turn()
                    pause = _PAUSE
                    if (done and self.once) or (not done and self._may_end()):
                        return
                except (DatabaseError, InterfaceError) as error:
                    done = False
                    self.say(f"The database does not respond ({type(error).__name__}); trying again in {pause:.0f} s")
                    connection.close()
                    self._end.wait(pause)
                    pause = min(2 * pause, _LONGEST_PAUSE)
                except (UserError, StoreError, OSError) as error:
                    done = False
                    self.say(f"Not now: {error}")
                    self._end.wait(_LONGEST_PAUSE)
                if not done:
                    self._runner.close()
                    self._end.wait(_PAUSE)
        finally:
            self._end.set()
            self._runner.close()
            self._keeper.join(timeout=2 * _GRACE)
            self._sweeper.join(timeout=_GRACE)
            connection.close()
            self.say(f"Worker {os.getpid()} ends")

    def _turn(self) -> bool:
        """Do one piece of work; return False if nothing is due."""
        self._check_sandbox()
        if self.scheduler is not None:
            return bool(self._runner.turn(self.name, without=self._excluded))
        turn_is_over = time.monotonic() - self._turn_begun > _TURN_SECONDS
        loaded = self._runner.process.model
        lease = claim_job(self.name, prefer=loaded, in_turn=turn_is_over, without=self._excluded)
        if lease is None:
            return False
        if turn_is_over or lease.row.model.identifier != loaded:
            self._turn_begun = time.monotonic()
        self.say(f"{lease.row}: started")
        self._run_one(lease)
        return True

    def _run_one(self, lease: Lease[Job]) -> None:
        try:
            self._runner.run(lease)
        except (DatabaseError, InterfaceError):
            raise  # the next claim finds its receipt
        except Exception as error:  # noqa: BLE001 # an error of the site must not end the worker
            _log.exception("Job %s", lease.row.pk)
            self.say(f"{lease.row}: the site failed: {type(error).__name__}: {error}")
            self._runner.close()
            release_job(lease, wait=JOBS.retry.pause(lease.attempts).total_seconds(), counts=True)

    def _may_end(self) -> bool:
        if self.once:
            return True
        if not self.until_idle:
            return False
        soon = timezone.now() + timedelta(seconds=90)
        jobs = Job.objects.filter(Q(state=Job.State.RUNNING) | Q(state=Job.State.WAITING, due__lte=soon))
        waiting = jobs.exclude(model__in=list(self._excluded))
        return not waiting.exists() and (self.jobs_only or not _steps_left())

    def _check_sandbox(self) -> None:
        """Check whether sandboxes are possible here; if not, leave submitted models to other workers."""
        now = time.monotonic()
        if now > self._next_check:
            self._next_check = now + _SANDBOX_CHECK_SECONDS
            problem = str(sandbox_problem() or "") if self.scheduler is None else ""
            if problem and problem != self._missing:
                self.say(f"Submitted models must wait, since they cannot be scored here: {problem}")
            if self._missing and not problem:
                self.say("Submitted models can now be scored here.")
            self._missing = problem
        self._excluded = _submitted_model_keys() if self._missing else set()

    def _keep_tasks(self) -> None:
        """Keep the processes of tasks running, whatever else the worker does; runs in a thread.

        They get a signal when this thread ends, which is why it ends them itself.
        """
        try:
            while not self._end.is_set():
                try:
                    for process in self._tasks:
                        process.ensure(self.say)
                except OSError as error:
                    _log.warning("A process of tasks cannot be started: %s", error)
                self._end.wait(_PAUSE)
        finally:
            for process in self._tasks:
                process.terminate()
            end = time.monotonic() + _GRACE
            for process in self._tasks:
                process.wait(end - time.monotonic())

    def _sweep_regularly(self) -> None:
        """Resume interrupted work, send e-mails and record the heartbeat regularly; runs in a thread."""
        last_heartbeat, quiet_until = -_HEARTBEAT_SECONDS, 0.0
        try:
            while True:
                try:
                    close_old_connections()
                    if time.monotonic() - last_heartbeat >= _HEARTBEAT_SECONDS:
                        record_heartbeat("worker")
                        last_heartbeat = time.monotonic()
                    release_expired_jobs()
                    retry_pairs_not_run()
                    if not self.jobs_only:
                        sweep()
                except Exception as error:  # noqa: BLE001 # the next sweep must run whatever happens
                    connection.close()
                    if time.monotonic() > quiet_until:
                        _log.warning("The sweep failed: %s: %s", type(error).__name__, error)
                        quiet_until = time.monotonic() + 60
                if self._end.wait(_SWEEP):
                    return
        finally:
            connection.close()


class _TaskProcess:
    """A process that runs the tasks of a queue, started again if it ends."""

    def __init__(self, queue: str) -> None:
        self._command = [sys.executable, "-m", "brainscore_web.processes", str(os.getpid()), queue]
        self._queue = queue
        self._process: subprocess.Popen[bytes] | None = None

    def ensure(self, say: Say) -> None:
        """Start the process if it is not running."""
        if self._process is not None:
            if self._process.poll() is None:
                return
            say(f"The process of {self._queue} tasks ended with {self._process.returncode}; starting it again.")
        self._process = subprocess.Popen(self._command)  # noqa: S603 # our own module

    def terminate(self) -> None:
        """Let the process end."""
        if self._process is not None and self._process.poll() is None:
            self._process.terminate()

    def wait(self, seconds: float) -> None:
        """Wait for its end, and kill it afterwards."""
        if self._process is None:
            return
        try:
            self._process.wait(timeout=max(seconds, 0.0))
        except subprocess.TimeoutExpired:
            self._process.kill()  # another worker repeats the task
            self._process.wait()


def _submitted_model_keys() -> set[int]:
    submitted = submitted_models()
    rows = VisionModel.objects.order_by("pk").values_list("pk", "identifier")
    return {pk for pk, identifier in rows.iterator(chunk_size=5000) if identifier in submitted}


def _steps_left() -> bool:
    """Whether automatic steps of submissions, assessments or checks of uploads are left."""
    from django_tasks_db.models import DBTaskResult

    soon = timezone.now() + timedelta(seconds=90)
    return (
        Step.objects.filter(STEPS.held | (STEPS.waiting & Q(due__lte=soon))).exists()
        or assessments_left()
        or Upload.objects.filter(state=Upload.State.CHECKING).exists()
        or DBTaskResult.objects.ready().exists()
    )
