"""Arrays of measurements whose coordinates describe stimuli, neuroids and time bins."""

from brainscore_core.supported_data_standards.brainio.assemblies import (
    BehavioralAssembly,
    DataAssembly,
    MetadataAssembly,
    ModelFeaturesAssembly,
    NeuroidAssembly,
    NeuronRecordingAssembly,
    PropertiesAssembly,
    PropertyAssembly,
    SpikeTimesAssembly,
    array_is_element,
    coords_for_dim,
    gather_indexes,
    get_levels,
    get_metadata,
    merge_data_arrays,
    walk_coords,
)
from brainscore_core.supported_data_standards.brainio.fetch import AssemblyLoader

__all__ = [
    "AssemblyLoader",
    "BehavioralAssembly",
    "DataAssembly",
    "MetadataAssembly",
    "ModelFeaturesAssembly",
    "NeuroidAssembly",
    "NeuronRecordingAssembly",
    "PropertiesAssembly",
    "PropertyAssembly",
    "SpikeTimesAssembly",
    "array_is_element",
    "coords_for_dim",
    "gather_indexes",
    "get_levels",
    "get_metadata",
    "merge_data_arrays",
    "walk_coords",
]
