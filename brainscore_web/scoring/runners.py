"""Runners of scoring jobs: on this machine or on workers of a Dask scheduler.

Dask workers need the same version of the platform, and the site's folders at the same paths.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Mapping
from contextlib import ExitStack
from dataclasses import replace
from functools import partial
from typing import Any

from django.conf import settings
from django.db import close_old_connections

from brainscore_core.errors import UserError
from brainscore_core.receipts.schema import present_time
from brainscore_core.results.backend import StoreError
from brainscore_core.runner import ClusterOptions, Event, PairFinished, PairRetried, PairSkipped, PairStarted, run_plan
from brainscore_core.runner.plan import ModelTask, Pair, Pending, Plan
from brainscore_core.runner.process import ModelProcess, scoring_environment
from brainscore_core.scoring import Receipt, ResultsStore
from brainscore_web.jobs.leases import Lease, Renewal
from brainscore_web.leaderboard.models import Benchmark, Visibility
from brainscore_web.leaderboard.reasons import NOT_RUN, not_run_reason
from brainscore_web.scoring.claims import claim_jobs_of_model, release_job
from brainscore_web.scoring.completion import (
    complete_job,
    give_up_after_attempts,
    receipt_of,
    run_name,
    usable_receipt,
)
from brainscore_web.scoring.live_plugins import LivePlugins, cache_uploaded_files, current_live_plugins
from brainscore_web.scoring.models import Job
from brainscore_web.submissions.declared_files import files_home, files_of
from brainscore_web.submissions.models import Revision
from brainscore_web.uploads.storage import StorageFailure

CLAIM_OWNER_PREFIX = "site "
"""Prefix of the owner of this site's claims in the results store."""

_RENEWAL_SECONDS = 2.0  # also the time until a running pair learns that it is cancelled
_SECRETS = ("BRAINSCORE_SITE_", "DATABASE_URL", "DJANGO_", "BRAINSCORE_TOKEN")


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

    A pair may use `limit` bytes of memory and take `timeout` seconds. `stopping` returns whether this worker must end.
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
        self.process = ModelProcess(self.store, limit=limit, say=say)
        self._cached_for = ""

    def run(self, lease: Lease[Job]) -> None:
        """Score a claimed job, and complete or release it."""
        job = lease.row
        with Renewal([lease], every=_RENEWAL_SECONDS, on_problem=self.say):
            try:
                result = self._run(lease)
            except (UserError, StoreError, StorageFailure, OSError) as error:
                # a problem of this machine or installation, not of the plugins: try again later
                self.close()
                release_job(lease, wait=60)
                result = f"not now: {error}"
        self.say(f"{job}: {result}")

    def close(self) -> None:
        """End the scoring process with its loaded model, and the template."""
        self.process.close()

    def _run(self, lease: Lease[Job]) -> str:
        live = current_live_plugins()  # read after the claim: a later publication ends the lease
        pair = (lease.row.model.identifier, lease.row.benchmark.identifier)
        held = self.store.claim(*pair, owner=f"{CLAIM_OWNER_PREFIX}{os.getpid()}")
        if held is None:
            release_job(lease, wait=30)
            return f"waits: {self.store.owner(*pair) or 'another process'} is scoring it"
        with held:
            receipt = usable_receipt(lease, self.store, live) or give_up_after_attempts(lease, self.store)
            if receipt is None:
                if self._cached_for != str(live.folder):
                    cache_uploaded_files(live.folder)
                    self._cached_for = str(live.folder)

                def stopped() -> bool:
                    return self.stopping() or held.lost or lease.is_lost() or lease.stop_requested

                receipt = self._score(lease, live, stopped)
            if receipt is None:
                return self._stopped(lease)
            if not complete_job(lease, self.store, receipt):
                return "lost to another worker"
            return _in_words(receipt)

    def _score(self, lease: Lease[Job], live: LivePlugins, stopped: Callable[[], bool]) -> Receipt | None:
        model, options, timeout = lease.row.model.identifier, {}, self.timeout
        if live.is_submitted(model):
            options = _scorer_options(live.revision_of(model), self.limit)
            timeout = _limit_of_submitted(timeout)
        environment = clean_environment(scoring_environment(os.cpu_count() or 1, self.limit)) | live.environment
        limits: dict[str, Any] = {"options": options, "timeout": timeout, "stopped": stopped}
        pair = (model, lease.row.benchmark.identifier)
        return self.process.score(*pair, run=run_name(lease), environment=environment, **limits)

    def _stopped(self, lease: Lease[Job]) -> str:
        if lease.is_lost():
            return "lost: its plugins were published again, or this worker did not respond for too long"
        release_job(lease)  # cancels the job if that was requested
        return "cancelled" if lease.stop_requested else "released"


def _in_words(receipt: Receipt) -> str:
    """Describe the end of a pair, as pages do."""
    value = f" {receipt.score.value:.3f}" if receipt.score is not None and receipt.score.value is not None else ""
    state = NOT_RUN if not_run_reason(receipt) else receipt.state
    return f"{state}{value}" + (f" ({receipt.reason})" if receipt.reason else "")


