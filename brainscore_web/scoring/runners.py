"""Runners of scoring jobs: on this machine or on workers of a Dask scheduler.

Dask workers need the same version of the platform, and the site's folders at the same paths.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Mapping
from contextlib import ExitStack
from datetime import UTC, datetime
from typing import Any

from django.db import close_old_connections

from brainscore_core.errors import UserError
from brainscore_core.results.backend import StoreError
from brainscore_core.runner import ClusterOptions, Event, PairFinished, PairRetried, PairSkipped, PairStarted, run_plan
from brainscore_core.runner.pair import run_info
from brainscore_core.runner.plan import ModelTask, Pair, Pending, Plan
from brainscore_core.runner.process import Answer, Death, ScoringProcess
from brainscore_core.runner.worker import error_receipt, scoring_environment
from brainscore_core.scoring import Receipt, ResultsStore
from brainscore_web.scoring.claims import ClaimedJob, Heartbeat, claim_jobs_of_model, release_job
from brainscore_web.scoring.completion import (
    complete_job,
    give_up_after_attempts,
    receipt_of,
    run_name,
    usable_receipt,
    write_failed_receipt,
)
from brainscore_web.scoring.live_plugins import VARIABLE, LivePlugins, cache_uploaded_files, current_live_plugins
from brainscore_web.scoring.sandbox import scorer_options
from brainscore_web.uploads.storage import StorageFailure

__all__ = [
    "CLAIM_OWNER_PREFIX",
    "DASK_BATCH_SIZE",
    "DASK_SCORER",
    "LOCAL_SCORER",
    "DaskRunner",
    "LocalRunner",
    "clean_environment",
]

LOCAL_SCORER = "brainscore_vision.scoring:score_pair"
CLAIM_OWNER_PREFIX = "site "
"""Prefix of the owner of this site's claims in the results store."""

_SECRETS = ("BRAINSCORE_SITE_", "DATABASE_URL", "DJANGO_", "BRAINSCORE_TOKEN")
_ERROR_NAMES = {"time": "PairTimeout", "memory": "OutOfMemory", "crash": "ProcessDied"}


def clean_environment(environment: Mapping[str, str]) -> dict[str, str]:
    """Return environment variables without those of the site: its database, keys and e-mail.

    Examples
    --------
    >>> clean_environment({"DATABASE_URL": "postgres://…", "HOME": "/home/x"})
    {'HOME': '/home/x'}
    """
    return {name: value for name, value in environment.items() if not name.startswith(_SECRETS)}


