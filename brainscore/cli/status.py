"""``brainscore status``."""

from __future__ import annotations

import click

from brainscore.cli._options import site_option
from brainscore.cli._output import echo_json, echo_table, printable
from brainscore_core.errors import UserError

__all__ = ["command"]


@click.command("status")
@click.argument("submission", required=False, metavar="[ID]")
@site_option
@click.option("--watch", "watches", is_flag=True, help="Print changes until the submission is complete or rejected.")
@click.option("--every", type=click.FloatRange(min=0.1), default=5, show_default=True, help="Seconds between requests.")
@click.option("--log", is_flag=True, help="Print the output of the steps.")
@click.option("--json", "json_", is_flag=True, help="Print JSON.")
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
    from brainscore.cli._submission_output import (
        echo_submission,
        find_submission,
        plain_values,
        submission_rows,
        watch_submission,
    )
    from brainscore.client import Client

    if submission is None and (watches or log):
        raise UserError("--watch and --log are about one submission", remedy="name it: brainscore status ID")
    if watches and json_:
        raise UserError("--watch and --json do not go together", remedy="leave one of them out")
    with Client(site) as client:
        if submission is None:
            found = list(client.submissions())
            if json_:
                echo_json(plain_values(found))
            elif found:
                echo_table(("ID", "Plugins", "Revision", "State", "Changed (UTC)"), submission_rows(found))
            else:
                click.echo("No submissions yet. Send one with: brainscore submit PATH", err=True)
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
                click.secho(f"{step.name}:", bold=True)
                click.echo("\n".join(map(printable, step.log.rstrip().splitlines())))
    if card.state in ("changes", "rejected"):
        context.exit(1)
