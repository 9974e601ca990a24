"""How benchmarks talk to models: as to a subject in an experiment."""

from brainscore_core.domains import domain, imported

__all__ = ["BrainModel"]

BrainModel = imported(domain().model_interface)
