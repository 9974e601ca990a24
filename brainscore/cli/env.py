"""``brainscore env``: the environments that hold what isolated models require."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import click

from brainscore.cli._app import Subcommands
from brainscore.cli._options import json_option, named_items, yes_option
from brainscore.cli._output import echo, echo_json, echo_pairs, echo_table, style
from brainscore_core.errors import UserError
from brainscore_core.memory import format_size, parse_size
from brainscore_core.paths import environments_home
from brainscore_core.plugins.environments import (
    Environment,
    StoredEnvironment,
    collect_garbage,
    environment_of,
    environments,
    plugin_requirements,
    remove_environment,
)
from brainscore_core.plurals import counted

if TYPE_CHECKING:
    from brainscore_core.plugins.environments import Manifest

_UNITS = {"m": 60.0, "h": 3600.0, "d": 86400.0, "w": 7 * 86400.0}


@click.group("env", cls=Subcommands)
def command() -> None:
    """Show, make and remove the environments of models that run isolated.

    They are in $BRAINSCORE_HOME/environments (by default ~/.brain-score/environments).
    """


@command.command("ls")
@click.argument("names", nargs=-1, metavar="[NAME]...")
@json_option
def list_environments(names: Sequence[str], *, json_: bool) -> None:
    """List environments, the most recently used first.

    NAME is the beginning of a key, or the model for which it was made, or a pattern such as 'resnet*'.
    """
    chosen = _matching(names)
    if json_:
        echo_json(
            {"path": environments_home(), "bytes": _total(chosen), "environments": [_plain(entry) for entry in chosen]}
        )
        return
    echo_table(["key", "made for", "installed", "size", "last used", "state"], [_row(entry) for entry in chosen])
    echo(f"{_counted(chosen)} in {environments_home()}, {format_size(_total(chosen))}", err=True)


@command.command("make")
@click.argument("models", nargs=-1, required=True, metavar="MODEL...")
@json_option
def make(models: Sequence[str], *, json_: bool) -> None:
    """Make the environment of a model, unless it exists.

    MODEL is an identifier, path/to/file.py:make_model, a plugin's folder, or a requirements file. No code of the
    model is run. Making an environment needs a network; later runs do not.
    """
    environments, failed = [], False
    for model in models:
        try:
            environment = environment_of(_requirements(model), plugin=model, on_progress=partial(echo, err=True))
        except UserError as error:
            if len(models) == 1:
                raise
            echo(f"{style('Error:', fg='red', bold=True)} {error}", err=True)
            failed = True
            continue
        environments.append({"model": model, **_plain_environment(environment)})
        for note in environment.notes:
            echo(f"{style('Note:', fg='yellow')} {note}", err=True)
        if not json_:
            echo(environment.key)
        environment.release()
    if json_:
        echo_json({"path": environments_home(), "environments": environments})
    if failed:
        sys.exit(2)


@command.command("show")
@click.argument("name")
@json_option
def show(name: str, *, json_: bool) -> None:
    """Show the requirements and packages of an environment.

    NAME is the beginning of a key, or the model for which it was made.
    """
    entries = _matching([name])
    if json_:
        echo_json([_plain(entry) for entry in entries])
        return
    for number, entry in enumerate(entries):
        if number:
            echo()
        echo_pairs((title, text) for title, text in _described(entry) if text)


@command.command("rm")
@click.argument("names", nargs=-1, required=True, metavar="NAME...")
@yes_option
@json_option
def remove(names: Sequence[str], *, yes: bool, json_: bool) -> None:
    """Remove environments; NAME as for `ls`. Environments in use are kept, and the exit code is then 1."""
    chosen = _matching(names)
    if not yes:
        click.confirm(f"Remove {_counted(chosen)}, {format_size(_total(chosen))}?", abort=True, err=True)
    removed = [entry for entry in chosen if remove_environment(entry)]
    in_use = [entry for entry in chosen if entry not in removed]
    if json_:
        echo_json({"removed": [_plain(entry) for entry in removed], "in_use": [_plain(entry) for entry in in_use]})
    else:
        echo(f"Removed {_counted(removed)}, {format_size(_total(removed))}")
        for entry in in_use:
            echo(f"{entry.key} is in use", err=True)
    if in_use:
        sys.exit(1)


def _age(ctx: click.Context, param: click.Parameter, value: str | None) -> float | None:
    if value is None:
        return None
    number, unit = value[:-1], value[-1:].lower()
    try:
        seconds = float(number) * _UNITS[unit]
    except (ValueError, KeyError):
        seconds = -1.0
    if not 0 <= seconds < float("inf"):
        raise click.BadParameter(f"{value!r} is not a time; write it like 30d, 12h, 2w")
    return seconds


@command.command("gc")
@click.option(
    "--older-than", metavar="TIME", callback=_age, help="Also those not used for this time, such as 30d, 12h or 2w."
)
@click.option(
    "--max-size",
    metavar="SIZE",
    help="Also the least recently used ones, until the total size is below this, such as 20GB.",
)
@click.option("--dry-run", is_flag=True, help="Only show what would be removed.")
@json_option
def collect(*, older_than: float | None, max_size: str | None, dry_run: bool, json_: bool) -> None:
    """Remove environments that are no longer usable.

    Without options: those with missing files, those whose base interpreter is missing or has other packages now, and
    files left by killed processes. Environments in use are kept.
    """
    limit = parse_size(max_size) if max_size is not None else None
    done = collect_garbage(older_than=older_than, max_bytes=limit, dry_run=dry_run)
    if json_:
        echo_json(
            {
                "path": environments_home(),
                "removed": [_plain(entry) for entry in done.removed],
                "kept": [_plain(entry) for entry in done.kept],
                "remains": list(done.remains),
                "dry_run": dry_run,
            }
        )
        return
    for entry in done.removed:
        echo(entry.key)
    verb = "Would remove" if dry_run else "Removed"
    echo(
        f"{verb} {_counted(done.removed)}, {format_size(_total(done.removed))}; "
        f"{len(done.kept)} left, {format_size(_total(done.kept))}",
        err=True,
    )


def _requirements(model: str) -> tuple[Path, ...]:
    """Requirement files of what stands on the command line."""
    path = Path(model)
    if path.suffix == ".txt" and path.is_file():
        return (path,)
    if path.is_dir() and (path / "__init__.py").is_file():
        return plugin_requirements(path)
    from brainscore_core.domains import domain, find
    from brainscore_core.plugins.loading import is_file_reference

    if is_file_reference(model):
        return plugin_requirements(Path(model.rpartition(":")[0]).expanduser().resolve().parent)
    owner, model = find("model", model)
    models = domain(owner).registries["model"]
    if models.resolver_of(model) is not None:
        return ()  # a model of a library, which needs its library only
    return plugin_requirements(models.location(model).folder)


class _Named(NamedTuple):
    key: str
    names: tuple[str, ...]
    entry: StoredEnvironment


def _matching(names: Sequence[str]) -> list[StoredEnvironment]:
    named = [_Named(entry.key, (_plugin(entry),), entry) for entry in environments()]
    chosen = named_items(names, named, f"{environments_home()} has no environment", "brainscore env ls")
    return [item.entry for item in chosen]


def _plugin(entry: StoredEnvironment) -> str:
    return entry.manifest.plugin if entry.manifest is not None else ""


def _counted(entries: Sequence[StoredEnvironment]) -> str:
    return counted(len(entries), "environment")


def _total(entries: Sequence[StoredEnvironment]) -> int:
    return sum(entry.nbytes for entry in entries)


def _state(entry: StoredEnvironment) -> str:
    return f"{entry.state}, in use" if entry.in_use else entry.state


def _row(entry: StoredEnvironment) -> list[str]:
    installed = _versions(entry.manifest.installed) if entry.manifest is not None else ""
    used = datetime.fromtimestamp(entry.used).astimezone().strftime("%Y-%m-%d %H:%M")
    return [entry.key, _plugin(entry), installed or "-", format_size(entry.nbytes), used, _state(entry)]


def _versions(packages: dict[str, str]) -> str:
    return ", ".join(f"{name} {version}" for name, version in packages.items())


def _plain(entry: StoredEnvironment) -> dict[str, Any]:
    """Write an environment in plain types."""
    about: Manifest | None = entry.manifest
    document = {
        "key": entry.key,
        "plugin": about.plugin if about else None,
        "state": entry.state,
        "in_use": entry.in_use,
        "bytes": entry.nbytes,
        "used": _iso(entry.used),
        "path": entry.folder,
    }
    if about is None:
        return document
    return {
        **document,
        "made": _iso(about.made),
        "requirements": about.requirements,
        "options": about.options,
        "installed": about.installed,
        "relied": about.relied,
        "shadowed": about.shadowed,
        "notes": about.notes,
        "base": about.base,
    }


def _plain_environment(environment: Environment) -> dict[str, Any]:
    return {
        "key": environment.key,
        "python": environment.python,
        "packages": environment.packages,
        "installed": environment.installed,
        "shadowed": environment.shadowed,
        "notes": environment.notes,
    }


def _iso(seconds: float) -> str:
    return datetime.fromtimestamp(seconds, UTC).isoformat(timespec="seconds")


def _described(entry: StoredEnvironment) -> list[tuple[str, str]]:
    about = entry.manifest
    first = [("key", entry.key), ("state", _state(entry)), ("path", str(entry.folder))]
    if about is None:
        return first
    return [
        *first,
        ("made for", about.plugin),
        ("requirements", "\n".join((*about.requirements, *about.options)) or "none"),
        ("installed", "\n".join(f"{name} {version}" for name, version in about.installed.items()) or "nothing"),
        ("from the base", _versions(about.relied)),
        ("hides of the base", _versions(about.shadowed)),
        ("notes", "\n".join(about.notes)),
        ("base", f"{about.base['python']} ({about.base['version']})"),
        ("size", format_size(entry.nbytes)),
        ("last used", _iso(entry.used)),
    ]
