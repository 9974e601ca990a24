"""Run a plan on a cluster: every pair gets a receipt, or is skipped because another process scores it."""

from __future__ import annotations

import contextlib
import json
import queue
import threading
import time
from collections import Counter, deque
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields, replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, TypeVar
from uuid import uuid4

from brainscore_core.errors import UserError
from brainscore_core.receipts.environment import platform_code
from brainscore_core.receipts.schema import present_time
from brainscore_core.results.backend import StoreError
from brainscore_core.runner.cluster import (
    Cluster,
    ClusterOptions,
    deferring_interrupts,
    largest_memory,
    open_cluster,
    require_distributed,
    start_shared_template,
)
from brainscore_core.runner.pair import split_scorer
from brainscore_core.runner.template import end_idle_templates
from brainscore_core.runner.worker import ATTEMPTS, OWNER, TaskSpec, run_task, stop_run

if TYPE_CHECKING:
    import pandas as pd

    from brainscore_core.runner.plan import Plan


@dataclass(frozen=True, kw_only=True)
class Event:
    """Base class of the events of a run."""


@dataclass(frozen=True, kw_only=True)
class ClusterReady(Event):
    """Workers are ready.

    Attributes
    ----------
    workers : int
        Number of workers now; more may start later on a batch system.
    memory : int or None
        Bytes of memory that each worker may use, if known.
    """

    workers: int
    memory: int | None


@dataclass(frozen=True, kw_only=True)
class PairStarted(Event):
    """A worker starts to score a pair, for the first or second time (`attempt` 1 or 2)."""

    model: str
    benchmark: str
    worker: str
    attempt: int = 1


