"""Registries: identifiers, and the functions that make the objects."""

from __future__ import annotations

import ast
import contextlib
import fnmatch
import glob
import inspect
import re
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, MutableMapping, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Any, Generic, NamedTuple, TypeVar

from brainscore_core.errors import UnknownIdentifier, UserError, nearest
from brainscore_core.plugins.index import Location, PluginIndex
from brainscore_core.plugins.loading import (
    DuplicateRegistrationError,
    Plugin,
    belongs_to,
    explain_missing_module,
    same_file,
)
from brainscore_core.plugins.source import parse
from brainscore_core.plugins.tables import table_keys
from brainscore_core.provenance import remark

_MAX_PLUGINS = 3
_MIN_LITERAL = 3


def plugins_that_mention(identifier: str, keys: Mapping[Plugin, Sequence[str]]) -> Iterator[tuple[Plugin, list[str]]]:
    """Yield the plugins whose source may contain `identifier`, with their keys, the most likely first.

    First the plugins that contain `identifier` literally; then at most three with a matching f-string, ``+`` or
    ``.format`` that has at least three fixed characters.
    """
    sources = {plugin: _sources(plugin) for plugin in keys}
    literal = [plugin for plugin, texts in sources.items() if any(identifier.encode() in text for text in texts)]
    others = [plugin for plugin in sources if plugin not in literal]
    fitting = [plugin for plugin in others if any(_composes(text, identifier) for text in sources[plugin])]

    def distance(key: str) -> float:
        return -SequenceMatcher(None, key.lower(), identifier.lower()).ratio()

    fitting.sort(key=lambda plugin: min(distance(key) for key in keys[plugin]))
    for plugin in literal + fitting[:_MAX_PLUGINS]:
        yield plugin, sorted(keys[plugin], key=distance)


def _sources(plugin: Plugin) -> list[bytes]:
    folder = Path(plugin.folder)
    texts = []
    for file in [folder] if folder.is_file() else sorted(folder.rglob("*.py")):
        if file.name != "test.py":
            with contextlib.suppress(OSError):  # importing the plugin will raise the error
                texts.append(file.read_bytes())
    return texts


def _composes(source: bytes, identifier: str) -> bool:
    """Whether an expression in the source may make a text."""
    try:
        patterns = [_pattern(node) for node in ast.walk(parse(source)) if not isinstance(node, ast.Constant)]
    except (SyntaxError, ValueError, RecursionError):
        return False
    fixed = (pattern for pattern in patterns if len(pattern.replace("*", "")) >= _MIN_LITERAL)
    return any(fnmatch.fnmatchcase(identifier, pattern) for pattern in fixed)


def _pattern(node: ast.AST) -> str:
    """Pattern of the texts that an expression makes, with ``*`` for variable parts."""
    match node:
        case ast.Constant(value=str(text)):
            return glob.escape(text)
        case ast.JoinedStr(values=operands):
            return "".join(map(_pattern, operands))
        case ast.BinOp(left=left, op=ast.Add(), right=right):
            return _pattern(left) + _pattern(right)
        case ast.Call(func=ast.Attribute(value=ast.Constant(value=str(template)), attr="format")):
            return re.sub(r"\{[^{}]*\}", "*", glob.escape(template))
    return "*"


T = TypeVar("T")
_SKIPPED = frozenset({__name__, "collections.abc", "_collections_abc"})


@dataclass(frozen=True)
class _Entry(Generic[T]):
    """A registered factory, and the location of its registration."""

    factory: Callable[..., T]
    file: str
    line: int
    module: str
    execution: object
    """Differs between two executions of the same file (a reload), and is the same within one."""
    interactive: bool


