"""Plugins: registries, and the index that finds plugins without importing them."""

from brainscore_core.plugins._cache import cache_file as index_cache_file
from brainscore_core.plugins._errors import DuplicateRegistrationError, MissingRequirementError, PluginWarning
from brainscore_core.plugins._index import Location, PluginIndex
from brainscore_core.plugins._registry import Registry
from brainscore_core.plugins._suggest import nearest

__all__ = [
    "DuplicateRegistrationError",
    "Location",
    "MissingRequirementError",
    "PluginIndex",
    "PluginWarning",
    "Registry",
    "index_cache_file",
    "nearest",
]
