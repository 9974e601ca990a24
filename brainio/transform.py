"""Select, merge and reshape assemblies."""

from brainscore_core.supported_data_standards.brainio.transform import subset

__all__ = ["subset"]
