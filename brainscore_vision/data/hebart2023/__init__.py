"""Which of three objects people take for the odd one: 453,642 triplets of 1,854 images (Hebart et al. 2023)."""

from brainscore_core.plugins.tables import read_citation
from brainscore_vision import data_registry, stimulus_set_registry
from brainscore_vision.data_sources.tables import load_assembly, load_stimuli

BIBTEX = read_citation(__file__)

STIMULUS_GROUPS = {"Hebart2023": "none"}  # one picture of each thing

# registered elsewhere as NeuronRecordingAssembly, whose dimensions (presentation, neuroid) choices do not have
data_registry.add_table(__file__, "assemblies.csv", load_assembly)
stimulus_set_registry.add_table(__file__, "stimulus_sets.csv", load_stimuli)
