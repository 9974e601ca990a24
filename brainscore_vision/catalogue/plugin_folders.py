"""Plugin folders: their kind, what they register, and where new ones belong."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from pathlib import Path

from brainscore_core.errors import UserError
from brainscore_vision.registries import REGISTRIES, plugin_index

PLUGINS_VARIABLE = "BRAINSCORE_PLUGINS"
PLUGIN_KINDS: Mapping[str, str] = {"benchmark": "benchmarks", "data": "data", "metric": "metrics", "model": "models"}
"""Kind of a plugin → folder of all plugins of this kind."""


def plugin_folder_of(path: Path) -> Path | None:
    """Folder of the plugin that a path belongs to: the innermost ``<kind>/<plugin>/`` with an ``__init__.py``.

    Examples
    --------
    >>> plugin_folder_of(Path(__file__).parents[1] / "models" / "pixels" / "model.py").name
    'pixels'
    >>> plugin_folder_of(Path(__file__)) is None
    True
    """
    path, package = path.absolute(), Path(__file__).absolute().parent
    for folder in (path, *path.parents):
        if package.is_relative_to(folder):
            return None  # a checkout may be in a folder called "data"
        if folder.parent.name in PLUGIN_KINDS.values() and not folder.name.startswith((".", "_")):
            return folder if (folder / "__init__.py").is_file() else None
    return None


def is_discoverable(root: Path) -> bool:
    """Whether a folder with ``models/`` and so on is searched for plugins."""
    return any(known.folder.resolve() == root.resolve() for known in plugin_index.roots)


def make_discoverable(folder: Path) -> None:
    """Add the folder of a plugin to those that this process and its child processes search.

    Parameters
    ----------
    folder : Path
        The plugin's own folder, such as ``lab/models/mine``.

    Raises
    ------
    UserError
        If it is not a plugin folder.
    """
    if folder.absolute().parent.name not in PLUGIN_KINDS.values():
        raise UserError(
            f"{folder} is not in a folder called {', '.join(PLUGIN_KINDS.values())}",
            remedy="use a layout such as PLUGINS/models/my_model, so that its kind is known",
        )
    if not (folder / "__init__.py").is_file():
        raise UserError(f"{folder} has no __init__.py", remedy="a plugin's __init__.py registers what it offers")
    root = folder.absolute().parent.parent
    if not is_discoverable(root):
        os.environ[PLUGINS_VARIABLE] = os.pathsep.join([*filter(None, [os.environ.get(PLUGINS_VARIABLE)]), str(root)])


def registrations_in(folder: Path) -> Iterator[tuple[str, str]]:
    """What a plugin registers: keys of `brainscore_vision.registries.REGISTRIES`, and identifiers.

    Parameters
    ----------
    folder : Path
        The plugin's folder, which must be discoverable.
    """
    wanted = folder.resolve()
    for name, registry in REGISTRIES.items():
        for key in registry:
            if any(place.folder is not None and place.folder.resolve() == wanted for place in registry.locations(key)):
                yield name, key


def source_checkout() -> Path | None:
    """Root of the source checkout around the working directory; None outside a checkout."""
    for folder in (Path.cwd(), *Path.cwd().parents):
        if (folder / "pyproject.toml").is_file() and (folder / "brainscore_vision" / "__init__.py").is_file():
            return folder
    return None