@dataclass(frozen=True, kw_only=True)
class PairFinished(Event):
    """A pair has a receipt.

    Attributes
    ----------
    receipt_id, state, score, reason
        As in the receipt; `score` is None if it is not defined.
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
    """A pair is not scored, because another process is scoring it, or finished it after the plan was made."""

    model: str
    benchmark: str
    reason: str


@dataclass(frozen=True, kw_only=True)
class PairRetried(Event):
    """A pair will be scored a second time, because the scoring process died."""

    model: str
    benchmark: str
    reason: str


@dataclass(frozen=True, kw_only=True)
class WorkerLost(Event):
    """A worker ended unexpectedly; `pairs` are the pairs (model, benchmark) that it was scoring."""

    worker: str
    pairs: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, kw_only=True)
class RunReport:
    """The outcome of every pair of a plan.

    Attributes
    ----------
    id : str
        Id of the run, which its receipts contain.
    finished, skipped : tuple
        The last event of each pair, which is in exactly one of the two.
    retried, lost : tuple
        Events during the run: pairs that were retried, and lost workers.
    seconds : float
        Wall-clock time, including the start of clusters.

    Examples
    --------
    >>> done = PairFinished(model="pixels", benchmark="Some2026-pls", receipt_id="20260114T093012", state="failed",
    ...                     score=None, seconds=1.5, reason="ValueError: no data")
    >>> report = RunReport(id="a", finished=(done,), skipped=(), retried=(), lost=(), seconds=2.0)
    >>> report.states, len(report.failed)
    ({'failed': 1}, 1)
    >>> report.to_pandas()[["model", "state", "seconds"]].to_dict("records")
    [{'model': 'pixels', 'state': 'failed', 'seconds': 1.5}]
    """

    id: str
    finished: tuple[PairFinished, ...]
    skipped: tuple[PairSkipped, ...]
    retried: tuple[PairRetried, ...]
    lost: tuple[WorkerLost, ...]
    seconds: float

    @property
    def failed(self) -> tuple[PairFinished, ...]:
        """Pairs whose receipt has the state *failed*."""
        return tuple(event for event in self.finished if event.state == "failed")

    @property
    def states(self) -> dict[str, int]:
        """Number of receipts of each state."""
        return dict(Counter(event.state for event in self.finished))

    def to_pandas(self) -> pd.DataFrame:
        """Convert to a table with one row per pair; the state of a pair that was left out is *skipped*."""
        import pandas as pd

        columns = ("model", "benchmark", "state", "score", "reason", "seconds", "receipt_id")
        rows = [tuple(getattr(event, name) for name in columns) for event in self.finished]
        rows += [(event.model, event.benchmark, "skipped", None, event.reason, None, None) for event in self.skipped]
        numbers = {"score": "float64", "seconds": "float64"}
        return pd.DataFrame(rows, columns=list(columns)).astype(numbers)


Pair = tuple[str, str]
"""Model and benchmark."""

SomeEvent = TypeVar("SomeEvent", bound=Event)


@dataclass
class Work:
    """A task that is not finished: a model, and those of its benchmarks that remain."""

    model: str
    benchmarks: tuple[str, ...]
    memory: int | None
    gpu: int
    min_memory: int = 0  # bytes that its worker must have, after an attempt with less memory failed
    due: float = 0.0  # time.monotonic() at which the task may start
    losses: int = 0  # consecutive losses of its worker or of the store without a finished pair
    pairs: tuple[Pair, ...] = field(init=False)

    def __post_init__(self) -> None:
        self.pairs = tuple((self.model, benchmark) for benchmark in self.benchmarks)


def merge_by_model(works: Sequence[Work]) -> list[Work]:
    """Merge the tasks of each model."""
    by_model: dict[str, Work] = {}
    for work in works:
        before = by_model.get(work.model)
        if before is not None:
            work = Work(
                work.model,
                (*before.benchmarks, *work.benchmarks),
                max(before.memory or 0, work.memory or 0) or None,
                max(before.gpu, work.gpu),
                max(before.min_memory, work.min_memory),
            )
        by_model[work.model] = work
    return list(by_model.values())


_TICK = 0.2  # seconds between two checks of the waiting tasks
_RETRY_SECONDS = 10.0  # until a lost store, or a pair claimed by a lost worker of this run, is tried again
_LEAST_PART = 1.0  # expected seconds of the pairs that an idle worker takes, whose process reads features anew
_STOP_SECONDS = 6.0  # that workers have to release their claims when the run is interrupted
_MAX_LOSSES = 3  # consecutive losses of the worker or the store, without a finished pair, before a task is abandoned


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
    """Score the pairs of a plan on workers of a Dask cluster.

    A task is a model with its benchmarks; those with the longest pairs start first. On a worker, each model is scored
    in a separate process, which may crash, hang or use too much memory without affecting others. A pair whose process
    dies is scored a second time, on a worker with more memory if the process was killed for its memory; if that process
    dies, too, the pair fails. A pair that takes longer than `cluster.timeout` fails at once. The pairs of a lost worker
    are moved to another worker.

    Parameters
    ----------
    plan : Plan
        Result of :func:`~brainscore_core.runner.plan.make_plan`.
    store_address : str
        Folder or ``s3://`` address of the results, the same for all workers.
    scorer : str
        ``'package.module:function'``, imported on the workers. It is called as ``function(model, benchmark,
        store=ResultsStore, run=RunInfo, isolated=bool, **scorer_options)``, stores a receipt and returns it.
    cluster : ClusterOptions, optional
        By default, one worker on this machine.
    on_event : callable, optional
        Called with each event, in the calling thread.
    isolated : bool
        Whether each model runs in its own environment and process; passed to the scorer.
    scorer_options : mapping, optional
        Further keyword arguments of the scorer, as JSON types.

    Returns
    -------
    RunReport
        Every pair of the plan once, as finished or skipped.

    Raises
    ------
    UserError
        If Dask is not installed, the cluster is not available, or its workers cannot import the scorer.
    KeyboardInterrupt
        After Ctrl-C, once workers on this machine have ended and claims are released.
    """
    split_scorer(scorer)
    options = cluster or ClusterOptions()
    common_fields = {
        "store": str(store_address),
        "scorer": scorer,
        "isolated": isolated,
        "options": _json_copy(scorer_options or {}),
        # workers on this machine import the same code; other workers check that theirs is the same
        "code": "" if options.is_local else platform_code(),
    }
    return _Run(plan, options, common_fields, on_event or (lambda event: None)).execute()


class _Run:
    """A plan in execution; `common_fields` are those of all task specifications."""

    def __init__(
        self,
        plan: Plan,
        options: ClusterOptions,
        common_fields: Mapping[str, Any],
        on_event: Callable[[Event], None],
    ) -> None:
        self.id = f"{datetime.now(UTC):%Y%m%dT%H%M%SZ}-{uuid4().hex[:8]}"
        self.options = options
        self.on_event = on_event
        self.common_fields = common_fields
        # any receipt completes a pair that has none; a pair that is scored again needs a newer receipt
        self.missing = {tuple(pending.pair) for pending in plan.pending if pending.why == "missing"}
        self.since = plan.created or present_time()
        self.works = [Work(task.model, task.benchmarks, task.memory, task.gpu) for task in plan.tasks]
        self.n_submitted = 0  # tasks
        self.waiting: deque[Work] = deque()
        self.running: dict[str, tuple[Any, Work]] = {}
        self.attempts: dict[Pair, int] = {}
        self.workers: dict[Pair, str] = {}  # addresses of the workers that score pairs now
        self.seconds: dict[str, list[float]] = {}  # of pairs that were scored, by model
        self.all_seconds, self.n_timed = 0.0, 0  # the sum and number of these
        self.seconds_again: dict[str, float] = {}  # that another process would need to load a model
        self.begun_benchmarks: set[str] = set()
        self.too_large: dict[Pair, tuple[Work, int]] = {}  # with the memory limit at which their process was killed
        self.claimed: set[Pair] = set()  # which a task left to another owner
        self.ended: dict[Pair, PairFinished | PairSkipped] = {}
        self.retried: list[PairRetried] = []
        self.lost: list[WorkerLost] = []
        self.inbox: queue.SimpleQueue[tuple[str, Any]] = queue.SimpleQueue()

    def execute(self) -> RunReport:
        start = time.monotonic()
        if self.works:
            require_distributed()
            try:
                self._run_works()
            finally:
                end_idle_templates()
        return RunReport(
            id=self.id,
            finished=tuple(event for event in self.ended.values() if isinstance(event, PairFinished)),
            skipped=tuple(event for event in self.ended.values() if isinstance(event, PairSkipped)),
            retried=tuple(self.retried),
            lost=tuple(self.lost),
            seconds=time.monotonic() - start,
        )

    def _run_works(self) -> None:
        works, large = self._split_by_memory(self.works)
        if works:
            # the template of workers on this machine imports and loads while they are started
            start_shared_template(
                self.options, self.common_fields["scorer"], works[0].benchmarks, options=self.common_fields["options"]
            )
            self._run_tasks(works, bigger_than=None)
        for pair, (work, limit) in self.too_large.items():
            large.append(Work(work.model, (pair[1],), work.memory, work.gpu, limit + 1))
        if large:
            limits = [limit for _, limit in self.too_large.values()]  # that were not enough
            if self.options.is_local:
                limits.append(self.options.worker_memory)
            self._run_tasks(merge_by_model(large), bigger_than=min(limits))

    def _split_by_memory(self, works: list[Work]) -> tuple[list[Work], list[Work]]:
        """Separate tasks that need more memory than a worker on this machine has, if a bigger worker is possible."""
        options = self.options
        if not options.is_local or options.bigger_memory <= options.worker_memory:
            return works, []
        large = [work for work in works if (work.memory or 0) > options.worker_memory]
        return [work for work in works if work not in large], large

    def _run_tasks(self, works: list[Work], *, bigger_than: int | None) -> None:
        """Run tasks on a cluster; with `bigger_than`, on workers with more memory than these bytes."""
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
                    self._record_events()
                raise

    def _submit(self, cluster: Cluster) -> None:
        """Submit as many tasks as the cluster can run at a time, so that the longest pairs start first."""
        now = time.monotonic()
        due = sorted((work for work in self.waiting if work.due <= now), key=self._place_of)
        free = max(cluster.slots() - len(self.running), 0) if due or self._may_split() else 0
        chosen = due[:free]
        for work in chosen:
            self.waiting.remove(work)
        while len(chosen) < free and (split := self._part_of_running(chosen)) is not None:
            chosen.append(split)
        for work in chosen:
            self.n_submitted += 1
            key = f"{self.id}-{self.n_submitted}"
            spec = TaskSpec(
                run=self.id,
                key=key,
                model=work.model,
                benchmarks=work.benchmarks,
                attempts={benchmark: self.attempts.get((work.model, benchmark), 0) for benchmark in work.benchmarks},
                since={pair[1]: "" if pair in self.missing else self.since for pair in work.pairs},
                threads=cluster.threads,
                memory=work.memory,
                limit=cluster.memory,
                largest=largest_memory(self.options, cluster.client),
                timeout=self.options.timeout,
                others_wait=bool(self.waiting),
                **self.common_fields,
            )
            future = cluster.client.submit(
                run_task,
                asdict(spec),
                key=key,
                pure=False,
                priority=-self.n_submitted,
                **cluster.where(max(work.memory or 0, work.min_memory), work.gpu),
            )
            self.running[key] = (future, work)
            future.add_done_callback(lambda _, key=key: self.inbox.put(("done", key)))

    def _place_of(self, work: Work) -> tuple[bool, float]:
        """Sort key of a waiting task: long pairs first, since one that starts late keeps one worker busy at the end.

        A task that ended because none of its benchmarks was loaded comes after all others until one is.
        """
        is_early = work.model in self.seconds and self.begun_benchmarks.isdisjoint(work.benchmarks)
        return is_early, -self._seconds_per_pair(work.model)

    def _may_split(self) -> bool:
        """Whether an idle worker may take pairs of a running task: at the end of a run on this machine."""
        return self.options.shares_template and not self.waiting

    def _part_of_running(self, chosen: Sequence[Work]) -> Work | None:
        """Pairs of a running task for an idle worker, the last ones first; None if that would save no time.

        Both tasks claim each pair before they score it, so that it is scored once.
        """
        best, most = None, 0.0
        tasks = [*(work for _, work in self.running.values()), *chosen]
        n_idle = Counter(work.model for work in tasks)  # tasks that have not begun a pair
        n_idle.subtract(model for model, _ in self.workers)
        begun = {*self.ended, *self.workers, *self.too_large, *self.claimed}
        for work in tasks if self._may_split() else []:
            pairs = [pair for pair in work.pairs if pair not in begun]
            seconds = len(pairs) * self.seconds.get(work.model, [0.0])[-1]
            least = _LEAST_PART + 2 * self.seconds_again.get(work.model, 0.0)
            if len(pairs) > n_idle[work.model] and seconds > max(least, most):
                best, most = replace(work, benchmarks=tuple(pair[1] for pair in reversed(pairs))), seconds
        return best

    def _seconds_per_pair(self, model: str) -> float:
        """Mean time of a model's pairs that were scored in this run, or else of all."""
        seconds = self.seconds.get(model)
        return sum(seconds) / len(seconds) if seconds else self.all_seconds / max(self.n_timed, 1)

    def _receive(self, client: Any) -> None:
        try:
            kind, content = self.inbox.get(timeout=_TICK)
        except queue.Empty:
            return
        if kind == "event":
            self._record(content)
        elif kind == "lost":
            self._worker_lost(content)
        elif content in self.running:
            self._task_done(*self.running.pop(content))

    def _record_events(self) -> None:
        """Record what has arrived of pairs that ended before the run was interrupted."""
        while not self.inbox.empty():
            kind, content = self.inbox.get()
            if kind == "event" and content["what"] == "finished":
                self._record(content)

    def _from_scheduler(self, event: tuple[float, Any]) -> None:
        message = event[1]
        if message.get("action") == "remove-worker" and not message.get("expected"):
            self.inbox.put(("lost", message["worker"]))

    def _worker_lost(self, worker: str) -> None:
        pairs = tuple(pair for pair, address in self.workers.items() if address == worker)
        for pair in pairs:
            del self.workers[pair]
        event = WorkerLost(worker=worker, pairs=pairs)
        self.lost.append(event)
        self.on_event(event)
        for pair in pairs:
            if self.attempts[pair] < ATTEMPTS:
                self._record_retry(pair, "its worker was lost")

    def _record(self, message: Mapping[str, Any], work: Work | None = None) -> None:
        """Record an outcome, which arrives as an event and (with its task, unless the worker was lost) in a result."""
        pair = (message["model"], message["benchmark"])
        kind = message["what"]
        if kind == "started":
            self.attempts[pair] = message["attempt"]
            self.workers[pair] = message["worker"]
            self.begun_benchmarks.add(pair[1])
            self.on_event(_event(PairStarted, message))
        elif kind == "retried":
            self._record_retry(pair, message["reason"])
        elif pair in self.ended:
            return
        elif kind == "finished":
            if "seconds_again" in message and message["state"] == "scored":  # others tell nothing about later pairs
                self.seconds.setdefault(pair[0], []).append(message["seconds"])
                self.all_seconds += message["seconds"]
                self.n_timed += 1
                self.seconds_again[pair[0]] = message["seconds_again"]
            self._record_end(_event(PairFinished, {**message, "receipt_id": message["receipt"]}))
        elif kind == "skipped":
            self._record_end(_event(PairSkipped, message))
        elif kind == "memory" and pair not in self.too_large:
            # recorded when the event arrives, since the task's result is lost if a later pair raises an error
            work = work or next((running for _, running in self.running.values() if pair in running.pairs), None)
            if work is None:
                return
            self.workers.pop(pair, None)
            self.too_large[pair] = (work, message["limit"])
            self._record_retry(pair, f"the scoring process {message['reason']}; the next worker has more memory")
        elif work is not None and kind == "claimed":
            if any(pair in task.pairs for _, task in self.running.values()):
                self.claimed.add(pair)
                return  # another task with this pair ends later
            if message["owner"] == f"{OWNER}{self.id}":  # claimed by a lost worker of this run
                self._postpone(replace(work, benchmarks=(pair[1],)), _RETRY_SECONDS)
            else:
                owner = f" ({message['owner']})" if message["owner"] else ""
                self._record_end(_event(PairSkipped, {**message, "reason": f"another process is scoring it{owner}"}))

    def _record_retry(self, pair: Pair, reason: str) -> None:
        event = PairRetried(model=pair[0], benchmark=pair[1], reason=reason)
        self.retried.append(event)
        self.on_event(event)

    def _record_end(self, event: PairFinished | PairSkipped) -> None:
        pair = (event.model, event.benchmark)
        self.workers.pop(pair, None)
        self.ended[pair] = event
        self.on_event(event)

    def _postpone(self, work: Work, seconds: float) -> None:
        work.due = time.monotonic() + seconds
        self.waiting.append(work)

    def _task_done(self, future: Any, work: Work) -> None:
        status = future.status
        if status == "finished":
            handled = set()
            for outcome in future.result():
                self._record(outcome, work)
                if outcome["what"] != "stopped":
                    handled.add((outcome["model"], outcome["benchmark"]))
            remaining = tuple(pair[1] for pair in work.pairs if pair not in handled)
            if remaining:
                self._postpone(replace(work, benchmarks=remaining), 0.0)
            return
        if status != "error":
            raise UserError(
                f"the scheduler{f' at {self.options.scheduler}' if self.options.scheduler else ''} has ended",
                remedy="start the same run again; it omits finished pairs",
            )
        error = future.exception()
        if isinstance(error, StoreError | OSError):
            self._store_lost(work, error)
            return
        remaining_work = self._remaining(work)
        if type(error).__name__ != "KilledWorker":
            raise error
        if remaining_work is not None and remaining_work.losses > _MAX_LOSSES:
            raise UserError(
                f"workers die repeatedly while they score {work.model!r}",
                remedy="check the logs of the workers, and whether all have the same version of brainscore",
            )
        if remaining_work is not None:
            self._postpone(remaining_work, 0.0)

    def _remaining(self, work: Work) -> Work | None:
        """Return a task with the unfinished pairs of a task that was lost; None if all its pairs are finished."""
        remaining = tuple(pair[1] for pair in work.pairs if pair not in self.ended and pair not in self.too_large)
        losses = work.losses + 1 if remaining == work.benchmarks else 0  # progress resets the count
        return replace(work, benchmarks=remaining, losses=losses) if remaining else None

    def _store_lost(self, work: Work, error: Exception) -> None:
        """Postpone a task because the results store could not be reached; this does not count as an attempt."""
        remaining_work = self._remaining(work)
        if remaining_work is None:
            return
        if remaining_work.losses > _MAX_LOSSES:
            raise error
        for pair in remaining_work.pairs:
            if self.workers.pop(pair, None) is not None:
                self.attempts[pair] -= 1
                self._record_retry(pair, f"the results store could not be reached: {error}")
        self._postpone(remaining_work, _RETRY_SECONDS)

    def _stop(self, client: Any) -> None:
        """Stop running tasks, so that their claims are released before this process ends."""
        with contextlib.suppress(Exception):
            client.cancel([future for future, _ in self.running.values()], force=True)

        def stop() -> None:
            with contextlib.suppress(Exception):
                client.run(stop_run, self.id, on_error="ignore")

        stopping = threading.Thread(target=stop, daemon=True)  # a worker that is lost never answers
        stopping.start()
        stopping.join(_STOP_SECONDS)


def _event(kind: type[SomeEvent], message: Mapping[str, Any]) -> SomeEvent:
    """The event that a worker reports."""
    return kind(**{declared.name: message[declared.name] for declared in fields(kind) if declared.name in message})


def _json_copy(options: Mapping[str, Any]) -> dict[str, Any]:
    try:
        copied: dict[str, Any] = json.loads(json.dumps(dict(options)))
    except (TypeError, ValueError) as error:
        raise UserError(
            f"options of the scorer cannot be sent to workers: {error}",
            remedy="use strings, numbers, lists and mappings",
        ) from error
    return copied
