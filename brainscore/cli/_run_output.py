"""What ``brainscore run`` prints: the plan, the progress and the summary."""

from __future__ import annotations

import sys
import time
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

from brainscore.cli._output import aligned, echo, harmless_text, style
from brainscore_core.memory import format_size
from brainscore_core.plurals import counted

if TYPE_CHECKING:
    from brainscore_core.runner import Event, PairFinished, PairSkipped
    from brainscore_core.runner.plan import Pair, Pending, Plan, Prediction
    from brainscore_core.scoring import ResultsStore


class Progress:
    """Receives the events of a run, shows them, and keeps the results.

    A terminal shows a bar for all pairs, with the time left, and a line for each pair that is being scored; failures
    stay on the screen. Other output has one line per pair.
    """

    def __init__(self, total: int) -> None:
        self.finished: list[PairFinished] = []
        self.skipped: list[PairSkipped] = []
        self._total = total
        self._start = time.monotonic()
        self._running: dict[tuple[str, str], Any] = {}
        self._display: Any = None
        if sys.stderr.isatty():
            from rich.console import Console, Group
            from rich.live import Live
            from rich.progress import BarColumn, TextColumn, TimeElapsedColumn, TimeRemainingColumn
            from rich.progress import Progress as Bars

            text = TextColumn("{task.description}", markup=False)
            # pairs take minutes to hours
            times = (TimeElapsedColumn(), TimeRemainingColumn())
            self._pairs = Bars(BarColumn(), text, *times, speed_estimate_period=24 * 3600)
            self._all = self._pairs.add_task(f"0 of {total}, starting workers", total=max(total, 1))
            self._running_pairs = Bars(text, TimeElapsedColumn())
            console = Console(stderr=True, highlight=False, soft_wrap=True)
            self._display = Live(Group(self._pairs, self._running_pairs), console=console, transient=True)

    @property
    def seconds(self) -> float:
        """Seconds since the run began."""
        return time.monotonic() - self._start

    def __enter__(self) -> Progress:
        if self._display is not None:
            self._display.start()
        return self

    def __exit__(self, *exception: object) -> None:
        if self._display is not None:
            self._display.stop()

    def __call__(self, event: Event) -> None:
        """Record and show an event."""
        from brainscore_core import runner

        match event:
            case runner.ClusterReady():
                self._update()
            case runner.PairStarted():
                self._end((event.model, event.benchmark))
                if self._display is not None:
                    line = harmless_text(f"  {event.model}  {event.benchmark}")
                    self._running[event.model, event.benchmark] = self._running_pairs.add_task(line, total=None)
            case runner.PairFinished():
                self.finished.append(event)
                self._say(event.model, event.benchmark, _outcome(event), bad=event.state == "failed")
            case runner.PairSkipped():
                self.skipped.append(event)
                self._say(event.model, event.benchmark, f"left out: {event.reason}", bad=False)
            case runner.PairRetried():
                self._end((event.model, event.benchmark))
                self._echo(f"again: {event.model} on {event.benchmark}: {event.reason}")
            case runner.WorkerLost():
                for pair in event.pairs:
                    self._end(pair)
                self._echo(f"lost a worker: {event.worker}")

    def _end(self, pair: tuple[str, str]) -> None:
        """Remove the line of a pair that is no longer scored."""
        if (line := self._running.pop(pair, None)) is not None:
            self._running_pairs.remove_task(line)

    def _update(self) -> None:
        """Update the bar of all pairs."""
        if self._display is not None:
            number = len(self.finished) + len(self.skipped)
            failed = sum(event.state == "failed" for event in self.finished)
            text = f"{number} of {self._total}" + (f", {failed} failed" if failed else "")
            self._pairs.update(self._all, completed=number, description=text)

    def _say(self, model: str, benchmark: str, outcome: str, *, bad: bool) -> None:
        self._end((model, benchmark))
        self._update()
        if self._display is None:
            number = len(self.finished) + len(self.skipped)
            self._echo(f"{number:{len(str(self._total))}}/{self._total}  {model}  {benchmark}  {outcome}")
        elif bad:
            self._echo(f"{model} on {benchmark}: {outcome}", style="red")

    def _echo(self, line: str, style: str = "") -> None:
        if self._display is not None:
            self._display.console.print(harmless_text(line), style=style, markup=False)
        else:
            echo(line, err=True)
            sys.stderr.flush()


def _outcome(event: PairFinished) -> str:
    took = f"({readable_seconds(event.seconds)})"
    if event.score is not None:
        return f"{event.score:.4f} {took}"
    return f"{event.state}: {event.reason} {took}" if event.reason else f"{event.state} {took}"


STATES = ("scored", "not applicable", "undefined", "failed")
_PAIRS_PER_REASON = 5  # pairs of one reason
_NO_REASON = "unknown reason"
_SOURCES = {
    "measured": "the same pair's receipts",
    "fitted": "receipts of the model and of the benchmark",
    "table": "another machine",
}


