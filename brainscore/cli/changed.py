"""``brainscore changed``."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import click

from brainscore.cli._output import echo_json

if TYPE_CHECKING:
    from brainscore.changed_plugins import Changes

__all__ = ["command"]


@click.command("changed")
@click.argument("base")
@click.option("--within", is_flag=True, help="Exit with 1 where the change does not stay within one plugin.")
@click.option("--json", "json_", is_flag=True, help="Print JSON.")
@click.pass_context
def command(context: click.Context, base: str, within: bool, json_: bool) -> None:
    """Name the plugins that changed since a branch or commit, and say whether the change stays within its plugin.

    BASE is what the change will be merged into, such as origin/main. Compared is the working tree with the commit at
    which it branched off. A benchmark and the data of the same name count as one plugin. Piped into another program, it
    prints the folders to test, one a line.
    """
    from brainscore.changed_plugins import changes_since

    changes = changes_since(base)
    if json_:
        echo_json(changes.to_dict())
    elif not sys.stdout.isatty():
        for path in changes.to_test:
            click.echo(path)
    for line in _said(changes):
        click.echo(line, err=json_ or not sys.stdout.isatty())
    if within and not changes.within:
        context.exit(1)


def _said(changes: Changes) -> list[str]:
    lines = [
        f"{plugin.state:<8} {plugin.path}" + ("" if plugin.tests or plugin.state == "removed" else "  (no tests)")
        for plugin in changes.plugins
    ]
    lines += [f"outside  {path}" for path in changes.outside]
    if changes.within:
        lines.append("The change stays within its plugin.")
    elif not changes.plugins and not changes.outside:
        lines.append("Nothing changed.")
    elif changes.outside:
        lines.append(f"The change does not stay within a plugin: {len(changes.outside)} files lie outside.")
    else:
        names = ", ".join(sorted({plugin.name for plugin in changes.plugins}))
        lines.append(f"The change touches plugins of several names: {names}.")
    return lines
