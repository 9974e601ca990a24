"""Tasks on a worker: the pairs of one model, scored in a process of their own.

If the process dies, the worker keeps the claim and scores the pair once more; it then writes a failed receipt. A worker
of a scheduler that has itself gone is another matter: `WorkerLost` in `run.py`.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from brainscore_core.errors import UserError
from brainscore_core.memory import format_size
from brainscore_core.receipts.environment import platform_code
from brainscore_core.receipts.receipt import Receipt, RunInfo
from brainscore_core.results.claims import Claim
from brainscore_core.results.store import ResultsStore
from brainscore_core.runner.child import Scored, receipt_fields
from brainscore_core.runner.pair import write_failed
from brainscore_core.runner.process import Death, ScoringProcess, scoring_environment, write_unscored
from brainscore_core.runner.template import Template, borrow_template

OWNER = "run "
"""Prefix of the owner in claims of a run; the id of the run follows."""

ATTEMPTS = 2
"""Number of attempts: a pair whose process or worker dies is scored once more."""

_stopped: set[str] = set()  # runs
_active: Counter[str] = Counter()  # tasks of each run


@dataclass(frozen=True, kw_only=True)
class TaskSpec:
    """A task as it is sent to a worker, in plain values."""

    # the run, which is the topic of its events, and the topic of this task
    run: str
    key: str
    # pairs, in order, and the number of earlier attempts of each
    model: str
    benchmarks: tuple[str, ...]
    attempts: Mapping[str, int] = field(default_factory=dict)
    # as for `run_plan`
    store: str
    scorer: str
    isolated: bool
    options: Mapping[str, Any]
    # for each benchmark, the time from which on a receipt makes scoring unnecessary; empty: any receipt does
    since: Mapping[str, str]
    threads: int  # threads of the numerical libraries
    # expected memory of the task, and memory that pairs may use, in bytes; limit None: what the worker advertises
    memory: int | None
    limit: int | None
    largest: int | None  # memory in bytes of the largest available worker, for pairs that need more than this one has
    timeout: float | None  # seconds per pair
    code: str = ""  # `platform_code` where the run was started; empty: not compared
    # whether tasks of other models wait: this one then ends early if it would have to wait for a template
    others_wait: bool = False


def run_task(plain: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Score a model's pairs. Runs on a worker.

    Returns outcomes of pairs: ``{"what": "finished" | "skipped" | "claimed" | "memory" | "stopped", "benchmark": …}``;
    none of pairs that are left to another task.
    """
    from distributed import get_worker

    spec = TaskSpec(**plain)
    worker = get_worker()
    if spec.code and spec.code != platform_code():
        raise other_code(worker.address)
    _active[spec.run] += 1
    try:
        return _Task(spec, worker).run()
    finally:
        _active[spec.run] -= 1


def other_code(place: str) -> UserError:
    """Make the error for a worker whose code differs from that of the run."""
    return UserError(
        f"the code of brainscore at {place} differs from the code here",
        remedy="install the same version on both sides, and restart the workers",
    )


async def stop_run(run: str, seconds: float = 4.0) -> None:
    """Stop a run's tasks on this worker, and wait until they have stopped."""
    _stopped.add(run)
    for _ in range(int(seconds / 0.05)):
        if not _active[run]:
            return
        await asyncio.sleep(0.05)


