"""The index of plugins: which plugin registers which identifier, without importing any."""

from __future__ import annotations

import contextlib
import json
import os
import stat
import threading
import warnings
import weakref
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple, Protocol

from brainscore_core.domain_names import DOMAINS, FIRST, PACKAGES, domain_of_source
from brainscore_core.files import replacing
from brainscore_core.paths import plugin_index_file
from brainscore_core.plugins.loading import (
    Plugin,
    PluginFinder,
    PluginWarning,
    Root,
    belongs_to,
    entry_point_roots,
    forget_modules,
    import_plugin,
    plugins_in,
    takes_precedence,
    variable_roots,
    variable_value,
)
from brainscore_core.plugins.source import Registration, Scan, scan_file
from brainscore_core.result_caching import install_stand_in

_VERSION = 2
Stamp = tuple[int, int]


class CachedScan(NamedTuple):
    """A scan, and the stamps of the files it was read from."""

    scan: Scan
    stamps: dict[str, Stamp]

    def fresh(self, file_stamp: Stamp, file: str) -> bool:
        """Whether the file, and those from which it takes constants, are unchanged."""
        return self.stamps.get(file) == file_stamp and all(
            stamp(source) == expected for source, expected in self.stamps.items() if source != file
        )


def stamp(file: str | os.PathLike[str]) -> Stamp | None:
    """Time of the last change, in nanoseconds, and size of a file; None if it is not a regular file."""
    try:
        status = os.stat(file)
    except OSError:
        return None
    return (status.st_mtime_ns, status.st_size) if stat.S_ISREG(status.st_mode) else None


def _read_domains(file: Path) -> dict[str, Any]:
    """Content of the cache by signature; a missing or damaged cache counts as empty."""
    try:
        content = json.loads(file.read_bytes())
        return dict(content["domains"]) if content["version"] == _VERSION else {}
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        return {}  # its content can be determined again


def read_cache(file: Path, *, signature: str) -> dict[str, CachedScan]:
    """Read what the cache has of a domain, whose package and registries `signature` names."""
    try:
        return {path: _from_json(entry) for path, entry in _read_domains(file).get(signature, {}).items()}
    except (ValueError, TypeError, AttributeError):
        return {}


def write_cache(file: Path, entries: Mapping[str, CachedScan], *, signature: str) -> None:
    """Replace the cache of a domain atomically, if the folder is writable."""
    files = {
        path: [scan.registrations, scan.dynamic, scan.error, scan.depends, stamps]
        for path, (scan, stamps) in entries.items()
    }
    content = {"version": _VERSION, "domains": {**_read_domains(file), signature: files}}
    # without a writable folder, the content is determined again each time
    with contextlib.suppress(OSError), replacing(file) as stream:
        stream.write(json.dumps(content, separators=(",", ":")).encode())


def _from_json(entry: list[Any]) -> CachedScan:
    registrations, dynamic, error, depends, stamps = entry
    return CachedScan(
        Scan(
            tuple(Registration(str(name), str(key), int(line)) for name, key, line in registrations),
            tuple((str(name), int(line)) for name, line in dynamic),
            None if error is None else str(error),
            tuple(str(source) for source in depends),
        ),
        {str(path): (int(changed), int(size)) for path, (changed, size) in stamps.items()},
    )


_MAX_NAMES = 5  # names of a list in a message


@dataclass(frozen=True)
class Location:
    """Where an identifier is registered.

    Attributes
    ----------
    file : str
        The file.
    line : int
        Its line.
    folder : Path or None
        The plugin's folder; None if it was registered by a script or a notebook.
    package : str
        The module that registers.
    source : str
        ``'built in'``, the environment variable, the name of an installed distribution, or
        ``'this process'``.
    """

    file: str
    line: int
    folder: Path | None
    package: str
    source: str

    def __str__(self) -> str:
        return f"{self.file}:{self.line}"


class _Member(Protocol):
    """What the index requires of a registry: to withdraw registrations of a file."""

    def withdraw(self, folder: str, *, keep: frozenset[str] = frozenset()) -> None: ...
    def keys_from(self, folder: str) -> frozenset[str]: ...


