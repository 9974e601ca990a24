"""Runs of a plan on a cluster: every pair ends with a receipt, or is left to another run."""

from __future__ import annotations

import contextlib
import json
import queue
import time
from collections import Counter, deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any
from uuid import uuid4

from brainscore_core.errors import UserError
from brainscore_core.receipts.environment import platform_code
from brainscore_core.results.backend import StoreError
from brainscore_core.runner.cluster import (
    Cluster,
    ClusterOptions,
    deferring_interrupts,
    largest_memory,
    open_cluster,
    require_distributed,
)
from brainscore_core.runner.pair import split_scorer
from brainscore_core.runner.worker import ATTEMPTS, OWNER, TaskSpec, run_task, stop_run

if TYPE_CHECKING:
    from brainscore_core.runner.plan import ModelTask, Plan

__all__ = [
    "ClusterReady",
    "Event",
    "Pair",
    "PairFinished",
    "PairRetried",
    "PairSkipped",
    "PairStarted",
    "RunReport",
    "Work",
    "WorkerLost",
    "run_plan",
]


@dataclass(frozen=True, kw_only=True)
class Event:
    """Base of everything that a run tells."""


@dataclass(frozen=True, kw_only=True)
class ClusterReady(Event):
    """Workers are there.

    Attributes
    ----------
    workers : int
        How many at this moment; those of a batch system come later.
    memory : int or None
        Bytes that each may use, where that is known.
    """

    workers: int
    memory: int | None


@dataclass(frozen=True, kw_only=True)
class PairStarted(Event):
    """A worker scores a pair, for the first or for the second time (`attempt` 1 or 2)."""

    model: str
    benchmark: str
    worker: str
    attempt: int = 1


@dataclass(frozen=True, kw_only=True)
class PairFinished(Event):
    """A pair has its receipt.

    Attributes
    ----------
    receipt_id, state, score, reason
        As in the receipt; `score` is None where there is no number.
    seconds : float
        From the request to the answer.
    """

    model: str
    benchmark: str
    receipt_id: str
    state: str
    score: float | None
    seconds: float
    reason: str | None = None


@dataclass(frozen=True, kw_only=True)
class PairSkipped(Event):
    """A pair was left to somebody else, who works on it or has finished it since the plan was made."""

    model: str
    benchmark: str
    reason: str


@dataclass(frozen=True, kw_only=True)
class PairRetried(Event):
    """A pair will be scored a second time, because what scored it died."""

    model: str
    benchmark: str
    reason: str


@dataclass(frozen=True, kw_only=True)
class WorkerLost(Event):
    """A worker is gone that was not sent away; `pairs` are those (model, benchmark) that it was scoring."""

    worker: str
    pairs: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, kw_only=True)
class RunReport:
    """What became of every pair of a plan.

    Attributes
    ----------
    id : str
        Of the run; its receipts say the same.
    finished, skipped : tuple
        Each pair is in one of the two, once.
    retried, lost : tuple
        What happened on the way.
    seconds : float
        By the wall clock, clusters' start included.

    Examples
    --------
    >>> done = PairFinished(model="pixels", benchmark="Some2026-pls", receipt_id="20260114T093012", state="failed",
    ...                     score=None, seconds=1.5, reason="ValueError: no data")
    >>> report = RunReport(id="a", finished=(done,), skipped=(), retried=(), lost=(), seconds=2.0)
    >>> report.states, len(report.failed)
    ({'failed': 1}, 1)
    """

    id: str
    finished: tuple[PairFinished, ...]
    skipped: tuple[PairSkipped, ...]
    retried: tuple[PairRetried, ...]
    lost: tuple[WorkerLost, ...]
    seconds: float

    @property
    def failed(self) -> tuple[PairFinished, ...]:
        """Pairs whose receipt says *failed*."""
        return tuple(event for event in self.finished if event.state == "failed")

    @property
    def states(self) -> dict[str, int]:
        """How many receipts of each state."""
        return dict(Counter(event.state for event in self.finished))


Pair = tuple[str, str]
"""Model and benchmark."""


@dataclass
class Work:
    """A task that is not done."""

    model: str
    benchmarks: tuple[str, ...]
    memory: int | None
    gpu: int
    floor: int = 0  # bytes that were too few before
    due: float = 0.0
    losses: int = 0
    pairs: tuple[Pair, ...] = field(init=False)

    def __post_init__(self) -> None:
        self.pairs = tuple((self.model, benchmark) for benchmark in self.benchmarks)


def longest_first(tasks: Iterable[ModelTask]) -> list[ModelTask]:
    """Those whose time is not known first: they may be the longest."""
    return sorted(tasks, key=lambda task: (task.seconds is not None, -(task.seconds or 0.0)))


