"""Prints what checks of plugins found."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import asdict
from typing import TYPE_CHECKING

import click

from brainscore.cli._output import echo_json

if TYPE_CHECKING:
    from brainscore_vision.checks import CheckedReference

__all__ = ["report_checks"]

_MARKS = {"passed": "✓", "not applicable": "–", "warning": "!", "failed": "✗"}
_COLOURS = {"passed": "green", "not applicable": "yellow", "warning": "yellow", "failed": "red"}


def report_checks(checked: Iterable[CheckedReference], *, as_json: bool = False) -> bool:
    """Print checks as they come; say whether none failed."""
    results: Counter[str] = Counter()
    listed = []
    for one in checked:
        results.update(check.result for check in one.checks)
        if as_json:
            listed += [{"kind": one.kind, "subject": one.name, **asdict(check)} for check in one.checks]
        else:
            _echo(one)
    if as_json:
        echo_json(listed)
    return not results["failed"]


def _echo(checked: CheckedReference) -> None:
    for check in checked.checks:
        click.echo(f"{click.style(_MARKS[check.result], fg=_COLOURS[check.result])} {check.name}")
        if check.explanation:
            click.echo(f"    {check.explanation}")
        if check.remedy:
            click.echo(f"    → {check.remedy}")
    results = Counter(check.result for check in checked.checks)
    failed, total = results["failed"], len(checked.checks)
    said = f"{failed} of {total} checks failed" if failed else "all checks passed"
    if results["warning"]:
        said += f", {results['warning']} with a warning"
    kind = "" if checked.kind == "model" else f" ({checked.kind})"
    click.echo(f"{checked.name}{kind}: {said}")
