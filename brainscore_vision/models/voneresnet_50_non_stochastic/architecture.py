"""VOneNet: a fixed model of V1 before a network that is trained; here ResNet-50, without noise."""

from __future__ import annotations

import math

import numpy as np
import torch
from numpy.typing import NDArray
from torch import nn
from torch.nn import functional

from brainscore_vision.model_helpers.architectures.resnet import ResNet, resnet50
from brainscore_vision.stimuli.gabor_bank import GaborFilters

KERNEL_SIZE = 25  # pixels
PIXELS_PER_DEGREE = 224 / 8


def gabor_kernels(
    filters: GaborFilters,
    phases: NDArray[np.floating],
    *,
    size: int = KERNEL_SIZE,
    pixels_per_degree: float = PIXELS_PER_DEGREE,
) -> NDArray[np.float32]:
    r"""Gabor functions as convolution kernels.

    :math:`\exp(-x'^2/2σ_x^2 - y'^2/2σ_y^2) \cos(2πfx' + φ) / 2πσ_xσ_y`, x' across the preferred stripes, σ in pixels
    [1]_. The filters' parameters are in degrees of visual angle, φ in radians; `size` is odd.

    References
    ----------
    .. [1] Dapello, Marques et al. 2020, https://doi.org/10.1101/2020.06.16.154542
    """
    offsets = np.arange(size) - size // 2
    down, right = np.meshgrid(offsets, offsets, indexing="ij")
    angle = np.deg2rad(filters.orientation)[:, None, None]
    across = right * np.sin(angle) + down * np.cos(angle)
    along = right * np.cos(angle) - down * np.sin(angle)
    sigma_across = filters.sigma_across[:, None, None] * pixels_per_degree
    sigma_along = filters.sigma_along[:, None, None] * pixels_per_degree
    cycles = filters.frequency[:, None, None] / pixels_per_degree
    envelope = np.exp(-(across**2) / (2 * sigma_across**2) - along**2 / (2 * sigma_along**2))
    carrier = np.cos(2 * np.pi * cycles * across + np.asarray(phases)[:, None, None])
    return (envelope * carrier / (2 * np.pi * sigma_across * sigma_along)).astype(np.float32)


class VOneBlock(nn.Module):
    r"""A model of V1: a fixed Gabor filter bank, simple and complex cells, no noise [1]_.

    The response of filter i of phase φ is :math:`q_0`, that of the filter a quarter of a period on :math:`q_1`. A
    simple cell responds with :math:`k \max(q_0, 0)`, a complex cell with :math:`k \sqrt{(q_0^2 + q_1^2) / 2}`.

    Simple cells come first in the output. Sizes and distances are in pixels; `k_exc` is k, the gain.

    References
    ----------
    .. [1] Dapello, Marques et al. 2020, https://doi.org/10.1101/2020.06.16.154542
    """

    def __init__(
        self,
        simple_channels: int = 256,
        complex_channels: int = 256,
        *,
        kernel_size: int = KERNEL_SIZE,
        stride: int = 4,
        k_exc: float = 25.0,
    ) -> None:
        super().__init__()
        channels = simple_channels + complex_channels
        self.simple_channels = simple_channels
        self.k_exc = k_exc
        self.q0 = _fixed(channels, kernel_size, stride)
        self.q1 = _fixed(channels, kernel_size, stride)

    def set_filters(self, filters: GaborFilters, phases: NDArray[np.floating]) -> None:
        """Make Gabor filters of these parameters; they see the mean of the three colours."""
        for convolution, shift in ((self.q0, 0.0), (self.q1, math.pi / 2)):
            size = convolution.kernel_size[0]
            kernels = torch.from_numpy(gabor_kernels(filters, np.asarray(phases) + shift, size=size))
            with torch.no_grad():
                convolution.weight.copy_(kernels[:, None].expand(-1, 3, -1, -1) / 3)

    def forward(self, images: torch.Tensor) -> torch.Tensor:
        first, second = self.q0(images), self.q1(images)
        simple = functional.relu(first[:, : self.simple_channels])
        energy = first[:, self.simple_channels :] ** 2 + second[:, self.simple_channels :] ** 2
        return self.k_exc * torch.cat([simple, (energy / 2).sqrt()], dim=1)


class VOneResNet50(nn.Module):
    """A `VOneBlock`, a 1 × 1 convolution down to 64 channels, and ResNet-50 without its stem [1]_.

    References
    ----------
    .. [1] Dapello, Marques et al. 2020, https://doi.org/10.1101/2020.06.16.154542
    """

    def __init__(self, vone_block: VOneBlock, classes: int = 1000) -> None:
        super().__init__()
        self.vone_block = vone_block
        self.bottleneck = nn.Conv2d(vone_block.q0.out_channels, 64, 1, bias=False)
        nn.init.kaiming_normal_(self.bottleneck.weight, mode="fan_out", nonlinearity="relu")
        self.model: ResNet = resnet50(outputs=classes, stem=False)

    def forward(self, images: torch.Tensor) -> torch.Tensor:
        return self.model(self.bottleneck(self.vone_block(images)))


def _fixed(channels: int, kernel_size: int, stride: int) -> nn.Conv2d:
    convolution = nn.Conv2d(3, channels, kernel_size, stride=stride, padding=kernel_size // 2, bias=False)
    convolution.weight.requires_grad_(False)
    return convolution
