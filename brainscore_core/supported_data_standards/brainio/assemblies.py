"""Arrays of measurements whose coordinates name stimuli, neuroids, time bins."""

from typing import Any

from brainscore_core.supported_data_standards.brainio._assembly import DataAssembly
from brainscore_core.supported_data_standards.brainio._combine import (
    array_is_element,
    gather_indexes,
    merge_data_arrays,
)
from brainscore_core.supported_data_standards.brainio._levels import (
    coords_for_dim,
    get_levels,
    get_metadata,
    walk_coords,
)

__all__ = [
    "ASSEMBLY_CLASSES",
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


class NeuroidAssembly(DataAssembly):
    """Recordings or activations of neuroids: presentation × neuroid, or presentation × neuroid × time_bin.

    Packaging and loading require these dimensions; intermediate results may have others.
    """

    __slots__ = ()

    DIMS = (("presentation", "neuroid"), ("presentation", "neuroid", "time_bin"))


class NeuronRecordingAssembly(NeuroidAssembly):
    """Recordings of neurons; another name of :class:`NeuroidAssembly`."""

    __slots__ = ()


class ModelFeaturesAssembly(NeuroidAssembly):
    """Activations of a model's units; another name of :class:`NeuroidAssembly`."""

    __slots__ = ()


class BehavioralAssembly(DataAssembly):
    """Responses of subjects; dimensions as the experiment demands, usually presentation, or presentation × choice."""

    __slots__ = ()


class PropertyAssembly(DataAssembly):
    """Properties derived from recordings, such as a surround suppression index for each neuroid."""

    __slots__ = ()


PropertiesAssembly = PropertyAssembly


class MetadataAssembly(DataAssembly):
    """Facts about events: dimension ``event``."""

    __slots__ = ()

    DIMS = (("event",),)


class SpikeTimesAssembly(DataAssembly):
    """Times of spikes: dimension ``event``."""

    __slots__ = ()

    DIMS = (("event",),)


#: the classes that a registration or a file may name
ASSEMBLY_CLASSES: dict[str, type[DataAssembly]] = {
    "DataAssembly": DataAssembly,
    "NeuroidAssembly": NeuroidAssembly,
    "NeuronRecordingAssembly": NeuronRecordingAssembly,
    "ModelFeaturesAssembly": ModelFeaturesAssembly,
    "BehavioralAssembly": BehavioralAssembly,
    "PropertyAssembly": PropertyAssembly,
    "PropertiesAssembly": PropertyAssembly,
    "MetadataAssembly": MetadataAssembly,
    "SpikeTimesAssembly": SpikeTimesAssembly,
}


def __getattr__(name: str) -> Any:
    if name in ("AssemblyLoader", "StimulusMergeAssemblyLoader"):  # where existing plugins import it from
        from brainscore_core.supported_data_standards.brainio._loaders import AssemblyLoader

        return AssemblyLoader
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
