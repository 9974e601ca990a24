"""HMAX: alternating layers that match templates (S) and take the maximum (C)."""

from __future__ import annotations

import math
import os
from collections.abc import Sequence

import numpy as np
import torch
from numpy.typing import NDArray
from torch import nn
from torch.nn import functional

from brainscore_core.errors import UserError

ORIENTATIONS = (0.0, 45.0, 90.0, 135.0)
"""Of the bars that the four S1 filters prefer, in degrees, counterclockwise from horizontal."""

S1_SIZES = tuple(range(7, 39, 2))
"""Side of the S1 filters in pixels; two neighbouring sizes make a band of C1."""

PATCH_SIZES = (2, 4, 6, 8, 10, 12, 14, 16)
"""Side of the S2 patches of the universal set, in positions of C1."""

PATCHES = 400
"""S2 patches of each size in the universal set."""

_ASPECT = 0.3  # γ: the envelope along the bar is wider by its inverse
_SIGMA = 1.0  # of the tuning of S2


def gabor_filters(size: int) -> NDArray[np.float32]:
    r"""The four S1 filters of one size [1]_.

    :math:`\exp(-(x^2 + γ^2 y^2) / 2σ^2) \cos(2πx/λ)` inside a circle, of mean 0 and norm 1. With the size (7, 9, … 37
    pixels), λ grows from 3.5 to 22.8 pixels, σ = 0.8 λ.

    References
    ----------
    .. [1] Serre et al. 2007, table 1, https://doi.org/10.1109/TPAMI.2007.56

    Examples
    --------
    >>> filters = gabor_filters(7)
    >>> filters.shape, bool(np.allclose((filters**2).sum(axis=(1, 2)), 1))
    ((4, 7, 7), True)
    """
    wavelength = 2 * size / (4 - 0.05 * (size - S1_SIZES[0]) / 2)
    sigma = 0.8 * wavelength
    offsets = np.arange(size) - size // 2
    down, right = np.meshgrid(offsets, offsets, indexing="ij")
    filters = []
    for orientation in ORIENTATIONS:
        angle = math.radians(orientation)
        across = down * math.cos(angle) + right * math.sin(angle)
        along = right * math.cos(angle) - down * math.sin(angle)
        values = np.exp(-(across**2 + _ASPECT**2 * along**2) / (2 * sigma**2))
        values *= np.cos(2 * np.pi * across / wavelength)
        values[np.hypot(down, right) > size / 2] = 0
        values -= values.mean()
        filters.append(values / np.sqrt((values**2).sum()))
    return np.stack(filters).astype(np.float32)


