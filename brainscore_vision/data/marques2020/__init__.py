"""Properties of macaque V1 neurons from six studies, and the gratings and textures that measure them in models.

The studies' distributions were compiled by Marques, Schrimpf & DiCarlo (2021,
https://doi.org/10.1101/2021.03.01.433495).
"""

from functools import partial

from brainscore_core.plugins.tables import table_keys
from brainscore_vision import data_registry, stimulus_set_registry
from brainscore_vision.data_sources.tables import load_assembly, load_stimuli

BIBTEX = """@article{dapello2020simulating,
  title = {Simulating a primary visual cortex at the front of CNNs improves robustness to image perturbations},
  author = {Dapello, Joel and Marques, Tiago and Schrimpf, Martin and Geiger, Franziska and Cox, David and
    DiCarlo, James J},
  journal = {Advances in Neural Information Processing Systems},
  volume = {33},
  pages = {13073--13087},
  year = {2020}
}"""

# responses of the neurons of FreemanZiemba2013_V1_properties to textures are in the data of that study
for _key in table_keys(__file__, "assemblies.csv"):
    data_registry[_key] = partial(load_assembly, __file__, _key)
for _key in table_keys(__file__, "stimulus_sets.csv"):
    stimulus_set_registry[_key] = partial(load_stimuli, __file__, _key)
