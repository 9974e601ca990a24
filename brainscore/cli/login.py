"""``brainscore login``."""

from __future__ import annotations

import sys

import click

from brainscore.cli._options import site_option
from brainscore.cli._output import echo
from brainscore_core.errors import UserError


@click.command("login")
@site_option
@click.option("--token-stdin", is_flag=True, help="Read the token from standard input.")
def command(site: str | None, token_stdin: bool) -> None:
    """Save an access token for a site, for all commands that use the site.

    Make a token on your account's page there, with the scopes that you need: read, submit, receipts:write. It is saved
    in a file that only you can read. $BRAINSCORE_TOKEN and $BRAINSCORE_SITE take precedence over saved values.
    """
    from brainscore.client import Client
    from brainscore.client.connection import save_token, site_of

    address = site_of(site)
    if token_stdin:
        token = sys.stdin.readline().strip()
    else:
        echo(f"Make a token at {address}/accounts/ and paste it here; it is not shown.", err=True)
        token = click.prompt("Token", hide_input=True, err=True).strip()
    if not token:
        raise UserError("the token is empty", remedy=f"make one at {address}/accounts/")
    with Client(address, token) as client:
        me = client.me()
    file = save_token(address, token)
    scopes = ", ".join(me.token.scopes) if me.token is not None else ""
    echo(f"Logged in at {address} as {me.name or me.email} ({scopes}).")
    if me.token is not None and "submit" not in me.token.scopes:
        echo("This token cannot submit: it lacks the scope submit.", err=True)
    echo(f"The token is kept in {file}.", err=True)
