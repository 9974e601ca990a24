"""Which of two objects people saw in an image: trials on 2,160 public and 240 private images (Rajalingham 2018)."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from brainscore_core.plugins.tables import read_citation, table_keys
from brainscore_vision import data_registry, stimulus_set_registry
from brainscore_vision.data_sources.tables import load_assembly, load_stimuli

if TYPE_CHECKING:
    from brainscore_core.supported_data_standards.brainio.assemblies import DataAssembly

BIBTEX = read_citation(__file__)

STIMULUS_GROUPS = {"Rajalingham2018.*": "sample_obj"}


def _load(identifier: str) -> DataAssembly:
    from brainscore_core.metric_helpers.alignment import PUBLISHED_ORDER

    assembly = load_assembly(__file__, identifier)
    # published halves of the trials are those of the file's order
    return assembly.assign_coords({PUBLISHED_ORDER: ("presentation", range(len(assembly)))})


for _key in table_keys(__file__, "assemblies.csv"):
    data_registry[_key] = partial(_load, _key)
stimulus_set_registry.add_table(__file__, "stimulus_sets.csv", load_stimuli)
