"""What ``brainscore submit`` and ``brainscore status`` print."""

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
    """Print findings, each with file and line; give the number of errors.

    Parameters
    ----------
    findings : iterable
        With severity, check, file, line, message and remedy.
    place : callable
        Gives the path to print for a path in the submission.
    """
    found = list(findings)
    for one in found:
        where = place(one.file) if one.file else ""
        where = f"{where}:{one.line}: " if one.line else f"{where}: " if where else ""
        mark = click.style(one.severity, fg=_COLOURS.get(one.severity), bold=True)
        click.echo(f"{click.style(printable(where), bold=True)}{mark}[{one.check}] {printable(one.message)}")
        if one.remedy:
            click.echo(f"    → {printable(one.remedy)}")
    counts = Counter(one.severity for one in found)
    said = [_count(counts[name], name) for name in _COLOURS if counts[name]]
    click.echo(", ".join(said) if said else "Nothing was found.")
    return counts["error"]


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def echo_submission(card: SubmissionCard) -> None:
    """Print how a submission stands: its state, steps, what was found, and how far scoring is."""
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
    """What is told anew once it differs."""
    steps = tuple((step.kind, step.state, step.reason) for step in card.latest.steps)
    return (card.state, card.revision, steps, card.pairs)


def submission_rows(submissions: Iterable[Submission]) -> list[tuple[str, ...]]:
    """Cells of a table of submissions."""
    short = sys.stdout.isatty()
    return [
        (
            one.id[:8] if short else one.id,
            printable(one.title),
            str(one.revision),
            one.words,
            f"{one.changed:%Y-%m-%d %H:%M}",
        )
        for one in submissions
    ]


def plain_values(value: Any) -> Any:
    """Dataclasses as plain types, for JSON."""
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {field.name: plain_values(getattr(value, field.name)) for field in dataclasses.fields(value)}
    if isinstance(value, list | tuple):
        return [plain_values(one) for one in value]
    return value.isoformat() if isinstance(value, datetime) else value


_ID_LENGTH = 36
_MOST_FAILURES = 5
_FINAL_STATES = ("changes", "done", "rejected", "withdrawn")
"""States in which nothing more comes by itself."""


def find_submission(client: Client, identifier: str) -> str:
    """The whole identifier of one of your submissions.

    Parameters
    ----------
    client : Client
        Of the site.
    identifier : str
        Its beginning, or all of it.
    """
    identifier = identifier.strip().lower()
    if len(identifier) >= _ID_LENGTH:
        return identifier
    found = [one for one in client.submissions() if one.id.startswith(identifier)]
    if len(found) == 1:
        return found[0].id
    said = ", ".join(f"{one.id[:13]} ({one.title})" for one in found)
    message = f"{identifier!r} may be {said}" if found else f"no submission of yours begins with {identifier!r}"
    raise UserError(message, remedy="list them with: brainscore status")


def watch_submission(client: Client, identifier: str, *, every: float, until_review: bool) -> SubmissionCard:
    """Print a submission whenever it has changed, until nothing more comes by itself.

    Parameters
    ----------
    client : Client
        Of the site.
    identifier : str
        The submission.
    every : float
        Seconds between questions.
    until_review : bool
        Whether to stop where somebody must review it, which may take days.
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
        if (told := _progress_of(card)) != before:
            before = told
            echo_submission(card)
        if card.state in _FINAL_STATES or (until_review and card.state == "review"):
            return card
        time.sleep(every)
