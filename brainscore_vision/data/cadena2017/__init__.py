"""Recordings from macaque V1 of natural images and synthesised textures (Cadena et al. 2017)."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from brainscore_core.plugins.tables import read_citation, table_keys
from brainscore_vision import data_registry, stimulus_set_registry
from brainscore_vision.data_sources.tables import load_assembly, load_stimuli

if TYPE_CHECKING:
    from brainscore_core.supported_data_standards.brainio.assemblies import DataAssembly

BIBTEX = read_citation(__file__)


def _load(identifier: str) -> DataAssembly:
    """The published file only numbers the neuroids, and does not state their region."""
    assembly = load_assembly(__file__, identifier)
    if "neuroid_id" not in assembly.coords:
        assembly["neuroid_id"] = "neuroid", assembly["neuroid"].values
    if "region" not in assembly.coords:
        assembly["region"] = "neuroid", ["V1"] * assembly.sizes["neuroid"]
    return assembly


for _key in table_keys(__file__, "assemblies.csv"):
    data_registry[_key] = partial(_load, _key)
stimulus_set_registry.add_table(__file__, "stimulus_sets.csv", load_stimuli)
