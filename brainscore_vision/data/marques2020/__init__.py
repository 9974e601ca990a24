"""Properties of macaque V1 neurons from six studies, and the gratings and textures that measure them in models.

The studies' distributions were compiled by Marques, Schrimpf & DiCarlo (2021,
https://doi.org/10.1101/2021.03.01.433495).
"""

from brainscore_core.plugins.tables import read_citation
from brainscore_vision import data_registry, stimulus_set_registry
from brainscore_vision.data_sources.tables import load_assembly, load_stimuli

BIBTEX = read_citation(__file__)

# responses of the neurons of FreemanZiemba2013_V1_properties to textures are in the data of that study
data_registry.add_table(__file__, "assemblies.csv", load_assembly)
stimulus_set_registry.add_table(__file__, "stimulus_sets.csv", load_stimuli)