class _Task:
    """A running task."""

    def __init__(self, spec: TaskSpec, worker: Any) -> None:
        self.spec = spec
        self.worker = worker
        self.store = ResultsStore(spec.store)
        self.limit = spec.limit if spec.limit is not None else advertised_memory(worker)
        self.bigger_exists = spec.largest is not None and self.limit is not None and spec.largest > self.limit
        self.settings = {
            "scorer": spec.scorer,
            "store": spec.store,
            "run": spec.run,
            "isolated": spec.isolated,
            "options": dict(spec.options),
        }
        self.environment = scoring_environment(spec.threads, self.limit) | getattr(worker, "scoring_variables", {})
        self.run_info = RunInfo(id=spec.run, isolated=spec.isolated)
        self.process: ScoringProcess | None = None
        self.attempts: Counter[str] = Counter()
        self.remaining: list[str] = []
        self.outcomes: list[dict[str, Any]] = []
        self.seconds_again = 0.0  # that another process would need to load the model
        try:
            self.key: str | None = worker.get_current_task()
        except ValueError:
            self.key = None

    def run(self) -> list[dict[str, Any]]:
        self.attempts, ended = self._history()
        self.outcomes = list(ended.values())
        self.remaining = [benchmark for benchmark in self.spec.benchmarks if benchmark not in ended]
        waiting: list[str] = []
        try:
            while self.remaining and (benchmark := self._next()) is not None:
                self.remaining.remove(benchmark)
                outcome = self._pair(benchmark)
                if outcome["what"] == "claimed":
                    waiting.append(benchmark)
                else:
                    self.outcomes.append(self._report(outcome))
            # other processes had claimed these pairs; they may be finished or released by now
            for benchmark in waiting:
                self.outcomes.append(self._report(self._pair(benchmark)))
        finally:
            if self.process is not None:
                self.process.finish()
        return self.outcomes

    def stopped(self) -> bool:
        """Whether the run was stopped or this task was cancelled."""
        if self.spec.run in _stopped:
            return True
        task = self.worker.state.tasks.get(self.key) if self.key is not None else None
        return task is not None and task.state == "cancelled"

    def _history(self) -> tuple[Counter[str], dict[str, dict[str, Any]]]:
        """Attempts of each pair, and outcomes of ended pairs, also of this task's earlier run on a lost worker."""
        from distributed.utils import sync

        attempts = Counter(dict(self.spec.attempts))
        ended: dict[str, dict[str, Any]] = {}
        for _, message in sync(self.worker.loop, self.worker.scheduler.events, topic=self.spec.key):
            if message["what"] == "started":
                attempts[message["benchmark"]] += 1
            elif message["what"] in {"finished", "skipped", "memory"}:
                ended[message["benchmark"]] = dict(message)
        return attempts, ended

    def _next(self) -> str | None:
        """Next benchmark, one that need not be waited for if possible; None to let another model's task go first.

        While the template loads benchmarks, the process scores those that it has, and is then replaced by one that has
        more. It waits for more of them at most as long as it takes to load the model again, which is what that costs.
        """
        if self.stopped():
            return self.remaining[0]
        if again := [benchmark for benchmark in self.remaining if self.attempts[benchmark]]:
            return again[0]
        template = None if self.process is None else self.process.template
        if self.process is not None and template is None:
            return self.remaining[0]
        if template is not None:
            if ready := self._ready(template):
                return ready[0]
            if self.spec.others_wait and not template.wait_for_any(
                self.remaining, self.seconds_again, stopped=self.stopped
            ):
                return None
        self._fork()
        template = None if self.process is None else self.process.template
        ready = [] if template is None else self._ready(template)
        return (ready or self.remaining)[0]

    def _ready(self, template: Template) -> list[str]:
        """Remaining benchmarks that the process has, or would have to load in any case."""
        present = self.process.benchmarks if self.process is not None else frozenset()
        return [name for name in self.remaining if name in present or not template.may_keep(name)]

    def _fork(self) -> None:
        """Replace the process by one with more benchmarks, if the template can fork one."""
        template = borrow_template(
            self.settings,
            self.remaining,
            environment=self.environment,
            limit=self.limit,
            timeout=self.spec.timeout,
            stopped=self.stopped,
            patience=self.seconds_again,
        )
        if template is None:
            return
        if self.process is not None and template.kept.isdisjoint(self.remaining):
            template.give_back()
            return
        if self.process is not None:
            self.process.finish()
        self.process = ScoringProcess(self.settings, environment=self.environment, limit=self.limit, template=template)

    def _pair(self, benchmark: str) -> dict[str, Any]:
        if self.stopped():
            return self._outcome("stopped", benchmark)
        claim = self.store.claim(self.spec.model, benchmark, owner=f"{OWNER}{self.spec.run}", one_receipt=True)
        if claim is None:
            return self._outcome("claimed", benchmark, owner=self.store.owner(self.spec.model, benchmark))
        with claim:  # renews it
            outcome = self._ended_before(benchmark, claim) or self._score(benchmark, self.attempts[benchmark])
            if outcome["what"] == "finished":
                claim.finish()
            return outcome

    def _ended_before(self, benchmark: str, claim: Claim) -> dict[str, Any] | None:
        """Outcome of a claimed pair that need not be scored; None if it must be."""
        attempts = self.attempts[benchmark]
        if not claim.is_first:
            latest = self.store.latest(self.spec.model, benchmark)
            if latest is not None and latest.created >= self.spec.since[benchmark]:
                if latest.run is None or latest.run.id != self.spec.run:
                    return self._outcome("skipped", benchmark, reason=f"scored meanwhile by another run: {latest.id}")
                if attempts >= ATTEMPTS or not _model_lacked_memory(latest):
                    return self._finished(benchmark, latest, 0.0)  # its worker died before it reported the receipt
        if attempts >= ATTEMPTS:
            kind, message = "WorkerLost", "lost its worker twice"
            lost = write_failed(self.store, self.spec.model, benchmark, kind=kind, message=message, run=self.run_info)
            return self._finished(benchmark, lost, 0.0)
        return None

    def _score(self, benchmark: str, attempts: int) -> dict[str, Any]:
        while True:
            attempts += 1
            self._report(self._outcome("started", benchmark, attempt=attempts))
            if self.process is None:  # without a template, or after a failure, which may have been that of the template
                self.process = ScoringProcess(self.settings, environment=self.environment, limit=self.limit)
            try:
                result = self.process.score(self.spec.model, benchmark, timeout=self.spec.timeout, stopped=self.stopped)
            except BaseException:
                self.process.close()  # it may be scoring a pair that is no longer claimed
                raise
            if isinstance(result, Scored):
                self.seconds_again = max(self.seconds_again, result.seconds_again)
                if self.bigger_exists and attempts < ATTEMPTS and self._needs_more_memory(benchmark, result):
                    reason = "reported that its model ran out of memory"
                    return self._outcome("memory", benchmark, reason=reason, limit=self.limit)
                return self._answered(result)
            self.process = None
            if result.kind == "stopped":
                return self._outcome("stopped", benchmark)
            if result.kind == "memory" and attempts < ATTEMPTS and self.bigger_exists:
                return self._outcome("memory", benchmark, reason=result.message, limit=self.limit)
            if result.kind != "crash" or attempts >= ATTEMPTS:
                return self._failed(benchmark, result)
            self._report(self._outcome("retried", benchmark, reason=f"the scoring process {result.message}"))

    def _needs_more_memory(self, benchmark: str, answer: Scored) -> bool:
        """Whether the pair failed because the process of an isolated model ran out of memory."""
        if not self.spec.isolated or answer.state != "failed":
            return False
        latest = self.store.latest(self.spec.model, benchmark)
        return latest is not None and latest.id == answer.receipt and _model_lacked_memory(latest)

    def _answered(self, answer: Scored) -> dict[str, Any]:
        if answer.error is not None:  # of the scorer itself, which writes receipts for errors of plugins
            receipt = write_unscored(self.store, self.spec.model, answer.benchmark, answer.error, self.run_info)
            return self._finished(answer.benchmark, receipt, answer.seconds)
        fields = {name: getattr(answer, name) for name in ("receipt", "state", "score", "reason")}
        costs = {"seconds": answer.seconds, "seconds_again": self.seconds_again}
        return self._outcome("finished", answer.benchmark, **fields, **costs)

    def _failed(self, benchmark: str, death: Death) -> dict[str, Any]:
        remark = ""
        if death.kind == "memory":
            remark = "" if self.bigger_exists else "; no worker has more memory"
            if self.spec.memory:
                remark += f" (the pair was expected to need {format_size(self.spec.memory)})"
        receipt = write_unscored(self.store, self.spec.model, benchmark, death, self.run_info, remark=remark)
        return self._finished(benchmark, receipt, death.seconds)

    def _finished(self, benchmark: str, receipt: Receipt, seconds: float) -> dict[str, Any]:
        return self._outcome("finished", benchmark, **receipt_fields(receipt), seconds=seconds)

    def _outcome(self, kind: str, benchmark: str, **details: Any) -> dict[str, Any]:
        return {"what": kind, "model": self.spec.model, "benchmark": benchmark, **details}

    def _report(self, outcome: dict[str, Any]) -> dict[str, Any]:
        self.worker.log_event([self.spec.run, self.spec.key], {**outcome, "worker": self.worker.address})
        return outcome


def _model_lacked_memory(receipt: Receipt) -> bool:
    return receipt.error is not None and receipt.error.type == "SubjectOutOfMemory"


def advertised_memory(worker: Any) -> int | None:
    """Bytes that a worker has for a task: its resource *memory* (in MB), else its limit divided by its threads."""
    resources = getattr(worker.state, "total_resources", {})
    if megabytes := resources.get("memory"):
        return int(megabytes * 1_000_000)
    limit = worker.memory_manager.memory_limit
    return int(limit / worker.state.nthreads) if limit else None
