"""``brainscore status``, and the output that ``brainscore submit`` shares with it."""

from __future__ import annotations

import dataclasses
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterable
from datetime import datetime
from typing import TYPE_CHECKING, Any

import click

from brainscore.cli._options import json_option, site_option
from brainscore.cli._output import echo, echo_json, echo_table, style
from brainscore_core.errors import DataUnavailable, UserError
from brainscore_core.formatting import printable
from brainscore_core.plurals import counted

if TYPE_CHECKING:
    from brainscore.client import Client, Submission, SubmissionCard

_COLOURS = {"error": "red", "warning": "yellow", "note": "cyan"}
_MARKS = {
    "waiting": ("·", None), "running": ("▸", "cyan"), "passed": ("✓", "green"), "failed": ("✗", "red"),
    "skipped": ("–", None), "cancelled": ("–", "yellow"), "ended": ("–", "yellow"),
    "changes requested": ("–", "yellow"),
}  # fmt: skip
_ID_LENGTH = 36
_MOST_FAILURES = 5
_FINAL_STATES = ("changes", "done", "rejected", "withdrawn")
"""States that do not change without the submitter."""


@click.command("status")
@click.argument("submission", required=False, metavar="[ID]")
@site_option
@click.option(
    "--watch",
    "watches",
    is_flag=True,
    help="Print changes until the submission is complete, rejected, withdrawn or must be changed.",
)
@click.option("--every", type=click.FloatRange(min=0.1), default=5, show_default=True, help="Seconds between requests.")
@click.option("--log", is_flag=True, help="Print the output of the steps.")
@json_option
@click.pass_context
def command(
    context: click.Context,
    submission: str | None,
    site: str | None,
    watches: bool,
    every: float,
    log: bool,
    json_: bool,
) -> None:
    """Show your submissions, or the progress of one of them.

    ID is a submission, or the beginning of its identifier. The exit code is 1 if the submission is rejected or must be
    changed.
    """
    from brainscore.client import Client

    if submission is None and (watches or log):
        raise UserError("--watch and --log need a submission", remedy="name it: brainscore status ID")
    if watches and json_:
        raise UserError("--watch and --json cannot be combined", remedy="omit one of them")
    with Client(site) as client:
        if submission is None:
            submissions = list(client.submissions())
            if json_:
                echo_json(plain_values(submissions))
            elif submissions:
                echo_table(("ID", "Plugins", "Revision", "State", "Changed (UTC)"), _submission_rows(submissions))
            else:
                echo("No submissions yet. Send one with: brainscore submit PATH", err=True)
            return
        identifier = find_submission(client, submission)
        if watches:
            card = watch_submission(client, identifier, every=every, until_review=False)
        else:
            card = client.submission(identifier)
            if json_:
                echo_json(plain_values(card))
            else:
                echo_submission(card)
    if log and not json_:
        for step in card.latest.steps:
            if step.log:
                echo(style(f"{step.name}:", bold=True))
                echo("\n".join(map(printable, step.log.rstrip().splitlines())))
    if card.state in ("changes", "rejected"):
        context.exit(1)


def echo_findings(findings: Iterable[Any], *, place: Callable[[str], str] = str) -> int:
    """Print findings, each with file and line, and return the number of errors."""
    counts: Counter[str] = Counter()
    for finding in findings:
        where = place(finding.file) if finding.file else ""
        where = f"{where}:{finding.line}: " if finding.line else f"{where}: " if where else ""
        mark = style(finding.severity, fg=_COLOURS.get(finding.severity), bold=True)
        echo(f"{style(printable(where), bold=True)}{mark}[{finding.check}] {printable(finding.message)}")
        if finding.remedy:
            echo(f"    → {printable(finding.remedy)}")
        counts[finding.severity] += 1
    echo(", ".join(counted(counts[name], name) for name in _COLOURS if counts[name]) or "All checks passed.")
    return counts["error"]


def echo_submission(card: SubmissionCard) -> None:
    """Print the status of a submission: state, steps, findings and progress of scoring."""
    echo(f"{style(printable(card.title), bold=True)}, revision {card.revision}: {card.words}")
    if card.next:
        echo(f"  {card.next}")
    for step in card.latest.steps:
        words = step.words or step.state
        mark, colour = _MARKS.get(words) or _MARKS.get(step.state, ("?", None))
        reason = f": {printable(' '.join(step.reason.split()))}" if step.reason else ""
        echo(f"  {style(mark, fg=colour)} {step.name} ({words}){reason}")
    if (pairs := card.pairs) is not None and pairs.total:
        ended = pairs.total - pairs.waiting - pairs.running
        names = ("scored", "not_applicable", "undefined", "failed", "not_run", "cancelled", "running", "waiting")
        counts = [f"{getattr(pairs, name)} {name.replace('_', ' ')}" for name in names if getattr(pairs, name)]
        echo(f"  {ended} of {pairs.total} pairs: {', '.join(counts)}")
    echo(f"  {card.url}")
    if card.latest.findings:
        echo_findings(card.latest.findings)


def find_submission(client: Client, identifier: str) -> str:
    """Return the complete identifier of one of the user's submissions."""
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
    """Print the status of a submission whenever it changes, until its state is final."""
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


def plain_values(value: Any) -> Any:
    """Convert dataclasses to plain types for JSON."""
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {field.name: plain_values(getattr(value, field.name)) for field in dataclasses.fields(value)}
    if isinstance(value, list | tuple):
        return [plain_values(item) for item in value]
    return value.isoformat() if isinstance(value, datetime) else value


def _submission_rows(submissions: Iterable[Submission]) -> list[tuple[str, ...]]:
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


def _progress_of(card: SubmissionCard) -> tuple[Any, ...]:
    """Values that are compared to find out whether the status changed."""
    steps = tuple((step.kind, step.state, step.reason) for step in card.latest.steps)
    return (card.state, card.revision, steps, card.pairs)
