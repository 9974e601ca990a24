"""Score an own network of PyTorch. Needs brainscore[torch]."""

import torch
from torch import nn

import brainscore

torch.manual_seed(0)
network = nn.Sequential(
    nn.Sequential(nn.Conv2d(3, 16, 9, stride=8), nn.ReLU()),
    nn.Sequential(nn.Conv2d(16, 32, 3, stride=2), nn.ReLU()),
    nn.Sequential(nn.Conv2d(32, 32, 3, stride=2), nn.ReLU()),
    nn.AdaptiveAvgPool2d(4),
    nn.Flatten(),
    nn.Linear(512, 10),
)
model = brainscore.wrap_model(network, identifier="my-network", layers=["[0-2]", "5"])
print(model.layers)
score = brainscore.score(model, "Simulated2026.IT-rdm")
print(f"{float(score):.3f}, 95 %: {score.attrs['ci'][0]:.3f}–{score.attrs['ci'][1]:.3f}")
