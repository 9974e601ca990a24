"""When the object in an image can be decoded from macaque IT (Kar et al. 2019)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from brainscore_vision import data_registry, load_stimulus_set, stimulus_set_registry

if TYPE_CHECKING:
    from brainscore_core.supported_data_standards.brainio.assemblies import DataAssembly
    from brainscore_core.supported_data_standards.brainio.stimuli import StimulusSet

BIBTEX = """@article{Kar2019,
  author = {Kar, Kohitij and Kubilius, Jonas and Schmidt, Kailyn and Issa, Elias B. and DiCarlo, James J.},
  title = {Evidence that recurrent circuits are critical to the ventral stream's execution of core object recognition
    behavior},
  journal = {Nature Neuroscience},
  year = {2019},
  month = {Jun},
  day = {01},
  volume = {22},
  number = {6},
  pages = {974-983},
  issn = {1546-1726},
  doi = {10.1038/s41593-019-0392-5},
  url = {https://doi.org/10.1038/s41593-019-0392-5}
}"""

STIMULUS_GROUPS = {"Kar2019*": "image_label"}

_BUCKET = "brainscore-storage/brainio-brainscore"
_LATEST = "null"  # the version of objects from before the bucket kept versions


def _solution_times() -> DataAssembly:
    from brainscore_core.supported_data_standards.brainio.assemblies import DataAssembly
    from brainscore_core.supported_data_standards.brainio.s3 import load_assembly_from_s3

    return load_assembly_from_s3(
        identifier="dicarlo.Kar2019",
        version_id=_LATEST,
        sha1="147717ce397e11d56164d472063a84a83bbcbb94",
        bucket=_BUCKET,
        cls=DataAssembly,
        stimulus_set_loader=lambda: load_stimulus_set("Kar2019"),
    )


def _stimuli() -> StimulusSet:
    from brainscore_core.supported_data_standards.brainio.s3 import load_stimulus_set_from_s3

    return load_stimulus_set_from_s3(
        identifier="Kar2019",
        bucket=_BUCKET,
        csv_sha1="7f705bdea02c0a72a76d7f5e7b6963531df818a6",
        zip_sha1="75ab7b8b499fc8e86c813f717b79d268bcb986be",
        csv_version_id=_LATEST,
        zip_version_id=_LATEST,
    )


data_registry["Kar2019"] = _solution_times
stimulus_set_registry["Kar2019"] = _stimuli
