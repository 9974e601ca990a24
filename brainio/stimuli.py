"""Tables of stimuli with their files."""

from brainscore_core.supported_data_standards.brainio.fetch import StimulusSetLoader
from brainscore_core.supported_data_standards.brainio.stimuli import StimulusSet

__all__ = ["StimulusSet", "StimulusSetLoader"]