def merged(works: Sequence[Work]) -> list[Work]:
    """One task a model."""
    found: dict[str, Work] = {}
    for work in works:
        before = found.get(work.model)
        if before is not None:
            work = Work(
                work.model,
                (*before.benchmarks, *work.benchmarks),
                max(before.memory or 0, work.memory or 0) or None,
                max(before.gpu, work.gpu),
                max(before.floor, work.floor),
            )
        found[work.model] = work
    return list(found.values())


_LOOK = 0.2  # seconds between two looks at what is due
_CLAIM_LOOK = 10.0  # seconds until a pair is asked for again that a lost worker of this run still claims
_STOP_SECONDS = 6.0
_LOSSES = 3  # of workers, or of the store, without any pair done, before a task is given up


def run_plan(
    plan: Plan,
    *,
    store_address: str,
    scorer: str,
    cluster: ClusterOptions | None = None,
    on_event: Callable[[Event], None] | None = None,
    isolated: bool = False,
    scorer_options: Mapping[str, Any] | None = None,
) -> RunReport:
    """Score what a plan says, on workers of a Dask cluster.

    A task is a model with its benchmarks; the longest begin first. On a worker each model is scored in a process of
    its own, which may crash, hang or take too much memory without harm to others. A pair whose process dies is scored
    a second time, on a bigger worker where it was killed for its memory; then its receipt says *failed*. A pair that
    takes longer than `cluster.timeout` fails at once. A pair of a worker that is lost goes to another one.

    Parameters
    ----------
    plan : Plan
        Of :func:`~brainscore_core.runner.plan.make_plan`.
    store_address : str
        Folder or ``s3://`` address of the results, the same for all workers.
    scorer : str
        ``'package.module:function'``, imported where pairs are scored. Called as ``function(model, benchmark,
        store=ResultsStore, run=RunInfo, isolated=bool, **scorer_options)``; writes a receipt and returns it.
    cluster : ClusterOptions, optional
        By default one worker on this machine.
    on_event : callable, optional
        Told, in the calling thread, what happens as it happens.
    isolated : bool
        Whether models run in environments and processes of their own; handed to the scorer.
    scorer_options : mapping, optional
        Further keyword arguments, as JSON holds them.

    Returns
    -------
    RunReport
        Every pair of the plan once, as finished or as skipped.

    Raises
    ------
    UserError
        If Dask is not installed, the cluster cannot be had, or the scorer cannot be imported on its workers.
    KeyboardInterrupt
        After Ctrl-C, once workers of this machine are gone, and claims are free.
    """
    require_distributed()
    split_scorer(scorer)
    run = _Run(
        plan,
        store_address=str(store_address),
        scorer=scorer,
        options=cluster or ClusterOptions(),
        on_event=on_event or (lambda event: None),
        isolated=isolated,
        scorer_options=_plain(scorer_options or {}),
    )
    return run.go()


