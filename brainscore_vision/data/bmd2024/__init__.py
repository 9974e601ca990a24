"""People naming silhouettes with a texture and dotted outlines of ten kinds of objects (BMD 2024).

One of the winners of the benchmark track of the Brain-Score competition 2024; its article has not appeared yet.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from brainscore_vision import data_registry, load_stimulus_set, stimulus_set_registry

if TYPE_CHECKING:
    from brainscore_core.supported_data_standards.brainio.assemblies import DataAssembly
    from brainscore_core.supported_data_standards.brainio.stimuli import StimulusSet

STIMULUS_GROUPS = {"BMD2024.*": "truth"}

_BUCKET = "brainscore-storage/brainio-brainscore"


def _assembly(condition: str, *, sha1: str) -> DataAssembly:
    from brainscore_core.supported_data_standards.brainio.s3 import load_assembly_from_s3

    return load_assembly_from_s3(
        identifier=f"BMD_2024_{condition}",
        version_id="null",
        sha1=sha1,
        bucket=_BUCKET,
        cls="BehavioralAssembly",
        stimulus_set_loader=lambda: load_stimulus_set(f"BMD2024.{condition}"),
    )


def _stimuli(condition: str, *, csv_sha1: str, zip_sha1: str, zip_version_id: str = "null") -> StimulusSet:
    from brainscore_core.supported_data_standards.brainio.s3 import load_stimulus_set_from_s3

    return load_stimulus_set_from_s3(
        identifier=f"BMD_2024_{condition}",
        bucket=_BUCKET,
        csv_sha1=csv_sha1,
        zip_sha1=zip_sha1,
        csv_version_id="null",
        zip_version_id=zip_version_id,
    )


data_registry["BMD2024.texture_1"] = lambda: _assembly("texture_1", sha1="050cef2bd38fe0e0c6d55c9a4ba0b1c57550a072")
data_registry["BMD2024.texture_2"] = lambda: _assembly("texture_2", sha1="1f9f4ee938df509c0cbeaec7fdfe0f40997da331")
data_registry["BMD2024.dotted_1"] = lambda: _assembly("dotted_1", sha1="eb16feffe392087b4c40ef249850825f702e7911")
data_registry["BMD2024.dotted_2"] = lambda: _assembly("dotted_2", sha1="297833a094513b99ae434e581df09ac64cd6582f")

stimulus_set_registry["BMD2024.texture_1"] = lambda: _stimuli(
    "texture_1",
    csv_sha1="395911b2933d675b98dda7bae422f11648d8e86d",
    zip_sha1="cfde36c93dc9070ef5dfaa0a992c9d2420af3460",
)
stimulus_set_registry["BMD2024.texture_2"] = lambda: _stimuli(
    "texture_2",
    csv_sha1="98ff8e3a1ca6f632ebc2daa909804314bc1b7e31",
    zip_sha1="31c9d8449b25da8ad3cb034eee04db9193027fcb",
)
stimulus_set_registry["BMD2024.dotted_1"] = lambda: _stimuli(
    "dotted_1",
    csv_sha1="de4214666237a0be39810ec4fefd6ec8d2a2e881",
    zip_sha1="b4ab1355665b5bf3bf81b7aa6eccfd396c96bda2",
)
stimulus_set_registry["BMD2024.dotted_2"] = lambda: _stimuli(
    "dotted_2",
    csv_sha1="4555daa5257dee10c6c6a5625d3bb2d94452e294",
    zip_sha1="20337c1fac66ed0eec16410c6801cca830e6c20c",
    zip_version_id="dzELAKHsBx1DKkrWAR9uteJ7K1.FtlAm",
)