def readable_seconds(seconds: float) -> str:
    """Write a duration in a unit of suitable size.

    Examples
    --------
    >>> readable_seconds(0.4), readable_seconds(75), readable_seconds(8000), readable_seconds(400_000)
    ('0.4 s', '1.2 min', '2.2 h', '4.6 days')
    """
    for size, unit in ((86400, "days"), (3600, "h"), (60, "min")):
        if seconds >= 0.995 * size:
            return f"{seconds / size:.1f} {unit}"
    return f"{seconds:.0f} s" if seconds >= 9.95 else f"{seconds:.1f} s"


def echo_plan(plan: Plan, workers: int) -> None:
    """Print a plan: per model the pairs, the expected time and memory, and the reasons."""
    rows = [("model", "to score", "done", "seconds", "memory", "why")]
    for model, (pending, done) in _by_model(plan).items():
        rows.append(
            (
                model,
                str(len(pending)),
                str(done),
                _sum_of([entry.cost.seconds for entry in pending]),
                _largest_of([entry.cost.memory for entry in pending]),
                _reasons(pending),
            )
        )
    _echo_aligned(rows)
    echo()
    echo(f"{counted(len(plan.pending), 'pair')} to score, {len(plan.done)} done.")
    if plan.skipped:
        echo(f"Not scored again, because of --again: {_reasons(plan.skipped)}.")
    if plan.pending:
        echo(_expectation(plan, workers))
    for problem in plan.problems:
        echo(f"Warning: a receipt cannot be read and is ignored: {problem}", err=True)


def plan_as_dict(plan: Plan, workers: int) -> dict[str, Any]:
    """Convert a plan to plain types."""
    value, low, high = plan.seconds
    return {
        "pending": [
            {
                **entry.pair._asdict(),
                "why": entry.why,
                "detail": entry.detail or None,
                "seconds": _prediction_values(entry.cost.seconds),
                "memory": _prediction_values(entry.cost.memory),
            }
            for entry in plan.pending
        ],
        "done": [pair._asdict() for pair in plan.done],
        "skipped": [
            {**entry.pair._asdict(), "why": entry.why, "detail": entry.detail or None} for entry in plan.skipped
        ],
        "tasks": [
            {"model": task.model, "benchmarks": task.benchmarks, "seconds": task.seconds, "memory": task.memory}
            for task in plan.tasks
        ],
        "workers": workers,
        "seconds": {"one_worker": value, "low": low, "high": high, "wall": plan.wall_seconds(workers)},
        "pairs_of_unknown_time": plan.unknown,
        "unreadable": [str(problem) for problem in plan.problems],
    }


def echo_summary(
    finished: Sequence[PairFinished], skipped: Sequence[PairSkipped], done: int, store: ResultsStore, seconds: float
) -> None:
    """Print the summary of a run."""
    rows: list[tuple[str, ...]] = [("model", *STATES)]
    by_model: dict[str, Counter[str]] = {}
    for event in finished:
        by_model.setdefault(event.model, Counter())[event.state] += 1
    rows += [(model, *(str(counts[state] or "–") for state in STATES)) for model, counts in by_model.items()]
    if len(rows) > 1:
        _echo_aligned(rows)
        echo()
    for state in ("not applicable", "undefined"):
        for reason, pairs in _by_reason(event for event in finished if event.state == state).items():
            echo(f"{state}: {reason}")
            _echo_first_pairs(pairs)
    by_reason: dict[str, list[PairFinished]] = {}
    for event in finished:
        if event.state == "failed":
            by_reason.setdefault(event.reason or _NO_REASON, []).append(event)
    for reason, failed in by_reason.items():
        echo(f"{style('failed', fg='red')}: {reason}")
        for failure in failures(failed[:_PAIRS_PER_REASON], store):
            log = f", log {failure['log']}" if failure["log"] else ""
            echo(f"  {failure['model']} on {failure['benchmark']}, receipt {failure['receipt']}{log}")
        if len(failed) > _PAIRS_PER_REASON:
            echo(f"  and {len(failed) - _PAIRS_PER_REASON} more")
    for reason, pairs in _by_reason(skipped).items():
        echo(f"left out: {reason}")
        _echo_first_pairs(pairs)
    counts = Counter(event.state for event in finished)
    words = [f"{counts[state]} {state}" for state in STATES if counts[state]]
    words += [f"{len(skipped)} left out"] if skipped else []
    words += [f"{done} done before"] if done else []
    echo(f"{counted(len(finished) + len(skipped) + done, 'pair')}: {', '.join(words)}; {readable_seconds(seconds)}")


