"""Search the installed catalogs for stimulus sets and assemblies."""

from brainscore_core.supported_data_standards.brainio.catalogs import ASSEMBLY as TYPE_ASSEMBLY
from brainscore_core.supported_data_standards.brainio.catalogs import (
    SOURCE_CATALOG,
    AssemblyLookupError,
    StimulusSetLookupError,
    append,
    combined_catalog,
    list_assemblies,
    list_installed_catalogs,
    list_stimulus_sets,
    lookup_assembly,
    lookup_stimulus_set,
)
from brainscore_core.supported_data_standards.brainio.catalogs import STIMULUS_SET as TYPE_STIMULUS_SET
from brainscore_core.supported_data_standards.brainio.catalogs import installed_catalogs as get_catalogs
from brainscore_core.supported_data_standards.brainio.s3 import sha1_hash

__all__ = [
    "SOURCE_CATALOG",
    "TYPE_ASSEMBLY",
    "TYPE_STIMULUS_SET",
    "AssemblyLookupError",
    "StimulusSetLookupError",
    "append",
    "combined_catalog",
    "get_catalogs",
    "list_assemblies",
    "list_installed_catalogs",
    "list_stimulus_sets",
    "lookup_assembly",
    "lookup_stimulus_set",
    "sha1_hash",
]
