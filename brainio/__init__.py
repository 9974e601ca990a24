"""Stimuli and measurements under the names of the first tutorial.

Types, files and packaging are defined in :mod:`brainscore_core.supported_data_standards.brainio`. Names of data are
looked up in the plugins' registries first, then in catalogs (``lookup.csv``).
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from brainscore_vision.data_sources import (
        get_assembly,
        get_stimulus_set,
        list_assemblies,
        list_stimulus_sets,
    )

__all__ = ["get_assembly", "get_stimulus_set", "list_assemblies", "list_stimulus_sets"]

_MODULES = {"assemblies", "catalogs", "fetch", "importers", "lookup", "packaging", "stimuli", "transform"}


def __getattr__(name: str) -> Any:
    if name in __all__:
        return getattr(importlib.import_module("brainscore_vision.data_sources"), name)
    if name in _MODULES:
        return importlib.import_module(f"{__name__}.{name}")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__, *_MODULES})
