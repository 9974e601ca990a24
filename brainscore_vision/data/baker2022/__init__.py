"""Whether people recognise animals in whole, fragmented and rearranged silhouettes (Baker & Elder 2022)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from brainscore_vision import data_registry, load_stimulus_set, stimulus_set_registry

if TYPE_CHECKING:
    from brainscore_core.supported_data_standards.brainio.assemblies import DataAssembly
    from brainscore_core.supported_data_standards.brainio.stimuli import StimulusSet

BIBTEX = """@article{BAKER2022104913,
  title = {Deep learning models fail to capture the configural nature of human shape perception},
  journal = {iScience},
  volume = {25},
  number = {9},
  pages = {104913},
  year = {2022},
  issn = {2589-0042},
  doi = {10.1016/j.isci.2022.104913},
  url = {https://www.sciencedirect.com/science/article/pii/S2589004222011853},
  author = {Nicholas Baker and James H. Elder}
}"""

STIMULUS_GROUPS = {"Baker2022_*": "truth"}

_BUCKET = "brainscore-storage/brainio-brainscore"


def _assembly(identifier: str, *, sha1: str) -> DataAssembly:
    from brainscore_core.supported_data_standards.brainio.s3 import load_assembly_from_s3

    return load_assembly_from_s3(
        identifier=identifier,
        version_id="null",
        sha1=sha1,
        bucket=_BUCKET,
        cls="BehavioralAssembly",
        stimulus_set_loader=lambda: load_stimulus_set(identifier),
    )


def _stimuli(identifier: str, *, csv_sha1: str, zip_sha1: str) -> StimulusSet:
    from brainscore_core.supported_data_standards.brainio.s3 import load_stimulus_set_from_s3

    return load_stimulus_set_from_s3(
        identifier=identifier,
        bucket=_BUCKET,
        csv_sha1=csv_sha1,
        zip_sha1=zip_sha1,
        csv_version_id="null",
        zip_version_id="null",
    )


stimulus_set_registry["Baker2022_normal_distortion"] = lambda: _stimuli(
    "Baker2022_normal_distortion",
    csv_sha1="17d4db7458a29a787d12bb29c34e91daef1872bf",
    zip_sha1="2c726abaf081c8a9828269a559222f8c6eea0e4f",
)
data_registry["Baker2022_normal_distortion"] = lambda: _assembly(
    "Baker2022_normal_distortion", sha1="46c79a48bf2dbd995a9305d8fbc03a134a852e17"
)

stimulus_set_registry["Baker2022_inverted_distortion"] = lambda: _stimuli(
    "Baker2022_inverted_distortion",
    csv_sha1="91e452e4651024c2b382694edfcbc7bdc6c3189b",
    zip_sha1="4740a096af994c2232350469c664e53796f17a05",
)
data_registry["Baker2022_inverted_distortion"] = lambda: _assembly(
    "Baker2022_inverted_distortion", sha1="b76fb57b25a58ca68db78d188fd0a783e1dcaf73"
)
