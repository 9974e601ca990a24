"""Find plugins and import them, or objects that a function in a file makes; errors and warnings about them."""

from __future__ import annotations

import functools
import importlib
import importlib.metadata
import importlib.util
import inspect
import os
import re
import sys
import traceback
from collections.abc import Callable, Iterator, MutableSequence, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import lru_cache
from hashlib import sha256
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec, PathFinder
from importlib.util import find_spec
from pathlib import Path
from types import ModuleType
from typing import Any, NamedTuple, NoReturn

from brainscore_core.domain_names import PACKAGES
from brainscore_core.errors import BrainScoreError, UserError, nearest


class PluginWarning(UserWarning):
    """A plugin or a folder of plugins cannot be read; all others still work."""


class DuplicateRegistrationError(UserError):
    """An identifier or a plugin name is registered in two places; the message names both."""


class MissingRequirementError(UserError, ModuleNotFoundError):
    """A plugin imports a module that is not installed.

    Parameters
    ----------
    message : str
        Names the plugin and the module.
    remedy : str, optional
        The command that installs it.
    name : str, optional
        The missing module, as in :class:`ModuleNotFoundError`.
    """

    def __init__(self, message: str, remedy: str | None = None, *, name: str | None = None) -> None:
        super().__init__(message, remedy)
        self.name = name

    def __reduce__(self) -> tuple[object, ...]:
        return functools.partial(type(self), name=self.name), (self.message, self.remedy)


LIBRARIES = ("torch", "torchvision", "timm", "transformers")
"""Libraries that models use without requiring them: those of the extra ``models`` of this platform."""

_NAMES = re.compile("|".join(rf"\b(?:py)?({name})\b" for name in LIBRARIES), re.IGNORECASE)


def missing_package(error: BaseException | None) -> str:
    """Return the package whose absence from this machine caused an error of any library; empty if none did.

    Errors from which it was raised are considered, too.

    Examples
    --------
    >>> missing_package(ModuleNotFoundError("No module named 'absent'", name="absent.part"))
    'absent'
    >>> missing_package(ModuleNotFoundError("No module named 'json.absent'", name="json.absent"))
    ''
    """
    if isinstance(error, BrainScoreError) and not (type(error) is UserError or isinstance(error, ImportError)):
        return ""  # these state their cause with their type
    while error is not None:
        if isinstance(error, ModuleNotFoundError) and error.name:
            names = [error.name.partition(".")[0]]
        elif isinstance(error, ImportError):  # transformers names what it misses in the message only
            names = [next(filter(None, match)).lower() for match in _NAMES.findall(str(error))]
        else:
            names = []
        if absent := next(filter(is_absent, names), ""):
            return absent
        error = error.__cause__
    return ""


def is_absent(package: str) -> bool:
    """Whether a package is not installed in this interpreter."""
    try:
        return find_spec(package) is None
    except (ImportError, ValueError):  # such as a module without a specification
        return False


@dataclass(frozen=True)
class Root:
    """A folder laid out like the package: ``models/<plugin>/__init__.py`` and so on."""

    folder: Path  # the folder; for an entry point that names a single module, the module's file
    package: str  # the package that its plugins are imported from
    # where it was found: ``'built in'``, ``'BRAINSCORE_PLUGINS'``, or the name of an installed distribution
    source: str
    itself: Path | None = None  # the root's own ``__init__.py`` if it may register plugins (entry points)
    replaces: bool = False  # whether its plugins take the place of built-in ones with the same folder name


@dataclass(frozen=True)
class Plugin:
    """One plugin: a folder with an ``__init__.py`` that registers."""

    file: str  # the file that registers
    folder: str  # the plugin's folder (the file itself if the plugin is a single module)
    package: str  # the module to import
    source: str  # as in `Root`


def takes_precedence(variable: str) -> bool:
    """Whether plugins in the folders of an environment variable take precedence over built-in ones of the same name."""
    return os.environ.get(f"{variable}_REPLACE", "") != "0"