DASK_SCORER = "brainscore_web.scoring.dask_scorer:score_pair"
DASK_BATCH_SIZE = 20
"""The largest number of a model's pairs that are submitted together."""

_RETRY_SECONDS = 30.0  # seconds until a pair that was skipped is tried again


class _Interrupted(Exception):
    """The rest of a batch must not be scored now."""


class DaskRunner:
    """Submits batches of a model's jobs to a Dask scheduler, and records their results."""

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
        with Renewal(batch, every=_RENEWAL_SECONDS, on_problem=self.say) as renewal, ExitStack() as stack:
            open_ones = {lease.row.benchmark.identifier: lease for lease in batch}
            stack.callback(self._release, open_ones)
            live = current_live_plugins()
            self._complete_known(open_ones, live, renewal)
            if not open_ones:
                return True
            cache_uploaded_files(live.folder)
            model = batch[0].row.model.identifier
            self.say(f"{model}: {len(open_ones)} pairs start on {self.options.scheduler}")
            try:
                self._run(model, open_ones, live, renewal)
            except _Interrupted:
                self.say(f"{model}: interrupted, {len(open_ones)} pairs remain")
            except UserError as error:
                self.say(f"{model}: not now: {error}")
        return True

    def _run(self, model: str, open_ones: dict[str, Lease[Job]], live: LivePlugins, renewal: Renewal) -> None:
        options: dict[str, Any] = {"plugins": live.variable}
        cluster = self.options
        if live.is_submitted(model):
            options |= _scorer_options(live.revision_of(model), None)
            cluster = replace(cluster, timeout=_limit_of_submitted(cluster.timeout))
        # scores all pairs, also those with an earlier receipt
        pending = tuple(Pending(pair=Pair(model, benchmark), why="again") for benchmark in open_ones)
        tasks = (ModelTask(model=model, benchmarks=tuple(open_ones)),)
        plan = Plan(tasks=tasks, pending=pending, created=present_time())

        run_plan(
            plan, store_address=self.store.address, scorer=DASK_SCORER, cluster=cluster, isolated=True,
            on_event=partial(self._handle_event, open_ones, renewal), scorer_options=options,
        )  # fmt: skip

    def _handle_event(self, open_ones: dict[str, Lease[Job]], renewal: Renewal, event: Event) -> None:
        close_old_connections()
        if isinstance(event, PairStarted):
            self.say(f"{event.model} on {event.benchmark}: started on {event.worker}")
        elif isinstance(event, PairRetried):
            self.say(f"{event.model} on {event.benchmark}: trying once more: {event.reason}")
        elif isinstance(event, PairSkipped) and event.benchmark in open_ones:
            lease = open_ones.pop(event.benchmark)
            renewal.remove(lease)
            release_job(lease, wait=_RETRY_SECONDS)
        elif isinstance(event, PairFinished) and event.benchmark in open_ones:
            lease = open_ones.pop(event.benchmark)
            renewal.remove(lease)
            receipt = receipt_of(self.store, event.model, event.benchmark, event.receipt_id)
            if receipt is None or not complete_job(lease, self.store, receipt):
                self.say(f"{lease.row}: lost to another worker, or its receipt is missing in {self.store.address}")
            else:
                self.say(f"{lease.row}: {_in_words(receipt)}")
        ends = any(lease.stop_requested or lease.is_lost() for lease in open_ones.values())
        if open_ones and (ends or self.stopping()):
            raise _Interrupted

    def _complete_known(self, open_ones: dict[str, Lease[Job]], live: LivePlugins, renewal: Renewal) -> None:
        """Complete jobs that have a receipt or have used all their attempts."""
        for benchmark, lease in list(open_ones.items()):
            receipt = usable_receipt(lease, self.store, live) or give_up_after_attempts(lease, self.store)
            if receipt is not None:
                del open_ones[benchmark]
                renewal.remove(lease)
                complete_job(lease, self.store, receipt)

    def _release(self, open_ones: dict[str, Lease[Job]]) -> None:
        for lease in open_ones.values():
            release_job(lease, wait=0.0 if self.stopping() else 2.0)


def _limit_of_submitted(timeout: float | None) -> float:
    """Return the time limit of a pair of a submitted model, whose code is not reviewed."""
    limit = float(settings.SUBMISSIONS["pair_seconds"])
    return limit if timeout is None else min(timeout, limit)


def _scorer_options(revision: int | None, limit: int | None) -> dict[str, Any]:
    """Return a submitted model's scorer options: its sandbox, and the benchmarks after which its process must end.

    In the sandbox a model can read its own folder and its declared files. The process ends after a private benchmark,
    since it could otherwise reveal the stimuli in later, public output.
    """
    row = Revision.objects.filter(pk=revision).first()
    sandbox: dict[str, Any] = {
        "files": [] if row is None else [str(path) for path in files_of(row)],
        "environment": {"BRAINIO_HOME": str(files_home())},
    }
    if limit is not None:
        sandbox["memory"] = limit
    withheld = Benchmark.objects.filter(is_mean=False, access=Visibility.PRIVATE).order_by("identifier")
    return {"cage": sandbox, "forget_after": list(withheld.values_list("identifier", flat=True))}