class Resolver(NamedTuple):
    """Makes objects whose names no plugin registers, such as composed benchmarks and models of libraries."""

    noun: str  # the object in messages
    matches: Callable[[str], bool]  # whether a name has the form of these names
    require: Callable[[str], object]  # raises an error for a name that cannot be made; imports no plugin
    folder: Callable[[str], Path | None]  # folder of the code of an object, or None
    make: Callable[..., Any]
    matching: Callable[[str], Sequence[str]] = lambda pattern: ()  # names that match a pattern
    bases: Callable[[str], Sequence[str]] = lambda name: ()  # registered objects that an object is made of
    describe: Callable[[str], dict[str, Any]] = lambda name: {}  # what is known of an object without making it
    about: str = ""  # a sentence below lists of registered objects


class Registry(MutableMapping[str, Callable[..., T]]):
    """Identifiers and their factories; plugins are imported only when they are used.

    A plugin registers with ``registry['identifier'] = factory``, where the factory is a function
    or a class that makes the object. Listing (``in``, iteration, ``len``) reads the static index
    and imports nothing; ``registry['identifier']`` imports the one plugin that registers it. If a built-in plugin and
    one in the folders of the index's variable register the same identifier, the latter is used, with a warning and a
    note in the receipt; any other identifier that is registered twice is an error.

    Parameters
    ----------
    name : str
        The variable's name in plugins, for instance ``'model_registry'``.
    noun : str
        The kind of object, for messages, such as ``'model'``.
    index : PluginIndex, optional
        Finds plugins; without it, the registry contains only what is registered in this process.
    list_command : str, optional
        The command that lists the identifiers, for messages.

    Attributes
    ----------
    resolver : Resolver or None
        Makes objects of names that no plugin registers. They are not listed.
    owners_elsewhere : callable
        Where else a name is registered, from the noun and the name, for messages about unknown ones.

    Examples
    --------
    >>> registry = Registry("number_registry", noun="number")
    >>> registry["one"] = lambda: 1
    >>> registry["one"]()
    1
    >>> "two" in registry
    False
    """

    def __init__(
        self, name: str, *, noun: str, index: PluginIndex | None = None, list_command: str | None = None
    ) -> None:
        self.name = name
        self.noun = noun
        self.list_command = list_command
        self.resolver: Resolver | None = None
        self.owners_elsewhere: Callable[[str, str], Sequence[str]] = lambda noun, key: ()
        self._index = index
        self._entries: dict[str, _Entry[T]] = {}
        self._deleted: set[str] = set()
        self._aliases: dict[str, str] = {}
        self._overridden: dict[str, _Entry[T]] = {}  # of built-in plugins, in whose place others are used
        if index is not None:
            index.attach(self)

    # registries are compared by identity
    __hash__ = object.__hash__

    def __eq__(self, other: object) -> bool:
        return self is other

    def __repr__(self) -> str:
        return f"<Registry {self.name}: {len(self._known())} identifiers>"

    def __setitem__(self, key: str, factory: Callable[..., T]) -> None:
        if not isinstance(key, str) or not key.strip():
            raise UserError(f"{self.name}[{key!r}]: an identifier must be a text that is not empty.")
        if not callable(factory):
            raise UserError(
                f"{self.name}[{key!r}] is set to a {type(factory).__name__}, not to a function or class.",
                f"Register the function that makes the {self.noun}, without calling it: "
                f"{self.name}[{key!r}] = lambda: ...",
            )
        entry = _entry(factory)
        earlier = self._entries.get(key)
        if earlier is not None and self._precedes(self._location_of(earlier), self._location_of(entry)):
            self._overridden[key] = entry
            return
        if earlier is not None and self._precedes(self._location_of(entry), self._location_of(earlier)):
            self._overridden[key] = earlier
        elif earlier is not None and not _replaces(entry, earlier):
            raise DuplicateRegistrationError(
                f"The {self.noun} {key!r} is registered twice: in {earlier.file}:{earlier.line} "
                f"and in {entry.file}:{entry.line}.",
                "Give one of them another identifier.",
            )
        self._entries[key] = entry
        self._deleted.discard(key)

    def add_table(self, plugin_file: str, name: str, make: Callable[..., T], **options: Any) -> None:
        """Register a factory for each row of a table: ``make(plugin_file, identifier, **options)``.

        Parameters
        ----------
        plugin_file : str
            ``__file__`` of the plugin.
        name : str
            Name of a CSV file in the plugin's folder, whose first column has the identifiers.
        make : callable
            Makes the object.
        **options
            Further arguments of `make`.
        """
        for key in table_keys(plugin_file, name):
            self[key] = partial(make, plugin_file, key, **options)

    def __getitem__(self, key: str) -> Callable[..., T]:
        locations = self.locations(key)
        if len(locations) > 1:
            raise DuplicateRegistrationError(
                f"The {self.noun} {key!r} is registered in {len(locations)} places: "
                f"{' and '.join(map(str, locations))}.",
                "Give one of them another identifier, or remove one of the folders.",
            )
        if locations and self._index is not None:
            in_folder = self._index.replaced(self.name, key) is not None
            if in_folder or len(self._places(key)) < len(self._all_places(key)):
                location = locations[0]
                folder = "/".join((location.folder or Path(location.file)).parts[-2:])
                remark(f"the {self.noun} {key!r} is that of {location.source} ({folder}), not the built-in one")
            if not self._is_loaded(key, locations[0]):
                self._index.load(self._index.plugin_at(locations[0]))
            if not self._is_loaded(key, locations[0]):
                raise UserError(
                    f"The {self.noun} {key!r} is defined in {locations[0]}, but importing {locations[0].package} "
                    "did not register it.",
                    "Check whether that line is executed: it may depend on a condition.",
                )
        if key not in self._entries:
            raise self._unknown(key)
        return self._entries[key].factory

    def __delitem__(self, key: str) -> None:
        if key not in self:
            raise self._unknown(key)
        self._entries.pop(key, None)
        if self.locations(key):  # also registered by a plugin's files; a later plugin is not hidden
            self._deleted.add(key)

    def __iter__(self) -> Iterator[str]:
        if self._index is not None:
            self._index.refresh()
        self._load_dynamic()
        return iter(sorted(self._known()))

    def __len__(self) -> int:
        return sum(1 for _ in self)

    def __contains__(self, key: object) -> bool:
        return isinstance(key, str) and bool(self.locations(key))

    def resolver_of(self, identifier: str) -> Resolver | None:
        """Return the resolver of a name; None if a plugin registers it, or it does not have the form of other names."""
        resolver = self.resolver
        return resolver if resolver and resolver.matches(identifier) and identifier not in self else None

    def folder(self, identifier: str) -> Path | None:
        """Folder of the plugin that registers an object, or of its resolver; None if there is neither."""
        resolver = self.resolver_of(identifier)
        if resolver is not None:
            return resolver.folder(identifier)
        return self.location(identifier).folder if identifier in self else None

    def require(self, identifier: str, given: Iterable[str] = ()) -> None:
        """Raise an error if an object is neither registered nor made by the resolver; no plugin is imported.

        `given`: options that the caller gives for making it, which these objects do not take.
        """
        resolver = self.resolver_of(identifier)
        if superfluous := list(given):
            noun = f"registered {self.noun}" if resolver is None else resolver.noun
            raise UserError(f"{identifier!r} is a {noun}, which takes no options", f"omit {', '.join(superfluous)}")
        if resolver is None:
            self.location(identifier)
        else:
            resolver.require(identifier)

    def lists(self, identifier: str) -> bool:
        """Whether an object is known to be registered, or made by the resolver; new plugins are not looked for."""
        resolver = self.resolver
        return bool(self._places(identifier)) or (resolver is not None and resolver.matches(identifier))

    def location(self, key: str) -> Location:
        """Return where an identifier is registered, without importing the plugin.

        Parameters
        ----------
        key : str
            The identifier.

        Returns
        -------
        Location
            File, line, folder, module; the first one if there are several.

        Raises
        ------
        UnknownIdentifier
            If it is not registered.
        """
        locations = self.locations(key)
        if not locations:
            raise self._unknown(key)
        return locations[0]

    def locations(self, key: str) -> list[Location]:
        """Return all locations that register an identifier: more than one is a collision, none means it is unknown.

        Imports no plugin, except those whose identifiers cannot be read from the source, and those
        only if no other plugin registers `key`.
        """
        if not isinstance(key, str):
            return []
        locations = self._places(key)
        if not locations and self._index is not None:
            self._index.refresh()  # the plugin may be new
            locations = self._places(key)
            if not locations and self._load_dynamic():
                locations = self._places(key)
        return locations

    def declared_groups(self, key: str) -> str | None:
        """Groups of stimuli that the plugin of a data set declares.

        Parameters
        ----------
        key : str
            The identifier.

        Returns
        -------
        str or None
            Value of the longest pattern in the plugin's ``STIMULUS_GROUPS`` that matches `key`: a coordinate of the
            presentations (or a column of the stimulus set), ``'none'`` if each stimulus varies on its own. None if it
            declares nothing.

        Raises
        ------
        UnknownIdentifier
            If it is not registered.
        """
        place = self.location(key)
        module = sys.modules.get(place.package) if place.folder is None else import_module(place.package)
        table = getattr(module, "STIMULUS_GROUPS", {})
        patterns = [pattern for pattern in table if fnmatch.fnmatchcase(key, pattern)]
        return str(table[max(patterns, key=len)]) if patterns else None

    def make(self, key: str, *args: Any, **kwargs: Any) -> T:
        """Make the object with an identifier by calling its factory.

        Parameters
        ----------
        key : str
            The identifier.
        *args, **kwargs
            Arguments of the factory.

        Returns
        -------
        T
            A new object.

        Raises
        ------
        UnknownIdentifier
            If it is not registered; the message suggests the nearest names.
        MissingRequirementError
            If the plugin needs a module that is not installed.
        UserError
            If the factory returns None, or an object was registered instead of a factory.
        Exception
            Any error of the factory.
        """
        resolver = self.resolver_of(key)
        if resolver is not None:
            made: T = resolver.make(key, *args, **kwargs)
            return made
        factory = self[key]
        location = self.location(key)
        if not _is_factory(factory):
            raise UserError(
                f"The {self.noun} {key!r} ({location}) is registered as a finished object of the class "
                f"{type(factory).__name__}, not as a function that makes one.",
                f"Register the class or function itself, without (): {self.name}[{key!r}] = {type(factory).__name__}",
            )
        try:
            result = factory(*args, **kwargs)
        except ModuleNotFoundError as error:
            folder = str(location.folder or Path(location.file).parent)
            explain_missing_module(error, Plugin(location.file, folder, location.package, location.source))
        if result is None:
            raise UserError(
                f"The {self.noun} {key!r} ({location}): its factory returned None.",
                "Check whether the function ends with a return.",
            )
        return result

    def resolve(self, name: str) -> str:
        """Return the key for `name`: a key itself, a name of the resolver, or the ``identifier`` of an object.

        Parameters
        ----------
        name : str
            A key, or the ``identifier`` of an object that is registered under another key.

        Returns
        -------
        str
            The key.

        Raises
        ------
        UnknownIdentifier
            If it is neither.
        UserError
            If the resolver cannot make the object.

        Notes
        -----
        If `name` is not a key, the factories of those plugins are called whose source contains it,
        literally or as a matching f-string.
        """
        if name in self:
            return name
        resolver = self.resolver_of(name)
        if resolver is not None:
            resolver.require(name)
            return name
        alias = self._aliases.get(name)
        if alias is not None and alias in self:
            return alias
        failures: list[str] = []
        if self._index is not None and isinstance(name, str) and name:
            for plugin, keys in plugins_that_mention(name, self._keys_by_plugin()):
                for key in keys:
                    try:
                        identifier = getattr(self.make(key), "identifier", None)
                    except Exception as error:  # noqa: BLE001 - any plugin may fail; reported below
                        failures.append(f"{key} ({plugin.package}): {type(error).__name__}: {error}")
                        continue
                    if identifier == name:
                        self._aliases[name] = key
                        return key
        raise self._unknown(name, failures)

    def keys_from(self, folder: str) -> frozenset[str]:
        """Keys that files in a folder have registered so far."""
        return frozenset(key for key, entry in self._entries.items() if belongs_to(entry.file, folder))

    def withdraw(self, folder: str, *, keep: frozenset[str] = frozenset()) -> None:
        """Remove registrations by files in a folder, except the keys in `keep`."""
        for key in self.keys_from(folder) - keep:
            del self._entries[key]
        for key in [*self._overridden]:
            if belongs_to(self._overridden[key].file, folder) and key not in keep:
                del self._overridden[key]
            elif key not in self._entries:
                self._entries[key] = self._overridden.pop(key)

    def _known(self) -> set[str]:
        static = self._index.locations(self.name) if self._index is not None else ()
        return ({*static} | {*self._entries}) - self._deleted

    def _places(self, key: str) -> list[Location]:
        """Locations that register a key, without those of built-in plugins over which another takes precedence."""
        locations = self._all_places(key)
        return [place for place in locations if not any(self._precedes(other, place) for other in locations)]

    def _precedes(self, location: Location, other: Location) -> bool:
        return self._index is not None and self._index.precedes(location, other)

    def _is_loaded(self, key: str, location: Location) -> bool:
        entry = self._entries.get(key)
        return entry is not None and not self._precedes(location, self._location_of(entry))

    def _all_places(self, key: str) -> list[Location]:
        if key in self._deleted:
            return []
        locations = list(self._index.locations(self.name).get(key, ())) if self._index is not None else []
        entry = self._entries.get(key)
        if entry is None:
            return locations
        for location in locations:
            inside = location.folder is not None and belongs_to(entry.file, str(location.folder))
            if inside or same_file(entry.file, location.file):
                return locations
        return [*locations, self._location_of(entry)]

    def _location_of(self, entry: _Entry[T]) -> Location:
        plugin = self._index.plugin_of(entry.file) if self._index is not None else None
        if plugin is None:
            return Location(entry.file, entry.line, None, entry.module, "this process")
        return Location(entry.file, entry.line, Path(plugin.folder), plugin.package, plugin.source)

    def _load_dynamic(self) -> bool:
        """Import the plugins whose keys cannot be read from the source; return whether there are any."""
        if self._index is None:
            return False
        plugins = list(self._index.dynamic(self.name))
        for plugin in plugins:
            try:
                self._index.load(plugin)
            except Exception as error:  # noqa: BLE001 - one broken plugin must not hide the others
                self._index.report(
                    f"the plugin {plugin.package} ({plugin.file}) cannot be imported: {type(error).__name__}: {error}"
                )
        return bool(plugins)

    def _keys_by_plugin(self) -> dict[Plugin, list[str]]:
        keys: dict[Plugin, list[str]] = {}
        for key in self:
            locations = self._places(key)
            plugin = self._index.plugin_of(locations[0].file) if self._index is not None and locations else None
            if plugin is not None:
                keys.setdefault(plugin, []).append(key)
        return keys

    def _unknown(self, key: object, failures: list[str] | None = None) -> UnknownIdentifier:
        message = f"There is no {self.noun} {key!r}."
        if isinstance(key, str):
            near = nearest(key, self._known())
            if near:
                message += f" Nearest: {', '.join(near)}."
            names = self._index.registries_with(key) if self._index is not None else []
            nouns = [name.removesuffix("_registry").replace("_", " ").replace("data", "dataset") for name in names]
            if nouns:
                message += f" ({key!r} is registered as a {' and a '.join(nouns)}.)"
            message += "".join(f" It is a {self.noun} of {owner}." for owner in self.owners_elsewhere(self.noun, key))
            if self._index is not None and (replaced := self._index.replaced(self.name, key)):
                message += f" The built-in plugin in {replaced[0].folder} has it, but {replaced[1]} takes its place."
        for failure in failures or []:
            message += f"\nIts identifier could not be determined: {failure}"
        for problem in self._index.problems if self._index is not None else ():
            message += f"\nNote: {problem}"
        remedy = f"List all with: {self.list_command}" if self.list_command else None
        return UnknownIdentifier(message, remedy)


