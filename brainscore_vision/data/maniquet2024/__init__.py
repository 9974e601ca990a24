"""People naming clear, blurred, cluttered and occluded objects (Maniquet, Op de Beeck & Costantino 2024)."""

from functools import partial

from brainscore_core.plugins.tables import table_keys
from brainscore_vision import data_registry, stimulus_set_registry
from brainscore_vision.data_sources.tables import load_assembly, load_stimuli

BIBTEX = """@article{Maniquet2024.04.02.587669,
  author = {Maniquet, Tim and de Beeck, Hans Op and Costantino, Andrea Ivan},
  title = {Recurrent issues with deep neural network models of visual recognition},
  elocation-id = {2024.04.02.587669},
  year = {2024},
  doi = {10.1101/2024.04.02.587669},
  publisher = {Cold Spring Harbor Laboratory},
  url = {https://www.biorxiv.org/content/early/2024/04/10/2024.04.02.587669},
  eprint = {https://www.biorxiv.org/content/early/2024/04/10/2024.04.02.587669.full.pdf},
  journal = {bioRxiv}
}"""

STIMULUS_GROUPS = {"Maniquet2024": "image_label"}

for _key in table_keys(__file__, "assemblies.csv"):
    data_registry[_key] = partial(load_assembly, __file__, _key)
for _key in table_keys(__file__, "stimulus_sets.csv"):
    stimulus_set_registry[_key] = partial(load_stimuli, __file__, _key)
