"""Similarity of responses to occluded objects in human V1, V2, V4 and IT (Coggan & Tong 2024)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from brainscore_vision import data_registry, load_stimulus_set, stimulus_set_registry

if TYPE_CHECKING:
    from brainscore_core.supported_data_standards.brainio.assemblies import DataAssembly
    from brainscore_core.supported_data_standards.brainio.stimuli import StimulusSet

BIBTEX = """@article{Tong.Coggan2024.fMRI,
  author = {David D. Coggan and Frank Tong},
  title = {Evidence of strong amodal completion in both early and high-level visual cortices},
  year = {2024},
  journal = {under review}
}"""

STIMULUS_GROUPS = {"Coggan2024_fMRI": "object_name"}

_STORED = "tong.Coggan2024_fMRI"
_BUCKET = "brainscore-storage/brainio-brainscore"


def _similarities() -> DataAssembly:
    from brainscore_core.supported_data_standards.brainio.assemblies import NeuroidAssembly
    from brainscore_core.supported_data_standards.brainio.s3 import load_assembly_from_s3

    # presentation × presentation × neuroid: a matrix of similarities for each subject and region
    return load_assembly_from_s3(
        identifier=_STORED,
        version_id="LRYpTHYG7IoNCexbzZdQM4_LjML_M3CS",
        sha1="da3adbca5247d0491d366f94e8431fb3e4e58db2",
        bucket=_BUCKET,
        cls=NeuroidAssembly,
        stimulus_set_loader=lambda: load_stimulus_set("Coggan2024_fMRI"),
    )


def _stimuli() -> StimulusSet:
    from brainscore_core.supported_data_standards.brainio.s3 import load_stimulus_set_from_s3

    return load_stimulus_set_from_s3(
        identifier=_STORED,
        bucket=_BUCKET,
        csv_sha1="0089f5f8fd3f2de14de12ed736a0f88575f8e1ee",
        zip_sha1="e26fdea4d866799526dea183f5bfb9792718822a",
        csv_version_id="kAS9zqRPf7zmLCN73I2VB5gBvhrZoU0p",
        zip_version_id="jmiuKdlsh6.1suR_5FvLFDyg.PCzEZTn",
    )


data_registry["Coggan2024_fMRI"] = _similarities
stimulus_set_registry["Coggan2024_fMRI"] = _stimuli