class _Run:
    """A plan while it is carried out."""

    def __init__(
        self,
        plan: Plan,
        *,
        store_address: str,
        scorer: str,
        options: ClusterOptions,
        on_event: Callable[[Event], None],
        isolated: bool,
        scorer_options: dict[str, Any],
    ) -> None:
        now = datetime.now(UTC)
        self.id = f"{now:%Y%m%dT%H%M%SZ}-{uuid4().hex[:8]}"
        self.options = options
        self.on_event = on_event
        self.common: dict[str, Any] = {
            "store": store_address,
            "scorer": scorer,
            "isolated": isolated,
            "options": scorer_options,
            # workers of this machine import what was imported here
            "code": platform_code() if options.scheduler is not None or options.slurm is not None else "",
        }
        # of a pair without receipt any receipt will do; one that is to be scored again needs a newer one
        missing = {tuple(one.pair) for one in plan.pending if one.why == "missing"}
        self.since = plan.created or f"{now:%Y-%m-%dT%H:%M:%S.%f}Z"
        self.missing = missing
        self.works = [Work(task.model, task.benchmarks, task.memory, task.gpu) for task in longest_first(plan.tasks)]
        self.count = 0  # of tasks that were submitted
        self.waiting: deque[Work] = deque()
        self.running: dict[str, tuple[Any, Work]] = {}
        self.begun: dict[Pair, int] = {}
        self.places: dict[Pair, str] = {}  # of pairs that are being scored
        self.too_large: dict[Pair, tuple[Work, int]] = {}
        self.ended: dict[Pair, PairFinished | PairSkipped] = {}
        self.retried: list[PairRetried] = []
        self.lost: list[WorkerLost] = []
        self.inbox: queue.SimpleQueue[tuple[str, Any]] = queue.SimpleQueue()

    def go(self) -> RunReport:
        start = time.monotonic()
        if self.works:
            works, large = self._by_size(self.works)
            if works:
                self._round(works, bigger_than=None)
            for pair, (work, limit) in self.too_large.items():
                large.append(Work(work.model, (pair[1],), work.memory, work.gpu, limit + 1))
            if large:
                self._round(merged(large), bigger_than=min(limit for limit in self._limits(large)))
        return RunReport(
            id=self.id,
            finished=tuple(event for event in self.ended.values() if isinstance(event, PairFinished)),
            skipped=tuple(event for event in self.ended.values() if isinstance(event, PairSkipped)),
            retried=tuple(self.retried),
            lost=tuple(self.lost),
            seconds=time.monotonic() - start,
        )

    def _by_size(self, works: list[Work]) -> tuple[list[Work], list[Work]]:
        """Set aside what is expected to need more than a worker of this machine has, if one can have more."""
        options = self.options
        if options.scheduler is not None or options.slurm is not None:
            return works, []
        if options.bigger_memory <= options.worker_memory:
            return works, []
        large = [work for work in works if (work.memory or 0) > options.worker_memory]
        return [work for work in works if work not in large], large

    def _limits(self, large: list[Work]) -> Iterator[int]:
        """How much the workers had where something did not fit."""
        yield from (limit for _, limit in self.too_large.values())
        if self.options.scheduler is None and self.options.slurm is None:
            yield self.options.worker_memory

    def _round(self, works: list[Work], *, bigger_than: int | None) -> None:
        with open_cluster(self.options, tasks=len(works), bigger_than=bigger_than) as cluster:
            self.waiting.extend(works)
            client = cluster.client
            client.subscribe_topic(self.id, lambda event: self.inbox.put(("event", event[1])))
            client.subscribe_topic("all", self._from_scheduler)
            self.on_event(
                ClusterReady(workers=len(client.scheduler_info(n_workers=-1)["workers"]), memory=cluster.memory)
            )
            try:
                while self.waiting or self.running:
                    self._submit(cluster)
                    self._receive(client)
            except BaseException:
                with deferring_interrupts():
                    self._stop(client)
                raise

    def _submit(self, cluster: Cluster) -> None:
        """Hand out as many tasks as the cluster takes at a time, so that the longest begin first."""
        now = time.monotonic()
        due = [work for work in self.waiting if work.due <= now]
        room = max(cluster.slots() - len(self.running), 0) if due else 0
        for work in due[:room]:
            self.waiting.remove(work)
            self.count += 1
            key = f"{self.id}-{self.count}"
            spec = TaskSpec(
                run=self.id,
                topic=self.id,
                key=key,
                model=work.model,
                benchmarks=work.benchmarks,
                attempts={benchmark: self.begun.get((work.model, benchmark), 0) for benchmark in work.benchmarks},
                since={pair[1]: "" if pair in self.missing else self.since for pair in work.pairs},
                threads=cluster.threads,
                memory=work.memory,
                limit=cluster.memory,
                largest=largest_memory(self.options, cluster.client),
                timeout=self.options.timeout,
                **self.common,
            )
            future = cluster.client.submit(
                run_task,
                spec.to_dict(),
                key=key,
                pure=False,
                priority=-self.count,
                **cluster.where(max(work.memory or 0, work.floor), work.gpu),
            )
            self.running[key] = (future, work)
            future.add_done_callback(lambda _, key=key: self.inbox.put(("done", key)))

    def _receive(self, client: Any) -> None:
        try:
            kind, content = self.inbox.get(timeout=_LOOK)
        except queue.Empty:
            return
        if kind == "event":
            self._happened(content)
        elif kind == "lost":
            self._worker_lost(content)
        elif content in self.running:
            self._task_done(*self.running.pop(content))

    def _from_scheduler(self, event: tuple[float, Any]) -> None:
        message = event[1]
        if message.get("action") == "remove-worker" and not message.get("expected"):
            self.inbox.put(("lost", message["worker"]))

    def _worker_lost(self, worker: str) -> None:
        pairs = tuple(pair for pair, place in self.places.items() if place == worker)
        for pair in pairs:
            del self.places[pair]
        event = WorkerLost(worker=worker, pairs=pairs)
        self.lost.append(event)
        self.on_event(event)
        for pair in pairs:
            if self.begun[pair] < ATTEMPTS:
                self._retried(pair, "its worker was lost")

    def _happened(self, message: Mapping[str, Any], work: Work | None = None) -> None:
        """Take note of an outcome; each comes as an event and, unless its worker was lost, once more in the end."""
        pair = (message["model"], message["benchmark"])
        what = message["what"]
        if what == "started":
            self.begun[pair] = message["attempt"]
            self.places[pair] = message["worker"]
            self.on_event(
                PairStarted(model=pair[0], benchmark=pair[1], worker=message["worker"], attempt=message["attempt"])
            )
        elif what == "retried":
            self._retried(pair, message["reason"])
        elif pair in self.ended:
            return
        elif what == "finished":
            self._ended(
                PairFinished(
                    model=pair[0],
                    benchmark=pair[1],
                    receipt_id=message["receipt"],
                    state=message["state"],
                    score=message["score"],
                    seconds=message["seconds"],
                    reason=message["reason"],
                )
            )
        elif what == "skipped":
            self._ended(PairSkipped(model=pair[0], benchmark=pair[1], reason=message["reason"]))
        elif what == "memory" and pair not in self.too_large:
            # already when it is told: the task's result is lost where a later pair of it fails
            work = work or next((one for _, one in self.running.values() if pair in one.pairs), None)
            if work is None:
                return
            self.places.pop(pair, None)
            self.too_large[pair] = (work, message["limit"])
            self._retried(pair, f"what scored it {message['reason']}; it gets a bigger worker")
        elif work is not None and what == "claimed":
            if message["owner"] == f"{OWNER}{self.id}":  # by a worker of this run that was lost, or cut off
                self._later(replace(work, benchmarks=(pair[1],)), _CLAIM_LOOK)
            else:
                owner = f" ({message['owner']})" if message["owner"] else ""
                self._ended(PairSkipped(model=pair[0], benchmark=pair[1], reason=f"another process works on it{owner}"))

    def _retried(self, pair: Pair, reason: str) -> None:
        event = PairRetried(model=pair[0], benchmark=pair[1], reason=reason)
        self.retried.append(event)
        self.on_event(event)

    def _ended(self, event: PairFinished | PairSkipped) -> None:
        pair = (event.model, event.benchmark)
        self.places.pop(pair, None)
        self.ended[pair] = event
        self.on_event(event)

    def _later(self, work: Work, seconds: float) -> None:
        work.due = time.monotonic() + seconds
        self.waiting.append(work)

    def _task_done(self, future: Any, work: Work) -> None:
        status = future.status
        if status == "finished":
            handled = set()
            for outcome in future.result():
                self._happened(outcome, work)
                if outcome["what"] != "stopped":
                    handled.add((outcome["model"], outcome["benchmark"]))
            left = tuple(pair[1] for pair in work.pairs if pair not in handled)
            if left:
                self._later(replace(work, benchmarks=left), 0.0)
            return
        if status != "error":
            raise UserError(
                f"the scheduler{f' at {self.options.scheduler}' if self.options.scheduler else ''} is gone",
                remedy="run the same again: what is done stays done",
            )
        error = future.exception()
        if isinstance(error, StoreError | OSError):
            self._store_lost(work, error)
            return
        again = self._left(work)
        if type(error).__name__ != "KilledWorker":
            raise error
        if again is not None and again.losses > _LOSSES:
            raise UserError(
                f"workers die again and again while they score {work.model!r}",
                remedy="look into their logs; do they run the same version of brainscore?",
            )
        if again is not None:
            self._later(again, 0.0)

    def _left(self, work: Work) -> Work | None:
        """What is left of a task that came to no end; None if nothing."""
        left = tuple(pair[1] for pair in work.pairs if pair not in self.ended and pair not in self.too_large)
        losses = work.losses + 1 if left == work.benchmarks else 0  # it got on, so that the next loss is another
        return replace(work, benchmarks=left, losses=losses) if left else None

    def _store_lost(self, work: Work, error: Exception) -> None:
        """Go on later with a task for which the results could not be reached; that is no fault of its pairs."""
        again = self._left(work)
        if again is None:
            return
        if again.losses > _LOSSES:
            raise error
        for pair in again.pairs:
            if self.places.pop(pair, None) is not None:
                self.begun[pair] -= 1
                self._retried(pair, f"the results could not be reached: {error}")
        self._later(again, _CLAIM_LOOK)

    def _stop(self, client: Any) -> None:
        """End what runs, so that claims are free when this process ends."""
        with contextlib.suppress(Exception):
            client.cancel([future for future, _ in self.running.values()], force=True)
        with contextlib.suppress(Exception):
            client.sync(client._run, stop_run, self.id, on_error="ignore", callback_timeout=_STOP_SECONDS)


def _plain(options: Mapping[str, Any]) -> dict[str, Any]:
    try:
        copied: dict[str, Any] = json.loads(json.dumps(dict(options)))
    except (TypeError, ValueError) as error:
        raise UserError(
            f"options of the scorer cannot travel to workers: {error}", remedy="use text, numbers, lists and mappings"
        ) from error
    return copied
