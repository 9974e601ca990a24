"""Residual networks, with the names of modules that published checkpoints use."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import nn


class BasicBlock(nn.Module):
    """Two 3 × 3 convolutions and a shortcut [1]_.

    References
    ----------
    .. [1] He et al. 2016, https://doi.org/10.1109/CVPR.2016.90
    """

    expansion = 1

    def __init__(self, inputs: int, width: int, stride: int = 1) -> None:
        super().__init__()
        self.conv1 = nn.Conv2d(inputs, width, 3, stride=stride, padding=1, bias=False)
        self.bn1 = nn.BatchNorm2d(width)
        self.relu = nn.ReLU(inplace=True)
        self.conv2 = nn.Conv2d(width, width, 3, padding=1, bias=False)
        self.bn2 = nn.BatchNorm2d(width)
        self.downsample = _shortcut(inputs, width, stride)

    def forward(self, values: torch.Tensor) -> torch.Tensor:
        residual = self.bn2(self.conv2(self.relu(self.bn1(self.conv1(values)))))
        return self.relu(residual + (values if self.downsample is None else self.downsample(values)))


class Bottleneck(nn.Module):
    """1 × 1, 3 × 3 and 1 × 1 convolutions and a shortcut [1]_; the 3 × 3 convolution has the stride.

    There are four times `width` output channels.

    References
    ----------
    .. [1] He et al. 2016, https://doi.org/10.1109/CVPR.2016.90
    """

    expansion = 4

    def __init__(self, inputs: int, width: int, stride: int = 1) -> None:
        super().__init__()
        outputs = width * self.expansion
        self.conv1 = nn.Conv2d(inputs, width, 1, bias=False)
        self.bn1 = nn.BatchNorm2d(width)
        self.conv2 = nn.Conv2d(width, width, 3, stride=stride, padding=1, bias=False)
        self.bn2 = nn.BatchNorm2d(width)
        self.conv3 = nn.Conv2d(width, outputs, 1, bias=False)
        self.bn3 = nn.BatchNorm2d(outputs)
        self.relu = nn.ReLU(inplace=True)
        self.downsample = _shortcut(inputs, outputs, stride)

    def forward(self, values: torch.Tensor) -> torch.Tensor:
        residual = self.relu(self.bn1(self.conv1(values)))
        residual = self.relu(self.bn2(self.conv2(residual)))
        residual = self.bn3(self.conv3(residual))
        return self.relu(residual + (values if self.downsample is None else self.downsample(values)))


class ResNet(nn.Module):
    """A residual network [1]_: stem, four stages, mean over space, linear classifier.

    Modules are named as in torchvision (``conv1``, ``layer1.0.conv2``, ``fc``), so its state dicts load.

    Parameters
    ----------
    block : type
        :class:`BasicBlock` or :class:`Bottleneck`.
    blocks : sequence of int
        Number of blocks in each stage.
    outputs : int
        Width of ``fc``.
    stem : bool
        Whether there is a stem; without it, the input is that of ``layer1``, with 64 channels.

    References
    ----------
    .. [1] He et al. 2016, https://doi.org/10.1109/CVPR.2016.90

    Examples
    --------
    >>> network = ResNet(BasicBlock, [1, 1, 1, 1], outputs=10).eval()
    >>> network(torch.zeros(2, 3, 64, 64)).shape
    torch.Size([2, 10])
    """

    def __init__(
        self, block: type[BasicBlock | Bottleneck], blocks: Sequence[int], *, outputs: int = 1000, stem: bool = True
    ) -> None:
        super().__init__()
        self.stem = stem
        if stem:
            self.conv1 = nn.Conv2d(3, 64, 7, stride=2, padding=3, bias=False)
            self.bn1 = nn.BatchNorm2d(64)
            self.relu = nn.ReLU(inplace=True)
            self.maxpool = nn.MaxPool2d(3, stride=2, padding=1)
        self.layer1 = _stage(block, 64, 64, blocks[0], stride=1)
        self.layer2 = _stage(block, 64 * block.expansion, 128, blocks[1], stride=2)
        self.layer3 = _stage(block, 128 * block.expansion, 256, blocks[2], stride=2)
        self.layer4 = _stage(block, 256 * block.expansion, 512, blocks[3], stride=2)
        self.avgpool = nn.AdaptiveAvgPool2d(1)
        self.fc = nn.Linear(512 * block.expansion, outputs)
        for module in self.modules():
            if isinstance(module, nn.Conv2d):
                nn.init.kaiming_normal_(module.weight, mode="fan_out", nonlinearity="relu")

    def forward(self, images: torch.Tensor) -> torch.Tensor:
        values = self.maxpool(self.relu(self.bn1(self.conv1(images)))) if self.stem else images
        values = self.layer4(self.layer3(self.layer2(self.layer1(values))))
        return self.fc(self.avgpool(values).flatten(1))


def resnet18(*, outputs: int = 1000) -> ResNet:
    """ResNet-18 with random weights.

    Examples
    --------
    >>> with torch.device("meta"):
    ...     sum(parameter.numel() for parameter in resnet18().parameters())
    11689512
    """
    return ResNet(BasicBlock, [2, 2, 2, 2], outputs=outputs)


def resnet50(*, outputs: int = 1000, stem: bool = True) -> ResNet:
    """ResNet-50 with random weights.

    Examples
    --------
    >>> with torch.device("meta"):
    ...     sum(parameter.numel() for parameter in resnet50().parameters())
    25557032
    """
    return ResNet(Bottleneck, [3, 4, 6, 3], outputs=outputs, stem=stem)


def _stage(block: type[BasicBlock | Bottleneck], inputs: int, width: int, blocks: int, *, stride: int) -> nn.Sequential:
    first = block(inputs, width, stride)
    return nn.Sequential(first, *(block(width * block.expansion, width) for _ in range(blocks - 1)))


def _shortcut(inputs: int, outputs: int, stride: int) -> nn.Sequential | None:
    if stride == 1 and inputs == outputs:
        return None
    return nn.Sequential(nn.Conv2d(inputs, outputs, 1, stride=stride, bias=False), nn.BatchNorm2d(outputs))
