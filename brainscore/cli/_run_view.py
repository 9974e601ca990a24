"""What ``brainscore run`` shows before and after: the plan, and what became of it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

import click

from brainscore_core.memory import format_size

if TYPE_CHECKING:
    from brainscore_core.runner import PairFinished, PairSkipped
    from brainscore_core.runner.plan import Pair, Pending, Plan, Prediction
    from brainscore_core.scoring import ResultsStore

__all__ = ["echo_plan", "echo_summary", "failures", "plan_as_dict", "readable_seconds", "summary_as_dict"]

STATES = ("scored", "not applicable", "undefined", "failed")
_SHOWN = 5  # pairs of one reason
_NO_REASON = "no reason is known"
_SOURCES = {
    "measured": "the same pair's receipts",
    "fitted": "receipts of the model and of the benchmark",
    "table": "another machine",
}


def readable_seconds(seconds: float) -> str:
    """Write a duration for people.

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
    """Print a plan: a line a model, what it takes, and why."""
    rows = [("model", "to score", "done", "seconds", "memory", "why")]
    for model, (pending, done) in _by_model(plan).items():
        rows.append(
            (
                model,
                str(len(pending)),
                str(done),
                _sum_of([one.cost.seconds for one in pending]),
                _largest_of([one.cost.memory for one in pending]),
                _reasons(pending),
            )
        )
    _echo_columns(rows)
    click.echo()
    click.echo(f"{_count(len(plan.pending), 'pair')} to score, {len(plan.done)} done.")
    if plan.skipped:
        click.echo(f"Not again, as asked for: {_reasons(plan.skipped)}.")
    if plan.pending:
        click.echo(_expectation(plan, workers))
    for problem in plan.problems:
        click.echo(f"Warning: a receipt cannot be read, and does not count: {problem}", err=True)


def plan_as_dict(plan: Plan, workers: int) -> dict[str, Any]:
    """Write a plan in plain types."""
    value, low, high = plan.seconds
    return {
        "pending": [
            {
                **one.pair._asdict(),
                "why": one.why,
                "detail": one.detail or None,
                "seconds": _as_dict(one.cost.seconds),
                "memory": _as_dict(one.cost.memory),
            }
            for one in plan.pending
        ],
        "done": [pair._asdict() for pair in plan.done],
        "skipped": [{**one.pair._asdict(), "why": one.why, "detail": one.detail or None} for one in plan.skipped],
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
    """Print what became of a run."""
    rows: list[tuple[str, ...]] = [("model", *STATES)]
    by_model: dict[str, Counter[str]] = {}
    for event in finished:
        by_model.setdefault(event.model, Counter())[event.state] += 1
    rows += [(model, *(str(counts[state] or "–") for state in STATES)) for model, counts in by_model.items()]
    if len(rows) > 1:
        _echo_columns(rows)
        click.echo()
    for state in ("not applicable", "undefined"):
        for reason, pairs in _by_reason(event for event in finished if event.state == state).items():
            click.echo(f"{state}: {reason}")
            _echo_pairs(pairs)
    by_reason: dict[str, list[PairFinished]] = {}
    for event in finished:
        if event.state == "failed":
            by_reason.setdefault(event.reason or _NO_REASON, []).append(event)
    for reason, failed in by_reason.items():
        click.echo(f"{click.style('failed', fg='red')}: {reason}")
        for failure in failures(failed[:_SHOWN], store):
            log = f", log {failure['log']}" if failure["log"] else ""
            click.echo(f"  {failure['model']} on {failure['benchmark']}, receipt {failure['receipt']}{log}")
        if len(failed) > _SHOWN:
            click.echo(f"  and {len(failed) - _SHOWN} more")
    for reason, pairs in _by_reason(skipped).items():
        click.echo(f"left out: {reason}")
        _echo_pairs(pairs)
    counts = Counter(event.state for event in finished)
    words = [f"{counts[state]} {state}" for state in STATES if counts[state]]
    words += [f"{len(skipped)} left out"] if skipped else []
    words += [f"{done} done before"] if done else []
    click.echo(
        f"{_count(len(finished) + len(skipped) + done, 'pair')}: {', '.join(words)}; {readable_seconds(seconds)}"
    )


def summary_as_dict(
    finished: Sequence[PairFinished], skipped: Sequence[PairSkipped], done: Sequence[Pair], store: ResultsStore
) -> dict[str, Any]:
    """Write what became of a run in plain types."""
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
    """Pairs that failed, why, and where what they printed is kept."""
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
    for one in plan.pending:
        pending.setdefault(one.pair.model, []).append(one)
    models = dict.fromkeys([*pending, *done, *(one.pair.model for one in plan.skipped)])
    return {model: (pending.get(model, []), done[model]) for model in models}


def _sum_of(predictions: Sequence[Prediction | None]) -> str:
    known = [one for one in predictions if one is not None]
    if not known:
        return "unknown" if predictions else "–"
    low, high = (readable_seconds(sum(getattr(one, end) for one in known)) for end in ("low", "high"))
    missing = len(predictions) - len(known)
    return f"{readable_seconds(sum(one.value for one in known))} ({low} to {high})" + (
        f" + {missing} unknown" if missing else ""
    )


def _largest_of(predictions: Sequence[Prediction | None]) -> str:
    known = [one for one in predictions if one is not None]
    if not known:
        return "unknown" if predictions else "–"
    largest = max(known, key=lambda one: one.value)
    return f"{format_size(largest.value)} (to {format_size(largest.high)})"


def _reasons(pending: Iterable[Pending]) -> str:
    counts = Counter(f"code {one.detail} changed" if one.why == "code changed" else one.why for one in pending)
    return ", ".join(f"{count} {why}" for why, count in counts.items())


def _expectation(plan: Plan, workers: int) -> str:
    known = len(plan.pending) - plan.unknown
    if not known:
        return "How long that takes is not known: no receipts tell."
    value, low, high = plan.seconds
    unknown = f", and {_count(plan.unknown, 'pair')} of which nothing is known" if plan.unknown else ""
    sources = Counter(one.cost.seconds.source for one in plan.pending if one.cost.seconds is not None)
    origin = "; ".join(f"{count} from {_SOURCES[source]}" for source, count in sources.items())
    return (
        f"About {readable_seconds(value)} of work ({readable_seconds(low)} to {readable_seconds(high)}){unknown}; "
        f"about {readable_seconds(plan.wall_seconds(workers))} with {_count(workers, 'worker')}.\n"
        f"Expected times: {origin}."
    )


def _as_dict(prediction: Prediction | None) -> dict[str, Any] | None:
    return None if prediction is None else prediction._asdict()


def _by_reason(events: Iterable[PairFinished | PairSkipped]) -> dict[str, list[tuple[str, str]]]:
    found: dict[str, list[tuple[str, str]]] = {}
    for event in events:
        found.setdefault(event.reason or _NO_REASON, []).append((event.model, event.benchmark))
    return found


def _echo_pairs(pairs: Sequence[tuple[str, str]]) -> None:
    for model, benchmark in pairs[:_SHOWN]:
        click.echo(f"  {model} on {benchmark}")
    if len(pairs) > _SHOWN:
        click.echo(f"  and {len(pairs) - _SHOWN} more")


def _echo_columns(rows: Sequence[Sequence[str]]) -> None:
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    for number, row in enumerate(rows):
        line = "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()
        click.echo(click.style(line, bold=True) if number == 0 else line)


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}{'' if number == 1 else 's'}"