@dataclass
class _State:
    """One scan."""

    variable: str
    roots: list[Root]
    plugins: list[Plugin]
    locations: dict[str, dict[str, list[Location]]]
    dynamic: dict[str, list[Plugin]]
    problems: list[str] = field(default_factory=list)
    # registry and key in a built-in plugin whose place another one takes: its location, the folder of the other one
    replaced: dict[tuple[str, str], tuple[Location, str]] = field(default_factory=dict)
    replaced_folders: set[str] = field(default_factory=set)


class PluginIndex:
    """Finds plugins in folders and installed packages by reading their source.

    Parameters
    ----------
    package : str
        The package whose plugins these are, for instance ``'brainscore_vision'``.
    folder : path
        Where that package is.
    kinds : sequence of str
        Its subpackages that contain plugins, for instance ``['models', 'metrics']``.
    registries : sequence of str
        The names under which plugins register, for instance ``['model_registry']``.
    variable : str, optional
        Environment variable that lists further folders, which may contain plugins of other domains, too.
    earlier_variable : str, optional
        Another name of this variable.
    entry_points : str, optional
        Entry-point group under which installed distributions announce theirs.

    Notes
    -----
    A plugin in the variable's folders takes the place of the package's plugin with the same folder name, and of single
    identifiers of the package's plugins (`Registry`). The environment variable ``<variable>_REPLACE=0`` turns this off:
    an identifier that both register is an error then, and a plugin with the folder name of one of the package's could
    not be imported, so it is left out with a warning. The latter also holds for a copy of the package itself.

    A scan is kept until the environment variable changes or `refresh` is called. The result for each
    file is cached in ``plugin-index.json`` (folder ``$BRAINSCORE_HOME``, by default
    ``~/.brain-score``) until the file changes.
    """

    def __init__(
        self,
        package: str,
        *,
        folder: str | os.PathLike[str],
        kinds: Sequence[str],
        registries: Sequence[str],
        variable: str | None = None,
        earlier_variable: str | None = None,
        entry_points: str | None = None,
    ) -> None:
        self.package = package
        self.kinds = tuple(kinds)
        self.registries = tuple(registries)
        self.variable = variable
        self._earlier_variable = earlier_variable
        self._root = Root(Path(folder), package, "built in")
        self._entry_points = entry_points
        self._members: weakref.WeakSet[_Member] = weakref.WeakSet()
        self._lock = threading.RLock()
        self._state: _State | None = None
        self._warned: set[str] = set()
        self._folders_used: set[Path] = set()
        self._scans: dict[str, CachedScan] = {}  # by file: those of the cache, and those of this process
        self._cache: Path | None = None  # that was read
        self._finder = PluginFinder(package, kinds=kinds, roots=self._variable_roots)

    def install(self) -> None:
        """Make the plugins in the variable's folders importable under the package's name, and ``result_caching``."""
        self._finder.install()
        install_stand_in()

    def attach(self, registry: _Member) -> None:
        """Attach a registry, so that registrations of a failed import can be withdrawn."""
        self._members.add(registry)

    def refresh(self) -> None:
        """Look for plugins again."""
        with self._lock:
            state = self._scan()
            earlier = self._state.replaced_folders if self._state is not None else set()
            for folder in earlier ^ state.replaced_folders:  # their import names belong to other plugins now
                for member in list(self._members):
                    member.withdraw(folder)
                forget_modules(self.package, [Path(folder)])
            self._withdraw_folders(sorted(self._folders_used - {root.folder for root in state.roots}))
            self._folders_used = {root.folder for root in state.roots}
            self._state = state
            self._finder.update()
        for problem in state.problems:
            self.report(problem)

    def report(self, problem: str) -> None:
        """Warn once about a problem, and add it to `problems`."""
        with self._lock:
            if self._state is not None and problem not in self._state.problems:
                self._state.problems.append(problem)
            if problem in self._warned:
                return
            self._warned.add(problem)
        warnings.warn(problem, PluginWarning, stacklevel=3)

    def registries_with(self, key: str) -> list[str]:
        """Registries in which `key` is found in the source."""
        return [name for name in self.registries if key in self.locations(name)]

    @property
    def problems(self) -> tuple[str, ...]:
        """Folders and files that could not be read, each with the reason."""
        return tuple(self._current().problems)

    @property
    def roots(self) -> tuple[Root, ...]:
        """The folders that contain plugins, in search order."""
        return tuple(self._current().roots)

    def locations(self, registry: str) -> Mapping[str, Sequence[Location]]:
        """Identifiers found in the source, and the locations that register each."""
        return self._current().locations.get(registry, {})

    def dynamic(self, registry: str) -> Sequence[Plugin]:
        """Plugins that must be imported to know what they register."""
        return self._current().dynamic.get(registry, [])

    def plugin_of(self, file: str) -> Plugin | None:
        """Return the plugin that a file belongs to, or None."""
        for plugin in self._current().plugins:
            if belongs_to(file, plugin.folder):
                return plugin
        return None

    def plugin_at(self, location: Location) -> Plugin:
        """Return the plugin of a location of this index."""
        return next(plugin for plugin in self._current().plugins if plugin.file == location.file)

    def precedes(self, location: Location, other: Location) -> bool:
        """Whether an identifier is taken from a plugin in the variable's folders, and not from a built-in one."""
        sources = (location.source, other.source)
        return self.variable is not None and sources == (self.variable, "built in") and takes_precedence(self.variable)

    def replaced(self, registry: str, key: str) -> tuple[Location, str] | None:
        """Location of a key in a built-in plugin that is not used, and the folder that takes its plugin's place."""
        return self._current().replaced.get((registry, key))

    def load(self, plugin: Plugin) -> None:
        """Import a plugin; if that fails, its registrations are withdrawn.

        Raises
        ------
        MissingRequirementError, DuplicateRegistrationError, Exception
            As in `import_plugin`.
        """
        members = list(self._members)
        before = {id(member): member.keys_from(plugin.folder) for member in members}
        try:
            import_plugin(plugin)
        except BaseException:
            for member in members:
                member.withdraw(plugin.folder, keep=before[id(member)])
            raise

    def _current(self) -> _State:
        with self._lock:
            if self._state is None or self._state.variable != self._variable_value():
                self.refresh()
            state = self._state
        if state is None:  # pragma: no cover - refresh sets it
            raise RuntimeError("the plugin index has no state")
        return state

    def _variable_value(self) -> str:
        if self.variable is None:
            return ""
        return f"{variable_value(self.variable, self._earlier_variable)} {takes_precedence(self.variable)}"

    def _variable_roots(self) -> list[Root]:
        if self.variable is None:
            return []
        roots = self._roots_of(self.variable, [])
        self._folders_used.update(root.folder for root in roots)
        return roots

    def _roots_of(self, variable: str, problems: list[str]) -> list[Root]:
        earlier = self._earlier_variable
        return variable_roots(variable, package=self.package, kinds=self.kinds, problems=problems, earlier=earlier)

    def _withdraw_folders(self, folders: Sequence[Path]) -> None:
        root = self._root.folder
        for folder in folders:
            inside = belongs_to(str(root), str(folder))  # keep plugins of a folder that contains the package itself
            for member in list(self._members):
                member.withdraw(str(folder), keep=member.keys_from(str(root)) if inside else frozenset())
        forget_modules(self.package, folders, keep=root)

    def _find_roots(self, problems: list[str]) -> list[Root]:
        roots = [self._root]
        if self.variable is not None:
            roots += self._roots_of(self.variable, problems)
        if self._entry_points is not None:
            roots += entry_point_roots(self._entry_points, problems=problems)
        unique: dict[Path, Root] = {}
        for root in roots:
            unique.setdefault(root.folder.resolve(), root)
        return list(unique.values())

    def _scan(self) -> _State:
        variable = self._variable_value()
        problems: list[str] = []
        roots = self._find_roots(problems)
        state = _State(variable, roots, [], {}, {}, problems)
        candidates: dict[str, tuple[Plugin, Stamp]] = {}  # by file
        built_in: dict[str, Plugin] = {}  # by import name
        replaced: list[tuple[Plugin, Stamp, str]] = []  # with the folder that takes the plugin's place
        for root in roots:
            plugins = [
                (plugin, changed)
                for plugin in plugins_in(root, self.kinds)
                if (changed := stamp(plugin.file)) is not None
                and (root is self._root or self._is_mine(plugin.file, changed))
            ]
            if root is self._root:
                built_in = {plugin.package: plugin for plugin, _ in plugins}
                files = {os.path.realpath(plugin.file) for plugin, _ in plugins}
            elif root.source == self.variable:  # a link to a built-in plugin is the same plugin
                plugins = [pair for pair in plugins if os.path.realpath(pair[0].file) not in files]
            if root is not self._root and (same := [plugin for plugin, _ in plugins if plugin.package in built_in]):
                if root.replaces:
                    replaced += [
                        (*pair, plugin.folder)
                        for plugin in same
                        if (pair := candidates.pop(built_in[plugin.package].file, None)) is not None
                    ]
                else:
                    plugins = [pair for pair in plugins if pair[0] not in same]
                    problems.append(_describe_shadowed(root, same))
            candidates |= {plugin.file: (plugin, changed) for plugin, changed in plugins}
        file = plugin_index_file()
        signature = f"{self.package}: {' '.join(self.registries)}"
        if file != self._cache:
            self._scans, self._cache = {**read_cache(file, signature=signature), **self._scans}, file
        earlier = dict(self._scans)
        for plugin, changed in candidates.values():
            self._add_scan(state, plugin, self._scan_of(plugin, changed))
        for plugin, changed, folder in replaced:
            state.replaced_folders.add(plugin.folder)
            for registry, key, location in _locations(plugin, self._scan_of(plugin, changed)):
                state.replaced[registry, key] = (location, folder)
        if self._scans != earlier:
            self._scans = {path: entry for path, entry in self._scans.items() if stamp(path) is not None}
            write_cache(file, self._scans, signature=signature)
        return state

    def _is_mine(self, file: str, changed: Stamp) -> bool:
        """Whether a plugin does not belong to another domain: a folder may contain plugins of several."""
        return self.package not in PACKAGES or _package_of(file, changed) == self.package

    def _scan_of(self, plugin: Plugin, changed: Stamp) -> Scan:
        entry = self._scans.get(plugin.file)
        if entry is None or not entry.fresh(changed, plugin.file):
            scan = scan_file(plugin.file, self.registries)
            stamps = {plugin.file: changed}
            stamps |= {path: current for path in scan.depends if (current := stamp(path))}
            entry = self._scans[plugin.file] = CachedScan(scan, stamps)
        return entry.scan

    @staticmethod
    def _add_scan(state: _State, plugin: Plugin, scan: Scan) -> None:
        state.plugins.append(plugin)
        if scan.error is not None:
            state.problems.append(f"the plugin {plugin.package} cannot be read: {scan.error}")
        for registry, key, location in _locations(plugin, scan):
            locations = state.locations.setdefault(registry, {}).setdefault(key, [])
            if not locations or all(known_location.file != plugin.file for known_location in locations):
                locations.append(location)
        for registry in dict.fromkeys(registry for registry, _ in scan.dynamic):
            state.dynamic.setdefault(registry, []).append(plugin)