def variable_value(variable: str, earlier: str | None) -> str:
    """Folders that an environment variable lists, and one of an earlier name, if there is one."""
    return os.pathsep.join(filter(None, (os.environ.get(name, "") for name in (variable, earlier) if name)))


def variable_roots(
    variable: str, *, package: str, kinds: Sequence[str], problems: list[str], earlier: str | None = None
) -> list[Root]:
    """Roots listed in an environment variable, separated like those of ``PATH``; `earlier`: another name of it.

    A copy of the package itself replaces none of the package's plugins: their modules import each other.
    """
    roots = []
    for entry in variable_value(variable, earlier).split(os.pathsep):
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
        is_copy = folder.name == package and (folder / "__init__.py").is_file()
        roots.append(Root(folder, package, variable, replaces=takes_precedence(variable) and not is_copy))
    return roots


def entry_point_roots(group: str, *, problems: list[str]) -> list[Root]:
    """Roots that installed distributions declare, found without importing them."""
    roots = []
    for point in _entry_points(group, _path_stamps()):
        distribution = point.dist.name if point.dist is not None else point.name
        spec = _find_spec(point.module)
        if spec is None:
            problems.append(
                f"the distribution {distribution} declares plugins in the module {point.module} "
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


def _path_stamps() -> tuple[tuple[str, int], ...]:
    """Folders of the path with the times of their last change: installing a distribution changes one of them."""
    stamps = []
    for entry in sys.path:
        with suppress(OSError):
            stamps.append((entry, Path(entry or ".").stat().st_mtime_ns))
    return tuple(stamps)


@lru_cache(maxsize=8)
def _entry_points(group: str, path: tuple[tuple[str, int], ...]) -> tuple[importlib.metadata.EntryPoint, ...]:
    """Entry points of all distributions, which are read again when the path or one of its folders changes."""
    return tuple(importlib.metadata.entry_points(group=group))


def distribution_of(location: Path) -> tuple[str | None, str | None]:
    """Name and version of the distribution that installed a file or folder; None if there is none."""
    location = location.absolute()
    roots = [Path(entry) for entry in sys.path if entry and location.parent.is_relative_to(entry)]
    # the platform's own folder, which an editable installation may not add to the path
    roots.append(Path(__file__).parents[2])
    inside = [root for root in roots if location.is_relative_to(root)]
    if not inside:
        return None, None
    root = max(inside, key=lambda root: len(root.parts))
    name = _distribution_with(location.relative_to(root).parts[0].removesuffix(".py"))
    return name, _version_of(name) if name else None


@lru_cache
def _version_of(distribution: str) -> str:
    return importlib.metadata.version(distribution)


@lru_cache
def _distribution_with(top: str) -> str | None:
    """Name of the distribution that installed a package or module of this name, the first on the path."""
    for distribution in importlib.metadata.distributions():
        names = distribution.read_text("top_level.txt")
        # searching the text is ten times faster than parsing the records
        record = "" if names else "\n" + (distribution.read_text("RECORD") or "")
        if top in (names or "").split() or f"\n{top}/" in record or f"\n{top}.py," in record:
            return str(distribution.metadata["Name"])
    if top in ("brainscore_core", "brainscore", *PACKAGES):  # an editable installation lists no packages
        with suppress(importlib.metadata.PackageNotFoundError):
            return str(importlib.metadata.metadata("brainscore")["Name"])
    return None


def _find_spec(name: str) -> ModuleSpec | None:
    """Find a module without importing its parents, unlike `importlib.util.find_spec`."""
    top, *submodules = name.split(".")
    try:
        spec = importlib.util.find_spec(top)
    except (ImportError, ValueError):
        return None
    for submodule in submodules:
        if spec is None or spec.submodule_search_locations is None:
            return None
        top = f"{top}.{submodule}"
        spec = PathFinder.find_spec(top, list(spec.submodule_search_locations))
    return spec


def plugins_in(root: Root, kinds: Sequence[str]) -> Iterator[Plugin]:
    """Yield every plugin folder of a root, except hidden and ``_private`` ones."""
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


def same_file(a: str, b: str) -> bool:
    """Whether two paths are the same file, also through links."""
    return a == b or os.path.realpath(a) == os.path.realpath(b)


def belongs_to(file: str, folder: str) -> bool:
    """Whether a file is in a folder, or is the same file (for a plugin that is a single file)."""
    return file == folder or file.startswith(folder + os.sep)


class PluginFinder(MetaPathFinder):
    """Adds folders to the ``__path__`` of the packages that contain plugins.

    With a root ``/lab`` and the package ``domain``, ``import domain.models.mine`` finds ``/lab/models/mine``. Roots
    that replace built-in plugins come before the package's own folders, others after. `roots` returns the current ones.
    """

    def __init__(self, package: str, *, kinds: Sequence[str], roots: Callable[[], Sequence[Root]]) -> None:
        self.package = package
        self._kinds = {f"{package}.{kind}": kind for kind in kinds}
        self._roots = roots
        self._added: dict[str, list[str]] = {}

    def install(self) -> None:
        """Put the finder first, replacing an earlier one of the same package."""
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
        """Find a subpackage that contains plugins, and add the folders to its search path."""
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
        """Update a subpackage's search path in place."""
        added = self._added.get(name, [])
        original = [folder for folder in search_path if folder not in added]
        replaces = {str(root.folder / self._kinds[name]): root.replaces for root in self._roots()}
        current = [folder for folder in replaces if folder not in original]
        first = [folder for folder in current if replaces[folder]]
        if (path := [*first, *original, *(folder for folder in current if folder not in first)]) != search_path:
            search_path[:] = path
        self._added[name] = current

    def update(self) -> None:
        """Update the search paths of subpackages that are already imported."""
        for name in self._kinds:
            module = sys.modules.get(name)
            if module is not None:
                self.extend(name, module.__path__)


def forget_modules(package: str, folders: Sequence[Path], *, keep: Path | None = None) -> None:
    """Remove modules of `package` whose files are in removed folders, but not in `keep`, from ``sys.modules``."""
    for name in [name for name in sys.modules.copy() if folders and name.startswith(f"{package}.")]:
        file = getattr(sys.modules.get(name), "__file__", None) or ""
        kept = keep is not None and belongs_to(file, str(keep))
        if any(belongs_to(file, str(folder)) for folder in folders) and not kept:
            del sys.modules[name]
            parent, _, child = name.rpartition(".")
            if parent in sys.modules and hasattr(sys.modules[parent], child):
                delattr(sys.modules[parent], child)


def import_plugin(plugin: Plugin) -> ModuleType:
    """Import one plugin.

    Returns the plugin's module. Raises `MissingRequirementError` if the plugin imports a module that is not installed.
    Raises `DuplicateRegistrationError` if another plugin folder of the same name comes first on the search path. Raises
    `Exception`: any other error of the plugin, with a note that names the plugin.
    """
    if plugin.package not in sys.modules:
        importlib.invalidate_caches()  # the plugin may be new
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
    """Raise an error with a remedy instead of ``No module named ...``."""
    if isinstance(error, MissingRequirementError) or error.name is None:
        raise error  # already explained, by a plugin that this one uses or by a library
    missing = error.name
    requirements = Path(plugin.folder) / "requirements.txt"
    message = f"The plugin {plugin.package} ({plugin.file}) imports {missing}, which is not "
    if missing.startswith((f"{plugin.package}.", plugin.package.partition(".")[0] + ".")):
        message += "a part of it."
        remedy = "Check the spelling of the import, and whether the file is missing."
    elif requirements.is_file():
        message += f"installed. Its requirements are in {requirements}."
        remedy = f"Install them with: python -m pip install -r {requirements} (or score with --isolated)"
    else:
        message += "installed. The plugin has no requirements.txt that names its package."
        top = missing.partition(".")[0]
        remedy = (
            f"Install it (if the package has the name of the module: python -m pip install {top}), "
            f"and add it to {requirements}."
        )
    raise MissingRequirementError(message, remedy, name=error.name) from error


class UnregisteredModel(NamedTuple):
    """A model without a registration, ready to be scored."""

    identifier: str
    model: Any
    source: Path | None  # file that defines the model, if known; the receipt has its hash
    remarks: tuple[str, ...] = ()  # choices made automatically, for the receipt


def is_file_reference(model: Any) -> bool:
    """Whether a reference has the form ``path/to/file.py:make_model``.

    A UserError if it is the name of a file without a function.
    """
    if isinstance(model, str) and model.endswith(".py"):
        raise UserError(f"{model!r} names a file without a function", remedy=f"write it as {model}:make_model")
    return isinstance(model, str) and ".py:" in model


def referenced_file(reference: str) -> Path:
    """Absolute path of the file in ``path/to/file.py:make_model``.

    Examples
    --------
    >>> referenced_file("/models/mine.py:make_model")
    PosixPath('/models/mine.py')
    """
    return Path(reference.rpartition(":")[0]).expanduser().resolve()


def load_file_reference(reference: str, *, noun: str = "model") -> tuple[Any, Path]:
    """Call the function that a reference names.

    `reference`: ``path/to/file.py:make_model``, or the name of a variable in the file. `noun`: what the function makes,
    for messages. Result: what the function returned, and the file. A UserError if the file or the name in it does not
    exist, or the function needs arguments or returns nothing.
    """
    file_name, _, name = reference.rpartition(":")
    path = referenced_file(reference)
    if not path.is_file():
        raise UserError(f"there is no file {file_name!r}", remedy=f"write it as path/to/file.py:make_{noun}")
    if not name.isidentifier():
        raise UserError(
            f"{reference!r} does not name a function in {path.name}", remedy=f"write it as {file_name}:make_{noun}"
        )
    module = _import_file(path)
    if not hasattr(module, name):
        near = nearest(name, [known for known in vars(module) if not known.startswith("_")], limit=3)
        raise UserError(
            f"{path} has no {name!r}",
            remedy=f"did you mean {' or '.join(near)}?" if near else f"name a function that returns the {noun}",
        )
    value = getattr(module, name)
    if _is_factory(value):
        needed = [
            parameter.name
            for parameter in inspect.signature(value).parameters.values()
            if parameter.default is parameter.empty
            and parameter.kind not in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD)
        ]
        if needed:
            raise UserError(
                f"{reference} needs arguments: {', '.join(needed)}",
                remedy="give them defaults: it is called without arguments",
            )
        value = value()
    if value is None:
        raise UserError(f"{reference} returned nothing", remedy=f"return the {noun}")
    return value, path


