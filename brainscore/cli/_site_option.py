"""The option of all commands that talk to a site."""

import click

__all__ = ["site_option"]

site_option = click.option(
    "--site",
    metavar="URL",
    help="Address of the site. Default: $BRAINSCORE_SITE, else where you logged in, else this machine's.",
)
