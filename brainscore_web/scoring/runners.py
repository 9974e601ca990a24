"""Runners of scoring jobs: on this machine, or on the workers of a Dask scheduler.

Dask workers need the same version of the platform, and the site's folders under the same paths.
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
"""What claims of this site in the results begin with."""

_SECRETS = ("BRAINSCORE_SITE_", "DATABASE_URL", "DJANGO_", "BRAINSCORE_TOKEN")
_ERROR_NAMES = {"time": "PairTimeout", "memory": "OutOfMemory", "crash": "ProcessDied"}


def clean_environment(environment: Mapping[str, str]) -> dict[str, str]:
    """An environment without what is the site's own business: its database, keys and mail.

    Examples
    --------
    >>> clean_environment({"DATABASE_URL": "postgres://…", "HOME": "/home/x"})
    {'HOME': '/home/x'}
    """
    return {name: value for name, value in environment.items() if not name.startswith(_SECRETS)}


class LocalRunner:
    """Scores one job at a time; the process that has loaded a model stays for the next job of it.

    Parameters
    ----------
    store : str
        Address of the results.
    limit : int or None
        Bytes that a pair may use.
    timeout : float or None
        Seconds that a pair may take.
    say : callable
        Told what happens.
    stopping : callable
        Whether this worker is to end.
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
        self.model: int | None = None  # primary key of the one that is loaded
        self._key: tuple[str, str] | None = None
        self._process: ScoringProcess | None = None
        self._handed_out = ""

    def run(self, one: ClaimedJob) -> None:
        """Score a claimed job, and end it or give it back."""
        job = one.job
        with Heartbeat([one], on_problem=self.say) as beat:
            try:
                said = self._run(one, beat)
            except (UserError, StoreError, StorageFailure, OSError) as error:
                # of this machine, its folders or its installation: another attempt later, nobody's fault
                self.close()
                release_job(one, wait=60)
                said = f"not now: {error}"
        self.say(f"{job}: {said}")

    def close(self) -> None:
        """Let the model go."""
        if self._process is not None:
            self._process.finish()
        self._forget()

    def _run(self, one: ClaimedJob, beat: Heartbeat) -> str:
        job = one.job
        live = current_live_plugins()  # after the claim: what is published later takes the job away from here
        pair = (job.model.identifier, job.benchmark.identifier)
        held = self.store.claim(*pair, owner=f"{CLAIM_OWNER_PREFIX}{os.getpid()}")
        if held is None:
            release_job(one, wait=30)
            return f"waits: {self.store.owner(*pair) or 'somebody else'} scores it just now"
        with held:
            receipt = usable_receipt(one, self.store, live) or give_up_after_attempts(one, self.store)
            if receipt is not None:
                return self._end(one, receipt)
            if self._handed_out != str(live.folder):
                cache_uploaded_files(live.folder)
                self._handed_out = str(live.folder)

            def stopped() -> bool:
                return self.stopping() or held.lost or beat.lost(one) or beat.stops(one)

            found = self._scored(one, live, stopped)
            if isinstance(found, Death) and found.kind == "crash":
                self._forget()
                self.say(f"{job}: what scored it {found.message}; once more")
                found = self._scored(one, live, stopped)
            if isinstance(found, Answer):
                return self._end(one, self._receipt(one, found))
            self._forget()
            if found.kind == "stopped":
                return self._stopped(one, beat)
            message = f"what scored it {found.message}"
            kind, printed, seconds = _ERROR_NAMES[found.kind], found.tail, found.seconds
            return self._end(
                one, write_failed_receipt(one, self.store, kind=kind, message=message, printed=printed, seconds=seconds)
            )

    def _forget(self) -> None:
        """The process is gone."""
        self._process, self._key, self.model = None, None, None

    def _scored(self, one: ClaimedJob, live: LivePlugins, stopped: Callable[[], bool]) -> Answer | Death:
        job = one.job
        key = (str(live.folder), job.model.identifier)
        if self._process is None or self._key != key:
            self.close()
            options: dict[str, Any] = {}
            if live.is_submitted(job.model.identifier):
                options |= scorer_options(live.revision_of(job.model.identifier), self.limit)
            settings = {
                "scorer": LOCAL_SCORER,
                "store": self.store.address,
                "run": run_name(one),  # of the job that this process is started for
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

    def _receipt(self, one: ClaimedJob, answer: Answer) -> Receipt:
        pair = (one.job.model.identifier, one.job.benchmark.identifier)
        if "error" in answer.content:  # of the scorer itself; what plugins raise it has written down
            return error_receipt(self.store, *pair, answer.content["error"], run_info(run_name(one), isolated=True))
        receipt = receipt_of(self.store, *pair, answer.content["receipt"])
        if receipt is None:
            raise UserError(f"the receipt of {one.job} is gone", remedy=f"see whether {self.store.address} is writable")
        return receipt

    def _end(self, one: ClaimedJob, receipt: Receipt) -> str:
        if not complete_job(one, self.store, receipt):
            return "somebody else has it by now"
        value = f" {receipt.score.value:.3f}" if receipt.score is not None and receipt.score.value is not None else ""
        return f"{receipt.state}{value}" + (f" ({receipt.reason})" if receipt.reason else "")

    def _stopped(self, one: ClaimedJob, beat: Heartbeat) -> str:
        if beat.lost(one):
            return "taken away: what it needs was published anew, or this worker was silent for too long"
        release_job(one)  # cancels it where somebody wants that
        return "cancelled" if beat.stops(one) else "given back"


DASK_SCORER = "brainscore_web.scoring.dask_scorer:score_pair"
DASK_BATCH_SIZE = 20
"""Pairs of a model that are handed over at once."""

_RETRY_SECONDS = 30.0  # seconds until a pair that was left out is tried again


class _Interrupted(Exception):
    """The rest of a batch is not to be scored now."""


class DaskRunner:
    """Hands batches of a model's jobs to a scheduler, and takes in what comes back.

    Parameters
    ----------
    store : str
        Address of the results.
    scheduler : str
        Address of the scheduler.
    timeout : float or None
        Seconds that a pair may take.
    say : callable
        Told what happens.
    stopping : callable
        Whether this worker is to end.
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
        """Score one batch; False where nothing is due."""
        batch = claim_jobs_of_model(worker, DASK_BATCH_SIZE, without=without)
        if not batch:
            return False
        with Heartbeat(batch, on_problem=self.say) as beat, ExitStack() as left:
            open_ones = {one.job.benchmark.identifier: one for one in batch}
            left.callback(self._give_back, open_ones)
            live = current_live_plugins()
            self._known(open_ones, live, beat)
            if not open_ones:
                return True
            cache_uploaded_files(live.folder)
            model = batch[0].job.model.identifier
            self.say(f"{model}: {len(open_ones)} pairs begin at {self.options.scheduler}")
            try:
                self._run(model, open_ones, live, beat)
            except _Interrupted:
                self.say(f"{model}: interrupted, {len(open_ones)} pairs are left")
            except UserError as error:
                self.say(f"{model}: not now: {error}")
        return True

    def _run(self, model: str, open_ones: dict[str, ClaimedJob], live: LivePlugins, beat: Heartbeat) -> None:
        options: dict[str, Any] = {"plugins": live.variable}
        if live.is_submitted(model):
            options |= scorer_options(live.revision_of(model), None)
        # of a pair that is to be scored again an earlier receipt does not do
        pending = tuple(Pending(pair=Pair(model, benchmark), why="again") for benchmark in open_ones)
        plan = Plan(
            tasks=(ModelTask(model=model, benchmarks=tuple(open_ones)),),
            pending=pending,
            created=f"{datetime.now(UTC):%Y-%m-%dT%H:%M:%S.%f}Z",
        )

        def happened(event: Event) -> None:
            self._happened(event, open_ones, beat)

        run_plan(
            plan,
            store_address=self.store.address,
            scorer=DASK_SCORER,
            cluster=self.options,
            on_event=happened,
            isolated=True,
            scorer_options=options,
        )

    def _happened(self, event: Event, open_ones: dict[str, ClaimedJob], beat: Heartbeat) -> None:
        close_old_connections()
        if isinstance(event, PairStarted):
            self.say(f"{event.model} on {event.benchmark}: begins at {event.worker}")
        elif isinstance(event, PairRetried):
            self.say(f"{event.model} on {event.benchmark}: once more: {event.reason}")
        elif isinstance(event, PairSkipped) and event.benchmark in open_ones:
            one = open_ones.pop(event.benchmark)
            beat.forget(one)
            release_job(one, wait=_RETRY_SECONDS)
        elif isinstance(event, PairFinished) and event.benchmark in open_ones:
            one = open_ones.pop(event.benchmark)
            beat.forget(one)
            receipt = receipt_of(self.store, event.model, event.benchmark, event.receipt_id)
            if receipt is None or not complete_job(one, self.store, receipt):
                self.say(f"{one.job}: somebody else has it by now, or its receipt is not in {self.store.address}")
            else:
                self.say(f"{one.job}: {receipt.state}" + (f" ({receipt.reason})" if receipt.reason else ""))
        if open_ones and (self.stopping() or beat.any_stops or any(beat.lost(one) for one in open_ones.values())):
            raise _Interrupted

    def _known(self, open_ones: dict[str, ClaimedJob], live: LivePlugins, beat: Heartbeat) -> None:
        """End what has a receipt already, and what was begun too often."""
        for benchmark, one in list(open_ones.items()):
            receipt = usable_receipt(one, self.store, live) or give_up_after_attempts(one, self.store)
            if receipt is not None:
                del open_ones[benchmark]
                beat.forget(one)
                complete_job(one, self.store, receipt)

    def _give_back(self, open_ones: dict[str, ClaimedJob]) -> None:
        for one in open_ones.values():
            release_job(one, wait=0.0 if self.stopping() else 2.0)
