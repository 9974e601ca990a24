"""The gated recurrent convolutional network GRCNN-55, from the paper."""

import torch
from torch import nn

_GROUPS = 32  # of the convolutions that expand


class GatedRecurrentLayer(nn.Module):
    r"""A gated recurrent convolutional layer, unrolled, with the step down to the next one.

    Its state begins with the feed-forward response :math:`x_0 = W^F u` and is updated T times,

    .. math:: x_t = x_{t-1} + R_t(x_{t-1}) \odot \sigma(W_g^F u + W_g^R x_{t-1})

    where :math:`R_t` is a bottleneck of three convolutions. The gate σ decides how much of the neighbourhood reaches a
    unit, that is, how large its receptive field becomes [1]_. Each convolution follows its batch normalisation and
    ReLU. Weights of the gate are shared over time, those of the bottleneck and all normalisations are not.

    `width` is that inside the bottleneck, and the layer has four times as many channels; `steps` is T. With
    `downsample` a residual unit of half the resolution follows.

    References
    ----------
    .. [1] Wang & Hu 2021, https://doi.org/10.48550/arXiv.2106.02859
    """

    def __init__(self, inputs: int, width: int, *, steps: int, downsample: bool) -> None:
        super().__init__()
        channels = 4 * width
        self.steps = steps
        self.bn_f = nn.BatchNorm2d(inputs)
        self.relu_f = nn.ReLU(inplace=True)
        self.conv_f = nn.Conv2d(inputs, channels, 3, padding=1, groups=_GROUPS, bias=False)
        self.bn_g_f = nn.BatchNorm2d(inputs)
        self.relu_g_f = nn.ReLU(inplace=True)
        self.conv_g_f = nn.Conv2d(inputs, channels, 1, groups=_GROUPS)
        self.conv_g_r = nn.Conv2d(channels, channels, 1, groups=_GROUPS, bias=False)
        self.sig = nn.Sigmoid()
        for step in range(1, steps + 1):
            self.add_module(f"iter_{step}", _bottleneck(channels, width))
            self.add_module(f"iter_g_{step}", nn.Sequential(nn.BatchNorm2d(channels), nn.ReLU(inplace=True)))
        self.downsample = downsample
        if downsample:
            self.d_bn = nn.BatchNorm2d(channels)
            self.d_relu = nn.ReLU(inplace=True)
            self.d_conv = nn.Conv2d(channels, channels, 1, bias=False)
            self.d_ave = nn.AvgPool2d(2)
            self.d_bn_1 = nn.BatchNorm2d(channels)
            self.d_relu_1 = nn.ReLU(inplace=True)
            self.d_conv_1 = nn.Conv2d(channels, width, 1, bias=False)
            self.d_bn_3 = nn.BatchNorm2d(width)
            self.d_relu_3 = nn.ReLU(inplace=True)
            self.d_conv_3 = nn.Conv2d(width, width, 3, stride=2, padding=1, bias=False)
            self.d_conv_1e = nn.Conv2d(width, channels, 1, bias=False)

    def forward(self, inputs: torch.Tensor) -> torch.Tensor:
        driven = self.conv_f(self.relu_f(self.bn_f(inputs)))
        gate_driven = self.conv_g_f(self.relu_g_f(self.bn_g_f(inputs)))
        state = driven
        for step in range(1, self.steps + 1):
            gate = self.sig(gate_driven + self.conv_g_r(self.get_submodule(f"iter_g_{step}")(state)))
            state = state + self.get_submodule(f"iter_{step}")(state) * gate
        if not self.downsample:
            return state
        shortcut = self.d_conv(self.d_ave(self.d_relu(self.d_bn(state))))
        residual = self.d_conv_1(self.d_relu_1(self.d_bn_1(state)))
        return shortcut + self.d_conv_1e(self.d_conv_3(self.d_relu_3(self.d_bn_3(residual))))


class GRCNN(nn.Module):
    """GRCNN-55: a stem and four gated recurrent layers [1]_.

    References
    ----------
    .. [1] Wang & Hu 2021, https://doi.org/10.48550/arXiv.2106.02859
    """

    def __init__(self, classes: int = 1000) -> None:
        super().__init__()
        self.conv1 = nn.Conv2d(3, 64, 7, stride=2, padding=3, bias=False)
        self.bn1 = nn.BatchNorm2d(64)
        self.relu = nn.ReLU(inplace=True)
        self.maxpool = nn.MaxPool2d(3, stride=2, padding=1)
        self.conv2 = nn.Conv2d(64, 64, 3, padding=1, bias=False)
        self.layer1 = GatedRecurrentLayer(64, 64, steps=3, downsample=True)
        self.layer2 = GatedRecurrentLayer(256, 128, steps=3, downsample=True)
        self.layer3 = GatedRecurrentLayer(512, 256, steps=4, downsample=True)
        self.layer4 = GatedRecurrentLayer(1024, 512, steps=3, downsample=False)
        self.lastact = nn.Sequential(nn.BatchNorm2d(2048), nn.ReLU(inplace=True))
        self.avgpool = nn.AdaptiveAvgPool2d(1)
        self.classifier = nn.Linear(2048, classes)
        for module in self.modules():
            if isinstance(module, nn.Conv2d):
                nn.init.kaiming_normal_(module.weight, mode="fan_out", nonlinearity="relu")

    def forward(self, images: torch.Tensor) -> torch.Tensor:
        values = self.conv2(self.maxpool(self.relu(self.bn1(self.conv1(images)))))
        values = self.layer4(self.layer3(self.layer2(self.layer1(values))))
        return self.classifier(self.avgpool(self.lastact(values)).flatten(1))


def _bottleneck(channels: int, width: int) -> nn.Sequential:
    return nn.Sequential(
        nn.BatchNorm2d(channels),
        nn.ReLU(inplace=True),
        nn.Conv2d(channels, width, 1, bias=False),
        nn.BatchNorm2d(width),
        nn.ReLU(inplace=True),
        nn.Conv2d(width, width, 3, padding=1, bias=False),
        nn.BatchNorm2d(width),
        nn.ReLU(inplace=True),
        nn.Conv2d(width, channels, 1, bias=False),
    )
