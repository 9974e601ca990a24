"""Responses in V4 and IT of two macaques to objects on natural backgrounds (Majaj, Hong et al. 2015)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from brainscore_vision import data_registry, load_stimulus_set, stimulus_set_registry

if TYPE_CHECKING:
    from brainscore_core.supported_data_standards.brainio.assemblies import DataAssembly
    from brainscore_core.supported_data_standards.brainio.stimuli import StimulusSet

BIBTEX = """@article{majajhong2015simple,
  title = {Simple learned weighted sums of inferior temporal neuronal firing rates accurately predict human core object
    recognition performance},
  author = {Majaj, Najib J and Hong, Ha and Solomon, Ethan A and DiCarlo, James J},
  journal = {Journal of Neuroscience},
  volume = {35},
  number = {39},
  pages = {13402--13418},
  year = {2015},
  publisher = {Soc Neuroscience},
  doi = {10.1523/JNEUROSCI.5181-14.2015}
}"""

STIMULUS_GROUPS = {"MajajHong2015*": "object_name"}

_BUCKET = "brainscore-storage/brainio-brainscore"
_LATEST = "null"  # the version of objects from before the bucket kept versions


def _recordings(name: str, sha1: str, stimuli: str) -> DataAssembly:
    from brainscore_core.supported_data_standards.brainio.assemblies import NeuronRecordingAssembly
    from brainscore_core.supported_data_standards.brainio.s3 import load_assembly_from_s3

    return load_assembly_from_s3(
        identifier=f"dicarlo.{name}",
        version_id=_LATEST,
        sha1=sha1,
        bucket=_BUCKET,
        cls=NeuronRecordingAssembly,
        stimulus_set_loader=lambda: load_stimulus_set(stimuli),
    )


def _stimuli(name: str, csv_sha1: str, zip_sha1: str) -> StimulusSet:
    from brainscore_core.supported_data_standards.brainio.s3 import load_stimulus_set_from_s3

    return load_stimulus_set_from_s3(
        identifier=name,
        bucket=_BUCKET,
        csv_sha1=csv_sha1,
        zip_sha1=zip_sha1,
        csv_version_id=_LATEST,
        zip_version_id=_LATEST,
    )


# public: the images with little variation of position, size and pose; private: those with much
for _name, _sha1, _of in (
    ("MajajHong2015", "bf8f8d01010d727e3db3f85a9bd5f95f9456b7ec", "hvm"),
    ("MajajHong2015.public", "13d28ca0ce88ee550b54db3004374ae19096e9b9", "hvm-public"),
    ("MajajHong2015.private", "7a40d16148d6f82939155f0bd976d310857fb156", "hvm-private"),
    ("MajajHong2015.temporal", "4c5cfe25ad53162c5c716d64004de269162eff38", "hvm"),
    ("MajajHong2015.temporal.public", "093ac35b3e8464c676d24cf38238415d4d6a9448", "hvm-public"),
    ("MajajHong2015.temporal.private", "804ea9e7c08ae9ab7a7d705c9c7e68582750e2ea", "hvm-private"),
    ("MajajHong2015.temporal-10ms", "3a43db05db722b456d156f53b7215413c994e5b5", "hvm"),
):
    data_registry[_name] = lambda name=_name, sha1=_sha1, of=_of: _recordings(name, sha1, of)

for _name, _csv, _zip in (
    ("hvm", "a56f55205904d5fb5ead4d0dc7bfad5cc4083b94", "6fd5080deccfb061699909ffcb86a26209516811"),
    ("hvm-public", "5ca7a3da00d8e9c694a9cd725df5ba0ad6d735af", "8aa44e038d7b551efa8077467622f9d48d72e473"),
    ("hvm-private", "6ff4981722fa05feb73a2bd26bbbba8b50dc29a6", "d7b1ca1876dad87e15b0242b4c82c0203ff3cbd3"),
):
    stimulus_set_registry[_name] = lambda name=_name, csv=_csv, zip_=_zip: _stimuli(name, csv, zip_)
