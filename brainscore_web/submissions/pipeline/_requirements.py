"""What the plugins of a submission require: wheels of the index that the site uses, installed beside what runs here."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from brainscore_core.plugins.environments import Environment, environment_of, plugin_requirements
from brainscore_core.plugins.environments._lines import Refusals, read_lines

__all__ = ["environment_for"]

_ALLOWED = frozenset({"--no-index", "--pre", "--prefer-binary", "--only-binary", "--require-hashes"})
_REMEDY = "name packages of the Python Package Index, or put a wheel into the plugin's folder"


def environment_for(folder: Path, *, say: Callable[[str], None]) -> Environment:
    """Find or make the environment of a plugin. It is in use until it is released.

    Parameters
    ----------
    folder : pathlib.Path
        The plugin's folder.
    say : callable
        Told in a line each what takes time.

    Raises
    ------
    RequirementsError
        Requirements that cannot be met; or that name addresses, which the site does not ask for anybody.
    """
    files = plugin_requirements(folder)
    _refuse_addresses(files, folder.name)
    return environment_of(files, plugin=folder.name, on_progress=say)


def _refuse_addresses(files: tuple[Path, ...], plugin: str) -> None:
    refusals = Refusals(plugin)
    for line in read_lines(files, refusals):
        if line.option and line.option not in _ALLOWED:
            refusals.add(line, f"{line.option} leads elsewhere", _REMEDY)
        elif "://" in line.text:
            refusals.add(line, "an address leads elsewhere", _REMEDY)
    refusals.raise_any()
