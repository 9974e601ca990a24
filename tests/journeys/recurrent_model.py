"""Score a recurrent network with a time for each of its steps. Needs brainscore[torch]."""

import torch
from torch import nn

import brainscore


class Recurrent(nn.Module):
    def __init__(self):
        super().__init__()
        self.retina = nn.Conv2d(3, 16, 7, stride=4)
        self.area = nn.Conv2d(16, 16, 3, padding=1)
        self.gain = nn.ReLU()

    def forward(self, images):
        drive, state = self.retina(images), 0
        for _ in range(3):
            state = self.gain(self.area(drive + state))
        return state


torch.manual_seed(0)
steps = {0: (70, 110), 1: (110, 150), 2: (150, 190)}  # milliseconds after the stimulus appears
model = brainscore.wrap_model(Recurrent(), identifier="recurrent", time_mapping={"V1": steps, "IT": steps})
print(model.region_layer_map)
score = brainscore.score(model, "Simulated2026.IT-rdm")
print(f"{float(score):.3f}, 95 %: {score.attrs['ci'][0]:.3f}–{score.attrs['ci'][1]:.3f}")
