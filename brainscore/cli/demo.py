"""``brainscore demo``."""

from __future__ import annotations

import time
from pathlib import Path
from typing import TYPE_CHECKING

import click

from brainscore.cli._output import echo_json

if TYPE_CHECKING:
    from rich.console import Console

    from brainscore.demo import DemoResult, Pair
    from brainscore.report import View
    from brainscore_core.scoring import Receipt

__all__ = ["command"]


@click.command("demo")
@click.option(
    "--output", type=click.Path(path_type=Path, file_okay=False), default="brainscore-demo", show_default=True,
    help="Folder for report and plot.",
)  # fmt: skip
@click.option(
    "--results", type=click.Path(path_type=Path, file_okay=False), help="Folder for receipts. [OUTPUT/results]"
)
@click.option("--json", "json_", is_flag=True, help="Print JSON.")
@click.pass_context
def command(ctx: click.Context, output: Path, results: Path | None, json_: bool) -> None:
    """Score a few models and write a report: a first look at Brain-Score.

    Three models are scored on simulated controls and, where a network or BRAINSCORE_MIRROR gives
    access to them, on real measurements. Needs neither torch nor a GPU.
    """
    from rich.console import Console

    from brainscore.demo import DEMO_PAIRS, run_demo
    from brainscore.report import view_of, write_report
    from brainscore_core.scoring import ResultsStore

    console = Console(stderr=json_, highlight=False, soft_wrap=True)
    store = ResultsStore(results or output / "results")
    progress = _Progress(console, len(DEMO_PAIRS))
    result = run_demo(store, before=progress.before, after=progress.after)
    progress.stop()
    view = view_of(result.receipts)
    report, plot = output / "report.html", output / "scores.png"
    write_report(view, report, plot=plot)
    if json_:
        echo_json(
            {
                "report": report,
                "plot": plot,
                "results": store.folder,
                "receipts": [receipt.id for receipt in result.receipts],
                "skipped": result.skipped,
                "failed": [pair._asdict() for pair in result.failed],
            }
        )
    else:
        _print_table(console, view)
        _print_end(console, result, report, plot, store.folder)
    if result.failed:
        ctx.exit(1)


class _Progress:
    """A line for each pair that is done; in a terminal also what is being done now."""

    def __init__(self, console: Console, total: int) -> None:
        self._console = console
        self._total = total
        self._number = 0
        self._start = time.perf_counter()
        self._status = console.status("", spinner="dots")
        if console.is_terminal:
            self._status.start()

    def before(self, pair: Pair) -> None:
        self._number += 1
        self._status.update(f"[{self._number}/{self._total}] {pair.model} on {pair.benchmark} …".replace("[", r"\["))

    def after(self, pair: Pair, receipt: Receipt | None, skipped: str | None) -> None:
        from brainscore.report import number

        if receipt is None:
            outcome = "skipped: its data cannot be reached" if skipped else "failed"
        elif receipt.score is not None:
            outcome = number(receipt.score.value, receipt.score.error)
        else:
            outcome = receipt.state
        count = f"[{self._number:{len(str(self._total))}}/{self._total}]"
        elapsed = f"{time.perf_counter() - self._start:4.0f} s"
        self._console.print(f"{count} {elapsed}  {pair.model:22} {pair.benchmark:34} {outcome}", markup=False)

    def stop(self) -> None:
        self._status.stop()


def _print_table(console: Console, view: View) -> None:
    from rich.table import Table
    from rich.text import Text

    table = Table(title="Scores ± standard error", title_justify="left", title_style="bold", box=None, pad_edge=False)
    for column in ("Model", "Score", "95 % interval", "Before ceiling"):
        table.add_column(column, no_wrap=True)
    for group in view.groups:
        label = "control" if group.control else f"ceiling {group.ceiling.split(',')[0]}" if group.ceiled else "unceiled"
        table.add_row()
        table.add_row(Text.assemble((group.benchmark, "bold"), (f"  {label}", "dim")))
        for row in group.rows:
            if row.value is None:
                table.add_row(Text(f"  {row.model}"), Text(row.state, style="red" if row.state == "failed" else "dim"))
            else:
                table.add_row(f"  {row.model}", row.score, row.interval if row.ci else "–", row.raw)
    console.print()
    console.print(table)


def _print_end(console: Console, result: DemoResult, report: Path, plot: Path, folder: Path) -> None:
    by_reason: dict[str, list[str]] = {}
    for benchmark, reason in result.skipped.items():
        by_reason.setdefault(reason, []).append(benchmark)
    for reason, benchmarks in by_reason.items():
        console.print(
            f"\nSkipped, because the data cannot be reached: {', '.join(benchmarks)}", style="bold", markup=False
        )
        console.print(reason, markup=False)
    for pair in result.failed:
        console.print(f"\nFailed: {pair.model} on {pair.benchmark}", style="bold red", markup=False)
        receipts = [r for r in result.receipts if (r.model.identifier, r.benchmark.identifier) == pair]
        console.print(receipts[0].reason or "" if receipts else "no receipt could be written", markup=False)
    console.print("\nA score of 1 reaches the ceiling: no model can do better than the noise in the data allows.")
    console.print("Controls are simulated. simulated-truth, which made them, should reach 1; pixels should not.")
    for name, path in (("Report", report), ("Plot", plot), ("Receipts", folder)):
        console.print(f"{name:9}{path}", markup=False)
