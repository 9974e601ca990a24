"""``brainscore check``."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import asdict
from typing import TYPE_CHECKING

import click

from brainscore.cli._app import Subcommands
from brainscore.cli._options import domain_option, json_option
from brainscore.cli._output import echo, echo_json, style
from brainscore_core.progress import stage

if TYPE_CHECKING:
    from brainscore_core.plugins.conformance import CheckedReference

_MARKS = {"passed": "✓", "not applicable": "–", "warning": "!", "failed": "✗"}
_COLOURS = {"passed": "green", "not applicable": "yellow", "warning": "yellow", "failed": "red"}


def report_checks(checked: Iterable[CheckedReference], *, json_: bool = False) -> bool:
    """Print checks as they finish; return whether none failed."""
    results: Counter[str] = Counter()
    listed = []
    for reference in checked:
        results.update(check.result for check in reference.checks)
        if json_:
            listed += [
                {"kind": reference.kind, "subject": reference.name, **asdict(check)} for check in reference.checks
            ]
        else:
            _echo(reference)
    if json_:
        echo_json(listed)
    return not results["failed"]


def _echo(checked: CheckedReference) -> None:
    for check in checked.checks:
        echo(f"{style(_MARKS[check.result], fg=_COLOURS[check.result])} {check.name}")
        if check.explanation:
            echo(f"    {check.explanation}")
        if check.remedy:
            echo(f"    → {check.remedy}")
    results = Counter(check.result for check in checked.checks)
    failed, total = results["failed"], len(checked.checks)
    summary = f"{failed} of {total} checks failed" if failed else "all checks passed"
    if results["warning"]:
        summary += f", {results['warning']} with a warning"
    kind = "" if checked.kind == "model" else f" ({checked.kind})"
    echo(f"{checked.name}{kind}: {summary}")


@click.group("check", cls=Subcommands)
def command() -> None:
    """Check that a plugin meets the requirements of its kind."""


@command.command("model")
@click.argument("model")
@domain_option
@json_option
@click.pass_context
def check_model(context: click.Context, model: str, domain: str | None, json_: bool) -> None:
    """Check a model.

    MODEL is an identifier, the folder of a plugin, or a file and a function in it: path/to/file.py:make_model. The
    exit code is 1 if a check failed.
    """
    _check(context, "model", model, json_=json_, domain=domain)


@command.command("benchmark")
@click.argument("benchmark")
@click.option(
    "--model", default="", help="Run the benchmark on this model, by default on a small one; 'none' skips this."
)
@domain_option
@json_option
@click.pass_context
def check_benchmark(context: click.Context, benchmark: str, model: str, domain: str | None, json_: bool) -> None:
    """Check a benchmark and the data it loads: the checklist of a submission.

    BENCHMARK is an identifier, the folder of a plugin, or a file and a function in it: path/to/file.py:make_benchmark.
    The exit code is 1 if a check failed.
    """
    _check(context, "benchmark", benchmark, json_=json_, model=None if model == "none" else model, domain=domain)


@command.command("data")
@click.argument("data")
@domain_option
@json_option
@click.pass_context
def check_data(context: click.Context, data: str, domain: str | None, json_: bool) -> None:
    """Check an assembly and a stimulus set.

    DATA is an identifier (of an assembly, a stimulus set, or both), the folder of a plugin, or a file and a function
    in it: path/to/file.py:make_data. The exit code is 1 if a check failed.
    """
    _check(context, "data", data, json_=json_, domain=domain)


@command.command("metric")
@click.argument("metric")
@domain_option
@json_option
@click.pass_context
def check_metric(context: click.Context, metric: str, domain: str | None, json_: bool) -> None:
    """Check a metric or a ceiling.

    METRIC is an identifier, the folder of a plugin, or a file and a function in it: path/to/file.py:make_metric. The
    exit code is 1 if a check failed.
    """
    _check(context, "metric", metric, json_=json_, domain=domain)


def _check(
    context: click.Context,
    kind: str,
    reference: str,
    *,
    json_: bool,
    model: str | None = None,
    domain: str | None = None,
) -> None:
    with stage(f"checking {reference}"):
        from brainscore_core.submission.checks import check_references, find_references

        references = find_references(kind, reference, among=domain)
        passed = report_checks(check_references(references, model=model), json_=json_)
    if not passed:
        context.exit(1)
