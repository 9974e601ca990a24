"""Stand-in of a selection of ImageNet: two pictures of each of ten classes."""

from collections.abc import Callable
from pathlib import Path

from brainscore_core.supported_data_standards.brainio.assemblies import DataAssembly
from brainscore_core.supported_data_standards.brainio.stimuli import StimulusSet
from brainscore_vision.testing.pictures import write_pictures


def _stimuli(folder: Path) -> StimulusSet:
    classes = [number // 2 for number in range(20)]
    stimulus_ids = [f"class{kind:03}_{number:02}" for number, kind in enumerate(classes)]
    stimuli = StimulusSet(
        {"stimulus_id": stimulus_ids, "image_name": [f"{name}.png" for name in stimulus_ids], "label": classes}
    )
    stimuli.stimulus_paths = write_pictures(folder, stimulus_ids, seed=15000, kinds=classes)
    return stimuli


STIMULUS_SETS: dict[str, Callable[[Path], StimulusSet]] = {"ImageNetSlim15000": _stimuli}
ASSEMBLIES: dict[str, tuple[str, Callable[[StimulusSet], DataAssembly]]] = {}
