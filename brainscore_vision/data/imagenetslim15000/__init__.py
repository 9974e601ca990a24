"""15,000 images of ImageNet (Deng et al. 2009)."""

from brainscore_core.plugins.tables import read_citation
from brainscore_vision import stimulus_set_registry
from brainscore_vision.data_sources.tables import load_stimuli

BIBTEX = read_citation(__file__)

stimulus_set_registry.add_table(__file__, "stimulus_sets.csv", load_stimuli)
