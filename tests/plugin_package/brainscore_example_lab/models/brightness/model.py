"""Mean brightness as a model's only decision."""

import numpy as np
from PIL import Image

from brainscore_core.errors import NotApplicable
from brainscore_core.supported_data_standards.brainio.assemblies import BehavioralAssembly
from brainscore_vision import BrainModel


class Brightness(BrainModel):
    """Labels images with the nearer of two brightnesses, ``'dark'`` and ``'light'``."""

    @property
    def identifier(self):
        return "example-lab-brightness"

    def visual_degrees(self):
        return 8

    def start_task(self, task, fitting_stimuli=None):
        if task != BrainModel.Task.label:
            raise NotApplicable(f"the brightness model only labels images, it cannot do {task}")

    def start_recording(self, recording_target, time_bins, **kwargs):
        raise NotApplicable("the brightness model has no neurons")

    def look_at(self, stimuli, number_of_trials=1, require_variance=False):
        labels = []
        for stimulus_id in stimuli["stimulus_id"]:
            with Image.open(stimuli.get_stimulus(stimulus_id)) as image:
                labels.append("light" if np.asarray(image.convert("L")).mean() > 127.5 else "dark")
        return BehavioralAssembly(
            [[label] for label in labels],
            coords={"stimulus_id": ("presentation", list(stimuli["stimulus_id"])), "choice": [0]},
            dims=["presentation", "choice"],
        )
