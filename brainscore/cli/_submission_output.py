"""Output of ``brainscore submit`` and ``brainscore status``."""

from __future__ import annotations

import dataclasses
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterable
from datetime import datetime
from typing import TYPE_CHECKING, Any

import click

from brainscore.cli._output import printable
from brainscore_core.errors import DataUnavailable, UserError

if TYPE_CHECKING:
    from brainscore.client import Client, Submission, SubmissionCard

__all__ = ["echo_findings", "echo_submission", "find_submission", "plain_values", "submission_rows", "watch_submission"]

_COLOURS = {"error": "red", "warning": "yellow", "note": "cyan"}
_MARKS = {
    "waiting": ("·", None), "running": ("▸", "cyan"), "passed": ("✓", "green"), "failed": ("✗", "red"),
    "skipped": ("–", None), "cancelled": ("–", "yellow"),
}  # fmt: skip


def echo_findings(findings: Iterable[Any], *, place: Callable[[str], str] = str) -> int:
    """Print findings, each with file and line, and return the number of errors.

    Parameters
    ----------
    findings : iterable
        With severity, check, file, line, message and remedy.
    place : callable
        Returns the path to print for a path in the submission.
    """
    counts: Counter[str] = Counter()
    for finding in findings:
        where = place(finding.file) if finding.file else ""
        where = f"{where}:{finding.line}: " if finding.line else f"{where}: " if where else ""
        mark = click.style(finding.severity, fg=_COLOURS.get(finding.severity), bold=True)
        click.echo(f"{click.style(printable(where), bold=True)}{mark}[{finding.check}] {printable(finding.message)}")
        if finding.remedy:
            click.echo(f"    → {printable(finding.remedy)}")
        counts[finding.severity] += 1
    click.echo(", ".join(_count(counts[name], name) for name in _COLOURS if counts[name]) or "All checks passed.")
    return counts["error"]


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def echo_submission(card: SubmissionCard) -> None:
    """Print the status of a submission: state, steps, findings and progress of scoring."""
    click.echo(f"{click.style(printable(card.title), bold=True)}, revision {card.revision}: {card.words}")
    if card.next:
        click.echo(f"  {card.next}")
    for step in card.latest.steps:
        mark, colour = _MARKS.get(step.state, ("?", None))
        reason = f": {printable(' '.join(step.reason.split()))}" if step.reason else ""
        click.echo(f"  {click.style(mark, fg=colour)} {step.name} ({step.state}){reason}")
    if (pairs := card.pairs) is not None and pairs.total:
        ended = pairs.total - pairs.waiting - pairs.running
        names = ("scored", "not_applicable", "undefined", "failed", "cancelled", "running", "waiting")
        counts = [f"{getattr(pairs, name)} {name.replace('_', ' ')}" for name in names if getattr(pairs, name)]
        click.echo(f"  {ended} of {pairs.total} pairs: {', '.join(counts)}")
    click.echo(f"  {card.url}")
    if card.latest.findings:
        echo_findings(card.latest.findings)


def _progress_of(card: SubmissionCard) -> tuple[Any, ...]:
    """The values whose change makes the status be printed again."""
    steps = tuple((step.kind, step.state, step.reason) for step in card.latest.steps)
    return (card.state, card.revision, steps, card.pairs)


def submission_rows(submissions: Iterable[Submission]) -> list[tuple[str, ...]]:
    """Cells of a table of submissions."""
    short = sys.stdout.isatty()
    return [
        (
            submission.id[:8] if short else submission.id,
            printable(submission.title),
            str(submission.revision),
            submission.words,
            f"{submission.changed:%Y-%m-%d %H:%M}",
        )
        for submission in submissions
    ]


def plain_values(value: Any) -> Any:
    """Dataclasses as plain types, for JSON."""
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {field.name: plain_values(getattr(value, field.name)) for field in dataclasses.fields(value)}
    if isinstance(value, list | tuple):
        return [plain_values(item) for item in value]
    return value.isoformat() if isinstance(value, datetime) else value


_ID_LENGTH = 36
_MOST_FAILURES = 5
_FINAL_STATES = ("changes", "done", "rejected", "withdrawn")
"""States that do not change without the submitter."""


def find_submission(client: Client, identifier: str) -> str:
    """Return the complete identifier of one of the user's submissions.

    Parameters
    ----------
    client : Client
        A client of the site.
    identifier : str
        The identifier or its beginning.
    """
    identifier = identifier.strip().lower()
    if len(identifier) >= _ID_LENGTH:
        return identifier
    matches = [submission for submission in client.submissions() if submission.id.startswith(identifier)]
    if len(matches) == 1:
        return matches[0].id
    listed = ", ".join(f"{submission.id[:13]} ({submission.title})" for submission in matches)
    message = f"{identifier!r} may be {listed}" if matches else f"no submission of yours begins with {identifier!r}"
    raise UserError(message, remedy="list them with: brainscore status")


def watch_submission(client: Client, identifier: str, *, every: float, until_review: bool) -> SubmissionCard:
    """Print the status of a submission whenever it changes, until its state is final.

    Parameters
    ----------
    client : Client
        A client of the site.
    identifier : str
        The submission.
    every : float
        Seconds between requests.
    until_review : bool
        Whether to stop when the submission waits for a reviewer, which may take days.
    """
    before, failures = None, 0
    while True:
        try:
            card = client.submission(identifier)
            failures = 0
        except DataUnavailable:
            failures += 1
            if failures > _MOST_FAILURES:
                raise
            time.sleep(every)
            continue
        if (progress := _progress_of(card)) != before:
            before = progress
            echo_submission(card)
        if card.state in _FINAL_STATES or (until_review and card.state == "review"):
            return card
        time.sleep(every)
