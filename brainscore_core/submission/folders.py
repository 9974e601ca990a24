"""Folders of plugins: which domain they belong to, and how they are made visible to it."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from pathlib import Path

from brainscore_core.domain_names import FIRST, PACKAGES, domain_of_path, domain_of_source
from brainscore_core.domains import Domain, domain
from brainscore_core.errors import UserError

PLUGIN_KINDS: Mapping[str, str] = {"benchmark": "benchmarks", "data": "data", "metric": "metrics", "model": "models"}
"""Kind of a plugin → folder of all plugins of this kind."""


def plugin_folder_of(path: Path) -> Path | None:
    """Folder of the plugin that a path belongs to: the innermost ``<kind>/<plugin>/`` with an ``__init__.py``.

    Examples
    --------
    >>> import brainscore_vision
    >>> plugin_folder_of(Path(brainscore_vision.__file__).parent / "models" / "pixels" / "model.py").name
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


def domain_of_folder(folder: Path) -> Domain:
    """The domain of a plugin: of the package that its ``__init__.py`` imports, else of the package that contains it.

    Examples
    --------
    >>> import brainscore_language
    >>> domain_of_folder(Path(brainscore_language.__file__).parent / "models" / "trigram").name
    'language'
    """
    name = domain_of_source((folder / "__init__.py").read_bytes())
    return domain(name or domain_of_path(folder.absolute()) or FIRST)


def is_discoverable(root: Path, of: Domain) -> bool:
    """Whether a domain searches a folder with ``models/`` and so on for plugins."""
    return any(known.folder.resolve() == root.resolve() for known in of.plugin_index.roots)


def make_discoverable(folder: Path) -> Domain:
    """Add the folder of a plugin to those that this process and its child processes search; return its domain.

    `folder`: the plugin's own folder, such as ``lab/models/mine``. A UserError if it is not a plugin folder.
    """
    if folder.absolute().parent.name not in PLUGIN_KINDS.values():
        raise UserError(
            f"{folder} is not in a folder called {', '.join(PLUGIN_KINDS.values())}",
            remedy="use a layout such as PLUGINS/models/my_model, so that its kind is known",
        )
    if not (folder / "__init__.py").is_file():
        raise UserError(f"{folder} has no __init__.py", remedy="a plugin's __init__.py registers what it offers")
    of, root = domain_of_folder(folder), folder.absolute().parent.parent
    variable = of.plugin_index.variable
    if variable is not None and not is_discoverable(root, of):
        os.environ[variable] = os.pathsep.join([*filter(None, [os.environ.get(variable)]), str(root)])
    return of


def registrations_in(folder: Path, of: Domain) -> Iterator[tuple[str, str]]:
    """What a plugin registers: keys of `Domain.registries`, and identifiers.

    `folder`: the plugin's folder, which must be discoverable.
    """
    wanted = folder.resolve()
    for name, registry in of.registries.items():
        for key in registry:
            if any(place.folder is not None and place.folder.resolve() == wanted for place in registry.locations(key)):
                yield name, key


def source_checkout() -> Path | None:
    """Root of the source checkout around the working directory; None outside a checkout."""
    for folder in (Path.cwd(), *Path.cwd().parents):
        packages = [folder / package / "__init__.py" for package in PACKAGES]
        if (folder / "pyproject.toml").is_file() and any(file.is_file() for file in packages):
            return folder
    return None
