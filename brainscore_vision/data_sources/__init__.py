"""Where data come from: names in registries and catalogs, tables of plugins, and packages that stay on this machine."""

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any

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
    from brainscore_core.supported_data_standards.brainio import catalogs, fetch
    from brainscore_vision.registries import load_stimulus_set, stimulus_set_registry

    return _load_by_name(
        identifier,
        registry=stimulus_set_registry,
        load=load_stimulus_set,
        catalogued=catalogs.list_stimulus_sets,
        load_catalogued=fetch.get_stimulus_set,
        kind="stimulus_set",
    )


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
    from brainscore_core.supported_data_standards.brainio import catalogs, fetch
    from brainscore_vision.registries import data_registry, load_dataset

    return _load_by_name(
        identifier,
        registry=data_registry,
        load=load_dataset,
        catalogued=catalogs.list_assemblies,
        load_catalogued=fetch.get_assembly,
        kind="data",
    )


def list_stimulus_sets() -> list[str]:
    """Identifiers of all stimulus sets that plugins and catalogs register, sorted.

    Examples
    --------
    >>> from brainio import list_stimulus_sets
    >>> "Simulated2026" in list_stimulus_sets()
    True
    """
    from brainscore_core.supported_data_standards.brainio import catalogs
    from brainscore_vision.registries import stimulus_set_registry

    return sorted({*stimulus_set_registry, *catalogs.list_stimulus_sets()})


def list_assemblies() -> list[str]:
    """Identifiers of all measurements that plugins and catalogs register, sorted.

    Examples
    --------
    >>> from brainio import list_assemblies
    >>> "Simulated2026" in list_assemblies()
    True
    """
    from brainscore_core.supported_data_standards.brainio import catalogs
    from brainscore_vision.registries import data_registry

    return sorted({*data_registry, *catalogs.list_assemblies()})


def _load_by_name(
    identifier: str,
    *,
    registry: Any,
    load: Callable[[str], Any],
    catalogued: Callable[[], Iterable[str]],
    load_catalogued: Callable[[str], Any],
    kind: str,
) -> Any:
    from brainscore_core.errors import UnknownIdentifier, nearest
    from brainscore_core.provenance import note

    if identifier in registry:
        return load(identifier)
    listed = list(catalogued())
    if identifier in listed:
        loaded = load_catalogued(identifier)
        note(kind, identifier=identifier)
        return loaded
    laboratory, _, name = str(identifier).partition(".")
    if laboratory.islower() and name in registry:
        return load(name)
    names = sorted({*registry, *listed})
    near = nearest(str(identifier), names, limit=3)
    raise UnknownIdentifier(
        f"neither a plugin nor a catalog registers the {registry.noun} {identifier!r}."
        + (f" Nearest: {', '.join(near)}." if near else ""),
        remedy=f"List all names that plugins register with: {registry.list_command}",
    )