def summary_as_dict(
    finished: Sequence[PairFinished], skipped: Sequence[PairSkipped], done: Sequence[Pair], store: ResultsStore
) -> dict[str, Any]:
    """Convert the summary of a run to plain types."""
    logs = {failure["receipt"]: failure["log"] for failure in failures(finished, store)}
    return {
        "finished": [
            {
                "model": event.model,
                "benchmark": event.benchmark,
                "receipt": event.receipt_id,
                "state": event.state,
                "score": event.score,
                "reason": event.reason,
                "seconds": event.seconds,
                "log": logs.get(event.receipt_id),
            }
            for event in finished
        ],
        "skipped": [{"model": event.model, "benchmark": event.benchmark, "reason": event.reason} for event in skipped],
        "done": [pair._asdict() for pair in done],
        "results": store.address,
    }


def failures(finished: Iterable[PairFinished], store: ResultsStore) -> list[dict[str, str | None]]:
    """List the failed pairs, each with its reason and the log of its output."""
    return [
        {
            "model": event.model,
            "benchmark": event.benchmark,
            "receipt": event.receipt_id,
            "reason": event.reason or _NO_REASON,
            "log": _log_of(event, store),
        }
        for event in finished
        if event.state == "failed"
    ]


def _log_of(event: PairFinished, store: ResultsStore) -> str | None:
    receipt = store.latest(event.model, event.benchmark)
    if receipt is None or receipt.id != event.receipt_id:
        return None
    names = [attachment.name for attachment in receipt.attachments if attachment.kind == "log"]
    return f"{store.address_of(receipt).rpartition('/')[0]}/{names[0]}" if names else None


def _by_model(plan: Plan) -> dict[str, tuple[list[Pending], int]]:
    done = Counter(pair.model for pair in plan.done)
    pending: dict[str, list[Pending]] = {}
    for entry in plan.pending:
        pending.setdefault(entry.pair.model, []).append(entry)
    models = dict.fromkeys([*pending, *done, *(entry.pair.model for entry in plan.skipped)])
    return {model: (pending.get(model, []), done[model]) for model in models}


def _sum_of(predictions: Sequence[Prediction | None]) -> str:
    present = [prediction for prediction in predictions if prediction is not None]
    if not present:
        return "unknown" if predictions else "–"
    low, high = (readable_seconds(sum(getattr(prediction, end) for prediction in present)) for end in ("low", "high"))
    missing = len(predictions) - len(present)
    return f"{readable_seconds(sum(prediction.value for prediction in present))} ({low} to {high})" + (
        f" + {missing} unknown" if missing else ""
    )


def _largest_of(predictions: Sequence[Prediction | None]) -> str:
    present = [prediction for prediction in predictions if prediction is not None]
    if not present:
        return "unknown" if predictions else "–"
    largest = max(present, key=lambda prediction: prediction.value)
    return f"{format_size(largest.value)} (to {format_size(largest.high)})"


def _reasons(pending: Iterable[Pending]) -> str:
    counts = Counter(f"code {entry.detail} changed" if entry.why == "code changed" else entry.why for entry in pending)
    return ", ".join(f"{count} {why}" for why, count in counts.items())


def _expectation(plan: Plan, workers: int) -> str:
    n_known = len(plan.pending) - plan.unknown
    if not n_known:
        return "The time is unknown: no earlier receipts."
    value, low, high = plan.seconds
    unknown = f", and {counted(plan.unknown, 'pair')} of unknown duration" if plan.unknown else ""
    sources = Counter(entry.cost.seconds.source for entry in plan.pending if entry.cost.seconds is not None)
    origin = "; ".join(f"{count} from {_SOURCES[source]}" for source, count in sources.items())
    return (
        f"About {readable_seconds(value)} of work ({readable_seconds(low)} to {readable_seconds(high)}){unknown}; "
        f"about {readable_seconds(plan.wall_seconds(workers))} with {counted(workers, 'worker')}.\n"
        f"Expected times: {origin}."
    )


def _prediction_values(prediction: Prediction | None) -> dict[str, Any] | None:
    return None if prediction is None else prediction._asdict()


def _by_reason(events: Iterable[PairFinished | PairSkipped]) -> dict[str, list[tuple[str, str]]]:
    pairs_of: dict[str, list[tuple[str, str]]] = {}
    for event in events:
        pairs_of.setdefault(event.reason or _NO_REASON, []).append((event.model, event.benchmark))
    return pairs_of


def _echo_first_pairs(pairs: Sequence[tuple[str, str]]) -> None:
    for model, benchmark in pairs[:_PAIRS_PER_REASON]:
        echo(f"  {model} on {benchmark}")
    if len(pairs) > _PAIRS_PER_REASON:
        echo(f"  and {len(pairs) - _PAIRS_PER_REASON} more")


def _echo_aligned(rows: Sequence[Sequence[str]]) -> None:
    for number, line in enumerate(aligned(rows)):
        echo(style(line, bold=True) if number == 0 else line)
