"""CORnet-S: four areas named after those of the ventral stream, three of them recurrent."""

import torch
from torch import nn
from torch.nn import functional

_SCALE = 4  # how much wider the middle of an area is than what it hands on


class _Convolution(nn.Conv2d):
    """A convolution whose stride is chosen at each call, so that one set of weights serves all time steps."""

    def forward(self, values: torch.Tensor, stride: int = 1) -> torch.Tensor:
        return functional.conv2d(values, self.weight, self.bias, stride, self.padding)


class Area(nn.Module):
    """A recurrent area [1]_: a bottleneck with a shortcut that is passed several times with the same weights.

    The first time step halves the resolution, so the state of the later ones is its own input. Convolutions are
    shared over time, batch normalisations are not. ``output`` runs once a time step.

    References
    ----------
    .. [1] Kubilius, Schrimpf et al. 2019, https://doi.org/10.48550/arXiv.1909.06161
    """

    def __init__(self, inputs: int, outputs: int, times: int) -> None:
        super().__init__()
        wide = outputs * _SCALE
        self.times = times
        self.conv_input = nn.Conv2d(inputs, outputs, 1, bias=False)
        self.skip = nn.Conv2d(outputs, outputs, 1, stride=2, bias=False)
        self.norm_skip = nn.BatchNorm2d(outputs)
        self.conv1 = nn.Conv2d(outputs, wide, 1, bias=False)
        self.nonlin1 = nn.ReLU(inplace=True)
        self.conv2 = _Convolution(wide, wide, 3, padding=1, bias=False)
        self.nonlin2 = nn.ReLU(inplace=True)
        self.conv3 = nn.Conv2d(wide, outputs, 1, bias=False)
        self.nonlin3 = nn.ReLU(inplace=True)
        self.output = nn.Identity()
        for time in range(times):
            self.add_module(f"norm1_{time}", nn.BatchNorm2d(wide))
            self.add_module(f"norm2_{time}", nn.BatchNorm2d(wide))
            self.add_module(f"norm3_{time}", nn.BatchNorm2d(outputs))

    def forward(self, values: torch.Tensor) -> torch.Tensor:
        state = self.conv_input(values)
        for time in range(self.times):
            shortcut = self.norm_skip(self.skip(state)) if time == 0 else state
            inner = self.nonlin1(self._norm(1, time)(self.conv1(state)))
            inner = self.nonlin2(self._norm(2, time)(self.conv2(inner, 2 if time == 0 else 1)))
            inner = self._norm(3, time)(self.conv3(inner))
            state = self.output(self.nonlin3(inner + shortcut))
        return state

    def _norm(self, number: int, time: int) -> nn.Module:
        return self.get_submodule(f"norm{number}_{time}")


class CORnetS(nn.Module):
    """CORnet-S [1]_: V1 (one pass), V2 (2 time steps), V4 (4), IT (2), and a linear decoder.

    The areas follow one another: each takes what the one before gives after its last time step.

    References
    ----------
    .. [1] Kubilius, Schrimpf et al. 2019, https://doi.org/10.48550/arXiv.1909.06161
    """

    def __init__(self, classes: int = 1000) -> None:
        super().__init__()
        self.V1 = nn.Sequential()
        self.V1.add_module("conv1", nn.Conv2d(3, 64, 7, stride=2, padding=3, bias=False))
        self.V1.add_module("norm1", nn.BatchNorm2d(64))
        self.V1.add_module("nonlin1", nn.ReLU(inplace=True))
        self.V1.add_module("pool", nn.MaxPool2d(3, stride=2, padding=1))
        self.V1.add_module("conv2", nn.Conv2d(64, 64, 3, padding=1, bias=False))
        self.V1.add_module("norm2", nn.BatchNorm2d(64))
        self.V1.add_module("nonlin2", nn.ReLU(inplace=True))
        self.V1.add_module("output", nn.Identity())
        self.V2 = Area(64, 128, times=2)
        self.V4 = Area(128, 256, times=4)
        self.IT = Area(256, 512, times=2)
        self.decoder = nn.Sequential()
        self.decoder.add_module("avgpool", nn.AdaptiveAvgPool2d(1))
        self.decoder.add_module("flatten", nn.Flatten())
        self.decoder.add_module("linear", nn.Linear(512, classes))
        self.decoder.add_module("output", nn.Identity())
        for module in self.modules():
            if isinstance(module, nn.Conv2d):
                nn.init.kaiming_normal_(module.weight, mode="fan_out", nonlinearity="relu")

    def forward(self, images: torch.Tensor) -> torch.Tensor:
        return self.decoder(self.IT(self.V4(self.V2(self.V1(images)))))