_NAMES = {"data": ("dataset", "data"), "stimulus_set": ("stimulus set", "stimulus-sets")}
"""Kind of object → noun, and plural in commands."""


def registry_of(kind: str, index: PluginIndex, options: str = "") -> Registry[Any]:
    """Make the registry of a kind of object of a domain; `options`: of the command that lists the objects.

    Examples
    --------
    >>> registry_of("data", PluginIndex("mine", folder="mine", kinds=["data"], registries=["data_registry"])).noun
    'dataset'
    """
    noun, plural = _NAMES.get(kind, (kind, f"{kind}s"))
    return Registry(f"{kind}_registry", noun=noun, index=index, list_command=f"brainscore list {plural}{options}")


def _is_factory(value: object) -> bool:
    """Whether a value is a function or class, not a callable model, metric or benchmark."""
    return inspect.isclass(value) or inspect.isroutine(value) or not hasattr(value, "identifier")


def _entry(factory: Callable[..., T]) -> _Entry[T]:
    frame = sys._getframe(1)
    while frame.f_back is not None and frame.f_globals.get("__name__") in _SKIPPED:  # ``update`` of MutableMapping, too
        frame = frame.f_back
    scope = frame.f_globals
    module = str(scope.get("__name__", "?"))
    return _Entry(
        factory,
        frame.f_code.co_filename,
        frame.f_lineno,
        module,
        scope.get("__spec__"),
        module == "__main__" and "__file__" not in scope,
    )


