"""What 30 people recognise of occluded objects (Coggan & Tong 2024)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from brainscore_vision import data_registry, load_stimulus_set, stimulus_set_registry

if TYPE_CHECKING:
    from brainscore_core.supported_data_standards.brainio.assemblies import DataAssembly
    from brainscore_core.supported_data_standards.brainio.stimuli import StimulusSet

BIBTEX = """@article{Tong.Coggan2024.behavior,
  author = {David D. Coggan and Frank Tong},
  title = {Modeling human visual recognition of occluded objects},
  year = {2024},
  journal = {in prep}
}"""

STIMULUS_GROUPS = {"Coggan2024_behavior": "object_class"}

_BUCKET = "brainscore-storage/brainio-brainscore"
_LATEST = "null"  # the version of objects from before the bucket kept versions


def _choices() -> DataAssembly:
    from brainscore_core.supported_data_standards.brainio.assemblies import BehavioralAssembly
    from brainscore_core.supported_data_standards.brainio.s3 import load_assembly_from_s3

    return load_assembly_from_s3(
        identifier="tong.Coggan2024_behavior",
        version_id=_LATEST,
        sha1="c1ac4a268476c35bbe40081358667a03d3544631",
        bucket=_BUCKET,
        cls=BehavioralAssembly,
        stimulus_set_loader=lambda: load_stimulus_set("Coggan2024_behavior"),
    )


def _stimuli(name: str, csv_sha1: str, zip_sha1: str) -> StimulusSet:
    from brainscore_core.supported_data_standards.brainio.s3 import load_stimulus_set_from_s3

    return load_stimulus_set_from_s3(
        identifier=f"tong.{name}",
        bucket=_BUCKET,
        csv_sha1=csv_sha1,
        zip_sha1=zip_sha1,
        csv_version_id=_LATEST,
        zip_version_id=_LATEST,
    )


data_registry["Coggan2024_behavior"] = _choices

for _name, _csv, _zip in (
    ("Coggan2024_behavior", "01c312c4c16f7acc5afddaafcf826e5af58b13e2", "1c070b88fa45e9e69d58f95466cb6406a45a4873"),
    # other pictures of the same eight classes, without occluders
    (
        "Coggan2024_behavior_fitting",
        "136e48992305ea78a4fb77e9dfc75dcf01e885d0",
        "24e68f5ba2f8f2105daf706307642637118e7d36",
    ),
):
    stimulus_set_registry[_name] = lambda name=_name, csv=_csv, zip_=_zip: _stimuli(name, csv, zip_)
