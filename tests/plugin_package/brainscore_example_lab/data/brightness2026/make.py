"""Draws the images and states the answers."""

import tempfile
from pathlib import Path

from PIL import Image

from brainscore_core.supported_data_standards.brainio.assemblies import BehavioralAssembly
from brainscore_core.supported_data_standards.brainio.stimuli import StimulusSet

LEVELS = {"black": 0, "night": 40, "day": 200, "white": 255}


def make_stimuli():
    """Four squares of one grey level each."""
    folder = Path(tempfile.mkdtemp(prefix="example_lab_"))
    paths = {}
    for name, level in LEVELS.items():
        paths[name] = folder / f"{name}.png"
        Image.new("L", (8, 8), level).save(paths[name])
    stimuli = StimulusSet({"stimulus_id": list(LEVELS), "level": list(LEVELS.values())})
    stimuli.stimulus_paths = paths
    stimuli.identifier = "ExampleLab2026"
    return stimuli


def make_answers(stimuli):
    """One label a stimulus; the person took the night for a light one."""
    labels = ["dark", "light", "light", "light"]
    assembly = BehavioralAssembly(
        labels, coords={"stimulus_id": ("presentation", list(stimuli["stimulus_id"]))}, dims=["presentation"]
    )
    assembly.attrs["stimulus_set"] = stimuli
    return assembly
