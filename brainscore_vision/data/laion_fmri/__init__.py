"""Responses of human visual cortex (7T fMRI) to pictures from the web (Zerbe et al. 2026).

The pictures may not be passed on: they are read from a folder of those who signed the data use agreement.
"""

from __future__ import annotations

import os
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from brainscore_core.errors import DataUnavailable
from brainscore_core.plugins.tables import read_citation, table_keys
from brainscore_vision import data_registry, stimulus_set_registry
from brainscore_vision.data_sources.tables import load_assembly

if TYPE_CHECKING:
    from brainscore_core.supported_data_standards.brainio.assemblies import DataAssembly
    from brainscore_core.supported_data_standards.brainio.stimuli import StimulusSet

FOLDER_VARIABLE = "LAION_FMRI_STIMULI_DIR"
"""Names the folder of the pictures, with ``manifest.csv`` (stimulus_id, filename)."""

BIBTEX = read_citation(__file__)

_LEFT_OUT = ("session", "run", "beta_index")


def _load(identifier: str) -> DataAssembly:
    """Recordings of one subject; presentations of the pictures that only they saw name the subject."""
    assembly = load_assembly(__file__, identifier)
    if "persubject" in identifier:
        assembly = assembly.drop_vars([name for name in _LEFT_OUT if name in assembly.coords])
        subject = identifier.rpartition("_")[2]
        assembly["subject_id_pres"] = "presentation", [subject] * assembly.sizes["presentation"]
    return assembly


def _load_stimuli() -> StimulusSet:
    import pandas as pd

    from brainscore_core.supported_data_standards.brainio.stimuli import StimulusSet

    folder = os.environ.get(FOLDER_VARIABLE)
    manifest = Path(folder or ".") / "manifest.csv"
    if not folder or not manifest.is_file():
        raise DataUnavailable(
            f"the pictures of LAION-fMRI are not available: {FOLDER_VARIABLE} is {folder!r}"
            if not folder
            else f"the pictures of LAION-fMRI are not available: there is no {manifest}",
            remedy=f"sign the data use agreement of LAION-fMRI, unpack its pictures with manifest.csv into a folder, "
            f"and set {FOLDER_VARIABLE} to it",
        )
    table = pd.read_csv(manifest, dtype={"stimulus_id": str})[["stimulus_id", "filename"]]
    stimuli = StimulusSet(table)
    stimuli.stimulus_paths = {
        name: Path(folder) / file for name, file in zip(table["stimulus_id"], table["filename"], strict=True)
    }
    stimuli.identifier = "Zerbe2026_fmri_stim_full"
    return stimuli


for _key in table_keys(__file__, "assemblies.csv"):
    data_registry[_key] = partial(_load, _key)
stimulus_set_registry["Zerbe2026_fmri_stim_full"] = _load_stimuli
stimulus_set_registry["Zerbe2026_fmri_persubject_stim_full"] = _load_stimuli
