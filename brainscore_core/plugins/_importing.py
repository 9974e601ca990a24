"""Importing plugins: the search path, and what a failed import means."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable, MutableSequence, Sequence
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec, PathFinder
from pathlib import Path
from types import ModuleType
from typing import NoReturn

from brainscore_core.plugins._errors import DuplicateRegistrationError, MissingRequirementError
from brainscore_core.plugins._sources import Plugin, belongs_to, same_file

__all__ = ["PluginFinder", "explain_missing_module", "forget_modules", "import_plugin"]


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
