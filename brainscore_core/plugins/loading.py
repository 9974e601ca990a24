"""Where plugins are, and their import."""

from __future__ import annotations

import importlib
import importlib.metadata
import importlib.util
import os
import sys
from collections.abc import Callable, Iterator, MutableSequence, Sequence
from dataclasses import dataclass
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec, PathFinder
from pathlib import Path
from types import ModuleType
from typing import NoReturn

from brainscore_core.plugins.errors import DuplicateRegistrationError, MissingRequirementError

__all__ = [
    "Plugin",
    "PluginFinder",
    "Root",
    "belongs_to",
    "entry_point_roots",
    "explain_missing_module",
    "forget_modules",
    "import_plugin",
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


class PluginFinder(MetaPathFinder):
    """Puts further folders on the ``__path__`` of the packages that hold plugins.

    With a root ``/lab`` and the package ``domain``, ``import domain.models.mine`` finds
    ``/lab/models/mine``. The package's own folders come first.

    Parameters
    ----------
    package : str
        The package, for instance ``'brainscore_vision'``.
    kinds : sequence of str
        Its subpackages that hold plugins.
    folders : callable
        Gives the roots that are in force at the moment.
    """

    def __init__(self, package: str, *, kinds: Sequence[str], folders: Callable[[], Sequence[Path]]) -> None:
        self.package = package
        self._kinds = {f"{package}.{kind}": kind for kind in kinds}
        self._folders = folders
        self._added: dict[str, list[str]] = {}

    def install(self) -> None:
        """Put the finder in front, in place of an earlier one of the same package."""
        sys.meta_path[:] = [
            finder
            for finder in sys.meta_path
            if not (isinstance(finder, PluginFinder) and finder.package == self.package)
        ]
        sys.meta_path.insert(0, self)

    def find_spec(
        self,
        fullname: str,
        path: Sequence[str] | None,
        target: ModuleType | None = None,
    ) -> ModuleSpec | None:
        """Find a subpackage that holds plugins, and add the folders to where it searches."""
        parent = fullname.rpartition(".")[0]
        if parent in self._kinds and parent in sys.modules:
            self.extend(parent, sys.modules[parent].__path__)
        if fullname not in self._kinds:
            return None
        spec = PathFinder.find_spec(fullname, path, target)
        if spec is not None and spec.submodule_search_locations is not None:
            self._added.pop(fullname, None)
            self.extend(fullname, spec.submodule_search_locations)
        return spec

    def extend(self, name: str, search_path: MutableSequence[str]) -> None:
        """Bring a subpackage's search path up to date, in place."""
        wanted = list(dict.fromkeys(str(folder / self._kinds[name]) for folder in self._folders()))
        added = self._added.get(name, [])
        if added == wanted:
            return
        own = [folder for folder in search_path if folder not in added]
        search_path[:] = own + [folder for folder in wanted if folder not in own]
        self._added[name] = [folder for folder in wanted if folder not in own]

    def update(self) -> None:
        """Bring the search paths of the subpackages that are already imported up to date."""
        for name in self._kinds:
            module = sys.modules.get(name)
            if module is not None:
                self.extend(name, module.__path__)


def forget_modules(package: str, folders: Sequence[Path], *, keep: Path) -> None:
    """Drop the modules of `package` whose files lie in folders that are no longer in force, but not in `keep`."""
    for name in [name for name in sys.modules.copy() if folders and name.startswith(f"{package}.")]:
        file = getattr(sys.modules.get(name), "__file__", None) or ""
        if any(belongs_to(file, str(folder)) for folder in folders) and not belongs_to(file, str(keep)):
            del sys.modules[name]
            parent, _, child = name.rpartition(".")
            if parent in sys.modules and hasattr(sys.modules[parent], child):
                delattr(sys.modules[parent], child)


def import_plugin(plugin: Plugin) -> ModuleType:
    """Import one plugin.

    Parameters
    ----------
    plugin : Plugin
        Which one.

    Returns
    -------
    module
        The plugin's module.

    Raises
    ------
    MissingRequirementError
        The plugin imports a module that is not installed.
    DuplicateRegistrationError
        Another plugin folder of the same name comes first on the search path.
    Exception
        Whatever else the plugin raises, with a note that names the plugin.
    """
    if plugin.package not in sys.modules:
        importlib.invalidate_caches()  # the plugin may have been written a moment ago
    try:
        module = importlib.import_module(plugin.package)
    except ModuleNotFoundError as error:
        explain_missing_module(error, plugin)
    except Exception as error:
        error.add_note(f"This happened while the plugin {plugin.package} was imported.")
        raise
    if module.__file__ is None or not same_file(module.__file__, plugin.file):
        raise DuplicateRegistrationError(
            f"Two plugins are called {plugin.package}: {module.__file__} and {plugin.file}.",
            "Rename the folder of one of them.",
        )
    return module


def explain_missing_module(error: ModuleNotFoundError, plugin: Plugin) -> NoReturn:
    """Raise what a user can act on in place of a bare ``No module named ...``."""
    if isinstance(error, MissingRequirementError):
        raise error  # a plugin that this one uses; already explained
    missing = error.name or "a module"
    requirements = Path(plugin.folder) / "requirements.txt"
    message = f"The plugin {plugin.package} ({plugin.file}) imports {missing}, which is not "
    if missing.startswith((f"{plugin.package}.", plugin.package.partition(".")[0] + ".")):
        message += "there."
        remedy = "Check the spelling of the import, and whether the file was left out."
    elif requirements.is_file():
        message += f"installed. Its requirements stand in {requirements}."
        remedy = f"Install them with: python -m pip install -r {requirements}"
    else:
        message += "installed. The plugin has no requirements.txt that says where it comes from."
        top = missing.partition(".")[0]
        remedy = (
            f"Install it (if the package is called like the module: python -m pip install {top}), "
            f"and name it in {requirements}."
        )
    raise MissingRequirementError(message, remedy, name=error.name) from error
