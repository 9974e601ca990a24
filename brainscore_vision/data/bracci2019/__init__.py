"""Responses of human ventral visual cortex to animals, lookalike objects and objects (Bracci et al. 2019)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from brainscore_vision import data_registry, stimulus_set_registry

if TYPE_CHECKING:
    from brainscore_core.supported_data_standards.brainio.assemblies import DataAssembly
    from brainscore_core.supported_data_standards.brainio.stimuli import StimulusSet

BIBTEX = """@article{bracci2019ventral,
  title = {The ventral visual pathway represents animal appearance over animacy, unlike human behavior and deep neural
    networks},
  author = {Bracci, Stefania and Ritchie, J Brendan and Kalfas, Ioannis and de Beeck, Hans P Op},
  journal = {Journal of Neuroscience},
  volume = {39},
  number = {33},
  pages = {6513--6525},
  year = {2019},
  publisher = {Soc Neuroscience},
  doi = {10.1523/JNEUROSCI.1714-18.2019}
}"""

STIMULUS_GROUPS = {"Bracci2019": "image_group"}

_IDENTIFIER = "Bracci2019"
_BUCKET = "brainscore-storage/brainio-brainscore"
_LATEST = "null"  # the version of objects from before the bucket kept versions


def _responses() -> DataAssembly:
    from brainscore_core.supported_data_standards.brainio.assemblies import NeuroidAssembly
    from brainscore_core.supported_data_standards.brainio.s3 import load_assembly_from_s3

    # as published, without a stimulus set: its own coordinates describe the stimuli
    return load_assembly_from_s3(
        identifier=_IDENTIFIER,
        version_id=_LATEST,
        sha1="cbec165bb20f09d0527fddba7cfbf115a396a2f3",
        bucket=_BUCKET,
        cls=NeuroidAssembly,
    )


def _stimuli() -> StimulusSet:
    from brainscore_core.supported_data_standards.brainio.s3 import load_stimulus_set_from_s3

    return load_stimulus_set_from_s3(
        identifier=_IDENTIFIER,
        bucket=_BUCKET,
        csv_sha1="05b1af9b8e6ed478ea49339e11b0024c2da8c35f",
        zip_sha1="a79b249e758421f46ec781301cd4b498f64853ce",
        csv_version_id=_LATEST,
        zip_version_id=_LATEST,
    )


data_registry["Bracci2019"] = _responses
stimulus_set_registry["Bracci2019"] = _stimuli
