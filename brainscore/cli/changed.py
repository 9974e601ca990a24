"""``brainscore changed``: the plugins that a change touches, and whether it stays within one of them."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path, PurePosixPath
from typing import Any, Literal, NamedTuple

import click

from brainscore.cli._options import json_option
from brainscore.cli._output import echo, echo_json
from brainscore_core.domains import domains
from brainscore_core.errors import UserError
from brainscore_core.submission.package import PLUGIN_KINDS

_KIND_OF = {folder: kind for kind, folder in PLUGIN_KINDS.items()}
_STAND_INS = ("testing", "stand_ins")

State = Literal["added", "changed", "removed"]


class ChangedPlugin(NamedTuple):
    """A plugin that a change touches."""

    kind: str  # ``'benchmark'``, ``'data'``, ``'metric'`` or ``'model'``
    name: str  # name of its folder
    path: str  # its folder, from the repository's root
    state: State  # ``'added'``, ``'changed'`` or ``'removed'``
    tests: bool  # whether it has tests


class Changes(NamedTuple):
    """What a change touches."""

    base: str  # what it is compared with: the commit at which it branched off
    plugins: tuple[ChangedPlugin, ...]  # sorted by path
    outside: tuple[str, ...]  # files that belong to no plugin

    @property
    def within(self) -> bool:
        """Whether it touches plugins, nothing else, and only those of one name: one submission."""
        return not self.outside and len({plugin.name.lower() for plugin in self.plugins}) == 1

    @property
    def to_test(self) -> tuple[str, ...]:
        """Folders of the plugins that are there."""
        return tuple(plugin.path for plugin in self.plugins if plugin.state != "removed")

    def to_dict(self) -> dict[str, Any]:
        """As plain types, for JSON."""
        return {
            "base": self.base,
            "within_plugin": self.within,
            "plugins": [plugin._asdict() for plugin in self.plugins],
            "outside": list(self.outside),
            "to_test": list(self.to_test),
        }


def changes_since(base: str, *, repository: Path | None = None) -> Changes:
    """Compare the working tree with the commit at which it branched off from `base`."""
    folder = repository or Path.cwd()
    root = Path(_git(folder, "rev-parse", "--show-toplevel", remedy="run it in the repository").strip())
    start = _git(
        root, "merge-base", "--end-of-options", base, "HEAD", remedy="name a branch or commit, such as origin/main"
    ).strip()
    changed = _git(root, "diff", "--name-only", "--no-renames", "-z", start).split("\0")
    changed += _git(root, "ls-files", "--others", "--exclude-standard", "-z").split("\0")
    before = set(_git(root, "ls-tree", "-r", "--name-only", "-z", start).split("\0"))
    return sort_changes(start, filter(None, changed), root=root, before=before)


def sort_changes(base: str, changed: Iterable[str], *, root: Path, before: set[str]) -> Changes:
    """Sort changed files by plugin."""
    packages = [each.package for each in domains()]
    roots = {path.partition("/")[0] for path in before}
    in_package = [name for name in packages if name in roots or (root / name).is_dir()]
    plugins: dict[PurePosixPath, ChangedPlugin] = {}
    outside = []
    for path in sorted(set(changed)):
        folder = _plugin_folder(PurePosixPath(path), root, before, in_package=in_package)
        if folder is None:
            outside.append(path)
        elif folder not in plugins:
            plugins[folder] = _describe(folder, root, before)
    return Changes(base, tuple(sorted(plugins.values(), key=lambda plugin: plugin.path)), tuple(outside))


def _plugin_folder(
    path: PurePosixPath, root: Path, before: set[str], *, in_package: Sequence[str]
) -> PurePosixPath | None:
    """Folder of the plugin that a file belongs to: ``…/<kind>/<plugin>/``, now or before."""
    package, *inner = path.parts
    if package in in_package and tuple(inner[:-1]) == _STAND_INS and not path.name.startswith("_"):
        data = PurePosixPath(package, "data", path.stem)  # what a data set's tests use in place of its measurements
        return data if _is_plugin(data, root, before) else None
    for index, kind in enumerate(path.parts[:-2]):
        if kind not in _KIND_OF or path.parts[index + 1].startswith(("_", ".")):
            continue
        if in_package and not (index == 1 and path.parts[0] in in_package):
            return None
        folder = PurePosixPath(*path.parts[: index + 2])
        if _is_plugin(folder, root, before):
            return folder
    return None


def _is_plugin(folder: PurePosixPath, root: Path, before: set[str]) -> bool:
    init = folder / "__init__.py"
    return str(init) in before or (root / init).is_file()


def _describe(folder: PurePosixPath, root: Path, before: set[str]) -> ChangedPlugin:
    there = (root / folder / "__init__.py").is_file()
    state: State = "removed" if not there else "changed" if str(folder / "__init__.py") in before else "added"
    tests = there and any([*(root / folder).rglob("test.py"), *(root / folder).rglob("test_*.py")])
    return ChangedPlugin(_KIND_OF[folder.parent.name], folder.name, str(folder), state, tests)


def _git(folder: Path, *arguments: str, remedy: str = "see the message of git") -> str:
    command = ["git", "-C", str(folder), *arguments]
    try:
        run = subprocess.run(command, capture_output=True, text=True, check=False)  # noqa: S603 - git itself
    except FileNotFoundError as error:
        raise UserError(
            "git is not installed", remedy="install it; changes are determined from the repository"
        ) from error
    if run.returncode:
        message = (run.stderr.strip().splitlines() or ["git failed"])[-1]
        raise UserError(f"git {arguments[0]}: {message}", remedy=remedy)
    return run.stdout


@click.command("changed")
@click.argument("base")
@click.option("--within", is_flag=True, help="Exit with 1 if the change is not limited to one plugin.")
@json_option
@click.pass_context
def command(context: click.Context, base: str, within: bool, json_: bool) -> None:
    """List the plugins that changed since a branch or commit, and whether only one plugin changed.

    BASE is the branch to merge into, such as origin/main. The working tree is compared with the commit where it
    branched off. A benchmark and data of the same name count as one plugin. When the output is not a terminal, only
    the folders to test are printed, one per line.
    """
    changes = changes_since(base)
    if json_:
        echo_json(changes.to_dict())
    elif not sys.stdout.isatty():
        for path in changes.to_test:
            echo(path)
    for line in _summary_lines(changes):
        echo(line, err=json_ or not sys.stdout.isatty())
    if within and not changes.within:
        context.exit(1)


def _summary_lines(changes: Changes) -> list[str]:
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