class S1Layer(nn.Module):
    """Simple cells: |cosine| between each neighbourhood of the image and four filters."""

    filters: torch.Tensor

    def __init__(self, size: int) -> None:
        super().__init__()
        self.register_buffer("filters", torch.from_numpy(gabor_filters(size))[:, None], persistent=False)
        self.size = size

    def forward(self, grey: torch.Tensor) -> torch.Tensor:
        """Responses to images, stimuli × 1 × height × width; 0 where an image is 0 throughout."""
        matched = functional.conv2d(grey, self.filters, padding=self.size // 2).abs()
        norm = _sums(grey**2, self.size, padding=self.size // 2).clamp(min=0).sqrt()
        return torch.where(norm > 0, matched / norm, torch.zeros_like(matched))


class C1Layer(nn.Module):
    """Complex cells: the maximum over a neighbourhood and over two sizes of filters.

    Neighbourhoods, whose side is `size`, overlap by half.
    """

    def __init__(self, size: int) -> None:
        super().__init__()
        self.local_pool = nn.MaxPool2d(size, stride=size // 2, padding=size // 2)

    def forward(self, smaller: torch.Tensor, larger: torch.Tensor) -> torch.Tensor:
        return self.local_pool(torch.maximum(smaller, larger))


class S2Layer(nn.Module):
    r"""Units tuned to patches of C1: :math:`\exp(-\lVert c - p \rVert^2 / 2σ^2)`, σ = 1, at each position.

    `size` is the side of the patches.
    """

    def __init__(self, size: int, patches: int = PATCHES) -> None:
        super().__init__()
        self.size = size
        self.patches = nn.Parameter(torch.rand(patches, len(ORIENTATIONS), size, size), requires_grad=False)

    def forward(self, c1: torch.Tensor) -> torch.Tensor:
        padding = self.size // 2
        products = functional.conv2d(c1, self.patches, padding=padding)
        energies = _sums((c1**2).sum(1, keepdim=True), self.size, padding=padding)
        norms = (self.patches**2).sum((1, 2, 3))[:, None, None]
        squared = (energies - 2 * products + norms).clamp(min=0)
        return torch.exp(-squared / (2 * _SIGMA**2))


class C2Layer(nn.Module):
    """The best match of each patch over all positions and bands."""

    def forward(self, bands: Sequence[torch.Tensor]) -> torch.Tensor:
        return torch.stack(list(bands)).amax(0)


class HMAX(nn.Module):
    """HMAX [1]_, [2]_ with patches of eight sizes, 400 each.

    Layers ``s1_07`` … ``s1_37`` (by size of the filters), ``c1_08`` … ``c1_22`` (by size of the neighbourhoods),
    ``s2_0`` … ``s2_7`` and ``c2_0`` … ``c2_7`` (by size of the patches). The patches are random until
    :func:`read_patches` gives others.

    References
    ----------
    .. [1] Riesenhuber & Poggio 1999, https://doi.org/10.1038/14819
    .. [2] Serre et al. 2007, https://doi.org/10.1109/TPAMI.2007.56

    Examples
    --------
    >>> HMAX(patches=5)(torch.rand(2, 3, 64, 64)).shape
    torch.Size([2, 8, 5])
    """

    def __init__(self, patches: int = PATCHES) -> None:
        super().__init__()
        for size in S1_SIZES:
            self.add_module(f"s1_{size:02d}", S1Layer(size))
        for size in _neighbourhoods():
            self.add_module(f"c1_{size:02d}", C1Layer(size))
        for number, size in enumerate(PATCH_SIZES):
            self.add_module(f"s2_{number}", S2Layer(size, patches))
        for number in range(len(PATCH_SIZES)):
            self.add_module(f"c2_{number}", C2Layer())

    def forward(self, images: torch.Tensor) -> torch.Tensor:
        """Images, stimuli × 3 × height × width → stimuli × sizes of patches × patches; colours are averaged."""
        grey = images.mean(dim=1, keepdim=True)
        simple = [self.get_submodule(f"s1_{size:02d}")(grey) for size in S1_SIZES]
        bands = [
            self.get_submodule(f"c1_{size:02d}")(simple[2 * band], simple[2 * band + 1])
            for band, size in enumerate(_neighbourhoods())
        ]
        best = []
        for number in range(len(PATCH_SIZES)):
            tuned = self.get_submodule(f"s2_{number}")
            # the maps of a band go as soon as their maximum is known: all of them would be large
            best.append(self.get_submodule(f"c2_{number}")([tuned(band).amax((2, 3)) for band in bands]))
        return torch.stack(best, dim=1)


def read_patches(path: str | os.PathLike[str]) -> list[NDArray[np.float32]]:
    """Read a set of S2 patches from a MATLAB file.

    It has the cell array ``patches`` (a matrix each: values of a patch × patches, in MATLAB's order: row, column,
    orientation) and ``patchSizes`` (rows, columns, orientations, patches × sizes). Returned are patches × orientations
    × rows × columns for each size. A UserError if the file cannot be read or has another layout.
    """
    from scipy.io import loadmat

    name = os.fspath(path)
    try:
        content = loadmat(name, variable_names=["patches", "patchSizes"])
        cells, sizes = content["patches"].ravel(), np.asarray(content["patchSizes"], dtype=int).T
    except (OSError, ValueError, TypeError, KeyError, NotImplementedError) as error:
        raise UserError(f"{name} is not a set of patches: {error}", remedy="pass universal_patch_set.mat") from error
    if len(cells) != len(sizes) or sizes.shape[1:] != (4,):
        raise UserError(
            f"{name} has {len(cells)} sizes of patches, patchSizes says {sizes.shape}",
            remedy="pass universal_patch_set.mat",
        )
    patch_sets = []
    for cell, (rows, columns, orientations, patches) in zip(cells, sizes, strict=True):
        if cell.shape != (rows * columns * orientations, patches):
            raise UserError(
                f"{name} has patches of shape {cell.shape} where patchSizes says "
                f"{rows} × {columns} × {orientations}, {patches} of them",
                remedy="pass universal_patch_set.mat",
            )
        values = np.asarray(cell, dtype=np.float32).reshape(orientations, columns, rows, patches)
        patch_sets.append(np.ascontiguousarray(values.transpose(3, 0, 2, 1)))
    return patch_sets


def _neighbourhoods() -> range:
    """Sides of the neighbourhoods of C1, one for each pair of S1 sizes."""
    return range(8, 8 + len(S1_SIZES), 2)


def _sums(values: torch.Tensor, size: int, *, padding: int) -> torch.Tensor:
    """Sum over size × size neighbours, stimuli × 1 × height × width."""
    ones = torch.ones(1, 1, size, 1, dtype=values.dtype, device=values.device)
    down = functional.conv2d(values, ones, padding=(padding, 0))
    return functional.conv2d(down, ones.transpose(2, 3), padding=(0, padding))