def _replaces(entry: _Entry[T], earlier: _Entry[T]) -> bool:
    """Whether a registration replaces an earlier one, as after a reload or in a notebook."""
    if entry.factory is earlier.factory or (entry.interactive and earlier.interactive):
        return True
    return same_file(entry.file, earlier.file) and entry.execution is not earlier.execution


_ACCESS_WORD = re.compile("private|public", re.IGNORECASE)


def public_variants(identifier: str, names: Iterable[str]) -> list[str]:
    """Names that differ from `identifier` only by containing *public*, or by *public* in place of *private*.

    Examples
    --------
    >>> public_variants("MajajHong2015.private", ["MajajHong2015.public", "MajajHong2015.temporal.public"])
    ['MajajHong2015.public']
    >>> public_variants("MajajHong2015.IT-pls", ["MajajHong2015public.IT-pls", "MajajHong2015public.V4-pls"])
    ['MajajHong2015public.IT-pls']
    """
    if "public" in identifier.lower():
        return []
    wanted = _without_access(identifier)
    return sorted(name for name in names if "public" in name.lower() and _without_access(name) == wanted)


def _without_access(name: str) -> str:
    """The name without *public*, *private* and separators, in lower case."""
    return re.sub(r"[._-]", "", _ACCESS_WORD.sub("", name)).lower()


@contextlib.contextmanager
def suggesting_public_variants(identifier: str, registry: Registry[Any]) -> Iterator[None]:
    """Suggest the public variants of an object in errors about denied access to its data."""
    try:
        yield
    except UserError as error:
        from brainscore_core.supported_data_standards.brainio.fetch import (  # imports pandas
            AccessDenied,
            SeveralFailures,
        )

        failures = error.errors if isinstance(error, SeveralFailures) else [error]
        denied = any(isinstance(failure, AccessDenied) for failure in failures)
        variants = public_variants(identifier, registry) if denied else []
        hint = f"A public variant of the {registry.noun} {identifier!r}: {', '.join(map(repr, variants))}."
        if variants and hint not in (error.remedy or ""):
            error.remedy = f"{error.remedy}\n{hint}" if error.remedy else hint
        raise
