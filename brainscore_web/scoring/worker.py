"""The worker of the site: does steps of submissions, scores pairs, and sees that nothing is left lying about."""

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
from django.utils import timezone

from brainscore_core.errors import UserError
from brainscore_core.results.backend import StoreError
from brainscore_web.jobs.heartbeats import record_heartbeat
from brainscore_web.leaderboard.models import VisionModel
from brainscore_web.scoring.claims import ClaimedJob, claim_job, release_job, release_stale_jobs, worker_name
from brainscore_web.scoring.models import Job
from brainscore_web.scoring.runners import LocalRunner
from brainscore_web.scoring.sandbox import sandbox_problem
from brainscore_web.scoring.services import submitted_models
from brainscore_web.submissions.models import Step

__all__ = ["Worker"]

Say = Callable[[str], None]
_PAUSE = 1.0  # seconds without anything to do
_SWEEP = 3.0
_HEARTBEAT_SECONDS = 10.0
_SANDBOX_CHECK_SECONDS = 60.0
_LONGEST_PAUSE = 30.0  # while the database is away
_GRACE = 8.0  # that the process of steps has to end
_log = logging.getLogger(__name__)


class Worker:
    """Does all that is due until it is told to stop.

    Parameters
    ----------
    say : callable
        Told what happens, a line at a time.
    once, until_idle : bool
        End after one pair; when nothing is due any more.
    jobs_only : bool
        Score, and leave steps and letters to another worker.
    limit : int or None
        Bytes that a pair may use.
    timeout : float or None
        Seconds that a pair may take.
    scheduler : str or None
        Address of a Dask scheduler, on whose workers pairs are scored.
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
        self.name = worker_name()
        self._end = threading.Event()
        self._caged: set[int] = set()  # models that cannot be scored without a cage
        self._looked = 0.0
        self._missing = ""
        self._steps: subprocess.Popen[bytes] | None = None
        self._steps_begun = 0.0
        self._sweeper = threading.Thread(target=self._sweep_again_and_again, name="sweep", daemon=True)
        store = str(settings.SUBMISSIONS["results"])
        if scheduler is None:
            self._runner: Any = LocalRunner(
                store, limit=limit, timeout=timeout, say=say, stopping=self._end.is_set
            )  # fmt: skip
        else:
            from brainscore_web.scoring.runners import DaskRunner

            self._runner = DaskRunner(store, scheduler=scheduler, timeout=timeout, say=say, stopping=self._end.is_set)

    def stop(self) -> None:
        """Let it end soon; the pair that is being scored is given back."""
        self._end.set()

    def run(self) -> None:
        """Work until it is stopped, or nothing is left where that was asked for."""
        self.say(f"Worker {os.getpid()} scores into {self._runner.store.address}")
        if not self.jobs_only:
            from brainscore_web.submissions import pipeline

            pipeline.remove_leftovers()
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
                    self.say(f"The database does not answer ({type(error).__name__}); again in {pause:.0f} s")
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
            self._end_steps()
            self._sweeper.join(timeout=_GRACE)
            connection.close()
            self.say(f"Worker {os.getpid()} ends")

    def _turn(self) -> bool:
        """Do one thing; False where there was nothing to do."""
        self._tend_steps()
        self._look_for_cage()
        if self.scheduler is not None:
            return bool(self._runner.turn(self.name, without=self._caged))
        one = claim_job(self.name, prefer=self._runner.model, without=self._caged)
        if one is None:
            return False
        self.say(f"{one.job}: begins")
        self._run_one(one)
        return True

    def _run_one(self, one: ClaimedJob) -> None:
        try:
            self._runner.run(one)
        except (DatabaseError, InterfaceError):
            raise  # who claims it next finds its receipt
        except Exception as error:  # noqa: BLE001 # a mistake of the site, which must not end the worker
            _log.exception("Job %s", one.job.pk)
            self.say(f"{one.job}: the site failed: {type(error).__name__}: {error}")
            self._runner.close()
            release_job(one, wait=60, begun=True)

    def _may_end(self) -> bool:
        if self.once:
            return True
        if not self.until_idle:
            return False
        waiting = Job.objects.filter(state=Job.State.RUNNING) | Job.objects.filter(
            state=Job.State.WAITING, due__lte=timezone.now() + timedelta(seconds=90)
        )
        if self._caged:
            waiting = waiting.exclude(model__in=list(self._caged))
        return not waiting.exists() and (self.jobs_only or not _steps_left())

    def _look_for_cage(self) -> None:
        """See whether there can be cages; where not, say why, and leave what needs one to others."""
        now = time.monotonic()
        if self._looked and now - self._looked < _SANDBOX_CHECK_SECONDS:
            if self._missing:
                self._caged = _submitted_model_keys()
            return
        self._looked = now
        missing = sandbox_problem() if self.scheduler is None else None
        said = "" if missing is None else str(missing)
        if said and said != self._missing:
            self.say(f"Submitted models wait, as they cannot be scored here: {said}")
        if self._missing and not said:
            self.say("Submitted models can be scored here now.")
        self._missing = said
        self._caged = _submitted_model_keys() if said else set()

    def _tend_steps(self) -> None:
        """See that the process of steps runs."""
        if self.jobs_only:
            return
        if self._steps is not None:
            if self._steps.poll() is None:
                return
            self.say(f"The process of steps ended with {self._steps.returncode}; it is started again.")
            if time.monotonic() - self._steps_begun < _LONGEST_PAUSE:
                self._end.wait(_PAUSE)
        self._steps_begun = time.monotonic()
        command = [sys.executable, "-m", "brainscore_web.jobs.task_process", str(os.getpid())]
        self._steps = subprocess.Popen(command)  # noqa: S603 # this package's own

    def _end_steps(self) -> None:
        if self._steps is None or self._steps.poll() is not None:
            return
        self._steps.terminate()
        try:
            self._steps.wait(timeout=_GRACE)
        except subprocess.TimeoutExpired:
            self._steps.kill()  # the step is begun again by the next worker
            self._steps.wait()

    def _sweep_again_and_again(self) -> None:
        """In a thread: free what others left, let letters leave, say that this worker is there."""
        beaten, quiet_until = -_HEARTBEAT_SECONDS, 0.0
        try:
            while True:
                try:
                    close_old_connections()
                    if time.monotonic() - beaten >= _HEARTBEAT_SECONDS:
                        record_heartbeat("worker")
                        beaten = time.monotonic()
                    release_stale_jobs()
                    if not self.jobs_only:
                        from brainscore_web.submissions import pipeline

                        pipeline.sweep()
                except Exception as error:  # noqa: BLE001 # whatever it is, others depend on the next one
                    connection.close()
                    if time.monotonic() > quiet_until:
                        _log.warning("The sweep failed: %s: %s", type(error).__name__, error)
                        quiet_until = time.monotonic() + 60
                if self._end.wait(_SWEEP):
                    return
        finally:
            connection.close()


def _submitted_model_keys() -> set[int]:
    wanted = submitted_models()
    rows = VisionModel.objects.order_by("pk").values_list("pk", "identifier")
    return {pk for pk, identifier in rows.iterator(chunk_size=5000) if identifier in wanted}


def _steps_left() -> bool:
    """Whether anything automatic is still to be done for a submission or an upload."""
    from django_tasks_db.models import DBTaskResult

    from brainscore_web.uploads.models import Upload

    soon = timezone.now() + timedelta(seconds=90)
    automatic = Step.objects.filter(kind__in=(Step.Kind.CHECK, Step.Kind.TEST, Step.Kind.PUBLISH))
    return (
        automatic.filter(state=Step.State.RUNNING).exists()
        or automatic.filter(state=Step.State.WAITING, due__lte=soon).exists()
        or Upload.objects.filter(state=Upload.State.CHECKING).exists()
        or DBTaskResult.objects.ready().exists()
    )
