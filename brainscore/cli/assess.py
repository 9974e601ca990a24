"""``brainscore assess``."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import click

from brainscore.cli._options import json_option, results_option
from brainscore.cli._output import echo, echo_json
from brainscore_core.progress import stage
from brainscore_core.receipts.assessment import PARTS


@click.command("assess")
@click.argument("benchmarks", nargs=-1, required=True, metavar="BENCHMARK...")
@click.option(
    "--model", "models", multiple=True, metavar="MODEL",
    help="Assess this model's score, too, and let it take part in the recovery. May be repeated.",
)  # fmt: skip
@click.option(
    "--part", "parts", multiple=True, type=click.Choice(PARTS), help="Only this part. May be repeated.  [default: all]"
)
@click.option("--again", is_flag=True, help="Compute parts anew that are stored already.")
@click.option("--workers", type=click.IntRange(min=1), help="Number of parts computed at the same time.  [default: 1]")
@click.option("--scheduler", metavar="ADDRESS", help="Use an existing Dask scheduler, such as tcp://host:8786.")
@click.option("--slurm", metavar="PROFILE", help="Run as SLURM jobs, described by this YAML file.")
@results_option
@json_option
@click.pass_context
def command(
    ctx: click.Context,
    benchmarks: Sequence[str],
    models: Sequence[str],
    parts: Sequence[Any],
    again: bool,
    workers: int | None,
    scheduler: str | None,
    slurm: str | None,
    results: str | None,
    json_: bool,
) -> None:
    """Tell what scores on benchmarks are worth.

    \b
    brainscore assess MajajHong2015public.IT-pls --model alexnet

    The audit looks for duplicates, groups and trends in the data that make scores too high; baseline models score
    features that are simpler than a model; the recovery simulates whether the benchmark finds the true model among
    candidates. Results are stored beside the receipts of scores; parts that are stored and whose code has not changed
    are not computed again.
    """  # noqa: D301 - click needs the character \b
    with stage("planning the assessment"):  # imports take seconds
        from brainscore_core.domains import domain_of
        from brainscore_core.results.assessments import AssessmentStore

        assessment = domain_of("benchmark", benchmarks[0]).feature("assessment")
        tasks = assessment.plan(benchmarks, models=models, parts=parts or PARTS)
        store = AssessmentStore(results)
    cluster = None
    if workers is not None or scheduler is not None or slurm is not None:
        from brainscore.runs import cluster_options

        cluster = cluster_options(workers=workers, scheduler=scheduler, slurm=slurm)
    assessments = assessment.assess(tasks, store, again=again, cluster=cluster, on_event=_Report(tasks, quiet=json_))
    if json_:
        echo_json([assessment.to_dict() for assessment in assessments])
    if any(assessment.state == "failed" for assessment in assessments):
        ctx.exit(1)


class _Report:
    """Prints a line when a task begins, and each result."""

    def __init__(self, tasks: Sequence[Any], *, quiet: bool) -> None:
        self._total, self._quiet = len(tasks), quiet
        self._number = 0

    def __call__(self, event: Any) -> None:
        if not hasattr(event, "assessment"):  # a task begins, or has made progress
            if not event.step:
                self._number += 1
                echo(f"[{self._number}/{self._total}] {event.task.name} …", err=True)
            return
        assessment = event.assessment
        if event.stored:
            self._total -= 1
        if assessment is None:
            echo(f"{event.task.name}: another process is computing it", err=True)
        elif not self._quiet:
            stored = f" (stored, {assessment.created})" if event.stored else f" ({assessment.seconds:.1f} s)"
            echo(f"{event.task.name}{stored}")
            shown = assessment.text if assessment.state == "assessed" else f"{assessment.state}: {assessment.reason}"
            echo("\n".join(f"  {line}".rstrip() for line in shown.splitlines()))
