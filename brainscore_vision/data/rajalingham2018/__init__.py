"""Which of two objects people saw in an image: trials on 2,160 public and 240 private images (Rajalingham 2018)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from brainscore_vision import data_registry, load_stimulus_set, stimulus_set_registry

if TYPE_CHECKING:
    from brainscore_core.supported_data_standards.brainio.assemblies import DataAssembly
    from brainscore_core.supported_data_standards.brainio.stimuli import StimulusSet

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

_BUCKET = "brainscore-storage/brainio-brainscore"
_LATEST = "null"  # the version of objects from before the bucket kept versions


def _choices(access: str, sha1: str) -> DataAssembly:
    from brainscore_core.supported_data_standards.brainio.assemblies import BehavioralAssembly
    from brainscore_core.supported_data_standards.brainio.s3 import load_assembly_from_s3
    from brainscore_vision.metric_helpers.alignment import PUBLISHED_ORDER

    assembly = load_assembly_from_s3(
        identifier=f"dicarlo.Rajalingham2018.{access}",
        version_id=_LATEST,
        sha1=sha1,
        bucket=_BUCKET,
        cls=BehavioralAssembly,
        stimulus_set_loader=lambda: load_stimulus_set(f"objectome.{access}"),
    )
    # published halves of the trials are those of the file's order
    return assembly.assign_coords({PUBLISHED_ORDER: ("presentation", range(len(assembly)))})


def _stimuli(access: str, csv_sha1: str, zip_sha1: str) -> StimulusSet:
    from brainscore_core.supported_data_standards.brainio.s3 import load_stimulus_set_from_s3

    return load_stimulus_set_from_s3(
        identifier=f"objectome.{access}",
        bucket=_BUCKET,
        csv_sha1=csv_sha1,
        zip_sha1=zip_sha1,
        csv_version_id=_LATEST,
        zip_version_id=_LATEST,
    )


for _access, _sha1 in (
    ("public", "34c6a8b6f7c523589c1861e4123232e5f7c7df4c"),
    ("private", "516f13793d1c5b72bb445bb4008448ce97a02d23"),
):
    data_registry[f"Rajalingham2018.{_access}"] = lambda access=_access, sha1=_sha1: _choices(access, sha1)

for _access, _csv, _zip in (
    ("public", "47884e17106a3be471d6481279cab33889b80850", "064f2955f98e63867755fee2e3ead8cddf6bfab8"),
    ("private", "ac38e8f7c08fa8294ed25a3bf84a6adb108bf3fc", "ccd39f7f9b8b4a92da06e3960d06225e46208593"),
):
    stimulus_set_registry[f"objectome.{_access}"] = lambda access=_access, csv=_csv, zip_=_zip: _stimuli(
        access, csv, zip_
    )