def _import_file(path: Path) -> Any:
    # the module name is unique to the path, so that two files of the same name do not collide
    name = f"_brainscore_file_{sha256(str(path).encode()).hexdigest()[:16]}"
    spec = importlib.util.spec_from_file_location(name, path)
    if spec is None or spec.loader is None:
        raise UserError(f"{path} cannot be imported", remedy="name a Python file")
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    sys.path.insert(0, str(path.parent))  # neighbouring modules can be imported, as if the file were run
    try:
        spec.loader.exec_module(module)
    except (Exception, SystemExit) as error:
        del sys.modules[name]
        raise UserError(
            f"{path} cannot be imported{_error_line(error, path)}: {type(error).__name__}: {error}",
            remedy=f"fix it; `python {path.name}` shows where it fails",
        ) from error
    finally:
        sys.path.remove(str(path.parent))
    return module


def _error_line(error: BaseException, path: Path) -> str:
    """Line of the file that raised an error, as part of a sentence."""
    if isinstance(error, SyntaxError):
        return f" (line {error.lineno})"
    lines = [frame.lineno for frame in traceback.extract_tb(error.__traceback__) if frame.filename == str(path)]
    return f" (line {lines[-1]})" if lines else ""


def _is_factory(value: Any) -> bool:
    return inspect.isfunction(value) or inspect.isclass(value)