@lru_cache(maxsize=10_000)
def _package_of(file: str, changed: Stamp) -> str:
    """Package of the domain that a file imports, else the first one; `changed` is when it was written."""
    try:
        name = domain_of_source(Path(file).read_bytes())
    except OSError:  # the scan reports it
        name = None
    return DOMAINS[name or FIRST].partition(".")[0]


@lru_cache(maxsize=10_000)  # each look for plugins needs those of all unchanged files again
def _locations(plugin: Plugin, scan: Scan) -> tuple[tuple[str, str, Location], ...]:
    """Registry, identifier and location of each registration in a plugin's file."""
    folder = Path(plugin.folder)
    return tuple(
        (registry, key, Location(plugin.file, line, folder, plugin.package, plugin.source))
        for registry, key, line in scan.registrations
    )


def _describe_shadowed(root: Root, plugins: Sequence[Plugin]) -> str:
    names = [os.path.relpath(plugin.folder, root.folder) for plugin in plugins]
    shown = ", ".join(names[:_MAX_NAMES]) + (f" and {len(names) - _MAX_NAMES} more" if len(names) > _MAX_NAMES else "")
    return (
        f"{root.source} names {root.folder}, {len(names)} of whose plugins {'have' if len(names) > 1 else 'has'} the "
        f"folder name of a built-in one, which is used instead: {shown}. To use yours, rename its folder."
    )
