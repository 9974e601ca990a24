"""``brainscore logout``."""

from __future__ import annotations

import click

__all__ = ["command"]


@click.command("logout")
@click.option("--site", metavar="URL", help="Address of the site. Default: $BRAINSCORE_SITE, else where you logged in.")
def command(site: str | None) -> None:
    """Forget the token that brainscore login keeps of a site.

    The token itself stays valid: revoke it on your account's page.
    """
    from brainscore.web._connection import site_of
    from brainscore.web._saved import forget

    address = site_of(site)
    if forget(address):
        click.echo(f"Logged out of {address}. The token stays valid: revoke it at {address}/accounts/")
    else:
        click.echo(f"No token of {address} is kept.")
