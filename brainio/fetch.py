"""Fetch data files and load them."""

from brainscore_core.supported_data_standards.brainio.fetch import (
    AssemblyLoader,
    StimulusSetLoader,
    cache_home,
    fetch,
    fetch_all,
    fetch_file,
    resolve_assembly_class,
    unzip,
)
from brainscore_vision.data_sources import get_assembly, get_stimulus_set

__all__ = [
    "AssemblyLoader",
    "StimulusSetLoader",
    "cache_home",
    "fetch",
    "fetch_all",
    "fetch_file",
    "get_assembly",
    "get_stimulus_set",
    "resolve_assembly_class",
    "unzip",
]
