"""Where plugins are: the package's own folders, folders in a variable, installed packages."""

from __future__ import annotations

import importlib.metadata
import importlib.util
import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from importlib.machinery import ModuleSpec, PathFinder
from pathlib import Path

__all__ = [
    "Plugin",
    "Root",
    "belongs_to",
    "entry_point_roots",
    "plugins_in",
    "same_file",
    "variable_roots",
]


@dataclass(frozen=True)
class Root:
    """A folder laid out like the package: ``models/<plugin>/__init__.py`` and so on.

    Attributes
    ----------
    folder : Path
        The folder; for an entry point that names a single module, the module's file.
    package : str
        The package that its plugins are imported from.
    source : str
        Where it was found, in words: ``'built in'``, ``'BRAINSCORE_PLUGINS'``, or the name of an
        installed distribution.
    itself : Path or None
        The root's own ``__init__.py`` where that, too, may register (entry points).
    """

    folder: Path
    package: str
    source: str
    itself: Path | None = None


@dataclass(frozen=True)
class Plugin:
    """One plugin: a folder with an ``__init__.py`` that registers.

    Attributes
    ----------
    file : str
        The file that registers.
    folder : str
        What belongs to the plugin (the file itself where the plugin is a single module).
    package : str
        The module to import.
    source : str
        As in `Root`.
    """

    file: str
    folder: str
    package: str
    source: str


def variable_roots(variable: str, *, package: str, kinds: Sequence[str], problems: list[str]) -> list[Root]:
    """Roots listed in an environment variable, separated like those of ``PATH``."""
    roots = []
    for entry in os.environ.get(variable, "").split(os.pathsep):
        if not entry.strip():
            continue
        folder = Path(entry.strip()).expanduser().absolute()
        if not folder.is_dir():
            problems.append(f"{variable} names {folder}, which is not a folder")
            continue
        if not any((folder / kind).is_dir() for kind in kinds):
            hint = f"; did you mean {folder.parent}?" if folder.name in kinds else ""
            problems.append(f"{variable} names {folder}, which has none of the folders {', '.join(kinds)}{hint}")
            continue
        roots.append(Root(folder, package, variable))
    return roots


def entry_point_roots(group: str, *, problems: list[str]) -> list[Root]:
    """Roots that installed distributions announce; found without importing them."""
    roots = []
    for point in importlib.metadata.entry_points(group=group):
        distribution = point.dist.name if point.dist is not None else point.name
        spec = _find_spec(point.module)
        if spec is None:
            problems.append(
                f"the distribution {distribution} announces plugins in the module {point.module} "
                f"(entry point {point.name!r} of {group}), which is not installed"
            )
            continue
        itself = Path(spec.origin) if spec.origin and spec.origin.endswith(".py") else None
        if spec.submodule_search_locations is None:
            if itself is not None:
                roots.append(Root(itself, point.module, distribution, itself))
            continue
        roots += [Root(Path(folder), point.module, distribution, itself) for folder in spec.submodule_search_locations]
    return roots


def _find_spec(name: str) -> ModuleSpec | None:
    """Find a module; unlike `importlib.util.find_spec`, import none of its parents."""
    top, *rest = name.split(".")
    try:
        spec = importlib.util.find_spec(top)
    except (ImportError, ValueError):
        return None
    for part in rest:
        if spec is None or spec.submodule_search_locations is None:
            return None
        top = f"{top}.{part}"
        spec = PathFinder.find_spec(top, list(spec.submodule_search_locations))
    return spec


def plugins_in(root: Root, kinds: Sequence[str]) -> Iterator[Plugin]:
    """Give every plugin folder of a root; hidden ones and ``_private`` ones are none."""
    for kind in kinds:
        try:
            names = sorted(os.listdir(root.folder / kind))
        except OSError:
            continue  # a root need not have every kind
        for name in names:
            if name.startswith((".", "_")):
                continue
            folder = os.path.join(root.folder, kind, name)
            package = f"{root.package}.{kind}.{name}"
            yield Plugin(os.path.join(folder, "__init__.py"), folder, package, root.source)
    if root.itself is not None:
        yield Plugin(str(root.itself), str(root.folder), root.package, root.source)


def same_file(one: str, other: str) -> bool:
    """Say whether two paths are the same file, also through links."""
    return one == other or os.path.realpath(one) == os.path.realpath(other)


def belongs_to(file: str, folder: str) -> bool:
    """Say whether a file lies in a folder, or is the very one (a plugin that is one file)."""
    return file == folder or file.startswith(folder + os.sep)
