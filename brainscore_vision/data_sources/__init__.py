"""Where data come from: names in registries and catalogs, tables of plugins, and packages that stay on this machine."""

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from brainscore_core.supported_data_standards.brainio.assemblies import DataAssembly
    from brainscore_core.supported_data_standards.brainio.stimuli import StimulusSet


def get_stimulus_set(identifier: str) -> "StimulusSet":
    """Load a stimulus set that a plugin or a catalog registers.

    Parameters
    ----------
    identifier : str
        Looked up first among the plugins' registrations; then in the catalogs (``lookup.csv``); then, if it begins
        with a laboratory as in ``'dicarlo.hvm-public'``, among the registrations without this prefix.

    Returns
    -------
    StimulusSet

    Raises
    ------
    brainscore_core.errors.UnknownIdentifier
        No plugin or catalog registers it; the message lists the nearest names.
    brainscore_core.errors.UserError
        A catalog or its data are invalid.

    Examples
    --------
    >>> from brainio import get_stimulus_set
    >>> get_stimulus_set("Simulated2026").identifier
    'Simulated2026'
    """
    return _load_by_name(identifier, "stimulus_set")


def get_assembly(identifier: str) -> "DataAssembly":
    """Load measurements that a plugin or a catalog registers.

    Parameters
    ----------
    identifier : str
        Looked up first among the plugins' registrations; then in the catalogs (``lookup.csv``); then, if it begins
        with a laboratory as in ``'dicarlo.MajajHong2015.public'``, among the registrations without this prefix.

    Returns
    -------
    DataAssembly
        With its ``stimulus_set``.

    Raises
    ------
    brainscore_core.errors.UnknownIdentifier
        No plugin or catalog registers it; the message lists the nearest names.
    brainscore_core.errors.UserError
        A catalog or its data are invalid.

    Examples
    --------
    >>> from brainio import get_assembly
    >>> get_assembly("Simulated2026").dims
    ('presentation', 'neuroid')
    """
    return _load_by_name(identifier, "data")


def list_stimulus_sets() -> list[str]:
    """Identifiers of all stimulus sets that plugins and catalogs register, sorted.

    Examples
    --------
    >>> from brainio import list_stimulus_sets
    >>> "Simulated2026" in list_stimulus_sets()
    True
    """
    return _all_names(_source("stimulus_set"))


def list_assemblies() -> list[str]:
    """Identifiers of all measurements that plugins and catalogs register, sorted.

    Examples
    --------
    >>> from brainio import list_assemblies
    >>> "Simulated2026" in list_assemblies()
    True
    """
    return _all_names(_source("data"))


class _Source(NamedTuple):
    """Where data of one kind come from: plugins and catalogs."""

    registry: Any
    load: Callable[[str], Any]
    catalogued: Callable[[], Iterable[str]]
    load_catalogued: Callable[[str], Any]


def _source(kind: str) -> _Source:
    from brainscore_core.supported_data_standards.brainio import catalogs, fetch
    from brainscore_vision import registries

    loaders: tuple[Any, Any]
    if kind == "data":
        loaders = registries.data_registry, registries.load_dataset
        return _Source(*loaders, catalogs.list_assemblies, fetch.get_assembly)
    loaders = registries.stimulus_set_registry, registries.load_stimulus_set
    return _Source(*loaders, catalogs.list_stimulus_sets, fetch.get_stimulus_set)


def _all_names(source: _Source) -> list[str]:
    return sorted({*source.registry, *source.catalogued()})


def _load_by_name(identifier: str, kind: str) -> Any:
    from brainscore_core.errors import UnknownIdentifier, nearest
    from brainscore_core.provenance import note

    source = _source(kind)
    if identifier in source.registry:
        return source.load(identifier)
    if identifier in source.catalogued():
        loaded = source.load_catalogued(identifier)
        note(kind, identifier=identifier)
        return loaded
    laboratory, _, name = str(identifier).partition(".")
    if laboratory.islower() and name in source.registry:
        return source.load(name)
    near = nearest(str(identifier), _all_names(source), limit=3)
    raise UnknownIdentifier(
        f"neither a plugin nor a catalog registers the {source.registry.noun} {identifier!r}."
        + (f" Nearest: {', '.join(near)}." if near else ""),
        remedy=f"List all names that plugins register with: {source.registry.list_command}",
    )
