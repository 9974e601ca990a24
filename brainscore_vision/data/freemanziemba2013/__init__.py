"""Responses in V1 and V2 of macaques to naturalistic textures and their noise counterparts (Freeman et al. 2013)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from brainscore_vision import data_registry, load_stimulus_set, stimulus_set_registry

if TYPE_CHECKING:
    from brainscore_core.supported_data_standards.brainio.assemblies import DataAssembly
    from brainscore_core.supported_data_standards.brainio.stimuli import StimulusSet

BIBTEX = """@article{freeman2013functional,
  title = {A functional and perceptual signature of the second visual area in primates},
  author = {Freeman, Jeremy and Ziemba, Corey M and Heeger, David J and Simoncelli, Eero P and Movshon, J Anthony},
  journal = {Nature neuroscience},
  volume = {16},
  number = {7},
  pages = {974--981},
  year = {2013},
  publisher = {Nature Publishing Group},
  doi = {10.1038/nn.3402}
}"""

STIMULUS_GROUPS = {"FreemanZiemba2013*": "texture_family"}

_BUCKET = "brainscore-storage/brainio-brainscore"
_LATEST = "null"  # the version of objects from before the bucket kept versions


def _recordings(name: str, sha1: str, version_id: str, stimuli: str) -> DataAssembly:
    from brainscore_core.supported_data_standards.brainio.assemblies import NeuronRecordingAssembly
    from brainscore_core.supported_data_standards.brainio.s3 import load_assembly_from_s3

    return load_assembly_from_s3(
        identifier=f"movshon.{name}",
        version_id=version_id,
        sha1=sha1,
        bucket=_BUCKET,
        cls=NeuronRecordingAssembly,
        stimulus_set_loader=lambda: load_stimulus_set(stimuli),
    )


def _stimuli(name: str, csv: tuple[str, str], zip_: tuple[str, str]) -> StimulusSet:
    from brainscore_core.supported_data_standards.brainio.s3 import load_stimulus_set_from_s3

    (csv_sha1, csv_version_id), (zip_sha1, zip_version_id) = csv, zip_
    return load_stimulus_set_from_s3(
        identifier=name,
        bucket=_BUCKET,
        csv_sha1=csv_sha1,
        zip_sha1=zip_sha1,
        csv_version_id=csv_version_id,
        zip_version_id=zip_version_id,
    )


# sets without "aperture" show the images as squares, the others through a raised-cosine aperture, as in the experiment
for _name, _sha1, _version, _of in (
    ("FreemanZiemba2013", "f03f1630f0ab1e2dbd51816b47fbf2916876134e", _LATEST, "FreemanZiemba2013.aperture"),
    (
        "FreemanZiemba2013.public",
        "761c08f796db4e342555cdb60eef23a4f19ead43",
        "W2vx7jdh9utZdVumHHarXa4L1zOrA8Fd",
        "FreemanZiemba2013.aperture-public",
    ),
    (
        "FreemanZiemba2013.private",
        "63f636fa2e2b51b47a676768a69b06ce95efdd8f",
        "wx5LB7Nq42SV74RQ8Cw6EtyabywsnSyG",
        "FreemanZiemba2013.aperture-private",
    ),
    ("FreemanZiemba2013.noaperture", "6176fd435ab840d284c2c426742c8211622739b5", _LATEST, "FreemanZiemba2013"),
    (
        "FreemanZiemba2013.noaperture.public",
        "68dd9e1da7207dc2ae17dbbb1adf628e922d15fa",
        _LATEST,
        "FreemanZiemba2013.public",
    ),
    (
        "FreemanZiemba2013.noaperture.private",
        "9ffa772ce61754f6f5b7b391436680ebc25bb8dd",
        _LATEST,
        "FreemanZiemba2013.private",
    ),
):
    data_registry[_name] = lambda name=_name, sha1=_sha1, version=_version, of=_of: _recordings(name, sha1, version, of)

for _name, _csv, _zip in (
    (
        "FreemanZiemba2013",
        ("de0e65a25c7de4c1740f48ac9b1ff513dcfa5caf", _LATEST),
        ("bdfc3ba2d878d6aeaa842f9de6abeae50922f2f2", _LATEST),
    ),
    (
        "FreemanZiemba2013.public",
        ("b4fee824f361fa0b78d7247ed4192b04cd675d4f", _LATEST),
        ("3a5e2cb347eb97d02ff9f7294abc11c1b45a78dc", _LATEST),
    ),
    (
        "FreemanZiemba2013.private",
        ("91bab3340410ff5171490a337c5931545f29da82", _LATEST),
        ("e973cf0f98eac3d9673b00b314deb3b85e76c23c", _LATEST),
    ),
    (
        "FreemanZiemba2013.aperture",
        ("4205eca54974da46accba7812fce25c1b6df58e0", _LATEST),
        ("3eacddfecd825b18026da3e4c749d5d1bc9213ed", _LATEST),
    ),
    (
        "FreemanZiemba2013.aperture-public",
        ("194c9b301a4e3e9cff02481d4c19b39331d52660", _LATEST),
        ("3a6fec1fc28c212882d6833e267ea8654d289611", _LATEST),
    ),
    (
        "FreemanZiemba2013.aperture-private",
        ("65bee31483dd743ae2a19c6af03b9abe5f4d5a41", "Klo0lMygUX0IZPkLoypccXH55a1hZjf2"),
        ("daa724a4797b23929df59c18744923790edf71cb", "nZES.el0vF3KXuRrB2ELQOqzCcxumFMY"),
    ),
):
    stimulus_set_registry[_name] = lambda name=_name, csv=_csv, zip_=_zip: _stimuli(name, csv, zip_)