class LocalRunner:
    """Scores one job at a time; the process with the loaded model stays for further jobs of the model.

    Parameters
    ----------
    store : str
        Address of the results store.
    limit : int or None
        Memory in bytes that a pair may use.
    timeout : float or None
        Seconds that a pair may take.
    say : callable
        Called with each message.
    stopping : callable
        Returns whether this worker must end.
    """

    def __init__(
        self, store: str, *, limit: int | None, timeout: float | None, say: Callable[[str], None],
        stopping: Callable[[], bool],
    ) -> None:  # fmt: skip
        self.store = ResultsStore(store)
        self.limit = limit
        self.timeout = timeout
        self.say = say
        self.stopping = stopping
        self.model: int | None = None  # primary key of the loaded model
        self._key: tuple[str, str] | None = None
        self._process: ScoringProcess | None = None
        self._cached_for = ""

    def run(self, claim: ClaimedJob) -> None:
        """Score a claimed job, and complete or release it."""
        job = claim.job
        with Heartbeat([claim], on_problem=self.say) as heartbeat:
            try:
                result = self._run(claim, heartbeat)
            except (UserError, StoreError, StorageFailure, OSError) as error:
                # a problem of this machine or installation, not of the plugins: try again later
                self.close()
                release_job(claim, wait=60)
                result = f"not now: {error}"
        self.say(f"{job}: {result}")

    def close(self) -> None:
        """End the scoring process with its loaded model."""
        if self._process is not None:
            self._process.finish()
        self._clear_process()

    def _run(self, claim: ClaimedJob, heartbeat: Heartbeat) -> str:
        job = claim.job
        live = current_live_plugins()  # read after the claim: a later publication cancels the claim
        pair = (job.model.identifier, job.benchmark.identifier)
        held = self.store.claim(*pair, owner=f"{CLAIM_OWNER_PREFIX}{os.getpid()}")
        if held is None:
            release_job(claim, wait=30)
            return f"waits: {self.store.owner(*pair) or 'another process'} is scoring it"
        with held:
            receipt = usable_receipt(claim, self.store, live) or give_up_after_attempts(claim, self.store)
            if receipt is not None:
                return self._end(claim, receipt)
            if self._cached_for != str(live.folder):
                cache_uploaded_files(live.folder)
                self._cached_for = str(live.folder)

            def stopped() -> bool:
                return self.stopping() or held.lost or heartbeat.lost(claim) or heartbeat.stops(claim)

            answer = self._score(claim, live, stopped)
            if isinstance(answer, Death) and answer.kind == "crash":
                self._clear_process()
                self.say(f"{job}: the scoring process {answer.message}; trying once more")
                answer = self._score(claim, live, stopped)
            if isinstance(answer, Answer):
                return self._end(claim, self._receipt(claim, answer))
            self._clear_process()
            if answer.kind == "stopped":
                return self._stopped(claim, heartbeat)
            message = f"the scoring process {answer.message}"
            kind, printed, seconds = _ERROR_NAMES[answer.kind], answer.tail, answer.seconds
            return self._end(
                claim,
                write_failed_receipt(claim, self.store, kind=kind, message=message, printed=printed, seconds=seconds),
            )

    def _clear_process(self) -> None:
        """Clear the record of a process that has ended."""
        self._process, self._key, self.model = None, None, None

    def _score(self, claim: ClaimedJob, live: LivePlugins, stopped: Callable[[], bool]) -> Answer | Death:
        job = claim.job
        key = (str(live.folder), job.model.identifier)
        if self._process is None or self._key != key:
            self.close()
            options: dict[str, Any] = {}
            if live.is_submitted(job.model.identifier):
                options |= scorer_options(live.revision_of(job.model.identifier), self.limit)
            settings = {
                "scorer": LOCAL_SCORER,
                "store": self.store.address,
                "run": run_name(claim),  # the run of the job for which this process starts
                "isolated": True,
                "options": options,
            }
            environment = scoring_environment(os.cpu_count() or 1, self.limit)
            environment = {**clean_environment(environment), VARIABLE: live.variable}
            self._process = ScoringProcess(settings, environment=environment, limit=self.limit)
            self._key, self.model = key, job.model_id
        return self._process.score(
            job.model.identifier, job.benchmark.identifier, timeout=self.timeout, stopped=stopped
        )

    def _receipt(self, claim: ClaimedJob, answer: Answer) -> Receipt:
        pair = (claim.job.model.identifier, claim.job.benchmark.identifier)
        if "error" in answer.content:  # an error of the scorer itself; it writes errors of plugins into receipts
            return error_receipt(self.store, *pair, answer.content["error"], run_info(run_name(claim), isolated=True))
        receipt = receipt_of(self.store, *pair, answer.content["receipt"])
        if receipt is None:
            raise UserError(
                f"the receipt of {claim.job} is missing", remedy=f"check that {self.store.address} is writable"
            )
        return receipt

    def _end(self, claim: ClaimedJob, receipt: Receipt) -> str:
        if not complete_job(claim, self.store, receipt):
            return "lost to another worker"
        value = f" {receipt.score.value:.3f}" if receipt.score is not None and receipt.score.value is not None else ""
        return f"{receipt.state}{value}" + (f" ({receipt.reason})" if receipt.reason else "")

    def _stopped(self, claim: ClaimedJob, heartbeat: Heartbeat) -> str:
        if heartbeat.lost(claim):
            return "lost: its plugins were published again, or this worker did not respond for too long"
        release_job(claim)  # cancels the job if that was requested
        return "cancelled" if heartbeat.stops(claim) else "released"


DASK_SCORER = "brainscore_web.scoring.dask_scorer:score_pair"
DASK_BATCH_SIZE = 20
"""The largest number of a model's pairs that are submitted together."""

_RETRY_SECONDS = 30.0  # seconds until a pair that was skipped is tried again


class _Interrupted(Exception):
    """The rest of a batch must not be scored now."""


