"""Properties of macaque V1 neurons from six studies, and the gratings and textures that measure them in models.

The studies' distributions were compiled by Marques, Schrimpf & DiCarlo (2021,
https://doi.org/10.1101/2021.03.01.433495).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from brainscore_core.provenance import note
from brainscore_vision import data_registry, load_stimulus_set, stimulus_set_registry

if TYPE_CHECKING:
    from brainscore_core.supported_data_standards.brainio.assemblies import DataAssembly
    from brainscore_core.supported_data_standards.brainio.stimuli import StimulusSet

BIBTEX = """@article{dapello2020simulating,
  title = {Simulating a primary visual cortex at the front of CNNs improves robustness to image perturbations},
  author = {Dapello, Joel and Marques, Tiago and Schrimpf, Martin and Geiger, Franziska and Cox, David and
    DiCarlo, James J},
  journal = {Advances in Neural Information Processing Systems},
  volume = {33},
  pages = {13073--13087},
  year = {2020}
}"""

_BUCKET = "brainscore-storage/brainio-brainscore"


def _assembly(stored: str, sha1: str, stimuli: str) -> DataAssembly:
    from brainscore_core.supported_data_standards.brainio.assemblies import PropertyAssembly
    from brainscore_core.supported_data_standards.brainio.s3 import load_assembly_from_s3

    if "FreemanZiemba2013" in stored:  # neurons whose responses to textures are in the data of that study
        note("study", identifier="FreemanZiemba2013")
    return load_assembly_from_s3(
        identifier=stored,
        version_id="null",
        sha1=sha1,
        bucket=_BUCKET,
        cls=PropertyAssembly,
        stimulus_set_loader=lambda: load_stimulus_set(stimuli),
        merge_stimulus_set_meta=False,
    )


def _stimuli(identifier: str, csv_sha1: str, zip_sha1: str) -> StimulusSet:
    from brainscore_core.supported_data_standards.brainio.s3 import load_stimulus_set_from_s3

    if "FreemanZiemba2013" in identifier:
        note("collection", identifier="FreemanZiemba2013")
    return load_stimulus_set_from_s3(
        identifier=identifier,
        bucket=_BUCKET,
        csv_sha1=csv_sha1,
        zip_sha1=zip_sha1,
        csv_version_id="null",
        zip_version_id="null",
    )


data_registry["Cavanaugh2002a"] = lambda: _assembly(
    "movshon.Cavanaugh2002a", sha1="d4b24f4bbf8a14138a8e98391ab03796c2c05e7d", stimuli="Marques2020_size"
)
data_registry["FreemanZiemba2013_V1_properties"] = lambda: _assembly(
    "movshon.FreemanZiemba2013_V1_properties",
    sha1="e665522d9a32e6cd6c3ebc61ff65fd3899c8d3e6",
    stimuli="FreemanZiemba2013_properties",
)
data_registry["DeValois1982a"] = lambda: _assembly(
    "devalois.DeValois1982a", sha1="8f4fd70e987c3c566b5b6c6bf15ef27637618b2c", stimuli="Marques2020_orientation"
)
data_registry["DeValois1982b"] = lambda: _assembly(
    "devalois.DeValois1982b", sha1="611176eefdac09feaa4c07f081784c24067629e1", stimuli="Marques2020_spatial_frequency"
)
data_registry["Ringach2002"] = lambda: _assembly(
    "shapley.Ringach2002", sha1="0f3e19140bd9f930109879a38e574471d9576cf5", stimuli="Marques2020_orientation"
)
data_registry["Schiller1976c"] = lambda: _assembly(
    "schiller.Schiller1976c", sha1="58daa02ba2680e75dcb11b37eb6085c4afb6576e", stimuli="Marques2020_spatial_frequency"
)

stimulus_set_registry["Marques2020_blank"] = lambda: _stimuli(
    "Marques2020_blank",
    csv_sha1="c02d44b0d3e157b29c6b96c5c5a478a8b37dc70b",
    zip_sha1="5c4eef94691d6d63f8b1610918728b8531fc861e",
)
stimulus_set_registry["Marques2020_receptive_field"] = lambda: _stimuli(
    "Marques2020_receptive_field",
    csv_sha1="e3681c69122b20ff3dd22486f546a26b3a97e057",
    zip_sha1="fc21a9302bb0fca85350049ab740af80f2307ece",
)
stimulus_set_registry["Marques2020_orientation"] = lambda: _stimuli(
    "Marques2020_orientation",
    csv_sha1="b316c6d9c6ddb58f8f21e79ae2b59b03933c0068",
    zip_sha1="6a02466e221ac314da2db2969c89688dff64ab1b",
)
stimulus_set_registry["Marques2020_spatial_frequency"] = lambda: _stimuli(
    "Marques2020_spatial_frequency",
    csv_sha1="31d0293c8aa1590f4680bb8a9446f56135b8d646",
    zip_sha1="6fdeee4366514b9a0ff9c52e52c13762a62ceaab",
)
stimulus_set_registry["Marques2020_size"] = lambda: _stimuli(
    "Marques2020_size",
    csv_sha1="0fd0aeea8fa6ff2b30ee9a6a684d4600590d631f",
    zip_sha1="11122de2784218b7dd4cd0b557e62583ca7ee283",
)
stimulus_set_registry["FreemanZiemba2013_properties"] = lambda: _stimuli(
    "FreemanZiemba2013_properties",
    csv_sha1="6f7bcb5d0c01e81c9fbdcec9bf586cbb579a9b02",
    zip_sha1="c64a0d6b447676a6d5cff3d3625a5f294e62ff97",
)
