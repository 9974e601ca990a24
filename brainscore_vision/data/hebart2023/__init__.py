"""Which of three objects people take for the odd one: 453,642 triplets of 1,854 images (Hebart et al. 2023)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from brainscore_core.provenance import note
from brainscore_vision import data_registry, load_stimulus_set, stimulus_set_registry

if TYPE_CHECKING:
    from brainscore_core.supported_data_standards.brainio.assemblies import DataAssembly
    from brainscore_core.supported_data_standards.brainio.stimuli import StimulusSet

BIBTEX = """@article{10.7554/eLife.82580,
  author = {Hebart, Martin N and Contier, Oliver and Teichmann, Lina and Rockter, Adam H and Zheng, Charles Y and
    Kidder, Alexis and Corriveau, Anna and Vaziri-Pashkam, Maryam and Baker, Chris I},
  journal = {eLife},
  month = {feb},
  pages = {e82580},
  title = {THINGS-data, a multimodal collection of large-scale datasets for investigating object representations in
    human brain and behavior},
  volume = {12},
  year = {2023},
  doi = {10.7554/eLife.82580}
}"""

STIMULUS_GROUPS = {"Hebart2023": "none"}  # one picture of each thing

_BUCKET = "brainscore-storage/brainio-brainscore"
_LATEST = "null"  # the version of objects from before the bucket kept versions


def _choices() -> DataAssembly:
    from brainscore_core.supported_data_standards.brainio.assemblies import BehavioralAssembly
    from brainscore_core.supported_data_standards.brainio.s3 import load_assembly_from_s3

    # registered elsewhere as NeuronRecordingAssembly, whose dimensions (presentation, neuroid) choices do not have
    return load_assembly_from_s3(
        identifier="Hebart2023",
        version_id=_LATEST,
        sha1="90f66d37c202dcd1c74d82854efd4a1e8c5fe82e",
        bucket=_BUCKET,
        cls=BehavioralAssembly,
        stimulus_set_loader=lambda: load_stimulus_set("Hebart2023"),
    )


def _stimuli() -> StimulusSet:
    from brainscore_core.supported_data_standards.brainio.s3 import load_stimulus_set_from_s3

    note("collection", identifier="THINGS")
    return load_stimulus_set_from_s3(
        identifier="Hebart2023",
        bucket=_BUCKET,
        csv_sha1="8fd5a8d4d68cc206000878dd835829fd14a426e8",
        zip_sha1="f244ebfe07c98470885026188c801857ba2ec0ea",
        csv_version_id=_LATEST,
        zip_version_id=_LATEST,
        filename_prefix="stimulus_",
    )


data_registry["Hebart2023"] = _choices
stimulus_set_registry["Hebart2023"] = _stimuli
