"""``brainscore logout``."""

from __future__ import annotations

import click

from brainscore.cli._options import site_option
from brainscore.cli._output import echo


@click.command("logout")
@site_option
def command(site: str | None) -> None:
    """Delete the token that brainscore login saved for a site.

    The token itself stays valid: revoke it on your account's page.
    """
    from brainscore.client.connection import forget_token, site_of

    address = site_of(site)
    if forget_token(address):
        echo(f"Logged out of {address}. The token stays valid: revoke it at {address}/accounts/")
    else:
        echo(f"No token of {address} is kept.")
