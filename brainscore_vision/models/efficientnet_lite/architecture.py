"""EfficientNet-Lite: inverted residuals without squeeze-and-excitation, with ReLU6 (Tan and Le 2019)."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from torch import nn

if TYPE_CHECKING:
    from torch import Tensor

_EPSILON = 1e-3
_STEM, _HEAD = 32, 1280
_STAGES = (
    # blocks, kernel, stride, expansion, channels
    (1, 3, 1, 1, 16),
    (2, 3, 2, 6, 24),
    (2, 5, 2, 6, 40),
    (3, 3, 2, 6, 80),
    (3, 5, 1, 6, 112),
    (4, 5, 2, 6, 192),
    (1, 3, 1, 6, 320),
)


class EfficientNetLite(nn.Module):
    """A network for 1,000 classes, with the modules of the published weights under readable names.

    `width` and `depth` are factors of the numbers of channels and of blocks; those of stem and head, and the numbers of
    blocks of the first and the last stage, stay.
    """

    def __init__(self, *, width: float, depth: float, dropout: float) -> None:
        super().__init__()
        self.stem = _layer(3, _STEM, kernel=3, stride=2)
        blocks, channels = [], _STEM
        for stage, (count, kernel, stride, expansion, base) in enumerate(_STAGES):
            out = _multiple_of_eight(width * base)
            repeats = count if stage in (0, len(_STAGES) - 1) else math.ceil(depth * count)
            for repeat in range(repeats):
                blocks.append(_Block(channels, out, kernel, stride if repeat == 0 else 1, expansion))
                channels = out
        self.blocks = nn.Sequential(*blocks)
        self.head = _layer(channels, _HEAD)
        self.pool = nn.Sequential(nn.AdaptiveAvgPool2d(1), nn.Flatten())
        self.dropout = nn.Dropout(dropout)
        self.classifier = nn.Linear(_HEAD, 1000)

    def forward(self, images: Tensor) -> Any:
        """Logits of images (n, 3, height, width)."""
        return self.classifier(self.dropout(self.pool(self.head(self.blocks(self.stem(images))))))


class _Block(nn.Module):
    def __init__(self, channels: int, out: int, kernel: int, stride: int, expansion: int) -> None:
        super().__init__()
        wide = expansion * channels
        self.expand = nn.Identity() if expansion == 1 else _layer(channels, wide)
        self.depthwise = _layer(wide, wide, kernel=kernel, stride=stride, groups=wide)
        self.project = _layer(wide, out, activation=False)
        self.has_shortcut = stride == 1 and channels == out

    def forward(self, x: Tensor) -> Any:
        y = self.project(self.depthwise(self.expand(x)))
        return x + y if self.has_shortcut else y


class _Padding(nn.Module):
    """As in TensorFlow: the output has the size of the input divided by the stride, and the end is padded first."""

    def __init__(self, kernel: int, stride: int) -> None:
        super().__init__()
        self.kernel, self.stride = kernel, stride

    def forward(self, x: Tensor) -> Any:
        needed = [
            max((math.ceil(size / self.stride) - 1) * self.stride + self.kernel - size, 0) for size in x.shape[-2:]
        ]
        height, width = needed
        return nn.functional.pad(x, [width // 2, width - width // 2, height // 2, height - height // 2])


def _layer(
    channels: int, out: int, *, kernel: int = 1, stride: int = 1, groups: int = 1, activation: bool = True
) -> nn.Sequential:
    modules = [
        *([_Padding(kernel, stride)] if kernel > 1 else []),
        nn.Conv2d(channels, out, kernel, stride, groups=groups, bias=False),
        nn.BatchNorm2d(out, eps=_EPSILON, momentum=0.01),
        *([nn.ReLU6()] if activation else []),
    ]
    return nn.Sequential(*modules)


def _multiple_of_eight(channels: float) -> int:
    rounded = max(8, int(channels + 4) // 8 * 8)
    return rounded + 8 if rounded < 0.9 * channels else rounded
