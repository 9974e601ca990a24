"""``brainscore demo``."""

from __future__ import annotations

import os
import time
from pathlib import Path
from typing import TYPE_CHECKING

import click

from brainscore.cli._options import json_option
from brainscore.cli._output import echo, echo_json

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rich.console import Console

    from brainscore.demo import DemoResult, Pair, PairResult
    from brainscore.report import View


@click.command("demo")
@click.option(
    "--output", type=click.Path(path_type=Path, file_okay=False), default="brainscore-demo", show_default=True,
    help="Folder for the report and plot.",
)  # fmt: skip
@click.option(
    "--results", type=click.Path(path_type=Path, file_okay=False), help="Folder for receipts. [OUTPUT/results]"
)
@click.option("--jobs", type=click.IntRange(min=1), help="Number of processes.  [default: 2, if there are 2 cores]")
@json_option
@click.pass_context
def command(ctx: click.Context, output: Path, results: Path | None, jobs: int | None, json_: bool) -> None:
    """Score a few models and write a report: a first look at Brain-Score.

    Models are scored on simulated controls and, where the Internet or BRAINSCORE_MIRROR gives access
    to them, on real measurements. Needs neither torch nor a GPU; with brainscore[examples], a
    trained network is scored, too.
    """
    from rich.console import Console

    from brainscore.demo import plan_demo, run_demo
    from brainscore.report import find_profiles, report_of, save_plot, write_report
    from brainscore_core.scoring import ResultsStore

    console = Console(stderr=json_, highlight=False, soft_wrap=True)
    store = ResultsStore(results or output / "results")
    store.require_writable()
    output.mkdir(parents=True, exist_ok=True)
    plan = plan_demo()
    without = f" Left out: {'; '.join(plan.left_out)}." if plan.left_out else ""
    echo(f"Scoring {len(plan.pairs)} pairs of model and benchmark.{without}", err=json_)
    with _Progress(console, plan.pairs) as progress:
        result = run_demo(store, pairs=plan.pairs, jobs=jobs or min(2, os.cpu_count() or 1), after=progress.after)
    profiles = find_profiles({receipt.model.identifier for receipt in result.receipts})
    report_content = report_of(result.receipts, profiles=profiles)
    view = report_content.view
    report, plot = output / "report.html", output / "scores.svg"
    write_report(report_content, report)
    save_plot(view, plot)
    if json_:
        echo_json(
            {
                "report": report,
                "plot": plot,
                "results": store.address,
                "receipts": [receipt.id for receipt in result.receipts],
                "left_out": plan.left_out,
                "skipped": result.skipped,
                "failed": [{**pair._asdict(), "error": error} for pair, error in result.failed.items()],
            }
        )
    else:
        _print_table(console, view)
        _print_end(console, result, report, plot, store.address)
    if result.failed:
        ctx.exit(1)


class _Progress:
    """A line for each pair that is done, and in a terminal a sign that more are coming."""

    def __init__(self, console: Console, pairs: Sequence[Pair]) -> None:
        self._console = console
        self._total = total = len(pairs)
        self._width = max(len(pair.model) for pair in pairs)
        self._number = 0
        self._start = time.perf_counter()
        self._status = console.status(f"Scoring {total} pairs of model and benchmark …", spinner="dots")

    def __enter__(self) -> _Progress:
        if self._console.is_terminal:
            self._status.start()
        return self

    def __exit__(self, *exception: object) -> None:
        self._status.stop()

    def after(self, pair: Pair, result: PairResult) -> None:
        self._number += 1
        if result.unreachable is not None:
            outcome = "skipped"
        elif result.receipt is None:
            outcome = "failed"
        elif result.receipt.score is not None:
            outcome = result.receipt.score.text(brief=True)
            if result.receipt.undetermined:
                outcome = "undetermined"
        else:
            outcome = result.receipt.state
        count = f"{self._number:{len(str(self._total))}}/{self._total}"
        elapsed = f"{time.perf_counter() - self._start:4.0f} s"
        model = pair.model.ljust(self._width)
        self._console.print(f"{count} {elapsed}  {model} {pair.benchmark:34} {outcome}", markup=False)


def _print_table(console: Console, view: View) -> None:
    from rich.table import Table
    from rich.text import Text

    width = max((len(model) for model in view.models), default=5)
    console.print("\nScores with 95 % interval, and the value before the ceiling", style="bold")
    for group in view.groups:
        label = "a control" if group.control else f"ceiling {group.ceiling}" if group.ceiled else "no ceiling"
        console.print(Text.assemble("\n", (group.benchmark, "bold"), (f"  {label}", "dim")))
        table = Table(box=None, pad_edge=False, show_header=False)
        for minimum in (width, 22, 22):
            table.add_column(min_width=minimum, no_wrap=True)
        for row in group.rows:
            if row.value is None:
                state = f"{row.state}, raw {row.raw}" if row.state == "undetermined" else row.state
                table.add_row(Text(row.model), Text(state, style="red" if row.state == "failed" else "dim"))
            else:
                table.add_row(Text(row.model), row.score, row.raw)
        console.print(table)


def _print_end(console: Console, result: DemoResult, report: Path, plot: Path, address: str) -> None:
    by_reason: dict[str, list[str]] = {}
    for benchmark, reason in result.skipped.items():
        by_reason.setdefault(reason, []).append(benchmark)
    for reason, benchmarks in by_reason.items():
        console.print(
            f"\nSkipped, because the data cannot be reached: {', '.join(benchmarks)}", style="bold", markup=False
        )
        console.print(reason, markup=False)
    for pair, error in result.failed.items():
        console.print(f"\nFailed: {pair.model} on {pair.benchmark}", style="bold red", markup=False)
        console.print(error, markup=False)
    console.print("\nA score of 1 reaches the ceiling: no model can do better than the noise in the data allows.")
    console.print("Controls are simulated. simulated-truth, which made them, should reach 1; pixels should not.")
    for name, path in (("Report", report), ("Plot", plot), ("Receipts", address)):
        console.print(f"{name:9}{path}", markup=False)
    console.print(f"Website  brainscore serve --results {address}", markup=False)