class DaskRunner:
    """Submits batches of a model's jobs to a Dask scheduler, and records their results.

    Parameters
    ----------
    store : str
        Address of the results store.
    scheduler : str
        Address of the scheduler.
    timeout : float or None
        Seconds that a pair may take.
    say : callable
        Called with each message.
    stopping : callable
        Returns whether this worker must end.
    """

    def __init__(
        self, store: str, *, scheduler: str, timeout: float | None, say: Callable[[str], None],
        stopping: Callable[[], bool],
    ) -> None:  # fmt: skip
        self.store = ResultsStore(store)
        self.options = ClusterOptions(scheduler=scheduler, timeout=timeout)
        self.say = say
        self.stopping = stopping

    def close(self) -> None:
        """Nothing is kept between batches."""

    def turn(self, worker: str, *, without: Collection[int] = ()) -> bool:
        """Score one batch; return False if no job is due."""
        batch = claim_jobs_of_model(worker, DASK_BATCH_SIZE, without=without)
        if not batch:
            return False
        with Heartbeat(batch, on_problem=self.say) as heartbeat, ExitStack() as stack:
            open_ones = {claim.job.benchmark.identifier: claim for claim in batch}
            stack.callback(self._release, open_ones)
            live = current_live_plugins()
            self._complete_known(open_ones, live, heartbeat)
            if not open_ones:
                return True
            cache_uploaded_files(live.folder)
            model = batch[0].job.model.identifier
            self.say(f"{model}: {len(open_ones)} pairs start on {self.options.scheduler}")
            try:
                self._run(model, open_ones, live, heartbeat)
            except _Interrupted:
                self.say(f"{model}: interrupted, {len(open_ones)} pairs remain")
            except UserError as error:
                self.say(f"{model}: not now: {error}")
        return True

    def _run(self, model: str, open_ones: dict[str, ClaimedJob], live: LivePlugins, heartbeat: Heartbeat) -> None:
        options: dict[str, Any] = {"plugins": live.variable}
        if live.is_submitted(model):
            options |= scorer_options(live.revision_of(model), None)
        # scores all pairs, also those with an earlier receipt
        pending = tuple(Pending(pair=Pair(model, benchmark), why="again") for benchmark in open_ones)
        plan = Plan(
            tasks=(ModelTask(model=model, benchmarks=tuple(open_ones)),),
            pending=pending,
            created=f"{datetime.now(UTC):%Y-%m-%dT%H:%M:%S.%f}Z",
        )

        def on_event(event: Event) -> None:
            self._handle_event(event, open_ones, heartbeat)

        run_plan(
            plan,
            store_address=self.store.address,
            scorer=DASK_SCORER,
            cluster=self.options,
            on_event=on_event,
            isolated=True,
            scorer_options=options,
        )

    def _handle_event(self, event: Event, open_ones: dict[str, ClaimedJob], heartbeat: Heartbeat) -> None:
        close_old_connections()
        if isinstance(event, PairStarted):
            self.say(f"{event.model} on {event.benchmark}: started on {event.worker}")
        elif isinstance(event, PairRetried):
            self.say(f"{event.model} on {event.benchmark}: trying once more: {event.reason}")
        elif isinstance(event, PairSkipped) and event.benchmark in open_ones:
            claim = open_ones.pop(event.benchmark)
            heartbeat.remove(claim)
            release_job(claim, wait=_RETRY_SECONDS)
        elif isinstance(event, PairFinished) and event.benchmark in open_ones:
            claim = open_ones.pop(event.benchmark)
            heartbeat.remove(claim)
            receipt = receipt_of(self.store, event.model, event.benchmark, event.receipt_id)
            if receipt is None or not complete_job(claim, self.store, receipt):
                self.say(f"{claim.job}: lost to another worker, or its receipt is missing in {self.store.address}")
            else:
                self.say(f"{claim.job}: {receipt.state}" + (f" ({receipt.reason})" if receipt.reason else ""))
        if open_ones and (
            self.stopping() or heartbeat.any_stops or any(heartbeat.lost(claim) for claim in open_ones.values())
        ):
            raise _Interrupted

    def _complete_known(self, open_ones: dict[str, ClaimedJob], live: LivePlugins, heartbeat: Heartbeat) -> None:
        """Complete jobs that have a receipt or have used all their attempts."""
        for benchmark, claim in list(open_ones.items()):
            receipt = usable_receipt(claim, self.store, live) or give_up_after_attempts(claim, self.store)
            if receipt is not None:
                del open_ones[benchmark]
                heartbeat.remove(claim)
                complete_job(claim, self.store, receipt)

    def _release(self, open_ones: dict[str, ClaimedJob]) -> None:
        for claim in open_ones.values():
            release_job(claim, wait=0.0 if self.stopping() else 2.0)
