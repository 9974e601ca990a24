"""Which of two objects people saw in an image: trials on 2,160 public and 240 private images (Rajalingham 2018)."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from brainscore_core.plugins.tables import table_keys
from brainscore_vision import data_registry, stimulus_set_registry
from brainscore_vision.data_sources.tables import load_assembly, load_stimuli

if TYPE_CHECKING:
    from brainscore_core.supported_data_standards.brainio.assemblies import DataAssembly

BIBTEX = """@article{rajalingham2018large,
  title = {Large-scale, high-resolution comparison of the core visual object recognition behavior of humans, monkeys,
    and state-of-the-art deep artificial neural networks},
  author = {Rajalingham, Rishi and Issa, Elias B and Bashivan, Pouya and Kar, Kohitij and Schmidt, Kailyn and
    DiCarlo, James J},
  journal = {Journal of Neuroscience},
  volume = {38},
  number = {33},
  pages = {7255--7269},
  year = {2018},
  publisher = {Soc Neuroscience},
  doi = {10.1523/JNEUROSCI.0388-18.2018}
}"""

STIMULUS_GROUPS = {"Rajalingham2018.*": "sample_obj"}


def _load(identifier: str) -> DataAssembly:
    from brainscore_core.metric_helpers.alignment import PUBLISHED_ORDER

    assembly = load_assembly(__file__, identifier)
    # published halves of the trials are those of the file's order
    return assembly.assign_coords({PUBLISHED_ORDER: ("presentation", range(len(assembly)))})


for _key in table_keys(__file__, "assemblies.csv"):
    data_registry[_key] = partial(_load, _key)
for _key in table_keys(__file__, "stimulus_sets.csv"):
    stimulus_set_registry[_key] = partial(load_stimuli, __file__, _key)
