"""Finds what plugins say about their models and benchmarks, in Python or in a ``metadata.yml``."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from brainscore_core.errors import UserError
from brainscore_vision._metadata_file import METADATA_FILE, read_metadata_file
from brainscore_vision.benchmark_helpers.metadata import BenchmarkMetadata, metadata_for
from brainscore_vision.model_helpers.metadata import ModelMetadata

if TYPE_CHECKING:
    from brainscore_core.plugins import Location

__all__ = ["PluginMetadata", "read_plugin_metadata"]

_CLASSES: Mapping[str, type[ModelMetadata] | type[BenchmarkMetadata]] = {
    "models": ModelMetadata,
    "benchmarks": BenchmarkMetadata,
}


@dataclass(frozen=True)
class PluginMetadata:
    """What one plugin says, by identifier (of benchmarks also by pattern), and what could not be read."""

    table: Mapping[str, Any] = field(default_factory=dict)
    problems: tuple[str, ...] = ()

    def of(self, identifier: str) -> Any:
        """Metadata of one model or benchmark; None where the plugin says nothing of it."""
        if identifier in self.table:
            return self.table[identifier]
        return metadata_for(identifier, self.table)


def read_plugin_metadata(kind: str, place: Location) -> PluginMetadata:
    """Read a plugin's ``metadata.yml``, and ``METADATA`` of its ``metadata.py`` or else of its ``__init__.py``.

    Where both speak of the same thing, Python's word counts. The plugin is imported; of its other modules only
    ``metadata``. Nothing raises: what cannot be imported or read stands among the problems.

    Parameters
    ----------
    kind : {'models', 'benchmarks'}
        Of what.
    place : Location
        Where the plugin is.
    """
    table: dict[str, Any] = {}
    problems: list[str] = []
    folder = place.folder if place.folder is not None and place.folder.is_dir() else None
    if folder is not None and (folder / METADATA_FILE).is_file():
        try:
            read = read_metadata_file(folder / METADATA_FILE)
        except UserError as error:
            problems.append(str(error))
        else:
            table |= getattr(read, kind)
            problems += read.problems
    try:
        module = _module(place, folder)
        described = getattr(module, "METADATA", {})
    except Exception as error:  # noqa: BLE001 - one broken plugin must not hide the others
        return PluginMetadata(table, (*problems, f"cannot be imported: {_said(error)}"))
    if not isinstance(described, Mapping):
        problems.append(f"METADATA of {place.package} is a {type(described).__name__}, not a dictionary by identifier")
        return PluginMetadata(table, tuple(problems))
    for identifier, about in described.items():
        if isinstance(about, _CLASSES[kind]):
            table[identifier] = about
        elif not isinstance(about, ModelMetadata | BenchmarkMetadata):  # a plugin may hold both
            cls = _CLASSES[kind].__name__
            problems.append(f"METADATA[{identifier!r}] of {place.package} is a {type(about).__name__}, not a {cls}")
    return PluginMetadata(table, tuple(problems))


def _module(place: Location, folder: Path | None) -> Any:
    """The module that holds ``METADATA``, imported after the plugin."""
    from brainscore_vision import plugin_index

    if place.source == "this process":
        return sys.modules.get(place.package)
    plugin_index.load(plugin_index.plugin_at(place))
    if folder is not None and (folder / "metadata.py").is_file():
        return importlib.import_module(f"{place.package}.metadata")
    return importlib.import_module(place.package)


def _said(error: BaseException) -> str:
    text = str(error).strip()
    return f"{type(error).__name__}: {text}" if text else type(error).__name__
