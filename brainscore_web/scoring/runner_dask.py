"""Score jobs on the workers of a Dask scheduler: a model's pairs at a time.

The workers need the same version of the platform, and see the site's folders of plugins, results and fetched files
under the same paths.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from contextlib import ExitStack
from datetime import UTC, datetime
from typing import Any

from django.db import close_old_connections

from brainscore_core.errors import UserError
from brainscore_core.scoring import ResultsStore
from brainscore_core.scoring.engine import (
    ClusterOptions,
    Event,
    PairFinished,
    PairRetried,
    PairSkipped,
    PairStarted,
    run_plan,
)
from brainscore_core.scoring.plan import ModelTask, Pair, Pending, Plan
from brainscore_web.scoring.caging import options_for
from brainscore_web.scoring.claiming import Claimed, Heartbeat, claim_model, give_back
from brainscore_web.scoring.finishing import failed_too_often, finish, receipt_of, usable_receipt
from brainscore_web.scoring.handing_out import hand_out
from brainscore_web.scoring.live import Live, live_now

__all__ = ["BATCH", "SCORER", "DaskRunner"]

SCORER = "brainscore_web.scoring.remote:score_pair"
BATCH = 20
"""Pairs of a model that are handed over at once."""

_AGAIN = 30.0  # seconds until a pair that was left out is tried again


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
        batch = claim_model(worker, BATCH, without=without)
        if not batch:
            return False
        with Heartbeat(batch, on_problem=self.say) as beat, ExitStack() as left:
            open_ones = {one.job.benchmark.identifier: one for one in batch}
            left.callback(self._give_back, open_ones)
            live = live_now()
            self._known(open_ones, live, beat)
            if not open_ones:
                return True
            hand_out(live.folder)
            model = batch[0].job.model.identifier
            self.say(f"{model}: {len(open_ones)} pairs begin at {self.options.scheduler}")
            try:
                self._run(model, open_ones, live, beat)
            except _Interrupted:
                self.say(f"{model}: interrupted, {len(open_ones)} pairs are left")
            except UserError as error:
                self.say(f"{model}: not now: {error}")
        return True

    def _run(self, model: str, open_ones: dict[str, Claimed], live: Live, beat: Heartbeat) -> None:
        options: dict[str, Any] = {"plugins": live.variable}
        if live.is_submitted(model):
            options |= options_for(live.revision_of(model), None)
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
            scorer=SCORER,
            cluster=self.options,
            on_event=happened,
            isolated=True,
            scorer_options=options,
        )

    def _happened(self, event: Event, open_ones: dict[str, Claimed], beat: Heartbeat) -> None:
        close_old_connections()
        if isinstance(event, PairStarted):
            self.say(f"{event.model} on {event.benchmark}: begins at {event.worker}")
        elif isinstance(event, PairRetried):
            self.say(f"{event.model} on {event.benchmark}: once more: {event.reason}")
        elif isinstance(event, PairSkipped) and event.benchmark in open_ones:
            one = open_ones.pop(event.benchmark)
            beat.forget(one)
            give_back(one, wait=_AGAIN)
        elif isinstance(event, PairFinished) and event.benchmark in open_ones:
            one = open_ones.pop(event.benchmark)
            beat.forget(one)
            receipt = receipt_of(self.store, event.model, event.benchmark, event.receipt_id)
            if receipt is None or not finish(one, self.store, receipt):
                self.say(f"{one.job}: somebody else has it by now, or its receipt is not in {self.store.address}")
            else:
                self.say(f"{one.job}: {receipt.state}" + (f" ({receipt.reason})" if receipt.reason else ""))
        if open_ones and (self.stopping() or beat.any_stops or any(beat.lost(one) for one in open_ones.values())):
            raise _Interrupted

    def _known(self, open_ones: dict[str, Claimed], live: Live, beat: Heartbeat) -> None:
        """End what has a receipt already, and what was begun too often."""
        for benchmark, one in list(open_ones.items()):
            receipt = usable_receipt(one, self.store, live) or failed_too_often(one, self.store)
            if receipt is not None:
                del open_ones[benchmark]
                beat.forget(one)
                finish(one, self.store, receipt)

    def _give_back(self, open_ones: dict[str, Claimed]) -> None:
        for one in open_ones.values():
            give_back(one, wait=0.0 if self.stopping() else 2.0)
