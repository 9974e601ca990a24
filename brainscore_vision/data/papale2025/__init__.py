"""Multi-unit activity in V1, V4 and IT of two macaques to 22,348 pictures of things (Papale et al. 2025)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from brainscore_core.provenance import note
from brainscore_vision import data_registry, load_stimulus_set, stimulus_set_registry

if TYPE_CHECKING:
    from brainscore_core.supported_data_standards.brainio.assemblies import NeuroidAssembly
    from brainscore_core.supported_data_standards.brainio.stimuli import StimulusSet

BIBTEX = """@article{papale_extensive_2025,
  title = {An extensive dataset of spiking activity to reveal the syntax of the ventral stream},
  volume = {113},
  issn = {08966273},
  url = {https://linkinghub.elsevier.com/retrieve/pii/S089662732400881X},
  doi = {10.1016/j.neuron.2024.12.003},
  journal = {Neuron},
  author = {Papale, Paolo and Wang, Feng and Self, Matthew W. and Roelfsema, Pieter R.},
  year = {2025}
}"""

STIMULUS_GROUPS = {"Papale2025_*": "object_name"}

_BUCKET = "brainscore-storage/brainscore-vision/benchmarks/Papale2025"


def _recordings(split: str, sha1: str, version_id: str) -> NeuroidAssembly:
    from brainscore_core.supported_data_standards.brainio.assemblies import NeuroidAssembly
    from brainscore_core.supported_data_standards.brainio.s3 import load_assembly_from_s3

    return load_assembly_from_s3(  # type: ignore[return-value] # of the class that is asked for
        identifier=f"THINGS_TVSD_{split}_Assembly",
        version_id=version_id,
        sha1=sha1,
        bucket=_BUCKET,
        cls=NeuroidAssembly,
        stimulus_set_loader=lambda: load_stimulus_set(f"Papale2025_stim_{split}"),
    )


def _stimuli(split: str, csv: tuple[str, str], zip_: tuple[str, str]) -> StimulusSet:
    from brainscore_core.supported_data_standards.brainio.s3 import load_stimulus_set_from_s3

    note("collection", identifier="THINGS")
    return load_stimulus_set_from_s3(
        identifier=f"THINGS_TVSD_{split}_Stimuli",
        bucket=_BUCKET,
        csv_sha1=csv[0],
        zip_sha1=zip_[0],
        csv_version_id=csv[1],
        zip_version_id=zip_[1],
        filename_prefix="stimulus_",
    )


data_registry["Papale2025_train"] = lambda: _recordings(
    "train", sha1="97e3e9ed2280441a30fa5c33e8537db1b45a9da8", version_id="q3sE0RZ5Fuq0C6vTVIiF48AsvG40.b7l"
)
data_registry["Papale2025_test"] = lambda: _recordings(
    "test", sha1="685025f67e90006e775ac153e8e0007e35b62bbc", version_id="XK0CVCAzfHNOrKgmNrLqFfwvs_gSWKb."
)
stimulus_set_registry["Papale2025_stim_train"] = lambda: _stimuli(
    "train",
    csv=("4a094a7e4c2408abc333ba610215a7c30277d904", "kCt7PZx9jxXDrRhyow9y8hDUUDFAAp._"),
    zip_=("0a97a7952097800207a23fe73281c256dfc90902", "S.DCjiAaGQ6PjCUs4QugwsHaZa9YiEuV"),
)
stimulus_set_registry["Papale2025_stim_test"] = lambda: _stimuli(
    "test",
    csv=("b08c1c560f008cf3fb2982c22c881ea8ffce0410", "gEGUgT7PJB8z3roRkTiJ6zriSuehd2DI"),
    zip_=("dfd6e8769414505afbf51de3ab207cb7a3cf49d6", "AGNDfuS5nyIjTuXrM4hWFze.sWM9py2Z"),
)
