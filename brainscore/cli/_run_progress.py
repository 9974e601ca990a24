"""What ``brainscore run`` shows while it runs."""

from __future__ import annotations

import sys
import time
from typing import TYPE_CHECKING, Any

import click

from brainscore.cli._run_view import readable_seconds

if TYPE_CHECKING:
    from rich.console import Console, RenderableType

    from brainscore_core.runner import Event, PairFinished, PairSkipped
    from brainscore_core.runner.plan import Cost, Plan

__all__ = ["Progress"]


class Progress:
    """Told of what happens in a run: shows it, and keeps what came out.

    In a terminal there is a bar over all pairs, with the time that is left, and a line for each pair that is being
    scored; failures stay on the screen. Elsewhere it is a line a pair.

    Parameters
    ----------
    plan : Plan
        What is to be done.
    workers : int
        How many pairs are scored at the same time.
    """

    def __init__(self, plan: Plan, workers: int) -> None:
        self.finished: list[PairFinished] = []
        self.skipped: list[PairSkipped] = []
        self._total = len(plan.pending)
        self._left: dict[tuple[str, str], float | None] = {one.pair: _value(one.cost) for one in plan.pending}
        self._expected_left = sum(value for value in self._left.values() if value is not None)
        self._unknown_left = sum(value is None for value in self._left.values())
        self._expected = self._taken = 0.0  # of finished pairs with a prediction
        self._workers = workers
        self._running: dict[tuple[str, str], float] = {}
        self._start = time.monotonic()
        self._live: Any = None
        self._console: Console | None = None
        if sys.stderr.isatty():
            from rich.console import Console

            self._console = Console(stderr=True, highlight=False, soft_wrap=True)

    @property
    def seconds(self) -> float:
        """Since it began."""
        return time.monotonic() - self._start

    def __enter__(self) -> Progress:
        if self._console is not None:
            from rich.live import Live

            self._live = Live(get_renderable=self._render, console=self._console, transient=True, refresh_per_second=4)
            self._live.start()
        return self

    def __exit__(self, *exception: object) -> None:
        if self._live is not None:
            self._live.stop()

    def __call__(self, event: Event) -> None:
        """Take notice of an event."""
        from brainscore_core import runner

        match event:
            case runner.ClusterReady():
                self._workers = max(event.workers, 1)
            case runner.PairStarted():
                self._running[event.model, event.benchmark] = time.monotonic()
            case runner.PairFinished():
                self.finished.append(event)
                self._end(event)
                self._say(event.model, event.benchmark, _outcome(event), bad=event.state == "failed")
            case runner.PairSkipped():
                self.skipped.append(event)
                self._end(event)
                self._say(event.model, event.benchmark, f"left out: {event.reason}", bad=False)
            case runner.PairRetried():
                self._running.pop((event.model, event.benchmark), None)
                self._echo(f"again: {event.model} on {event.benchmark}: {event.reason}")
            case runner.WorkerLost():
                for pair in event.pairs:
                    self._running.pop(pair, None)
                self._echo(f"a worker is gone: {event.worker}")

    def seconds_left(self) -> float | None:
        """How long the rest will take; None where nothing is known.

        What was predicted is scaled by how long the finished pairs took beside their prediction; pairs without one
        count as the mean of the finished ones.
        """
        mean = sum(event.seconds for event in self.finished) / len(self.finished) if self.finished else None
        if self._unknown_left and mean is None:
            return None
        # as if one minute had gone as predicted, so that the first short pair does not decide
        factor = (self._taken + 60) / (self._expected + 60)
        left = self._expected_left * factor + self._unknown_left * (mean or 0.0)
        now = time.monotonic()
        for pair, began in list(self._running.items()):  # another thread draws
            value = self._left.get(pair)
            whole = value * factor if value is not None else mean or 0.0
            left -= min(now - began, whole)
        return max(left, 0.0) / max(min(self._workers, len(self._left)), 1)

    def _end(self, event: PairFinished | PairSkipped) -> None:
        pair = (event.model, event.benchmark)
        self._running.pop(pair, None)
        if pair not in self._left:
            return
        value = self._left.pop(pair)
        if value is None:
            self._unknown_left -= 1
            return
        self._expected_left -= value
        if hasattr(event, "seconds"):
            self._expected += value
            self._taken += event.seconds

    def _say(self, model: str, benchmark: str, outcome: str, *, bad: bool) -> None:
        if self._console is None:
            number = len(self.finished) + len(self.skipped)
            self._echo(f"{number:{len(str(self._total))}}/{self._total}  {model}  {benchmark}  {outcome}")
        elif bad:
            self._console.print(f"{model} on {benchmark}: {outcome}", style="red", markup=False)

    def _echo(self, line: str) -> None:
        if self._console is not None:
            self._console.print(line, markup=False)
        else:
            click.echo(line, err=True)
            sys.stderr.flush()

    def _render(self) -> RenderableType:
        from rich.console import Group
        from rich.progress_bar import ProgressBar
        from rich.table import Table
        from rich.text import Text

        number = len(self.finished) + len(self.skipped)
        failed = sum(1 for event in self.finished if event.state == "failed")
        left = self.seconds_left()
        words = f"{number} of {self._total}"
        words += f", {failed} failed" if failed else ""
        words += f", {readable_seconds(self.seconds)}"
        words += f", {readable_seconds(left)} left" if left is not None and number < self._total else ""
        bar = Table.grid(padding=(0, 1))
        bar.add_row(ProgressBar(total=max(self._total, 1), completed=number, width=40), Text(words))
        now = time.monotonic()
        running = [
            Text(f"  {model}  {benchmark}  {readable_seconds(now - began)}", style="dim", no_wrap=True)
            for (model, benchmark), began in list(self._running.items())
        ]
        return Group(bar, *running)


def _value(cost: Cost) -> float | None:
    return cost.seconds.value if cost.seconds is not None else None


def _outcome(event: PairFinished) -> str:
    took = f"({readable_seconds(event.seconds)})"
    if event.score is not None:
        return f"{event.score:.4f} {took}"
    return f"{event.state}: {event.reason} {took}" if event.reason else f"{event.state} {took}"
